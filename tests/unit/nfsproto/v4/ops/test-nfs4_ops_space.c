/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/ops/nfs4_ops_space and nfs4_ops_copy: the results of good and bad
 * answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-answer.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/ops/nfs4_ops_copy.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_task.h"

static struct answer a;
static struct nfs4_server srv;
static struct nfs4_client c;

static int setup(void **state)
{
	memset(&srv, 0, sizeof(srv));
	memset(&c, 0, sizeof(c));
	nfs4_server_init(&srv, nfs4_kinds);
	srv.minor = 2;
	c.srv = &srv;
	return 0;
}

static int teardown(void **state)
{
	nfs4_server_finish(&srv);
	return 0;
}

/* op's kind as for a submission; -errno if op is not sent at all */
static int kind(struct nfs_op *op)
{
	int k = nfs4_kind_of(&c, op);

	if (k >= 0)
		op->be.v4.kind = (uint8_t)k;
	return k;
}

/* --- SEEK ------------------------------------------------------------------------------------- */

static int seek(bool hole, uint64_t from, bool eof, uint64_t found, uint64_t *pos)
{
	struct nfs_op op = {.type = NFS_SEEK, .u.seek = {.offset = from, .hole = hole}};
	struct nfs4_seek_res res = {eof, found};
	int rc;

	assert_int_equal(kind(&op), NFS_SEEK);
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_put_seek_res(&a.x, NFS4_OK, &res);
	answer_add(&a);
	rc = answer_read(&a, &c, &op, NFS4_OK);
	*pos = op.u.seek.pos;
	return rc;
}

static void seek_finds_data_and_holes(void **state)
{
	struct nfs_op op = {.type = NFS_SEEK};
	uint64_t pos;

	assert_int_equal(seek(false, 10, false, 4096, &pos), 0);
	assert_int_equal(pos, 4096);
	assert_int_equal(seek(true, 10, true, 5000, &pos), 0); /* the hole behind the end */
	assert_int_equal(pos, 5000);
	assert_int_equal(seek(false, 10, true, 5000, &pos), -ENXIO);
	assert_int_equal(seek(true, 10, false, 9, &pos), -EBADMSG);
	assert_int_equal(seek(true, 10, false, 1ull << 63, &pos), -EBADMSG);
	kind(&op);
	assert_int_equal(answer_status(&a, &c, &op, OP_SEEK, NFS4ERR_NXIO), NFS4ERR_NXIO);
}

static void what_the_server_lacks_is_asked_for_once(void **state)
{
	struct nfs_op seek = {.type = NFS_SEEK}, alloc = {.type = NFS_ALLOCATE};
	struct nfs_op punch = {.type = NFS_ALLOCATE, .u.allocate.dealloc = true};

	kind(&seek);
	kind(&alloc);
	assert_int_equal(answer_status(&a, &c, &seek, OP_SEEK, NFS4ERR_NOTSUPP), -EOPNOTSUPP);
	assert_int_equal(kind(&seek), -EOPNOTSUPP);
	assert_int_equal(kind(&alloc), NFS_ALLOCATE);
	/* a server that does not even know the number: RFC 8881 16.2.3 */
	assert_int_equal(
		answer_status(&a, &c, &alloc, OP_ILLEGAL, NFS4ERR_OP_ILLEGAL), -EOPNOTSUPP);
	assert_int_equal(kind(&alloc), -EOPNOTSUPP);
	assert_int_equal(kind(&punch), NFS_ALLOCATE);
	srv.minor = 1;
	assert_int_equal(kind(&punch), -EOPNOTSUPP);
}

/* --- COPY ------------------------------------------------------------------------------------- */

static struct nfs_op copy_op(uint64_t from, uint64_t to, uint64_t count)
{
	struct nfs_op op = {.type = NFS_COPY, .u.copy = {.from = from, .to = to, .count = count}};

	kind(&op);
	return op;
}

static void copy_head(void)
{
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	answer_ok(&a, OP_SAVEFH);
	answer_ok(&a, OP_PUTFH);
}

static int copy_answer(struct nfs_op *op, uint32_t status, const struct nfs4_copy_res *res)
{
	copy_head();
	nfs4_put_copy_res(&a.x, status, res);
	answer_add(&a);
	return answer_read(&a, &c, op, status);
}

/* The result of the COMMIT behind another operation. Returns how the answer was read. */
static int commit_answer(struct nfs_op *op, uint32_t status)
{
	struct nfs4_commit_res res = {.verf = {1}};

	if (status)
		nfs4_put_op_res(&a.x, OP_COMMIT, status);
	else
		nfs4_put_commit_res(&a.x, NFS4_OK, &res);
	answer_add(&a);
	return answer_read(&a, &c, op, status);
}

