/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs_unsure: servers that carry a call out, lose the connection
 * before the answer, and have forgotten the call when the client sends the call again.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/common/nfs_unsure.h"

static const struct nfs_fh other = {.len = 3, .data = {'o', 't', 'h'}};

static struct nfs_op op_remove(const struct nfs_fh *dir)
{
	return (struct nfs_op){.type = NFS_REMOVE, .u.remove = {.dir = *dir, .name = {"file", 4}}};
}

static struct nfs_op op_rename(const struct nfs_fh *dir, const struct nfs_fh *moved)
{
	return (struct nfs_op){.type = NFS_RENAME,
		.u.rename = {.from_dir = *dir,
			.to_dir = *dir,
			.from = {"a", 1},
			.to = {"file", 4},
			.moved = moved}};
}

static struct nfs_op op_link(const struct nfs_fh *dir, const struct nfs_fh *fh)
{
	return (struct nfs_op){
		.type = NFS_LINK, .u.link = {.fh = *fh, .dir = *dir, .name = {"file", 4}}};
}

static struct nfs_op op_mkdir(const struct nfs_fh *dir)
{
	return (struct nfs_op){.type = NFS_CREATE,
		.u.create = {.dir = *dir, .name = {"file", 4}, .type = NFS_DIR}};
}

/* --- the verdicts ---------------------------------------------------------------------------- */

static void only_what_a_first_call_explains_is_doubted(void **state)
{
	struct nfs_op remove = op_remove(&other), rename = op_rename(&other, &other),
		      unknown = op_rename(&other, NULL), link = op_link(&other, &other),
		      mkdir = op_mkdir(&other), look = {.type = NFS_LOOKUP},
		      xattr = {.type = NFS_REMOVEXATTR};

	assert_int_equal(nfs_unsure_failed(&remove, -ENOENT), NFS_V_DONE);
	assert_int_equal(nfs_unsure_failed(&remove, -ENOTEMPTY), NFS_V_FAILED);
	assert_int_equal(nfs_unsure_failed(&xattr, -ENODATA), NFS_V_DONE);
	assert_int_equal(nfs_unsure_failed(&rename, -ENOENT), NFS_V_LOOK);
	assert_int_equal(nfs_unsure_failed(&rename, -EACCES), NFS_V_FAILED);
	assert_int_equal(nfs_unsure_failed(&unknown, -ENOENT), NFS_V_FAILED);
	assert_int_equal(nfs_unsure_failed(&link, -EEXIST), NFS_V_LOOK);
	assert_int_equal(nfs_unsure_failed(&mkdir, -EEXIST), NFS_V_FAILED); /* no mark */
	nfs_unsure_mark(&mkdir);
	assert_int_equal(nfs_unsure_failed(&mkdir, -EEXIST), NFS_V_LOOK);
	assert_int_equal(nfs_unsure_failed(&mkdir, -ENOENT), NFS_V_FAILED);
	assert_int_equal(nfs_unsure_failed(&look, -ENOENT), NFS_V_FAILED);
}

static void a_time_that_the_caller_sets_is_no_mark(void **state)
{
	struct nfs_op op = op_mkdir(&other);

	op.u.create.set.mask = NFS_SET_ATIME_NOW;
	nfs_unsure_mark(&op);
	assert_int_equal(op.u.create.set.mask, NFS_SET_ATIME_NOW);
	assert_int_equal(nfs_unsure_failed(&op, -EEXIST), NFS_V_FAILED);
}

/* A directory that another client made is not ours, even if all else is equal. */
static void the_mark_tells_ours_from_others(void **state)
{
	struct nfs_op op = op_mkdir(&other);
	struct nfs_attr attr = {.type = NFS_DIR};

	nfs_unsure_mark(&op);
	attr.atime = op.u.create.set.atime;
	assert_true(nfs_unsure_seen(&op, &other, &attr));
	assert_true(nfs_fh_equal(&op.u.create.fh, &other));
	attr.atime.tv_nsec ^= 1;
	assert_false(nfs_unsure_seen(&op, &other, &attr));
	attr.atime = op.u.create.set.atime;
	attr.type = NFS_FIFO;
	assert_false(nfs_unsure_seen(&op, &other, &attr));
}

/* --- over NFSv3 ------------------------------------------------------------------------------ */

/* The answer to proc is lost, and the server answers the second call with status. */
static int lost3(struct fix3 *f, uint32_t proc, uint32_t status, struct nfs_op *op)
{
	f->m.cut = proc;
	f->m.cut_status = status;
	return fix3_run(f, op);
}

