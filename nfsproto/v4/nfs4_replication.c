/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_replication: a mount goes on at another server. Model: nfs4_replication.h.
 */
#include "nfsproto/v4/nfs4_replication.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/ops/nfs4_locations.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define ASK_MS	  10000u	  /* one question of the state manager */
#define REACH_MS  3000u		  /* to reach a replica, and for its answer */
#define AGAIN_NS  (3 * NFS4_SEC)  /* between attempts to reach a replica, and looks at its root */
#define RETRY_NS  (10 * NFS4_SEC) /* after a question without an answer */
#define VALID_MIN 10u		  /* seconds between questions for the replicas */
#define VALID_MAX 600u
#define LEASE_MAX 3600u /* seconds */

void nfs4_replication_begin(struct nfs4_client *c, const struct nfs_mount_params *p)
{
	if (!p->replication)
		return;
	if (!nfs4_bit(&c->supported, FATTR4_FS_LOCATIONS_INFO)) {
		log_always_warn("%s does not name replicas of %s: option replication has no effect",
			c->srv->name, p->export);
		return;
	}
	c->read_only = p->read_only;
	atomic_store(&c->replicates, true);
	nfs4_state_poll(c->srv);
}

void nfs4_replication_end(struct nfs4_client *c)
{
	free(c->replica.known);
	c->replica.known = NULL;
}

/* --- silence --------------------------------------------------------------------------------- */

static uint64_t lease_ns(const struct nfs4_client *c)
{
	return atomic_load(&c->srv->lease_s) * NFS4_SEC;
}

/* Notes at now whether the server owes an answer. Time in which this thread did not look, as when
 * the daemon was stopped, does not count. True: the server is silent. */
static bool look(struct nfs4_client *c, uint64_t now)
{
	uint64_t renewed = atomic_load(&c->srv->renewed_ns);
	uint64_t heard = atomic_load(&c->srv->heard_ns), lease = lease_ns(c);
	bool stopped = clock_age(now, c->replica.looked_ns) > lease / 2 + 2 * NFS4_SEC;

	if (heard < renewed)
		heard = renewed;
	c->replica.looked_ns = now;
	/* the lease is renewed each third of it, and then the server owes an answer */
	if (heard != c->replica.heard_ns || clock_age(now, heard) < lease / 3 + lease / 8) {
		c->replica.heard_ns = heard;
		c->replica.since_ns = 0;
		c->replica.held = false;
		return false;
	}
	if (!c->replica.since_ns || stopped)
		c->replica.since_ns = now;
	return clock_age(now, heard) >= lease && clock_age(now, c->replica.since_ns) >= lease / 2;
}

/* Might the server execute a change later? */
static bool is_changing(struct nfs4_client *c)
{
	bool changing;

	mutex_lock(&c->srv->slots.lock);
	changing = nfs4_slots_changing_locked(&c->srv->slots);
	mutex_unlock(&c->srv->slots.lock);
	if (!changing || nfs4_conn_refused(c->srv, REACH_MS))
		return false;
	if (!c->replica.held)
		log_always_warn("%s does not answer, and has changes that are not answered: the "
				"mount waits for it",
			c->srv->name);
	c->replica.held = true;
	return true;
}

/* --- the replicas ---------------------------------------------------------------------------- */

/* Writes to the log where the mount may go on, unless the log has the same. Until a mount is made,
 * the log takes no such lines: then nothing is told yet. */
static void tell(struct nfs4_client *c)
{
	struct nfs4_replicas *r = c->replica.known;
	char where[sizeof(c->replica.told)] = "";
	unsigned order[NFS_PLACES_MAX], n = nfs4_replicas_order(r, c->read_only, order);
	size_t len = 0;

	if (!log_is_on(LOG_L_INFO))
		return;
	for (unsigned i = 0; i < n && len < sizeof(where); i++) {
		const struct nfs_place *at = &r->of[order[i]].at;

		len += (size_t)snprintf(where + len, sizeof(where) - len, "%s%s:%s",
			i ? " or " : "", QUOTE(at->server, strlen(at->server)),
			QUOTE(at->path, strlen(at->path)));
	}
	if (!n)
		snprintf(where, sizeof(where), "%u replicas", r->n);
	if (!strcmp(where, c->replica.told))
		return;
	memcpy(c->replica.told, where, sizeof(where));
	if (n)
		log_always_info("%s: if the server falls silent, the mount goes on at %s",
			c->srv->name, where);
	else
		log_always_warn("%s names %u replicas, and none at which this mount could go on",
			c->srv->name, r->n);
}

static void ask(struct nfs4_client *c)
{
	struct nfs4_sync s;
	uint32_t valid;
	int rc;

	s.u.replicas.list = NULL;
	rc = nfs4_mount_run(c, &s, NFS4_K_REPLICAS, ASK_MS);
	if (rc || !s.u.replicas.list) {
		c->replica.ask_ns = clock_ns() + RETRY_NS;
		return;
	}
	free(c->replica.known);
	c->replica.known = s.u.replicas.list;
	if (s.u.replicas.lease_s > 0 && s.u.replicas.lease_s <= LEASE_MAX)
		nfs4_server_lease(c->srv, s.u.replicas.lease_s);
	valid = c->replica.known->valid_s;
	valid = !valid || valid > VALID_MAX ? VALID_MAX : valid < VALID_MIN ? VALID_MIN : valid;
	c->replica.ask_ns = clock_ns() + valid * NFS4_SEC;
	tell(c);
}

