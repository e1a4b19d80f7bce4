/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's READDIR (ops/dir, v4/ops_readdir).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "tests/unit/contrib/serve/serve-env.h"

static void make_files(struct serve_env *e, unsigned n)
{
	char path[128], name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "entry-%u", i);
		env_path(e, name, path, sizeof(path));
		assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0644)), 0);
	}
}

/* Reads the root in pieces of maxcount. Returns the number of entries. */
static unsigned list(struct serve_env *e, uint32_t maxcount, unsigned *pieces)
{
	struct nfs4_readdir_args a = {.maxcount = maxcount,
		.want = nfs4_bits(FATTR4_TYPE, FATTR4_FILEID, FATTR4_FILEHANDLE, -1)};
	unsigned n = 0;
	bool eof = false;

	*pieces = 0;
	while (!eof) {
		struct nfs4_readdir_res r;
		struct nfs4_entry ent;

		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_readdir_args(&e->args, &a);
		assert_int_equal(env_run(e, 3), NFS4_OK);
		env_expect(e, OP_PUTROOTFH, NFS4_OK);
		env_expect(e, OP_READDIR, NFS4_OK);
		assert_int_equal(nfs4_get_readdir_res(&e->res, NFS4_OK, &r), 0);
		memcpy(a.verf, r.verf, sizeof(a.verf));
		for (int i = 0;; i++) {
			struct nfs4_attrs attrs;
			int got = nfs4_get_entry(&e->res, &ent, &eof);

			assert_true(got >= 0);
			assert_true(got || i || eof);
			if (!got)
				break;
			assert_int_equal(nfs4_attrs_decode(&ent.attrs, &attrs, NULL), 0);
			assert_int_equal(attrs.attr.type, NFS_REG);
			assert_true(attrs.fh.len > 0);
			a.cookie = ent.cookie;
			assert_true(a.cookie > 2);
			n++;
		}
		++*pieces;
	}
	return n;
}

static void directories_are_read_in_pieces(void **state)
{
	struct serve_env *e = *state;
	unsigned pieces;

	make_files(e, 300);
	assert_int_equal(list(e, 1024, &pieces), 300);
	assert_true(pieces > 20);
	assert_int_equal(list(e, 1 << 20, &pieces), 300);
	assert_true(pieces <= 2);
}

static void a_reply_and_a_cookie_are_checked(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_readdir_args a = {.maxcount = 16, .want = nfs4_bits(FATTR4_TYPE, -1)};

	make_files(e, 1);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_readdir_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_TOOSMALL);
	a.cookie = 2;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_readdir_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_BAD_COOKIE);
}

/* Sends READDIR of the root. Returns the status. */
static uint32_t readdir_root(
	struct serve_env *e, const struct nfs4_readdir_args *a, struct nfs4_readdir_res *r)
{
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_readdir_args(&e->args, a);
	if (env_run(e, 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_READDIR, NFS4_OK);
	assert_int_equal(nfs4_get_readdir_res(&e->res, NFS4_OK, r), 0);
	return NFS4_OK;
}

/* The names behind a cookie are as secret as the first names, also while the server keeps the
 * stream of a user that may read the names. */
static void each_piece_asks_for_permission(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_readdir_args a = {.maxcount = 1024, .want = nfs4_bits(FATTR4_FILEID, -1)};
	struct nfs4_readdir_res r;
	struct nfs4_entry ent;
	bool eof;

	if (geteuid() != 0)
		skip();
	ident_init(false);
	make_files(e, 300);
	assert_int_equal(readdir_root(e, &a, &r), NFS4_OK);
	memcpy(a.verf, r.verf, sizeof(a.verf));
	while (nfs4_get_entry(&e->res, &ent, &eof) > 0)
		a.cookie = ent.cookie;
	assert_false(eof);
	e->uid = 1000; /* the root's mode is 0700 */
	assert_int_equal(readdir_root(e, &a, &r), NFS4ERR_ACCESS);
	e->uid = 0;
	assert_int_equal(readdir_root(e, &a, &r), NFS4_OK);
	assert_int_equal(nfs4_get_entry(&e->res, &ent, &eof), 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(directories_are_read_in_pieces), TEST(a_reply_and_a_cookie_are_checked),
		TEST(each_piece_asks_for_permission), /* last: identities are switched */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
