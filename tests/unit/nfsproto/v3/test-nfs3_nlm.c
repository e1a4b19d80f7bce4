/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_nlm: locks against a scripted server.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"

static int thread_error; /* of pthread_create(); 0: none */

int __real_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	return thread_error ? thread_error : __real_pthread_create(t, attr, run, arg);
}

static int lock(struct fix3 *f, uint64_t owner, int type, uint64_t start, uint64_t end, bool wait)
{
	struct nfs_op op = fix3_lock_op(f, owner, type, start, end, wait);

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
	f->m.nlm_status = NLM4_DENIED_GRACE_PERIOD; /* also for a caller that does not wait */
	f->m.nlm_times = 1;
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), 0);
}

/* -EAGAIN would say that another process has the lock. */
static void without_a_thread_there_are_no_locks(void **state)
{
	struct fix3 *f = *state;

	thread_error = EAGAIN;
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), -ENOLCK);
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, true), -ENOLCK);
	thread_error = 0;
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
	struct nfs_op first = fix3_lock_op(f, 1, F_WRLCK, 0, 9, true);
	struct nfs_op second = fix3_lock_op(f, 2, F_WRLCK, 0, 19, true);
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
	struct nfs_op op = fix3_lock_op(f, 1, F_WRLCK, 0, 9, true);
	sem_t sem;

	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = UINT32_MAX;
	fix3_start(f, &op, &sem);
	nfs_cancel(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
	op = fix3_lock_op(f, 1, F_WRLCK, 0, 9, true);
	fix3_start(f, &op, &sem);
	f->nfs = nfs_client_free(f->nfs);
	fix3_wait(&sem);
	assert_int_equal(op.error, -ENOTCONN);
}

static unsigned locks_seen(struct fix3 *f)
{
	unsigned n;

	pthread_mutex_lock(&f->m.lock);
	n = f->m.nlm_count[NLM4PROC_LOCK];
	pthread_mutex_unlock(&f->m.lock);
	return n;
}

/* Also a caller that was interrupted meanwhile. */
static void who_waits_for_an_answer_gets_it(void **state)
{
	struct timespec pause = {.tv_nsec = 1000000};
	struct fix3 *f = *state;
	struct nfs_op op;
	sem_t sem;

	for (unsigned denied = 0; denied < 2; denied++) {
		f->m.nlm_delay_ms = 500;
		f->m.nlm_status = NLM4_DENIED;
		f->m.nlm_times = denied;
		op = fix3_lock_op(f, 1, F_WRLCK, 0, 9, true);
		fix3_start(f, &op, &sem);
		while (locks_seen(f) <= denied)
			nanosleep(&pause, NULL);
		nfs_interrupt(&op);
		fix3_wait(&sem);
		assert_int_equal(op.error, denied ? -EINTR : 0);
	}
	f->m.nlm_delay_ms = 0;
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 2);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 0);
	/* the server stays silent: the caller need not wait */
	f->m.nlm_mute = 1;
	op = fix3_lock_op(f, 1, F_WRLCK, 0, 9, true);
	fix3_start(f, &op, &sem);
	while (locks_seen(f) <= 2)
		nanosleep(&pause, NULL);
	nfs_interrupt(&op);
	nfs_cancel(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
}

static void what_is_held_at_the_end_is_cleared(void **state)
{
	struct fix3 *f = *state;

	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), 0);
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 1);
}

/* Waits for the end of the op, but stops if more than this number of LOCKs are asked for. Did the
 * op end? */
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

