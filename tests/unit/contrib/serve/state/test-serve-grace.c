/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/state/grace.h"
#include "contrib/serve/export/ident.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/clock.h"
#include "transport/log.h"

#define LEASE 90u
#define NS    1000000000ull

static struct rpc_cred alice = {.flavor = RPC_AUTH_SYS, .uid = 1000};
static struct rpc_cred bob = {.flavor = RPC_AUTH_SYS, .uid = 1001};

/* Files may grow again from the next fflush() on. */
static const struct rlimit *freed;

int __real_fflush(FILE *f);
int __wrap_fflush(FILE *f);

int __wrap_fflush(FILE *f)
{
	if (freed)
		assert_int_equal(setrlimit(RLIMIT_FSIZE, freed), 0);
	freed = NULL;
	return __real_fflush(f);
}

struct fix {
	struct serve_env e;
	char path[96];
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	env_init(&f->e);
	env_path(&f->e, "record", f->path, sizeof(f->path));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	f->e.sv.state.grace = grace_free(f->e.sv.state.grace);
	env_finish(&f->e);
	free(f);
	return 0;
}

static struct grace_who who(const char *owner, const struct rpc_cred *cred)
{
	return (struct grace_who){(const uint8_t *)owner, (uint32_t)strlen(owner), cred};
}

static struct grace *started(const struct fix *f)
{
	struct grace *g = grace_new(LEASE);

	assert_non_null(g);
	assert_int_equal(grace_phase(g), GRACE_STARTING);
	grace_begin(g, f->path);
	return g;
}

static uint64_t now(void)
{
	return clock_ns();
}

/* A run in which alice's clients "a" and "b" got state, and then the server died. */
static struct grace *second_run(const struct fix *f)
{
	struct grace_who a = who("a", &alice), b = who("b", &alice);
	struct grace *g = started(f);

	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_note(g, &a, 1);
	grace_note(g, &b, 2);
	grace_free(g);
	g = started(f);
	assert_int_equal(grace_phase(g), GRACE_ON);
	return g;
}

static void who_held_state_may_reclaim(void **state)
{
	struct grace *g = second_run(*state);
	struct grace_who a = who("a", &alice), other = who("c", &alice), thief = who("a", &bob);

	assert_true(grace_may_reclaim(g, &a));
	assert_false(grace_may_reclaim(g, &other));
	assert_false(grace_may_reclaim(g, &thief));
	grace_reclaimed(g, &a);
	assert_false(grace_may_reclaim(g, &a));
	grace_free(g);
}

static void it_is_over_when_all_are_back(void **state)
{
	struct grace *g = second_run(*state);
	struct grace_who a = who("a", &alice), b = who("b", &alice), c = who("c", &alice);

	grace_note(g, &a, 11);
	grace_reclaimed(g, &c);
	grace_reclaimed(g, &a);
	assert_int_equal(grace_phase(g), GRACE_ON);
	grace_reclaimed(g, &b);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_free(g);
	/* b took nothing back: its record is gone */
	g = started(*state);
	assert_true(grace_may_reclaim(g, &a));
	assert_false(grace_may_reclaim(g, &b));
	grace_free(g);
}

static void it_is_over_after_a_lease(void **state)
{
	struct grace *g = second_run(*state);
	struct grace_who a = who("a", &alice), b = who("b", &alice);
	uint64_t begin = now();

	grace_tick(g, begin + (LEASE - 2) * NS);
	assert_int_equal(grace_phase(g), GRACE_ON);
	grace_tick(g, begin + (LEASE + 1) * NS);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	assert_false(grace_may_reclaim(g, &a));
	assert_false(grace_may_reclaim(g, &b));
	grace_free(g);
	/* in the next run, too, neither may reclaim state that others could have got meanwhile */
	g = started(*state);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_free(g);
	assert_int_equal(access(((struct fix *)*state)->path, F_OK), -1);
}

static void it_waits_for_who_is_reclaiming(void **state)
{
	struct grace *g = second_run(*state);
	struct grace_who a = who("a", &alice), b = who("b", &alice);
	uint64_t begin = now();

	grace_note(g, &a, 11);
	grace_tick(g, begin + (LEASE + 1) * NS);
	assert_int_equal(grace_phase(g), GRACE_ON);
	grace_tick(g, begin + (2 * LEASE + 1) * NS);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_free(g);
	g = started(*state); /* a still has its reclaimed state; b is out */
	assert_true(grace_may_reclaim(g, &a));
	assert_false(grace_may_reclaim(g, &b));
	grace_free(g);
}

