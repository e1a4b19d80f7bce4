/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_openreq: NFS_OPEN and NFS_CLOSE.
 *
 * An NFS_OPEN makes a struct nfs_open with an open-owner of its own, and runs as the nfs_open's own
 * op on a copy of the user's arguments; so does NFS_CLOSE. So a cancelled user can be answered at
 * once while the own op still waits for the server's answer. If open state then arrives after its
 * user has gone, the own op closes the open.
 *
 *     user's OPEN --> own op OPEN --> user there:  linked into c->opens, user answered
 *                                 \-> user gone:   own op CLOSE --> freed
 *                   own op no answer: user told, OPEN again without making anything, CLOSE
 *     user's CLOSE -> own op CLOSE -> unlinked, user (if still there) answered, reference dropped
 *                                 |-> no answer: user told, again
 *                                 \-> the client stops: stays linked
 *     local open (nfs4_deleg.h): nothing is sent for OPEN nor for CLOSE
 *     unmounting ---> own op CLOSE for all linked opens
 *
 * c->nown counts own ops until each has taken its last look at any memory. Unmounting waits for all
 * own ops before it closes the open files, so even an OPEN that is answered so late leaves nothing.
 *
 * Invariant: `user` is taken (read and set to NULL) under the mount's lock by exactly one of: the
 * own op's end, nfs_cancel().
 */
#include "nfsproto/v4/mount/nfs4_openreq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define UNANSWERED_MS 3000 /* before the next attempt */

/* --- OPEN and CLOSE ------------------------------------------------------------------------ */

static struct nfs_op *take_user(struct nfs4_client *c, struct nfs_open *o)
{
	struct nfs_op *user;

	mutex_lock(&c->lock);
	user = o->user;
	o->user = NULL;
	if (user)
		user->be.v4.open = NULL;
	mutex_unlock(&c->lock);
	return user;
}

static void unlink_open(struct nfs4_client *c, struct nfs_open *o)
{
	mutex_lock(&c->lock);
	if (o->linked)
		TAILQ_REMOVE(&c->opens, o, link);
	o->linked = false;
	mutex_unlock(&c->lock);
}

/* The first data of the file is to come with OPEN. o holds a reference on the memory for the data,
 * since own may go on when its user has gone. Without memory for the copy, OPEN brings no data. */
static void sink_begin(struct nfs_open *o, const struct nfs_op *op)
{
	const struct seg_list *to = &op->u.open.to;

	o->own.u.open.to = (struct seg_list){.len = 0};
	if (!to->len || op->u.open.flags & (O_CREAT | O_TRUNC) ||
		(op->u.open.flags & O_ACCMODE) == O_WRONLY)
		return;
	o->to = *to;
	if (to->n > 1) {
		o->to_seg = malloc(to->n * sizeof(*to->seg));
		if (!o->to_seg)
			return;
		memcpy(o->to_seg, to->seg, to->n * sizeof(*to->seg));
		o->to.seg = o->to_seg;
	}
	seg_list_ref(&o->to);
	o->own.u.open.to = o->to;
}

/* No call of own's is under way any more. */
static void sink_end(struct nfs_open *o)
{
	if (o->own.u.open.to.len)
		seg_list_unref(&o->to);
	o->own.u.open.to.len = 0;
	free(o->to_seg);
	o->to_seg = NULL;
}

/* The server has not answered (a soft mount does not wait for ever). The user, if any, is told, and
 * own goes on alone. False: the client stops. */
static bool unanswered(struct nfs4_client *c, const struct nfs_op *own)
{
	return (own->error == -ETIMEDOUT || own->error == -ENOTCONN) &&
	       !nfs4_server_quitting(c->srv, &c->user);
}

static void try_again(struct nfs4_client *c, struct nfs_op *own, struct nfs_op *user)
{
	int error = own->error;

	own->tries = 0;
	nfs4_task_delay(own, UNANSWERED_MS);
	if (user) {
		user->error = error;
		user->done(user);
	}
}

/* Gives the results of CLOSE to the user that closes. */
static void close_told(struct nfs_op *user, const struct nfs_op *own)
{
	user->error = own->error;
	if (!own->error)
		user->u.close.attr = own->u.close.attr;
}