/* More locks wait than the client asks for before it asks for the first one again. */
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
		op[i] = fix3_lock_op(f, i, F_WRLCK, i, i, true);
		fix3_start(f, &op[i], &sem[i]);
	}
	unlock = fix3_lock_op(f, 1000, F_UNLCK, 0, UINT64_MAX, false);
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
	static struct nfs_op first, second, unlock;
	struct fix3 *f = *state;
	static sem_t sem1, sem2, sem3;
	unsigned i;

	assert_int_equal(lock(f, 3, F_WRLCK, 100, 109, false), 0);
	f->m.nlm_mute = 1;
	first = fix3_lock_op(f, 1, F_WRLCK, 0, 9, false);
	second = fix3_lock_op(f, 2, F_WRLCK, 20, 29, true);
	fix3_start(f, &first, &sem1);
	while (locks_seen(f) < 2)
		nanosleep(&pause, NULL);
	fix3_start(f, &second, &sem2);
	nfs_cancel(&second);
	for (i = 0; i < 10000 && sem_trywait(&sem2) != 0; i++)
		nanosleep(&pause, NULL);
	assert_true(i < 10000);
	assert_int_equal(second.error, -EINTR);
	unlock = fix3_lock_op(f, 3, F_UNLCK, 0, UINT64_MAX, false);
	fix3_start(f, &unlock, &sem3);
	nfs_cancel(&unlock);
	for (i = 0; i < 10000 && sem_trywait(&sem3) != 0; i++)
		nanosleep(&pause, NULL);
	assert_true(i < 10000);
	assert_int_equal(unlock.error, -EINTR);
	assert_int_equal(locks_seen(f), 2);
	nfs_cancel(&first);
	fix3_wait(&sem1);
	assert_int_equal(first.error, -EINTR);
	/* the caller of the unlock has gone, but the unlock is made: the first lock is given back,
	 * too */
	assert_int_equal(lock(f, 4, F_RDLCK, 200, 209, false), 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 2);
}

static void an_unlock_is_cancelled_before_it_is_begun(void **state)
{
	struct timespec pause = {.tv_nsec = 1000000};
	static struct nfs_op unlock;
	struct fix3 *f = *state;
	static sem_t sem;
	unsigned i;

	assert_int_equal(lock(f, 3, F_WRLCK, 100, 109, false), 0);
	f->m.nlm_mute_un = 1;
	unlock = fix3_lock_op(f, 3, F_UNLCK, 0, UINT64_MAX, false);
	fix3_start(f, &unlock, &sem);
	nfs_cancel(&unlock);
	for (i = 0; i < 10000 && sem_trywait(&sem) != 0; i++)
		nanosleep(&pause, NULL);
	assert_true(i < 10000);
	assert_int_equal(unlock.error, -EINTR);
}

/* The caller of an unlock may give up at any moment, also between the server's answer and the end
 * of the op: the lock does not count as held afterwards. */
static void an_unlock_is_cancelled_while_it_ends(void **state)
{
	struct fix3 *f = *state;

	for (unsigned i = 0; i < 600; i++) {
		struct nfs_op unlock, op = {.type = NFS_LOCKT};
		sem_t sem;

		assert_int_equal(lock(f, 3, F_WRLCK, 5, UINT64_MAX, false), 0);
		unlock = fix3_lock_op(f, 3, F_UNLCK, 0, UINT64_MAX, false);
		fix3_start(f, &unlock, &sem);
		for (volatile unsigned spin = 0; spin < i * 200; spin++)
			;
		nfs_cancel(&unlock);
		fix3_wait(&sem);
		/* behind all earlier requests */
		assert_int_equal(lock(f, 4, F_WRLCK, 0, 1, false), 0);
		pthread_mutex_lock(&f->m.lock);
		f->m.nlm_status = NLM4_DENIED;
		f->m.nlm_times = 1;
		pthread_mutex_unlock(&f->m.lock);
		op.u.lockt.fh = f->file;
		op.u.lockt.type = F_RDLCK;
		op.u.lockt.end = 9;
		assert_int_equal(fix3_run(f, &op), 0);
		assert_false(op.u.lockt.here);
	}
}

static unsigned unlocks_seen(struct fix3 *f)
{
	unsigned n;

	pthread_mutex_lock(&f->m.lock);
	n = f->m.nlm_count[NLM4PROC_UNLOCK];
	pthread_mutex_unlock(&f->m.lock);
	return n;
}

