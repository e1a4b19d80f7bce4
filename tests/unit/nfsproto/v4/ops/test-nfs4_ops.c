/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of the operations of nfsproto/v4/ops: replies that make no sense.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/log.h"

static unsigned entries;

static void test_senseless_replies(void **state)
{
	static const enum quirk any[] = {Q_SHORT_REPLY, Q_FEWER_RESULTS, Q_WRONG_OP, Q_TRAILING,
		Q_STATUS_MISMATCH, Q_WRONG_SLOT, Q_NO_ATTRS};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		fix_quirk(f, any[i]);
		if (fix_getattr(f) != -EREMOTEIO)
			fail_msg("quirk %d was not noticed", any[i]);
		assert_int_equal(fix_getattr(f), 0);
	}
	fix_unmount_clean(f);
}

static void test_senseless_data(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	fix_quirk(f, Q_READ_LONG);
	assert_int_not_equal(fix_read(f, open, &fh, 5000, &n), 0);
	fix_quirk(f, Q_READ_NOTHING);
	assert_int_equal(fix_read(f, open, &fh, 5000, &n), -EREMOTEIO);
	fix_quirk(f, Q_WRITE_LONG);
	assert_int_equal(fix_write(f, open, &fh, NFS_UNSTABLE), -EREMOTEIO);
	fix_quirk(f, Q_WRITE_UNSTABLE);
	assert_int_equal(fix_write(f, open, &fh, NFS_FILE_SYNC), -EREMOTEIO);
	assert_int_equal(fix_read(f, open, &fh, 5000, &n), 0);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

static bool any_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	for (uint32_t i = 0; i < ent->namelen; i++)
		assert_true(ent->name[i] != '/' && ent->name[i] != '\0');
	entries++;
	return true;
}

static void test_senseless_directories(void **state)
{
	static const struct nfs_name names[] = {
		{"", 0}, {".", 1}, {"..", 2}, {"a/b", 3}, {"/", 1}, {"a\0b", 3}};
	static char longname[256];
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		f->srv.bad_name = names[i].s;
		f->srv.bad_name_len = names[i].len;
		fix_quirk(f, Q_DIR_NAME);
		entries = 0;
		assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
		assert_int_equal(entries, 3);
	}
	memset(longname, 'n', sizeof(longname));
	f->srv.bad_name = longname;
	f->srv.bad_name_len = 256;
	fix_quirk(f, Q_DIR_NAME);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
	fix_quirk(f, Q_DIR_LOOP);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
	fix_quirk(f, Q_DIR_NOTHING);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), 0);
	fix_unmount_clean(f);
}

/* --- attributes that come with data -------------------------------------------------------- */

static unsigned counted(struct fix *f, uint32_t op)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = f->srv.count[op];
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

/* An op of each kind on the file of fh and open, with a block for the data. */
static struct nfs_op data_op(
	enum nfs_op_type type, struct nfs_open *open, const struct nfs_fh *fh, struct mem_buf *buf)
{
	struct nfs_op op = {.type = type};

	if (type == NFS_READ) {
		op.u.read.open = open;
		op.u.read.fh = *fh;
		op.u.read.to = seg_list_of_buf(buf, 0, 1000);
		op.u.read.want_attr = true;
	} else if (type == NFS_WRITE) {
		op.u.write.open = open;
		op.u.write.fh = *fh;
		op.u.write.from = seg_list_of_buf(buf, 0, 1000);
	} else if (type == NFS_COMMIT) {
		op.u.commit.fh = *fh;
	} else {
		op.u.close.open = open;
	}
	return op;
}

static const struct nfs_data_attr *data_attr(const struct nfs_op *op)
{
	switch (op->type) {
	case NFS_READ:
		return &op->u.read.attr;
	case NFS_WRITE:
		return &op->u.write.attr;
	case NFS_COMMIT:
		return &op->u.commit.attr;
	default:
		return &op->u.close.attr;
	}
}

static const enum nfs_op_type data_ops[] = {NFS_READ, NFS_WRITE, NFS_COMMIT, NFS_CLOSE};

