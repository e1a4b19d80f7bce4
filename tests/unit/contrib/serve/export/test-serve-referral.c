/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/referral: an absent file system, and the options that make it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/export/referral.h"
#include "nfsproto/v4/ops/nfs4_locations.h"
#include "tests/unit/contrib/serve/serve-env.h"

static void make_dir(struct serve_env *e, const char *name)
{
	char path[300];

	env_path(e, name, path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
}

static int setup(void **state)
{
	struct serve_env *e;

	env_setup(state);
	e = *state;
	make_dir(e, "a");
	make_dir(e, "a/b");
	return 0;
}

static int teardown(void **state)
{
	struct serve_env *e = *state;

	referrals_free(e->sv.referrals);
	return env_teardown(state);
}

static bool refer(struct serve_env *e, const char *const *specs, unsigned n, struct err *err)
{
	*err = (struct err){0};
	e->sv.referrals = referrals_new(e->sv.objs, specs, n, err);
	return e->sv.referrals;
}

static const char *const ab[] = {
	"/a/b=nas.example:/x/y", "/a/b=192.0.2.1:20049:/", "/a/b=[2001:db8::1]:2049:/z"};

static void begin_in_a(struct serve_env *e)
{
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "a");
}

static void put_getattr(struct serve_env *e, struct nfs4_bitmap want)
{
	struct nfs4_getattr_args a = {.want = want};

	nfs4_put_getattr_args(&e->args, &a);
}

static void the_directory_is_absent(void **state)
{
	struct serve_env *e = *state;
	struct err err;

	assert_true(refer(e, ab, 1, &err));
	begin_in_a(e);
	env_put_lookup(e, "b");
	assert_int_equal(env_run(e, 4), NFS4_OK);
	begin_in_a(e);
	env_put_lookup(e, "b");
	nfs4_put_op(&e->args, OP_GETFH);
	assert_int_equal(env_run(e, 5), NFS4ERR_MOVED);
	begin_in_a(e);
	env_put_lookup(e, "b");
	put_getattr(e, nfs4_bits(FATTR4_TYPE, -1));
	assert_int_equal(env_run(e, 5), NFS4ERR_MOVED);
	begin_in_a(e);
	env_put_lookup(e, "b");
	env_put_lookup(e, "c");
	assert_int_equal(env_run(e, 5), NFS4ERR_MOVED);
	begin_in_a(e); /* its directory is not */
	nfs4_put_op(&e->args, OP_GETFH);
	assert_int_equal(env_run(e, 4), NFS4_OK);
}

static void the_places_are_told_in_order(void **state)
{
	struct serve_env *e = *state;
	struct nfs_places *p;
	struct nfs4_attrs a;
	struct err err;

	assert_true(refer(e, ab, 3, &err));
	begin_in_a(e);
	env_put_lookup(e, "b");
	put_getattr(e, nfs4_bits(FATTR4_FSID, FATTR4_FS_LOCATIONS, FATTR4_TYPE,
			       FATTR4_MOUNTED_ON_FILEID, -1));
	assert_int_equal(env_run(e, 5), NFS4_OK);
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_LOOKUP, NFS4_OK);
	env_expect(e, OP_LOOKUP, NFS4_OK);
	env_expect(e, OP_GETATTR, NFS4_OK);
	assert_int_equal(nfs4_get_attrs(&e->res, &a, NULL), 0);
	assert_false(nfs4_bit(&a.mask, FATTR4_TYPE));
	assert_true(nfs4_bit(&a.mask, FATTR4_FSID));
	assert_true(a.mounted_on_fileid != 0);
	assert_int_equal(nfs4_locations_get(&a.fs_locations, NULL, &p), 3);
	assert_string_equal(p->place[0].server, "nas.example");
	assert_string_equal(p->place[0].path, "/x/y");
	assert_string_equal(p->place[1].server, "192.0.2.1.78.81");
	assert_string_equal(p->place[1].path, "/");
	assert_string_equal(p->place[2].server, "2001:db8::1.8.1");
	assert_string_equal(p->place[2].path, "/z");
	free(p);
}

static bool has_mounts; /* this process has mounts of its own */

