/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs3_nlm: locks against a scripted server.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "nfs3-fixture.h"

static struct nfs_op lock_op(
	struct fix3 *f, uint64_t owner, int type, uint64_t start, uint64_t end, bool wait)
{
	struct nfs_op op = {.type = NFS_LOCK};

	op.u.lock.fh = f->file;
	op.u.lock.owner = owner;
	op.u.lock.type = type;
	op.u.lock.start = start;
	op.u.lock.end = end;
	op.u.lock.wait = wait;
	return op;
}

static int lock(struct fix3 *f, uint64_t owner, int type, uint64_t start, uint64_t end, bool wait)
{
	struct nfs_op op = lock_op(f, owner, type, start, end, wait);

	return fix3_run(f, &op);
}

static void ranges_go_to_the_server_as_they_are(void **state)
{
	struct fix3 *f = *state;
	uint32_t svid;

	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19, false), 0);
	assert_true(f->m.last_lock.lock.offset == 10 && f->m.last_lock.lock.len == 10);
	assert_true(f->m.last_lock.exclusive && !f->m.last_lock.block && !f->m.last_lock.reclaim);
	svid = f->m.last_lock.lock.svid;
	assert_int_equal(lock(f, 1, F_RDLCK, 100, UINT64_MAX, false), 0);
	assert_true(f->m.last_lock.lock.len == 0 && !f->m.last_lock.exclusive);
	assert_int_equal(f->m.last_lock.lock.svid, svid);
	assert_int_equal(lock(f, 2, F_RDLCK, 0, 0, false), 0);
	assert_int_not_equal(f->m.last_lock.lock.svid, svid);
}

static void what_is_not_held_is_not_unlocked(void **state)
{
	struct fix3 *f = *state;

	assert_int_equal(lock(f, 1, F_UNLCK, 0, UINT64_MAX, false), 0);
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19, false), 0);
	assert_int_equal(lock(f, 1, F_UNLCK, 20, UINT64_MAX, false), 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 0);
	assert_int_equal(lock(f, 1, F_UNLCK, 0, UINT64_MAX, false), 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 1);
	assert_int_equal(lock(f, 1, F_UNLCK, 0, UINT64_MAX, false), 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 1);
}

static void a_taken_lock_is_waited_for_or_not(void **state)
{
	struct fix3 *f = *state;

	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = 1;
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), -EAGAIN);
	f->m.nlm_times = 2;
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, true), 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 4);
	f->m.nlm_status = NLM4_DENIED_GRACE_PERIOD; /* also for who does not wait */
	f->m.nlm_times = 1;
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), 0);
}

static void statuses_are_errnos(void **state)
{
	static const struct {
		uint32_t status;
		int error;
	} bad[] = {
		{NLM4_DENIED_NOLOCKS, -ENOLCK},
		{NLM4_DEADLCK, -EDEADLK},
		{NLM4_ROFS, -EROFS},
		{NLM4_STALE_FH, -ESTALE},
		{NLM4_FBIG, -EOVERFLOW},
		{NLM4_FAILED, -ENOLCK},
		{4711, -ENOLCK},
	};
	struct fix3 *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f->m.nlm_status = bad[i].status;
		f->m.nlm_times = 1;
		assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, true), bad[i].error);
	}
}

static void the_holder_is_told(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = {.type = NFS_LOCKT};

	op.u.lockt.fh = f->file;
	op.u.lockt.type = F_RDLCK;
	op.u.lockt.end = 9;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(op.u.lockt.type, F_UNLCK);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = 1;
	op.u.lockt.type = F_RDLCK;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(op.u.lockt.type, F_WRLCK);
	assert_true(op.u.lockt.start == 5 && op.u.lockt.end == UINT64_MAX && !op.u.lockt.here);
	assert_int_equal(lock(f, 3, F_WRLCK, 5, UINT64_MAX, false), 0);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = 1;
	op.u.lockt.type = F_RDLCK;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.lockt.here && op.u.lockt.holder == 3);
}

static void who_comes_later_does_not_overtake(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op first = lock_op(f, 1, F_WRLCK, 0, 9, true);
	struct nfs_op second = lock_op(f, 2, F_WRLCK, 0, 19, true);
	sem_t sem1, sem2;

	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = 1;
	fix3_start(f, &first, &sem1);
	fix3_start(f, &second, &sem2);
	fix3_wait(&sem1);
	fix3_wait(&sem2);
	assert_int_equal(first.error, 0);
	assert_int_equal(second.error, 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 3);
	assert_int_equal(f->m.last_lock.lock.len, 20);
}

static void who_waits_can_be_cancelled(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = lock_op(f, 1, F_WRLCK, 0, 9, true);
	sem_t sem;

	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = UINT32_MAX;
	fix3_start(f, &op, &sem);
	nfs_cancel(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
	op = lock_op(f, 1, F_WRLCK, 0, 9, true);
	fix3_start(f, &op, &sem);
	f->nfs = nfs_client_free(f->nfs);
	fix3_wait(&sem);
	assert_int_equal(op.error, -ENOTCONN);
}

static void what_is_held_at_the_end_is_cleared(void **state)
{
	struct fix3 *f = *state;

	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), 0);
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 1);
}

static unsigned locks_seen(struct fix3 *f)
{
	unsigned n;

	pthread_mutex_lock(&f->m.lock);
	n = f->m.nlm_count[NLM4PROC_LOCK];
	pthread_mutex_unlock(&f->m.lock);
	return n;
}

