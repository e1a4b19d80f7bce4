/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nlm: the Network Lock Manager protocol version 4.
 */
#include "contrib/serve/v3/nlm.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/admit.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/client_id.h"
#include "contrib/serve/state/deleg_use.h"
#include "contrib/serve/state/lock.h"
#include "contrib/serve/v3/drc.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/export/ident.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "transport/log.h"

#define RES_CAP	  4096u
#define SVID_SIZE 4u /* bytes of the svid before the handle in an owner */

/* A call under way. */
struct nlm_call {
	struct serve *sv;
	struct rpc_req *req;
	struct xdr_in in;
	char host[NLM_ADDRESS_MAX];
};

/* The owner and place of a lock. */
struct nlm_lock {
	struct obj *o;		  /* referenced */
	struct client *c;	  /* referenced; NULL: the host has no record, and none was made */
	struct nfs4_opaque owner; /* in bytes */
	struct lock_want want;
	bool used; /* with check_delegs() */
	enum deleg_use use;
	uint8_t bytes[NFS4_OPAQUE_LIMIT];
};

void nlm_address(const struct serve *sv, const struct rpc_req *req, char buf[NLM_ADDRESS_MAX])
{
	const struct sock_user *who = req->xprt ? rpc_xprt_user(req->xprt) : NULL;
	char host[64];

	drc_host(req, host, sizeof(host));
	if (!who || admit_trusts(sv->admit, geteuid(), who))
		snprintf(buf, NLM_ADDRESS_MAX, "%s", host);
	else
		snprintf(buf, NLM_ADDRESS_MAX, "%s user %u", host, who->uid);
}

/* Makes "ADDRESS NAME", the owner string of a host's record. */
static struct nfs4_opaque host_id(
	const char *address, const struct nfs_name *caller, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s %.*s", address, (int)caller->len, caller->s);

	return (struct nfs4_opaque){
		(uint8_t *)buf, (uint32_t)((size_t)n < size ? (size_t)n : size - 1)};
}

static struct client *get_client(struct nlm_call *c, const struct nfs_name *caller, bool make)
{
	char buf[NFS4_OPAQUE_LIMIT];
	struct nfs4_opaque id = host_id(c->host, caller, buf, sizeof(buf));

	struct share_key who = serve_key(c->req);

	return client_nlm(&c->sv->state, c->host, &who, &id, make);
}

static void lock_end(struct nlm_call *c, struct nlm_lock *l)
{
	if (l->used)
		deleg_end_use(&c->sv->state, l->o, l->use);
	obj_unref(c->sv->objs, l->o);
	client_unref(&c->sv->state, l->c);
}

/* A caller that may use a file may lock it. Unlocking needs no permission: a host may always
 * release its own lock, also after a change of the file's mode. */
static bool permitted(const struct obj *o)
{
	struct statx st;

	return obj_allowed(o, R_OK) || obj_allowed(o, W_OK) ||
	       (obj_stat(o, &st) == 0 && st.stx_uid == ident_uid());
}

static uint32_t find_file(
	struct nlm_call *c, const struct nlm4_netobj *fh, bool unlock, struct obj **o)
{
	int r;

	if (ident_assume(&c->req->cred) < 0)
		return NLM4_FAILED;
	r = obj_by_handle(c->sv->objs, fh->data, fh->len, o);
	if (r < 0) { /* -EAGAIN: the server is looking for the object, and clients come again after
			this status */
		*o = NULL;
		return r == -EAGAIN ? NLM4_DENIED_GRACE_PERIOD : NLM4_STALE_FH;
	}
	return need_file(*o) == NFS4_OK && (unlock || permitted(*o)) ? NLM4_GRANTED : NLM4_FAILED;
}

/* NLM4_GRANTED, or the status of a failure; lock_end() must follow in any case. make: makes a
 * record of the host if there is none; false for an unlock. */
static uint32_t lock_begin(struct nlm_call *c, const struct nlm4_lock *a, bool exclusive, bool make,
	struct nlm_lock *l)
{
	uint32_t status, svid = htobe32(a->svid);

	*l = (struct nlm_lock){.owner = {l->bytes, SVID_SIZE + a->oh.len},
		.want = {.type = exclusive ? WRITE_LT : READ_LT,
			.first = a->offset,
			.last = UINT64_MAX}};
	if (l->owner.len > sizeof(l->bytes))
		return NLM4_FAILED;
	memcpy(l->bytes, &svid, SVID_SIZE);
	memcpy(l->bytes + SVID_SIZE, a->oh.data, a->oh.len);
	if (a->len) {
		if (a->len - 1 > UINT64_MAX - a->offset)
			return NLM4_FBIG;
		l->want.last = a->offset + (a->len - 1);
	}
	status = find_file(c, &a->fh, !make, &l->o);
	if (status != NLM4_GRANTED)
		return status;
	l->c = get_client(c, &a->caller, make);
	return l->c || !make ? NLM4_GRANTED : NLM4_DENIED_NOLOCKS;
}