static void a_crash_in_the_grace_period_loses_nobody(void **state)
{
	struct grace *g = second_run(*state);
	struct grace_who a = who("a", &alice), b = who("b", &alice);

	grace_note(g, &a, 11);
	grace_reclaimed(g, &a);
	grace_free(g);
	g = started(*state);
	assert_true(grace_may_reclaim(g, &a));
	assert_true(grace_may_reclaim(g, &b));
	grace_free(g);
}

static void who_holds_nothing_is_struck_out(void **state)
{
	struct grace *g = second_run(*state);
	struct grace_who a = who("a", &alice), b = who("b", &alice);

	grace_note(g, &a, 11);
	grace_note(g, &b, 12);
	grace_reclaimed(g, &b);
	grace_forget(g, 11); /* the last client that was waited for */
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_forget(g, 99);
	grace_free(g);
	g = started(*state);
	assert_false(grace_may_reclaim(g, &a));
	assert_true(grace_may_reclaim(g, &b));
	grace_free(g);
}

static void any_owner_can_be_written_down(void **state)
{
	struct fix *f = *state;
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	struct grace_who all = {owner, sizeof(owner), &bob}, none = {owner, 0, &alice};
	struct grace *g = started(f);
	struct stat st;

	for (size_t i = 0; i < sizeof(owner); i++)
		owner[i] = (uint8_t)i;
	grace_note(g, &all, 1);
	grace_note(g, &none, 2);
	grace_free(g);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	g = started(f);
	assert_true(grace_may_reclaim(g, &all));
	assert_true(grace_may_reclaim(g, &none));
	grace_free(g);
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_damaged_record_does_no_harm(void **state)
{
	static const char *const bad[] = {"", "something else\n", "rnfs-serve clients 1\n1 2 6",
		"rnfs-serve clients 1\n1 2 6\n", "rnfs-serve clients 1\n1 2 zz\n",
		"rnfs-serve clients 1\n1\n", "rnfs-serve clients 1\n\n"};
	struct fix *f = *state;
	struct grace_who a = who("a", &alice);
	char other[128];
	struct grace *g;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_file(f->path, bad[i]);
		g = started(f);
		assert_int_equal(grace_phase(g), GRACE_OVER);
		grace_note(g, &a, 1);
		grace_free(g);
		g = started(f); /* and the record is good again */
		assert_true(grace_may_reclaim(g, &a));
		grace_reclaimed(g, &a);
		grace_free(g);
	}
	/* the good lines before a bad line count */
	put_file(f->path, "rnfs-serve clients 1\n1 1000 61\n1 1000 61\n1 1000 6\n");
	g = started(f);
	assert_true(grace_may_reclaim(g, &a));
	grace_reclaimed(g, &a);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_free(g);
	/* a link leads to a file that the server may not read */
	snprintf(other, sizeof(other), "%s.other", f->path);
	put_file(other, "rnfs-serve clients 1\n1 1000 61\n");
	unlink(f->path);
	assert_int_equal(symlink(other, f->path), 0);
	g = started(f);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_free(g);
}

static void without_a_place_nothing_is_kept(void **state)
{
	struct grace_who a = who("a", &alice);
	struct grace *g = grace_new(LEASE);

	grace_begin(g, NULL);
	assert_int_equal(grace_phase(g), GRACE_OVER);
	grace_note(g, &a, 1);
	assert_false(grace_may_reclaim(g, &a));
	grace_forget(g, 1);
	grace_free(g);
	assert_int_equal(grace_phase(NULL), GRACE_OVER);
}

/* A client without a user is recorded like any other, and is not the client of user 0. */
static void clients_without_a_user_may_reclaim(void **state)
{
	struct rpc_cred none = {.flavor = RPC_AUTH_NONE}, root = {.flavor = RPC_AUTH_SYS};
	struct grace_who who_none = who("n", &none), who_root = who("n", &root);
	struct grace *g = started(*state);

	grace_note(g, &who_none, 1);
	grace_free(g);
	g = started(*state);
	assert_int_equal(grace_phase(g), GRACE_ON);
	assert_false(grace_may_reclaim(g, &who_root));
	assert_true(grace_may_reclaim(g, &who_none));
	grace_free(g);
}

/* The record belongs to the server, not to the user that the server acts as. Not run by root, the
 * server never acts as another user. */
static void it_is_written_as_the_server(void **state)
{
	struct fix *f = *state;
	struct grace_who a = who("a", &alice);
	struct grace *g = started(f);
	struct stat st;

	assert_int_equal(chmod(f->e.dir, 0700), 0);
	ident_init(true);
	assert_int_equal(ident_assume(&alice), 0);
	grace_note(g, &a, 1);
	if (ident_switches()) {
		struct rpc_cred root = {.flavor = RPC_AUTH_SYS};

		assert_int_equal(ident_uid(), alice.uid);
		ident_init(false);
		assert_int_equal(ident_assume(&root), 0);
	}
	grace_free(g);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	g = started(f);
	assert_true(grace_may_reclaim(g, &a));
	grace_free(g);
}