static void test_attributes_come_with_data(void **state)
{
	struct fix *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 1000);
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);

	f->srv.change = 4711;
	for (unsigned i = 0; i < 4; i++) {
		struct nfs_op op = data_op(data_ops[i], open, &fh, buf);
		unsigned calls = counted(f, OP_SEQUENCE), getattrs = counted(f, OP_GETATTR);
		const struct nfs_data_attr *a = data_attr(&op);

		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(counted(f, OP_SEQUENCE), calls + 1);
		assert_int_equal(counted(f, OP_GETATTR), getattrs + 1);
		assert_true(a->have);
		assert_false(a->have_before || a->counted);
		assert_int_equal(a->size, f->srv.size);
		assert_int_equal(a->change, data_ops[i] == NFS_READ ? 4711 : 4712);
	}
	mem_buf_unref(buf);
	fix_unmount_clean(f);
}

/* A change is done once, and not repeated for the attributes. */
static void test_attributes_may_be_missing(void **state)
{
	static const uint32_t ops[] = {OP_READ, OP_WRITE, OP_COMMIT, OP_CLOSE};
	static const uint32_t why[] = {
		NFS4ERR_ACCESS, NFS4ERR_DELAY, NFS4ERR_SERVERFAULT, NFS4ERR_REP_TOO_BIG_TO_CACHE};
	struct fix *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 1000);

	for (unsigned i = 0; i < 4 * 4; i++) {
		struct nfs_fh fh;
		struct nfs_open *open = fix_open(f, O_RDWR, &fh);
		struct nfs_op op = data_op(data_ops[i % 4], open, &fh, buf);
		unsigned done = counted(f, ops[i % 4]), late = why[i / 4] == NFS4ERR_DELAY;

		fix_fails(f, OP_GETATTR, why[i / 4], 1);
		assert_int_equal(fix_run(f, &op), 0);
		assert_int_equal(counted(f, ops[i % 4]), done + 1);
		/* READ is behind its GETATTR and has to wait for the later operation */
		assert_int_equal(data_attr(&op)->have, op.type == NFS_READ && late);
		if (op.type != NFS_CLOSE)
			assert_int_equal(fix_close(f, open), 0);
	}
	mem_buf_unref(buf);
	fix_unmount_clean(f);
}

static void test_attributes_may_be_empty(void **state)
{
	struct fix *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 1000);
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);

	for (unsigned i = 0; i < 4; i++) {
		struct nfs_op op = data_op(data_ops[i], open, &fh, buf);

		fix_quirk(f, Q_NO_ATTRS);
		assert_int_equal(fix_run(f, &op), 0);
		assert_false(data_attr(&op)->have);
	}
	mem_buf_unref(buf);
	fix_unmount_clean(f);
}

static void test_attributes_are_not_asked_for_in_vain(void **state)
{
	struct fix *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 1000);
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	struct nfs_op op = data_op(NFS_READ, open, &fh, buf);
	unsigned getattrs = counted(f, OP_GETATTR);

	op.u.read.want_attr = false;
	op.u.read.attr.have = true;
	assert_int_equal(fix_run(f, &op), 0);
	assert_false(op.u.read.attr.have);
	assert_int_equal(counted(f, OP_GETATTR), getattrs);
	assert_int_equal(fix_close(f, open), 0);
	mem_buf_unref(buf);
	fix_unmount_clean(f);
}

static struct nfs_op lookup_op(const struct fix *f, const char *name)
{
	struct nfs_op op = {.type = NFS_LOOKUP};

	op.u.lookup.dir = f->root;
	op.u.lookup.name = (struct nfs_name){name, (uint32_t)strlen(name)};
	op.u.lookup.want_dir = true;
	return op;
}