/* The directory has two paths, of different lengths. */
static void a_directory_by_two_paths_has_all_places(void **state)
{
	static const char *const specs[] = {"/a/b=one.example:/1", "/another/b=two.example:/2"};
	struct serve_env *e = *state;
	char from[300], to[300];
	struct nfs_places *p;
	struct nfs4_attrs a;
	struct err err;

	make_dir(e, "another");
	env_path(e, "a", from, sizeof(from));
	env_path(e, "another", to, sizeof(to));
	if (!has_mounts || mount(from, to, NULL, MS_BIND, NULL)) {
		print_message("no bind mount: only root may make one\n");
		skip();
	}
	assert_true(refer(e, specs, 2, &err));
	begin_in_a(e);
	env_put_lookup(e, "b");
	put_getattr(e, nfs4_bits(FATTR4_FS_LOCATIONS, -1));
	assert_int_equal(env_run(e, 5), NFS4_OK);
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_LOOKUP, NFS4_OK);
	env_expect(e, OP_LOOKUP, NFS4_OK);
	env_expect(e, OP_GETATTR, NFS4_OK);
	assert_int_equal(nfs4_get_attrs(&e->res, &a, NULL), 0);
	assert_int_equal(nfs4_locations_get(&a.fs_locations, NULL, &p), 2);
	assert_string_equal(p->root, "/a/b");
	assert_string_equal(p->place[0].server, "one.example");
	assert_string_equal(p->place[1].path, "/2");
	free(p);
	assert_int_equal(umount2(to, MNT_DETACH), 0);
}

static uint32_t list_a(struct serve_env *e, struct nfs4_bitmap want)
{
	struct nfs4_readdir_args a = {.maxcount = 4096, .want = want};

	begin_in_a(e);
	nfs4_put_readdir_args(&e->args, &a);
	return env_run(e, 4);
}

static void a_listing_names_the_directory(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_readdir_res head;
	struct nfs4_entry ent;
	struct nfs4_attrs a;
	struct err err;
	bool eof;

	assert_true(refer(e, ab, 1, &err));
	for (int places = 0; places < 2; places++) {
		assert_int_equal(list_a(e, nfs4_bits(FATTR4_TYPE, FATTR4_RDATTR_ERROR,
						   places ? FATTR4_FS_LOCATIONS : -1, -1)),
			NFS4_OK);
		env_expect(e, OP_PUTROOTFH, NFS4_OK);
		env_expect(e, OP_LOOKUP, NFS4_OK);
		env_expect(e, OP_READDIR, NFS4_OK);
		assert_int_equal(nfs4_get_readdir_res(&e->res, NFS4_OK, &head), 0);
		assert_int_equal(nfs4_get_entry(&e->res, &ent, &eof), 1);
		assert_memory_equal(ent.name.s, "b", 1);
		assert_int_equal(nfs4_attrs_decode(&ent.attrs, &a, NULL), 0);
		assert_int_equal(a.rdattr_error, places ? NFS4_OK : NFS4ERR_MOVED);
		assert_false(nfs4_bit(&a.mask, FATTR4_TYPE));
	}
	assert_int_equal(list_a(e, nfs4_bits(FATTR4_TYPE, -1)), NFS4ERR_MOVED);
}

static void the_directory_cannot_be_removed_or_moved(void **state)
{
	const struct nfs4_name_args b = {.name = {"b", 1}};
	struct nfs4_rename_args to = {.from = {"b", 1}, .to = {"c", 1}};
	struct serve_env *e = *state;
	struct err err;

	assert_true(refer(e, ab, 1, &err));
	begin_in_a(e);
	nfs4_put_name_args(&e->args, OP_REMOVE, &b);
	assert_int_equal(env_run(e, 4), NFS4ERR_FILE_OPEN);
	begin_in_a(e);
	nfs4_put_op(&e->args, OP_SAVEFH);
	nfs4_put_rename_args(&e->args, &to);
	assert_int_equal(env_run(e, 5), NFS4ERR_FILE_OPEN);
}

static void a_wrong_option_is_explained(void **state)
{
	static const struct {
		const char *spec, *says;
	} cases[] = {
		{"", "/PATH=SERVER:/EXPORT is wanted"},
		{"a=b:/", "/PATH=SERVER:/EXPORT is wanted"},
		{"/a/b", "/PATH=SERVER:/EXPORT is wanted"},
		{"/a/b=host", "/PATH=SERVER:/EXPORT is wanted"},
		{"/a/b=:/x", "/PATH=SERVER:/EXPORT is wanted"},
		{"/a/b=host:2049:/x", "a port needs an address"},
		{"/a/b=192.0.2.1:0:/x", "lies in 1 to 65535"},
		{"/a/b=192.0.2.1:65536:/x", "lies in 1 to 65535"},
		{"/a/b=192.0.2.1::/x", "a port needs an address"},
		{"/a/c=host:/x", "make an empty one there"},
		{"/a/../a=host:/x", "make an empty one there"},
	};
	struct serve_env *e = *state;
	struct err err;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(refer(e, &cases[i].spec, 1, &err));
		assert_non_null(strstr(err.msg, cases[i].says));
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_directory_is_absent),
		TEST(the_places_are_told_in_order),
		TEST(a_directory_by_two_paths_has_all_places),
		TEST(a_listing_names_the_directory),
		TEST(the_directory_cannot_be_removed_or_moved),
		TEST(a_wrong_option_is_explained),
	};

	has_mounts = !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
