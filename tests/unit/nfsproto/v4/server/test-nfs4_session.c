/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_session: establishing a session with a server that refuses,
 * loses replies, falls silent or lies, and giving the session back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_session.h"
#include "transport/log.h"

/* Starts a server with this number of connections; NULL with *e set if the start fails; then the
 * server is freed. */
static struct nfs4_server *start(struct fix *f, unsigned conns, struct err *e)
{
	struct nfs_mount_params p = {
		.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.vers_major = 4,
		.vers_minor = 1,
		.pool = f->pool,
		.connect_ms = f->connect_ms,
		.timeo_ms = 60000,
		.retrans = 1,
		.nconnect = conns,
	};
	struct nfs4_server *srv = nfs4_server_new(&p, nfs4_kinds);

	assert_non_null(srv);
	*e = (struct err){.kind = ERR_NONE};
	return nfs4_server_start(srv, &p, e) ? nfs4_server_unref(srv) : srv;
}

static void left_nothing(struct fix *f)
{
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
}

static void starts(struct fix *f)
{
	struct err e;
	struct nfs4_server *srv = start(f, 1, &e);

	if (!srv)
		fail_msg("%s", e.msg);
	assert_int_equal(f->srv.nsessions, 1);
	assert_null(nfs4_server_unref(srv));
	left_nothing(f);
}

static void fails(struct fix *f, enum err_kind kind, const char *word)
{
	struct err e;

	assert_null(start(f, 1, &e));
	if (e.kind != kind || !strstr(e.msg, word))
		fail_msg("\"%s\" does not say \"%s\", or is of another kind", e.msg, word);
}

/* --- refusals --------------------------------------------------------------------------------- */

struct refusal {
	uint32_t op, status;
	unsigned times;
	enum err_kind kind; /* ERR_NONE: the client recovers */
	const char *word;
};

static void refuse(struct fix *f, const struct refusal *r, size_t n)
{
	for (size_t i = 0; i < n; i++, r++) {
		fix_fails(f, r->op, r->status, r->times);
		if (r->kind == ERR_NONE)
			starts(f);
		else
			fails(f, r->kind, r->word);
		assert_int_equal(f->srv.fail_times, 0);
		left_nothing(f);
	}
}
#define REFUSE(f, list) refuse(f, list, sizeof(list) / sizeof((list)[0]))

static void exchange_id_is_refused(void **state)
{
	static const struct refusal list[] = {
		{OP_EXCHANGE_ID, NFS4ERR_DELAY, 2, ERR_NONE, NULL},
		{OP_EXCHANGE_ID, NFS4ERR_BADXDR, 1, ERR_PROTOCOL,
			"EXCHANGE_ID with NFS4ERR_BADXDR"},
		{OP_EXCHANGE_ID, NFS4ERR_INVAL, 1, ERR_PROTOCOL, "NFS4ERR_INVAL"},
		{OP_EXCHANGE_ID, NFS4ERR_SERVERFAULT, 1, ERR_PROTOCOL, "NFS4ERR_SERVERFAULT"},
		{OP_EXCHANGE_ID, NFS4ERR_TOO_MANY_OPS, 1, ERR_PROTOCOL, "TOO_MANY_OPS"},
		{OP_EXCHANGE_ID, NFS4ERR_NOT_SAME, 1, ERR_PROTOCOL, "NFS4ERR_NOT_SAME"},
		{OP_EXCHANGE_ID, NFS4ERR_CLID_INUSE, 1, ERR_ACCESS, "identity"},
		{OP_EXCHANGE_ID, NFS4ERR_PERM, 1, ERR_ACCESS, "list of clients"},
		{OP_EXCHANGE_ID, NFS4ERR_ACCESS, 1, ERR_ACCESS, "list of clients"},
		{OP_EXCHANGE_ID, NFS4ERR_WRONGSEC, 1, ERR_ACCESS, "security flavour"},
		{OP_EXCHANGE_ID, NFS4ERR_MINOR_VERS_MISMATCH, 1, ERR_VERSION, "not NFSv4.1"},
		{OP_EXCHANGE_ID, 4711, 1, ERR_PROTOCOL, "(4711)"},
	};

	REFUSE(*state, list);
}

