/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_replay: notes about calls that change the file system. Model: nfs4_replay.h.
 */
#include "nfsproto/v4/server/nfs4_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/log.h"
#include "transport/rpc/fields.h"

#define NO_SLOT	  UINT32_MAX
#define HEAD_MAX  512u /* bytes of a note without the reply */
#define NOTE_MAX  (HEAD_MAX + LEDGER_NOTE_MAX)
#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

struct nfs4_change {
	TAILQ_ENTRY(nfs4_change) link;
	struct note note;
	struct nfs_op *op; /* under way; NULL: none */
	bool former;	   /* of the former daemon, and no op has found it */
	bool reserved;	   /* such a one: a slot is RESERVED for the call */
	bool over;	   /* the request is answered: op alone keeps the change */
	bool again;	   /* op may call again: the server has changed nothing */
	uint64_t request, key;
	uint64_t owner;	 /* the number in be.v4.owner; 0: none */
	uint64_t offset; /* NFS_WRITE */
	uint32_t stable; /* likewise */
	struct timespec mark;
	uint32_t kind, want;
	uint32_t deleg_wanted; /* NFS_OPEN */
	uint32_t slot, seq;    /* NO_SLOT: UNSENT, or REPLIED */
	bool unsure;
	struct nfs4_sessionid session;
	uint8_t *reply; /* of a former change; NULL: CALLED or UNSENT */
	uint32_t reply_len;
};

static const struct field change_fields[] = {
	FIELD(struct nfs4_change, request),
	FIELD(struct nfs4_change, key),
	FIELD(struct nfs4_change, owner),
	FIELD(struct nfs4_change, offset),
	FIELD(struct nfs4_change, mark.tv_sec),
	FIELD(struct nfs4_change, mark.tv_nsec),
	FIELD(struct nfs4_change, kind),
	FIELD(struct nfs4_change, want),
	FIELD(struct nfs4_change, stable),
	FIELD(struct nfs4_change, deleg_wanted),
	FIELD(struct nfs4_change, slot),
	FIELD(struct nfs4_change, seq),
	FIELD(struct nfs4_change, unsure),
};

/* For annotations. */
#define REPLAY_LOCK LOCK_OF(struct nfs4_replay, lock)

struct nfs4_replay *nfs4_replay_new(struct ledger *l)
{
	struct nfs4_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->ledger = l;
	mutex_init(&r->lock);
	for (unsigned i = 0; i < NFS4_REPLAY_BUCKETS; i++)
		TAILQ_INIT(&r->bucket[i]);
	atomic_init(&r->n, 0);
	atomic_init(&r->nformer, 0);
	return r;
}

static struct nfs4_changes *bucket_of(struct nfs4_replay *r, uint64_t request)
{
	return &r->bucket[request * 0x9e3779b97f4a7c15ull >> 58];
}

static void free_change_locked(struct nfs4_replay *r, struct nfs4_change *ch) REQUIRES(r->lock)
{
	ledger_drop(r->ledger, &ch->note);
	TAILQ_REMOVE(bucket_of(r, ch->request), ch, link);
	atomic_fetch_sub(&r->n, 1);
	if (ch->former)
		atomic_fetch_sub(&r->nformer, 1);
	free(ch->reply);
	free(ch);
}

struct nfs4_replay *nfs4_replay_free(struct nfs4_replay *r)
{
	if (!r)
		return NULL;
	mutex_lock(&r->lock);
	for (unsigned i = 0; i < NFS4_REPLAY_BUCKETS; i++)
		while (!TAILQ_EMPTY(&r->bucket[i]))
			free_change_locked(r, TAILQ_FIRST(&r->bucket[i]));
	mutex_unlock(&r->lock);
	ledger_drop(r->ledger, &r->slots);
	ledger_drop(r->ledger, &r->server);
	mutex_destroy(&r->lock);
	free(r);
	return NULL;
}

/* --- the op of a change ---------------------------------------------------------------------- */

