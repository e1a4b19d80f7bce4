/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's clients, sessions and slots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include <stdlib.h>
#include <string.h>

#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_id.h"
#include "contrib/serve/state/session.h"
#include "serve-env.h"
#include "short-malloc.h"
#include "transport/rpc/xprt.h"

static int setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init(e);
	env_mount(e, "client");
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}

static void put_mkdir(struct serve_env *e, const char *name)
{
	struct nfs4_create_args a = {.type = NF4DIR, .name = {name, (uint32_t)strlen(name)}};

	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_create_args(&e->args, &a);
}

static void a_replay_is_answered_from_the_cache(void **state)
{
	struct serve_env *e = *state;
	static uint8_t first[4096];
	size_t len;

	env_begin(e, true);
	put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
	len = e->req.res.len;
	memcpy(first, e->reply, len);
	memset(e->reply, 0xaa, sizeof(e->reply));
	/* carried out again it would be NFS4ERR_EXIST */
	assert_int_equal(env_again(e), NFS4_OK);
	assert_int_equal(e->req.res.len, len);
	assert_memory_equal(e->reply, first, len);
}

static void a_replay_of_an_error_is_the_same_error(void **state)
{
	struct serve_env *e = *state;

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "missing");
	assert_int_equal(env_run(e, 3), NFS4ERR_NOENT);
	assert_int_equal(env_again(e), NFS4ERR_NOENT);
	assert_int_equal(e->head.nops, 3);
}

static void another_request_under_the_same_number_is_told(void **state)
{
	struct serve_env *e = *state;
	uint32_t first;

	env_begin(e, true);
	put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
	e->uid = 7; /* somebody else's */
	assert_int_equal(env_again(e), NFS4ERR_SEQ_FALSE_RETRY);
	e->uid = 0;
	first = --e->slot_seq;
	env_begin(e, true);
	put_mkdir(e, "x");
	assert_int_equal(env_run(e, 3), NFS4ERR_SEQ_FALSE_RETRY);
	assert_int_equal(e->head.nops, 1);
	e->slot_seq = first;
	env_begin(e, true); /* a client that asks what has become of it */
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_FALSE_RETRY);
	e->slot_seq = first;
	env_begin(e, true);
	put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
}

static void sequence_numbers_must_follow(void **state)
{
	struct serve_env *e = *state;

	e->slot_seq += 1; /* leaves one out */
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(e->head.nops, 1);
	e->slot_seq = UINT32_MAX; /* 0: older than the last */
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_MISORDERED);
	e->slot_seq += 1;
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4_OK);
}

static uint32_t sequence(struct serve_env *e, const struct nfs4_sequence_args *a, uint32_t more)
{
	env_begin(e, false);
	nfs4_put_sequence_args(&e->args, a);
	for (uint32_t i = 0; i < more; i++)
		nfs4_put_op(&e->args, OP_PUTROOTFH);
	return env_run(e, 1 + more);
}

static void slots_and_sessions_are_checked(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sequence_args a = {.session = e->session, .sequenceid = 1};

	a.slotid = a.highest_slotid = 4;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_BADSLOT);
	a.slotid = 1;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_BAD_HIGH_SLOT);
	a.highest_slotid = 3;
	assert_int_equal(sequence(e, &a, 0), NFS4_OK);
	a.sequenceid = 2;
	assert_int_equal(sequence(e, &a, 16), NFS4ERR_TOO_MANY_OPS);
	assert_int_equal(sequence(e, &a, 15), NFS4_OK);
	/* a slot that was never used has nothing to replay */
	a.slotid = 2;
	a.sequenceid = 0;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_SEQ_MISORDERED);
	a.session.id[15] ^= 0x80;
	assert_int_equal(sequence(e, &a, 0), NFS4ERR_BADSESSION);
}

/* What was carried out can be answered again, or it is not carried out. */
static void without_memory_for_the_reply_nothing_is_done(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sequence_args a = {
		.session = e->session, .sequenceid = 1, .slotid = 1, .highest_slotid = 1};

	malloc_max = STATE_MIN_CACHED - 1;
	assert_int_equal(sequence(e, &a, 1), NFS4ERR_DELAY);
	assert_int_equal(e->head.nops, 1);
	malloc_max = SIZE_MAX;
	assert_int_equal(sequence(e, &a, 1), NFS4_OK);
}