/* Asks for a lock, gets no answer, and gives up. The caller owns op. */
static void give_up_a_lock(
	struct fix3 *f, struct nfs_op *op, int type, uint64_t start, uint64_t end)
{
	struct timespec pause = {.tv_nsec = 1000000};
	unsigned before = locks_seen(f);
	sem_t sem;

	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_mute = 1;
	pthread_mutex_unlock(&f->m.lock);
	*op = fix3_lock_op(f, 1, type, start, end, false);
	fix3_start(f, op, &sem);
	while (locks_seen(f) == before)
		nanosleep(&pause, NULL);
	nfs_cancel(op);
	fix3_wait(&sem);
	assert_int_equal(op->error, -EINTR);
}

/* A change that was given up is undone. Not even for a moment does the undo release a held lock. */
static void what_is_held_stays_held_when_a_change_is_given_up(void **state)
{
	struct timespec pause = {.tv_nsec = 1000000};
	static struct nfs_op down, wider;
	struct fix3 *f = *state;

	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19, false), 0);
	give_up_a_lock(f, &down, F_RDLCK, 10, 19);
	while (locks_seen(f) < 3) /* the first LOCK once more */
		nanosleep(&pause, NULL);
	assert_int_equal(lock(f, 2, F_WRLCK, 100, 100, false), 0); /* behind all earlier requests */
	assert_int_equal(unlocks_seen(f), 0);
	give_up_a_lock(f, &wider, F_WRLCK, 0, 29);
	assert_int_equal(lock(f, 2, F_WRLCK, 101, 101, false), 0);
	assert_int_equal(unlocks_seen(f), 2); /* 0 to 9 and 20 to 29 */
	assert_int_equal(locks_seen(f), 7);
}

/* --- when a connection was lost ----------------------------------------------------------------
 */

/* The connection is lost. The server answers the first claim with status; kept: the server still
 * has the lock. */
static void lose_connection(struct fix3 *f, uint32_t status, bool kept)
{
	pthread_mutex_lock(&f->m.lock);
	f->m.cut = NFS3PROC_GETATTR;
	f->m.nlm_status = status;
	f->m.nlm_times = status != NLM4_GRANTED;
	f->m.nlm_held &= kept;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_getattr(f), 0);
}

static void what_is_held_is_claimed_after_a_lost_connection(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct fix3_seen s;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	lose_connection(f, NLM4_GRANTED, false);
	assert_int_equal(fix3_write_through(f, o), 0); /* the WRITE waits for the claim */
	s = fix3_seen(f);
	assert_true(s.locks == 2 && s.reclaims == 1 && s.tests == 0 && s.writes == 1);
	assert_true(f->m.last_lock.lock.offset == 10 && f->m.last_lock.lock.len == 10);
	assert_true(f->m.last_lock.exclusive);
	/* no restart: the server says that this mount has the lock */
	lose_connection(f, NLM4_DENIED_GRACE_PERIOD, true);
	assert_int_equal(fix3_write_through(f, o), 0);
	s = fix3_seen(f);
	assert_true(s.locks == 3 && s.reclaims == 2 && s.tests == 1 && s.writes == 2);
	/* or only that some owner has the lock, without a conflict with this mount */
	f->m.nlm_anonymous = true;
	lose_connection(f, NLM4_DENIED_GRACE_PERIOD, true);
	assert_int_equal(fix3_write_through(f, o), 0);
	s = fix3_seen(f);
	assert_true(s.locks == 5 && s.reclaims == 3 && s.tests == 2 && s.writes == 3);
	assert_false(f->m.last_lock.reclaim);
	fix3_close_file(f, o);
}

/* TEST is sent again, and says that no owner has the lock: the server's grace period has begun. */
static void a_lock_is_claimed_again_after_a_restart_between_two_calls(void **state)
{
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	struct fix3_seen s;

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	f->m.nlm_restarts = true;
	lose_connection(f, NLM4_DENIED_GRACE_PERIOD, true);
	assert_int_equal(fix3_write_through(f, o), 0);
	s = fix3_seen(f);
	assert_true(s.locks == 3 && s.reclaims == 2 && s.tests == 2 && s.writes == 1);
	fix3_close_file(f, o);
}

