/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_nlm_run: the life of a lock request. This file has its own calls
 * to
 * the lock manager (nfs3_nlm_call): each call is written down, and answered from a script.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v3/nfs3_nlm_call.h"
#include "nfsproto/v3/nfs3_nlm_ctx.h"
#include "nfsproto/v3/nfs3_nlm_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define TOP UINT64_MAX

static struct nfs3_nlm nlm;
static struct nfs3_client client;
static struct nfs_open file;
static int connection; /* the connection, which exists: only its address counts */
static struct nfs_op op;
static bool ended;
static unsigned lost;
static char calls[500]; /* calls since the last look */

/* --- the lock manager ------------------------------------------------------------------------- */

static struct nfs3_nlm_answer script[8];
static unsigned nscript, next_answer;
static enum nfs3_nlm_what connected;
static bool quits, disconnects; /* during the next call */

static void answers(enum nfs3_nlm_what what, int error)
{
	script[nscript++] = (struct nfs3_nlm_answer){.what = what, .error = error};
}

static struct nfs3_nlm_answer called(const char *name, uint64_t start, uint64_t end)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s%s %llu-%lld", len ? ", " : "", name,
		(unsigned long long)start, (long long)end);
	nlm.quit |= quits;
	if (disconnects)
		nlm.rpc = NULL;
	atomic_store(&nlm.stop, quits);
	if (next_answer < nscript) {
		op.be.v3.cancelled |= script[next_answer].what == NFS3_NLM_STOPPED && !quits;
		return script[next_answer++];
	}
	return (struct nfs3_nlm_answer){.what = NFS3_NLM_DONE};
}

enum nfs3_nlm_what nfs3_nlm_connect(struct nfs3_client *c)
{
	op.be.v3.cancelled = nfs3_nlm_gave_up(&nlm) && !nlm.quit;
	return connected;
}

struct nfs3_nlm_answer nfs3_nlm_lock(struct nfs3_client *c, struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, bool reclaim)
{
	assert_false(reclaim);
	return called(write ? "write" : "read", start, end);
}

struct nfs3_nlm_answer nfs3_nlm_unlock(
	struct nfs3_client *c, struct nfs3_lock_ctx *ctx, uint64_t start, uint64_t end)
{
	return called("unlock", start, end);
}

struct nfs3_nlm_answer nfs3_nlm_test(struct nfs3_client *c, const struct nfs3_lock_ctx *ctx,
	uint64_t start, uint64_t end, bool write, struct nfs3_nlm_holder *holder)
{
	*holder = (struct nfs3_nlm_holder){.h = {.exclusive = true, .offset = 5, .len = 10}};
	return called("test", start, end);
}

/* --- requests --------------------------------------------------------------------------------- */

static void op_done(struct nfs_op *o)
{
	assert_ptr_equal(o, &op);
	ended = true;
}

/* in place of nfs_client's, which knows all back ends, and so the true lock manager */
void nfs_tell_lost(struct nfs_client *c, const struct nfs_fh *fh, enum nfs_lost what)
{
	assert_ptr_equal(c, &client.base);
	assert_int_equal(what, NFS_LOST_LOCK);
	lost++;
}

static int setup(void **state)
{
	memset(&nlm, 0, sizeof(nlm));
	memset(&client, 0, sizeof(client));
	mutex_init(&nlm.lock);
	TAILQ_INIT(&nlm.queue);
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++)
		LIST_INIT(&nlm.bucket[i]);
	nfs3_held_open(&nlm.held, -1, 0, false);
	nlm.rpc = (struct rpc_client *)&connection;
	client.nlm = &nlm;
	memset(&file, 0, sizeof(file));
	atomic_init(&file.refs, 100);
	nscript = next_answer = lost = 0;
	quits = disconnects = false;
	connected = NFS3_NLM_DONE;
	calls[0] = '\0';
	return 0;
}

static int teardown(void **state)
{
	for (unsigned i = 0; i < NFS3_NLM_BUCKETS; i++) {
		struct nfs3_lock_ctx *ctx;

		while ((ctx = LIST_FIRST(&nlm.bucket[i]))) {
			lock_ranges_drop(&ctx->ranges);
			nfs3_nlm_ctx_found(ctx);
			nfs3_nlm_ctx_put(&nlm, ctx);
		}
	}
	nfs3_held_close(&nlm.held);
	mutex_destroy(&nlm.lock);
	return 0;
}

static void run(enum nfs_op_type type, int lock, uint64_t start, uint64_t end, bool wait)
{
	op = (struct nfs_op){.type = type, .done = op_done};
	if (type == NFS_LOCK) {
		op.u.lock.fh = (struct nfs_fh){.len = 1, .data = {7}};
		op.u.lock.open = &file;
		op.u.lock.owner = 1;
		op.u.lock.type = lock;
		op.u.lock.start = start;
		op.u.lock.end = end;
		op.u.lock.wait = wait;
	} else {
		op.u.lockt.fh = (struct nfs_fh){.len = 1, .data = {7}};
		op.u.lockt.owner = 2;
		op.u.lockt.type = lock;
		op.u.lockt.start = start;
		op.u.lockt.end = end;
	}
	ended = false;
	nlm.current = &op;
	nfs3_nlm_run(&client, &op);
	assert_null(nlm.current);
}

