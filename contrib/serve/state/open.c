/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * open: opens of files, their share reservations and descriptors (RFC 8881 sections 9.7 to 9.11).
 *
 * A file's object lists the opens. One owner has at most one open of a file, and a further OPEN
 * widens that open. A descriptor stays in an open until the open's last reference is gone, so no
 * READ finds its descriptor closed.
 */
#include "contrib/serve/state/open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/deleg_use.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/ranges.h"
#include "contrib/serve/state/waiter.h"
#include "transport/log.h"

static struct st *find_owner_locked(
	struct obj *o, struct client *c, const struct nfs4_opaque *owner) REQUIRES(o->lock)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_OPEN && st->client == c && st->owner_len == owner->len &&
			memcmp(st->owner, owner->data, owner->len) == 0)
			return st;
	return NULL;
}

/* Finds an open, other than self, with a conflict: the open denies `access`, or has an access in
 * `deny`. */
static struct st *conflict_locked(
	struct obj *o, const struct st *self, uint32_t access, uint32_t deny) REQUIRES(o->lock)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_OPEN && st != self &&
			((st->deny & access) || (st->access & deny)))
			return st;
	return NULL;
}

/* Opens o. A client with a write delegation gets a duplicate: a further open file would break the
 * lease. */
static int open_as_locked(struct obj *o, const struct client *c, int flags) REQUIRES(o->lock)
{
	int mode = flags == O_RDWR ? R_OK | W_OK : flags == O_WRONLY ? W_OK : R_OK;
	int fd = deleg_dup_locked(o, c, mode);

	return fd >= 0 ? fd : obj_open(o, flags);
}

/* Opens o for reading, also for a caller that may only execute o: the client has to read the file
 * to execute it. The client itself must refuse other reads. */
static int open_to_read(struct obj *o, const struct client *c) REQUIRES(o->lock)
{
	int fd = open_as_locked(o, c, O_RDONLY);

	if (fd == -EACCES && S_ISREG(o->type) && obj_allowed(o, X_OK)) {
		ident_suspend();
		fd = open_as_locked(o, c, O_RDONLY);
		ident_resume();
	}
	return fd;
}

/* Gives st the descriptors for access. *given (-1: none): an open descriptor, for reading and
 * writing if rdwr, otherwise for reading. *given is -1 afterwards if st took it. 0 or -errno. */
static int need_fds_locked(struct st *st, uint32_t access, int *given, bool rdwr)
	REQUIRES(st->obj->lock)
{
	int fd;

	if (*given >= 0 && st->fd_r < 0 && st->fd_w < 0) {
		st->fd_r = *given;
		st->fd_w = rdwr ? *given : -1;
		*given = -1;
	}
	if ((access & OPEN4_SHARE_ACCESS_WRITE) && st->fd_w < 0) {
		/* most writers also read, to fill up pages: one descriptor for both, if allowed */
		fd = st->fd_r < 0 ? open_as_locked(st->obj, st->client, O_RDWR) : -EACCES;
		if (fd >= 0) {
			st->fd_r = st->fd_w = fd;
		} else {
			fd = open_as_locked(st->obj, st->client, O_WRONLY);
			if (fd < 0)
				return fd;
			st->fd_w = fd;
		}
	}
	if ((access & OPEN4_SHARE_ACCESS_READ) && st->fd_r < 0) {
		fd = open_to_read(st->obj, st->client);
		if (fd < 0)
			return fd;
		st->fd_r = fd;
	}
	return 0;
}

/* Logs a warning, once for each client: the client's users only see ENOSPC. */
static void tell_of_limit(const struct state *s, struct client *c, const struct rpc_cred *by)
{
	if (!atomic_exchange_explicit(&c->limit_said, true, memory_order_relaxed))
		log_warn("client %s has as many files open as one client may (%u, two thirds of "
			 "what the limit of open files allows; the last eighth is not for user %u, "
			 "who has many): more are refused; raise it (ulimit -n, LimitNOFILE=) for "
			 "this server",
			c->who, s->max_opens * 2 / 3, by->uid);
}