static void create_session_is_refused(void **state)
{
	static const struct refusal list[] = {
		{OP_CREATE_SESSION, NFS4ERR_DELAY, 2, ERR_NONE, NULL},
		{OP_CREATE_SESSION, NFS4ERR_STALE_CLIENTID, 2, ERR_NONE, NULL},
		{OP_CREATE_SESSION, NFS4ERR_STALE_CLIENTID, 3, ERR_PROTOCOL, "STALE_CLIENTID"},
		{OP_CREATE_SESSION, NFS4ERR_INVAL, 1, ERR_PROTOCOL, "CREATE_SESSION with"},
		{OP_CREATE_SESSION, NFS4ERR_NOSPC, 1, ERR_PROTOCOL, "NFS4ERR_NOSPC"},
		{OP_CREATE_SESSION, NFS4ERR_TOOSMALL, 1, ERR_PROTOCOL, "NFS4ERR_TOOSMALL"},
		{OP_CREATE_SESSION, NFS4ERR_SEQ_MISORDERED, 1, ERR_PROTOCOL, "MISORDERED"},
		{OP_CREATE_SESSION, NFS4ERR_SERVERFAULT, 1, ERR_PROTOCOL, "SERVERFAULT"},
		{OP_CREATE_SESSION, NFS4ERR_CLID_INUSE, 1, ERR_ACCESS, "identity"},
		{OP_CREATE_SESSION, NFS4ERR_WRONG_CRED, 1, ERR_PROTOCOL, "WRONG_CRED"},
	};

	REFUSE(*state, list);
}

/* The first SEQUENCE is that of RECLAIM_COMPLETE. */
static void sequence_is_refused(void **state)
{
	static const struct refusal list[] = {
		{OP_SEQUENCE, NFS4ERR_DELAY, 2, ERR_NONE, NULL},
		{OP_SEQUENCE, NFS4ERR_BADSESSION, 2, ERR_NONE, NULL},
		{OP_SEQUENCE, NFS4ERR_BADSESSION, 3, ERR_PROTOCOL, "NFS4ERR_BADSESSION"},
		{OP_SEQUENCE, NFS4ERR_DEADSESSION, 1, ERR_NONE, NULL},
		{OP_SEQUENCE, NFS4ERR_BADSLOT, 1, ERR_PROTOCOL, "NFS4ERR_BADSLOT"},
		{OP_SEQUENCE, NFS4ERR_BAD_HIGH_SLOT, 1, ERR_PROTOCOL, "BAD_HIGH_SLOT"},
		{OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 1, ERR_PROTOCOL, "SEQ_MISORDERED"},
		{OP_SEQUENCE, NFS4ERR_SEQ_FALSE_RETRY, 1, ERR_PROTOCOL, "SEQ_FALSE_RETRY"},
		{OP_SEQUENCE, NFS4ERR_RETRY_UNCACHED_REP, 1, ERR_PROTOCOL, "RETRY_UNCACHED"},
		{OP_SEQUENCE, NFS4ERR_CONN_NOT_BOUND_TO_SESSION, 1, ERR_PROTOCOL, "NOT_BOUND"},
		{OP_SEQUENCE, NFS4ERR_REQ_TOO_BIG, 1, ERR_PROTOCOL, "REQ_TOO_BIG"},
		{OP_RECLAIM_COMPLETE, NFS4ERR_DELAY, 1, ERR_NONE, NULL},
		{OP_RECLAIM_COMPLETE, NFS4ERR_GRACE, 1, ERR_NONE, NULL},
		{OP_RECLAIM_COMPLETE, NFS4ERR_COMPLETE_ALREADY, 1, ERR_NONE, NULL},
		{OP_RECLAIM_COMPLETE, NFS4ERR_WRONG_CRED, 1, ERR_PROTOCOL, "WRONG_CRED"},
	};

	REFUSE(*state, list);
}

