/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * way_attr: change attributes by time, the limits that the server tells, and the times of change
 * that each client was told.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "contrib/serve/ops/attr.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/v3/v3.h"
#include "contrib/serve/v4/v4.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/inode.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

#define TICK_NS 4000000

/* --- what clients were told ------------------------------------------------------------------- */

/* A client was told that the inode has last changed at `at`. Its request had begun, or had itself
 * changed the file, when `changes` changes were made on the disk. */
struct told {
	SLIST_ENTRY(told) link;
	unsigned process;
	uint64_t ino;
	struct timespec at;
	uint64_t changes;
	bool counts; /* the change attribute also counted changes by clients */
};

static SLIST_HEAD(, told) tellings = SLIST_HEAD_INITIALIZER(tellings);

/* The request that the thread carries out. */
static _Thread_local unsigned client;
static _Thread_local uint64_t seen;

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Each mount has a host of its own (network.h), which begins as 192.0.2.(process + 1). */
static unsigned process_of(const struct rpc_req *req)
{
	const struct sockaddr *sa = req->xprt ? rpc_xprt_addr(req->xprt) : NULL;

	if (!sa || sa->sa_family != AF_INET)
		return 0;
	return (ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) & 0xff) - 1;
}

void way_request_begin(const struct rpc_req *req)
{
	client = process_of(req);
	seen = inode_changes;
}

void way_request_end(void)
{
	client = 0;
}

void way_request_changed(void)
{
	seen = inode_changes;
}

static void tell(uint64_t ino, const struct statx_timestamp *ctime, bool counts)
{
	struct timespec at = {ctime->tv_sec, ctime->tv_nsec};
	struct told *t;

	if (!client)
		return;
	SLIST_FOREACH(t, &tellings, link)
	if (t->process == client && t->ino == ino)
		break;
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			abort();
		t->process = client;
		t->ino = ino;
		SLIST_INSERT_HEAD(&tellings, t, link);
	}
	if (same_time(&t->at, &at) && t->changes < seen)
		return; /* the client saw no difference to the state of then */
	t->at = at;
	t->changes = seen;
	t->counts = counts;
}

bool ways_blind(unsigned process, const char *path, bool outside)
{
	const struct inode *i = disk_inode(path);
	struct told *t;

	if (!i)
		return false;
	SLIST_FOREACH(t, &tellings, link)
	if (t->process == process && t->ino == i->ino)
		return (outside || !t->counts) && same_time(&t->at, &i->a.ctime) &&
		       i->changes > t->changes;
	return false;
}

/* --- the server's functions ------------------------------------------------------------------- */

uint64_t __real_attr_change(const struct obj *o, const struct statx *st);
void __real_attr_fill(struct serve *sv, uint32_t minor, struct obj *o, const struct statx *st,
	const struct nfs4_bitmap *want, struct nfs4_attrs *a);
void __real_attr_stat(const struct obj *o, const struct statx *st, struct nfs_attr *n);
void __real_cinfo_before(struct obj *dir, struct nfs4_change_info *ci);
void __real_cinfo_after(struct obj *dir, struct nfs4_change_info *ci);
void __real_compound_request(const struct serve_port *port, struct rpc_req *req);
void __real_v3_request(const struct serve_port *port, struct rpc_req *req);
uint32_t __real_v3_fsinfo(struct v3_call *c, const struct nfs3_args *a);

/* The change attribute that Linux makes of a time. */
static uint64_t by_time(const struct statx *st)
{
	return ((uint64_t)st->stx_ctime.tv_sec << 30) + st->stx_ctime.tv_nsec;
}

uint64_t __wrap_attr_change(const struct obj *o, const struct statx *st)
{
	return ways.coarse ? by_time(st) : __real_attr_change(o, st);
}

void __wrap_attr_stat(const struct obj *o, const struct statx *st, struct nfs_attr *n)
{
	__real_attr_stat(o, st, n);
	tell(st->stx_ino, &st->stx_ctime, false); /* NFSv3 has no change attribute */
}

void __wrap_attr_fill(struct serve *sv, uint32_t minor, struct obj *o, const struct statx *st,
	const struct nfs4_bitmap *want, struct nfs4_attrs *a)
{
	__real_attr_fill(sv, minor, o, st, want, a);
	if (a->maxread > ways.io_max)
		a->maxread = a->maxwrite = ways.io_max;
	tell(st->stx_ino, &st->stx_ctime, !ways.coarse);
	if (!ways.coarse)
		return;
	a->attr.change = by_time(st);
	a->time_delta = (struct timespec){.tv_nsec = TICK_NS};
}

static uint64_t of_dir(struct obj *dir, uint64_t change)
{
	struct statx st;

	return ways.coarse && obj_stat(dir, &st) == 0 ? by_time(&st) : change;
}

void __wrap_cinfo_before(struct obj *dir, struct nfs4_change_info *ci)
{
	__real_cinfo_before(dir, ci);
	ci->before = of_dir(dir, ci->before);
}

void __wrap_cinfo_after(struct obj *dir, struct nfs4_change_info *ci)
{
	__real_cinfo_after(dir, ci);
	ci->after = of_dir(dir, ci->after);
}

void __wrap_compound_request(const struct serve_port *port, struct rpc_req *req)
{
	way_request_begin(req);
	__real_compound_request(port, req);
	way_request_end();
}

void __wrap_v3_request(const struct serve_port *port, struct rpc_req *req)
{
	way_request_begin(req);
	__real_v3_request(port, req);
	way_request_end();
}

uint32_t __wrap_v3_fsinfo(struct v3_call *c, const struct nfs3_args *a)
{
	uint32_t status = __real_v3_fsinfo(c, a);
	struct nfs3_fsinfo_res *r = &c->res.u.fsinfo;

	if (r->rtmax > ways.io_max)
		r->rtmax = r->rtpref = r->wtmax = r->wtpref = ways.io_max;
	return status;
}