static void a_place_that_cannot_be_written_is_told_at_once(void **state)
{
	struct fix *f = *state;
	char path[sizeof(f->path) + 8], said[512] = "";
	struct grace *g;

	snprintf(path, sizeof(path), "%s/none/r", f->path);
	log_hold();
	g = grace_new(LEASE);
	grace_begin(g, path);
	log_release(said, sizeof(said));
	assert_non_null(strstr(said, path));
	assert_non_null(strstr(said, "--handle-key"));
	grace_free(g);
	said[0] = '\0';
	log_hold();
	g = started(f); /* a place that can be written: no message, and no file is left there */
	log_release(said, sizeof(said));
	assert_string_equal(said, "");
	snprintf(path, sizeof(path), "%s.new", f->path);
	assert_int_equal(access(path, F_OK), -1);
	grace_free(g);
}

/* --- as clients see it ---------------------------------------------------------------------- */

static uint32_t open_as(struct serve_env *e, const struct nfs_fh *fh, enum open_claim_type4 claim,
	struct nfs4_stateid *sid)
{
	struct nfs4_putfh_args p = {*fh};
	struct nfs4_open_args a = {
		.share_access = OPEN4_SHARE_ACCESS_BOTH,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.claim = claim,
	};
	struct nfs4_open_res r;

	env_begin(e, true);
	nfs4_put_putfh_args(&e->args, &p);
	nfs4_put_open_args(&e->args, &a);
	if (env_run(e, 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_OPEN, NFS4_OK);
	assert_int_equal(nfs4_get_open_res(&e->res, NFS4_OK, &r), 0);
	*sid = r.stateid;
	return NFS4_OK;
}

static uint32_t lock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	bool reclaim, uint64_t offset)
{
	struct nfs4_putfh_args p = {*fh};
	struct nfs4_lock_args a = {.type = WRITE_LT,
		.reclaim = reclaim,
		.offset = offset,
		.length = 1,
		.new_owner = true,
		.open_stateid = *sid,
		.owner = {e->clientid, {(const uint8_t *)"l", 1}}};

	env_begin(e, true);
	nfs4_put_putfh_args(&e->args, &p);
	nfs4_put_lock_args(&e->args, &a);
	return env_run(e, 3);
}

static uint32_t write_anonymously(struct serve_env *e, const struct nfs_fh *fh)
{
	struct nfs4_putfh_args p = {*fh};
	struct nfs4_write_args a = {.data = SEG_LIST_MEM((uint8_t *)"x", 1)};

	env_begin(e, true);
	nfs4_put_putfh_args(&e->args, &p);
	nfs4_put_write_args(&e->args, &a);
	return env_run(e, 3);
}

static uint32_t reclaim_complete(struct serve_env *e)
{
	struct nfs4_reclaim_complete_args rc = {0};

	env_begin(e, true);
	nfs4_put_reclaim_complete_args(&e->args, &rc);
	return env_run(e, 2);
}

/* The server ends and begins anew, with the same directory and record. */
static void restart(struct fix *f)
{
	struct serve *sv = &f->e.sv;

	sv->state.grace = grace_free(sv->state.grace);
	state_finish(&sv->state);
	assert_int_equal(state_init(&sv->state, sv->objs, LEASE), 0);
	sv->state.grace = grace_new(LEASE);
	assert_non_null(sv->state.grace);
}

static void nothing_new_before_the_old_is_back(void **state)
{
	struct fix *f = *state;
	struct serve_env *e = &f->e;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	e->sv.state.grace = grace_new(LEASE);
	grace_begin(e->sv.state.grace, f->path);
	env_mount(e, "old");
	assert_int_equal(
		env_open(e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	restart(f);

	/* a stranger, before the record is read and after */
	env_mount(e, "new");
	for (int begun = 0; begun < 2; begun++) {
		assert_int_equal(open_as(e, &fh, CLAIM_FH, &sid), NFS4ERR_GRACE);
		assert_int_equal(write_anonymously(e, &fh), NFS4ERR_GRACE);
		assert_int_equal(open_as(e, &fh, CLAIM_PREVIOUS, &sid),
			begun ? NFS4ERR_NO_GRACE : NFS4ERR_DELAY);
		if (!begun)
			grace_begin(e->sv.state.grace, f->path);
	}

	/* an old client; it has not sent RECLAIM_COMPLETE yet */
	env_meet(e, "old");
	assert_int_equal(open_as(e, &fh, CLAIM_FH, &sid), NFS4ERR_GRACE);
	assert_int_equal(open_as(e, &fh, CLAIM_PREVIOUS, &sid), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, false, 0), NFS4ERR_GRACE);
	assert_int_equal(lock(e, &fh, &sid, true, 0), NFS4_OK);
	assert_int_equal(reclaim_complete(e), NFS4_OK);
	assert_int_equal(grace_phase(e->sv.state.grace), GRACE_OVER);
	assert_int_equal(lock(e, &fh, &sid, false, 5), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, true, 9), NFS4ERR_NO_GRACE);
	assert_int_equal(open_as(e, &fh, CLAIM_PREVIOUS, &sid), NFS4ERR_NO_GRACE);
	assert_int_equal(reclaim_complete(e), NFS4ERR_COMPLETE_ALREADY);

	/* a new client must say that it has nothing to reclaim before it opens */
	env_meet(e, "third");
	assert_int_equal(open_as(e, &fh, CLAIM_FH, &sid), NFS4ERR_GRACE);
	assert_int_equal(reclaim_complete(e), NFS4_OK);
	assert_int_equal(open_as(e, &fh, CLAIM_FH, &sid), NFS4_OK);
}