/* If the mount names no minor version, the client finds the server's lower one. */
static void a_minor_version_is_found(void **state)
{
	struct fix *f = *state;
	struct nfs_mount_params p = {.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.vers_major = 4,
		.pool = f->pool,
		.connect_ms = 60000};
	struct nfs4_server *srv = nfs4_server_new(&p, nfs4_kinds);
	struct err e = {.kind = ERR_NONE};

	assert_int_equal(nfs4_server_start(srv, &p, &e), 0);
	assert_int_equal(srv->minor, 1);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 1);
	nfs4_server_unref(srv);
	left_nothing(f);
}

/* --- lost replies ----------------------------------------------------------------------------- */

/* The server carries each step out, the answer is lost with the connection, and the client asks
 * again. */
static void a_reply_is_lost(void **state)
{
	static const uint32_t ops[] = {OP_EXCHANGE_ID, OP_CREATE_SESSION, OP_RECLAIM_COMPLETE,
		OP_DESTROY_SESSION, OP_DESTROY_CLIENTID};
	struct fix *f = *state;

	for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint32_t sessions = f->srv.session_no;

		f->srv.cut_op = ops[i];
		f->srv.cut_times = 1;
		starts(f);
		assert_int_equal(f->srv.cut_times, 0);
		assert_int_equal(f->srv.session_no, sessions + 1); /* still the same session */
	}
	assert_int_equal(f->srv.misordered, 0);
}

/* The session is bound to the connection that is lost: the next one must be bound, for the server
 * to call back. */
static void the_reply_to_create_session_is_lost(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct err e;

	f->srv.cut_op = OP_CREATE_SESSION;
	f->srv.cut_times = 1;
	srv = start(f, 1, &e);
	assert_non_null(srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], 1));
	assert_null(nfs4_server_unref(srv));
	left_nothing(f);
}

static void the_server_falls_silent(void **state)
{
	static const struct {
		uint32_t op;
		const char *step;
	} steps[] = {
		{OP_EXCHANGE_ID, "does not answer (EXCHANGE_ID)"},
		{OP_CREATE_SESSION, "does not answer (CREATE_SESSION)"},
		{OP_RECLAIM_COMPLETE, "does not answer (RECLAIM_COMPLETE)"},
	};
	struct fix *f = *state;

	f->connect_ms = 300;
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		f->srv.hold_op = steps[i].op;
		fails(f, ERR_UNREACHABLE, steps[i].step);
		left_nothing(f); /* the held request has not been carried out */
		pthread_mutex_lock(&f->srv.lock);
		for (unsigned k = 0; k < f->srv.nheld; k++)
			rpc_req_drop(f->srv.held[k]);
		f->srv.nheld = 0;
		f->srv.hold_op = 0;
		pthread_mutex_unlock(&f->srv.lock);
	}
	f->connect_ms = 60000;
	starts(f);
}

/* --- lies ------------------------------------------------------------------------------------- */

static void a_session_is_of_no_use(void **state)
{
	struct fix *f = *state;
	uint32_t *const limits[] = {
		&f->srv.ops_max, &f->srv.request_max, &f->srv.response_max, &f->srv.cached_max};

	for (unsigned i = 0; i < 4; i++) {
		*limits[i] = 7;
		fails(f, ERR_PROTOCOL, i < 3 ? "too small" : "replies of 7 bytes");
		*limits[i] = 0;
		left_nothing(f);
	}
	f->srv.slots = 0;
	fails(f, ERR_PROTOCOL, "too small: 0 slots");
	left_nothing(f);
}

static void more_is_granted_than_was_asked_for(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct err e;

	f->srv.slots = 4000000000u;
	f->srv.no_back = true;
	srv = start(f, 1, &e);
	assert_non_null(srv);
	assert_int_equal(srv->slots.max, srv->slots_wanted);
	nfs4_server_unref(srv);
	left_nothing(f);
}