static void operations_have_their_place(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sequence_args seq = {.session = e->session, .sequenceid = 1, .slotid = 1};
	struct nfs4_destroy_clientid_args dc = {.clientid = e->clientid};

	env_begin(e, false);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	assert_int_equal(env_run(e, 1), NFS4ERR_OP_NOT_IN_SESSION);
	env_begin(e, true);
	nfs4_put_sequence_args(&e->args, &seq);
	assert_int_equal(env_run(e, 2), NFS4ERR_SEQUENCE_POS);
	env_begin(e, false);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 2), NFS4ERR_NOT_ONLY_OP);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_GETFH);
	assert_int_equal(env_run(e, 2), NFS4ERR_NOFILEHANDLE);
	env_begin(e, true);
	nfs4_put_op(&e->args, 4711);
	assert_int_equal(env_run(e, 2), NFS4ERR_OP_ILLEGAL);
	env_expect(e, OP_ILLEGAL, NFS4ERR_OP_ILLEGAL);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_LAYOUTGET);
	assert_int_equal(env_run(e, 2), NFS4ERR_NOTSUPP);
}

static void create_session_is_replayed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_create_session_args cs = {
		.clientid = e->clientid, .sequence = 1, .cb_program = 1};
	struct nfs4_create_session_res r;

	cs.fore = (struct nfs4_channel_attrs){.maxrequestsize = 1 << 20,
		.maxresponsesize = 1 << 20,
		.maxoperations = 16,
		.maxrequests = 4};
	cs.back = cs.fore;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	env_expect(e, OP_CREATE_SESSION, NFS4_OK);
	assert_int_equal(nfs4_get_create_session_res(&e->res, NFS4_OK, &r), 0);
	assert_memory_equal(&r.session, &e->session, sizeof(r.session));
	cs.sequence = 3;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4ERR_SEQ_MISORDERED);
	cs.sequence = 2;
	cs.back.maxrequestsize = 10; /* no callback fits */
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4ERR_TOOSMALL);
	cs.back = cs.fore; /* which did not use up the number */
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	cs.clientid++;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4ERR_STALE_CLIENTID);
}

static uint32_t exchange(
	struct serve_env *e, uint8_t verf, uint32_t flags, struct nfs4_exchange_id_res *r)
{
	struct nfs4_exchange_id_args ex = {
		.ownerid = {(const uint8_t *)"client", 6}, .flags = flags};

	ex.verf[0] = verf;
	env_begin(e, false);
	nfs4_put_exchange_id_args(&e->args, &ex);
	if (env_run(e, 1) == NFS4_OK) {
		env_expect(e, OP_EXCHANGE_ID, NFS4_OK);
		assert_int_equal(nfs4_get_exchange_id_res(&e->res, NFS4_OK, r), 0);
	}
	return e->head.status;
}

static void exchange_id_knows_its_clients(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_exchange_id_res r, again;

	assert_int_equal(exchange(e, 0, 0, &r), NFS4_OK);
	assert_true(r.clientid == e->clientid);
	assert_true(r.flags & EXCHGID4_FLAG_CONFIRMED_R);
	assert_int_equal(exchange(e, 0, EXCHGID4_FLAG_UPD_CONFIRMED_REC_A, &r), NFS4_OK);
	assert_int_equal(exchange(e, 1, EXCHGID4_FLAG_UPD_CONFIRMED_REC_A, &r), NFS4ERR_NOT_SAME);
	/* the client restarted: a new record beside the old one, until it is confirmed */
	assert_int_equal(exchange(e, 1, 0, &r), NFS4_OK);
	assert_true(r.clientid != e->clientid);
	assert_false(r.flags & EXCHGID4_FLAG_CONFIRMED_R);
	assert_int_equal(exchange(e, 1, 0, &again), NFS4_OK);
	assert_true(again.clientid != r.clientid);
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	assert_int_equal(exchange(e, 0, 1u << 5, &r), NFS4ERR_INVAL);
}

static uint32_t exchange_as(struct serve_env *e, uint32_t owner)
{
	struct nfs4_exchange_id_args ex = {.ownerid = {(const uint8_t *)&owner, sizeof(owner)}};

	env_begin(e, false);
	nfs4_put_exchange_id_args(&e->args, &ex);
	return env_run(e, 1);
}

static void newcomers_push_out_who_was_never_confirmed(void **state)
{
	struct serve_env *e = *state;
	struct client *c;
	unsigned n = 0;

	for (uint32_t i = 0; i < 3 * STATE_MAX_CLIENTS; i++)
		assert_int_equal(exchange_as(e, i), NFS4_OK);
	assert_int_equal(e->sv.state.nclients, 1 + STATE_MAX_UNCONF / 2); /* one peer's share */
	TAILQ_FOREACH (c, &e->sv.state.clients, link)
		n += c->confirmed;
	assert_int_equal(n, 1);
	/* the confirmed one is untouched */
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	env_mount(e, "newcomer");
}