static void nothing_is_written_under_a_lost_lock(void **state)
{
	static const uint32_t status[] = {
		NLM4_DENIED_GRACE_PERIOD, NLM4_DENIED, NLM4_DENIED_NOLOCKS};
	struct nfs_op read = {.type = NFS_READ}, set = {.type = NFS_SETATTR};
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f), *other = fix3_open_file(f);

	read.u.read.fh = set.u.setattr.fh = f->file;
	read.u.read.open = set.u.setattr.open = o;
	read.u.read.to = seg_list_of_buf(f->m.data, 0, 100);
	set.u.setattr.set.mask = NFS_SET_SIZE;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
		lose_connection(f, status[i], false);
		assert_int_equal(fix3_write_through(f, o), -EIO);
		assert_int_equal(fix3_run(f, &read), -EIO);
		assert_int_equal(fix3_run(f, &set), -EIO);
		assert_int_equal(fix3_seen(f).writes, 2 * i);
		assert_int_equal(fix3_write_through(f, other), 0);
		/* until the unlock, which the server need not be told */
		assert_int_equal(fix3_lock_through(f, o, F_UNLCK), 0);
		assert_int_equal(f->m.nlm_count[NLM4PROC_UNLOCK], 0);
		assert_int_equal(fix3_write_through(f, o), 0);
	}
	/* or closed */
	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	lose_connection(f, NLM4_DENIED, false);
	assert_int_equal(fix3_write_through(f, o), -EIO);
	fix3_close_file(f, o);
	fix3_close_file(f, other);
}

/* A WRITE that was sent before the loss, and a WRITE that comes meanwhile. */
static void what_relies_on_a_lock_waits(void **state)
{
	struct timespec pause = {.tv_nsec = 1000000};
	static struct nfs_op before, after;
	struct fix3 *f = *state;
	static sem_t sem1, sem2;
	struct nfs_open *o = fix3_open_file(f);

	assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_WRITE] = true;
	f->m.nlm_mute = 1;
	pthread_mutex_unlock(&f->m.lock);
	before = fix3_write_op(f, o);
	fix3_start(f, &before, &sem1);
	while (fix3_seen(f).writes < 1)
		nanosleep(&pause, NULL);
	lose_connection(f, NLM4_GRANTED, false);
	while (fix3_seen(f).locks < 2) /* the claim, without an answer */
		nanosleep(&pause, NULL);
	after = fix3_write_op(f, o);
	fix3_start(f, &after, &sem2);
	assert_int_equal(fix3_getattr(f), 0);
	assert_int_equal(fix3_seen(f).writes, 1);
	/* the second WRITE can be given up: the server cannot have got it */
	nfs_cancel(&before);
	nfs_cancel(&after);
	fix3_wait(&sem2);
	assert_int_equal(after.error, -EINTR);
	assert_int_equal(fix3_seen(f).writes, 1);
	/* the other WRITE waits on, up to the end of the mount */
	assert_int_equal(sem_trywait(&sem1), -1);
	f->nfs = nfs_client_free(f->nfs);
	fix3_wait(&sem1);
	assert_int_equal(before.error, -ENOTCONN);
}

/* The server may have the cancelled WRITE. So the WRITE is sent once more when the lock is known to
 * be held, and ends if the lock is lost. */
static void a_cancelled_write_waits_for_its_lock(void **state)
{
	static const uint32_t status[] = {NLM4_GRANTED, NLM4_DENIED};
	struct timespec pause = {.tv_nsec = 1000000};
	static struct nfs_op op;
	struct fix3 *f = *state;
	struct nfs_open *o = fix3_open_file(f);
	static sem_t sem;

	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(fix3_lock_through(f, o, F_WRLCK), 0);
		pthread_mutex_lock(&f->m.lock);
		f->m.silent[NFS3PROC_WRITE] = true;
		f->m.count[NFS3PROC_WRITE] = 0;
		pthread_mutex_unlock(&f->m.lock);
		op = fix3_write_op(f, o);
		fix3_start(f, &op, &sem);
		while (fix3_seen(f).writes < 1)
			nanosleep(&pause, NULL);
		nfs_cancel(&op);
		pthread_mutex_lock(&f->m.lock);
		f->m.silent[NFS3PROC_WRITE] = false;
		pthread_mutex_unlock(&f->m.lock);
		lose_connection(f, status[i], false);
		fix3_wait(&sem);
		assert_int_equal(op.error, i ? -EIO : 0);
		assert_int_equal(fix3_seen(f).writes, i ? 1 : 2);
	}
	fix3_close_file(f, o);
}

