/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_io_stats: the READs and WRITEs of one layout. Model: nfs4_io_stats.h.
 */
#include "nfsproto/v4/pnfs/nfs4_io_stats.h"

#include <string.h>

#include "transport/clock.h"

/* The number of that file at that device, made if need be; -1: there are too many. */
static int number_of(struct nfs4_io_stats *s, const struct nfs4_deviceid *device,
	const struct nfs_fh *fh, const struct nfs4_ds *ds)
{
	struct nfs4_io_stats_at *at;

	for (unsigned i = 0; i < s->n; i++)
		if (!memcmp(&s->at[i].device, device, sizeof(*device)) &&
			nfs_fh_equal(&s->at[i].fh, fh))
			return (int)i;
	if (s->n == NFS4_IO_STATS)
		return -1;
	at = &s->at[s->n];
	at->device = *device;
	at->fh = *fh;
	at->addr = ds->place[ds->answered].ss;
	at->rdma = ds->place[ds->answered].proto != RPC_TCP;
	return (int)s->n++;
}

int nfs4_io_stats_begun(struct nfs4_io_stats *s, const struct nfs4_deviceid *device,
	const struct nfs_fh *fh, const struct nfs4_ds *ds, bool write, uint32_t len, uint64_t now)
{
	int number = number_of(s, device, fh, ds);
	struct nfs4_io_stat *io;

	if (number < 0)
		return -1;
	if (!s->begin_ns)
		s->begin_ns = now;
	io = write ? &s->at[number].write : &s->at[number].read;
	io->ops_requested++;
	io->bytes_requested += len;
	if (io->under_way++ == 0)
		io->since_ns = now;
	return number;
}

void nfs4_io_stats_ended(struct nfs4_io_stats *s, int number, bool write, bool ok, uint32_t len,
	uint32_t done, uint64_t begun_ns, uint64_t now)
{
	struct nfs4_io_stat *io;

	if (number < 0)
		return;
	io = write ? &s->at[number].write : &s->at[number].read;
	if (ok) {
		io->ops_completed++;
		io->bytes_completed += done;
		io->completion_ns += clock_age(now, begun_ns);
	} else {
		io->bytes_lost += len - done;
	}
	if (--io->under_way == 0)
		io->busy_ns += clock_age(now, io->since_ns);
	s->news = true;
}

static struct timespec duration(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

static struct nfs4_ff_latency latency(const struct nfs4_io_stat *io, uint64_t now)
{
	uint64_t running = io->under_way ? clock_age(now, io->since_ns) : 0;

	return (struct nfs4_ff_latency){
		.ops_requested = io->ops_requested,
		.bytes_requested = io->bytes_requested,
		.ops_completed = io->ops_completed,
		.bytes_completed = io->bytes_completed,
		.bytes_not_delivered = io->bytes_lost,
		.busy = duration(io->busy_ns + running),
		.completion = duration(io->completion_ns),
	};
}

void nfs4_io_stats_tell(const struct nfs4_io_stats *s, unsigned i, uint64_t now,
	char text[NFS4_UADDR_MAX], struct nfs4_ff_update *u)
{
	const struct nfs4_io_stats_at *at = &s->at[i];

	*u = (struct nfs4_ff_update){
		.fh = at->fh,
		.read = latency(&at->read, now),
		.write = latency(&at->write, now),
		.duration = duration(clock_age(now, s->begin_ns)),
	};
	nfs4_netaddr_format((const struct sockaddr *)&at->addr, at->rdma, text, &u->addr);
}