static void a_result_makes_no_sense(void **state)
{
	static const enum quirk quirks[] = {Q_SHORT_REPLY, Q_FEWER_RESULTS, Q_WRONG_OP, Q_TRAILING,
		Q_STATUS_MISMATCH, Q_WRONG_SLOT};
	struct fix *f = *state;

	for (unsigned i = 0; i < sizeof(quirks) / sizeof(quirks[0]); i++) {
		fix_quirk(f, quirks[i]);
		fails(f, ERR_PROTOCOL, "RECLAIM_COMPLETE failed");
		assert_int_equal(f->srv.quirk_times, 0);
		left_nothing(f);
	}
	f->srv.wrong_session = OP_SEQUENCE;
	fails(f, ERR_PROTOCOL, "RECLAIM_COMPLETE failed");
	f->srv.wrong_session = 0;
	left_nothing(f);
	f->srv.protect = SP4_MACH_CRED;
	fails(f, ERR_PROTOCOL, "EXCHANGE_ID failed");
}

static void a_connection_is_bound_to_another_session(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct err e;

	f->srv.wrong_session = OP_BIND_CONN_TO_SESSION;
	srv = start(f, 3, &e);
	assert_non_null(srv);
	assert_int_equal(srv->nconns, 1);
	nfs4_server_unref(srv);
	f->srv.wrong_session = 0;
	srv = start(f, 3, &e);
	assert_non_null(srv);
	assert_int_equal(srv->nconns, 3);
	assert_int_equal(f->srv.nbound, 3);
	nfs4_server_unref(srv);
	left_nothing(f);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void giving_back_is_put_off_or_refused(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct err e;

	fix_fails(f, OP_DESTROY_CLIENTID, NFS4ERR_CLIENTID_BUSY, 2);
	starts(f);
	assert_int_equal(f->srv.count[OP_DESTROY_CLIENTID], 3);
	fix_fails(f, OP_DESTROY_SESSION, NFS4ERR_BADSESSION, 1);
	srv = start(f, 1, &e);
	assert_non_null(srv);
	nfs4_server_unref(srv); /* the client asks the server to drop the client ID all the same */
	assert_true(f->srv.count[OP_DESTROY_CLIENTID] > 3);
	assert_int_equal(f->srv.count[OP_DESTROY_SESSION], 3);
	left_nothing(f);
}

/* The server has an open that the client does not know. */
static void unknown_state_is_dropped_at_the_end(void **state)
{
	struct fix *f = *state;
	struct err e;
	struct nfs4_server *srv = start(f, 1, &e);

	assert_non_null(srv);
	f->srv.nopens = 1;
	nfs4_server_unref(srv);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 2);
	assert_int_equal(f->srv.nopens, 0);
	left_nothing(f);
}

/* The state is that of another session with the same client ID. */
static void the_state_of_a_lender_stays(void **state)
{
	struct fix *f = *state;
	struct err e;
	struct nfs4_server *srv = start(f, 1, &e);

	assert_non_null(srv);
	srv->borrowed = true;
	f->srv.nopens = 1;
	nfs4_server_unref(srv);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 1);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(f->srv.nclients, 1);
}

static void a_reference_keeps_it_up(void **state)
{
	struct fix *f = *state;
	struct err e;
	struct nfs4_server *srv = start(f, 1, &e);

	assert_non_null(srv);
	assert_ptr_equal(nfs4_server_ref(srv), srv);
	assert_null(nfs4_server_unref(srv));
	assert_int_equal(f->srv.nsessions, 1);
	assert_null(nfs4_server_unref(srv));
	assert_null(nfs4_server_unref(NULL));
	left_nothing(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fix_setup_unmounted, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exchange_id_is_refused),
		TEST(create_session_is_refused),
		TEST(sequence_is_refused),
		TEST(a_minor_version_is_found),
		TEST(a_reply_is_lost),
		TEST(the_reply_to_create_session_is_lost),
		TEST(the_server_falls_silent),
		TEST(a_session_is_of_no_use),
		TEST(more_is_granted_than_was_asked_for),
		TEST(a_result_makes_no_sense),
		TEST(a_connection_is_bound_to_another_session),
		TEST(giving_back_is_put_off_or_refused),
		TEST(unknown_state_is_dropped_at_the_end),
		TEST(the_state_of_a_lender_stays),
		TEST(a_reference_keeps_it_up),
	};

	log_init("test-nfs4_session", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