static int clone_answer(struct nfs_op *op, uint32_t status)
{
	copy_head();
	nfs4_put_op_res(&a.x, OP_CLONE, status);
	answer_add(&a);
	return status ? answer_read(&a, &c, op, status) : commit_answer(op, NFS4_OK);
}

static void what_has_no_verifier_is_committed_at_once(void **state)
{
	static const struct {
		uint32_t status;
		int unsafe;
	} v[] = {{NFS4_OK, 0}, {NFS4ERR_NOSPC, -ENOSPC}, {NFS4ERR_IO, -EIO},
		{NFS4ERR_DELAY, -EAGAIN}};
	struct nfs_op op;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		for (int dealloc = 0; dealloc < 2; dealloc++) {
			op = (struct nfs_op){
				.type = NFS_ALLOCATE, .u.allocate.dealloc = dealloc != 0};
			assert_int_equal(kind(&op), NFS_ALLOCATE);
			answer_begin(&a);
			answer_ok(&a, OP_PUTFH);
			answer_ok(&a, dealloc ? OP_DEALLOCATE : OP_ALLOCATE);
			assert_int_equal(commit_answer(&op, v[i].status), 0);
			assert_int_equal(op.u.allocate.unsafe, v[i].unsafe);
		}
		op = copy_op(0, 0, 5);
		copy_head();
		answer_ok(&a, OP_CLONE);
		assert_int_equal(commit_answer(&op, v[i].status), 0);
		assert_int_equal(op.u.copy.copied, 5);
		assert_int_equal(op.u.copy.unsafe, v[i].unsafe);
	}
}

static void clone_is_tried_where_it_may_work(void **state)
{
	struct nfs_op op;

	c.clone_blksize = 4096;
	op = copy_op(4096, 8192, 5);
	assert_int_equal(op.be.v4.kind, NFS4_K_CLONE);
	assert_int_equal(clone_answer(&op, NFS4_OK), 0);
	assert_int_equal(op.u.copy.copied, 5);
	assert_int_equal(op.u.copy.committed, NFS_FILE_SYNC);
	op = copy_op(4097, 8192, 5);
	assert_int_equal(op.be.v4.kind, NFS_COPY);
	op = copy_op(0, 0, 5);
	assert_int_equal(clone_answer(&op, NFS4ERR_INVAL), ANSWER_AGAIN); /* for this op only */
	assert_int_equal(op.be.v4.kind, NFS_COPY);
	op = copy_op(0, 0, 5);
	assert_int_equal(clone_answer(&op, NFS4ERR_NOTSUPP), ANSWER_AGAIN); /* for ever */
	assert_int_equal(op.be.v4.kind, NFS_COPY);
	op = copy_op(0, 0, 5);
	assert_int_equal(op.be.v4.kind, NFS_COPY);
	assert_int_equal(copy_answer(&op, NFS4ERR_NOTSUPP, NULL), -EOPNOTSUPP);
	assert_int_equal(kind(&op), -EOPNOTSUPP);
}

static void copies_end_as_the_server_says(void **state)
{
	struct nfs4_copy_res res = {{.count = 60, .committed = UNSTABLE4, .verf = {1}}, true, true};
	struct nfs_op op;

	c.clone_blksize = 4096;
	op = copy_op(1, 0, 100);
	assert_int_equal(copy_answer(&op, NFS4_OK, &res), 0);
	assert_int_equal(op.u.copy.copied, 60);
	assert_int_equal(op.u.copy.committed, NFS_UNSTABLE);
	assert_int_equal(op.u.copy.verf[0], 1);
	res.response.count = 101;
	op = copy_op(1, 0, 100);
	assert_int_equal(copy_answer(&op, NFS4_OK, &res), -EREMOTEIO);
	res.response.count = 60; /* any 60 bytes of the 100 */
	res.consecutive = false;
	op = copy_op(1, 0, 100);
	assert_int_equal(copy_answer(&op, NFS4_OK, &res), -EOPNOTSUPP);
	assert_int_equal(copy_answer(&op, NFS4ERR_NOSPC, NULL), NFS4ERR_NOSPC);
}

static const struct nfs4_copy_res async = {
	{.async = true, .callback = {1, {7, 7, 7}}}, true, false};

/* A copy that the server carries out asynchronously. */
static struct nfs_op copy_async(void)
{
	static const struct nfs4_copy_res only_async = {.consecutive = true};
	struct nfs_op op;

	c.clone_blksize = 4096;
	op = copy_op(1, 0, 100);
	assert_int_equal(copy_answer(&op, NFS4ERR_OFFLOAD_NO_REQS, &only_async), ANSWER_AGAIN);
	assert_true(srv.copies_async);
	return op;
}

