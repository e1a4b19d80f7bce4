/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_task and nfs4_open: answers that mean "again", steps after
 * a change, cancelling at any moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"

static void test_delay(void **state)
{
	struct fix *f = *state;
	unsigned before = f->srv.count[OP_GETATTR];

	fix_fails(f, OP_GETATTR, NFS4ERR_DELAY, 3);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.count[OP_GETATTR] - before, 4);
	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 2);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.misordered, 0);
	fix_unmount_clean(f);
}

/* A wait for a server, however long, does not count against an op with a slot out of step. */
static void test_strays(void **state)
{
	struct nfs_op op = {.tries = 1000};

	for (unsigned i = 0; i < 8; i++)
		assert_true(nfs4_task_may_stray(&op, 8));
	assert_false(nfs4_task_may_stray(&op, 8));
	assert_true(nfs4_task_may_stray(&op, 9));
}

/* An op of a soft mount ends although no try of the op has waited. */
static void test_soft_without_pauses(void **state)
{
	struct fix *f = *state;

	fix_mount_soft(f, 10000, 500);
	fix_fails(f, OP_GETATTR, NFS4ERR_BADSESSION, 1000000);
	assert_int_equal(fix_getattr(f), -ETIMEDOUT);
	fix_fails(f, OP_GETATTR, NFS4ERR_BADSESSION, 0);
	assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
}

/* An object must not be made twice when only the GETATTR after the change was answered DELAY. */
static void test_delay_after_change(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_CREATE,
		.u.create = {.dir = f->root, .name = {"d", 1}, .type = NFS_DIR}};
	struct nfs_fh fh;
	struct nfs_open *open;

	fix_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_CREATE], 1);
	fix_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1);
	open = fix_open(f, O_RDWR, &fh);
	assert_int_equal(f->srv.count[OP_OPEN], 1);
	fix_fails(f, OP_GETATTR, NFS4ERR_DELAY, 2);
	op = (struct nfs_op){.type = NFS_SETATTR,
		.u.setattr = {.fh = fh, .set = {.mask = NFS_SET_MODE, .mode = 1}}};
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	fix_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1);
	op = (struct nfs_op){
		.type = NFS_LINK, .u.link = {.fh = fh, .dir = f->root, .name = {"l", 1}}};
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_LINK], 1);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* SEQUENCE answered DELAY: the server is carrying out the very request, and the answer belongs to
 * the slot's sequence ID. No other request may be sent with that sequence ID. */
static void test_busy_slot(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_OPEN,
		.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDONLY}};
	sem_t sem;

	fix_quirk(f, Q_BUSY);
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_OPEN], 1));
	for (int i = 0; i < 5; i++)
		assert_int_equal(fix_getattr(f), 0);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.mixups, 0);
	assert_int_equal(f->srv.count[OP_OPEN], 1); /* executed once */
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* The same while the op waits for its next try: unmounting, cancelling, losing the session. */
static void test_busy_slot_left(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
	sem_t sem;

	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 1000);
	fix_start(f, &op, &sem);
	usleep(200000);
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, -EINTR);
	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 5);
	fix_start(f, &op, &sem);
	usleep(200000);
	mean_lose_session(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, 0);
	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 6);
	fix_start(f, &op, &sem);
	usleep(200000);
	fix_fails(f, 0, 0, 0);
	fix_unmount_clean(f);
	assert_true(fix_ends_within(&sem, 100));
	assert_true(op.error == -ENOTCONN || op.error == 0); /* 0: a slow machine */
}

/* The server has executed the op, and then restarts. The server keeps the answer under the old
 * session, but is not ready to give the answer when another op learns that the session is lost. */
static void test_answer_of_old_session(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_REMOVE, .u.remove = {.dir = f->root, .name = {"file", 4}}};
	sem_t sem;

	f->srv.cut_op = OP_REMOVE;
	f->srv.cut_times = 1;
	f->srv.kept.delays = 4;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_REMOVE], 1));
	mean_lose_session(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.kept.delays, 0);
	assert_int_equal(f->srv.count[OP_REMOVE], 1);
	fix_unmount_clean(f);
}

/* The server has executed the op, and the answer is lost with the connection. The server refuses
 * the second copy of the call, at once or after a DELAY: no other request may be sent with that
 * sequence ID. */
