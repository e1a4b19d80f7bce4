/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_device: devices and their data servers.
 */
#include "nfsproto/v4/pnfs/nfs4_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/pnfs/nfs4_segment.h"

#define IO_MIN 4096u	  /* a smaller rsize or wsize is not believed */
#define IO_MAX (1u << 20) /* and no larger one is used */

static uint32_t io_size(uint32_t n)
{
	return n < IO_MIN ? IO_MIN : n > IO_MAX ? IO_MAX : n;
}

/* The first version that is spoken here; the server names its favourite first. */
static bool choose_version(struct nfs4_device_info *i, const struct nfs4_ff_device *d)
{
	for (unsigned v = 0; v < d->nversions && v < NFS4_TARGET_FHS; v++) {
		const struct nfs4_ff_version *is = &d->version[v];

		if (is->version != 3 && (is->version != 4 || is->minor < 1 || is->minor > 2))
			continue;
		i->version = v;
		i->minor = is->version == 4 ? is->minor : 0;
		i->tight = is->version == 4 && is->tight;
		i->rsize = io_size(is->rsize);
		i->wsize = io_size(is->wsize);
		return true;
	}
	return false;
}

void nfs4_device_told(
	struct nfs4_device_info *i, const struct nfs4_opaque *body, enum rpc_proto rdma)
{
	struct nfs4_ff_device d;

	i->nplaces = 0;
	i->error = nfs4_get_ff_device(body, &d);
	if (i->error)
		return;
	for (unsigned a = 0; a < d.addrs.n && i->nplaces < NFS4_DS_PLACES; a++)
		if (nfs4_ds_place(&i->place[i->nplaces], &d.addrs.addr[a], rdma))
			i->nplaces++;
	if (!i->nplaces || !choose_version(i, &d))
		i->error = -EOPNOTSUPP;
}

void nfs4_devices_init(struct nfs4_devices *d)
{
	*d = (struct nfs4_devices){.n = 0};
}

static void free_list(struct nfs4_device *first)
{
	while (first) {
		struct nfs4_device *next = LIST_NEXT(first, link);

		free(first);
		first = next;
	}
}

void nfs4_devices_finish(struct nfs4_devices *d)
{
	while (!LIST_EMPTY(&d->servers)) {
		struct nfs4_ds *ds = LIST_FIRST(&d->servers);

		LIST_REMOVE(ds, link);
		nfs4_ds_free(ds);
	}
	free_list(LIST_FIRST(&d->list));
	free_list(LIST_FIRST(&d->old));
}

static struct nfs4_device *find(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev;

	LIST_FOREACH (dev, &d->list, link)
		if (!memcmp(&dev->id, id, sizeof(*id)))
			return dev;
	return NULL;
}

struct nfs4_device *nfs4_devices_find(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev = find(d, id);

	return dev && !dev->stale ? dev : NULL;
}

void nfs4_devices_doubt(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev = find(d, id);

	if (dev)
		dev->stale = true;
}

static bool same_place(const struct nfs4_ds_place *a, const struct nfs4_ds_place *b)
{
	return a->proto == b->proto && a->len == b->len && !memcmp(&a->ss, &b->ss, a->len);
}

static struct nfs4_ds *server_of(struct nfs4_devices *d, const struct nfs4_device_info *i)
{
	struct nfs4_ds *ds;

	LIST_FOREACH (ds, &d->servers, link)
		if (ds->minor == i->minor && same_place(&ds->place[0], &i->place[0]))
			return ds;
	ds = d->nservers < NFS4_DS_MAX ? nfs4_ds_new(i->place, i->nplaces, i->minor) : NULL;
	if (!ds)
		return NULL;
	d->nservers++;
	LIST_INSERT_HEAD(&d->servers, ds, link);
	return ds;
}

struct nfs4_device *nfs4_devices_add(struct nfs4_devices *d, const struct nfs4_device_info *i)
{
	struct nfs4_device *dev = find(d, &i->id), *old = dev;
	struct nfs4_ds *ds = server_of(d, i);

	if (!ds)
		return NULL;
	if (dev && dev->ds == ds && dev->version == i->version && dev->rsize == i->rsize &&
		dev->wsize == i->wsize && dev->tight == i->tight) {
		dev->stale = false;
		return dev;
	}
	dev = d->n < NFS4_DEVICES_HELD ? calloc(1, sizeof(*dev)) : NULL;
	if (!dev)
		return NULL;
	dev->id = i->id;
	dev->ds = ds;
	dev->version = i->version;
	dev->rsize = i->rsize;
	dev->wsize = i->wsize;
	dev->tight = i->tight;
	d->n++;
	LIST_INSERT_HEAD(&d->list, dev, link);
	if (old) {
		LIST_REMOVE(old, link);
		LIST_INSERT_HEAD(&d->old, old, link);
	}
	return dev;
}
