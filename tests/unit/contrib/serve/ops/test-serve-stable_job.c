/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of the jobs of contrib/serve/ops/stable: syncs that many wait for, and answers behind
 * a sync. fsync() is the tests' own here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/state/answers.h"
#include "tests/unit/contrib/serve/ops/stable-syncs.h"

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
	assert_int_equal(append_to(0), NFS4_OK);
	assert_int_equal(syncs, 1);
	assert_int_equal(answers_seen, 1);
	at_sync = NULL;
	fails = ENOSPC;
	assert_int_equal(append_to(4), NFS4ERR_NOSPC);
	assert_int_equal(syncs, 2);
	env.sv.answers = answers_free(env.sv.answers);
	assert_int_equal(unlink(answers_path), 0);
	assert_int_equal(unlink(copy_path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_append_is_known_to_the_next_run_before_it_is_synced),
		TEST(many_share_a_sync),
		TEST(a_failure_is_that_of_the_next_in_the_queue),
		TEST(an_answer_does_not_hold_up_the_next_call),
		TEST(one_failure_is_that_of_all_who_waited),
		TEST(an_answer_waits_for_all_it_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
