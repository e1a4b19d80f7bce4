/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's byte-range locks (state/lock, state/ranges).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "contrib/serve/state/client.h"
#include "tests/unit/contrib/serve/serve-env.h"

#define RW OPEN4_SHARE_ACCESS_BOTH

static void byte_ranges_are_locked_like_posix(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_lock_res r, mine;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "A", WRITE_LT, 0, 100, &mine), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "B", READ_LT, 99, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.offset, 0);
	assert_int_equal(r.denied.length, 100);
	assert_int_equal(r.denied.type, WRITE_LT);
	assert_int_equal(env_lock(e, &fh, &sid, "B", READ_LT, 100, 1, &r), NFS4_OK);
	/* a hole in the middle */
	assert_int_equal(env_unlock(e, &fh, &mine.stateid, 40, 20), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "B", WRITE_LT, 40, 20, &r), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "B", WRITE_LT, 39, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(env_lock(e, &fh, &sid, "B", WRITE_LT, 60, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.offset, 60);
	assert_int_equal(r.denied.length, 40);
	assert_int_equal(env_lock(e, &fh, &sid, "A", WRITE_LT, 0, 0, &r), NFS4ERR_INVAL);
	assert_int_equal(
		env_lock(e, &fh, &sid, "A", WRITE_LT, 3, UINT64_MAX - 1, &r), NFS4ERR_INVAL);
	assert_int_equal(env_lock(e, &fh, &sid, "A", READ_LT, 1000, UINT64_MAX, &r), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "B", WRITE_LT, UINT64_MAX, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.length, NFS4_LENGTH_EOF);
	/* closing ends all locks */
	sid.seqid = 0;
	assert_int_equal(env_close(e, &fh, &sid), NFS4_OK);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "B", WRITE_LT, 0, UINT64_MAX, &r), NFS4_OK);
}

static void one_user_cannot_lock_everything(void **state)
{
	struct serve_env *e = *state;
	uint32_t most = STATE_MAX_RANGES / 8 * 7, n = STATE_MAX_RANGES / 64 + 1;
	struct nfs4_lock_res mine;
	struct nfs4_stateid sid;
	struct client *c = TAILQ_FIRST(&e->sv.state.clients);
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(env_lock(e, &fh, &sid, "A", WRITE_LT, 2 * i, 1, &mine), NFS4_OK);
	c->nranges += most - n; /* as if the client held these ranges elsewhere */
	assert_int_equal(
		env_lock(e, &fh, &sid, "A", WRITE_LT, 2 * n, 1, &mine), NFS4ERR_SERVERFAULT);
	assert_int_equal(
		env_lock(e, &fh, &sid, "B", WRITE_LT, 2 * n, 1, &mine), NFS4ERR_SERVERFAULT);
	e->uid = 4711;
	assert_int_equal(env_lock(e, &fh, &sid, "C", WRITE_LT, 2 * n, 1, &mine), NFS4_OK);
	e->uid = 0;
	c->nranges -= most - n;
	assert_int_equal(env_lock(e, &fh, &sid, "B", WRITE_LT, 3 * n, 1, &mine), NFS4_OK);
}

static void locked_ranges_are_bounded(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_lock_res mine, r;
	struct nfs4_stateid sid;
	struct client *c = TAILQ_FIRST(&e->sv.state.clients);
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "A", WRITE_LT, 0, UINT64_MAX, &mine), NFS4_OK);
	for (uint64_t i = 1; i < 5; i++)
		assert_int_equal(env_unlock(e, &fh, &mine.stateid, 10 * i, 1), NFS4_OK);
	assert_int_equal(c->nranges, 5);
	c->nranges += STATE_MAX_RANGES - 5; /* as if the client held these ranges elsewhere */
	assert_int_equal(env_unlock(e, &fh, &mine.stateid, 5, 1), NFS4ERR_SERVERFAULT);
	assert_int_equal(env_lock(e, &fh, &sid, "A", READ_LT, 5, 1, &r), NFS4ERR_SERVERFAULT);
	/* a request that does not add ranges is allowed */
	assert_int_equal(env_unlock(e, &fh, &mine.stateid, 0, 10), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &sid, "A", READ_LT, 5, 1, &r), NFS4_OK);
	assert_int_equal(env_unlock(e, &fh, &mine.stateid, 0, UINT64_MAX), NFS4_OK);
	assert_int_equal(c->nranges, STATE_MAX_RANGES - 5);
	c->nranges = 0;
	assert_int_equal(env_lock(e, &fh, &sid, "A", READ_LT, 5, 1, &r), NFS4_OK);
	sid.seqid = 0;
	assert_int_equal(env_close(e, &fh, &sid), NFS4_OK);
	assert_int_equal(c->nranges, 0);
}

/* An owner that has locked a range through one open locks the range through another one. */
static void a_refused_lock_leaves_what_the_owner_has(void **state)
{
	struct serve_env *e = *state;
	struct client *c = TAILQ_FIRST(&e->sv.state.clients);
	struct nfs4_stateid one, two;
	struct nfs4_lock_res r;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &one, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RW, 0, "p", &two, &fh), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &one, "A", WRITE_LT, 0, 100, &r), NFS4_OK);
	c->nranges += STATE_MAX_RANGES; /* as if the client held these ranges elsewhere */
	assert_int_equal(env_lock(e, &fh, &two, "A", WRITE_LT, 0, 100, &r), NFS4ERR_SERVERFAULT);
	assert_int_equal(env_lock(e, &fh, &two, "A", WRITE_LT, 9, 1, &r), NFS4ERR_SERVERFAULT);
	c->nranges -= STATE_MAX_RANGES;
	assert_int_equal(env_lock(e, &fh, &two, "B", READ_LT, 0, 100, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.length, 100);
	/* in the middle: the first open keeps both ends */
	assert_int_equal(env_lock(e, &fh, &two, "A", READ_LT, 40, 20, &r), NFS4_OK);
	assert_int_equal(c->nranges, 3);
	assert_int_equal(env_lock(e, &fh, &two, "B", READ_LT, 40, 20, &r), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &two, "B", READ_LT, 39, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(env_lock(e, &fh, &two, "B", READ_LT, 60, 1, &r), NFS4ERR_DENIED);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(byte_ranges_are_locked_like_posix),
		TEST(locked_ranges_are_bounded),
		TEST(one_user_cannot_lock_everything),
		TEST(a_refused_lock_leaves_what_the_owner_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