static void without_a_lock_manager_locks_fail(void **state)
{
	struct fix3 *f = *state;

	f->m.no_nlm = true;
	/* ENOLCK, unless this host has a lock manager, which does not know the file */
	assert_true(lock(f, 1, F_WRLCK, 0, 9, true) < 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 0);
}

/* NFS answers again, so the lock manager is looked for once more. */
static void a_lock_manager_that_starts_with_the_server_is_found(void **state)
{
	struct fix3 *f = *state;

	f->m.no_nlm = f->m.nlm_comes = true;
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), 0);
	assert_int_equal(f->m.nlm_count[NLM4PROC_LOCK], 1);
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
	f->file = (struct nfs_fh){.len = 1, .data = {2}};
	assert_int_equal(lock(f, 1, F_WRLCK, 0, 9, false), -EOPNOTSUPP);
}

static void done_and_late(struct nfs_op *op)
{
	sem_post(op->ctx);
	usleep(100000); /* the mount ends meanwhile */
}

/* The thread ends a cancelled request while the mount ends: the thread ends as well. */
static void the_mount_ends_beside_a_cancelled_lock(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op;
	sem_t sem;

	pthread_mutex_lock(&f->m.lock);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = UINT32_MAX;
	pthread_mutex_unlock(&f->m.lock);
	op = fix3_lock_op(f, 1, F_WRLCK, 0, 9, true);
	sem_init(&sem, 0, 0);
	op.done = done_and_late;
	op.ctx = &sem;
	nfs_submit(f->nfs, &op);
	while (fix3_seen(f).locks < 1)
		usleep(1000);
	nfs_cancel(&op);
	fix3_wait(&sem);
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(op.error, -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT3(ranges_go_to_the_server_as_they_are),
		ON_MOUNT3(what_is_not_held_is_not_unlocked),
		ON_MOUNT3(a_taken_lock_is_waited_for_or_not),
		ON_MOUNT3(without_a_thread_there_are_no_locks),
		ON_MOUNT3(statuses_are_errnos),
		ON_MOUNT3(the_holder_is_told),
		ON_MOUNT3(who_comes_later_does_not_overtake),
		ON_MOUNT3(who_waits_can_be_cancelled),
		ON_MOUNT3(who_waits_for_an_answer_gets_it),
		ON_MOUNT3(who_waits_for_anothers_call_can_be_cancelled),
		ON_MOUNT3(an_unlock_is_cancelled_before_it_is_begun),
		ON_MOUNT3(an_unlock_is_cancelled_while_it_ends),
		ON_MOUNT3(what_is_held_stays_held_when_a_change_is_given_up),
		ON_MOUNT3(an_unlock_has_its_turn),
		ON_MOUNT3(what_is_held_is_claimed_after_a_lost_connection),
		ON_MOUNT3(a_lock_is_claimed_again_after_a_restart_between_two_calls),
		ON_MOUNT3(nothing_is_written_under_a_lost_lock),
		ON_MOUNT3(what_relies_on_a_lock_waits),
		ON_MOUNT3(a_cancelled_write_waits_for_its_lock),
		ON_MOUNT3(without_a_lock_manager_locks_fail),
		ON_MOUNT3(a_lock_manager_that_starts_with_the_server_is_found),
		ON_MOUNT3(what_is_held_at_the_end_is_cleared),
		ON_MOUNT3(the_mount_ends_beside_a_cancelled_lock),
		cmocka_unit_test_setup_teardown(
			nolock_has_no_locks, fix3_setup_unmounted, fix3_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
