/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/ops/nfs4_ops_open: the operations that go with an OPEN in the COMPOUND:
 * the caller's rights and the first data of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/log.h"

#define PATIENCE_MS 60000u
#define WANT	    1000u
#define RIGHTS	    (NFS_ACCESS_READ | NFS_ACCESS_EXECUTE)

/* An OPEN that asks for all. The data goes to two pieces of a block with more bytes behind. */
struct opener {
	struct nfs_op op;
	struct mem_buf *buf;
	struct seg piece[2];
	sem_t sem;
};

static void opener_init(struct opener *o, struct fix *f, int flags)
{
	memset(o, 0, sizeof(*o));
	o->buf = mem_buf_get(f->pool, WANT + 64);
	memset(o->buf->data, 0xee, WANT + 64);
	o->piece[0] = (struct seg){mem_buf_sge(o->buf, 0, WANT / 3), o->buf};
	o->piece[1] = (struct seg){mem_buf_sge(o->buf, WANT / 3, WANT - WANT / 3), o->buf};
	o->op.type = NFS_OPEN;
	o->op.u.open.dir = f->root;
	o->op.u.open.name = (struct nfs_name){"file", 4};
	o->op.u.open.flags = flags;
	o->op.u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0640};
	o->op.u.open.want = RIGHTS;
	assert_int_equal(seg_list_init(&o->op.u.open.to, o->piece, 2), 0);
}

/* Nothing is open any more, and only the test holds the block. */
static void opener_finish(struct opener *o, struct fix *f)
{
	for (uint32_t i = 0; i < 64; i++) /* no byte behind the sink is ever touched */
		assert_int_equal(o->buf->data[WANT + i], 0xee);
	if (o->op.u.open.open)
		assert_int_equal(fix_close(f, o->op.u.open.open), 0);
	fix_unmount_clean(f);
	assert_int_equal(atomic_load(&o->buf->refs), 1);
	mem_buf_unref(o->buf);
}

static void has_data(const struct opener *o)
{
	assert_true(o->op.u.open.have_data);
	assert_int_equal(o->op.u.open.count, WANT);
	assert_false(o->op.u.open.eof);
	for (uint32_t i = 0; i < WANT; i++)
		assert_int_equal(o->buf->data[i], (uint8_t)(i * 2654435761u >> 24));
}

static void all_comes_in_one_compound(void **state)
{
	struct fix *f = *state;
	unsigned before = f->srv.count[OP_SEQUENCE];
	struct opener o;

	opener_init(&o, f, O_RDONLY);
	assert_int_equal(fix_run(f, &o.op), 0);
	assert_int_equal(f->srv.count[OP_SEQUENCE], before + 1);
	has_data(&o);
	assert_true(o.op.u.open.have_access);
	assert_int_equal(o.op.u.open.allowed & ~RIGHTS, 0);
	assert_true(o.op.u.open.allowed & NFS_ACCESS_READ);
	assert_int_equal(o.op.u.open.attr.type, NFS_REG);
	opener_finish(&o, f);
}

static void what_is_made_emptied_or_only_written_is_not_read(void **state)
{
	static const int flags[] = {O_WRONLY, O_RDWR | O_TRUNC, O_RDWR | O_CREAT};
	struct fix *f = *state;
	struct opener o;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		opener_init(&o, f, flags[i]);
		assert_int_equal(fix_run(f, &o.op), 0);
		assert_false(o.op.u.open.have_data);
		assert_true(o.op.u.open.have_access);
		assert_int_equal(fix_close(f, o.op.u.open.open), 0);
		assert_int_equal(atomic_load(&o.buf->refs), 1);
		mem_buf_unref(o.buf);
	}
	assert_int_equal(f->srv.count[OP_READ], 0);
	fix_unmount_clean(f);
}