static void names_over_nfsv3(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = op_remove(&f->root);

	assert_int_equal(lost3(f, NFS3PROC_REMOVE, NFS3ERR_NOENT, &op), 0);
	assert_int_equal(f->m.count[NFS3PROC_LOOKUP], 0);
	f->m.fails[NFS3PROC_REMOVE].status = NFS3ERR_NOENT; /* the first answer counts */
	f->m.fails[NFS3PROC_REMOVE].times = 1;
	assert_int_equal(fix3_run(f, &op), -ENOENT);
	op = op_rename(&f->root, &f->file);
	assert_int_equal(lost3(f, NFS3PROC_RENAME, NFS3ERR_NOENT, &op), 0);
	op = op_rename(&f->root, &other);
	assert_int_equal(lost3(f, NFS3PROC_RENAME, NFS3ERR_NOENT, &op), -ENOENT);
	op = op_link(&f->root, &f->file);
	assert_int_equal(lost3(f, NFS3PROC_LINK, NFS3ERR_EXIST, &op), 0);
	op = op_link(&f->root, &other);
	assert_int_equal(lost3(f, NFS3PROC_LINK, NFS3ERR_EXIST, &op), -EEXIST);
	assert_int_equal(f->m.count[NFS3PROC_LOOKUP], 4);
}

static void a_directory_over_nfsv3(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = op_mkdir(&f->root);

	f->m.made = NFS_DIR;
	assert_int_equal(lost3(f, NFS3PROC_MKDIR, NFS3ERR_EXIST, &op), -EEXIST);
	/* the server keeps the time of this very call */
	op = op_mkdir(&f->root);
	op.u.create.set.mask = NFS_SET_ATIME;
	op.u.create.set.atime = f->m.made_atime = (struct timespec){1000, 77};
	assert_int_equal(lost3(f, NFS3PROC_MKDIR, NFS3ERR_EXIST, &op), 0);
	assert_true(nfs_fh_equal(&op.u.create.fh, &f->file));
	f->m.fails[NFS3PROC_LOOKUP].status = NFS3ERR_ACCES; /* the mark cannot be seen */
	f->m.fails[NFS3PROC_LOOKUP].times = 1;
	assert_int_equal(lost3(f, NFS3PROC_MKDIR, NFS3ERR_EXIST, &op), -EEXIST);
	f->m.bare = true;
	assert_int_equal(lost3(f, NFS3PROC_MKDIR, NFS3ERR_EXIST, &op), -EEXIST);
}

/* --- over NFSv4 ------------------------------------------------------------------------------ */

static int lost4(struct fix *f, uint32_t opnum, uint32_t status, struct nfs_op *op)
{
	f->srv.cut_op = opnum;
	f->srv.cut_times = 1;
	f->srv.cut_status = status;
	return fix_run(f, op);
}

static void names_over_nfsv4(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_LOOKUP, .u.lookup = {.dir = f->root, .name = {"file", 4}}};
	struct nfs_fh file;

	assert_int_equal(fix_run(f, &op), 0);
	file = op.u.lookup.fh;
	op = op_remove(&f->root);
	assert_int_equal(lost4(f, OP_REMOVE, NFS4ERR_NOENT, &op), 0);
	fix_fails(f, OP_REMOVE, NFS4ERR_NOENT, 1);
	assert_int_equal(fix_run(f, &op), -ENOENT);
	op = op_rename(&f->root, &file);
	assert_int_equal(lost4(f, OP_RENAME, NFS4ERR_NOENT, &op), 0);
	op = op_rename(&f->root, &other);
	assert_int_equal(lost4(f, OP_RENAME, NFS4ERR_NOENT, &op), -ENOENT);
	op = op_link(&f->root, &file);
	assert_int_equal(lost4(f, OP_LINK, NFS4ERR_EXIST, &op), 0);
	op = op_mkdir(&f->root); /* no file here has the mark */
	assert_int_equal(lost4(f, OP_CREATE, NFS4ERR_EXIST, &op), -EEXIST);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_a_first_call_explains_is_doubted),
		cmocka_unit_test(a_time_that_the_caller_sets_is_no_mark),
		cmocka_unit_test(the_mark_tells_ours_from_others),
		ON_MOUNT3(names_over_nfsv3),
		ON_MOUNT3(a_directory_over_nfsv3),
		ON_MOUNT(names_over_nfsv4),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
