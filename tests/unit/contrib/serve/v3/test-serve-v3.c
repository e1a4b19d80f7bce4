/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/v3: calls and answers, and the rules for all procedures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "contrib/serve/fault/fault.h"
#include "contrib/serve/v3/drc.h"
#include "tests/unit/contrib/serve/v3/serve-v3.h"

static void create_has_three_modes(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh, again;
	struct nfs3_args a = {.proc = NFS3PROC_CREATE};
	struct nfs3_res r;

	assert_int_equal(create(e, "x", NFS3_EXCLUSIVE, 0, "verifier", &fh), NFS3_OK);
	assert_int_equal(create(e, "x", NFS3_EXCLUSIVE, 0, "verifier", &again), NFS3_OK);
	assert_int_equal(again.len, fh.len);
	assert_memory_equal(again.data, fh.data, fh.len);
	assert_int_equal(create(e, "x", NFS3_EXCLUSIVE, 0, "another!", &again), NFS3ERR_EXIST);
	assert_int_equal(create(e, "x", NFS3_GUARDED, 0644, NULL, &again), NFS3ERR_EXIST);
	assert_int_equal(create(e, "g", NFS3_GUARDED, 0640, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 0, "text", &r), NFS3_OK);
	/* an existing file stays as it is, except for the size */
	assert_int_equal(create(e, "g", NFS3_UNCHECKED, 0600, NULL, &again), NFS3_OK);
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3_OK);
	assert_int_equal(r.u.getattr.attr.size, 4);
	assert_int_equal(r.u.getattr.attr.mode, 0640);
	a.u.create.where = in_root(e, "g");
	a.u.create.set.mask = NFS_SET_SIZE;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.create.obj.attr.size, 0);
	assert_int_equal(create(e, ".", NFS3_UNCHECKED, 0600, NULL, &again), NFS3ERR_EXIST);
}

static void its_owner_may_use_what_the_mode_forbids(void **state)
{
	struct serve_env *e = *state;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t len;
	bool eof;

	assert_int_equal(create(e, "f", NFS3_GUARDED, 0, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 0, "secret", &r), NFS3_OK);
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 6);
}

static void changes_tell_what_was_before(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_SETATTR};
	uint8_t verf[STABLE_VERF];
	struct nfs3_res r;
	struct nfs_fh fh;

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	write_at(e, &fh, 0, "12345", &r);
	a.u.setattr.fh = fh;
	a.u.setattr.set = (struct nfs_sattr){.mask = NFS_SET_SIZE | NFS_SET_MODE | NFS_SET_MTIME,
		.size = 3,
		.mode = 0600,
		.mtime = {1000, 2000}};
	a.u.setattr.guard = true;
	a.u.setattr.ctime = (struct timespec){1, 1};
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOT_SYNC);
	assert_int_equal(r.u.wcc.wcc.after.attr.size, 5);
	a.u.setattr.ctime = r.u.wcc.wcc.after.attr.ctime;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_true(r.u.wcc.wcc.have_before);
	assert_int_equal(r.u.wcc.wcc.before.size, 5);
	assert_int_equal(r.u.wcc.wcc.after.attr.size, 3);
	assert_int_equal(r.u.wcc.wcc.after.attr.mode, 0600);
	assert_int_equal(r.u.wcc.wcc.after.attr.mtime.tv_sec, 1000);
	assert_int_equal(r.u.wcc.wcc.after.attr.mtime.tv_nsec, 2000);
	a.u.setattr.fh = root_of(e);
	a.u.setattr.guard = false;
	assert_int_equal(call(e, &a, &r), NFS3ERR_ISDIR);
	/* a WRITE with different lengths in count and data */
	a.proc = NFS3PROC_WRITE;
	a.u.write = (struct nfs3_write_args){
		.fh = fh, .count = 4, .data = SEG_LIST_MEM((char[]){"123"}, 3)};
	assert_int_equal(call(e, &a, &r), NFS3ERR_INVAL);
	a.proc = NFS3PROC_COMMIT;
	a.u.commit = (struct nfs3_commit_args){.fh = fh};
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	env_verf(e, verf);
	assert_memory_equal(r.u.commit.verf, verf, sizeof(verf));
}