/* Must a call of this kind be made once? */
static bool is_change(const struct nfs_op *op)
{
	switch (op->be.v4.kind) {
	case NFS_SETATTR:
	case NFS_OPEN:
	case NFS_CREATE:
	case NFS_REMOVE:
	case NFS_RENAME:
	case NFS_LINK:
	case NFS_LOCK:
	case NFS_SETXATTR:
	case NFS_REMOVEXATTR:
	case NFS_SETACL:
	case NFS4_K_OPEN_SETATTR:
	case NFS4_K_APPEND:
	case NFS4_K_WRITE_SET:
		return true;
	default:
		return false;
	}
}

/* Is op to be noted? */
static bool is_noted(const struct nfs_op *op)
{
	return op->noted && op->be.v4.srv->replay && op->be.v4.user && is_change(op);
}

static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * FNV_PRIME;
	return h;
}

static uint64_t hash_number(uint64_t h, uint64_t n)
{
	return hash(h, &n, sizeof(n));
}

static uint64_t hash_fh(uint64_t h, const struct nfs_fh *fh)
{
	return hash(hash_number(h, fh->len), fh->data, fh->len);
}

static uint64_t hash_at(uint64_t h, const struct nfs_fh *dir, const struct nfs_name *name)
{
	return hash(hash_number(hash_fh(h, dir), name->len), name->s, name->len);
}

/* The file and name of op, and all that decides which results a call of op's kind has, but for the
 * wanted permissions. */
static uint64_t key_of(const struct nfs_op *op)
{
	uint64_t h = hash_number(FNV_BASIS, op->type);

	switch (op->type) {
	case NFS_SETATTR:
		return hash_number(hash_fh(h, &op->u.setattr.fh), op->u.setattr.set.mask);
	case NFS_OPEN:
		h = hash_number(h, (uint64_t)op->u.open.flags);
		h = hash_number(h, op->u.open.only.len);
		return hash_at(h, &op->u.open.dir, &op->u.open.name);
	case NFS_CREATE:
		h = hash_number(h, op->u.create.type);
		return hash_at(h, &op->u.create.dir, &op->u.create.name);
	case NFS_REMOVE:
		h = hash_number(h, op->u.remove.is_dir);
		h = hash_number(h, op->u.remove.only != NULL);
		return hash_at(h, &op->u.remove.dir, &op->u.remove.name);
	case NFS_RENAME:
		h = hash_number(h, op->u.rename.only != NULL);
		h = hash_at(h, &op->u.rename.from_dir, &op->u.rename.from);
		return hash_at(h, &op->u.rename.to_dir, &op->u.rename.to);
	case NFS_LINK:
		h = hash_fh(h, &op->u.link.fh);
		return hash_at(h, &op->u.link.dir, &op->u.link.name);
	case NFS_LOCK:
		h = hash_number(h, op->u.lock.owner);
		h = hash_number(h, (uint64_t)op->u.lock.type);
		h = hash_number(hash_number(h, op->u.lock.start), op->u.lock.end);
		return hash_fh(h, &op->u.lock.fh);
	case NFS_SETXATTR:
		return hash_at(h, &op->u.setxattr.fh, &op->u.setxattr.name);
	case NFS_REMOVEXATTR:
		return hash_at(h, &op->u.removexattr.fh, &op->u.removexattr.name);
	case NFS_SETACL:
		return hash_fh(h, &op->u.setacl.fh);
	default: /* NFS_WRITE: is_change() lets no other pass */
		return hash_fh(h, &op->u.write.fh);
	}
}

static uint32_t *want_of(struct nfs_op *op)
{
	return op->type == NFS_OPEN	? &op->u.open.want
	       : op->type == NFS_CREATE ? &op->u.create.want
					: NULL;
}

/* Keeps in ch the parts of op's call that another encoding of op would have otherwise. */
static void keep(struct nfs4_change *ch, struct nfs_op *op)
{
	const uint32_t *want = want_of(op);

	ch->want = want ? *want : 0;
	ch->owner = op->be.v4.owner ? *op->be.v4.owner : 0;
	ch->unsure = op->be.v4.unsure;
	ch->deleg_wanted = op->be.v4.deleg_wanted;
	if (op->type == NFS_CREATE)
		ch->mark = op->u.create.set.atime;
	if (op->type == NFS_WRITE) {
		ch->offset = op->u.write.offset;
		ch->stable = (uint32_t)op->u.write.stable;
	}
}

