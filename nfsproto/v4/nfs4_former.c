/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_former: a mount by the notes of a former daemon. Model: nfs4_former.h.
 */
#include "nfsproto/v4/nfs4_former.h"

#include <errno.h>

#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/nfs4_mount_record.h"
#include "nfsproto/v4/server/nfs4_replay.h"

static int read_all(struct nfs4_client *c, const struct former *f, enum note_kind kind,
	int (*read)(struct nfs4_client *c, struct xdr_in *x))
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < former_count(f, kind); i++) {
		struct xdr_in x;
		uint32_t len;
		const void *note = former_note(f, kind, i, &len);

		xdr_in_init(&x, note, len);
		rc = read(c, &x);
	}
	return rc;
}

int nfs4_former_read(struct nfs4_client *c, const struct former *f, struct err *e)
{
	uint64_t next_owner = atomic_load(&c->srv->next_owner);
	int rc = nfs4_mount_get_note(c, f) ? 0 : -EBADMSG;

	if (!rc)
		rc = read_all(c, f, NOTE_OPEN, nfs4_note_read_open);
	if (!rc)
		rc = read_all(c, f, NOTE_LOCKS, nfs4_note_read_locks);
	atomic_store(&c->srv->next_owner, next_owner); /* the owners of the notes are known */
	if (rc == -ENOMEM)
		return err_set(e, ERR_INTERNAL, "out of memory for the open files");
	if (rc)
		return err_set(
			e, ERR_INTERNAL, "the former daemon's notes of the mount are damaged");
	return 0;
}

uint64_t nfs4_former_number(const struct nfs_open *o)
{
	return o->owner;
}

struct nfs_open *nfs4_former_open(struct nfs_client *base, uint64_t number)
{
	struct nfs4_client *c = nfs4_client(base);
	struct nfs_open *o;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		if (o->former && o->owner == number)
			break;
	if (o)
		o->former = false;
	mutex_unlock(&c->lock);
	return o;
}

/* An open that the user has not taken, now taken; or NULL. */
static struct nfs_open *take_left(struct nfs4_client *c)
{
	struct nfs_open *o;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		if (o->former)
			break;
	if (o)
		o->former = false;
	mutex_unlock(&c->lock);
	return o;
}

void nfs4_former_discard(struct nfs_open *o)
{
	struct nfs4_client *c = nfs4_client(o->head.client);

	nfs4_lockctx_forget(c, o);
	nfs4_note_closed(o);
	mutex_lock(&c->lock);
	TAILQ_REMOVE(&c->opens, o, link);
	o->linked = false;
	mutex_unlock(&c->lock);
	nfs4_open_unref(o);
}

void nfs4_former_end(struct nfs_client *base)
{
	struct nfs4_client *c = nfs4_client(base);
	struct nfs_open *o;

	while ((o = take_left(c))) {
		if (o->request && nfs4_replay_has(c->srv, o->request))
			nfs4_former_discard(o);
		else if (!nfs4_lock_defers_close(c, o, false))
			nfs4_close_late(c, o);
	}
}
