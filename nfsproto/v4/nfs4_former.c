/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_former: a mount by the notes of a former daemon. Model: nfs4_former.h.
 */
#include "nfsproto/v4/nfs4_former.h"

#include <errno.h>
#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lock_push.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/nfs4_mount_record.h"
#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_state.h"

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

/* --- delegations ------------------------------------------------------------------------------ */

static int read_deleg(struct nfs4_client *c, struct xdr_in *x)
{
	struct nfs4_deleg_noted noted;
	int rc = 0;

	if (!nfs4_deleg_note_get(x, &noted))
		return -EBADMSG;
	mutex_lock(&c->lock);
	if (nfs4_deleg_find_locked(c, &noted.fh, &noted.stateid) ||
		(noted.held && nfs4_deleg_find_locked(c, &noted.fh, NULL)))
		rc = -EBADMSG;
	else if (!nfs4_deleg_former_locked(c, &noted))
		rc = -ENOMEM;
	mutex_unlock(&c->lock);
	return rc;
}

/* Each local open joins its delegation, or is suspect. True: one is suspect. */
static bool rejoin_opens(struct nfs4_client *c)
{
	struct nfs_open *o, *next;
	bool suspect = false;

	mutex_lock(&c->lock);
	for (o = TAILQ_FIRST(&c->opens); o; o = next) {
		next = TAILQ_NEXT(o, link);
		if (!o->was_local)
			continue;
		o->was_local = false;
		if (nfs4_deleg_rejoin_locked(c, o))
			continue;
		mutex_lock(&o->lock);
		o->suspect = suspect = true;
		mutex_unlock(&o->lock);
		nfs4_note_open_locked(c, o);
	}
	mutex_unlock(&c->lock);
	return suspect;
}

/* Is there a write delegation of fh, on which local locks may stand? */
static bool has_write_deleg(struct nfs4_client *c, const struct nfs_fh *fh)
{
	const struct nfs4_deleg *d;
	bool has = false;

	mutex_lock(&c->lock);
	for (unsigned i = 0; i < NFS4_D_STATES; i++)
		TAILQ_FOREACH (d, &c->delegs.list[i], link)
			has |= d->type == OPEN_DELEGATE_WRITE && nfs_fh_equal(&d->fh, fh);
	mutex_unlock(&c->lock);
	return has;
}

/* Local locks without a delegation are suspect. True: one is. False for *done: no memory. */
static bool judge_locks(struct nfs4_client *c, bool *done)
{
	size_t n;
	struct nfs4_lockctx **list = nfs4_lockctx_list(c, &n);
	bool suspect = false, local;

	for (size_t i = 0; i < n; i++) {
		mutex_lock(&c->locks.lock);
		local = list[i]->local;
		suspect |= list[i]->suspect;
		mutex_unlock(&c->locks.lock);
		if (local && !has_write_deleg(c, &list[i]->fh)) {
			nfs4_lock_undelegated(c, &list[i]->fh, 0);
			suspect = true;
		}
		nfs4_lockctx_unref(c, list[i]);
	}
	*done = list;
	free(list);
	return suspect;
}

static int read_state(struct nfs4_client *c, const struct former *f)
{
	int rc = nfs4_mount_get_note(c, f) ? 0 : -EBADMSG;
	bool suspect, done;

	mutex_lock(&c->lock);
	c->delegs.rest_former = true;
	mutex_unlock(&c->lock);
	if (!rc)
		rc = read_all(c, f, NOTE_DELEG, read_deleg);
	if (!rc)
		rc = read_all(c, f, NOTE_OPEN, nfs4_note_read_open);
	if (!rc)
		rc = read_all(c, f, NOTE_LOCKS, nfs4_note_read_locks);
	if (rc)
		return rc;
	suspect = rejoin_opens(c);
	suspect |= judge_locks(c, &done);
	if (suspect)
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	return done ? 0 : -ENOMEM;
}

int nfs4_former_read(struct nfs4_client *c, const struct former *f, struct err *e)
{
	uint64_t next_owner = atomic_load(&c->srv->next_owner);
	int rc = read_state(c, f);

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

/* --- opens ------------------------------------------------------------------------------------ */

static bool is_left_locked(const struct nfs_open *o, uint64_t number) REQUIRES(NFS4_MOUNT)
{
	return o->former && (!number || o->owner == number);
}

/* The open with that number (0: any) that the user has not taken, now taken; or NULL. */
static struct nfs_open *take(struct nfs4_client *c, uint64_t number)
{
	const struct nfs4_deleg *d;
	struct nfs_open *o;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		if (is_left_locked(o, number))
			break;
	for (unsigned i = 0; i < NFS4_D_STATES && !o; i++)
		TAILQ_FOREACH (d, &c->delegs.list[i], link) {
			TAILQ_FOREACH (o, &d->opens, link)
				if (is_left_locked(o, number))
					break;
			if (o)
				break;
		}
	if (o)
		o->former = false;
	mutex_unlock(&c->lock);
	return o;
}

struct nfs_open *nfs4_former_open(struct nfs_client *base, uint64_t number)
{
	return take(nfs4_client(base), number);
}

void nfs4_former_discard(struct nfs_open *o)
{
	struct nfs4_client *c = nfs4_client(o->head.client);

	nfs4_lockctx_forget(c, o);
	nfs4_note_closed(o);
	if (nfs4_deleg_close(c, o))
		return;
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

	while ((o = take(c, 0))) {
		if (o->request && nfs4_replay_has(c->srv, o->request))
			nfs4_former_discard(o);
		else if (!nfs4_lock_defers_close(c, o, false))
			nfs4_close_late(c, o);
	}
	mutex_lock(&c->lock);
	c->delegs.rest_former = false;
	mutex_unlock(&c->lock);
	nfs4_state_poll(c->srv);
}

uint64_t nfs4_former_deleg(struct nfs_client *base, const struct nfs_fh *fh, bool *writes)
{
	struct nfs4_client *c = nfs4_client(base);
	const struct nfs4_deleg *d;
	uint64_t id = 0;

	*writes = false;
	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, NULL);
	if (d) {
		id = d->id;
		*writes = d->type == OPEN_DELEGATE_WRITE;
	}
	mutex_unlock(&c->lock);
	return id;
}
