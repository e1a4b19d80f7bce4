/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_device: devices and their data servers.
 */
#include "nfsproto/v4/pnfs/nfs4_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/log.h"

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

/* --- the lists ----------------------------------------------------------------------------- */

void nfs4_devices_init(struct nfs4_devices *d)
{
	*d = (struct nfs4_devices){.n = 0};
	TAILQ_INIT(&d->list);
	TAILQ_INIT(&d->old);
	nfs_more_init(&d->shown);
}

static void hide(struct nfs4_devices *d, struct nfs4_ds *ds)
{
	if (!nfs4_ds_is_new(ds))
		nfs_more_remove(&d->shown, nfs4_ds_rpc(ds));
}

void nfs4_devices_close(struct nfs4_devices *d)
{
	struct nfs4_ds *ds;

	LIST_FOREACH (ds, &d->servers, link) {
		hide(d, ds);
		nfs4_ds_end(ds);
	}
}

/* Frees dev, which is in no list, and leaves its data servers. */
static void device_free(struct nfs4_device *dev)
{
	for (unsigned s = 0; s < dev->nservers; s++)
		nfs4_ds_leave(dev->server[s]);
	free(dev);
}

static void drop(struct nfs4_devices *d, struct nfs4_device_list *from, struct nfs4_device *dev)
{
	TAILQ_REMOVE(from, dev, link);
	d->n--;
	device_free(dev);
}

static void end_server(struct nfs4_devices *d, struct nfs4_ds *ds)
{
	LIST_REMOVE(ds, link);
	d->nservers--;
	hide(d, ds);
	nfs4_ds_free(ds);
}

void nfs4_devices_finish(struct nfs4_devices *d)
{
	while (!TAILQ_EMPTY(&d->list))
		drop(d, &d->list, TAILQ_FIRST(&d->list));
	while (!TAILQ_EMPTY(&d->old))
		drop(d, &d->old, TAILQ_FIRST(&d->old));
	while (!LIST_EMPTY(&d->servers))
		end_server(d, LIST_FIRST(&d->servers));
	nfs_more_finish(&d->shown);
}

static struct nfs4_device *find(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev;

	TAILQ_FOREACH (dev, &d->list, link)
		if (!memcmp(&dev->id, id, sizeof(*id)))
			return dev;
	return NULL;
}

struct nfs4_device *nfs4_devices_find(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev = find(d, id);

	if (!dev || dev->stale)
		return NULL;
	TAILQ_REMOVE(&d->list, dev, link);
	TAILQ_INSERT_HEAD(&d->list, dev, link);
	return dev;
}

void nfs4_devices_doubt(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev;

	TAILQ_FOREACH (dev, &d->list, link)
		if (!id || !memcmp(&dev->id, id, sizeof(*id)))
			dev->stale = true;
}

/* dev, which is current, is not any more. */
static void replace(struct nfs4_devices *d, struct nfs4_device *dev)
{
	TAILQ_REMOVE(&d->list, dev, link);
	TAILQ_INSERT_TAIL(&d->old, dev, link);
}

void nfs4_devices_delete(struct nfs4_devices *d, const struct nfs4_deviceid *id)
{
	struct nfs4_device *dev = find(d, id);

	if (dev)
		replace(d, dev);
}

/* --- room ---------------------------------------------------------------------------------- */

/* Frees the replaced devices that no layout names. */
static void drop_old(struct nfs4_devices *d)
{
	struct nfs4_device *dev, *next;

	for (dev = TAILQ_FIRST(&d->old); dev; dev = next) {
		next = TAILQ_NEXT(dev, link);
		if (!nfs4_device_is_used(dev))
			drop(d, &d->old, dev);
	}
}