/* The holder of a delegation may have locked the file without telling the server. A host that gets
 * the status of a grace period comes again. */
static uint32_t check_delegs(struct nlm_call *c, struct nlm_lock *l)
{
	l->use = lock_type_writes(l->want.type) ? DELEG_CHANGE : DELEG_LOOK;
	l->used = deleg_begin_use(&c->sv->state, l->o, NULL, l->use) == NFS4_OK;
	return l->used ? NLM4_GRANTED : NLM4_DENIED_GRACE_PERIOD;
}

static uint32_t nlm_status(uint32_t status)
{
	switch (status) {
	case NFS4_OK:
		return NLM4_GRANTED;
	case NFS4ERR_DENIED:
		return NLM4_DENIED;
	case NFS4ERR_GRACE:
		return NLM4_DENIED_GRACE_PERIOD;
	case NFS4ERR_INVAL:
		return NLM4_FBIG;
	default:
		return NLM4_DENIED_NOLOCKS;
	}
}

/* Converts d, the conflicting lock, for NLM. h points into the owner of d. */
static void describe(struct nlm_call *c, const struct nfs4_lock_denied *d, struct nlm4_holder *h)
{
	const struct nfs4_opaque *owner = &d->owner.owner;
	struct state *s = &c->sv->state;
	struct client *holder;
	bool nlm;

	mutex_lock(&s->lock);
	holder = client_find_locked(s, d->owner.clientid);
	nlm = holder && holder->nlm;
	mutex_unlock(&s->lock);
	client_unref(s, holder);
	h->exclusive = d->type == WRITE_LT;
	h->offset = d->offset;
	h->len = d->length == NFS4_LENGTH_EOF ? 0 : d->length;
	h->oh = (struct nlm4_netobj){owner->data, owner->len};
	if (nlm && owner->len >= SVID_SIZE) {
		memcpy(&h->svid, owner->data, SVID_SIZE);
		h->svid = be32toh(h->svid);
		h->oh = (struct nlm4_netobj){owner->data + SVID_SIZE, owner->len - SVID_SIZE};
	}
}

static bool do_test(struct nlm_call *c)
{
	struct nlm4_test_args a;
	struct nlm4_test_res r = {0};
	struct nfs4_lock_denied d;
	struct nfs4_lockt_args t;
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	struct nlm_lock l;

	if (nlm4_get_test_args(&c->in, &a) < 0 || !xdr_in_done(&c->in))
		return false;
	r.cookie = a.cookie;
	r.status = lock_begin(c, &a.lock, a.exclusive, true, &l);
	if (r.status == NLM4_GRANTED)
		r.status = check_delegs(c, &l);
	if (r.status == NLM4_GRANTED) {
		t = (struct nfs4_lockt_args){.type = l.want.type,
			.offset = a.lock.offset,
			.length = a.lock.len ? a.lock.len : NFS4_LENGTH_EOF,
			.owner = {.owner = l.owner}};
		r.status = nlm_status(lock_test(&c->sv->state, l.c, l.o, &t, &d, owner));
	}
	if (r.status == NLM4_DENIED)
		describe(c, &d, &r.holder);
	nlm4_put_test_res(&c->req->res, &r);
	lock_end(c, &l);
	return true;
}

/* Notes the number of the host's status monitor. Another number than before: the host has
 * restarted, and the holders of its locks are gone. told: the host itself says so; otherwise a
 * first number means nothing. True: the locks are free now. Other calls with the number wait until
 * the locks are free, so that the locks of such calls are not dropped with the old ones. */
static bool note_state(struct serve *sv, struct client *host, uint32_t number, bool told)
{
	bool restarted;
	uint32_t before;

	if (number == 0 && !told) /* the host has no status monitor */
		return false;
	mutex_lock(&host->nlm_lock);
	before = host->nlm_state;
	host->nlm_state = number;
	restarted = before ? before != number : told;
	if (restarted) {
		log_ctrl("%s has restarted: its locks are free", host->who);
		client_drop_states(&sv->state, host);
	}
	mutex_unlock(&host->nlm_lock);
	return restarted;
}

/* May the host lock? reclaim: again, the same lock as before a restart of this server; otherwise
 * anew. NLM4_GRANTED: the host is then in the record of clients. */
static uint32_t check_grace(struct nlm_call *c, struct client *host, bool reclaim)
{
	struct state *s = &c->sv->state;

	/* a host takes a refused reclaim for lost: so the reclaim waits until the record is read */
	if ((grace_begun(s->grace) != GRACE_OVER) != reclaim)
		return NLM4_DENIED_GRACE_PERIOD;
	if (client_may_claim(s, host, reclaim) != NFS4_OK) /* or the period has ended just now */
		return reclaim && grace_phase(s->grace) == GRACE_ON ? NLM4_DENIED_NOLOCKS
								    : NLM4_DENIED_GRACE_PERIOD;
	client_note(s, host);
	return NLM4_GRANTED;
}

