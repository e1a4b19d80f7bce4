/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_devices: the devices that a new layout names.
 */
#include "nfsproto/v4/pnfs/nfs4_layout_devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/log.h"

#define CALL_MS 10000u

struct finder {
	struct nfs4_client *c;
	struct nfs4_devices *devices;
	uint32_t type; /* layouttype4 */
	bool answers;  /* the server does, so far */
	bool full;     /* there was no room for a device */
	bool any;      /* a target has a data server */
};

/* The reason why a device is of no use. */
static const char *device_error(int error)
{
	switch (error) {
	case -EBADMSG:
		return "is malformed (server bug)";
	case -E2BIG:
		return "has too many data servers or stripes";
	default:
		return "has no address over tcp or rdma, or no version of NFS that is spoken here";
	}
}

/* GETDEVICEINFO of i. False: i is of no use now. */
static bool ask_device(struct finder *f, struct nfs4_device_info *i)
{
	struct nfs4_sync s;
	int rc;

	s.u.device = i;
	rc = nfs4_mount_run(f->c, &s, NFS4_K_GETDEVICEINFO, CALL_MS);
	if (rc) {
		log_warn("%s: GETDEVICEINFO failed: %s", f->c->srv->name,
			s.status ? nfs4_status_name(s.status) : strerror(-rc));
		f->answers = s.status != NFS4_OK;
		return false;
	}
	if (i->error)
		log_warn("%s: a device of a layout %s: its data goes through the metadata server",
			f->c->srv->name, device_error(i->error));
	return !i->error;
}

/* The device with that ID, asked for if need be; NULL: of no use now. */
static struct nfs4_device *device_of(struct finder *f, const struct nfs4_deviceid *id)
{
	struct nfs4_device *d = nfs4_devices_find(f->devices, id);
	struct nfs4_device_info *i = d ? NULL : calloc(1, sizeof(*i));

	if (!i)
		return d;
	i->id = *id;
	i->type = f->type;
	i->rdma = f->c->srv->rp.proto == RPC_IWARP ? RPC_IWARP : RPC_RDMA;
	i->files_minor = f->c->srv->minor;
	if (ask_device(f, i)) {
		d = nfs4_devices_add(f->devices, i);
		f->full |= !d;
		if (!d)
			log_warn("%s: too many devices of layouts: the rest goes through the "
				 "metadata server",
				f->c->srv->name);
	}
	free(i);
	return d;
}

/* Has t name d, which is of use, and the data server of that number. */
static void give(struct finder *f, struct nfs4_target *t, struct nfs4_device *d, unsigned server)
{
	nfs4_device_use(d);
	t->device = d;
	t->ds = d->server[server];
	f->any |= t->ds != NULL;
}

/* Finds the data server of each target of s, which is of flexible files. */
static void find_flex(struct finder *f, struct nfs4_segment *s)
{
	for (unsigned i = 0; i < s->nmirrors * s->nstripes && f->answers; i++) {
		struct nfs4_target *t = &s->target[i];
		struct nfs4_device *d = device_of(f, &t->id);

		if (d)
			give(f, t, d, 0);
	}
}

static bool share_address(const struct nfs4_ds *a, const struct nfs4_ds *b)
{
	for (unsigned i = 0; i < a->nplaces; i++)
		for (unsigned k = 0; k < b->nplaces; k++)
			if (nfs4_ds_same_place(&a->place[i], &b->place[k]))
				return true;
	return false;
}

/* Are two stripes of s packed into one file of one data server? Then each would overwrite the other
 * (RFC 8881 section 13.4.4). */
static bool stripes_overlap(const struct nfs4_segment *s)
{
	for (unsigned i = 0; s->dense && i < s->nstripes; i++)
		for (unsigned k = 0; k < i; k++) {
			const struct nfs4_target *a = &s->target[i], *b = &s->target[k];

			if (nfs_fh_equal(&a->fh[0], &b->fh[0]) && a->ds && b->ds &&
				(a->ds == b->ds || share_address(a->ds, b->ds)))
				return true;
		}
	return false;
}

/* Spreads s, which is of the file layout type, over the data servers of its device. */
static int find_files(struct finder *f, struct nfs4_segment *s, const struct nfs_fh *fh)
{
	struct nfs4_device *d = f->answers ? device_of(f, &s->id) : NULL;
	int rc;

	if (!d)
		return 0;
	rc = nfs4_segment_spread(s, fh, d->stripe, d->nstripes, d->nservers);
	for (unsigned i = 0; i < s->nstripes; i++)
		give(f, &s->target[i], d, d->stripe[i]);
	return rc ? rc : stripes_overlap(s) ? -EBADMSG : 0;
}

bool nfs4_layout_devices(
	struct nfs4_client *c, struct nfs4_devices *devices, struct nfs4_layoutget *g)
{
	struct finder f = {.c = c, .devices = devices, .type = g->type, .answers = true};

	for (unsigned i = 0; i < g->segs.n && !g->error; i++) {
		struct nfs4_segment *s = &g->segs.seg[i];

		if (s->files)
			g->error = find_files(&f, s, g->fh);
		else
			find_flex(&f, s);
	}
	if (!g->error && f.full && !f.any)
		g->error = -ENOBUFS;
	return !f.full;
}