static void give(const struct nfs4_change *ch, struct nfs_op *op)
{
	uint32_t *want = want_of(op);

	if (want)
		*want = ch->want;
	if (op->be.v4.owner && ch->owner)
		*op->be.v4.owner = ch->owner;
	op->be.v4.unsure |= ch->unsure;
	op->be.v4.deleg_wanted = (uint8_t)ch->deleg_wanted;
	op->be.v4.former = true;
	if (op->type == NFS_CREATE)
		op->u.create.set.atime = ch->mark;
	if (op->type == NFS_WRITE) {
		op->u.write.offset = ch->offset;
		op->u.write.stable = (enum nfs_stable)ch->stable;
	}
}

/* --- notes ----------------------------------------------------------------------------------- */

/* Notes ch with the reply of len bytes, or without (NULL). */
static void put_locked(struct nfs4_replay *r, struct nfs4_change *ch, const void *reply, size_t len)
	REQUIRES(r->lock)
{
	uint8_t head[HEAD_MAX], *buf = len ? malloc(HEAD_MAX + len) : head;
	struct xdr_out x;

	if (!buf) {
		ledger_give_up(r->ledger);
		return;
	}
	xdr_out_init(&x, buf, HEAD_MAX + len);
	fields_put(&x, ch, FIELDS(change_fields));
	nfs4_put_sessionid(&x, &ch->session);
	xdr_put_bool(&x, reply != NULL);
	xdr_put_opaque(&x, reply, (uint32_t)len);
	if (xdr_out_ok(&x))
		ledger_put(r->ledger, &ch->note, NOTE_CHANGE, buf, x.len);
	else
		ledger_give_up(r->ledger);
	if (len)
		free(buf);
}

void nfs4_replay_slots_locked(struct nfs4_server *srv)
{
	uint64_t words[NFS4_MAX_SLOTS + 1] = {srv->slots.max};
	struct nfs4_replay *r = srv->replay;
	_Atomic uint64_t *at;

	if (!r || !r->ledger)
		return;
	for (uint32_t i = 0; i < NFS4_MAX_SLOTS; i++)
		words[i + 1] = nfs4_slots_word_locked(&srv->slots, i);
	ledger_put(r->ledger, &r->slots, NOTE_SLOTS, words, sizeof(words));
	at = ledger_words(r->ledger, &r->slots);
	srv->slots.words = at ? at + 1 : NULL;
}

static void add_locked(struct nfs4_replay *r, struct nfs4_change *ch) REQUIRES(r->lock)
{
	TAILQ_INSERT_TAIL(bucket_of(r, ch->request), ch, link);
	atomic_fetch_add(&r->n, 1);
}

/* The change of op's present kind, if op has one. */
static struct nfs4_change *own_locked(struct nfs4_replay *r, const struct nfs_op *op)
	REQUIRES(r->lock)
{
	struct nfs4_change *ch;

	TAILQ_FOREACH (ch, bucket_of(r, op->noted), link)
		if (ch->request == op->noted && ch->op == op && ch->kind == op->be.v4.kind)
			return ch;
	return NULL;
}

/* A change that another run of the same op has left behind without effect. */
static struct nfs4_change *left_locked(struct nfs4_replay *r, const struct nfs_op *op, uint64_t key)
	REQUIRES(r->lock)
{
	struct nfs4_change *ch;

	TAILQ_FOREACH (ch, bucket_of(r, op->noted), link)
		if (ch->request == op->noted && !ch->op && ch->again && !ch->former &&
			ch->kind == op->be.v4.kind && ch->key == key)
			return ch;
	return NULL;
}