static void test_a_directorys_attributes_come_with_names(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = lookup_op(f, "file");
	unsigned calls = counted(f, OP_SEQUENCE);

	assert_int_equal(fix_run(f, &op), 0);
	assert_true(op.u.lookup.dir_attr.have && op.u.lookup.dir_attr.before);
	assert_int_equal(op.u.lookup.dir_attr.attr.type, NFS_DIR);
	assert_int_equal(op.u.lookup.attr.type, NFS_REG);
	op = lookup_op(f, "nope");
	assert_int_equal(fix_run(f, &op), -ENOENT);
	assert_true(op.u.lookup.dir_attr.have);
	op = (struct nfs_op){.type = NFS_READDIR};
	op.u.readdir.dir = f->root;
	op.u.readdir.max_bytes = 4096;
	op.u.readdir.entry = any_entry;
	op.u.readdir.want_dir = true;
	assert_int_equal(fix_run(f, &op), 0);
	assert_true(op.u.readdir.dir_attr.have);
	assert_int_equal(counted(f, OP_SEQUENCE), calls + 3);
	/* where the server refuses attributes the op succeeds without */
	op = lookup_op(f, "file");
	fix_fails(f, OP_GETATTR, NFS4ERR_ACCESS, 1);
	assert_int_equal(fix_run(f, &op), 0);
	assert_false(op.u.lookup.dir_attr.have);
	assert_int_equal(counted(f, OP_SEQUENCE), calls + 5);
	/* and senseless attributes end the op */
	op = lookup_op(f, "file");
	fix_quirk(f, Q_NO_ATTRS);
	assert_int_equal(fix_run(f, &op), -EREMOTEIO);
	fix_unmount_clean(f);
}

static void test_a_server_says_that_it_counts(void **state)
{
	static const uint32_t types[] = {
		NFS4_CHANGE_TYPE_IS_VERSION_COUNTER, NFS4_CHANGE_TYPE_IS_TIME_METADATA};
	struct fix *f = *state;
	struct err e;

	f->srv.minor = 2;
	for (unsigned i = 0; i < 2; i++) {
		struct mem_buf *buf;
		struct nfs_open *open;
		struct nfs_op op;
		struct nfs_fh fh;

		f->srv.change_type = types[i];
		f->nfs = fix_mount_version(f, "/", 2, &e);
		assert_non_null(f->nfs);
		nfs_client_root(f->nfs, &f->root, NULL);
		buf = mem_buf_get(f->pool, 1000);
		open = fix_open(f, O_RDWR, &fh);
		op = data_op(NFS_WRITE, open, &fh, buf);
		assert_int_equal(fix_run(f, &op), 0);
		assert_true(op.u.write.attr.have);
		assert_int_equal(op.u.write.attr.counted, i == 0);
		assert_int_equal(fix_close(f, open), 0);
		mem_buf_unref(buf);
		fix_unmount_clean(f);
	}
}

/* --- appending ----------------------------------------------------------------------------- */

#define DATA 5000u

struct appender {
	struct fix *f;
	struct mem_buf *buf;
	struct nfs_op op;
};

static void appender_init(struct appender *a, struct fix *f)
{
	a->f = f;
	a->buf = mem_buf_get(f->pool, DATA);
	memset(a->buf->data, 7, DATA);
	a->op = (struct nfs_op){.type = NFS_WRITE};
	a->op.u.write.open = fix_open(f, O_WRONLY, &a->op.u.write.fh);
	a->op.u.write.from = seg_list_of_buf(a->buf, 0, DATA);
	a->op.u.write.append = true;
}

static void appender_finish(struct appender *a)
{
	assert_int_equal(fix_close(a->f, a->op.u.write.open), 0);
	mem_buf_unref(a->buf);
	fix_unmount_clean(a->f);
}

static void test_an_append_at_the_end_is_one_compound(void **state)
{
	struct fix *f = *state;
	uint64_t end = f->srv.size;
	struct appender a;
	unsigned before;

	appender_init(&a, f);
	before = counted(f, OP_SEQUENCE);
	a.op.u.write.offset = end;
	assert_int_equal(fix_run(f, &a.op), 0);
	assert_int_equal(counted(f, OP_SEQUENCE), before + 1);
	assert_int_equal(a.op.u.write.offset, end);
	assert_int_equal(a.op.u.write.count, DATA);
	assert_int_equal(f->srv.write_at, end);
	assert_true(a.op.u.write.attr.have && a.op.u.write.attr.have_before);
	assert_int_equal(a.op.u.write.attr.change, a.op.u.write.attr.before_change + 1);
	assert_int_equal(a.op.u.write.attr.before_size, end);
	assert_int_equal(a.op.u.write.attr.size, end + DATA);
	appender_finish(&a);
}

