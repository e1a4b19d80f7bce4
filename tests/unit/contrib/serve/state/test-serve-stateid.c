/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's stateids (state/stateid).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "contrib/serve/state/stateid.h"
#include "tests/unit/contrib/serve/serve-env.h"

#define RW OPEN4_SHARE_ACCESS_BOTH

static struct client *client_of(struct serve_env *e)
{
	struct client *c;

	mutex_lock(&e->sv.state.lock);
	c = client_find_locked(&e->sv.state, e->clientid);
	mutex_unlock(&e->sv.state.lock);
	assert_non_null(c);
	return c;
}

static uint32_t test_one(struct serve_env *e, const struct nfs4_stateid *sid)
{
	struct client *c = client_of(e);
	uint32_t status = st_test(c, sid);

	client_unref(&e->sv.state, c);
	return status;
}

static void one_is_never_given_twice(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid[100];
	struct nfs_fh fh;

	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid[i], &fh), NFS4_OK);
		assert_int_equal(env_close(e, &fh, &sid[i]), NFS4_OK);
		for (unsigned k = 0; k <= i; k++) {
			assert_true(k == i || memcmp(sid[k].other, sid[i].other, 12) != 0);
			assert_int_equal(test_one(e, &sid[k]), NFS4ERR_BAD_STATEID);
		}
	}
}

static void old_and_future_ones_are_told_apart(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	for (int i = 0; i < 3; i++)
		assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(sid.seqid, 3);
	assert_int_equal(test_one(e, &sid), NFS4_OK);
	sid.seqid = 0; /* the current seqid */
	assert_int_equal(test_one(e, &sid), NFS4_OK);
	for (sid.seqid = 1; sid.seqid < 3; sid.seqid++)
		assert_int_equal(test_one(e, &sid), NFS4ERR_OLD_STATEID);
	sid.seqid = 4;
	assert_int_equal(test_one(e, &sid), NFS4ERR_BAD_STATEID);
}

/* Section 8.2.2: 0 is left out. */
static void the_seqid_goes_round(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid, old;
	struct client *c;
	struct nfs_fh fh;
	struct st *st;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	c = client_of(e);
	assert_int_equal(st_get(c, NULL, &sid, ST_OPEN, &st), NFS4_OK);
	st->sid.seqid = UINT32_MAX;
	st_put(&e->sv.state, st);
	client_unref(&e->sv.state, c);
	old = sid;
	old.seqid = UINT32_MAX;
	assert_int_equal(test_one(e, &old), NFS4_OK);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(sid.seqid, 1);
	assert_int_equal(test_one(e, &sid), NFS4_OK);
	assert_int_equal(test_one(e, &old), NFS4ERR_OLD_STATEID);
}

static void any_other_bits_are_none_of_ours(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid, bad;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	for (unsigned bit = 0; bit < 8 * sizeof(sid.other); bit++) {
		bad = sid;
		bad.other[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(test_one(e, &bad), NFS4ERR_BAD_STATEID);
	}
	assert_int_equal(test_one(e, &sid), NFS4_OK);
}

static void it_is_good_for_its_client_file_and_kind(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid, other;
	struct nfs_fh fh, otherfh;
	struct nfs4_lock_res r;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "g", true, RW, 0, "o", &other, &otherfh), NFS4_OK);
	assert_int_equal(env_write(e, &otherfh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_BAD_STATEID);
	assert_int_equal(env_lock(e, &fh, &sid, "l", WRITE_LT, 0, 1, &r), NFS4_OK);
	assert_int_equal(env_close(e, &fh, &r.stateid), NFS4ERR_BAD_STATEID);
	assert_int_equal(env_unlock(e, &fh, &sid, 0, 1), NFS4ERR_BAD_STATEID);
	env_mount(e, "another");
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_BAD_STATEID);
	assert_int_equal(test_one(e, &sid), NFS4ERR_BAD_STATEID);
}

static void the_table_grows_and_empties(void **state)
{
	struct serve_env *e = *state;
	static struct nfs4_stateid sid[1000];
	struct client *c = client_of(e);
	struct nfs_fh fh;
	char owner[16];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(owner, sizeof(owner), "%u", i);
		assert_int_equal(env_open(e, "f", true, RW, 0, owner, &sid[i], &fh), NFS4_OK);
	}
	assert_int_equal(c->nused, 1000);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(test_one(e, &sid[i]), NFS4_OK);
	for (unsigned i = 0; i < 1000; i += 2)
		assert_int_equal(env_close(e, &fh, &sid[i]), NFS4_OK);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(test_one(e, &sid[i]), i % 2 ? NFS4_OK : NFS4ERR_BAD_STATEID);
	for (unsigned i = 1; i < 1000; i += 2)
		assert_int_equal(env_close(e, &fh, &sid[i]), NFS4_OK);
	assert_false(st_holds_any(c));
	assert_int_equal(c->nopens, 0);
	assert_int_equal(e->sv.state.nopens, 0);
	client_unref(&e->sv.state, c);
}

static void the_current_stateid_can_be_freed(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_open_args o = {.share_access = OPEN4_SHARE_ACCESS_READ,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.name = {"f", 1}};
	struct nfs4_stateid_args f = {.stateid = nfs4_stateid_current};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &o);
	nfs4_put_stateid_args(&e->args, OP_FREE_STATEID, &f);
	assert_int_equal(env_run(e, 4), NFS4ERR_LOCKS_HELD); /* the file is open */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(one_is_never_given_twice),
		TEST(old_and_future_ones_are_told_apart),
		TEST(the_seqid_goes_round),
		TEST(any_other_bits_are_none_of_ours),
		TEST(it_is_good_for_its_client_file_and_kind),
		TEST(the_table_grows_and_empties),
		TEST(the_current_stateid_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