static void test_second_copy_refused(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_REMOVE, .u.remove = {.dir = f->root, .name = {"file", 4}}};

	for (unsigned delays = 0; delays < 2; delays++) {
		f->srv.cut_op = OP_REMOVE;
		f->srv.cut_times = 1;
		f->srv.kept.delays = delays;
		f->srv.kept.refusals = 1;
		assert_int_equal(fix_run(f, &op), -EREMOTEIO);
		assert_int_equal(f->srv.kept.refusals, 0);
		for (int i = 0; i < 5; i++)
			assert_int_equal(fix_getattr(f), 0);
		assert_int_equal(f->srv.mixups, 0);
		assert_int_equal(f->srv.count[OP_REMOVE], delays + 1);
	}
	fix_unmount_clean(f);
}

/* The same, but the second copy comes to another server, which does not know the session. Another
 * op waits for the slot. */
static void test_second_copy_astray(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_REMOVE, .u.remove = {.name = {"file", 4}}};
	struct nfs_op next = {.type = NFS_GETATTR};
	sem_t sem, next_sem;

	fix_unmount_clean(f);
	f->srv.slots = 1;
	fix_mount_root(f);
	op.u.remove.dir = next.u.getattr.fh = f->root;
	f->srv.cut_op = f->srv.hold_op = OP_REMOVE;
	f->srv.cut_times = 1;
	f->srv.kept.strays = 1;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	fix_start(f, &next, &next_sem);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&next_sem, PATIENCE_MS));
	assert_int_equal(next.error, 0);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.kept.strays, 0);
	assert_int_equal(f->srv.replays, 0);
	assert_int_equal(f->srv.mixups, 0);
	fix_unmount_clean(f);
}

static void test_exclusive_create(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR | O_CREAT | O_EXCL, &fh);

	/* the server's answer: the mode was not set */
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* A server that can hold no more files open has only NFS4ERR_NOSPC to say so; an opener that
 * creates nothing is not told of a full disk. */
static void test_too_many_opens(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {
		.type = NFS_OPEN, .u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDWR}};

	fix_fails(f, OP_OPEN, NFS4ERR_NOSPC, 2);
	assert_int_equal(fix_run(f, &op), -ENFILE);
	op.u.open.flags |= O_CREAT;
	assert_int_equal(fix_run(f, &op), -ENOSPC);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* OPEN succeeds, but the GETFH behind OPEN fails: no open may be left. */
static void test_open_getfh(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {
		.type = NFS_OPEN, .u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDWR}};
	struct nfs_fh fh;
	struct nfs_open *open;

	fix_fails(f, OP_GETFH, NFS4ERR_DELAY, 2);
	open = fix_open(f, O_RDWR, &fh);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_close(f, open), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_fails(f, OP_GETFH, NFS4ERR_ACCESS, 1);
	assert_int_equal(fix_run(f, &op), -EACCES);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 2));
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

/* The server cannot keep the reply of a change: the change is made all the same. */
static void test_too_big_to_cache(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_RENAME,
		.u.rename = {
			.from_dir = f->root, .to_dir = f->root, .from = {"a", 1}, .to = {"b", 1}}};
	struct nfs_fh fh;

	fix_fails(f, OP_RENAME, NFS4ERR_REP_TOO_BIG_TO_CACHE, 1);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.uncached, 1);
	fix_fails(f, OP_GETFH, NFS4ERR_REP_TOO_BIG_TO_CACHE, 1);
	assert_int_equal(fix_close(f, fix_open(f, O_RDONLY, &fh)), 0);
	fix_fails(f, OP_SETATTR, NFS4ERR_REP_TOO_BIG_TO_CACHE, 1);
	assert_int_equal(fix_close(f, fix_open(f, O_WRONLY | O_TRUNC, &fh)), 0);
	fix_unmount_clean(f);
}

static void test_truncating_open(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_OPEN,
		.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_WRONLY | O_TRUNC}};
	struct nfs_fh fh;

	fix_close(f, fix_open(f, O_WRONLY | O_TRUNC, &fh));
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	/* refused: the open that came with the truncation is given back */
	fix_fails(f, OP_SETATTR, NFS4ERR_ROFS, 1);
	assert_int_equal(fix_run(f, &op), -EROFS);
	assert_int_equal(f->srv.nopens, 0);
	/* later: the truncation alone is repeated */
	fix_fails(f, OP_SETATTR, NFS4ERR_DELAY, 1);
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

