/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's attributes (ops/attr, v4/ops_attr).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/export/obj_table.h"
#include "tests/unit/contrib/serve/serve-env.h"

#define RW OPEN4_SHARE_ACCESS_BOTH

static uint32_t create_masked(struct serve_env *e, const char *name, bool dir)
{
	struct nfs_sattr set = {.mask = NFS_SET_MODE | NFS_SET_UMASK, .mode = 0777, .umask = 027};
	struct nfs4_open_args o = {.share_access = RW,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = GUARDED4,
		.name = {name, (uint32_t)strlen(name)}};
	struct nfs4_create_args mk = {.type = NF4DIR, .name = o.name};
	uint8_t vals[NFS4_SATTR_MAX];
	uint32_t status;

	nfs4_sattr_encode(&set, vals, &o.attrs, NULL);
	mk.attrs = o.attrs;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	if (dir)
		nfs4_put_create_args(&e->args, &mk);
	else
		nfs4_put_open_args(&e->args, &o);
	status = env_run(e, 3);
	assert_int_equal(umask(0), 0); /* the umask was for this call only */
	return status;
}

static mode_t mode_of(struct serve_env *e, const char *name)
{
	char path[128];
	struct stat st;

	env_path(e, name, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void the_umask_counts_unless_a_default_acl_does(void **state)
{
	/* version 2, user:: rwx, group:: rwx, other:: r-x */
	static const uint8_t acl[] = {2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255,
		255, 255, 255, 32, 0, 5, 0, 255, 255, 255, 255};
	struct nfs_sattr set = {.mask = NFS_SET_MODE | NFS_SET_UMASK};
	struct nfs4_setattr_args sa = {0};
	struct serve_env *e = *state;
	uint8_t vals[NFS4_SATTR_MAX];

	assert_int_equal(create_masked(e, "one", false), NFS4ERR_ATTRNOTSUPP);
	e->minor = 2;
	assert_int_equal(create_masked(e, "one", false), NFS4_OK);
	assert_int_equal(mode_of(e, "one"), 0750);
	assert_int_equal(create_masked(e, "one", false), NFS4ERR_EXIST);
	assert_int_equal(create_masked(e, "dir", true), NFS4_OK);
	assert_int_equal(mode_of(e, "dir"), 0750);
	/* no file is made: no umask */
	nfs4_sattr_encode(&set, vals, &sa.attrs, NULL);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_setattr_args(&e->args, &sa);
	assert_int_equal(env_run(e, 3), NFS4ERR_INVAL);
	if (setxattr(e->dir, "system.posix_acl_default", acl, sizeof(acl), 0) != 0) {
		print_message("# no ACLs in /tmp\n");
		return;
	}
	assert_int_equal(create_masked(e, "two", false), NFS4_OK);
	assert_int_equal(mode_of(e, "two"), 0775);
}

static void the_mode_of_a_link_is_left_alone(void **state)
{
	struct serve_env *e = *state;
	struct nfs_sattr set = {.mask = NFS_SET_MODE, .mode = 0600};
	struct nfs4_setattr_args a = {0};
	uint8_t vals[NFS4_SATTR_MAX];
	char path[128];

	env_path(e, "link", path, sizeof(path));
	assert_int_equal(symlink("nowhere", path), 0);
	nfs4_sattr_encode(&set, vals, &a.attrs, NULL);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "link");
	nfs4_put_setattr_args(&e->args, &a);
	assert_int_equal(env_run(e, 4), NFS4_OK);
}

static uint32_t expire_type(struct serve_env *e)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits(FATTR4_FH_EXPIRE_TYPE, -1)};
	struct nfs4_fattr f;
	uint32_t v;

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_getattr_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_GETATTR, NFS4_OK);
	assert_int_equal(nfs4_get_fattr(&e->res, &f), 0);
	assert_int_equal(f.vals.len, 4);
	memcpy(&v, f.vals.data, 4);
	return be32toh(v);
}

static void handles_are_only_called_persistent_if_they_are(void **state)
{
	struct serve_env *e = *state;
	struct handle_id *id = &e->sv.objs->root->id;

	assert_int_equal(expire_type(e), FH4_PERSISTENT);
	e->sv.objs->by_handle = false; /* then the server must look for the file */
	assert_int_equal(expire_type(e), FH4_PERSISTENT);
	id->kh_len = 0;
	id->birth = 1;
	assert_int_equal(expire_type(e), FH4_PERSISTENT);
	id->birth = 0; /* nothing tells the file from a later one with the same number */
	assert_int_equal(expire_type(e), FH4_VOLATILE_ANY | FH4_NOEXPIRE_WITH_OPEN);
}

/* The attribute bit (one word), as the last of n operations, GETATTR, has told. */
static uint64_t last_attr(struct serve_env *e, bool wide)
{
	uint64_t v = 0;

	for (size_t i = wide ? 8 : 4; i > 0; i--)
		v = v << 8 | e->reply[e->req.res.len - i];
	return v;
}

static void put_getattr(struct serve_env *e, unsigned bit)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits((int)bit, -1)};

	nfs4_put_getattr_args(&e->args, &a);
}

static void attributes_behind_a_change_are_new(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_create_args mk = {.type = NF4DIR, .name = {"d", 1}};
	struct nfs4_setattr_args set = {0};
	struct nfs_sattr what = {.mask = NFS_SET_MODE, .mode = 01750};
	uint8_t mode[NFS4_SATTR_MAX], size[NFS4_SATTR_MAX];
	struct nfs4_stateid sid;
	uint64_t before;
	struct nfs_fh fh;

	/* a mode that mkdir() leaves bits out of */
	nfs4_sattr_encode(&what, mode, &mk.attrs, NULL);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_create_args(&e->args, &mk);
	put_getattr(e, FATTR4_MODE);
	assert_int_equal(env_run(e, 4), NFS4_OK);
	assert_int_equal(last_attr(e, false), 01750);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "f");
	put_getattr(e, FATTR4_SIZE);
	assert_int_equal(env_run(e, 4), NFS4_OK);
	assert_int_equal(last_attr(e, true), 0);
	/* found, read, changed and read again in one COMPOUND */
	what = (struct nfs_sattr){.mask = NFS_SET_SIZE, .size = 4711};
	nfs4_sattr_encode(&what, size, &set.attrs, NULL);
	set.stateid = sid;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "f");
	put_getattr(e, FATTR4_SIZE);
	nfs4_put_setattr_args(&e->args, &set);
	put_getattr(e, FATTR4_SIZE);
	assert_int_equal(env_run(e, 6), NFS4_OK);
	assert_int_equal(last_attr(e, true), 4711);
	/* of the directory, after a file was made inside */
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	put_getattr(e, FATTR4_NUMLINKS);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	before = last_attr(e, false);
	mk.name.s = "e";
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	put_getattr(e, FATTR4_NUMLINKS);
	nfs4_put_op(&e->args, OP_SAVEFH);
	nfs4_put_create_args(&e->args, &mk);
	nfs4_put_op(&e->args, OP_RESTOREFH);
	put_getattr(e, FATTR4_NUMLINKS);
	assert_int_equal(env_run(e, 7), NFS4_OK);
	assert_int_equal(last_attr(e, false), before + 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_umask_counts_unless_a_default_acl_does),
		TEST(the_mode_of_a_link_is_left_alone),
		TEST(handles_are_only_called_persistent_if_they_are),
		TEST(attributes_behind_a_change_are_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
