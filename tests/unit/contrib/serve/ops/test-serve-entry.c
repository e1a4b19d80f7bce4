/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's names in directories (ops/entry, v4/ops_dir).
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

#include "tests/unit/contrib/serve/serve-env.h"

#define RD OPEN4_SHARE_ACCESS_READ
#define RW OPEN4_SHARE_ACCESS_BOTH

/* Before a name is removed, the file `from` gets the name `to`. */
static char from[128], to[128];

static void link_now(void)
{
	if (from[0])
		assert_int_equal(link(from, to), 0);
	from[0] = '\0';
}

int __real_unlinkat(int dir, const char *name, int flags);
int __wrap_unlinkat(int dir, const char *name, int flags);

int __wrap_unlinkat(int dir, const char *name, int flags)
{
	link_now();
	return __real_unlinkat(dir, name, flags);
}

int __real_renameat(int from_dir, const char *old, int to_dir, const char *new);
int __wrap_renameat(int from_dir, const char *old, int to_dir, const char *new);

int __wrap_renameat(int from_dir, const char *old, int to_dir, const char *new)
{
	link_now();
	return __real_renameat(from_dir, old, to_dir, new);
}

static uint32_t lookup(struct serve_env *e, const char *name, uint32_t len)
{
	struct nfs4_name_args a = {.name = {name, len}};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_name_args(&e->args, OP_LOOKUP, &a);
	return env_run(e, 3);
}

static void names_that_lead_out_are_refused(void **state)
{
	struct serve_env *e = *state;
	static char longname[256];
	char path[128];

	memset(longname, 'n', sizeof(longname));
	env_path(e, "link", path, sizeof(path));
	assert_int_equal(symlink("/etc", path), 0);
	assert_int_equal(lookup(e, "..", 2), NFS4ERR_BADNAME);
	assert_int_equal(lookup(e, ".", 1), NFS4ERR_BADNAME);
	assert_int_equal(lookup(e, "../etc", 6), NFS4ERR_BADCHAR);
	assert_int_equal(lookup(e, "a\0b", 3), NFS4ERR_BADCHAR);
	assert_int_equal(lookup(e, "", 0), NFS4ERR_INVAL);
	assert_int_equal(lookup(e, longname, 256), NFS4ERR_NAMETOOLONG);
	assert_int_equal(lookup(e, longname, 255), NFS4ERR_NOENT);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_op(&e->args, OP_LOOKUPP);
	assert_int_equal(env_run(e, 3), NFS4ERR_NOENT);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "link");
	env_put_lookup(e, "passwd");
	assert_int_equal(env_run(e, 4), NFS4ERR_SYMLINK);
}

static void removing_and_renaming_reach_the_disk(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_rename_args rn = {.from = {"a", 1}, .to = {"b", 1}};
	struct nfs4_name_args rm = {.name = {"b", 1}};
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	char path[128];
	const uint8_t *data;
	uint32_t len;
	bool eof;

	assert_int_equal(env_open(e, "b", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"old"}, 3), NFS4_OK);
	env_path(e, "a", path, sizeof(path));
	assert_true(close(open(path, O_CREAT | O_WRONLY, 0644)) == 0);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_op(&e->args, OP_SAVEFH);
	nfs4_put_rename_args(&e->args, &rn);
	assert_int_equal(env_run(e, 4), NFS4_OK);
	assert_int_equal(env_again(e), NFS4_OK); /* a replay, not NFS4ERR_NOENT */
	assert_int_not_equal(access(path, F_OK), 0);
	/* the replaced file lives on while it is open */
	assert_int_equal(env_read(e, &fh, &sid, 0, 10, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 3);
	assert_int_equal(env_close(e, &fh, &sid), NFS4_OK);
	env_begin(e, true);
	env_put_fh(e, &fh);
	assert_int_equal(env_run(e, 2), NFS4ERR_STALE);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_name_args(&e->args, OP_REMOVE, &rm);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_path(e, "b", path, sizeof(path));
	assert_int_not_equal(access(path, F_OK), 0);
}

