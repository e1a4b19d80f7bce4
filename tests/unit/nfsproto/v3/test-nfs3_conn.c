/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit test of nfsproto/v3/nfs3_conn: locks of a mount that loses one of several connections, or
 * all.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"
#include "nfsproto/common/nfs_backend.h"
#include "transport/rpc/rpc_paths.h"

static const struct timespec pause_1ms = {.tv_nsec = 1000000};

static unsigned nulls(struct fix3 *f)
{
	unsigned n;

	pthread_mutex_lock(&f->m.lock);
	n = f->m.count[NFS3PROC_NULL];
	pthread_mutex_unlock(&f->m.lock);
	return n;
}

/* A mount with this number of connections, and a lock through the returned open file. */
static struct nfs_open *mount_and_lock(struct fix3 *f, unsigned connections)
{
	struct nfs_open *o;

	f->nconnect = connections;
	fix3_mount_root(f);
	while (nulls(f) < connections) /* the first call of each */
		nanosleep(&pause_1ms, NULL);
	o = fix3_open_file(f);
	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	return o;
}

static void wait_for_all(struct fix3 *f)
{
	for (unsigned i = 0; i < f->nfs->nrpcs; i++)
		while (!rpc_client_is_up(f->nfs->rpcs[i]))
			nanosleep(&pause_1ms, NULL);
}

/* The server ends the first connection, which small calls take. also: and then the one that is
 * asked whether the server has restarted. */
static void lose_first(struct fix3 *f, bool also)
{
	pthread_mutex_lock(&f->m.lock);
	f->m.cut_null = also;
	f->m.cut = NFS3PROC_GETATTR;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_getattr(f), 0);
	wait_for_all(f);
}

/* The server has not restarted: the other connection is unbroken. */
static void one_lost_connection_puts_no_lock_in_doubt(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = mount_and_lock(f, 2);
	struct fix3_seen s;

	for (unsigned i = 1; i <= 3; i++) {
		unsigned before = nulls(f);

		lose_first(f, false);
		assert_int_equal(fix3_write_through(f, o), 0);
		s = fix3_seen(f);
		assert_true(s.locks == 1 && s.reclaims == 0 && s.tests == 0 && s.writes == i);
		assert_int_equal(nulls(f), before + 1);
	}
	fix3_close_file(f, o);
}

/* The witness is lost, too, in place of an answer. */
static void all_lost_connections_put_locks_in_doubt(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = mount_and_lock(f, 2);
	struct fix3_seen s;

	for (unsigned i = 1; i <= 2; i++) {
		lose_first(f, true);
		assert_int_equal(fix3_write_through(f, o), 0);
		s = fix3_seen(f);
		assert_true(s.locks >= 1 + i && s.reclaims >= i && s.tests == 0 && s.writes == i);
		while (f->m.cut_null)
			nanosleep(&pause_1ms, NULL);
		wait_for_all(f);
		assert_int_equal(fix3_getattr(f), 0);
	}
	fix3_close_file(f, o);
}

/* A WRITE that relies on the lock stays under way on the other connection. */
static void a_witness_keeps_its_calls(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = mount_and_lock(f, 2);
	static struct nfs_op before;
	static sem_t sem;

	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_WRITE] = true;
	pthread_mutex_unlock(&f->m.lock);
	rpc_client_hold_back(f->nfs->rpcs[0], true);
	before = fix3_write_op(f, o);
	fix3_start(f, &before, &sem);
	while (fix3_seen(f).writes < 1)
		nanosleep(&pause_1ms, NULL);
	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_WRITE] = false;
	pthread_mutex_unlock(&f->m.lock);
	rpc_client_hold_back(f->nfs->rpcs[0], false);
	lose_first(f, false);
	assert_int_equal(fix3_write_through(f, o), 0);
	assert_int_equal(fix3_seen(f).writes, 2);
	assert_int_equal(sem_trywait(&sem), -1);
	f->nfs = nfs_client_free(f->nfs);
	fix3_wait(&sem);
	assert_int_equal(before.error, -ENOTCONN);
}

/* The server has restarted its lock manager alone. */
static void a_lock_manager_that_comes_back_is_asked(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = mount_and_lock(f, 2);

	pthread_mutex_lock(&f->m.lock);
	f->m.cut_nlm = true;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	while (fix3_seen(f).reclaims < 1)
		nanosleep(&pause_1ms, NULL);
	assert_int_equal(fix3_write_through(f, o), 0);
	fix3_close_file(f, o);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fix3_setup_unmounted, fix3_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_lost_connection_puts_no_lock_in_doubt),
		TEST(all_lost_connections_put_locks_in_doubt),
		TEST(a_witness_keeps_its_calls),
		TEST(a_lock_manager_that_comes_back_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