static unsigned hosts_from(struct serve_env *e, uint8_t peer, unsigned n)
{
	struct share_key who = {.net = {peer}};
	unsigned made = 0;
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		struct nfs4_opaque id = {(uint8_t *)name,
			(uint32_t)snprintf(name, sizeof(name), "%u host%u", peer, i)};
		struct client *c = client_nlm(&e->sv.state, "peer", &who, &id, true);

		if (!c)
			continue;
		made++;
		c->seen_ns -= 1000000000; /* as if it had not been heard of since */
		client_unref(&e->sv.state, c);
	}
	return made;
}

/* Hosts that lock by NLM never expire: they have a part of the table only, and a peer has a part of
 * that. */
static void hosts_of_nlm_leave_room(void **state)
{
	struct serve_env *e = *state;

	assert_int_equal(hosts_from(e, 1, STATE_MAX_CLIENTS + 10), STATE_MAX_CLIENTS / 4);
	assert_in_range(hosts_from(e, 2, STATE_MAX_CLIENTS + 10), STATE_MAX_CLIENTS / 16,
		STATE_MAX_CLIENTS / 4);
	/* the last of it is for newcomers */
	assert_in_range(hosts_from(e, 3, STATE_MAX_CLIENTS + 10), 1, STATE_MAX_CLIENTS / 8);
	assert_true(e->sv.state.nclients <= 1 + STATE_MAX_CLIENTS / 2);
	env_mount(e, "newcomer");
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4_OK);
}

static bool has_host(struct serve_env *e, const char *name)
{
	const struct share_key nobody = {0};
	const struct nfs4_opaque id = {(const uint8_t *)name, (uint32_t)strlen(name)};
	struct client *c = client_nlm(&e->sv.state, "peer", &nobody, &id, false);

	client_unref(&e->sv.state, c);
	return c != NULL;
}

/* A silent host may well be there, and hold locks: it goes for a newcomer only, when there is no
 * other place, and not for one that has its share. */
static void who_has_his_share_takes_no_host_of_another(void **state)
{
	struct serve_env *e = *state;

	assert_int_equal(hosts_from(e, 1, 1), 1);
	e->sv.state.lease_s = 0; /* silent for long enough */
	assert_int_equal(hosts_from(e, 2, STATE_MAX_CLIENTS), STATE_MAX_CLIENTS);
	assert_true(has_host(e, "1 host0"));
	assert_false(has_host(e, "2 host0"));
	assert_true(e->sv.state.nclients <= 2 + STATE_MAX_CLIENTS / 4);
	/* nor by many hosts of which each peer has less than its share */
	for (uint8_t peer = 3; peer < 6; peer++)
		assert_int_equal(hosts_from(e, peer, STATE_MAX_CLIENTS / 8), STATE_MAX_CLIENTS / 8);
	assert_true(has_host(e, "1 host0"));
}

static void a_restarted_client_loses_its_old_sessions(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sessionid old = e->session;
	struct nfs4_exchange_id_res r;
	struct nfs4_create_session_args cs = {.sequence = 1, .cb_program = 1};

	cs.fore = (struct nfs4_channel_attrs){.maxrequestsize = 1 << 20,
		.maxresponsesize = 1 << 20,
		.maxoperations = 16,
		.maxrequests = 4};
	assert_int_equal(exchange(e, 9, 0, &r), NFS4_OK);
	cs.clientid = r.clientid;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	e->session = old;
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4ERR_BADSESSION);
}

/* A COMPOUND replaces the client in whose session it runs, and goes on. */
static void a_client_that_was_replaced_gets_no_state(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_exchange_id_args ex = {.ownerid = {(const uint8_t *)"client", 6}, .verf = {9}};
	struct nfs4_create_session_args cs = {
		.clientid = e->clientid + 1, .sequence = 1, .cb_program = 1};
	struct nfs4_open_args o = {.share_access = OPEN4_SHARE_ACCESS_READ,
		.share_deny = OPEN4_SHARE_DENY_BOTH,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = UNCHECKED4,
		.claim = CLAIM_NULL,
		.name = {"f", 1}};
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	cs.fore = (struct nfs4_channel_attrs){.maxrequestsize = 4096,
		.maxresponsesize = 4096,
		.maxoperations = 16,
		.maxrequests = 4};
	env_begin(e, true);
	nfs4_put_exchange_id_args(&e->args, &ex);
	nfs4_put_create_session_args(&e->args, &cs);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &o);
	assert_int_equal(env_run(e, 5), NFS4ERR_DEADSESSION);
	assert_int_equal(e->head.nops, 5);
	env_mount(e, "another");
	assert_int_equal(
		env_open(e, "f", true, OPEN4_SHARE_ACCESS_READ, 0, "o", &sid, &fh), NFS4_OK);
}

