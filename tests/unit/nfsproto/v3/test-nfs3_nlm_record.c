/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_nlm_record and nfs3_record: a mount with locks is taken over while
 * its former client is still there, and says nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v3/nfs3_nlm.h"
#include "nfsproto/v3/nfs3_nlm_record.h"
#include "tests/unit/nfsproto/v3/nfs3-fixture.h"

#define WAIT_MS 60000u

static uint8_t bytes[1 << 14];

static bool locks_fail;		     /* a mount gets no thread for locks */
static _Thread_local void *timer_of; /* the server makes threads meanwhile */

int __real_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

/* Of the two threads of a client, the first is the timer. */
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	if (locks_fail && arg == timer_of)
		return EAGAIN;
	timer_of = arg;
	return __real_pthread_create(t, attr, run, arg);
}

static int setup(void **state)
{
	char *dir = strdup("/tmp/rnfs-record-XXXXXX");
	struct fix3 *f;

	if (!mkdtemp(dir) || fix3_setup_unmounted(state))
		return -1;
	f = *state;
	f->state_dir = dir;
	fix3_mount_root(f);
	return 0;
}

static int teardown(void **state)
{
	char *dir = (char *)((struct fix3 *)*state)->state_dir;
	int rc = fix3_teardown(state) || rmdir(dir); /* a clean end has left no file */

	free(dir);
	return rc;
}

static const char *settled(struct fix3 *f)
{
	const char *why = "nothing";

	for (unsigned ms = 0; ms < WAIT_MS && (why = nfs_client_settle(f->nfs)); ms++)
		usleep(1000);
	return why;
}

static void put(struct fix3 *f, struct nfs_open *const open[], uint32_t n, struct nfs_record *rec)
{
	struct xdr_out x;

	assert_null(settled(f));
	xdr_out_init(&x, bytes, sizeof(bytes));
	nfs_client_record(f->nfs, open, n, &x);
	assert_true(xdr_out_ok(&x));
	*rec = (struct nfs_record){.data = bytes, .len = x.len, .nopens = n};
	rec->peer = *nfs_client_peer(f->nfs, &rec->peer_len);
	rec->open = calloc(n + 1, sizeof(struct nfs_open *));
}

static struct nfs_client *take(struct fix3 *f, struct nfs_record *rec, struct err *e)
{
	f->record = rec;
	return fix3_mount(f, "/", false, e);
}

/* The former client ends as its process would: the server does not hear from it. */
static void forget(struct nfs_client *c)
{
	nfs_client_leave_by(c, 1);
	nfs_client_free(c);
}

static unsigned count(struct fix3 *f, unsigned proc)
{
	unsigned n;

	pthread_mutex_lock(&f->m.lock);
	n = f->m.nlm_count[proc];
	pthread_mutex_unlock(&f->m.lock);
	return n;
}

/* The server has the lock, and hears the same owner of the same host. */
static void locks_go_on(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct err e = {.kind = ERR_NONE};
	struct mean3_owner was;
	struct nfs_client *former = f->nfs;
	struct nfs_record rec;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	was = f->m.locker;
	put(f, &o, 1, &rec);
	f->nfs = take(f, &rec, &e);
	assert_non_null(f->nfs);
	/* waits for the claim */
	assert_int_equal(fix3_write_through(f, rec.open[0]), 0);
	assert_int_equal(fix3_seen(f).reclaims, 1);
	assert_int_equal(count(f, NLM4PROC_UNLOCK), 0);
	assert_string_equal(f->m.locker.caller, was.caller);
	assert_int_equal(f->m.locker.svid, was.svid);
	assert_int_equal(fix3_lock_through(f, rec.open[0], F_UNLCK), 0);
	assert_int_equal(f->m.unlocker.svid, was.svid);
	assert_string_equal(f->m.unlocker.oh, was.oh);
	fix3_close_file(f, rec.open[0]);
	forget(former);
	free(rec.open);
}