static void what_comes_again_is_answered_again(void **state)
{
	struct serve_env *e = *state;
	struct drc_stats s;
	struct nfs3_res r;
	struct nfs_fh fh;
	size_t len;

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3_OK);
	len = e->args.len;
	assert_true(send_call(e, NFS3PROC_REMOVE, len));
	assert_int_equal(nfs3_get_res(&e->res, NFS3PROC_REMOVE, &r), 0);
	assert_int_equal(r.u.status, NFS3_OK);
	drc_stats(e->sv.drc, &s);
	assert_int_equal(s.hits, 1);
	/* another call, another caller, another procedure under the same XID */
	e->uid = 7;
	assert_true(send_call(e, NFS3PROC_REMOVE, len));
	nfs3_get_res(&e->res, NFS3PROC_REMOVE, &r);
	assert_int_equal(r.u.status, NFS3ERR_NOENT);
	e->uid = 0;
	assert_true(send_call(e, NFS3PROC_RMDIR, len));
	nfs3_get_res(&e->res, NFS3PROC_RMDIR, &r);
	assert_int_equal(r.u.status, NFS3ERR_NOENT);
	e->call[len - 4] = 'g';
	assert_true(send_call(e, NFS3PROC_REMOVE, len));
	nfs3_get_res(&e->res, NFS3PROC_REMOVE, &r);
	assert_int_equal(r.u.status, NFS3ERR_NOENT);
	drc_stats(e->sv.drc, &s);
	assert_int_equal(s.hits, 1);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3ERR_NOENT);
}

static void a_read_only_export_changes_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_ACCESS};
	struct nfs3_res r;
	struct nfs_fh fh, root = root_of(e);

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	e->sv.read_only = true;
	assert_int_equal(write_at(e, &fh, 0, "x", &r), NFS3ERR_ROFS);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3ERR_ROFS);
	a.u.access.fh = fh;
	a.u.access.access = 0x3f;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.access.access, NFS_ACCESS_READ);
	e->sv.read_only = false;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(
		r.u.access.access, NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND);
	assert_int_equal(on_fh(e, NFS3PROC_FSINFO, &root, &r), NFS3_OK);
	assert_int_equal(r.u.fsinfo.wtmax, SERVE_IO_MAX);
	assert_int_equal(on_fh(e, NFS3PROC_FSSTAT, &root, &r), NFS3_OK);
	assert_true(r.u.fsstat.st.tbytes > 0);
	assert_int_equal(on_fh(e, NFS3PROC_PATHCONF, &root, &r), NFS3_OK);
	assert_int_equal(r.u.pathconf.name_max, 255);
}

static void faults_hit_procedures_too(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_res r;
	struct nfs_fh root = root_of(e);
	struct err err;

	e->sv.fault = fault_new("error=NFS3ERR_JUKEBOX:op=FSSTAT:count=1,error=NFS4ERR_DELAY:op="
				"LOOKUP:nth=2",
		&err);
	assert_non_null(e->sv.fault);
	assert_int_equal(on_fh(e, NFS3PROC_FSSTAT, &root, &r), NFS3ERR_JUKEBOX);
	assert_int_equal(on_fh(e, NFS3PROC_FSSTAT, &root, &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, ".", &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, ".", &r), NFS3ERR_JUKEBOX);
	e->sv.fault = fault_free(e->sv.fault);
}

static void truncated_calls_are_garbage(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_RENAME};
	struct nfs3_res r;

	a.u.rename.from = in_root(e, "from");
	a.u.rename.to = in_root(e, "to");
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOENT);
	for (size_t len = 0; len < e->args.len; len += 4)
		assert_false(send_call(e, NFS3PROC_RENAME, len));
	memset(e->call + e->args.len, 0, 4);
	assert_false(send_call(e, NFS3PROC_RENAME, e->args.len + 4));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(create_has_three_modes),
		T(its_owner_may_use_what_the_mode_forbids),
		T(changes_tell_what_was_before),
		T(what_comes_again_is_answered_again),
		T(a_read_only_export_changes_nothing),
		T(faults_hit_procedures_too),
		T(truncated_calls_are_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