uint32_t st_open_room(struct state *s, struct client *c, const struct rpc_cred *by)
{
	struct share_part *p = share_part_get(&s->share, c->holder, by->flavor, by->uid);
	bool full;

	if (!p)
		return NFS4ERR_DELAY;
	full = atomic_load_explicit(&c->nopens, memory_order_relaxed) >= s->max_opens * 2ull / 3 ||
	       share_part_is_full(&s->share, p, SHARE_OPENS);
	share_part_put(&s->share, p);
	if (full) {
		tell_of_limit(s, c, by);
		return NFS4ERR_NOSPC;
	}
	while (atomic_load_explicit(&s->nopens, memory_order_relaxed) >= s->max_opens)
		if (!client_evict_one(s, c->id))
			return NFS4ERR_DELAY;
	return NFS4_OK;
}

/* Does access need a second descriptor? */
static bool needs_second(const struct st *st, uint32_t access)
{
	return st->counted < 2 && (((access & OPEN4_SHARE_ACCESS_WRITE) && st->fd_w < 0) ||
					  ((access & OPEN4_SHARE_ACCESS_READ) && st->fd_r < 0));
}

static uint32_t widen_locked(struct state *s, struct st *st, uint32_t access, uint32_t deny,
	int *fd, bool rdwr, struct nfs4_stateid *out) REQUIRES(st->obj->lock)
{
	int r;

	if (needs_second(st, access) && !st_count_open(s, st))
		return NFS4ERR_DELAY;
	r = need_fds_locked(st, access, fd, rdwr);
	if (r < 0)
		return nfs4_errno_status(r);
	st->access |= access;
	st->deny |= deny;
	st_bump_locked(st, out);
	return NFS4_OK;
}

static uint32_t first_open_locked(struct state *s, struct client *c, const struct rpc_cred *by,
	struct obj *o, const struct nfs4_opaque *owner, uint32_t access, uint32_t deny, int *fd,
	bool rdwr, struct nfs4_stateid *out, struct st **undo) REQUIRES(o->lock)
{
	struct st *st = st_alloc(c, by, obj_ref(s->objs, o), ST_OPEN, owner->data, owner->len);
	uint32_t status;
	int r;

	if (!st) {
		obj_unref(s->objs, o); /* not the last: the caller has one */
		return NFS4ERR_DELAY;
	}
	*undo = st;
	if (!st_count_open(s, st))
		return NFS4ERR_DELAY;
	r = need_fds_locked(st, access, fd, rdwr);
	if (r < 0)
		return nfs4_errno_status(r);
	st->access = access;
	st->deny = deny;
	status = st_insert(c, st);
	if (status != NFS4_OK)
		return status;
	LIST_INSERT_HEAD(&o->states, st, obj_link);
	*out = st->sid;
	*undo = NULL;
	return NFS4_OK;
}

uint32_t st_open(struct state *s, struct client *c, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_opaque *owner, uint32_t access, uint32_t deny, int fd, bool fd_rdwr,
	struct nfs4_stateid *out)
{
	struct st *st, *other, *undo = NULL;
	uint64_t blocker = 0;
	uint32_t status, room = st_open_room(s, c, by);

	client_note(s, c);
	do {
		mutex_lock(&o->lock);
		st = find_owner_locked(o, c, owner);
		other = conflict_locked(o, st, access, deny);
		blocker = 0;
		if (other) {
			blocker = other->client->id;
			status = NFS4ERR_SHARE_DENIED;
		} else if ((status = deleg_open_locked(s, o, c, access, deny, &blocker)) !=
			   NFS4_OK) {
			; /* a delegation is being recalled */
		} else if (st) {
			status = widen_locked(s, st, access, deny, &fd, fd_rdwr, out);
		} else if (room != NFS4_OK) {
			status = room;
		} else {
			status = first_open_locked(
				s, c, by, o, owner, access, deny, &fd, fd_rdwr, out, &undo);
		}
		mutex_unlock(&o->lock);
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	st_put(s, undo);
	if (fd >= 0)
		close(fd);
	return status;
}

uint32_t st_close(struct state *s, struct client *c, struct obj *o, const struct nfs4_stateid *sid,
	struct nfs4_stateid *out)
{
	struct st *st, *l, *next;
	LIST_HEAD(, st) locks = LIST_HEAD_INITIALIZER(locks);
	uint32_t status = st_get(c, o, sid, ST_OPEN, &st);
	bool mine;