void nlm_host_restarted(
	struct serve *sv, const char *address, const struct nfs_name *name, uint32_t number)
{
	char buf[NFS4_OPAQUE_LIMIT];
	struct nfs4_opaque id = host_id(address, name, buf, sizeof(buf));
	struct rpc_cred cred = {.flavor = GRACE_NLM};
	struct grace_who who = {id.data, id.len, &cred};
	const struct share_key nobody = {0}; /* no record is made */
	struct client *host = client_nlm(&sv->state, address, &nobody, &id, false);

	/* then the host reclaims no lock from before a restart of this server */
	if (!host || note_state(sv, host, number, true))
		grace_reclaimed(sv->state.grace, &who);
	client_unref(&sv->state, host);
}

/* A record that was removed from the table in the meantime must not hold any lock. */
static uint32_t check_gone(struct nlm_call *c, struct client *host)
{
	struct state *s = &c->sv->state;
	bool gone;

	mutex_lock(&s->lock);
	gone = host->gone;
	mutex_unlock(&s->lock);
	if (!gone)
		return NLM4_GRANTED;
	client_drop_states(s, host);
	return NLM4_DENIED_NOLOCKS;
}

static bool do_lock(struct nlm_call *c)
{
	struct nlm4_lock_args a;
	struct nfs4_lock_denied d;
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	struct nlm4_res r = {0};
	struct nlm_lock l;

	if (nlm4_get_lock_args(&c->in, &a) < 0 || !xdr_in_done(&c->in))
		return false;
	r.cookie = a.cookie;
	r.status = lock_begin(c, &a.lock, a.exclusive, true, &l);
	if (r.status == NLM4_GRANTED) {
		note_state(c->sv, l.c, a.state, false);
		r.status = check_grace(c, l.c, a.reclaim);
	}
	if (r.status == NLM4_GRANTED && !a.reclaim)
		r.status = check_delegs(c, &l);
	if (r.status == NLM4_GRANTED)
		r.status = nlm_status(lock_set_plain(
			&c->sv->state, l.c, &c->req->cred, l.o, &l.owner, &l.want, &d, owner));
	if (r.status == NLM4_GRANTED)
		r.status = check_gone(c, l.c);
	if (r.status == NLM4_DENIED && a.block)
		r.status = NLM4_BLOCKED;
	nlm4_put_res(&c->req->res, &r);
	lock_end(c, &l);
	return true;
}

static bool do_unlock(struct nlm_call *c)
{
	struct nlm4_unlock_args a;
	struct nlm4_res r = {0};
	struct nlm_lock l;

	if (nlm4_get_unlock_args(&c->in, &a) < 0 || !xdr_in_done(&c->in))
		return false;
	r.cookie = a.cookie;
	r.status = lock_begin(c, &a.lock, true, false, &l);
	if (r.status == NLM4_GRANTED && l.c)
		r.status = nlm_status(lock_clear_plain(
			&c->sv->state, l.c, l.o, &l.owner, l.want.first, l.want.last));
	nlm4_put_res(&c->req->res, &r);
	lock_end(c, &l);
	return true;
}

/* No lock request is ever queued, so there is none to cancel. */
static bool do_cancel(struct nlm_call *c)
{
	struct nlm4_cancel_args a;
	struct nlm4_res r = {.status = NLM4_GRANTED};

	if (nlm4_get_cancel_args(&c->in, &a) < 0 || !xdr_in_done(&c->in))
		return false;
	r.cookie = a.cookie;
	nlm4_put_res(&c->req->res, &r);
	return true;
}

static bool do_free_all(struct nlm_call *c)
{
	struct nlm4_free_all_args a;

	if (nlm4_get_free_all_args(&c->in, &a) < 0 || !xdr_in_done(&c->in))
		return false;
	nlm_host_restarted(c->sv, c->host, &a.name, 0);
	return true;
}

static bool do_null(struct nlm_call *c)
{
	return xdr_in_done(&c->in);
}

static bool (*const procs[])(struct nlm_call *c) = {
	[NLM4PROC_NULL] = do_null,
	[NLM4PROC_TEST] = do_test,
	[NLM4PROC_LOCK] = do_lock,
	[NLM4PROC_CANCEL] = do_cancel,
	[NLM4PROC_UNLOCK] = do_unlock,
	[NLM4PROC_NM_LOCK] = do_lock,
	[NLM4PROC_FREE_ALL] = do_free_all,
};

bool nlm_has(uint32_t proc)
{
	return proc < sizeof(procs) / sizeof(procs[0]) && procs[proc];
}

enum serve_result nlm_run(struct serve *sv, struct rpc_req *req)
{
	struct nlm_call c = {.sv = sv, .req = req, .in = req->args};

	nlm_address(sv, req, c.host);
	return procs[req->proc](&c) ? SERVE_DONE : SERVE_GARBAGE;
}

void nlm_request(const struct serve_port *port, struct rpc_req *req)
{
	if (nlm_has(req->proc))
		serve_call(port, req, RES_CAP, nlm_run);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
}