static struct nfs4_cb_offload_args offload_end(uint64_t count)
{
	return (struct nfs4_cb_offload_args){.fh = {.len = 1},
		.stateid = async.response.callback,
		.response = {.count = count, .committed = FILE_SYNC4}};
}

static int status_answer(struct nfs_op *op, const struct nfs4_offload_status_res *res)
{
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_put_offload_status_res(&a.x, NFS4_OK, res);
	answer_add(&a);
	return answer_read(&a, &c, op, NFS4_OK);
}

static void an_asynchronous_copy_ends_with_its_callback(void **state)
{
	struct nfs4_cb_offload_args end = offload_end(100);
	struct nfs_op op = copy_async();

	assert_int_equal(copy_answer(&op, NFS4_OK, &async), ANSWER_LATER);
	assert_int_equal(op.be.v4.kind, NFS4_K_OFFLOAD_STATUS);
	/* as nfs4_task_delay() leaves op */
	op.be.v4.state = NFS4_T_DELAYED;
	op.be.v4.user = &c.user;
	TAILQ_INSERT_TAIL(&srv.delayed, &op, link);
	end.stateid.other[0] = 8; /* of another copy */
	nfs4_offload_called(&c, &end);
	assert_ptr_equal(TAILQ_FIRST(&srv.delayed), &op);
	end.stateid.other[0] = 7;
	nfs4_offload_called(&c, &end);
	assert_null(TAILQ_FIRST(&srv.delayed));
	assert_ptr_equal(TAILQ_FIRST(&srv.ended), &op);
	assert_int_equal(op.error, 0);
	assert_int_equal(op.u.copy.copied, 100);
	assert_int_equal(op.u.copy.committed, NFS_FILE_SYNC);
	assert_int_equal(op.be.v4.kind, NFS_COPY); /* no copy to cancel */
}

static void a_callback_may_come_first(void **state)
{
	struct nfs4_cb_offload_args end = offload_end(100);
	struct nfs_op op = copy_async();

	nfs4_offload_called(&c, &end);
	assert_int_equal(copy_answer(&op, NFS4_OK, &async), 0);
	assert_int_equal(op.u.copy.copied, 100);

	op = copy_op(1, 0, 100); /* the early callback counts once */
	assert_int_equal(copy_answer(&op, NFS4_OK, &async), ANSWER_LATER);
	end.status = NFS4ERR_NOSPC; /* while OFFLOAD_STATUS is asked */
	nfs4_offload_called(&c, &end);
	assert_int_equal(
		answer_status(&a, &c, &op, OP_OFFLOAD_STATUS, NFS4ERR_BAD_STATEID), -ENOSPC);

	end.status = NFS4_OK;
	end.response.count = 101;
	op = copy_op(1, 0, 100);
	nfs4_offload_called(&c, &end);
	assert_int_equal(copy_answer(&op, NFS4_OK, &async), -EREMOTEIO);
}

static void callbacks_of_nobody_take_no_room(void **state)
{
	struct nfs4_cb_offload_args end = offload_end(100);
	struct nfs_op op = copy_async();

	nfs4_offload_called(&c, &end);
	for (unsigned i = 0; i < NFS4_OFFLOADS; i++) {
		end.stateid.other[5] = (uint8_t)(i + 1);
		nfs4_offload_called(&c, &end);
	}
	/* the oldest record has gone */
	assert_int_equal(copy_answer(&op, NFS4_OK, &async), ANSWER_LATER);
}

static void a_callback_that_never_comes_is_noticed(void **state)
{
	struct nfs4_offload_status_res going = {.count = 50}, over = {100, true, NFS4_OK};
	struct nfs_op op = copy_async();
	unsigned asked = 0, ms = 0;
	int rc;

	assert_int_equal(copy_answer(&op, NFS4_OK, &async), ANSWER_LATER);
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(status_answer(&op, &going), ANSWER_LATER);
		assert_true(nfs4_offload_ms(&op) >= ms);
	}
	do { /* the callback may be on its way */
		rc = status_answer(&op, &over);
		nfs4_offload_ms(&op);
	} while (rc == ANSWER_LATER && ++asked < 1000);
	assert_int_equal(rc, -EOPNOTSUPP);
	assert_true(asked >= 5);
}

/* --- READ_PLUS -------------------------------------------------------------------------------- */

static char text[] = "0123456789abcdef";

/* A READ_PLUS of 16 bytes at 100, into two segments, answered with these pieces. */
static int read_plus(
	struct nfs_op *op, uint8_t to[16], bool eof, const struct nfs4_content *p, unsigned n)
{
	struct seg segs[] = {{.at = {.addr = to, .len = 5}}, {.at = {.addr = to + 5, .len = 11}}};
	struct nfs4_read_plus_res res = {eof, n};

