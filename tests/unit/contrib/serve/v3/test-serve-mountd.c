/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/mountd.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/v3/mountd.h"
#include "nfsproto/wire/mount3.h"
#include "tests/unit/contrib/serve/serve-env.h"

static int setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));
	char path[128];

	env_init(e);
	env_path(e, "sub", path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
	env_path(e, "sub/deep", path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
	env_path(e, "link", path, sizeof(path));
	assert_int_equal(symlink("/", path), 0);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}

/* Puts the encoded call to the server. */
static bool run(struct serve_env *e, uint32_t proc)
{
	bool ok;

	memset(&e->req, 0, sizeof(e->req));
	e->req.prog = MOUNT3_PROGRAM;
	e->req.vers = MOUNT3_VERSION;
	e->req.proc = proc;
	e->req.res_max = e->res_max ? e->res_max : sizeof(e->reply);
	xdr_in_init(&e->req.args, e->call, e->args.len);
	xdr_out_init(&e->req.res, e->reply, SERVE_RES_CAP);
	ok = mountd_run(&e->sv, &e->req) == SERVE_DONE;
	xdr_in_init(&e->res, e->reply, e->req.res.len);
	return ok;
}

static bool run_path(struct serve_env *e, uint32_t proc, const char *path)
{
	struct nfs_name n = {path, (uint32_t)strlen(path)};

	xdr_out_init(&e->args, e->call, sizeof(e->call));
	mount3_put_path(&e->args, &n);
	return run(e, proc);
}

static uint32_t mnt(struct serve_env *e, const char *path, struct mount3_mnt_res *r)
{
	assert_true(run_path(e, MOUNT3PROC_MNT, path));
	assert_int_equal(mount3_get_mnt_res(&e->res, r), 0);
	assert_true(xdr_in_done(&e->res));
	return r->status;
}

/* The number of mounts that DUMP tells; *last: the path of the last one. */
static int dump(struct serve_env *e, char *last)
{
	struct mount3_mounted m;
	int n = 0;

	xdr_out_init(&e->args, e->call, sizeof(e->call));
	assert_true(run(e, MOUNT3PROC_DUMP));
	for (; mount3_get_mounted(&e->res, &m) == 1; n++)
		snprintf(last, 64, "%.*s", (int)m.path.len, m.path.s);
	assert_true(xdr_in_done(&e->res));
	return n;
}

static void paths_lead_to_directories(void **state)
{
	static const char *const roots[] = {"/", "", "//", "/.", "/./"};
	struct serve_env *e = *state;
	struct mount3_mnt_res r, sub;
	struct obj *root = obj_root(e->sv.objs), *o;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		assert_int_equal(mnt(e, roots[i], &r), MOUNT3_OK);
		assert_int_equal(r.nflavors, 2);
		assert_int_equal(obj_by_handle(e->sv.objs, r.fh.data, r.fh.len, &o), 0);
		assert_ptr_equal(o, root);
		obj_unref(e->sv.objs, o);
	}
	obj_unref(e->sv.objs, root);
	assert_int_equal(mnt(e, "/sub/deep", &r), MOUNT3_OK);
	assert_int_equal(mnt(e, "sub//./deep/", &sub), MOUNT3_OK);
	assert_memory_equal(sub.fh.data, r.fh.data, r.fh.len);
}

static void none_leads_out(void **state)
{
	struct serve_env *e = *state;
	struct mount3_mnt_res r;
	char path[2000];

	assert_int_equal(mnt(e, "/..", &r), MOUNT3ERR_ACCES);
	assert_int_equal(mnt(e, "/sub/../..", &r), MOUNT3ERR_ACCES);
	assert_int_equal(mnt(e, "/link", &r), MOUNT3ERR_NOTDIR);
	assert_int_equal(mnt(e, "/link/etc", &r), MOUNT3ERR_NOTDIR);
	assert_int_equal(mnt(e, "/none", &r), MOUNT3ERR_NOENT);
	memset(path, 'x', sizeof(path));
	path[300] = '\0';
	assert_int_equal(mnt(e, path, &r), MOUNT3ERR_NAMETOOLONG);
	path[300] = 'x';
	path[MOUNT3_PATH_MAX + 1] = '\0';
	assert_false(run_path(e, MOUNT3PROC_MNT, path));
}

static void mounts_are_remembered(void **state)
{
	struct serve_env *e = *state;
	struct mount3_mnt_res r;
	char last[64];

	assert_int_equal(dump(e, last), 0);
	mnt(e, "/", &r);
	mnt(e, "/sub", &r);
	mnt(e, "/sub", &r);
	assert_int_equal(dump(e, last), 2);
	assert_string_equal(last, "/sub");
	assert_true(run_path(e, MOUNT3PROC_UMNT, "/sub"));
	assert_int_equal(dump(e, last), 1);
	assert_string_equal(last, "/");
	/* the server keeps four */
	mnt(e, "/.", &r);
	mnt(e, "/./.", &r);
	mnt(e, "/sub/.", &r);
	mnt(e, "/sub/deep", &r);
	assert_int_equal(dump(e, last), 4);
	assert_string_equal(last, "/sub/deep");
	/* as many as there is room for */
	e->res_max = 130;
	assert_int_equal(dump(e, last), 2);
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	assert_true(run(e, MOUNT3PROC_UMNTALL));
	assert_int_equal(dump(e, last), 0);
}

static void there_is_one_export(void **state)
{
	struct serve_env *e = *state;
	struct nfs_name path;

	xdr_out_init(&e->args, e->call, sizeof(e->call));
	assert_true(run(e, MOUNT3PROC_EXPORT));
	assert_int_equal(mount3_get_export(&e->res, &path), 1);
	assert_int_equal(path.len, 1);
	assert_int_equal(mount3_get_group(&e->res, &path), 0);
	assert_int_equal(mount3_get_export(&e->res, &path), 0);
	assert_true(xdr_in_done(&e->res));
	/* unexpected arguments */
	xdr_put_u32(&e->args, 0);
	assert_false(run(e, MOUNT3PROC_EXPORT));
	assert_false(run(e, MOUNT3PROC_NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(paths_lead_to_directories),
		T(none_leads_out),
		T(mounts_are_remembered),
		T(there_is_one_export),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