static void test_cancel_sent(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
	sem_t sem;

	f->srv.hold_op = OP_GETATTR;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, -EINTR);
	mean_release(&f->srv);
	for (int i = 0; i < 5; i++)
		assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
}

/* The server has a change of data: the server may execute the change after requests of other
 * slots. */
static void test_cancel_change(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {
		.type = NFS_SETATTR, .u.setattr = {.fh = f->root, .set = {.mask = NFS_SET_SIZE}}};
	sem_t sem;

	f->srv.hold_op = OP_SETATTR;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(sem_trywait(&sem), -1);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, 0);
	/* a refused request is not sent again */
	f->srv.hold_op = OP_SETATTR;
	fix_fails(f, OP_SETATTR, NFS4ERR_DELAY, 1);
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, -EINTR);
	/* nor does the request hold up the end of the mount */
	f->srv.hold_op = OP_SETATTR;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	f->nfs = nfs_client_free(f->nfs);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, -ENOTCONN);
	mean_release(&f->srv);
}

/* SEQUENCE is answered DELAY: the server may be executing the same request, so the client goes on
 * asking. */
static void test_cancel_busy_change(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {
		.type = NFS_SETATTR, .u.setattr = {.fh = f->root, .set = {.mask = NFS_SET_SIZE}}};
	sem_t sem;

	fix_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 5);
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_SEQUENCE], 2));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, 0);
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	fix_unmount_clean(f);
}

static void test_cancel_waiting(void **state)
{
	struct fix *f = *state;
	struct nfs_op op[MEAN_SLOTS + 3];
	sem_t sem[MEAN_SLOTS + 3];

	f->srv.hold_op = OP_GETATTR;
	for (int i = 0; i < MEAN_SLOTS + 3; i++) {
		op[i] = (struct nfs_op){.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
		fix_start(f, &op[i], &sem[i]);
	}
	assert_true(mean_wait(&f->srv, &f->srv.nheld, MEAN_SLOTS));
	nfs_cancel(&op[MEAN_SLOTS + 1]); /* queued for a slot */
	assert_true(fix_ends_within(&sem[MEAN_SLOTS + 1], 60000));
	assert_int_equal(op[MEAN_SLOTS + 1].error, -EINTR);
	mean_release(&f->srv);
	for (int i = 0; i < MEAN_SLOTS + 3; i++) {
		if (i == MEAN_SLOTS + 1)
			continue;
		assert_true(fix_ends_within(&sem[i], 60000));
		assert_int_equal(op[i].error, 0);
	}
	fix_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1000);
	fix_start(f, &op[0], &sem[0]);
	usleep(100000);
	nfs_cancel(&op[0]); /* while waiting for the time of the next try */
	assert_true(fix_ends_within(&sem[0], 60000));
	assert_int_equal(op[0].error, -EINTR);
	fix_unmount_clean(f);
}

/* When the server allows more slots again, waiting ops get the slots. */
static void test_more_slots(void **state)
{
	enum { WAITING = 8 };
	static struct nfs_op op[WAITING + 1]; /* may outlive the test if it fails */
	static sem_t sem[WAITING + 1];
	struct fix *f = *state;

	f->srv.target = 1;
	assert_int_equal(fix_getattr(f), 0);
	f->srv.hold_op = OP_LOOKUP;
	op[WAITING] = (struct nfs_op){
		.type = NFS_LOOKUP, .u.lookup = {.dir = f->root, .name = {"file", 4}}};
	fix_start(f, &op[WAITING], &sem[WAITING]);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	for (int i = 0; i < WAITING; i++) {
		op[i] = (struct nfs_op){.type = NFS_ACCESS, .u.access = {.fh = f->root}};
		fix_start(f, &op[i], &sem[i]);
	}
	f->srv.target = 0;
	mean_release_hold(&f->srv, OP_ACCESS);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, WAITING));
	mean_release(&f->srv);
	for (int i = 0; i <= WAITING; i++) {
		assert_true(fix_ends_within(&sem[i], 2000));
		assert_int_equal(op[i].error, 0);
	}
	fix_unmount_clean(f);
}

/* A file that the server has opened for a cancelled OPEN is closed again. */
static void test_cancel_open(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_OPEN,
		.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDONLY}};
	sem_t sem;

	f->srv.hold_op = OP_OPEN;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, 60000));
	assert_int_equal(op.error, -EINTR);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

struct leaving {
	struct mean_srv *srv;
	sem_t *closed; /* posted when unmounting has begun */
};