	memset(op, 0, sizeof(*op));
	memset(to, 'x', 16);
	op->type = NFS_READ;
	op->u.read.offset = 100;
	assert_int_equal(seg_list_init(&op->u.read.to, segs, 2), 0);
	c.read_plus = true;
	assert_int_equal(kind(op), NFS4_K_READ_PLUS);
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_put_read_plus_res(&a.x, NFS4_OK, &res);
	for (unsigned i = 0; i < n; i++)
		nfs4_put_content(&a.x, &p[i]);
	answer_add(&a);
	return answer_read(&a, &c, op, NFS4_OK);
}

#define DATA(at, n)                                                                                \
	{                                                                                          \
		.what = NFS4_CONTENT_DATA, .offset = at, .data = SEG_LIST_MEM(text, n)             \
	}
#define HOLE(at, n)                                                                                \
	{                                                                                          \
		.what = NFS4_CONTENT_HOLE, .offset = at, .length = n                               \
	}

static void pieces_become_what_was_asked_for(void **state)
{
	static const struct {
		struct nfs4_content piece[3];
		unsigned n;
		bool eof;
		const char *want; /* '.': zero, 'x': untouched */
		uint32_t count;
		bool at_end;
	} v[] = {
		{{DATA(100, 16)}, 1, false, "0123456789abcdef", 16, false},
		{{DATA(100, 4), HOLE(104, 4), DATA(108, 8)}, 3, false, "0123....01234567", 16,
			false},
		{{HOLE(0, 1000)}, 1, true, "................", 16,
			false}, /* longer on both sides */
		{{HOLE(90, 12), DATA(102, 3)}, 2, true, "..012xxxxxxxxxxx", 5, true},
		{{DATA(96, 16)}, 1, false, "456789abcdefxxxx", 12, false}, /* begins before */
		{{DATA(100, 4), DATA(106, 4)}, 2, true, "0123xxxxxxxxxxxx", 4, false}, /* a gap */
		{{DATA(90, 5), DATA(100, 2)}, 2, false, "01xxxxxxxxxxxxxx", 2, false},
		{{HOLE(100, UINT64_MAX)}, 1, true, "................", 16, false},
		{{{0}}, 0, true, "xxxxxxxxxxxxxxxx", 0, true}, /* at the end */
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		uint8_t to[16], want[16];
		struct nfs_op op;

		assert_int_equal(read_plus(&op, to, v[i].eof, v[i].piece, v[i].n), 0);
		for (unsigned k = 0; k < 16; k++)
			want[k] = v[i].want[k] == '.' ? 0 : (uint8_t)v[i].want[k];
		assert_memory_equal(to, want, 16);
		assert_int_equal(op.u.read.count, v[i].count);
		assert_int_equal(op.u.read.eof, v[i].at_end);
	}
}

static void servers_without_sense_are_sent_reads(void **state)
{
	static const struct nfs4_content behind[] = {DATA(101, 4)}, before[] = {DATA(0, 16)};
	static const struct {
		bool eof;
		const struct nfs4_content *piece;
		unsigned n;
	} v[] = {{false, NULL, 0}, {true, behind, 1}, {false, before, 1}};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct nfs_op op;
		uint8_t to[16];

		srv.lacks = 0;
		assert_int_equal(read_plus(&op, to, v[i].eof, v[i].piece, v[i].n), ANSWER_AGAIN);
		assert_int_equal(op.be.v4.kind, NFS_READ);
		assert_int_equal(kind(&op), NFS_READ);
	}
}

static void without_read_plus_it_is_read(void **state)
{
	struct nfs_op op = {.type = NFS_READ};

	c.read_plus = true;
	kind(&op);
	assert_int_equal(
		answer_status(&a, &c, &op, OP_READ_PLUS, NFS4ERR_UNION_NOTSUPP), ANSWER_AGAIN);
	assert_int_equal(op.be.v4.kind, NFS_READ);
	assert_int_equal(kind(&op), NFS4_K_READ_PLUS);
	assert_int_equal(answer_status(&a, &c, &op, OP_READ_PLUS, NFS4ERR_NOTSUPP), ANSWER_AGAIN);
	assert_int_equal(op.be.v4.kind, NFS_READ);
	assert_int_equal(kind(&op), NFS_READ);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(seek_finds_data_and_holes),
		T(what_the_server_lacks_is_asked_for_once),
		T(clone_is_tried_where_it_may_work),
		T(what_has_no_verifier_is_committed_at_once),
		T(copies_end_as_the_server_says),
		T(an_asynchronous_copy_ends_with_its_callback),
		T(a_callback_may_come_first),
		T(callbacks_of_nobody_take_no_room),
		T(a_callback_that_never_comes_is_noticed),
		T(pieces_become_what_was_asked_for),
		T(servers_without_sense_are_sent_reads),
		T(without_read_plus_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