void nfs4_replay_calls(struct nfs_op *op)
{
	struct nfs4_server *srv = op->be.v4.srv;
	const struct nfs4_slot *slot = op->slot;
	struct nfs4_replay *r = srv->replay;
	struct nfs4_change *ch;
	uint64_t key;

	if (!is_noted(op) || !r->ledger || !slot)
		return;
	key = key_of(op);
	mutex_lock(&r->lock);
	ch = own_locked(r, op);
	if (!ch)
		ch = left_locked(r, op, key);
	if (!ch) {
		ch = calloc(1, sizeof(*ch));
		if (ch) {
			ch->request = op->noted;
			ch->kind = op->be.v4.kind;
			add_locked(r, ch);
		}
	}
	if (ch && !ch->over) {
		ch->op = op;
		ch->key = key;
		ch->again = false;
		ch->slot = slot->id;
		ch->seq = slot->seq;
		ch->session = srv->session;
		keep(ch, op);
		put_locked(r, ch, NULL, 0);
	} else if (!ch) {
		ledger_give_up(r->ledger);
	}
	mutex_unlock(&r->lock);
}

/* Does an answer with that status tell that the op calls again, or that nothing has changed? */
static bool calls_again(const void *res, size_t len)
{
	struct nfs4_reply r;
	struct xdr_in x;

	xdr_in_init(&x, res, len);
	if (nfs4_reply_begin(&r, &x))
		return false;
	return r.status == NFS4ERR_DELAY || r.status == NFS4ERR_GRACE || r.status == NFS4ERR_DENIED;
}

void nfs4_replay_replied(
	struct nfs_op *op, int rc, bool busy, enum nfs4_slot_end end, const void *res, size_t len)
{
	struct nfs4_server *srv = op->be.v4.srv;
	struct nfs4_replay *r = srv->replay;
	struct nfs4_change *ch;

	if (!is_noted(op))
		return;
	if (rc && (busy || end == NFS4_SLOT_DOUBTFUL))
		return; /* the slot tells what has become of the call */
	mutex_lock(&r->lock);
	ch = own_locked(r, op);
	if (ch && !ch->over) {
		ch->slot = NO_SLOT;
		ch->unsure = op->be.v4.unsure;
		ch->again = rc == 0 && calls_again(res, len);
		put_locked(r, ch, rc ? NULL : res, rc ? 0 : len);
	}
	mutex_unlock(&r->lock);
}

void nfs4_replay_unsent(struct nfs_op *op)
{
	nfs4_replay_replied(op, -ENOTCONN, false, NFS4_SLOT_UNUSED, NULL, 0);
}

void nfs4_replay_ended(struct nfs_op *op)
{
	struct nfs4_replay *r = op->be.v4.srv->replay;
	struct nfs4_change *ch, *next;

	if (!op->noted || !r || !atomic_load(&r->n))
		return;
	mutex_lock(&r->lock);
	for (ch = TAILQ_FIRST(bucket_of(r, op->noted)); ch; ch = next) {
		next = TAILQ_NEXT(ch, link);
		if (ch->op != op)
			continue;
		ch->op = NULL;
		if (ch->over)
			free_change_locked(r, ch);
	}
	mutex_unlock(&r->lock);
}

/* --- the successor --------------------------------------------------------------------------- */

/* Does op take the slot of ch's call? */
static bool takes_slot_locked(struct nfs4_server *srv, struct nfs4_change *ch, struct nfs_op *op)
	REQUIRES(srv->slots.lock, REPLAY_LOCK)
{
	struct nfs4_slot *slot;

	if (!ch->reserved || !srv->slots.gate_open)
		return false;
	ch->reserved = false;
	slot = nfs4_slots_take_reserved_locked(&srv->slots, ch->slot);
	if (!slot)
		return false;
	op->slot = slot;
	slot->op = op;
	op->be.v4.replays = true;
	return true;
}

static struct nfs4_change *find_locked(struct nfs4_replay *r, const struct nfs_op *op)
	REQUIRES(r->lock)
{
	uint64_t key = key_of(op);
	struct nfs4_change *ch;

	TAILQ_FOREACH (ch, bucket_of(r, op->noted), link)
		if (ch->former && ch->request == op->noted && ch->kind == op->be.v4.kind &&
			ch->key == key)
			return ch;
	return NULL;
}