	if (status != NFS4_OK)
		return status;
	mutex_lock(&o->lock);
	mine = st_remove(c, st);
	if (mine) {
		LIST_REMOVE(st, obj_link);
		/* the open's locks end too (section 18.2.3 lets the server choose so) */
		for (l = LIST_FIRST(&o->states); l; l = next) {
			next = LIST_NEXT(l, obj_link);
			if (l->kind == ST_LOCK && l->open == st && st_remove(c, l)) {
				ranges_drop_locked(l);
				LIST_REMOVE(l, obj_link);
				LIST_INSERT_HEAD(&locks, l, obj_link);
			}
		}
	}
	mutex_unlock(&o->lock);
	if (!LIST_EMPTY(&locks))
		waiter_released(s, o);
	while ((l = LIST_FIRST(&locks)) != NULL) {
		LIST_REMOVE(l, obj_link);
		st_put(s, l);
	}
	if (mine)
		st_put(s, st); /* the table's reference */
	st_put(s, st);
	*out = nfs4_stateid_invalid;
	return mine ? NFS4_OK : NFS4ERR_BAD_STATEID;
}

uint32_t st_downgrade(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_stateid *sid, uint32_t access, uint32_t deny, struct nfs4_stateid *out)
{
	struct st *st;
	uint32_t status = st_get(c, o, sid, ST_OPEN, &st);

	if (status != NFS4_OK)
		return status;
	mutex_lock(&o->lock);
	if (access == 0 || (access & ~st->access) || (deny & ~st->deny)) {
		status = NFS4ERR_INVAL;
	} else {
		st->access = access;
		st->deny = deny;
		st_bump_locked(st, out);
	}
	mutex_unlock(&o->lock);
	st_put(s, st);
	return status;
}

uint32_t st_io(struct client *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct st **out, int *fd)
{
	struct st *st, *op = NULL;
	uint32_t status;

	*fd = -1;
	mutex_lock(&c->lock);
	status = st_find_locked(c, o, sid, &st);
	if (status == NFS4_OK && st->kind == ST_LAYOUT)
		status = NFS4ERR_BAD_STATEID; /* section 8.2.5 */
	if (status == NFS4_OK)		      /* a LOCK under way may not have set st->open yet */
		op = st->kind == ST_LOCK ? st->open : st;
	if (op)
		st->refs++;
	mutex_unlock(&c->lock);
	if (!op)
		return status == NFS4_OK ? (uint32_t)NFS4ERR_BAD_STATEID : status;
	if (write && op->access & OPEN4_SHARE_ACCESS_WRITE)
		*fd = op->fd_w;
	else if (!write && (op->access & OPEN4_SHARE_ACCESS_READ || op->fd_r >= 0))
		*fd = op->fd_r;
	*out = st;
	return *fd < 0 ? NFS4ERR_OPENMODE : NFS4_OK;
}

bool st_writes(const struct client *c, struct obj *o)
{
	bool found = false;
	struct st *st;

	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_OPEN && st->client == c && st->fd_w >= 0)
			found = true;
	mutex_unlock(&o->lock);
	return found;
}

uint32_t st_anonymous_ok(struct state *s, struct obj *o, bool write)
{
	uint32_t status = NFS4_OK;
	struct st *st;

	if (grace_phase(s->grace) != GRACE_OVER)
		return NFS4ERR_GRACE;
	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_OPEN &&
			st->deny & (write ? OPEN4_SHARE_DENY_WRITE : OPEN4_SHARE_DENY_READ))
			status = NFS4ERR_LOCKED;
	mutex_unlock(&o->lock);
	return status;
}

int st_any_fd(struct obj *o)
{
	struct st *st;
	int fd = -1;

	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind != ST_LOCK && (st->fd_w >= 0 || st->fd_r >= 0)) {
			fd = fcntl(st->fd_w >= 0 ? st->fd_w : st->fd_r, F_DUPFD_CLOEXEC, 0);
			break;
		}
	}
	mutex_unlock(&o->lock);
	return fd;
}
