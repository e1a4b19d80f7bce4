/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/ops/stable: the effect of a failed sync on other clients, and the
 * descriptors that are kept for a sync. fsync() is the tests' own here, and pwrite() calls the
 * test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/contrib/serve/ops/stable-syncs.h"

static void (*at_write)(void); /* called once, behind the next write, unless NULL */

ssize_t __real_pwrite64(int fd, const void *p, size_t n, off64_t offset);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off64_t offset);

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off64_t offset)
{
	ssize_t r = __real_pwrite64(fd, p, n, offset);
	void (*fn)(void) = at_write;

	at_write = NULL;
	if (fn)
		fn();
	return r;
}

static uint32_t write_to(const struct nfs4_stateid *open, uint8_t *verf)
{
	struct nfs4_putfh_args p = {fh};
	struct nfs4_write_args w = {.stateid = *open,
		.stable = NFS_UNSTABLE,
		.data = SEG_LIST_MEM((char[]){"data"}, 4)};
	struct nfs4_write_res res;

	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_write_args(&env.args, &w);
	if (env_run(&env, 3) != NFS4_OK)
		return env.head.status;
	env_expect(&env, OP_PUTFH, NFS4_OK);
	env_expect(&env, OP_WRITE, NFS4_OK);
	assert_int_equal(nfs4_get_write_res(&env.res, NFS4_OK, &res), 0);
	memcpy(verf, res.verf, STABLE_VERF);
	return NFS4_OK;
}

static uint32_t commit(uint8_t *verf)
{
	struct nfs4_putfh_args p = {fh};
	struct nfs4_commit_args a = {0};
	struct nfs4_commit_res res;

	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_commit_args(&env.args, &a);
	if (env_run(&env, 3) != NFS4_OK)
		return env.head.status;
	env_expect(&env, OP_PUTFH, NFS4_OK);
	env_expect(&env, OP_COMMIT, NFS4_OK);
	assert_int_equal(nfs4_get_commit_res(&env.res, NFS4_OK, &res), 0);
	memcpy(verf, res.verf, STABLE_VERF);
	return NFS4_OK;
}