static void renaming_a_file_to_itself_changes_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_rename_args rn = {.from = {"a", 1}, .to = {"a", 1}};
	char a[128], b[128];
	struct nfs4_rename_res r;

	env_path(e, "a", a, sizeof(a));
	env_path(e, "b", b, sizeof(b));
	assert_true(close(open(a, O_CREAT | O_WRONLY, 0644)) == 0);
	assert_int_equal(link(a, b), 0);
	for (int linked = 0; linked < 2; linked++) {
		rn.to.s = linked ? "b" : "a";
		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_op(&e->args, OP_SAVEFH);
		nfs4_put_rename_args(&e->args, &rn);
		assert_int_equal(env_run(e, 4), NFS4_OK);
		env_expect(e, OP_PUTROOTFH, NFS4_OK);
		env_expect(e, OP_SAVEFH, NFS4_OK);
		env_expect(e, OP_RENAME, NFS4_OK);
		assert_int_equal(nfs4_get_rename_res(&e->res, NFS4_OK, &r), 0);
		assert_true(r.from.before == r.from.after);
		assert_true(r.to.before == r.to.after);
	}
	assert_int_equal(access(a, F_OK), 0);
	assert_int_equal(access(b, F_OK), 0);
}

static void a_read_only_export_changes_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_name_args rm = {.name = {"f", 1}};
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	e->sv.read_only = true;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_name_args(&e->args, OP_REMOVE, &rm);
	assert_int_equal(env_run(e, 3), NFS4ERR_ROFS);
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_ROFS);
	assert_int_equal(env_open(e, "f", false, RW, 0, "p", &sid, &fh), NFS4ERR_ROFS);
	assert_int_equal(env_open(e, "g", true, RD, 0, "p", &sid, &fh), NFS4ERR_ROFS);
	assert_int_equal(env_open(e, "f", false, RD, 0, "p", &sid, &fh), NFS4_OK);
}

/* Removes the name "f", by REMOVE or by RENAME of "a". */
static uint32_t remove_f(struct serve_env *e, bool by_rename)
{
	struct nfs4_rename_args rn = {.from = {"a", 1}, .to = {"f", 1}};
	struct nfs4_name_args rm = {.name = {"f", 1}};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	if (!by_rename) {
		nfs4_put_name_args(&e->args, OP_REMOVE, &rm);
		return env_run(e, 3);
	}
	nfs4_put_op(&e->args, OP_SAVEFH);
	nfs4_put_rename_args(&e->args, &rn);
	return env_run(e, 4);
}

/* Another client links the file between the server's look at the file and the removal. */
static void a_file_that_is_linked_meanwhile_lives_on(void **state)
{
	struct serve_env *e = *state;
	struct obj *root = obj_root(e->sv.objs), *o;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	char name[2] = "g";

	for (int i = 0; i < 4; i++) {
		bool by_rename = i & 1, linked = i < 2;

		assert_int_equal(env_open(e, "a", true, RW, 0, "o", &sid, &fh), NFS4_OK);
		assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
		assert_int_equal(obj_lookup(e->sv.objs, root, "f", 1, &o, NULL), 0);
		if (linked) {
			env_path(e, "f", from, sizeof(from));
			env_path(e, name, to, sizeof(to));
		}
		assert_int_equal(remove_f(e, by_rename), NFS4_OK);
		assert_int_equal(from[0], '\0');
		assert_int_equal(o->doomed, !linked);
		obj_unref(e->sv.objs, o);
		name[0]++;
	}
	obj_unref(e->sv.objs, root);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_that_lead_out_are_refused),
		TEST(removing_and_renaming_reach_the_disk),
		TEST(renaming_a_file_to_itself_changes_nothing),
		TEST(a_read_only_export_changes_nothing),
		TEST(a_file_that_is_linked_meanwhile_lives_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
