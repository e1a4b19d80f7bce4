/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_device: devices and their data servers.
 */
#include "nfsproto/v4/pnfs/nfs4_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* The usable ones of the addresses of one data server. */
static void places_of(
	struct nfs4_device_server *s, const struct nfs4_multipath *m, enum rpc_proto rdma)
{
	s->nplaces = 0;
	for (unsigned a = 0; a < m->n && s->nplaces < NFS4_DS_PLACES; a++)
		if (nfs4_ds_place(&s->place[s->nplaces], &m->addr[a], rdma))
			s->nplaces++;
}

static int flex_told(struct nfs4_device_info *i, const struct nfs4_opaque *body)
{
	struct nfs4_ff_device d;

	if (nfs4_get_ff_device(body, &d))
		return -EBADMSG;
	places_of(&i->server[0], &d.addrs, i->rdma);
	if (!i->server[0].nplaces || !choose_version(i, &d))
		return -EOPNOTSUPP;
	i->nservers = i->nstripes = 1;
	i->stripe[0] = 0;
	return 0;
}

static int files_told(struct nfs4_device_info *i, const struct nfs4_opaque *body)
{
	struct nfs4_files_device d;
	struct nfs4_multipath m;
	bool any = false;
	uint32_t pos = 0;

	if (nfs4_get_files_device(body, &d))
		return -EBADMSG;
	if (d.nservers > NFS4_DS_MAX || d.nstripes > NFS4_STRIPES)
		return -E2BIG;
	for (i->nservers = 0; nfs4_files_server_next(&d, &pos, &m); i->nservers++) {
		places_of(&i->server[i->nservers], &m, i->rdma);
		any |= i->server[i->nservers].nplaces > 0;
	}
	for (i->nstripes = 0; i->nstripes < d.nstripes; i->nstripes++)
		i->stripe[i->nstripes] = (uint8_t)nfs4_files_stripe(&d, i->nstripes);
	i->version = 0;
	i->minor = i->files_minor;
	i->rsize = i->wsize = IO_MAX;
	i->tight = true;
	return any ? 0 : -EOPNOTSUPP;
}

void nfs4_device_told(struct nfs4_device_info *i, const struct nfs4_opaque *body)
{
	i->nservers = i->nstripes = 0;
	i->error = i->type == LAYOUT4_FLEX_FILES ? flex_told(i, body) : files_told(i, body);
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
	struct nfs4_device *dev;

	LIST_FOREACH (dev, &d->list, link)
		if (!id || !memcmp(&dev->id, id, sizeof(*id)))
			dev->stale = true;
}

static struct nfs4_ds *server_of(struct nfs4_devices *d, const struct nfs4_device_info *i,
	const struct nfs4_device_server *at)
{
	bool same_client = i->type != LAYOUT4_FLEX_FILES;
	struct nfs4_ds *ds;

	if (!at->nplaces)
		return NULL;
	LIST_FOREACH (ds, &d->servers, link)
		if (ds->minor == i->minor && nfs4_ds_same_place(&ds->place[0], &at->place[0]))
			return ds;
	ds = d->nservers < NFS4_DS_MAX ? nfs4_ds_new(at->place, at->nplaces, i->minor, same_client)
				       : NULL;
	if (!ds)
		return NULL;
	d->nservers++;
	LIST_INSERT_HEAD(&d->servers, ds, link);
	return ds;
}

/* Is it the same device as before? */
static bool is_same(const struct nfs4_device *a, const struct nfs4_device *b)
{
	return a->nservers == b->nservers && a->nstripes == b->nstripes &&
	       !memcmp(a->server, b->server, a->nservers * sizeof(a->server[0])) &&
	       !memcmp(a->stripe, b->stripe, a->nstripes) && a->version == b->version &&
	       a->rsize == b->rsize && a->wsize == b->wsize && a->tight == b->tight;
}

struct nfs4_device *nfs4_devices_add(struct nfs4_devices *d, const struct nfs4_device_info *i)
{
	struct nfs4_device *old = find(d, &i->id), *dev = calloc(1, sizeof(*dev));
	bool any = false;

	if (!dev)
		return NULL;
	dev->id = i->id;
	dev->nservers = i->nservers;
	dev->nstripes = i->nstripes;
	memcpy(dev->stripe, i->stripe, i->nstripes);
	dev->version = i->version;
	dev->rsize = i->rsize;
	dev->wsize = i->wsize;
	dev->tight = i->tight;
	for (unsigned s = 0; s < i->nservers; s++) {
		dev->server[s] = server_of(d, i, &i->server[s]);
		any |= dev->server[s] != NULL;
	}
	if (old && is_same(old, dev)) {
		old->stale = false;
		free(dev);
		return old;
	}
	if (!any || d->n >= NFS4_DEVICES_HELD) {
		free(dev);
		return NULL;
	}
	d->n++;
	LIST_INSERT_HEAD(&d->list, dev, link);
	if (old) {
		LIST_REMOVE(old, link);
		LIST_INSERT_HEAD(&d->old, old, link);
	}
	return dev;
}
