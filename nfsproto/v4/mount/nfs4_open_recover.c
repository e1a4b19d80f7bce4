/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_open_recover: recovery of open files after a loss. The state manager's thread only, by the
 * upcalls of nfs4_user.h.
 *
 *     reclaim        the server has forgotten all: opens are reclaimed (CLAIM_PREVIOUS); opens that
 *                    the server refused are opened anew (CLAIM_FH) as suspects, after
 *                    RECLAIM_COMPLETE
 *     one open       suspect: opened anew; if the server refuses for good, lost: its I/O fails
 *     revoked state  TEST_STATEID finds which, FREE_STATEID acknowledges, then as suspects
 *     locks          after the opens that the locks are bound to (nfs4_lock_recover.c)
 *
 * Each step is a blocking call (nfs4_sync.h), and each failure is tried again, until the thread is
 * told to stop.
 */
#include "nfsproto/v4/mount/nfs4_open_recover.h"

#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_lock_recover.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/log.h"

#define STEP_MS	   60000u	     /* most time for one step before the next attempt */
#define PUT_OFF_NS (100 * NFS4_MSEC) /* between attempts at a CLOSE */

/* References to all opens, for walking without the lock. NULL: no memory. */
static struct nfs_open **all_opens(struct nfs4_client *c, size_t *n)
{
	struct nfs_open **list, *o;
	size_t count = 0;

	*n = 0;
	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (list)
		TAILQ_FOREACH (o, &c->opens, link)
			if (!o->close_wanted)
				list[(*n)++] = nfs4_open_ref(o);
	mutex_unlock(&c->lock);
	return list;
}

static void drop_opens(struct nfs_open **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		nfs4_open_unref(list[i]);
	free(list);
}

static void reopened(struct nfs4_client *c, struct nfs_open *o, const struct nfs4_stateid *id)
{
	struct nfs4_sync s;
	bool closed, another;

	mutex_lock(&o->lock);
	another = memcmp(o->stateid.other, id->other, sizeof(id->other)) != 0;
	mutex_unlock(&o->lock);
	if (another) /* before the new stateid can be sent */
		nfs4_lock_reopened(c, o);
	mutex_lock(&o->lock);
	o->stateid = *id;
	o->suspect = false;
	o->gen++;
	mutex_unlock(&o->lock);
	nfs4_note_open(o);
	mutex_lock(&c->lock);
	closed = o->close_wanted;
	mutex_unlock(&c->lock);
	if (!closed)
		return;
	/* the CLOSE of o was sent meanwhile, with the stateid before this one */
	while (nfs4_open_run(c, o, &s, NFS_CLOSE, STEP_MS) && s.status == NFS4ERR_DELAY)
		if (!nfs4_recover_pause(c->srv, PUT_OFF_NS))
			break;
}

/* Opens o anew. NFS_DONE: also if o is lost for good, and marked so; or NFS_LATER. */
static enum nfs_outcome reopen(struct nfs4_client *c, struct nfs_open *o, bool reclaim)
{
	struct nfs4_sync s;
	int rc;

	s.u.reopen.open = o;
	s.u.reopen.reclaim = reclaim;
	do
		rc = nfs4_open_run(c, o, &s, NFS4_K_REOPEN, STEP_MS);
	while (rc && reclaim && nfs4_reclaim_put_off(c, s.status));
	if (rc == 0) {
		reopened(c, o, &s.u.reopen.stateid);
		if (!reclaim)
			nfs_tell_lost(&c->base, &o->fh, NFS_LOST_GAP);
		return NFS_DONE;
	}
	if (nfs4_recover_undecided(s.status))
		return NFS_LATER;
	if (reclaim)
		return NFS_LATER; /* not as the same open; perhaps as a new one */
	log_always_warn("%s: an open file is lost: the server answered %s", c->srv->name,
		nfs4_status_name(s.status));
	mutex_lock(&o->lock);
	o->lost = true;
	o->suspect = false;
	mutex_unlock(&o->lock);
	nfs4_note_open(o);
	nfs_tell_lost(&c->base, &o->fh, NFS_LOST_OPEN);
	return NFS_DONE;
}

static bool is_suspect(struct nfs_open *o)
{
	bool suspect;

	mutex_lock(&o->lock);
	suspect = o->suspect;
	mutex_unlock(&o->lock);
	return suspect;
}

/* The server has forgotten all. Reclaims each open. An open that the server does not grant again as
 * before becomes a suspect, to be opened anew once reclaiming is over. */
void nfs4_open_reclaim(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);

	for (size_t i = 0; i < n; i++) {
		mutex_lock(&list[i]->lock);
		list[i]->suspect = true;
		mutex_unlock(&list[i]->lock);
	}
	for (size_t i = 0; i < n && !nfs4_server_quitting(c->srv, &c->user); i++)
		reopen(c, list[i], true);
	nfs4_lock_recover(c, true);
	if (n)
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	drop_opens(list, n);
}

bool nfs4_open_check(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);
	bool later = !list;

	for (size_t i = 0; i < n && !nfs4_server_quitting(c->srv, &c->user); i++)
		if (is_suspect(list[i]) && reopen(c, list[i], false) == NFS_LATER)
			later = true;
	drop_opens(list, n);
	if (nfs4_lock_recover(c, false))
		later = true;
	return later;
}

/* Asks which of up to 32 opens the server has revoked, frees the revoked stateids and marks the
 * opens suspect. False: no answer yet. If the server refuses to tell, the answer to each later call
 * with such a stateid tells. */
static bool test_batch(struct nfs4_client *c, struct nfs_open **list, uint32_t n)
{
	struct nfs4_sync s, f;

	s.u.test.n = n;
	for (uint32_t i = 0; i < n; i++) {
		mutex_lock(&list[i]->lock);
		s.u.test.ids[i] = list[i]->stateid;
		mutex_unlock(&list[i]->lock);
	}
	if (nfs4_sync_run(c->srv, &s, NFS4_K_TEST_STATEID, STEP_MS))
		return !nfs4_recover_undecided(s.status);
	for (uint32_t i = 0; i < n; i++) {
		if (s.u.test.code[i] == NFS4_OK)
			continue;
		log_ctrl("%s: the state of an open file is %s", c->srv->name,
			nfs4_status_name(s.u.test.code[i]));
		f.u.free_id = s.u.test.ids[i];
		nfs4_sync_run(c->srv, &f, NFS4_K_FREE_STATEID, STEP_MS);
		mutex_lock(&list[i]->lock);
		list[i]->suspect = true;
		mutex_unlock(&list[i]->lock);
	}
	return true;
}

bool nfs4_open_revoked(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);
	bool unknown = !list;

	for (size_t i = 0; i < n && !nfs4_server_quitting(c->srv, &c->user); i += 32)
		unknown |= !test_batch(c, list + i, n - i < 32 ? (uint32_t)(n - i) : 32);
	drop_opens(list, n);
	return nfs4_lock_test(c) || unknown;
}