static void close_done(struct nfs_op *own)
{
	struct nfs4_client *c = nfs4_client(own->client);
	struct nfs_open *o = container_of(own, struct nfs_open, own);
	struct nfs_op *user = take_user(c, o);
	int error = own->error;

	if (user)
		nfs_op_take_calls(user, own);
	if (error && error != -ENOTCONN && (user || error != -ETIMEDOUT))
		log_warn("%s: CLOSE failed: %s", c->srv->name, strerror(-error));
	if (unanswered(c, own)) {
		try_again(c, own, user);
		return;
	}
	if (user)
		close_told(user, own);
	else if (!error && o->fh.len > 0)
		nfs_tell_attributes(&c->base, &o->fh, &own->u.close.attr, o->close_ns);
	if (error != -ENOTCONN && error != -ETIMEDOUT) {
		nfs4_note_closed(o);
		unlink_open(c, o);
		nfs4_open_unref(o);
	}
	if (user)
		user->done(user);
	nfs4_own_ended(c);
}

static void close_start(struct nfs4_client *c, struct nfs_open *o, uint8_t flags)
{
	o->own.type = NFS_CLOSE;
	if (o->fh.len > 0) /* else CLOSE goes by the arguments of OPEN */
		o->own.u.close.attr.have = false;
	o->close_ns = clock_ns();
	o->own.done = close_done;
	o->own.noted = 0; /* a successor closes o by its own note */
	o->own.tries = 0;
	o->own.calls = (struct nfs_op_calls){0};
	nfs4_mount_bind(c, &o->own, NFS_CLOSE);
	o->own.be.v4.flags = NFS4_F_OWN | flags;
	o->own.be.v4.open = o;
	nfs4_own_begins(c);
	nfs4_task_start(&o->own);
}

void nfs4_close_start(struct nfs4_client *c, struct nfs_open *o)
{
	close_start(c, o, 0);
}

unsigned nfs4_close_all(struct nfs4_client *c)
{
	struct nfs_open **list, *o;
	unsigned n = 0, room = 0;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (o, &c->opens, link)
		room++;
	list = room ? calloc(room, sizeof(*list)) : NULL;
	if (list)
		TAILQ_FOREACH (o, &c->opens, link)
			list[n++] = o;
	mutex_unlock(&c->lock);
	for (unsigned i = 0; i < n; i++) /* each open is there until its own CLOSE has ended */
		close_start(c, list[i], NFS4_F_LAST);
	free(list);
	return n;
}

/* Gives the results of OPEN to the user that opens. */
static void open_told(struct nfs_op *user, const struct nfs_op *own)
{
	user->u.open.open = own->be.v4.open;
	user->u.open.fh = own->u.open.fh;
	user->u.open.attr = own->u.open.attr;
	user->u.open.deleg = own->u.open.deleg;
	user->u.open.deleg_writes = own->u.open.deleg_writes;
	user->u.open.times_left = own->u.open.times_left;
	user->u.open.have_access = own->u.open.have_access;
	user->u.open.allowed = own->u.open.allowed;
	user->u.open.have_data = own->u.open.have_data;
	user->u.open.count = own->u.open.count;
	user->u.open.eof = own->u.open.eof;
}

/* True: the user is gone that was to set the times of the file that OPEN has made. The times are
 * then set before CLOSE. */
static bool times_forgotten(struct nfs4_client *c, struct nfs_op *own)
{
	struct nfs_open *o = container_of(own, struct nfs_open, own);
	bool gone;

	if (own->error || !own->u.open.times_left)
		return false;
	mutex_lock(&c->lock);
	gone = !o->user;
	mutex_unlock(&c->lock);
	if (!gone)
		return false;
	own->u.open.times_left = false;
	own->u.open.set.mask = NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW;
	own->be.v4.kind = NFS4_K_OPEN_SETATTR;
	nfs4_task_delay(own, 0);
	return true;
}

/* Has the server opened o? */
static bool is_opened(struct nfs_open *o)
{
	bool opened;

	mutex_lock(&o->lock);
	opened = o->gen > 0;
	mutex_unlock(&o->lock);
	return opened;
}