bool nfs4_devices_tidy(struct nfs4_devices *d)
{
	struct nfs4_ds *ds;

	drop_old(d);
	LIST_FOREACH (ds, &d->servers, link)
		if (!nfs4_ds_is_used(ds))
			break;
	if (!ds)
		return false;
	log_info("data server %s is not needed any more", ds->name);
	end_server(d, ds);
	return true;
}

/* Frees the current device without users that was found the longest ago. False: there is none. */
static bool drop_oldest(struct nfs4_devices *d)
{
	struct nfs4_device *dev = TAILQ_LAST(&d->list, nfs4_device_list);

	while (dev && nfs4_device_is_used(dev))
		dev = TAILQ_PREV(dev, nfs4_device_list, link);
	if (dev)
		drop(d, &d->list, dev);
	return dev;
}

static bool names(const struct nfs4_device *dev, const struct nfs4_ds *ds)
{
	for (unsigned s = 0; s < dev->nservers; s++)
		if (dev->server[s] == ds)
			return true;
	return false;
}

/* Would ds be needed by no device, if all devices without users went? */
static bool is_spare(struct nfs4_devices *d, const struct nfs4_ds *ds)
{
	const struct nfs4_device *dev;

	TAILQ_FOREACH (dev, &d->list, link)
		if (nfs4_device_is_used(dev) && names(dev, ds))
			return false;
	TAILQ_FOREACH (dev, &d->old, link)
		if (nfs4_device_is_used(dev) && names(dev, ds))
			return false;
	return true;
}

/* Is there room for one more data server? Makes some, as far as devices without users leave some.
 */
static bool has_room(struct nfs4_devices *d)
{
	struct nfs4_ds *ds;

	while (d->nservers >= NFS4_DS_MAX && !nfs4_devices_tidy(d)) {
		LIST_FOREACH (ds, &d->servers, link)
			if (is_spare(d, ds))
				break;
		if (!ds || !drop_oldest(d))
			return false;
	}
	return true;
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
	ds = has_room(d) ? nfs4_ds_new(at->place, at->nplaces, i->minor, same_client) : NULL;
	if (!ds)
		return NULL;
	d->nservers++;
	LIST_INSERT_HEAD(&d->servers, ds, link);
	return ds;
}

/* --- another device ------------------------------------------------------------------------ */

/* Is it the same device as before? */
static bool is_same(const struct nfs4_device *a, const struct nfs4_device *b)
{
	return a->nservers == b->nservers && a->nstripes == b->nstripes &&
	       !memcmp(a->server, b->server, a->nservers * sizeof(a->server[0])) &&
	       !memcmp(a->stripe, b->stripe, a->nstripes) && a->version == b->version &&
	       a->rsize == b->rsize && a->wsize == b->wsize && a->tight == b->tight;
}

/* The device of i, in no list. NULL: no memory, or no data server. */
static struct nfs4_device *device_new(struct nfs4_devices *d, const struct nfs4_device_info *i)
{
	struct nfs4_device *dev = calloc(1, sizeof(*dev));
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
		struct nfs4_ds *ds = server_of(d, i, &i->server[s]);

		if (ds) /* makes no room for the next one */
			nfs4_ds_use(ds);
		dev->server[s] = ds;
		any |= ds != NULL;
	}
	if (any)
		return dev;
	device_free(dev);
	return NULL;
}

struct nfs4_device *nfs4_devices_add(struct nfs4_devices *d, const struct nfs4_device_info *i)
{
	struct nfs4_device *dev = device_new(d, i), *old;

	if (!dev)
		return NULL;
	old = find(d, &i->id); /* if device_new() has not dropped it to make room */
	if (old && is_same(old, dev)) {
		old->stale = false;
		device_free(dev);
		return old;
	}
	if (old)
		replace(d, old);
	drop_old(d);
	if (d->n >= NFS4_DEVICES_HELD && !drop_oldest(d)) {
		device_free(dev);
		return NULL;
	}
	d->n++;
	TAILQ_INSERT_HEAD(&d->list, dev, link);
	return dev;
}
