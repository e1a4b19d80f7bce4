/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_move: migration: the file system of a mount moves to another server.
 */
#include "nfsproto/v4/nfs4_move.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define ASK_MS	 10000u		/* one question of the state manager */
#define WAIT_MS	 100u		/* an op waits so long before it asks again */
#define THERE_NS (2 * NFS4_SEC) /* the root counts as there */
#define AGAIN_NS (3 * NFS4_SEC) /* between attempts to reach a new place */
#define HOPS	 8u		/* moves in a row without a pause */
#define LOOKS	 20u		/* questions for the root at a place that does not answer */

/* After a move only: OTHER, NO_ANSWER, NO_SESSION. */
enum where { HERE, MOVED, OTHER, NO_ANSWER, NO_SESSION, UNKNOWN };

/* Runs kind, a question about the root. */
static int ask(struct nfs4_client *c, struct nfs4_sync *s, unsigned kind)
{
	s->u.walk.path = "";
	s->u.walk.from_len = c->base.root.len;
	s->u.walk.fh = c->base.root;
	s->u.walk.places = NULL;
	return nfs4_mount_run(c, s, kind, ASK_MS);
}

static bool is_unknown(uint32_t status)
{
	return status == NFS4ERR_STALE || status == NFS4ERR_BADHANDLE ||
	       status == NFS4ERR_FHEXPIRED;
}

/* Is that the root of this mount? After a move only: the same handle may be of another file. */
static bool is_root(const struct nfs4_client *c, const struct nfs_attr *a)
{
	return !c->moving.arrived || (a->type == NFS_DIR && a->fileid == c->base.root_attr.fileid);
}

/* The question for the root failed with rc and status at the place of a move. */
static enum where not_seen(int rc, uint32_t status)
{
	if (status == NFS4_OK)
		return rc == -EREMOTEIO ? OTHER : NO_ANSWER;
	if (status == NFS4ERR_DELAY || status == NFS4ERR_GRACE)
		return NO_ANSWER;
	return nfs4_recover_undecided(status) ? NO_SESSION : OTHER;
}

static enum where find_root(struct nfs4_client *c)
{
	struct nfs4_sync s;
	int rc = ask(c, &s, NFS4_K_WALK);

	if (rc == 0) {
		if (!is_root(c, &s.u.walk.attr))
			return OTHER;
		c->moving.hops = 0;
		c->moving.arrived = false;
		return HERE;
	}
	if (s.status == NFS4ERR_MOVED)
		return MOVED;
	if (c->moving.arrived)
		return not_seen(rc, s.status);
	if (is_unknown(s.status))
		log_warn("%s does not know the root of this mount (%s): mount it anew",
			c->srv->name, nfs4_status_name(s.status));
	return UNKNOWN;
}

/* Has the connections go to the first place that can be reached. Begins behind the place of the
 * last move, which has not led to the root. */
static bool redirect(struct nfs4_client *c, const struct nfs_places *places)
{
	const struct sockaddr_storage from = c->srv->rp.peer;
	const socklen_t from_len = c->srv->rp.peer_len;
	struct err e = {.kind = ERR_NONE, .msg = "they have no valid names"};
	char host[256];
	uint16_t port;

	for (unsigned i = 0; i < places->n; i++) {
		const struct nfs_place *p = &places->place[(c->moving.hops + i) % places->n];

		if (nfs4_server_quitting(c->srv, &c->user))
			return false;
		if (!nfs_place_host(p, host, sizeof(host), &port) ||
			nfs4_conn_redirect(c->srv, host, port, c->connect_ms, &e))
			continue;
		log_info("%s: the file system has moved, and the mount with it, to %s:%s",
			c->srv->name, QUOTE(p->server, strlen(p->server)),
			QUOTE(p->path, strlen(p->path)));
		c->moving.hops++;
		c->moving.arrived = true;
		c->moving.home = from;
		c->moving.home_len = from_len;
		return true;
	}
	log_warn("%s: the file system has moved, and no place of it can be reached: %s",
		c->srv->name, e.msg);
	return false;
}