/* The op ends with error, after these calls. */
static void ends(int error, const char *made)
{
	assert_true(ended && TAILQ_EMPTY(&nlm.queue));
	assert_int_equal(op.error, error);
	assert_string_equal(calls, made);
	calls[0] = '\0';
	nscript = next_answer = 0;
}

/* The op is to run again after least_ms. */
static void waits(unsigned least_ms)
{
	assert_false(ended);
	assert_ptr_equal(TAILQ_FIRST(&nlm.queue), &op);
	assert_true(op.due_ns + NSEC_PER_SEC / 2 >= clock_ns() + least_ms * NSEC_PER_MSEC);
	TAILQ_REMOVE(&nlm.queue, &op, link);
	calls[0] = '\0';
	nscript = next_answer = 0;
}

static void lock(int type, uint64_t start, uint64_t end)
{
	run(NFS_LOCK, type, start, end, false);
	assert_true(ended && op.error == 0);
	calls[0] = '\0';
}

static const struct lock_ranges *held(void)
{
	const struct nfs3_lock_ctx *ctx =
		nfs3_nlm_ctx_find(&nlm, 1, &(struct nfs_fh){.len = 1, .data = {7}});
	static const struct lock_ranges none;

	return ctx ? &ctx->ranges : &none;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void each_answer_has_its_end(void **state)
{
	static const struct {
		enum nfs3_nlm_what what;
		int error;
	} bad[] = {
		{NFS3_NLM_DENIED, -EAGAIN},
		{NFS3_NLM_REFUSED, -ENOLCK},
		{NFS3_NLM_REFUSED, -EDEADLK},
		{NFS3_NLM_ABSENT, -ENOLCK},
		{NFS3_NLM_UNREACHABLE, -ENOTCONN},
		{NFS3_NLM_BROKEN, -EREMOTEIO},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		answers(bad[i].what, bad[i].error);
		run(NFS_LOCK, F_WRLCK, 10, 19, false);
		ends(bad[i].error, "write 10-19");
		assert_int_equal(held()->n, 0);
	}
	run(NFS_LOCK, F_RDLCK, 10, TOP, false);
	ends(0, "read 10--1");
	assert_true(held()->n == 1 && atomic_load(&file.locks) == 1);
	run(NFS_LOCK, F_UNLCK, 0, TOP, false);
	ends(0, "unlock 0--1");
	assert_true(held()->n == 0 && atomic_load(&file.locks) == 0);
}

static void what_may_come_yet_is_asked_for_again(void **state)
{
	answers(NFS3_NLM_DENIED, -EAGAIN);
	run(NFS_LOCK, F_WRLCK, 0, 9, true);
	waits(50);
	answers(NFS3_NLM_GRACE, -EAGAIN);
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	waits(1000);
	answers(NFS3_NLM_GRACE, -EAGAIN);
	run(NFS_LOCKT, F_WRLCK, 0, 9, false);
	waits(1000);
	/* the lock manager has gone: the client looks for a new one */
	disconnects = true;
	answers(NFS3_NLM_SILENT, -ETIMEDOUT);
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	waits(0);
	answers(NFS3_NLM_UNREACHABLE, -ENOTCONN);
	run(NFS_LOCKT, F_WRLCK, 0, 9, false);
	waits(1000);
	client.soft = true; /* a caller with a time limit hears the error */
	answers(NFS3_NLM_UNREACHABLE, -ENOTCONN);
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	ends(-ENOTCONN, "write 0-9");
}

static void without_a_lock_manager_there_is_no_call(void **state)
{
	connected = NFS3_NLM_ABSENT;
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	ends(-ENOLCK, "");
	nlm.known = true;
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	waits(1000);
	nlm.known = false;
	connected = NFS3_NLM_UNREACHABLE; /* the whole server is down */
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	waits(1000);
	client.soft = true;
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	ends(-ENOLCK, "");
	client.soft = false;
	connected = NFS3_NLM_STOPPED; /* another op was cancelled, */
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	waits(0);
	atomic_store(&nlm.stop, true); /* or the end of the mount */
	run(NFS_LOCK, F_WRLCK, 0, 9, false);
	ends(-EINTR, "");
}

static void what_may_have_been_granted_is_given_back(void **state)
{
	static const enum nfs3_nlm_what unknown[] = {NFS3_NLM_SILENT, NFS3_NLM_STOPPED};

	for (unsigned i = 0; i < 2; i++) {
		answers(unknown[i], i ? -EINTR : -ETIMEDOUT);
		run(NFS_LOCK, F_WRLCK, 10, 19, false);
		ends(i ? -EINTR : -ETIMEDOUT, "write 10-19, unlock 10-19");
		assert_int_equal(held()->n, 0);
	}
	/* also where the server must be told more than once, but not for ever */
	answers(NFS3_NLM_SILENT, -ETIMEDOUT);
	for (unsigned i = 0; i < 7; i++)
		answers(NFS3_NLM_GRACE, -EAGAIN);
	run(NFS_LOCK, F_WRLCK, 10, 19, false);
	ends(-ETIMEDOUT, "write 10-19, unlock 10-19, unlock 10-19, unlock 10-19, unlock 10-19, "
			 "unlock 10-19");
}

static void what_was_held_before_stays_held(void **state)
{
	lock(F_RDLCK, 5, 12);
	lock(F_RDLCK, 15, 16);
	answers(NFS3_NLM_SILENT, -ETIMEDOUT);
	run(NFS_LOCK, F_WRLCK, 10, 19, false);
	ends(-ETIMEDOUT, "write 10-19, read 5-12, unlock 13-14, read 15-16, unlock 17-19");
	assert_int_equal(held()->n, 2);
	assert_int_equal(lost, 0);
	/* an unlock that may not have been carried out is carried out once more */
	answers(NFS3_NLM_SILENT, -ETIMEDOUT);
	run(NFS_LOCK, F_UNLCK, 15, 16, false);
	ends(-ETIMEDOUT, "unlock 15-16, unlock 15-16");
	assert_int_equal(held()->n, 1);
}

static void what_somebody_else_took_meanwhile_is_lost(void **state)
{
	lock(F_RDLCK, 5, 12);
	answers(NFS3_NLM_STOPPED, -EINTR);
	answers(NFS3_NLM_DENIED, -EAGAIN);
	run(NFS_LOCK, F_WRLCK, 10, 19, false);
	ends(-EINTR, "write 10-19, read 5-12, unlock 13-19");
	assert_int_equal(held()->n, 0);
	assert_int_equal(lost, 1);
	assert_int_equal(atomic_load(&file.locks_lost), 1);
	run(NFS_LOCK, F_UNLCK, 0, TOP, false); /* and this unlock forgets the lost lock */
	ends(0, "");
	assert_int_equal(atomic_load(&file.locks_lost), 0);
}

/* No further calls; the end of the mount clears the lock with all others. */
static void at_the_end_of_the_mount_it_counts_as_held(void **state)
{
	quits = true;
	answers(NFS3_NLM_STOPPED, -EINTR);
	run(NFS_LOCK, F_WRLCK, 10, 19, false);
	ends(-ENOTCONN, "write 10-19");
	assert_int_equal(held()->n, 1);
	answers(NFS3_NLM_STOPPED, -EINTR);
	run(NFS_LOCK, F_UNLCK, 10, 19, false);
	ends(-ENOTCONN, "unlock 10-19");
	assert_int_equal(held()->n, 1);
}

static void what_is_not_held_is_not_unlocked(void **state)
{
	run(NFS_LOCK, F_UNLCK, 0, TOP, false);
	ends(0, "");
	lock(F_WRLCK, 10, 19);
	run(NFS_LOCK, F_UNLCK, 20, TOP, false);
	ends(0, "");
	answers(NFS3_NLM_REFUSED, -ESTALE); /* the file is gone, and also the lock */
	run(NFS_LOCK, F_UNLCK, 10, 19, false);
	ends(-ESTALE, "unlock 10-19");
	assert_int_equal(held()->n, 0);
}

static void who_holds_it_is_told(void **state)
{
	run(NFS_LOCKT, F_WRLCK, 0, 9, false);
	ends(0, "test 0-9");
	assert_int_equal(op.u.lockt.type, F_UNLCK);
	answers(NFS3_NLM_DENIED, -EAGAIN);
	run(NFS_LOCKT, F_WRLCK, 0, 9, false);
	ends(0, "test 0-9");
	assert_int_equal(op.u.lockt.type, F_WRLCK);
	assert_true(op.u.lockt.start == 5 && op.u.lockt.end == 14 && !op.u.lockt.here);
	lock(F_WRLCK, 5, 14);
	answers(NFS3_NLM_DENIED, -EAGAIN);
	run(NFS_LOCKT, F_WRLCK, 0, 9, false);
	ends(0, "test 0-9");
	assert_true(op.u.lockt.here && op.u.lockt.holder == 1);
	answers(NFS3_NLM_REFUSED, -EAGAIN);
	run(NFS_LOCKT, F_WRLCK, 0, 9, false);
	ends(-EAGAIN, "test 0-9");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_answer_has_its_end),
		T(what_may_come_yet_is_asked_for_again),
		T(without_a_lock_manager_there_is_no_call),
		T(what_may_have_been_granted_is_given_back),
		T(what_was_held_before_stays_held),
		T(what_somebody_else_took_meanwhile_is_lost),
		T(at_the_end_of_the_mount_it_counts_as_held),
		T(what_is_not_held_is_not_unlocked),
		T(who_holds_it_is_told),
	};

	log_init("test-nfs3_nlm_run", LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