/* The caller of the failed COMMIT is told; all other callers find another verifier. */
static void a_failed_commit_is_told_to_all(void **state)
{
	uint8_t wrote[STABLE_VERF], verf[STABLE_VERF];

	open_file("f");
	assert_int_equal(write_to(&sid, wrote), NFS4_OK);
	fails = ENOSPC;
	assert_int_equal(commit(verf), NFS4ERR_NOSPC);
	assert_int_equal(commit(verf), NFS4_OK);
	assert_memory_not_equal(verf, wrote, sizeof(verf));
	/* later writes are safe with the new verifier */
	assert_int_equal(write_to(&sid, wrote), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
	assert_int_equal(commit(verf), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
}

static void a_failed_sync_is_told_of_its_file_alone(void **state)
{
	uint8_t wrote[STABLE_VERF], verf[STABLE_VERF], other[STABLE_VERF];
	struct obj *root;

	open_file("f");
	assert_int_equal(write_to(&sid, wrote), NFS4_OK);
	fails = EIO;
	assert_int_equal(commit(verf), NFS4ERR_IO);
	assert_int_equal(
		env_open(&env, "g", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(write_to(&sid, other), NFS4_OK);
	assert_memory_equal(other, wrote, sizeof(other));
	assert_int_equal(commit(verf), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
	/* nor does a failed sync of a directory affect data */
	root = obj_root(env.sv.objs);
	fails = EIO;
	assert_int_equal(stable_sync(env.sv.stable, root), -EIO);
	obj_unref(env.sv.objs, root);
	assert_int_equal(commit(verf), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
}

/* No file gets back a verifier that it had before, also when the counts of all begin anew. */
static void many_files_that_cannot_be_synced_change_the_verifier_of_all(void **state)
{
	uint8_t first[STABLE_VERF], failed[STABLE_VERF], verf[STABLE_VERF];
	struct obj *o, *other;
	char name[16];

	open_file("f");
	o = object_of("f");
	stable_verf(env.sv.stable, o, first);
	fails = EIO;
	assert_int_equal(stable_sync(env.sv.stable, o), -EIO);
	stable_verf(env.sv.stable, o, failed);
	assert_memory_not_equal(first, failed, sizeof(first));
	for (unsigned i = 0; i < STABLE_FAILED; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(
			env_open(&env, name, true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh),
			NFS4_OK);
		other = object_of(name);
		fails = EIO;
		assert_int_equal(stable_sync(env.sv.stable, other), -EIO);
		obj_unref(env.sv.objs, other);
		stable_verf(env.sv.stable, o, verf);
		assert_memory_not_equal(first, verf, sizeof(verf));
		assert_int_equal(!memcmp(failed, verf, sizeof(verf)), i < STABLE_FAILED - 1);
	}
	obj_unref(env.sv.objs, o);
}

/* A WRITE with a failed sync loses data of other writers, too. */
static void a_failed_stable_write_is_told_to_all(void **state)
{
	struct nfs4_putfh_args p;
	struct nfs4_write_args w = {
		.stable = NFS_FILE_SYNC, .data = SEG_LIST_MEM((char[]){"data"}, 4)};
	uint8_t wrote[STABLE_VERF], verf[STABLE_VERF];

	open_file("f");
	assert_int_equal(write_to(&sid, wrote), NFS4_OK);
	p.fh = fh;
	w.stateid = sid;
	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_write_args(&env.args, &w);
	fails = EIO;
	assert_int_equal(env_run(&env, 3), NFS4ERR_IO);
	assert_int_equal(commit(verf), NFS4_OK);
	assert_memory_not_equal(verf, wrote, sizeof(verf));
}

static void fail_a_sync(void)
{
	struct obj *o = object_of("f");

	fails = ENOSPC;
	assert_int_equal(stable_sync(env.sv.stable, o), -ENOSPC);
	obj_unref(env.sv.objs, o);
}

/* Another sync fails between the data of a stable WRITE and the sync for that data, which succeeds:
 * the kernel reports a lost page once. */
static void a_sync_that_fails_meanwhile_fails_a_stable_write(void **state)
{
	open_file("f");
	assert_int_equal(env_write(&env, &fh, &sid, 0, (char[]){"data"}, 4), NFS4_OK);
	at_write = fail_a_sync;
	assert_int_equal(env_write(&env, &fh, &sid, 0, (char[]){"data"}, 4), NFS4ERR_IO);
	assert_int_equal(env_write(&env, &fh, &sid, 0, (char[]){"data"}, 4), NFS4_OK);
	at_write = fail_a_sync;
	assert_int_equal(append_to(4), NFS4ERR_IO);
	assert_int_equal(append_to(8), NFS4_OK);
	assert_null(at_write);
}

/* How many descriptors of the file are open that can write or sync? */
static unsigned open_fds(const char *name)
{
	char path[128], link[64], target[256];
	unsigned n = 0;

	env_path(&env, name, path, sizeof(path));
	for (int fd = 0; fd < 256; fd++) {
		ssize_t len;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		n += strcmp(target, path) == 0 && !(fcntl(fd, F_GETFL) & O_PATH);
	}
	return n;
}

/* The kernel reports a failed write-back only to descriptors that were open before. */
static void uncommitted_data_keeps_the_file_open(void **state)
{
	struct nfs4_putfh_args p;
	struct nfs4_close_args c;
	uint8_t verf[STABLE_VERF];

	open_file("f");
	assert_int_equal(write_to(&sid, verf), NFS4_OK);
	p.fh = fh;
	c = (struct nfs4_close_args){.stateid = sid};
	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_close_args(&env.args, &c);
	assert_int_equal(env_run(&env, 3), NFS4_OK);
	assert_int_equal(open_fds("f"), 1);
	assert_int_equal(commit(verf), NFS4_OK);
	assert_int_equal(open_fds("f"), 0);
}

static void a_write_during_a_sync_is_not_covered(void **state)
{
	uint8_t verf[STABLE_VERF];
	struct obj *o;
	int fd;

	open_file("f");
	o = object_of("f");
	fd = obj_open(o, O_RDWR);
	assert_true(stable_write_begin(env.sv.stable, o, fd, verf));
	assert_int_equal(stable_sync(env.sv.stable, o), 0);
	assert_non_null(o->unstable);
	stable_write_end(env.sv.stable, o);
	assert_int_equal(stable_sync(env.sv.stable, o), 0);
	assert_null(o->unstable);
	close(fd);
	obj_unref(env.sv.objs, o);
}

static void a_removed_file_is_let_go(void **state)
{
	struct nfs4_name_args r = {.name = {"f", 1}};
	uint8_t verf[STABLE_VERF];
	struct obj *o;
	int fd;

	open_file("f");
	o = object_of("f");
	fd = obj_open(o, O_RDWR);
	assert_true(stable_write_begin(env.sv.stable, o, fd, verf));
	stable_write_end(env.sv.stable, o);
	close(fd);
	env_begin(&env, true);
	nfs4_put_op(&env.args, OP_PUTROOTFH);
	nfs4_put_name_args(&env.args, OP_REMOVE, &r);
	assert_int_equal(env_run(&env, 3), NFS4_OK);
	assert_null(o->unstable);
	obj_unref(env.sv.objs, o);
}

/* --- changes -----------------------------------------------------------------------------------
 */

/* From now on as by default: changes are synced before the answer. */
static void strict(void)
{
	stable_free(env.sv.stable);
	env.sv.stable = stable_new(env.sv.objs, 0, false);
	assert_non_null(env.sv.stable);
	syncs = 0;
}

static void a_change_that_may_not_last_is_an_error(void **state)
{
	env_mount(&env, "client");
	strict();
	fails = EIO;
	assert_int_equal(
		env_open(&env, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4ERR_IO);
	env_expect(&env, OP_PUTROOTFH, NFS4_OK);
	env_expect(&env, OP_OPEN, NFS4ERR_IO);
	assert_true(xdr_in_done(&env.res)); /* no result of the GETFH behind */
	assert_int_equal(syncs, 1);
	/* the kept answer is the same */
	assert_int_equal(env_again(&env), NFS4ERR_IO);
	assert_int_equal(syncs, 1);
	/* nor is the file left open */
	assert_int_equal(env_open(&env, "f", false, OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_DENY_BOTH,
				 "p", &sid, &fh),
		NFS4_OK);
}

/* An open before the failed operation is told, and stays open. */
static void an_open_before_the_failure_stays(void **state)
{
	struct nfs4_open_args o = {.share_access = OPEN4_SHARE_ACCESS_BOTH,
		.owner = {0, {(const uint8_t *)"p", 1}},
		.claim = CLAIM_NULL,
		.name = {"f", 1}};
	const struct nfs_sattr mode = {.mask = NFS_SET_MODE, .mode = 0600};
	struct nfs4_setattr_args set = {0};
	struct nfs4_open_res r;
	uint8_t verf[STABLE_VERF], vals[NFS4_SATTR_MAX];

	open_file("f");
	strict();
	o.owner.clientid = env.clientid;
	nfs4_sattr_encode(&mode, vals, &set.attrs, NULL);
	env_begin(&env, true);
	nfs4_put_op(&env.args, OP_PUTROOTFH);
	nfs4_put_open_args(&env.args, &o);
	nfs4_put_setattr_args(&env.args, &set);
	fails = EIO;
	assert_int_equal(env_run(&env, 4), NFS4ERR_IO);
	env_expect(&env, OP_PUTROOTFH, NFS4_OK);
	env_expect(&env, OP_OPEN, NFS4_OK);
	assert_int_equal(nfs4_get_open_res(&env.res, NFS4_OK, &r), 0);
	env_expect(&env, OP_SETATTR, NFS4ERR_IO);
	assert_int_equal(write_to(&r.stateid, verf), NFS4_OK);
}

/* The call that made a file may have come to a server that died before the sync of the file. */
static void what_was_there_before_is_synced_once(void **state)
{
	char path[128];

	env_path(&env, "f", path, sizeof(path));
	close(open(path, O_CREAT | O_WRONLY, 0600));
	env_mount(&env, "client");
	strict();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			env_open(&env, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh),
			NFS4_OK);
		assert_int_equal(syncs, 1);
	}
	assert_int_equal(
		env_open(&env, "g", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(syncs, 2);
}

/* A create that failed only because of the sync is tried again, and finds the file. */
static void what_failed_to_be_synced_is_synced_again(void **state)
{
	env_mount(&env, "client");
	strict();
	assert_int_equal(
		env_open(&env, "f", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(syncs, 1);
	fails = EIO;
	assert_int_equal(
		env_open(&env, "g", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4ERR_IO);
	assert_int_equal(syncs, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			env_open(&env, "g", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh),
			NFS4_OK);
		assert_int_equal(syncs, 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_failed_commit_is_told_to_all),
		TEST(a_failed_sync_is_told_of_its_file_alone),
		TEST(many_files_that_cannot_be_synced_change_the_verifier_of_all),
		TEST(a_failed_stable_write_is_told_to_all),
		TEST(a_sync_that_fails_meanwhile_fails_a_stable_write),
		TEST(uncommitted_data_keeps_the_file_open),
		TEST(a_write_during_a_sync_is_not_covered),
		TEST(a_removed_file_is_let_go),
		TEST(a_change_that_may_not_last_is_an_error),
		TEST(an_open_before_the_failure_stays),
		TEST(what_was_there_before_is_synced_once),
		TEST(what_failed_to_be_synced_is_synced_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