/* Waits, but not while more than so many LOCKs are asked for: did it end? */
static bool ends_before(struct fix3 *f, sem_t *sem, unsigned locks)
{
	struct timespec pause = {.tv_nsec = 1000000};

	while (sem_trywait(sem) != 0) {
		if (locks_seen(f) > locks)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* More locks are waited for than can be asked for until the first is asked for again. */
static void an_unlock_has_its_turn(void **state)
{
	enum { WAITERS = 50 };
	static struct nfs_op op[WAITERS], unlock;
	static sem_t sem[WAITERS], done;
	struct fix3 *f = *state;

	assert_int_equal(lock(f, 1000, F_WRLCK, 1000, 1000, false), 0);
	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = UINT32_MAX;
	f->m.nlm_delay_ms = 30;
	pthread_mutex_unlock(&f->m.lock);
	for (unsigned i = 0; i < WAITERS; i++) {
		op[i] = lock_op(f, i, F_WRLCK, i, i, true);
		fix3_start(f, &op[i], &sem[i]);
	}
	unlock = lock_op(f, 1000, F_UNLCK, 0, UINT64_MAX, false);
	fix3_start(f, &unlock, &done);
	assert_true(ends_before(f, &done, 3 * WAITERS));
	assert_int_equal(unlock.error, 0);
	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_times = f->m.nlm_delay_ms = 0;
	pthread_mutex_unlock(&f->m.lock);
	for (unsigned i = 0; i < WAITERS; i++) {
		fix3_wait(&sem[i]);
		assert_int_equal(op[i].error, 0);
	}
}

static void who_waits_for_anothers_call_can_be_cancelled(void **state)
{
	struct timespec pause = {.tv_nsec = 1000000};
	static struct nfs_op first, second;
	struct fix3 *f = *state;
	static sem_t sem1, sem2;
	unsigned i;

	f->m.nlm_mute = 1;
	first = lock_op(f, 1, F_WRLCK, 0, 9, false);
	second = lock_op(f, 2, F_WRLCK, 20, 29, true);
	fix3_start(f, &first, &sem1);
	while (!locks_seen(f))
		nanosleep(&pause, NULL);
	fix3_start(f, &second, &sem2);
	nfs_cancel(&second);
	for (i = 0; i < 10000 && sem_trywait(&sem2) != 0; i++)
		nanosleep(&pause, NULL);
	assert_true(i < 10000);
	assert_int_equal(second.error, -EINTR);
	assert_int_equal(locks_seen(f), 1);
	nfs_cancel(&first);
	fix3_wait(&sem1);
	assert_int_equal(first.error, -EINTR);
}

static void what_is_held_is_claimed_after_a_lost_connection(void **state)
{
	struct fix3 *f = *state;
	struct timespec pause = {.tv_nsec = 10000000};

	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19, false), 0);
	pthread_mutex_lock(&f->m.lock);
	f->m.cut = true;
	f->m.nlm_status =
		NLM4_DENIED_GRACE_PERIOD; /* it did not restart: claimed without reclaim */
	f->m.nlm_times = 1;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_getattr(f), 0);
	for (unsigned i = 0; i < 6000 && locks_seen(f) < 3; i++)
		nanosleep(&pause, NULL);
	pthread_mutex_lock(&f->m.lock);
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 3);
	assert_int_equal(f->m.reclaims, 1);
	assert_true(f->m.last_lock.lock.offset == 10 && f->m.last_lock.lock.len == 10);
	assert_true(f->m.last_lock.exclusive && !f->m.last_lock.reclaim);
	pthread_mutex_unlock(&f->m.lock);
}

static void without_a_lock_manager_locks_fail(void **state)
{
	struct fix3 *f = *state;

	f->m.no_nlm = true;
	/* ENOLCK, unless this host has a lock manager of its own, which does not know the file */
	assert_true(lock(f, 1, F_WRLCK, 0, 9, true) < 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 0);
}

static void nolock_has_no_locks(void **state)
{
	struct fix3 *f = *state;
	struct err e = {.kind = ERR_NONE};
	struct nfs_client_info i;

	f->nfs = fix3_mount(f, "/", true, &e);
	assert_non_null(f->nfs);
	nfs_client_info(f->nfs, &i);
	assert_int_equal(i.features, 0);
	f->file = (struct nfs_fh){1, {2}};
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT3(ranges_go_to_the_server_as_they_are),
		ON_MOUNT3(what_is_not_held_is_not_unlocked),
		ON_MOUNT3(a_taken_lock_is_waited_for_or_not),
		ON_MOUNT3(statuses_are_errnos),
		ON_MOUNT3(the_holder_is_told),
		ON_MOUNT3(who_comes_later_does_not_overtake),
		ON_MOUNT3(who_waits_can_be_cancelled),
		ON_MOUNT3(who_waits_for_anothers_call_can_be_cancelled),
		ON_MOUNT3(an_unlock_has_its_turn),
		ON_MOUNT3(what_is_held_is_claimed_after_a_lost_connection),
		ON_MOUNT3(without_a_lock_manager_locks_fail),
		ON_MOUNT3(what_is_held_at_the_end_is_cleared),
		cmocka_unit_test_setup_teardown(
			nolock_has_no_locks, fix3_setup_unmounted, fix3_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