/* The root has moved. False: the place is not known, or cannot be reached now. */
static bool move(struct nfs4_client *c)
{
	struct nfs4_sync s;
	bool moved;

	if (c->moving.hops >= HOPS && !nfs4_recover_pause(c->srv, AGAIN_NS))
		return false;
	if (ask(c, &s, NFS4_K_LOCATIONS) || !s.u.walk.places) {
		log_warn("%s: the file system has moved, and the server does not say where to",
			c->srv->name);
		return false;
	}
	moved = redirect(c, s.u.walk.places);
	free(s.u.walk.places);
	if (moved)
		nfs4_state_want(c->srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
	return moved;
}

/* The server does not have the file system, or not yet: goes back to the one that named it. */
static void go_back(struct nfs4_client *c)
{
	const struct dial_addr to = {.ss = c->moving.home, .len = c->moving.home_len};

	log_warn("%s: the root of the mount is not known at the place of the move: the mount goes "
		 "back, and asks again",
		c->srv->name);
	c->moving.arrived = false;
	nfs4_conn_go(c->srv, &to);
	nfs4_state_want(c->srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
}

/* Notes the outcome of a question. moved: the connections go elsewhere now. */
static void note(struct nfs4_client *c, enum where where, bool moved)
{
	uint64_t now = clock_ns();

	mutex_lock(&c->lock);
	c->move.wanted = where != HERE && !moved;
	c->move.try_ns = now + (where == MOVED ? AGAIN_NS : NFS4_SEC);
	c->move.there_ns = where == HERE ? now : 0;
	mutex_unlock(&c->lock);
}

bool nfs4_move_waits(struct nfs4_client *c, struct nfs_op *op, unsigned *ms)
{
	uint64_t now = clock_ns();
	bool waits;
	int kind;

	mutex_lock(&c->lock);
	waits = c->migrates && !(op->be.v4.flags & NFS4_F_PRIV) &&
		!(c->move.there_ns && clock_age(now, c->move.there_ns) < THERE_NS);
	if (waits && !c->move.wanted) {
		c->move.wanted = true;
		c->move.try_ns = now;
	}
	mutex_unlock(&c->lock);
	if (!waits)
		return false;
	kind = nfs4_kind_of(c, op);
	if (op->be.v4.kind == NFS4_K_LOCATIONS && kind >= 0)
		op->be.v4.kind = (uint8_t)kind;
	nfs4_state_poll(c->srv);
	*ms = WAIT_MS;
	return true;
}

bool nfs4_move_poll(struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	enum where where;
	bool due, moved;

	mutex_lock(&c->lock);
	if (c->migrates && atomic_exchange(&c->srv->lease_moved, false) && !c->move.wanted) {
		c->move.wanted = true;
		c->move.try_ns = now;
	}
	due = c->move.wanted && c->move.try_ns <= now;
	if (c->move.wanted && !due && c->move.try_ns < *next)
		*next = c->move.try_ns;
	mutex_unlock(&c->lock);
	if (!due)
		return false;
	where = find_root(c);
	if (where == OTHER)
		go_back(c);
	moved = where == OTHER || (where == MOVED && move(c));
	note(c, where, moved);
	return true;
}

bool nfs4_move_instead(struct nfs4_client *c)
{
	enum where where = HERE;
	unsigned looks = 0;
	bool moved = false;

	while (c->migrates && !moved) {
		where = find_root(c);
		if (where == NO_ANSWER && ++looks >= LOOKS)
			where = OTHER;
		if (where != MOVED && where != NO_ANSWER)
			break;
		moved = where == MOVED && move(c);
		if (!moved && (nfs4_server_quitting(c->srv, &c->user) ||
				      !nfs4_recover_pause(c->srv, AGAIN_NS)))
			return true;
	}
	if (where == NO_SESSION)
		return true;
	if (where == OTHER) {
		go_back(c);
		moved = true;
		nfs4_recover_pause(c->srv, AGAIN_NS);
	}
	if (moved)
		note(c, where, true);
	return moved;
}
