/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's clients: how a client is made, managed and ended
 * (state/client_id, state/client_end).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_id.h"
#include "tests/unit/contrib/serve/serve-env.h"

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
	/* the client restarted: a new record beside the old one, until the new one is confirmed */
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
	/* the confirmed client is untouched */
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
		c->seen_ns -= 1000000000; /* as if the host had been silent since */
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
	/* the last part is for newcomers */
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

/* A silent host may be alive, and hold locks. Such a host makes room for a newcomer only when there
 * is no other place, and not for a host of a peer that has its share. */
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

	cs.fore = env_channel;
	assert_int_equal(exchange(e, 9, 0, &r), NFS4_OK);
	cs.clientid = r.clientid;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	e->session = old;
	env_begin(e, true);
	assert_int_equal(env_run(e, 1), NFS4ERR_BADSESSION);
}

/* A COMPOUND replaces the client of its own session, and goes on. */
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

	cs.fore = env_channel;
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

	cs.fore = env_channel;
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

/* Section 18.35.4 case 3: a client without state gives its name away, and is gone then. */
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

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(exchange_id_knows_its_clients),
		TEST(newcomers_push_out_who_was_never_confirmed),
		TEST(hosts_of_nlm_leave_room),
		TEST(who_has_his_share_takes_no_host_of_another),
		TEST(a_restarted_client_loses_its_old_sessions),
		TEST(a_client_that_was_replaced_gets_no_state),
		TEST(a_client_id_ends_after_its_sessions),
		TEST(another_principal_manages_nothing),
		TEST(a_collision_ends_who_holds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