/* The file is longer or shorter than the client believed. */
static void test_an_append_finds_the_end(void **state)
{
	static const int64_t wrong[] = {-1234, 1234, INT64_MAX / 2};
	struct fix *f = *state;
	struct appender a;

	appender_init(&a, f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t end = f->srv.size;
		unsigned before = counted(f, OP_SEQUENCE), writes = counted(f, OP_WRITE);

		a.op.u.write.offset = (uint64_t)((int64_t)end + wrong[i]);
		assert_int_equal(fix_run(f, &a.op), 0);
		assert_int_equal(a.op.u.write.offset, end);
		assert_int_equal(f->srv.write_at, end);
		assert_int_equal(counted(f, OP_SEQUENCE), before + 2);
		assert_int_equal(counted(f, OP_WRITE), writes + 1);
	}
	appender_finish(&a);
}

static void test_an_append_goes_behind_those_of_others(void **state)
{
	struct fix *f = *state;
	struct appender a;
	uint64_t end = f->srv.size;

	appender_init(&a, f);
	a.op.u.write.offset = end;
	f->srv.others_times = 20;
	f->srv.others_append = 17;
	assert_int_equal(fix_run(f, &a.op), 0);
	assert_int_equal(a.op.u.write.offset, end + 20 * 17);
	assert_int_equal(f->srv.write_at, end + 20 * 17);
	appender_finish(&a);
}

static void test_an_append_does_not_try_for_ever(void **state)
{
	struct fix *f = *state;
	struct appender a;
	unsigned writes = counted(f, OP_WRITE);

	appender_init(&a, f);
	f->srv.quirk = Q_NEVER_SAME;
	assert_int_equal(fix_run(f, &a.op), -EIO);
	assert_int_equal(counted(f, OP_WRITE), writes);
	f->srv.quirk = Q_NONE;
	f->srv.size = INT64_MAX - 10;
	assert_int_equal(fix_run(f, &a.op), -EFBIG);
	appender_finish(&a);
}

static void test_an_append_may_be_short(void **state)
{
	struct fix *f = *state;
	struct appender a;
	uint64_t end = f->srv.size;

	appender_init(&a, f);
	f->srv.write_max = 100;
	assert_int_equal(fix_run(f, &a.op), 0);
	assert_int_equal(a.op.u.write.offset, end);
	assert_int_equal(a.op.u.write.count, 100);
	appender_finish(&a);
}

static void test_an_append_waits_and_looks_again(void **state)
{
	static const uint32_t later[] = {NFS4ERR_DELAY, NFS4ERR_GRACE, NFS4ERR_BAD_STATEID};
	struct fix *f = *state;
	struct appender a;

	appender_init(&a, f);
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		uint64_t end = f->srv.size;

		a.op.u.write.offset = end;
		fix_fails(f, OP_WRITE, later[i], 1);
		assert_int_equal(fix_run(f, &a.op), 0);
		assert_int_equal(f->srv.write_at, end);
		assert_int_equal(f->srv.size, end + DATA);
	}
	fix_fails(f, OP_WRITE, NFS4ERR_NOSPC, 1);
	assert_int_equal(fix_run(f, &a.op), -ENOSPC);
	fix_fails(f, OP_PUTFH, NFS4ERR_STALE, 1);
	assert_int_equal(fix_run(f, &a.op), -ESTALE);
	appender_finish(&a);
}

/* --- behind a WRITE ----------------------------------------------------------------------------
 */

static void writer_init(struct appender *a, struct fix *f, struct nfs_then *then)
{
	appender_init(a, f);
	a->op.u.write.append = false;
	a->op.u.write.then = then;
	*then = (struct nfs_then){.set = {.mask = NFS_SET_MODE, .mode = 0600}};
}