/* Another client has got the lock: the server has restarted meanwhile. */
static void a_lock_that_the_server_has_forgotten_is_lost(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct err e = {.kind = ERR_NONE};
	struct nfs_client *former = f->nfs;
	struct nfs_record rec;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	put(f, &o, 1, &rec);
	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = 1;
	pthread_mutex_unlock(&f->m.lock);
	f->nfs = take(f, &rec, &e);
	assert_non_null(f->nfs);
	assert_int_equal(fix3_write_through(f, rec.open[0]), -EIO);
	assert_int_equal(fix3_lock_through(f, rec.open[0], F_UNLCK), 0);
	assert_int_equal(fix3_write_through(f, rec.open[0]), 0);
	fix3_close_file(f, rec.open[0]);
	forget(former);
	free(rec.open);
}

/* I/O under a lock would wait for ever for the claim. The next attempt finds all again. */
static void without_a_thread_for_claims_there_is_no_mount(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct err e = {.kind = ERR_NONE};
	struct nfs_client *former = f->nfs;
	struct nfs_record rec;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	put(f, &o, 1, &rec);
	locks_fail = true;
	assert_null(take(f, &rec, &e));
	locks_fail = false;
	assert_string_equal(e.msg, "no thread for the locks: Resource temporarily unavailable");
	assert_int_equal(count(f, NLM4PROC_UNLOCK), 0);
	e.kind = ERR_NONE;
	f->nfs = take(f, &rec, &e);
	assert_non_null(f->nfs);
	assert_int_equal(fix3_write_through(f, rec.open[0]), 0);
	assert_int_equal(fix3_seen(f).reclaims, 1);
	assert_int_equal(fix3_lock_through(f, rec.open[0], F_UNLCK), 0);
	fix3_close_file(f, rec.open[0]);
	forget(former);
	free(rec.open);
}

/* The next attempt of the successor finds all again. */
static void a_damaged_record_gives_nothing_back(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct nfs_record rec;
	size_t len;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	put(f, &o, 1, &rec);
	len = rec.len;
	for (rec.len = 0; rec.len < len; rec.len += 4) {
		struct err e = {.kind = ERR_NONE};

		assert_null(take(f, &rec, &e));
		assert_non_null(strstr(e.msg, "damaged"));
	}
	assert_int_equal(count(f, NLM4PROC_UNLOCK), 0);
	/* the former client goes on */
	assert_int_equal(fix3_write_through(f, o), 0);
	assert_int_equal(fix3_lock_through(f, o, F_UNLCK), 0);
	fix3_close_file(f, o);
	free(rec.open);
}

/* Nothing is written or read outside: for the sanitizers. */
static void a_record_that_lies_does_no_harm(void **state)
{
	static const uint32_t lies[] = {0, 1, 0x7fffffff, 0xffffffff};
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct nfs_client *former = f->nfs;
	struct nfs_record rec;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	put(f, &o, 1, &rec);
	for (size_t at = 0; at + 4 <= rec.len; at += 4) {
		uint32_t was, lie;

		memcpy(&was, bytes + at, 4);
		for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			struct err e = {.kind = ERR_NONE};
			struct nfs_client *c;

			lie = htobe32(lies[i]);
			memcpy(bytes + at, &lie, 4);
			c = take(f, &rec, &e);
			if (c) {
				nfs3_nlm_stop(nfs3_client(c));
				nfs3_nlm_let_go(nfs3_client(c)->nlm);
				forget(c);
			}
		}
		memcpy(bytes + at, &was, 4);
	}
	f->nfs = former;
	assert_int_equal(fix3_lock_through(f, o, F_UNLCK), 0);
	fix3_close_file(f, o);
	free(rec.open);
}

/* A request that waits cannot be handed over. */
static void a_waiting_lock_is_not_settled(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct nfs_op op;
	sem_t sem;

	assert_null(settled(f));
	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = UINT32_MAX;
	pthread_mutex_unlock(&f->m.lock);
	op = fix3_lock_op(f, 7, F_WRLCK, 0, 9, true);
	op.u.lock.open = o;
	fix3_start(f, &op, &sem);
	assert_non_null(nfs_client_settle(f->nfs));
	nfs_interrupt(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
	assert_null(settled(f));
	fix3_close_file(f, o);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(locks_go_on),
		TEST(a_lock_that_the_server_has_forgotten_is_lost),
		TEST(without_a_thread_for_claims_there_is_no_mount),
		TEST(a_damaged_record_gives_nothing_back),
		TEST(a_record_that_lies_does_no_harm),
		TEST(a_waiting_lock_is_not_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