static void xprt_destroyed(struct rpc_xprt *x)
{
	*(bool *)x->owner = true;
}

/* A connection that is bound to a session while that is being destroyed is not kept by it. */
static void a_destroyed_session_keeps_no_connection(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = xprt_destroyed};
	struct serve_env *e = *state;
	struct session *ses = session_get(&e->sv.state, &e->session);
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};
	bool destroyed = false;
	struct rpc_xprt x = {.ops = &ops, .refs = 1, .owner = &destroyed};

	assert_non_null(ses);
	assert_int_equal(session_destroy(&e->sv.state, &cred, &e->session), NFS4_OK);
	session_set_back(ses, &x);
	rpc_xprt_unref(&x);
	assert_false(destroyed);
	session_put(&e->sv.state, ses);
	assert_true(destroyed);
}

static void a_client_id_ends_after_its_sessions(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_destroy_session_args ds = {.session = e->session};
	struct nfs4_destroy_clientid_args dc = {.clientid = e->clientid};

	env_begin(e, false);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 1), NFS4ERR_CLIENTID_BUSY);
	env_begin(e, false);
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	assert_int_equal(env_again(e), NFS4ERR_BADSESSION);
	env_begin(e, false);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	assert_int_equal(env_again(e), NFS4ERR_STALE_CLIENTID);
}

static void another_principal_manages_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_bind_conn_to_session_args bc = {.session = e->session, .dir = CDFC4_FORE};
	struct nfs4_destroy_session_args ds = {.session = e->session};
	struct nfs4_destroy_clientid_args dc = {.clientid = e->clientid};
	struct nfs4_create_session_args cs = {
		.clientid = e->clientid, .sequence = 1, .cb_program = 1};

	cs.fore = (struct nfs4_channel_attrs){.maxrequestsize = 4096,
		.maxresponsesize = 4096,
		.maxoperations = 16,
		.maxrequests = 4};
	e->uid = 4711;
	for (cs.sequence = 1; cs.sequence <= 2; cs.sequence++) { /* a replay, a new one */
		env_begin(e, false);
		nfs4_put_create_session_args(&e->args, &cs);
		assert_int_equal(env_run(e, 1), NFS4ERR_CLID_INUSE);
	}
	env_begin(e, false);
	nfs4_put_bind_conn_to_session_args(&e->args, &bc);
	assert_int_equal(env_run(e, 1), NFS4ERR_BADSESSION);
	env_begin(e, false);
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4ERR_WRONG_CRED);
	env_begin(e, false);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 1), NFS4ERR_WRONG_CRED);
	/* users share the session of their client */
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	assert_int_equal(env_run(e, 2), NFS4_OK);
	e->uid = 0;
	env_begin(e, false);
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4_OK);
}

/* Section 18.35.4 case 3: a client that holds nothing gives its name away, and is gone then. */
static void a_collision_ends_who_holds_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_destroy_session_args ds = {.session = e->session};
	struct nfs4_destroy_clientid_args dc = {.clientid = e->clientid};
	struct nfs4_exchange_id_res r;

	e->uid = 4711;
	assert_int_equal(exchange(e, 1, 0, &r), NFS4ERR_CLID_INUSE);
	e->uid = 0;
	env_begin(e, false);
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	e->uid = 4711;
	assert_int_equal(exchange(e, 1, 0, &r), NFS4_OK);
	e->uid = 0;
	env_begin(e, false);
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 1), NFS4ERR_STALE_CLIENTID);
}

static void the_current_stateid_can_be_freed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_open_args o = {.share_access = OPEN4_SHARE_ACCESS_READ,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.name = {"f", 1}};
	struct nfs4_free_stateid_args f = {.stateid = nfs4_stateid_current};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &o);
	nfs4_put_free_stateid_args(&e->args, &f);
	assert_int_equal(env_run(e, 4), NFS4ERR_LOCKS_HELD); /* it is open */
}