static void *release_when_leaving(void *arg)
{
	struct leaving *l = arg;

	assert_true(fix_ends_within(l->closed, 60000));
	mean_release(l->srv);
	return NULL;
}

/* The answer to a cancelled OPEN comes while the mount is going; and so does the turn of a CLOSE
 * that was waiting for a slot. */
static void test_cancel_open_unmount(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDONLY, &fh);
	struct nfs_op op[MEAN_SLOTS], close = {.type = NFS_CLOSE, .u.close = {.open = open}};
	sem_t sem[MEAN_SLOTS], closed;
	struct leaving leaving = {&f->srv, &closed};
	pthread_t thread;

	f->srv.hold_op = OP_OPEN;
	for (int i = 0; i < MEAN_SLOTS; i++) {
		op[i] = (struct nfs_op){.type = NFS_OPEN,
			.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDONLY}};
		fix_start(f, &op[i], &sem[i]);
	}
	fix_start(f, &close, &closed);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, MEAN_SLOTS));
	for (int i = 0; i < MEAN_SLOTS; i++) {
		nfs_cancel(&op[i]);
		assert_true(fix_ends_within(&sem[i], 60000));
	}
	pthread_create(&thread, NULL, release_when_leaving, &leaving);
	fix_unmount_clean(f);
	pthread_join(thread, NULL);
	assert_int_equal(close.error, -ENOTCONN);
}

/* The unmount closes many files, without time to close each in turn (6 s), and in spite of
 * DELAY. */
static void test_unmount_open(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	for (int i = 0; i < 200; i++)
		fix_open(f, O_RDONLY, &fh);
	fix_fails(f, OP_CLOSE, NFS4ERR_DELAY, 2);
	atomic_store(&f->srv.reply_ms, 30);
	fix_unmount_clean(f);
}

/* Cancelling at any moment: each op ends once, no file stays open, no slot is lost. */
static void test_cancel_any_time(void **state)
{
	enum { ROUND = 24, ROUNDS = 60 };
	struct fix *f = *state;
	static struct nfs_op op[ROUND];
	static sem_t sem[ROUND];
	unsigned seed = 1, ended[2] = {0};

	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < ROUND; i++) {
			op[i] = (struct nfs_op){.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
			if (i % 3 == 0)
				op[i] = (struct nfs_op){.type = NFS_OPEN,
					.u.open = {.dir = f->root,
						.name = {"file", 4},
						.flags = O_RDONLY}};
			fix_start(f, &op[i], &sem[i]);
			if (rand_r(&seed) % 2)
				nfs_cancel(&op[rand_r(&seed) % (unsigned)(i + 1)]);
		}
		for (int i = 0; i < ROUND; i++) {
			assert_true(fix_ends_within(&sem[i], 60000));
			assert_true(op[i].error == 0 || op[i].error == -EINTR);
			ended[op[i].error != 0]++;
			assert_int_not_equal(sem_trywait(&sem[i]), 0);
			if (op[i].type == NFS_OPEN && op[i].error == 0)
				assert_int_equal(fix_close(f, op[i].u.open.open), 0);
		}
	}
	assert_true(ended[0] > 0 && ended[1] > 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_delay),
		cmocka_unit_test(test_strays),
		cmocka_unit_test_setup_teardown(
			test_soft_without_pauses, fix_setup_unmounted, fix_teardown),
		ON_MOUNT(test_delay_after_change),
		ON_MOUNT(test_busy_slot),
		ON_MOUNT(test_busy_slot_left),
		ON_MOUNT(test_answer_of_old_session),
		ON_MOUNT(test_second_copy_refused),
		ON_MOUNT(test_second_copy_astray),
		ON_MOUNT(test_exclusive_create),
		ON_MOUNT(test_too_many_opens),
		ON_MOUNT(test_open_getfh),
		ON_MOUNT(test_too_big_to_cache),
		ON_MOUNT(test_truncating_open),
		ON_MOUNT(test_cancel_sent),
		ON_MOUNT(test_cancel_change),
		ON_MOUNT(test_cancel_busy_change),
		ON_MOUNT(test_cancel_waiting),
		ON_MOUNT(test_more_slots),
		ON_MOUNT(test_cancel_open),
		ON_MOUNT(test_cancel_open_unmount),
		ON_MOUNT(test_unmount_open),
		ON_MOUNT(test_cancel_any_time),
	};

	log_init("test-nfs4_task", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