/* The name may stand for another file by now, which is opened, but not emptied. */
static void only_the_file_that_is_meant_is_emptied(void **state)
{
	struct fix *f = *state;
	struct nfs_fh file;
	struct opener o;

	for (int i = 0; i < 4; i++) {
		unsigned before = f->srv.count[OP_SEQUENCE], set = f->srv.count[OP_SETATTR];

		opener_init(&o, f, O_RDWR | O_TRUNC);
		if (i)
			o.op.u.open.only = file;
		if (i == 2)
			o.op.u.open.only.data[0]++;
		f->srv.quirk = i == 3 ? Q_NEVER_SAME : Q_NONE; /* the server cannot tell */
		assert_int_equal(fix_run(f, &o.op), 0);
		f->srv.quirk = Q_NONE;
		file = o.op.u.open.fh;
		assert_true(file.len > 0);
		assert_int_equal(f->srv.count[OP_VERIFY], i);
		assert_int_equal(f->srv.count[OP_SETATTR], set + (i != 2));
		assert_int_equal(f->srv.count[OP_SEQUENCE], before + (i == 3 ? 2 : 1));
		assert_int_equal(fix_close(f, o.op.u.open.open), 0);
		mem_buf_unref(o.buf);
	}
	fix_unmount_clean(f);
}

static void memory_that_cannot_be_held_is_refused(void **state)
{
	struct fix *f = *state;
	struct opener o;

	opener_init(&o, f, O_RDONLY);
	o.piece[1].hold = NULL;
	assert_int_equal(fix_run(f, &o.op), -EINVAL);
	o.piece[1].hold = o.buf;
	o.op.u.open.to.len = 2u << 20;
	assert_int_equal(fix_run(f, &o.op), -EINVAL);
	opener_finish(&o, f);
}

/* The file is open, and the opener asks for the rest separately. */
static void a_step_behind_may_fail(void **state)
{
	static const struct {
		uint32_t op, status;
		bool access;
	} cases[] = {
		{OP_READ, NFS4ERR_IO, true},
		{OP_READ, NFS4ERR_DELAY, true},
		{OP_READ, NFS4ERR_LOCKED, true},
		{OP_READ, NFS4ERR_REP_TOO_BIG, true},
		{OP_READ, NFS4ERR_BAD_STATEID, true},
		{OP_GETATTR, NFS4ERR_DELAY, true},
		{OP_ACCESS, NFS4ERR_DELAY, false},
		{OP_ACCESS, NFS4ERR_NOTSUPP, false},
	};
	struct fix *f = *state;
	struct opener o;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		opener_init(&o, f, O_RDONLY);
		fix_fails(f, cases[i].op, cases[i].status, 1);
		assert_int_equal(fix_run(f, &o.op), 0);
		assert_false(o.op.u.open.have_data);
		assert_int_equal(o.op.u.open.have_access, cases[i].access);
		assert_int_equal(o.op.u.open.attr.type, NFS_REG);
		assert_int_equal(fix_close(f, o.op.u.open.open), 0);
		assert_int_equal(f->srv.nopens, 0);
		assert_int_equal(atomic_load(&o.buf->refs), 1);
		mem_buf_unref(o.buf);
	}
	fix_unmount_clean(f);
}

/* The broken answer is reported, and no open is left. */
static void a_senseless_read_fails_the_open(void **state)
{
	struct fix *f = *state;
	struct opener o;

	opener_init(&o, f, O_RDONLY);
	fix_quirk(f, Q_READ_LONG);
	assert_int_equal(fix_run(f, &o.op), -EREMOTEIO);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	o.op.u.open.open = NULL;
	opener_finish(&o, f);
}

static void nothing_that_is_not_the_end_is_no_data(void **state)
{
	struct fix *f = *state;
	struct opener o;

	opener_init(&o, f, O_RDONLY);
	fix_quirk(f, Q_READ_NOTHING);
	assert_int_equal(fix_run(f, &o.op), 0);
	assert_false(o.op.u.open.have_data);
	opener_finish(&o, f);
}

/* The server has opened the file, and the answer is lost with the connection: the reply cache has
 * none either, and the same owner opens the same file again. */
