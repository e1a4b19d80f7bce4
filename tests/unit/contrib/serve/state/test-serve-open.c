/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's opens and their share reservations (state/open, v4/ops_open).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/state/client.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/log.h"

#define RD OPEN4_SHARE_ACCESS_READ
#define WR OPEN4_SHARE_ACCESS_WRITE
#define RW OPEN4_SHARE_ACCESS_BOTH

static void open_modes_and_shares_hold(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid r, w, d;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, WR, 0, "w", &w, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "r", &r, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &r, 0, (char[]){"x"}, 1), NFS4ERR_OPENMODE);
	assert_int_equal(env_open(e, "f", false, RD, OPEN4_SHARE_DENY_WRITE, "d", &d, &fh),
		NFS4ERR_SHARE_DENIED);
	assert_int_equal(env_close(e, &fh, &w), NFS4_OK);
	assert_int_equal(
		env_open(e, "f", false, RD, OPEN4_SHARE_DENY_WRITE, "d", &d, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, WR, 0, "w", &w, &fh), NFS4ERR_SHARE_DENIED);
	assert_int_equal(
		env_write(e, &fh, &nfs4_stateid_anonymous, 0, (char[]){"x"}, 1), NFS4ERR_LOCKED);
}

/* Section 9.7: each open names its own access and the access denied to others. */
static void shares_conflict_both_ways(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid a, b;
	struct nfs_fh fh;

	for (uint32_t first = 0; first < 12; first++) {
		uint32_t access = 1 + first % 3, deny = first / 3;

		assert_int_equal(env_open(e, "f", true, access, deny, "a", &a, &fh), NFS4_OK);
		for (uint32_t second = 0; second < 12; second++) {
			uint32_t access2 = 1 + second % 3, deny2 = second / 3;
			bool in_the_way = (access & deny2) || (access2 & deny);

			assert_int_equal(env_open(e, "f", false, access2, deny2, "b", &b, &fh),
				in_the_way ? NFS4ERR_SHARE_DENIED : NFS4_OK);
			if (!in_the_way)
				assert_int_equal(env_close(e, &fh, &b), NFS4_OK);
		}
		assert_int_equal(env_close(e, &fh, &a), NFS4_OK);
	}
}

static void one_owner_is_not_in_his_own_way(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid a, b;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, OPEN4_SHARE_DENY_BOTH, "o", &a, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RW, 0, "o", &b, &fh), NFS4_OK);
	assert_int_equal(b.seqid, a.seqid + 1);
	env_mount(e, "another"); /* the same name at another client is another owner */
	assert_int_equal(env_open(e, "f", false, RD, 0, "o", &b, &fh), NFS4ERR_SHARE_DENIED);
}

/* A client without a renewed lease keeps its opens until an open conflicts with a request. */
static void who_is_gone_is_in_nobodys_way(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid a, b;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RD, OPEN4_SHARE_DENY_WRITE, "o", &a, &fh), NFS4_OK);
	env_mount(e, "another");
	assert_int_equal(env_open(e, "f", false, WR, 0, "o", &b, &fh), NFS4ERR_SHARE_DENIED);
	e->sv.state.lease_s = 0;
	TAILQ_FIRST(&e->sv.state.clients)->seen_ns = 0;
	assert_int_equal(env_open(e, "f", false, WR, 0, "o", &b, &fh), NFS4_OK);
	assert_int_equal(e->sv.state.nclients, 1);
}

static void a_close_ends_the_locks_of_its_open(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid a, b;
	struct nfs4_lock_res r;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "a", &a, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RW, 0, "b", &b, &fh), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &a, "A", WRITE_LT, 0, 10, &r), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &b, "B", WRITE_LT, 10, 10, &r), NFS4_OK);
	assert_int_equal(env_close(e, &fh, &a), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &b, "C", WRITE_LT, 0, 10, &r), NFS4_OK);
	assert_int_equal(env_lock(e, &fh, &b, "C", WRITE_LT, 10, 10, &r), NFS4ERR_DENIED);
}

static void opening_again_widens_the_same_open(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid first, second;
	struct nfs4_open_downgrade_args a = {.share_access = RD};
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RD, 0, "o", &first, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, WR, 0, "o", &second, &fh), NFS4_OK);
	assert_memory_equal(first.other, second.other, sizeof(first.other));
	assert_int_equal(second.seqid, first.seqid + 1);
	assert_int_equal(env_write(e, &fh, &first, 0, (char[]){"x"}, 1), NFS4ERR_OLD_STATEID);
	assert_int_equal(env_write(e, &fh, &second, 0, (char[]){"x"}, 1), NFS4_OK);
	a.stateid = second;
	env_begin(e, true);
	env_put_fh(e, &fh);
	nfs4_put_open_downgrade_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	second.seqid = 0; /* the current seqid */
	assert_int_equal(env_write(e, &fh, &second, 0, (char[]){"x"}, 1), NFS4ERR_OPENMODE);
}

