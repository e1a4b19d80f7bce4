/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ACLs through GETATTR and SETATTR, and on the disk, in the form of the kernel's attribute:
 * version 2, then tag, permissions and id of each entry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/unit/contrib/serve/serve-env.h"

#define ACCESS_XATTR  "system.posix_acl_access"
#define DEFAULT_XATTR "system.posix_acl_default"

enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 16, OTHER = 32 };

struct posix_entry {
	uint16_t tag, perm;
	uint32_t id;
};
#define NO_ID 0xffffffffu

struct fix {
	struct serve_env e;
	char file[128];
	bool have;
};

static uint32_t getattr(struct serve_env *e, const char *name, int bit, struct nfs4_attrs *a)
{
	struct nfs4_getattr_args g = {.want = nfs4_bits(bit, -1)};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	if (name)
		env_put_lookup(e, name);
	nfs4_put_getattr_args(&e->args, &g);
	if (env_run(e, name ? 4 : 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	if (name)
		env_expect(e, OP_LOOKUP, NFS4_OK);
	env_expect(e, OP_GETATTR, NFS4_OK);
	assert_int_equal(nfs4_get_attrs(&e->res, a, NULL), 0);
	return NFS4_OK;
}

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct nfs4_stateid sid;
	struct nfs4_attrs a;
	struct nfs_fh fh;

	if (!f)
		return -1;
	env_init(&f->e);
	env_mount(&f->e, "client");
	env_path(&f->e, "f", f->file, sizeof(f->file));
	assert_int_equal(
		env_open(&f->e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(chmod(f->file, 0640), 0);
	assert_int_equal(getattr(&f->e, NULL, FATTR4_SUPPORTED_ATTRS, &a), NFS4_OK);
	f->have = nfs4_bit(&a.supported, FATTR4_ACL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	env_finish(&f->e);
	free(f);
	return 0;
}

#define NEEDS_ACLS(f)                                                                              \
	do {                                                                                       \
		if (!(f)->have) {                                                                  \
			print_message("# built without libacl, or no ACLs in /tmp\n");             \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static void put_posix(const char *path, const char *xattr, const struct posix_entry *e, size_t n)
{
	uint8_t buf[4 + 8 * 32] = {2};

	assert_true(n <= 32);
	memcpy(buf + 4, e, 8 * n); /* little endian, as in the kernel */
	assert_int_equal(setxattr(path, xattr, buf, 4 + 8 * n, 0), 0);
}

static void expect_posix(const char *path, const char *xattr, const struct posix_entry *e, size_t n)
{
	uint8_t buf[4 + 8 * 32];

	assert_int_equal(getxattr(path, xattr, buf, sizeof(buf)), (ssize_t)(4 + 8 * n));
	assert_memory_equal(buf + 4, e, 8 * n);
}

struct want {
	uint32_t type, flag, mask;
	const char *who;
};

#define R_	 ACE4_READ_DATA
#define W_	 (ACE4_WRITE_DATA | ACE4_APPEND_DATA)
#define X_	 ACE4_EXECUTE
#define ALL_	 (ACE4_READ_ATTRIBUTES | ACE4_READ_ACL | ACE4_SYNCHRONIZE)
#define OWNER_	 (ALL_ | ACE4_WRITE_ATTRIBUTES | ACE4_WRITE_ACL)
#define INHERIT_ (ACE4_FILE_INHERIT | ACE4_DIRECTORY_INHERIT | ACE4_INHERIT_ONLY)

static void expect_aces(struct fix *f, const char *name, const struct want *want, uint32_t n)
{
	struct nfs4_attrs a;
	struct nfs4_ace ace;
	struct xdr_in x;

	assert_int_equal(getattr(&f->e, name, FATTR4_ACL, &a), NFS4_OK);
	assert_true(nfs4_bit(&a.mask, FATTR4_ACL));
	xdr_in_init(&x, a.acl.data, a.acl.len);
	assert_int_equal(xdr_get_u32(&x), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(nfs4_get_ace(&x, &ace), 0);
		assert_int_equal(ace.type, want[i].type);
		assert_int_equal(ace.flag, want[i].flag);
		assert_int_equal(ace.access_mask, want[i].mask);
		assert_int_equal(ace.who.len, strlen(want[i].who));
		assert_memory_equal(ace.who.s, want[i].who, ace.who.len);
	}
	assert_true(xdr_in_done(&x));
}

static uint32_t set_raw(struct fix *f, const char *name, const struct nfs4_opaque *acl)
{
	struct nfs4_setattr_args a = {0};

	nfs4_bit_set(&a.attrs.mask, FATTR4_ACL);
	a.attrs.vals = *acl;
	env_begin(&f->e, true);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	if (name)
		env_put_lookup(&f->e, name);
	nfs4_put_setattr_args(&f->e.args, &a);
	return env_run(&f->e, name ? 4 : 3);
}

static uint32_t set_aces(struct fix *f, const char *name, const struct want *want, uint32_t n)
{
	uint8_t buf[2048];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	xdr_put_u32(&x, n);
	for (uint32_t i = 0; i < n; i++) {
		struct nfs4_ace ace = {want[i].type, want[i].flag, want[i].mask,
			{want[i].who, (uint32_t)strlen(want[i].who)}};

		nfs4_put_ace(&x, &ace);
	}
	assert_true(xdr_out_ok(&x));
	return set_raw(f, name, &(struct nfs4_opaque){buf, (uint32_t)x.len});
}

static void a_mode_is_an_acl(void **state)
{
	static const struct want mode_640[] = {{0, 0, R_ | W_ | OWNER_, "OWNER@"},
		{0, 0, R_ | ALL_, "GROUP@"}, {0, 0, ALL_, "EVERYONE@"}};
	/* the owner has fewer rights than the rest, the group more than the others */
	static const struct want mode_057[] = {{1, 0, R_ | W_ | X_, "OWNER@"},
		{0, 0, OWNER_, "OWNER@"}, {0, 0, R_ | X_ | ALL_, "GROUP@"}, {1, 0, W_, "GROUP@"},
		{0, 0, R_ | W_ | X_ | ALL_, "EVERYONE@"}};
	struct fix *f = *state;

	NEEDS_ACLS(f);
	expect_aces(f, "f", mode_640, 3);
	assert_int_equal(chmod(f->file, 0057), 0);
	expect_aces(f, "f", mode_057, 5);
}

static const struct posix_entry rich[] = {{USER_OBJ, 6, NO_ID}, {USER, 4, 1000}, {USER, 7, 1001},
	{GROUP_OBJ, 4, NO_ID}, {GROUP, 6, 2000}, {MASK, 6, NO_ID}, {OTHER, 1, NO_ID}};

static void users_and_groups_are_told(void **state)
{
	static const struct want want[] = {{1, 0, X_, "OWNER@"}, {0, 0, R_ | W_ | OWNER_, "OWNER@"},
		{1, 0, W_ | X_, "1000"}, {0, 0, R_ | ALL_, "1000"}, {1, 0, X_, "1001"},
		{0, 0, R_ | W_ | ALL_, "1001"}, /* the mask is 6 */
		{0, 0, R_ | ALL_, "GROUP@"}, {0, ACE4_IDENTIFIER_GROUP, R_ | W_ | ALL_, "2000"},
		{1, 0, X_, "GROUP@"}, {1, ACE4_IDENTIFIER_GROUP, X_, "2000"},
		{0, 0, X_ | ALL_, "EVERYONE@"}};
	struct fix *f = *state;

	NEEDS_ACLS(f);
	put_posix(f->file, ACCESS_XATTR, rich, 7);
	expect_aces(f, "f", want, sizeof(want) / sizeof(want[0]));
}

/* An ACL that was read can be written, and is then the same (as far as the mask let it count). */
static void an_acl_comes_back_as_it_was(void **state)
{
	static const struct posix_entry masked[] = {{USER_OBJ, 6, NO_ID}, {USER, 4, 1000},
		{USER, 6, 1001}, {GROUP_OBJ, 4, NO_ID}, {GROUP, 6, 2000}, {MASK, 6, NO_ID},
		{OTHER, 1, NO_ID}};
	struct fix *f = *state;
	struct nfs4_attrs a;
	uint8_t copy[1024];

	NEEDS_ACLS(f);
	put_posix(f->file, ACCESS_XATTR, rich, 7);
	assert_int_equal(getattr(&f->e, "f", FATTR4_ACL, &a), NFS4_OK);
	assert_true(a.acl.len <= sizeof(copy));
	memcpy(copy, a.acl.data, a.acl.len);
	assert_int_equal(removexattr(f->file, ACCESS_XATTR), 0);
	assert_int_equal(set_raw(f, "f", &(struct nfs4_opaque){copy, a.acl.len}), NFS4_OK);
	expect_posix(f->file, ACCESS_XATTR, masked, 7);
}

static void directories_hand_theirs_down(void **state)
{
	static const struct posix_entry def[] = {
		{USER_OBJ, 7, NO_ID}, {GROUP_OBJ, 5, NO_ID}, {OTHER, 0, NO_ID}};
	const uint32_t dw = W_ | ACE4_DELETE_CHILD;
	const struct want want[] = {{0, 0, R_ | dw | X_ | OWNER_, "OWNER@"}, {0, 0, ALL_, "GROUP@"},
		{0, 0, ALL_, "EVERYONE@"}, {0, INHERIT_, R_ | dw | X_ | OWNER_, "OWNER@"},
		{0, INHERIT_, R_ | X_ | ALL_, "GROUP@"}, {0, INHERIT_, ALL_, "EVERYONE@"}};
	struct fix *f = *state;

	NEEDS_ACLS(f);
	assert_int_equal(chmod(f->e.dir, 0700), 0);
	put_posix(f->e.dir, DEFAULT_XATTR, def, 3);
	expect_aces(f, NULL, want, 6);
	assert_int_equal(set_aces(f, NULL, want, 3), NFS4_OK);
	assert_int_equal(getxattr(f->e.dir, DEFAULT_XATTR, NULL, 0), -1);
	assert_int_equal(set_aces(f, NULL, want, 6), NFS4_OK);
	expect_posix(f->e.dir, DEFAULT_XATTR, def, 3);
	/* entries may count for both at once */
	const struct want both = {0, INHERIT_ & ~ACE4_INHERIT_ONLY, R_ | dw | X_, "OWNER@"};
	assert_int_equal(set_aces(f, NULL, &both, 1), NFS4_OK);
	expect_posix(f->e.dir, DEFAULT_XATTR,
		(struct posix_entry[]){
			{USER_OBJ, 7, NO_ID}, {GROUP_OBJ, 0, NO_ID}, {OTHER, 0, NO_ID}},
		3);
}

/* A denial counts for each user that the entry may mean; an allowance only for users that the entry
 * surely means. */
static void no_more_is_granted_than_was_said(void **state)
{
	static const struct want list[] = {{1, ACE4_IDENTIFIER_GROUP, W_, "2000"},
		{0, 0, R_ | W_, "1000"}, {0, 0, R_ | W_ | X_, "OWNER@"}, {0, 0, R_ | W_, "GROUP@"},
		{0, 0, R_ | ACE4_WRITE_DATA, "EVERYONE@"}};
	static const struct posix_entry want[] = {{USER_OBJ, 5, NO_ID}, {USER, 4, 1000},
		{GROUP_OBJ, 4, NO_ID}, {GROUP, 4, 2000}, {MASK, 4, NO_ID}, {OTHER, 4, NO_ID}};
	struct fix *f = *state;

	NEEDS_ACLS(f);
	assert_int_equal(set_aces(f, "f", list, 5), NFS4_OK);
	expect_posix(f->file, ACCESS_XATTR, want, 6);
}

static void what_posix_cannot_say_is_refused(void **state)
{
	static const struct want bad[] = {{2, 0, R_, "OWNER@"}, /* an audit */
		{0, ACE4_NO_PROPAGATE_INHERIT, R_, "OWNER@"},
		{0, ACE4_FILE_INHERIT, R_, "OWNER@"}, /* for files only */
		{0, INHERIT_, R_, "OWNER@"},	      /* by a file */
		{0, ACE4_INHERIT_ONLY, R_, "OWNER@"}};
	struct fix *f = *state;
	struct stat st;

	NEEDS_ACLS(f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(set_aces(f, "f", &bad[i], 1), NFS4ERR_ATTRNOTSUPP);
	assert_int_equal(
		set_aces(f, "f", &(struct want){0, 0, R_, "nobody@else"}, 1), NFS4ERR_BADOWNER);
	assert_int_equal(
		set_aces(f, "f", &(struct want){0, 0, R_, "AUTHENTICATED@"}, 1), NFS4ERR_BADOWNER);
	assert_int_equal(set_raw(f, "f", &(struct nfs4_opaque){(const uint8_t *)"\0\0\0\1", 4}),
		NFS4ERR_BADXDR);
	assert_int_equal(stat(f->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	/* no user has any right */
	assert_int_equal(set_aces(f, "f", NULL, 0), NFS4_OK);
	assert_int_equal(stat(f->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0);
}

static void links_have_none(void **state)
{
	struct fix *f = *state;
	struct nfs4_attrs a;
	char path[128];

	env_path(&f->e, "link", path, sizeof(path));
	assert_int_equal(symlink("f", path), 0);
	assert_int_equal(getattr(&f->e, "link", FATTR4_ACL, &a), NFS4_OK);
	assert_false(nfs4_bit(&a.mask, FATTR4_ACL));
	assert_int_equal(set_aces(f, "link", NULL, 0), NFS4ERR_ATTRNOTSUPP);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_mode_is_an_acl),
		TEST(users_and_groups_are_told),
		TEST(an_acl_comes_back_as_it_was),
		TEST(directories_hand_theirs_down),
		TEST(no_more_is_granted_than_was_said),
		TEST(what_posix_cannot_say_is_refused),
		TEST(links_have_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("serve-acl", tests, NULL, NULL);
}