/* Another session of the client; the number of its slots, or 0 when it is refused with NOSPC. */
static uint32_t one_more_session(struct serve_env *e, uint32_t sequence)
{
	struct nfs4_create_session_args cs = {
		.clientid = e->clientid, .sequence = sequence, .cb_program = 1};
	struct nfs4_create_session_res r;

	cs.fore = (struct nfs4_channel_attrs){.maxrequestsize = 1 << 20,
		.maxresponsesize = 1 << 20,
		.maxresponsesize_cached = 1 << 20,
		.maxoperations = 16,
		.maxrequests = 100000};
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	if (env_run(e, 1) != NFS4_OK) {
		assert_int_equal(e->head.status, NFS4ERR_NOSPC);
		return 0;
	}
	env_expect(e, OP_CREATE_SESSION, NFS4_OK);
	assert_int_equal(nfs4_get_create_session_res(&e->res, NFS4_OK, &r), 0);
	assert_true(r.fore.maxrequests > 0);
	return r.fore.maxrequests;
}

static void kept_replies_have_a_common_budget(void **state)
{
	struct serve_env *e = *state;
	uint32_t *used = &e->sv.state.cache_used, before = *used, n;
	struct nfs4_destroy_session_args ds;

	assert_true(before > 0);
	assert_int_equal(one_more_session(e, 2), STATE_MAX_SLOTS);
	assert_true(*used >= before + STATE_MAX_SLOTS * STATE_MAX_CACHED);
	*used += STATE_MAX_CACHE - *used - (1 << 20); /* 1 MiB is left */
	n = one_more_session(e, 3);
	assert_in_range(n, 1, (1 << 20) / 8 / STATE_MAX_CACHED);
	*used = STATE_MAX_CACHE - 5000;
	assert_int_equal(one_more_session(e, 4), 1);
	assert_int_equal(one_more_session(e, 5), 0);
	/* what a session had is given back */
	n = *used;
	ds.session = e->session;
	env_begin(e, false);
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	assert_int_equal(*used, n - before);
}

static void session_ids_cannot_be_guessed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_sessionid a = e->session;
	unsigned same = 0;

	env_mount(e, "another");
	for (size_t i = 0; i < sizeof(a.id); i++)
		same += a.id[i] == e->session.id[i];
	assert_true(same < 8); /* by chance: once in 2^50 */
}

static void words_behind_the_last_operation_are_refused(void **state)
{
	struct serve_env *e = *state;

	env_begin(e, true);
	put_mkdir(e, "d");
	xdr_put_u32(&e->args, 0);
	assert_int_equal(env_run(e, 3), NFS4ERR_BADXDR);
	assert_int_equal(e->head.nops, 3);
	env_begin(e, true); /* it was not carried out */
	put_mkdir(e, "d");
	assert_int_equal(env_run(e, 3), NFS4_OK);
}

static void only_minor_versions_1_and_2_are_spoken(void **state)
{
	struct serve_env *e = *state;

	for (uint32_t minor = 0; minor < 4; minor++) {
		xdr_out_init(&e->args, e->call, sizeof(e->call));
		e->count_at = nfs4_put_compound_args(&e->args, "", minor);
		assert_int_equal(env_run(e, 0),
			minor == 1 || minor == 2 ? NFS4_OK : NFS4ERR_MINOR_VERS_MISMATCH);
		assert_int_equal(e->head.nops, 0);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_replay_is_answered_from_the_cache),
		TEST(a_replay_of_an_error_is_the_same_error),
		TEST(another_request_under_the_same_number_is_told),
		TEST(sequence_numbers_must_follow),
		TEST(slots_and_sessions_are_checked),
		TEST(without_memory_for_the_reply_nothing_is_done),
		TEST(operations_have_their_place),
		TEST(create_session_is_replayed),
		TEST(exchange_id_knows_its_clients),
		TEST(newcomers_push_out_who_was_never_confirmed),
		TEST(hosts_of_nlm_leave_room),
		TEST(who_has_his_share_takes_no_host_of_another),
		TEST(a_restarted_client_loses_its_old_sessions),
		TEST(a_client_that_was_replaced_gets_no_state),
		TEST(a_destroyed_session_keeps_no_connection),
		TEST(a_client_id_ends_after_its_sessions),
		TEST(another_principal_manages_nothing),
		TEST(a_collision_ends_who_holds_nothing),
		TEST(the_current_stateid_can_be_freed),
		TEST(kept_replies_have_a_common_budget),
		TEST(session_ids_cannot_be_guessed),
		TEST(words_behind_the_last_operation_are_refused),
		TEST(only_minor_versions_1_and_2_are_spoken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
