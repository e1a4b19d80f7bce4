/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Extended attributes through COMPOUNDs, and on the disk. The file system of /tmp must support
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/ops/xattr.h"
#include "tests/unit/contrib/serve/serve-env.h"

struct fix {
	struct serve_env e;
	char path[128];
	struct nfs_fh fh;
	bool have;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct nfs4_stateid sid;

	if (!f)
		return -1;
	env_init(&f->e);
	f->e.minor = 2;
	env_mount(&f->e, "client");
	env_path(&f->e, "f", f->path, sizeof(f->path));
	assert_int_equal(
		env_open(&f->e, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &f->fh), NFS4_OK);
	f->have = setxattr(f->path, "user.probe", "", 0, 0) == 0;
	removexattr(f->path, "user.probe");
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

#define NEEDS_XATTRS(f)                                                                            \
	do {                                                                                       \
		if (!(f)->have) {                                                                  \
			print_message("# no user attributes in /tmp\n");                           \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static struct nfs_name name_of(const char *s)
{
	return (struct nfs_name){s, (uint32_t)strlen(s)};
}

static void begin(struct fix *f)
{
	struct nfs4_putfh_args a = {.fh = f->fh};

	env_begin(&f->e, true);
	nfs4_put_putfh_args(&f->e.args, &a);
}

static uint32_t run(struct fix *f, uint32_t op)
{
	if (env_run(&f->e, 3) != NFS4_OK)
		return f->e.head.status;
	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	env_expect(&f->e, op, NFS4_OK);
	return NFS4_OK;
}

static uint32_t set_n(
	struct fix *f, struct nfs_name name, const void *value, uint32_t len, uint32_t option)
{
	struct nfs4_setxattr_args a = {.option = option, .name = name, .value = {value, len}};
	struct nfs4_change_res r;
	uint32_t status;

	begin(f);
	nfs4_put_setxattr_args(&f->e.args, &a);
	status = run(f, OP_SETXATTR);
	if (status == NFS4_OK) {
		assert_int_equal(nfs4_get_change_res(&f->e.res, NFS4_OK, &r), 0);
		assert_true(r.cinfo.after != r.cinfo.before);
	}
	return status;
}

static uint32_t set(struct fix *f, const char *name, const char *value, uint32_t option)
{
	return set_n(f, name_of(name), value, (uint32_t)strlen(value), option);
}

static uint32_t get_n(struct fix *f, struct nfs_name name, const uint8_t **value, uint32_t *len)
{
	struct nfs4_name_args a = {name};
	uint32_t status;

	begin(f);
	nfs4_put_name_args(&f->e.args, OP_GETXATTR, &a);
	status = run(f, OP_GETXATTR);
	if (status == NFS4_OK) {
		*value = xdr_get_payload(&f->e.res, 1 << 20, len, NULL);
		assert_true(xdr_in_done(&f->e.res));
	}
	return status;
}

static uint32_t del(struct fix *f, const char *name)
{
	struct nfs4_name_args a = {name_of(name)};

	begin(f);
	nfs4_put_name_args(&f->e.args, OP_REMOVEXATTR, &a);
	return run(f, OP_REMOVEXATTR);
}

static void values_come_back(void **state)
{
	struct fix *f = *state;
	const uint8_t *value;
	char here[16];
	uint32_t len;

	NEEDS_XATTRS(f);
	assert_int_equal(set(f, "colour", "green", SETXATTR4_EITHER), NFS4_OK);
	assert_int_equal(getxattr(f->path, "user.colour", here, sizeof(here)), 5);
	assert_memory_equal(here, "green", 5);
	assert_int_equal(get_n(f, name_of("colour"), &value, &len), NFS4_OK);
	assert_int_equal(len, 5);
	assert_memory_equal(value, "green", 5);
	assert_int_equal(set(f, "none", "", SETXATTR4_EITHER), NFS4_OK);
	assert_int_equal(get_n(f, name_of("none"), &value, &len), NFS4_OK);
	assert_int_equal(len, 0);
	assert_int_equal(get_n(f, name_of("other"), &value, &len), NFS4ERR_NOXATTR);
	assert_int_equal(del(f, "colour"), NFS4_OK);
	assert_int_equal(del(f, "colour"), NFS4ERR_NOXATTR);
	assert_int_equal(get_n(f, name_of("colour"), &value, &len), NFS4ERR_NOXATTR);
}

static void create_and_replace_are_kept_apart(void **state)
{
	struct fix *f = *state;

	NEEDS_XATTRS(f);
	assert_int_equal(set(f, "a", "1", SETXATTR4_REPLACE), NFS4ERR_NOXATTR);
	assert_int_equal(set(f, "a", "1", SETXATTR4_CREATE), NFS4_OK);
	assert_int_equal(set(f, "a", "2", SETXATTR4_CREATE), NFS4ERR_EXIST);
	assert_int_equal(set(f, "a", "3", SETXATTR4_REPLACE), NFS4_OK);
	assert_int_equal(set(f, "a", "4", 3), NFS4ERR_BADXDR);
}

/* An attribute outside "user." is out of reach, for any name. */
static void other_namespaces_are_out_of_reach(void **state)
{
	struct fix *f = *state;
	const uint8_t *value;
	uint32_t len;

	NEEDS_XATTRS(f);
	assert_int_equal(set(f, "trusted.x", "1", SETXATTR4_EITHER), NFS4_OK);
	assert_int_equal(getxattr(f->path, "trusted.x", NULL, 0), -1);
	assert_int_equal(getxattr(f->path, "user.trusted.x", NULL, 0), 1);
	assert_int_equal(
		get_n(f, name_of("system.posix_acl_access"), &value, &len), NFS4ERR_NOXATTR);
}

static void names_and_values_have_their_limits(void **state)
{
	struct fix *f = *state;
	char name[300];
	const uint8_t *value;
	uint32_t len;

	NEEDS_XATTRS(f);
	memset(name, 'n', sizeof(name));
	assert_int_equal(set_n(f, (struct nfs_name){name, 250}, "v", 1, 0), NFS4_OK);
	assert_int_equal(set_n(f, (struct nfs_name){name, 251}, "v", 1, 0), NFS4ERR_NAMETOOLONG);
	assert_int_equal(get_n(f, (struct nfs_name){name, 251}, &value, &len), NFS4ERR_NAMETOOLONG);
	assert_int_equal(set_n(f, (struct nfs_name){"", 0}, "v", 1, 0), NFS4ERR_INVAL);
	assert_int_equal(set_n(f, (struct nfs_name){"a\0b", 3}, "v", 1, 0), NFS4ERR_BADCHAR);
	assert_int_equal(
		set_n(f, name_of("big"), f->e.reply, XATTR_VALUE_MAX + 1, 0), NFS4ERR_XATTR2BIG);
}

/* The largest value that the kernel takes fits into a reply only as payload. */
static void large_values_are_read(void **state)
{
	struct fix *f = *state;
	uint32_t max = XATTR_VALUE_MAX, len;
	char *big = malloc(XATTR_VALUE_MAX);
	const uint8_t *value;

	NEEDS_XATTRS(f);
	assert_non_null(big);
	memset(big, 'b', XATTR_VALUE_MAX);
	while (setxattr(f->path, "user.big", big, max, 0) != 0)
		max /= 2; /* the limit of this file system */
	assert_true(max >= 1024);
	assert_int_equal(get_n(f, name_of("big"), &value, &len), NFS4_OK);
	assert_int_equal(len, max);
	assert_memory_equal(value, big, max);
	/* not into a Write chunk, and not more than the client takes; a reply without payload does
	 * not hold the largest there is */
	max = max < 32768 ? max : 32768;
	assert_int_equal(setxattr(f->path, "user.big", big, max, 0), 0);
	f->e.nsinks = 1;
	f->e.sink[0] = 1 << 20;
	assert_int_equal(get_n(f, name_of("big"), &value, &len), NFS4_OK);
	assert_int_equal(f->e.res.npayloads, 0);
	f->e.nsinks = 0;
	f->e.cachethis = true; /* at most 4096 bytes in this session */
	if (max >= 4096)
		assert_int_equal(
			get_n(f, name_of("big"), &value, &len), NFS4ERR_REP_TOO_BIG_TO_CACHE);
	free(big);
}

static uint32_t list(
	struct fix *f, uint64_t cookie, uint32_t maxcount, struct nfs4_listxattrs_res *r)
{
	struct nfs4_listxattrs_args a = {.cookie = cookie, .maxcount = maxcount};
	uint32_t status;

	begin(f);
	nfs4_put_listxattrs_args(&f->e.args, &a);
	status = run(f, OP_LISTXATTRS);
	if (status == NFS4_OK)
		assert_int_equal(nfs4_get_listxattrs_res(&f->e.res, NFS4_OK, r), 0);
	return status;
}

static void names_are_listed_in_pieces(void **state)
{
	struct fix *f = *state;
	struct nfs4_listxattrs_res r;
	unsigned seen = 0, turns = 0;
	uint64_t cookie = 0;
	char name[32];

	NEEDS_XATTRS(f);
	assert_int_equal(list(f, 0, 4096, &r), NFS4_OK);
	assert_int_equal(r.n, 0);
	assert_true(r.eof);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "user.number-%02d", i);
		assert_int_equal(setxattr(f->path, name, "v", 1, 0), 0);
	}
	do {
		struct nfs_name n;
		uint32_t pos = 0;

		assert_int_equal(list(f, cookie, 100, &r), NFS4_OK);
		assert_true(r.n > 0);
		while (nfs4_xattr_names_next(&r, &pos, &n)) {
			unsigned i = (unsigned)atoi(n.s + 7);

			assert_int_equal(n.len, 9);
			assert_memory_equal(n.s, "number-", 7);
			assert_false(seen & 1u << i);
			seen |= 1u << i;
		}
		cookie = r.cookie;
		assert_true(++turns <= 20);
	} while (!r.eof);
	assert_int_equal(seen, (1u << 20) - 1);
	assert_true(turns > 1);
	assert_int_equal(list(f, 0, 20, &r), NFS4ERR_TOOSMALL);
	assert_int_equal(list(f, 1000, 4096, &r), NFS4_OK);
	assert_int_equal(r.n, 0);
	assert_true(r.eof);
}

static void a_read_only_export_keeps_its_attributes(void **state)
{
	struct fix *f = *state;

	f->e.sv.read_only = true;
	assert_int_equal(set(f, "a", "1", SETXATTR4_EITHER), NFS4ERR_ROFS);
	assert_int_equal(del(f, "a"), NFS4ERR_ROFS);
}

static void access_tells_what_may_be_done(void **state)
{
	const uint32_t all = ACCESS4_XAREAD | ACCESS4_XAWRITE | ACCESS4_XALIST;
	struct fix *f = *state;
	struct nfs4_access_args a = {.access = all};
	struct nfs4_access_res r;

	NEEDS_XATTRS(f);
	for (int ro = 0; ro < 2; ro++) {
		f->e.sv.read_only = ro;
		begin(f);
		nfs4_put_access_args(&f->e.args, &a);
		assert_int_equal(run(f, OP_ACCESS), NFS4_OK);
		assert_int_equal(nfs4_get_access_res(&f->e.res, NFS4_OK, &r), 0);
		assert_int_equal(r.supported, all);
		assert_int_equal(r.access, ro ? all & ~ACCESS4_XAWRITE : all);
	}
}

/* Links and FIFOs cannot have any on Linux. */
static void other_types_have_none(void **state)
{
	struct fix *f = *state;
	struct nfs4_name_args a = {name_of("a")};
	char path[128];

	env_path(&f->e, "fifo", path, sizeof(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	env_path(&f->e, "link", path, sizeof(path));
	assert_int_equal(symlink("f", path), 0);
	for (int i = 0; i < 2; i++) {
		env_begin(&f->e, true);
		nfs4_put_op(&f->e.args, OP_PUTROOTFH);
		env_put_lookup(&f->e, i ? "fifo" : "link");
		nfs4_put_name_args(&f->e.args, OP_GETXATTR, &a);
		assert_int_equal(env_run(&f->e, 4), NFS4ERR_NOTSUPP);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_come_back),
		TEST(create_and_replace_are_kept_apart),
		TEST(other_namespaces_are_out_of_reach),
		TEST(names_and_values_have_their_limits),
		TEST(large_values_are_read),
		TEST(names_are_listed_in_pieces),
		TEST(a_read_only_export_keeps_its_attributes),
		TEST(access_tells_what_may_be_done),
		TEST(other_types_have_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("serve-xattr", tests, NULL, NULL);
}