enum nfs4_replay_way nfs4_replay_find(struct nfs_op *op, uint8_t **reply, size_t *len)
{
	struct nfs4_server *srv = op->be.v4.srv;
	struct nfs4_replay *r = srv->replay;
	enum nfs4_replay_way way = NFS4_REPLAY_NONE;
	struct nfs4_change *ch;

	if (!is_noted(op) || !atomic_load(&r->nformer))
		return NFS4_REPLAY_NONE;
	mutex_lock(&srv->slots.lock);
	mutex_lock(&r->lock);
	ch = find_locked(r, op);
	if (ch) {
		give(ch, op);
		ch->former = false;
		ch->op = op;
		atomic_fetch_sub(&r->nformer, 1);
		*reply = ch->reply;
		*len = ch->reply_len;
		ch->reply = NULL;
		if (*reply)
			way = NFS4_REPLAY_REPLY;
		else if (takes_slot_locked(srv, ch, op))
			way = NFS4_REPLAY_SLOT;
		else if (ch->slot != NO_SLOT)
			op->be.v4.unsure = true;
	}
	mutex_unlock(&r->lock);
	mutex_unlock(&srv->slots.lock);
	if (ch)
		log_ctrl("%s: %s of request %llu was under way in the former daemon: %s", srv->name,
			srv->kinds[op->be.v4.kind].name, (unsigned long long)op->noted,
			way == NFS4_REPLAY_REPLY  ? "its reply is noted"
			: way == NFS4_REPLAY_SLOT ? "sent again in its slot"
						  : "executed anew");
	return way;
}

/* No slot is reserved for ch's call any more. */
static void leave_slot_locked(struct nfs4_server *srv, struct nfs4_change *ch)
	REQUIRES(srv->slots.lock, REPLAY_LOCK)
{
	if (ch->reserved && nfs4_slots_doubt_reserved_locked(&srv->slots, ch->slot))
		nfs4_state_want_locked(srv, NFS4_TODO_PROBE);
	ch->reserved = false;
}

static void give_up_locked(struct nfs4_server *srv, struct nfs4_change *ch)
	REQUIRES(srv->slots.lock, REPLAY_LOCK)
{
	leave_slot_locked(srv, ch);
	if (ch->op) {
		ch->over = true;
		ledger_drop(srv->replay->ledger, &ch->note);
	} else {
		free_change_locked(srv->replay, ch);
	}
}

void nfs4_replay_answered(struct nfs4_server *srv, uint64_t request)
{
	struct nfs4_replay *r = srv->replay;
	struct nfs4_change *ch, *next;

	if (!r || !atomic_load(&r->n))
		return;
	mutex_lock(&srv->slots.lock);
	mutex_lock(&r->lock);
	for (ch = TAILQ_FIRST(bucket_of(r, request)); ch; ch = next) {
		next = TAILQ_NEXT(ch, link);
		if (ch->request == request && !ch->over)
			give_up_locked(srv, ch);
	}
	mutex_unlock(&r->lock);
	mutex_unlock(&srv->slots.lock);
}

bool nfs4_replay_has(struct nfs4_server *srv, uint64_t request)
{
	struct nfs4_replay *r = srv->replay;
	struct nfs4_change *ch = NULL;

	if (!r || !atomic_load(&r->nformer))
		return false;
	mutex_lock(&r->lock);
	TAILQ_FOREACH (ch, bucket_of(r, request), link)
		if (ch->request == request && ch->former)
			break;
	mutex_unlock(&r->lock);
	return ch;
}

void nfs4_replay_end(struct nfs4_server *srv)
{
	struct nfs4_replay *r = srv->replay;
	struct nfs4_change *ch;

	if (!r || !atomic_load(&r->nformer))
		return;
	mutex_lock(&srv->slots.lock);
	mutex_lock(&r->lock);
	for (unsigned i = 0; i < NFS4_REPLAY_BUCKETS; i++)
		TAILQ_FOREACH (ch, &r->bucket[i], link)
			leave_slot_locked(srv, ch);
	mutex_unlock(&r->lock);
	mutex_unlock(&srv->slots.lock);
}

