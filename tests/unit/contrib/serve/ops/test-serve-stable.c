/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/ops/stable: the effect of a failed sync on other clients, the
 * descriptors that are kept for a sync, and shared syncs. fsync() is the tests' own here, and
 * pwrite()
 * calls the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/state/answers.h"
#include "tests/unit/contrib/serve/serve-env.h"

/* --- fsync() ------------------------------------------------------------------------------------
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned syncs, held;  /* lock */
static int fails;	      /* lock: the next sync */
static bool holding;	      /* lock */
static void (*at_sync)(void); /* each sync calls it, unless NULL */

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	int r;

	if (at_sync)
		at_sync();
	pthread_mutex_lock(&lock);
	syncs++;
	held++;
	pthread_cond_broadcast(&changed);
	while (holding)
		pthread_cond_wait(&changed, &lock);
	held--;
	r = fails;
	fails = 0;
	pthread_mutex_unlock(&lock);
	errno = r;
	return r ? -1 : 0;
}

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

static void hold(bool yes)
{
	pthread_mutex_lock(&lock);
	holding = yes;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_held(unsigned n)
{
	pthread_mutex_lock(&lock);
	while (held < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* --- a server ----------------------------------------------------------------------------------
 */

static struct serve_env env;

static int setup(void **state)
{
	syncs = 0;
	fails = 0;
	at_sync = NULL;
	env_init_in(&env, "/var/tmp"); /* a file system with storage */
	return 0;
}

static int teardown(void **state)
{
	env_finish(&env);
	return 0;
}

static uint32_t write_to(const struct nfs4_stateid *sid, const struct nfs_fh *fh, uint8_t *verf)
{
	struct nfs4_putfh_args p = {*fh};
	struct nfs4_write_args w = {
		.stateid = *sid, .stable = NFS_UNSTABLE, .data = SEG_LIST_MEM((char[]){"data"}, 4)};
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

static uint32_t commit(const struct nfs_fh *fh, uint8_t *verf)
{
	struct nfs4_putfh_args p = {*fh};
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

/* A stable append: a WRITE behind VERIFY of the size. */
static uint32_t append_to(const struct nfs4_stateid *sid, const struct nfs_fh *fh, uint64_t end)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_SIZE, -1);
	const struct nfs4_attrs attrs = {.mask = mask, .attr.size = end};
	struct nfs4_putfh_args p = {*fh};
	struct nfs4_write_args w = {.stateid = *sid,
		.offset = end,
		.stable = NFS_FILE_SYNC,
		.data = SEG_LIST_MEM((char[]){"data"}, 4)};

	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_op(&env.args, OP_VERIFY);
	nfs4_put_attrs(&env.args, &mask, &attrs);
	nfs4_put_write_args(&env.args, &w);
	return env_run(&env, 4);
}

static struct nfs4_stateid sid;
static struct nfs_fh fh;

static void open_file(const char *name)
{
	env_mount(&env, "client");
	assert_int_equal(
		env_open(&env, name, true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
}

/* The caller of the failed COMMIT is told; all other callers find another verifier. */
static void a_failed_commit_is_told_to_all(void **state)
{
	uint8_t wrote[STABLE_VERF], verf[STABLE_VERF];

	open_file("f");
	assert_int_equal(write_to(&sid, &fh, wrote), NFS4_OK);
	fails = ENOSPC;
	assert_int_equal(commit(&fh, verf), NFS4ERR_NOSPC);
	assert_int_equal(commit(&fh, verf), NFS4_OK);
	assert_memory_not_equal(verf, wrote, sizeof(verf));
	/* later writes are safe with the new verifier */
	assert_int_equal(write_to(&sid, &fh, wrote), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
	assert_int_equal(commit(&fh, verf), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
}

static struct obj *object_of(const char *name)
{
	struct obj *root = obj_root(env.sv.objs), *o;

	assert_int_equal(obj_lookup(env.sv.objs, root, name, strlen(name), &o, NULL), 0);
	obj_unref(env.sv.objs, root);
	return o;
}

static void a_failed_sync_is_told_of_its_file_alone(void **state)
{
	uint8_t wrote[STABLE_VERF], verf[STABLE_VERF], other[STABLE_VERF];
	struct obj *root;

	open_file("f");
	assert_int_equal(write_to(&sid, &fh, wrote), NFS4_OK);
	fails = EIO;
	assert_int_equal(commit(&fh, verf), NFS4ERR_IO);
	assert_int_equal(
		env_open(&env, "g", true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(write_to(&sid, &fh, other), NFS4_OK);
	assert_memory_equal(other, wrote, sizeof(other));
	assert_int_equal(commit(&fh, verf), NFS4_OK);
	assert_memory_equal(verf, wrote, sizeof(verf));
	/* nor does a failed sync of a directory affect data */
	root = obj_root(env.sv.objs);
	fails = EIO;
	assert_int_equal(stable_sync(env.sv.stable, root), -EIO);
	obj_unref(env.sv.objs, root);
	assert_int_equal(commit(&fh, verf), NFS4_OK);
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
	assert_int_equal(write_to(&sid, &fh, wrote), NFS4_OK);
	p.fh = fh;
	w.stateid = sid;
	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_write_args(&env.args, &w);
	fails = EIO;
	assert_int_equal(env_run(&env, 3), NFS4ERR_IO);
	assert_int_equal(commit(&fh, verf), NFS4_OK);
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
	assert_int_equal(append_to(&sid, &fh, 4), NFS4ERR_IO);
	assert_int_equal(append_to(&sid, &fh, 8), NFS4_OK);
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
	assert_int_equal(write_to(&sid, &fh, verf), NFS4_OK);
	p.fh = fh;
	c = (struct nfs4_close_args){.stateid = sid};
	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_close_args(&env.args, &c);
	assert_int_equal(env_run(&env, 3), NFS4_OK);
	assert_int_equal(open_fds("f"), 1);
	assert_int_equal(commit(&fh, verf), NFS4_OK);
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
	struct nfs4_remove_args r = {.name = {"f", 1}};
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
	nfs4_put_remove_args(&env.args, &r);
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
	assert_int_equal(write_to(&r.stateid, &fh, verf), NFS4_OK);
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

/* --- threads -----------------------------------------------------------------------------------
 */

static void *sync_thread(void *arg)
{
	return (void *)(intptr_t)stable_sync(env.sv.stable, arg);
}

#define CALLERS 8

static unsigned ended; /* lock */
static int ended_err;  /* lock */

static void job_done(struct stable_job *job, int err)
{
	pthread_mutex_lock(&lock);
	ended++;
	ended_err = err;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_ended(unsigned n)
{
	pthread_mutex_lock(&lock);
	while (ended < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* While one sync runs, other callers gather, and the next sync is for all of them. */
static void many_share_a_sync(void **state)
{
	struct stable_job job[CALLERS] = {0};
	struct stable *s = stable_new(env.sv.objs, 2, false);
	struct obj *root = obj_root(env.sv.objs);

	ended = 0;
	hold(true);
	for (int i = 0; i < CALLERS; i++) {
		job[i].done = job_done;
		stable_want(s, &job[i].set, root);
		stable_want(s, &job[i].set, root); /* counts once */
		assert_int_equal(job[i].set.n, 1);
		stable_finish(s, &job[i]);
		if (i == 0)
			wait_held(1);
	}
	hold(false);
	wait_ended(CALLERS);
	assert_int_equal(syncs, 2);
	stable_free(s);
	obj_unref(env.sv.objs, root);
}

/* A failure also counts for the waiters for the next sync. */
static void a_failure_is_that_of_the_next_in_the_queue(void **state)
{
	struct stable_job job[2] = {{.done = job_done}, {.done = job_done}};
	struct stable *s = stable_new(env.sv.objs, 2, false);
	struct obj *root = obj_root(env.sv.objs);

	ended = 0;
	hold(true);
	fails = EIO;
	for (int i = 0; i < 2; i++) {
		stable_want(s, &job[i].set, root);
		stable_finish(s, &job[i]);
		wait_held(1);
	}
	hold(false);
	wait_ended(2);
	stable_free(s);
	assert_int_equal(job[0].err, -EIO);
	assert_int_equal(job[1].err, -EIO);
	assert_int_equal(syncs, 1);
	obj_unref(env.sv.objs, root);
}

static void answered(struct compound *c)
{
	assert_null(c->probe);
	job_done(NULL, (int)c->status);
}

/* The thread of the connection goes on while a sync runs; the slot is not free before the sync has
 * ended. */
static void an_answer_does_not_hold_up_the_next_call(void **state)
{
	static uint8_t call[sizeof(env.call)], reply[sizeof(env.reply)];
	struct nfs4_create_args a = {.type = NF4DIR, .name = {"d", 1}};
	struct rpc_req req = {.res_max = sizeof(reply)};
	struct compound *c;

	env_mount(&env, "client");
	stable_free(env.sv.stable);
	env.sv.stable = stable_new(env.sv.objs, 2, false);
	env_begin(&env, true);
	nfs4_put_op(&env.args, OP_PUTROOTFH);
	nfs4_put_create_args(&env.args, &a);
	xdr_patch_u32(&env.args, env.count_at, 3);
	memcpy(call, env.call, env.args.len);
	req.cred.flavor = RPC_AUTH_SYS;
	xdr_in_init(&req.args, call, env.args.len);
	xdr_out_init(&req.res, reply, SERVE_RES_CAP);
	ended = syncs = 0;
	hold(true);
	c = compound_new(&env.sv, &req);
	assert_non_null(c);
	assert_true(compound_run(c));
	compound_end(c, answered);
	wait_held(1);
	assert_int_equal(ended, 0);
	assert_int_equal(env_again(&env), NFS4ERR_DELAY); /* the same call again, too early */
	hold(false);
	wait_ended(1);
	assert_int_equal(ended_err, NFS4_OK);
	assert_int_equal(env_again(&env), NFS4_OK);
	assert_int_equal(syncs, 1);
}

static void one_failure_is_that_of_all_who_waited(void **state)
{
	pthread_t thread[CALLERS];
	struct obj *root = obj_root(env.sv.objs);
	void *r;

	hold(true);
	fails = EIO;
	pthread_create(&thread[0], NULL, sync_thread, root);
	wait_held(1);
	hold(false);
	pthread_join(thread[0], &r);
	assert_int_equal((intptr_t)r, -EIO);
	assert_int_equal(stable_sync(env.sv.stable, root), 0);
	obj_unref(env.sv.objs, root);
}

/* Two objects of one answer, in order; a failure of the first object ends the wait. */
static void an_answer_waits_for_all_it_needs(void **state)
{
	struct stable *s = stable_new(env.sv.objs, 2, false);
	struct obj *root = obj_root(env.sv.objs), *f;
	struct stable_job job = {.done = job_done};

	open_file("f");
	f = object_of("f");
	ended = 0;
	syncs = 0;
	stable_want(s, &job.set, f);
	stable_want(s, &job.set, root);
	stable_finish(s, &job);
	wait_ended(1);
	assert_int_equal(ended_err, 0);
	assert_int_equal(syncs, 2);
	fails = EIO;
	stable_want(s, &job.set, f);
	stable_want(s, &job.set, root);
	stable_finish(s, &job);
	wait_ended(2);
	assert_int_equal(ended_err, -EIO);
	assert_int_equal(syncs, 3);
	stable_free(s);
	obj_unref(env.sv.objs, f);
	obj_unref(env.sv.objs, root);
}

static char answers_path[128], copy_path[128];
static unsigned answers_seen;

static void copy_answers(void)
{
	int from = open(answers_path, O_RDONLY), to = open(copy_path, O_WRONLY | O_CREAT, 0600);
	struct stat st;

	assert_true(from >= 0 && to >= 0);
	assert_int_equal(fstat(from, &st), 0);
	assert_int_equal(copy_file_range(from, NULL, to, NULL, (size_t)st.st_size, 0), st.st_size);
	close(from);
	close(to);
}

/* The kept answers as the next run would find them, if this run were killed now. */
static void look_for_the_answer(void)
{
	const struct answers_v4 key = {env.session, 0, env.slot_seq};
	struct answers *next;
	struct answer found;

	copy_answers();
	next = answers_new(copy_path);
	assert_non_null(next);
	answers_seen += answers_find(next, &key, sizeof(key), &found);
	answers_free(next);
}

/* Also if directories are not synced, as here: an append is data. */
static void an_append_is_known_to_the_next_run_before_it_is_synced(void **state)
{
	open_file("f");
	env_path(&env, ".answers", answers_path, sizeof(answers_path));
	env_path(&env, ".copy", copy_path, sizeof(copy_path));
	env.sv.answers = answers_new(answers_path);
	answers_seen = 0;
	at_sync = look_for_the_answer;
	assert_int_equal(append_to(&sid, &fh, 0), NFS4_OK);
	assert_int_equal(syncs, 1);
	assert_int_equal(answers_seen, 1);
	at_sync = NULL;
	fails = ENOSPC;
	assert_int_equal(append_to(&sid, &fh, 4), NFS4ERR_NOSPC);
	assert_int_equal(syncs, 2);
	env.sv.answers = answers_free(env.sv.answers);
	assert_int_equal(unlink(answers_path), 0);
	assert_int_equal(unlink(copy_path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_failed_commit_is_told_to_all, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_append_is_known_to_the_next_run_before_it_is_synced, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_failed_sync_is_told_of_its_file_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(
			many_files_that_cannot_be_synced_change_the_verifier_of_all, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_failed_stable_write_is_told_to_all, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_sync_that_fails_meanwhile_fails_a_stable_write, setup, teardown),
		cmocka_unit_test_setup_teardown(
			uncommitted_data_keeps_the_file_open, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_write_during_a_sync_is_not_covered, setup, teardown),
		cmocka_unit_test_setup_teardown(a_removed_file_is_let_go, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_change_that_may_not_last_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(an_open_before_the_failure_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_was_there_before_is_synced_once, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_failed_to_be_synced_is_synced_again, setup, teardown),
		cmocka_unit_test_setup_teardown(many_share_a_sync, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_failure_is_that_of_the_next_in_the_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_answer_does_not_hold_up_the_next_call, setup, teardown),
		cmocka_unit_test_setup_teardown(
			one_failure_is_that_of_all_who_waited, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_waits_for_all_it_needs, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
