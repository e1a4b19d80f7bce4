/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tell: what this daemon tells of itself and its mount, as a report.
 */
#include "fs/tell.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fs/request.h"
#include "transport/clock.h"

/* Milliseconds since then, 1 at least; 0: there was no such time. */
static uint64_t ms_since(uint64_t then)
{
	uint64_t ms = clock_age(clock_ns(), then) / NSEC_PER_MSEC;

	return then ? ms + !ms : 0;
}

static void tell_versions(const struct nfs_client_info *i, struct report *r)
{
	char nfs[16];

	if (i->vers_major == 3)
		snprintf(nfs, sizeof(nfs), "3");
	else
		snprintf(nfs, sizeof(nfs), "%u.%u", i->vers_major, i->vers_minor);
	report_set(r, REPORT_PROGRAM, RNFS_VERSION);
	report_set(r, REPORT_NFS, nfs);
	report_set(r, REPORT_TRANSPORT, rpc_proto_name(i->rpc.proto));
	report_set(r, REPORT_PROVIDER, i->rpc.provider ? i->rpc.provider : "");
	report_set(r, REPORT_DIALECT, i->rpc.rdma_dialect ? i->rpc.rdma_dialect : "");
}

void tell_hello(struct fs *fs, struct report *r)
{
	struct nfs_client_info info;

	memset(r, 0, sizeof(*r));
	nfs_client_info(fs->client, &info);
	report_set(r, REPORT_MOUNTPOINT, fs->mountpoint);
	report_set(r, REPORT_SOURCE, fs->opt->source);
	tell_versions(&info, r);
	r->number[REPORT_PID] = (uint64_t)getpid();
	r->number[REPORT_UID] = geteuid();
	r->number[REPORT_DEV_MAJOR] = fs->dev_major;
	r->number[REPORT_DEV_MINOR] = fs->dev_minor;
	r->number[REPORT_UP_MS] = ms_since(fs->mounted_at);
	r->number[REPORT_SILENT_MS] = ms_since(atomic_load(&fs->silent_since));
	r->number[REPORT_LOST_MS] = ms_since(atomic_load(&fs->lost_since));
	r->number[REPORT_OLDEST_MS] = request_oldest_ns(fs->requests) / NSEC_PER_MSEC;
}