static void test_attributes_are_set_behind_a_write(void **state)
{
	struct fix *f = *state;
	struct nfs_then then;
	struct appender a;
	unsigned before;

	writer_init(&a, f, &then);
	before = counted(f, OP_SEQUENCE);
	assert_int_equal(fix_run(f, &a.op), 0);
	assert_true(then.done);
	assert_int_equal(then.attr.size, f->srv.size);
	assert_true(a.op.u.write.attr.have);
	assert_int_equal(a.op.u.write.attr.change, then.attr.change);
	assert_int_equal(counted(f, OP_SETATTR), 1);
	then = (struct nfs_then){.set = {.mask = 0}};
	assert_int_equal(fix_run(f, &a.op), 0);
	assert_true(then.done);
	assert_int_equal(counted(f, OP_SETATTR), 1);
	assert_int_equal(counted(f, OP_SEQUENCE), before + 2);
	appender_finish(&a);
}

/* A failure behind the WRITE is no failure of the WRITE; and if the WRITE fails, no attribute is
 * set. */
static void test_what_fails_behind_a_write_is_not_done(void **state)
{
	static const uint32_t why[] = {NFS4ERR_PERM, NFS4ERR_DELAY, NFS4ERR_REP_TOO_BIG_TO_CACHE};
	struct fix *f = *state;
	struct nfs_then then;
	struct appender a;

	writer_init(&a, f, &then);
	for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++) {
		unsigned before = counted(f, OP_SEQUENCE);

		fix_fails(f, i & 1 ? OP_GETATTR : OP_SETATTR, why[i], 1);
		assert_int_equal(fix_run(f, &a.op), 0);
		assert_int_equal(a.op.u.write.count, DATA);
		assert_false(then.done);
		assert_false(a.op.u.write.attr.have);
		assert_int_equal(counted(f, OP_SEQUENCE), before + 1);
	}
	fix_fails(f, OP_WRITE, NFS4ERR_NOSPC, 1);
	then.done = true;
	assert_int_equal(fix_run(f, &a.op), -ENOSPC);
	assert_false(then.done);
	appender_finish(&a);
}

/* The server has carried the append out, and the answer, which the server does not keep, is
 * lost. */
static void test_an_append_is_not_done_twice(void **state)
{
	struct fix *f = *state;
	struct appender a;
	uint64_t end = f->srv.size;

	appender_init(&a, f);
	a.op.u.write.offset = end;
	fix_quirk(f, Q_CUT);
	assert_int_equal(fix_run(f, &a.op), -EALREADY);
	assert_false(a.op.u.write.ours);
	assert_int_equal(a.op.u.write.offset, end);
	assert_int_equal(f->srv.size, end + DATA);
	appender_finish(&a);
}

static void test_an_append_needs_the_size(void **state)
{
	struct fix *f = *state;
	struct appender a;
	unsigned writes = counted(f, OP_WRITE);

	appender_init(&a, f);
	fix_quirk(f, Q_NO_ATTRS);
	assert_int_equal(fix_run(f, &a.op), -EREMOTEIO);
	assert_int_equal(counted(f, OP_WRITE), writes);
	appender_finish(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_senseless_replies),
		ON_MOUNT(test_senseless_data),
		ON_MOUNT(test_senseless_directories),
		ON_MOUNT(test_attributes_come_with_data),
		ON_MOUNT(test_attributes_may_be_missing),
		ON_MOUNT(test_attributes_may_be_empty),
		ON_MOUNT(test_attributes_are_not_asked_for_in_vain),
		ON_MOUNT(test_a_directorys_attributes_come_with_names),
		cmocka_unit_test_setup_teardown(
			test_a_server_says_that_it_counts, fix_setup_unmounted, fix_teardown),
		ON_MOUNT(test_an_append_at_the_end_is_one_compound),
		ON_MOUNT(test_an_append_finds_the_end),
		ON_MOUNT(test_an_append_goes_behind_those_of_others),
		ON_MOUNT(test_an_append_does_not_try_for_ever),
		ON_MOUNT(test_an_append_may_be_short),
		ON_MOUNT(test_an_append_waits_and_looks_again),
		ON_MOUNT(test_attributes_are_set_behind_a_write),
		ON_MOUNT(test_what_fails_behind_a_write_is_not_done),
		ON_MOUNT(test_an_append_is_not_done_twice),
		ON_MOUNT(test_an_append_needs_the_size),
	};

	log_init("test-nfs4_ops", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