static void a_client_that_goes_is_forgotten(void **state)
{
	struct fix *f = *state;
	struct serve_env *e = &f->e;
	struct nfs4_destroy_clientid_args dc;
	struct nfs4_destroy_session_args ds;
	struct nfs4_putfh_args p;
	struct nfs4_close_args cl = {0};
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	e->sv.state.grace = grace_new(LEASE);
	grace_begin(e->sv.state.grace, f->path);
	env_mount(e, "c");
	assert_int_equal(access(f->path, F_OK), -1); /* the client has no state yet */
	assert_int_equal(
		env_open(e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(access(f->path, F_OK), 0);
	env_begin(e, true);
	p.fh = fh;
	nfs4_put_putfh_args(&e->args, &p);
	cl.stateid = sid;
	nfs4_put_close_args(&e->args, &cl);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_begin(e, false);
	ds.session = e->session;
	nfs4_put_destroy_session_args(&e->args, &ds);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	env_begin(e, false);
	dc.clientid = e->clientid;
	nfs4_put_destroy_clientid_args(&e->args, &dc);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	assert_int_equal(access(f->path, F_OK), -1);
}

/* More confirmed clients than there is room for: clients without state go, the others stay. */
static void idle_clients_make_room(void **state)
{
	struct serve_env *e = &((struct fix *)*state)->e;
	struct nfs4_sessionid holder;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	uint32_t seq;
	char owner[16];

	env_mount(e, "holder");
	assert_int_equal(
		env_open(e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	holder = e->session;
	seq = e->slot_seq;
	for (int i = 0; i < STATE_MAX_CLIENTS + 10; i++) {
		snprintf(owner, sizeof(owner), "idle%d", i);
		env_mount(e, owner);
	}
	assert_int_equal(e->sv.state.nclients, STATE_MAX_CLIENTS / 2); /* one peer's share */
	e->session = holder;
	e->slot_seq = seq;
	assert_int_equal(lock(e, &fh, &sid, false, 0), NFS4_OK);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* The disk is full while most of the record is written, and has room again at the end. */
static void a_record_with_a_hole_is_not_taken(void **state)
{
	struct fix *f = *state;
	struct grace *g = started(f);
	struct rlimit all, none;
	struct grace_who w;
	char owner[400];

	memset(owner, 'o', sizeof(owner));
	owner[sizeof(owner) - 1] = '\0';
	w = who(owner, &alice);
	for (owner[0] = 'a'; owner[0] <= 'y'; owner[0]++)
		grace_note(g, &w, (uint64_t)owner[0]);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	none = all;
	none.rlim_cur = 0;
	freed = &all;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	grace_note(g, &w, 'z'); /* is not written: the file stays as it was before */
	assert_null(freed);
	grace_free(g);
	g = started(f);
	for (owner[0] = 'a'; owner[0] <= 'y'; owner[0]++)
		assert_true(grace_may_reclaim(g, &w));
	grace_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_held_state_may_reclaim),
		TEST(it_is_over_when_all_are_back),
		TEST(it_is_over_after_a_lease),
		TEST(it_waits_for_who_is_reclaiming),
		TEST(a_crash_in_the_grace_period_loses_nobody),
		TEST(who_holds_nothing_is_struck_out),
		TEST(any_owner_can_be_written_down),
		TEST(a_damaged_record_does_no_harm),
		TEST(a_record_with_a_hole_is_not_taken),
		TEST(clients_without_a_user_may_reclaim),
		TEST(it_is_written_as_the_server),
		TEST(a_place_that_cannot_be_written_is_told_at_once),
		TEST(without_a_place_nothing_is_kept),
		TEST(nothing_new_before_the_old_is_back),
		TEST(a_client_that_goes_is_forgotten),
		TEST(idle_clients_make_room),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("serve-grace", tests, NULL, NULL);
}