/* --- reading the notes ----------------------------------------------------------------------- */

/* Reads a note; the reply stays in the note. */
static int get_change(struct nfs4_change *ch, struct xdr_in *x, const uint8_t **reply)
{
	const uint8_t *data;
	bool replied;

	fields_get(x, ch, FIELDS(change_fields));
	nfs4_get_sessionid(x, &ch->session);
	replied = xdr_get_bool(x);
	data = xdr_get_opaque(x, LEDGER_NOTE_MAX, &ch->reply_len);
	if (!xdr_in_done(x) || !ch->request || ch->kind >= NFS4_KINDS ||
		ch->deleg_wanted > OPEN_DELEGATE_WRITE || ch->stable > NFS_FILE_SYNC ||
		(ch->slot != NO_SLOT && ch->slot >= NFS4_MAX_SLOTS) ||
		replied != (ch->reply_len > 0))
		return -EBADMSG;
	*reply = replied ? data : NULL;
	return 0;
}

int nfs4_replay_read_change(struct nfs4_server *srv, const void *note, uint32_t len)
{
	struct nfs4_change *ch = calloc(1, sizeof(*ch));
	struct nfs4_replay *r = srv->replay;
	const uint8_t *reply = NULL;
	struct xdr_in x;
	int rc;

	if (!ch)
		return -ENOMEM;
	xdr_in_init(&x, note, len);
	rc = get_change(ch, &x, &reply);
	if (!rc && reply) {
		ch->reply = malloc(ch->reply_len);
		if (ch->reply)
			memcpy(ch->reply, reply, ch->reply_len);
		else
			rc = -ENOMEM;
	}
	if (rc) {
		free(ch);
		return rc;
	}
	ch->former = true;
	mutex_lock(&srv->slots.lock);
	mutex_lock(&r->lock);
	/* the slot of another session, or a slot that the former daemon has found out about */
	if (ch->slot != NO_SLOT && !memcmp(&ch->session, &srv->session, sizeof(ch->session)))
		ch->reserved = nfs4_slots_reserve_locked(&srv->slots, ch->slot, ch->seq);
	add_locked(r, ch);
	atomic_fetch_add(&r->nformer, 1);
	put_locked(r, ch, ch->reply, ch->reply_len);
	mutex_unlock(&r->lock);
	mutex_unlock(&srv->slots.lock);
	return 0;
}

static bool read_slots(struct nfs4_server *srv, const struct former *f)
{
	uint32_t len;
	const uint64_t *words =
		former_count(f, NOTE_SLOTS) == 1 ? former_note(f, NOTE_SLOTS, 0, &len) : NULL;
	bool ok = words && len == (NFS4_MAX_SLOTS + 1) * sizeof(*words) && words[0] &&
		  words[0] <= NFS4_MAX_SLOTS;

	mutex_lock(&srv->slots.lock);
	if (ok) {
		nfs4_slots_reset_locked(&srv->slots, (uint32_t)words[0]);
		for (uint32_t i = 0; i < words[0]; i++)
			nfs4_slots_former_locked(&srv->slots, i, words[i + 1]);
	}
	mutex_unlock(&srv->slots.lock);
	return ok;
}

int nfs4_replay_read(struct nfs4_server *srv, const struct former *f, struct err *e)
{
	int rc = read_slots(srv, f) ? 0 : -EBADMSG;

	for (uint32_t i = 0; !rc && i < former_count(f, NOTE_CHANGE); i++) {
		uint32_t len;
		const void *note = former_note(f, NOTE_CHANGE, i, &len);

		rc = nfs4_replay_read_change(srv, note, len);
	}
	if (rc == -ENOMEM)
		return err_set(e, ERR_INTERNAL, "out of memory for the notes of the former daemon");
	if (rc)
		return err_set(
			e, ERR_INTERNAL, "the former daemon's notes of its calls are damaged");
	mutex_lock(&srv->slots.lock);
	nfs4_replay_slots_locked(srv);
	mutex_unlock(&srv->slots.lock);
	return 0;
}