static void open_done(struct nfs_op *own)
{
	struct nfs4_client *c = nfs4_client(own->client);
	struct nfs_open *o = container_of(own, struct nfs_open, own);
	bool again = unanswered(c, own);
	/* an unanswered CLOSE after OPEN is to be sent again */
	bool have_state = is_opened(o) && (own->be.v4.kind != NFS4_K_OPEN_UNDO || again);
	struct nfs_op *user;
	int error = own->error;

	sink_end(o);
	if (times_forgotten(c, own))
		return;
	if (!o->answered)
		nfs4_deleg_opening(c, -1);
	o->answered = true;
	mutex_lock(&c->lock);
	user = o->user;
	o->user = NULL;
	if (user)
		user->be.v4.open = NULL;
	if (have_state) {
		TAILQ_INSERT_TAIL(&c->opens, o, link);
		o->linked = true;
		o->close_wanted = !user || error;
	}
	mutex_unlock(&c->lock);
	if (user)
		nfs_op_take_calls(user, own);
	if (again && !have_state) {
		/* The server may have opened the file. Once the server answers, the same owner
		 * opens the same file again, only to close it. The second OPEN makes and truncates
		 * nothing. */
		own->u.open.flags &= O_ACCMODE;
		own->u.open.want = 0;
		own->be.v4.kind = NFS_OPEN;
		try_again(c, own, user);
		return;
	}
	if (user && !error) {
		open_told(user, own);
	}
	if (have_state && (!user || error))
		close_start(c, o, 0);
	else if (!have_state)
		nfs4_open_unref(o);
	if (user) {
		user->error = error;
		user->done(user);
	}
	nfs4_own_ended(c);
}

void nfs4_open_submit(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs_open *o = nfs4_open_new(c, nfs4_share_access(op->u.open.flags), &op->cred);
	struct nfs_op *own;

	op->u.open.open = NULL;
	if (!o) {
		op->error = -ENOMEM;
		op->done(op);
		return;
	}
	o->asked_ns = clock_ns();
	mutex_alone(&c->lock); /* no other thread knows o yet */
	o->user = op;
	own = &o->own;
	own->type = NFS_OPEN;
	own->done = open_done;
	own->noted = o->request = op->noted;
	own->u.open = op->u.open;
	memcpy(o->name, op->u.open.name.s ? op->u.open.name.s : "", op->u.open.name.len);
	own->u.open.name.s = o->name;
	if (!op->noted || !c->srv->replay) /* a noted reply has no data */
		sink_begin(o, op);
	nfs4_mount_bind(c, own, own->u.open.to.len ? NFS4_K_OPEN_READ : NFS_OPEN);
	own->be.v4.flags = NFS4_F_OWN;
	own->be.v4.open = o;
	own->be.v4.owner = &o->owner;
	op->be.v4.open = o;
	nfs4_own_begins(c);
	nfs4_deleg_opening(c, 1);
	nfs4_task_start(own);
}

void nfs4_close_submit(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs_open *o = op->u.close.open;

	op->u.close.attr.have = false;
	if (nfs4_deleg_close(c, o)) {
		op->error = 0;
		op->done(op);
		return;
	}
	op->be.v4.open = o;
	o->patient = op->u.close.patient;
	mutex_lock(&c->lock);
	o->user = op;
	o->close_wanted = true;
	mutex_unlock(&c->lock);
	close_start(c, o, 0);
}

void nfs4_close_late(struct nfs4_client *c, struct nfs_open *o)
{
	if (nfs4_deleg_close(c, o))
		return;
	mutex_lock(&c->lock);
	o->close_wanted = true;
	mutex_unlock(&c->lock);
	close_start(c, o, 0);
}

/* --- cancelling ---------------------------------------------------------------------------- */

/* Answers the user of o that its op was cancelled. The own op goes on alone and cleans up. c->lock
 * held. */
static void let_go_locked(struct nfs4_client *c, struct nfs_open *o) REQUIRES(c->lock)
{
	struct nfs_op *user = o->user;

	o->user = NULL;
	user->be.v4.open = NULL;
	mutex_lock(&c->srv->slots.lock);
	nfs4_task_end_later_locked(c->srv, user, -EINTR);
	mutex_unlock(&c->srv->slots.lock);
}

/* No call is at the server that truncates the file of o; sends: such a call is about to be sent.
 * False: the user of o is gone. */
static bool truncating(struct nfs4_client *c, struct nfs_open *o, bool sends)
{
	bool gone;

	mutex_lock(&c->lock);
	gone = o->gone;
	o->truncating = sends && !gone;
	if (gone && o->user)
		let_go_locked(c, o);
	mutex_unlock(&c->lock);
	return !gone;
}

bool nfs4_open_truncates(struct nfs4_client *c, struct nfs_open *o)
{
	return truncating(c, o, true);
}

void nfs4_open_answered(struct nfs4_client *c, struct nfs_open *o)
{
	truncating(c, o, false);
}

void nfs4_open_cancel(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs_open *o;

	mutex_lock(&c->lock);
	o = op->be.v4.open;
	if (o && o->user == op) {
		o->gone |= op->type == NFS_OPEN;
		if (!o->truncating)
			let_go_locked(c, o);
	}
	mutex_unlock(&c->lock);
}