static void a_lost_answer_is_asked_for_again(void **state)
{
	struct fix *f = *state;
	struct opener o;

	opener_init(&o, f, O_RDONLY);
	fix_quirk(f, Q_CUT_OPEN);
	assert_int_equal(fix_run(f, &o.op), 0);
	has_data(&o);
	assert_int_equal(f->srv.nopens, 1);
	opener_finish(&o, f);
}

/* The opener has gone and does not keep the block: the client holds the block until the server
 * cannot write there any more. */
static void the_block_is_held_until_the_answer(void **state)
{
	struct fix *f = *state;
	struct opener o;

	opener_init(&o, f, O_RDONLY);
	f->srv.hold_op = OP_OPEN;
	fix_start(f, &o.op, &o.sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&o.op);
	assert_true(fix_ends_within(&o.sem, PATIENCE_MS));
	assert_int_equal(o.op.error, -EINTR);
	assert_true(atomic_load(&o.buf->refs) > 1);
	memset(o.piece, 0, sizeof(o.piece)); /* the array belongs to the caller */
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	o.op.u.open.open = NULL;
	opener_finish(&o, f);
}

/* --- times that hold the verifier of an exclusive create
 * --------------------------------------- */

static void exclusive_init(struct opener *o, struct fix *f, bool late)
{
	opener_init(o, f, O_WRONLY | O_CREAT | O_EXCL);
	o->op.u.open.set.mask = 0;
	o->op.u.open.want = 0;
	o->op.u.open.late_times = late;
	f->srv.verf_in_times = true;
}

static void whoever_likes_sets_the_times_himself(void **state)
{
	struct fix *f = *state;
	unsigned before = f->srv.count[OP_SEQUENCE];
	struct opener o;

	exclusive_init(&o, f, true);
	assert_int_equal(fix_run(f, &o.op), 0);
	assert_int_equal(f->srv.count[OP_SEQUENCE], before + 1);
	assert_true(o.op.u.open.times_left);
	assert_memory_equal(
		&o.op.u.open.attr.mtime, &o.op.u.open.attr.ctime, sizeof(struct timespec));
	opener_finish(&o, f);
}

static void else_they_are_set_at_once(void **state)
{
	struct fix *f = *state;
	struct opener o;

	exclusive_init(&o, f, false);
	assert_int_equal(fix_run(f, &o.op), 0);
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	assert_false(o.op.u.open.times_left);
	assert_int_equal(fix_close(f, o.op.u.open.open), 0);
	mem_buf_unref(o.buf);
	/* and so are the other attributes */
	exclusive_init(&o, f, true);
	o.op.u.open.set.mask = NFS_SET_MODE;
	assert_int_equal(fix_run(f, &o.op), 0);
	assert_int_equal(f->srv.count[OP_SETATTR], 2);
	assert_false(o.op.u.open.times_left);
	opener_finish(&o, f);
}

static void they_are_set_for_somebody_who_has_gone(void **state)
{
	struct fix *f = *state;
	struct opener o;

	exclusive_init(&o, f, true);
	f->srv.hold_op = OP_OPEN;
	fix_start(f, &o.op, &o.sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&o.op);
	assert_true(fix_ends_within(&o.sem, PATIENCE_MS));
	assert_int_equal(o.op.error, -EINTR);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	o.op.u.open.open = NULL;
	opener_finish(&o, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(all_comes_in_one_compound),
		ON_MOUNT(what_is_made_emptied_or_only_written_is_not_read),
		ON_MOUNT(only_the_file_that_is_meant_is_emptied),
		ON_MOUNT(memory_that_cannot_be_held_is_refused),
		ON_MOUNT(a_step_behind_may_fail),
		ON_MOUNT(a_senseless_read_fails_the_open),
		ON_MOUNT(nothing_that_is_not_the_end_is_no_data),
		ON_MOUNT(a_lost_answer_is_asked_for_again),
		ON_MOUNT(the_block_is_held_until_the_answer),
		ON_MOUNT(whoever_likes_sets_the_times_himself),
		ON_MOUNT(else_they_are_set_at_once),
		ON_MOUNT(they_are_set_for_somebody_who_has_gone),
	};

	log_init("test-nfs4_ops_open", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