/* --- the move -------------------------------------------------------------------------------- */

/* The connections go elsewhere from now on: the lease time begins anew. */
static void begin_anew(struct nfs4_client *c)
{
	atomic_store(&c->srv->heard_ns, clock_ns());
	c->replica.ask_ns = 0;
	c->replica.try_ns = 0;
}

/* Has the connections go to replica i, if it answers. */
static bool go_on_at(struct nfs4_client *c, unsigned i, struct err *e)
{
	const struct nfs_place *at = &c->replica.known->of[i].at;
	struct sockaddr_storage from = c->srv->rp.peer;
	socklen_t from_len = c->srv->rp.peer_len;
	char host[256];
	uint16_t port;

	if (!nfs_place_host(at, host, sizeof(host), &port) ||
		nfs4_conn_leave(c->srv, host, port, REACH_MS, e))
		return false;
	log_always_warn("%s does not answer: the mount goes on at %s:%s", c->srv->name,
		QUOTE(at->server, strlen(at->server)), QUOTE(at->path, strlen(at->path)));
	if (!c->replica.arrived) {
		c->replica.home = from;
		c->replica.home_len = from_len;
	}
	c->replica.arrived = true;
	c->replica.at = i;
	begin_anew(c);
	return true;
}

bool nfs4_replication_leave(struct nfs4_client *c, uint64_t now)
{
	unsigned order[NFS_PLACES_MAX], n;
	struct err e = {.kind = ERR_NONE};

	if (!atomic_load(&c->replicates) || !look(c, now) || now < c->replica.try_ns ||
		!c->replica.known)
		return false;
	n = nfs4_replicas_order(c->replica.known, c->read_only, order);
	if (n && !is_changing(c))
		for (unsigned i = 0; i < n && !nfs4_server_quitting(c->srv, &c->user); i++)
			if (go_on_at(c, order[i], &e))
				return true;
	if (e.kind != ERR_NONE && !c->replica.held) {
		log_always_info("%s does not answer, and no replica can be reached: %s",
			c->srv->name, e.msg);
		c->replica.held = true;
	}
	c->replica.try_ns = clock_ns() + AGAIN_NS;
	return false;
}

/* Is the gate open? Otherwise the state manager is about to recover. */
static bool is_running(struct nfs4_client *c)
{
	bool open;

	mutex_lock(&c->srv->slots.lock);
	open = c->srv->slots.gate_open;
	mutex_unlock(&c->srv->slots.lock);
	return open;
}

bool nfs4_replication_poll(struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	uint64_t due;

	if (!atomic_load(&c->replicates) || !is_running(c))
		return false;
	if (nfs4_replication_leave(c, now)) {
		nfs4_state_want(c->srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
		return true;
	}
	if (c->replica.known && !c->replica.told[0])
		tell(c);
	if (c->replica.since_ns) {
		due = now + lease_ns(c) / 16;
	} else if (c->replica.ask_ns <= now) {
		ask(c);
		return true;
	} else {
		due = c->replica.heard_ns + lease_ns(c) / 2;
		due = due < c->replica.ask_ns ? due : c->replica.ask_ns;
		due = due > now ? due : now + NFS4_SEC;
	}
	if (due < *next)
		*next = due;
	return false;
}

/* --- after the move -------------------------------------------------------------------------- */

enum root { SAME, OTHER, NO_ANSWER, NO_SESSION };

static enum root find_root(struct nfs4_client *c)
{
	struct nfs4_sync s;
	int rc;

	s.u.walk.path = "";
	s.u.walk.from_len = c->base.root.len;
	s.u.walk.fh = c->base.root;
	rc = nfs4_mount_run(c, &s, NFS4_K_WALK, ASK_MS);
	if (rc == 0)
		return s.u.walk.attr.type == NFS_DIR &&
				       s.u.walk.attr.fileid == c->base.root_attr.fileid
			       ? SAME
			       : OTHER;
	if (s.status == NFS4_OK)
		return rc == -EREMOTEIO ? OTHER : NO_ANSWER;
	if (s.status == NFS4ERR_DELAY || s.status == NFS4ERR_GRACE)
		return NO_ANSWER;
	return nfs4_recover_undecided(s.status) ? NO_SESSION : OTHER;
}

/* The server does not have the file system: goes back, and forgets that place. */
static void go_back(struct nfs4_client *c)
{
	struct dial_addr to = {.ss = c->replica.home, .len = c->replica.home_len};
	struct nfs4_replicas *r = c->replica.known;

	if (r && c->replica.at < r->n) {
		const char *at = r->of[c->replica.at].at.server;

		log_always_warn("%s: the root of the mount is not known at %s: the mount goes back",
			c->srv->name, QUOTE(at, strlen(at)));
		r->of[c->replica.at] = r->of[--r->n];
	}
	c->replica.arrived = false;
	nfs4_conn_go(c->srv, &to);
	begin_anew(c);
}

bool nfs4_replication_instead(struct nfs4_client *c)
{
	enum root root = SAME;

	while (c->replica.arrived && (root = find_root(c)) == NO_ANSWER) {
		if (!nfs4_recover_pause(c->srv, AGAIN_NS))
			return true;
		if (nfs4_replication_leave(c, clock_ns()))
			return true;
	}
	if (root == OTHER)
		go_back(c);
	else if (root == SAME)
		c->replica.arrived = false;
	return root != SAME;
}