static void one_client_cannot_open_everything(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid first, sid;
	struct nfs_fh fh, other;
	char path[128], said[512];

	e->sv.state.max_opens = 4;
	assert_int_equal(env_open(e, "f", true, RD, 0, "a", &first, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "b", &sid, &fh), NFS4_OK);
	log_hold();
	assert_int_equal(env_open(e, "f", false, RD, 0, "c", &sid, &fh), NFS4ERR_NOSPC);
	log_release(said, sizeof(said)); /* the log tells the remedy */
	assert_non_null(strstr(said, "limit of open files"));
	assert_int_equal(env_open(e, "new", true, RD, 0, "c", &sid, &fh), NFS4ERR_NOSPC);
	env_path(e, "new", path, sizeof(path));
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(env_open(e, "f", false, RD, 0, "b", &sid, &fh), NFS4_OK);
	assert_int_equal(env_close(e, &fh, &first), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "c", &sid, &fh), NFS4_OK);
	/* two others take the rest, until a client that has gone makes room */
	env_mount(e, "second");
	assert_int_equal(env_open(e, "f", false, RD, 0, "a", &sid, &other), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "b", &sid, &other), NFS4_OK);
	env_mount(e, "third");
	assert_int_equal(env_open(e, "f", false, RD, 0, "a", &sid, &other), NFS4ERR_DELAY);
	TAILQ_FIRST(&e->sv.state.clients)->seen_ns = 0;
	e->sv.state.lease_s = 0;
	assert_int_equal(env_open(e, "f", false, RD, 0, "a", &sid, &other), NFS4_OK);
	assert_int_equal(e->sv.state.nopens, 3);
	/* another descriptor counts as another open */
	assert_int_equal(env_open(e, "f", false, WR, 0, "a", &sid, &other), NFS4_OK);
	assert_int_equal(e->sv.state.nopens, 4);
	assert_int_equal(env_close(e, &other, &sid), NFS4_OK);
	assert_int_equal(e->sv.state.nopens, 2);
}

/* Users of one mount are one client. */
static void one_user_cannot_open_everything(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	char owner[16], said[512];
	unsigned n = 0;

	e->sv.state.max_opens = 384; /* 256 for one client; the last 32 not for holders of many */
	share_limit(&e->sv.state.share, SHARE_OPENS, 384, 256);
	assert_int_equal(env_open(e, "f", true, RD, 0, "first", &sid, &fh), NFS4_OK);
	log_hold();
	do
		snprintf(owner, sizeof(owner), "%u", ++n);
	while (n < 256 && env_open(e, "f", false, RD, 0, owner, &sid, &fh) == NFS4_OK);
	log_release(said, sizeof(said));
	assert_non_null(strstr(said, "not for user 0"));
	assert_int_equal(n, 224);
	assert_int_equal(e->head.status, NFS4ERR_NOSPC);
	assert_int_equal(env_open(e, "new", true, RD, 0, owner, &sid, &fh), NFS4ERR_NOSPC);
	e->uid = 4711;
	assert_int_equal(env_open(e, "new", true, RD, 0, "other", &sid, &fh), NFS4_OK);
	e->uid = 0;
	assert_int_equal(env_open(e, "f", false, RD, 0, owner, &sid, &fh), NFS4ERR_NOSPC);
}

static void a_new_read_only_file_can_be_written_once(void **state)
{
	struct serve_env *e = *state;
	struct nfs_sattr set = {.mask = NFS_SET_MODE, .mode = 0444};
	uint8_t buf[NFS4_SATTR_MAX];
	struct nfs4_open_args a = {.share_access = RW,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = GUARDED4,
		.name = {"ro", 2}};
	struct nfs4_open_res r;

	nfs4_sattr_encode(&set, buf, &a.attrs, NULL);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_OPEN, NFS4_OK);
	assert_int_equal(nfs4_get_open_res(&e->res, NFS4_OK, &r), 0);
	assert_true(nfs4_bit(&r.attrset, FATTR4_MODE));
	/* in one COMPOUND with the current stateid */
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	a.create = false;
	nfs4_put_open_args(&e->args, &a);
	nfs4_put_write_args(&e->args, &(struct nfs4_write_args){.stateid = nfs4_stateid_current,
					      .data = SEG_LIST_MEM((char[]){"abc"}, 3)});
	assert_int_equal(env_run(e, 4), NFS4_OK);
	a.create = true;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_EXIST);
}

static uint32_t exclusive(struct serve_env *e, uint8_t verf)
{
	struct nfs4_open_args a = {.share_access = RW,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = EXCLUSIVE4_1,
		.name = {"excl", 4}};

	memset(a.verf, verf, sizeof(a.verf));
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	return env_run(e, 3);
}

static void exclusive_create_is_idempotent_by_its_verifier(void **state)
{
	struct serve_env *e = *state;

	assert_int_equal(exclusive(e, 0x81), NFS4_OK);
	assert_int_equal(exclusive(e, 0x81), NFS4_OK);
	assert_int_equal(exclusive(e, 0x82), NFS4ERR_EXIST);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(open_modes_and_shares_hold),
		TEST(shares_conflict_both_ways),
		TEST(one_owner_is_not_in_his_own_way),
		TEST(who_is_gone_is_in_nobodys_way),
		TEST(a_close_ends_the_locks_of_its_open),
		TEST(opening_again_widens_the_same_open),
		TEST(one_client_cannot_open_everything),
		TEST(one_user_cannot_open_everything),
		TEST(a_new_read_only_file_can_be_written_once),
		TEST(exclusive_create_is_idempotent_by_its_verifier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
