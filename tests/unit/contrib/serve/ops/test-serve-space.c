/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Minor version 2's operations on the space and the data of files, and the effect on the disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/ops/space.h"
#include "tests/unit/contrib/serve/serve-env.h"

/* Once a hole is sought in this file, the file is cut. */
static const char *cut_path;

off64_t __real_lseek64(int fd, off64_t offset, int whence);
off64_t __wrap_lseek64(int fd, off64_t offset, int whence)
{
	off64_t r = __real_lseek64(fd, offset, whence);

	if (whence == SEEK_HOLE && cut_path) {
		assert_int_equal(truncate(cut_path, 0), 0);
		cut_path = NULL;
	}
	return r;
}

#define RW  OPEN4_SHARE_ACCESS_BOTH
#define MIB (1u << 20)

static int setup(void **state)
{
	env_setup(state);
	((struct serve_env *)*state)->minor = 2;
	return 0;
}

struct file {
	char path[128];
	struct nfs_fh fh;
	struct nfs4_stateid sid;
};

static void make(struct serve_env *e, const char *name, struct file *f)
{
	env_path(e, name, f->path, sizeof(f->path));
	assert_int_equal(env_open(e, name, true, RW, 0, name, &f->sid, &f->fh), NFS4_OK);
}

/* A file of 4 MiB: data in the second MiB only. */
static void make_sparse(struct serve_env *e, struct file *f)
{
	static char block[MIB];
	int fd;

	make(e, "sparse", f);
	memset(block, 'x', sizeof(block));
	fd = open(f->path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, block, MIB, MIB), MIB);
	assert_int_equal(ftruncate(fd, 4 * MIB), 0);
	close(fd);
}

static uint32_t seek(struct serve_env *e, const struct file *f, uint64_t offset, uint32_t what,
	struct nfs4_seek_res *r)
{
	struct nfs4_seek_args a = {.stateid = f->sid, .offset = offset, .what = what};

	env_begin(e, true);
	env_put_fh(e, &f->fh);
	nfs4_put_seek_args(&e->args, &a);
	if (env_run(e, 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_SEEK, NFS4_OK);
	assert_int_equal(nfs4_get_seek_res(&e->res, NFS4_OK, r), 0);
	return NFS4_OK;
}

static void seek_finds_data_and_holes(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_seek_res r;
	struct file f;

	make_sparse(e, &f);
	assert_int_equal(seek(e, &f, 0, NFS4_CONTENT_DATA, &r), NFS4_OK);
	assert_int_equal(r.offset, MIB);
	assert_false(r.eof);
	assert_int_equal(seek(e, &f, MIB + 5, NFS4_CONTENT_DATA, &r), NFS4_OK);
	assert_int_equal(r.offset, MIB + 5);
	assert_int_equal(seek(e, &f, MIB, NFS4_CONTENT_HOLE, &r), NFS4_OK);
	assert_int_equal(r.offset, 2 * MIB);
	assert_false(r.eof);
	/* nothing more */
	assert_int_equal(seek(e, &f, 2 * MIB, NFS4_CONTENT_DATA, &r), NFS4_OK);
	assert_true(r.eof);
	/* the end, and behind the end */
	assert_int_equal(seek(e, &f, 4 * MIB, NFS4_CONTENT_DATA, &r), NFS4ERR_NXIO);
	assert_int_equal(seek(e, &f, UINT64_MAX, NFS4_CONTENT_HOLE, &r), NFS4ERR_NXIO);
	assert_int_equal(seek(e, &f, 0, 2, &r), NFS4ERR_UNION_NOTSUPP);
	/* the hole that every file has behind its end */
	assert_int_equal(truncate(f.path, 2 * MIB), 0);
	assert_int_equal(seek(e, &f, MIB, NFS4_CONTENT_HOLE, &r), NFS4_OK);
	assert_int_equal(r.offset, 2 * MIB);
	assert_true(r.eof);
}

static uint32_t change_space(
	struct serve_env *e, const struct file *f, uint32_t op, uint64_t offset, uint64_t length)
{
	struct nfs4_range_args a = {.stateid = f->sid, .offset = offset, .length = length};

	env_begin(e, true);
	env_put_fh(e, &f->fh);
	nfs4_put_range_args(&e->args, op, &a);
	return env_run(e, 3);
}

static void space_is_reserved_and_given_back(void **state)
{
	struct serve_env *e = *state;
	struct stat st;
	struct file f;

	make(e, "f", &f);
	assert_int_equal(change_space(e, &f, OP_ALLOCATE, MIB, MIB), NFS4_OK);
	assert_int_equal(stat(f.path, &st), 0);
	assert_int_equal(st.st_size, 2 * MIB);
	assert_true(st.st_blocks * 512 >= MIB);
	assert_int_equal(change_space(e, &f, OP_DEALLOCATE, 0, UINT64_MAX), NFS4_OK);
	assert_int_equal(stat(f.path, &st), 0);
	assert_int_equal(st.st_size, 2 * MIB);
	assert_true(st.st_blocks * 512 < MIB);
	assert_int_equal(change_space(e, &f, OP_ALLOCATE, 0, 0), NFS4ERR_INVAL);
	assert_int_equal(change_space(e, &f, OP_DEALLOCATE, 0, 0), NFS4ERR_INVAL);
	assert_int_equal(change_space(e, &f, OP_ALLOCATE, INT64_MAX, 2), NFS4ERR_FBIG);
	assert_int_equal(change_space(e, &f, OP_DEALLOCATE, UINT64_MAX, 2), NFS4ERR_INVAL);
}

static void only_files_opened_for_writing_change(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_range_args a = {.length = 1};
	struct file f;

	make(e, "f", &f);
	assert_int_equal(
		env_open(e, "f", false, OPEN4_SHARE_ACCESS_READ, 0, "r", &f.sid, &f.fh), NFS4_OK);
	assert_int_equal(change_space(e, &f, OP_ALLOCATE, 0, 1), NFS4ERR_OPENMODE);
	e->sv.read_only = true;
	assert_int_equal(change_space(e, &f, OP_ALLOCATE, 0, 1), NFS4ERR_ROFS);
	e->sv.read_only = false;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_range_args(&e->args, OP_ALLOCATE, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_WRONG_TYPE);
}

/* --- COPY, CLONE ---------------------------------------------------------------------------- */

static uint32_t copy(struct serve_env *e, const struct file *from, const struct file *to,
	uint64_t src_offset, uint64_t dst_offset, uint64_t count, struct nfs4_copy_res *r)
{
	struct nfs4_copy_args a = {.src = from->sid,
		.dst = to->sid,
		.src_offset = src_offset,
		.dst_offset = dst_offset,
		.count = count,
		.consecutive = true,
		.synchronous = true};
	uint8_t verf[STABLE_VERF];

	env_begin(e, true);
	env_put_fh(e, &from->fh);
	nfs4_put_op(&e->args, OP_SAVEFH);
	env_put_fh(e, &to->fh);
	nfs4_put_copy_args(&e->args, &a);
	if (env_run(e, 5) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_SAVEFH, NFS4_OK);
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_COPY, NFS4_OK);
	assert_int_equal(nfs4_get_copy_res(&e->res, NFS4_OK, r), 0);
	assert_false(r->response.async);
	env_verf(e, verf);
	assert_memory_equal(r->response.verf, verf, sizeof(verf));
	return NFS4_OK;
}

static void expect_bytes(const char *path, uint64_t offset, char c, size_t n)
{
	char buf[256];
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0 && n <= sizeof(buf));
	assert_int_equal(pread(fd, buf, n, (off_t)offset), (ssize_t)n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf[i], c);
	close(fd);
}

static void data_is_copied_here(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_copy_res r;
	struct file from, to;
	struct stat st;

	make_sparse(e, &from);
	make(e, "to", &to);
	assert_int_equal(copy(e, &from, &to, MIB + 7, 100, 200, &r), NFS4_OK);
	assert_int_equal(r.response.count, 200);
	assert_int_equal(stat(to.path, &st), 0);
	assert_int_equal(st.st_size, 300);
	expect_bytes(to.path, 100, 'x', 200);
	/* 0, or more than the file has: to the end */
	assert_int_equal(copy(e, &from, &to, 0, 0, 0, &r), NFS4_OK);
	assert_int_equal(r.response.count, 4 * MIB);
	assert_int_equal(copy(e, &from, &to, 3 * MIB, 0, 9 * MIB, &r), NFS4_OK);
	assert_int_equal(r.response.count, MIB);
	assert_int_equal(copy(e, &from, &to, 4 * MIB, 0, 1, &r), NFS4_OK);
	assert_int_equal(r.response.count, 0);
	/* not from behind the end, not onto itself */
	assert_int_equal(copy(e, &from, &to, 4 * MIB + 1, 0, 1, &r), NFS4ERR_INVAL);
	assert_int_equal(copy(e, &from, &from, 0, 8 * MIB, 1, &r), NFS4ERR_INVAL);
	assert_int_equal(copy(e, &from, &to, 0, INT64_MAX, 1, &r), NFS4ERR_FBIG);
}

static void a_long_copy_ends_early(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_copy_res r;
	struct file from, to;

	make(e, "from", &from);
	make(e, "to", &to);
	assert_int_equal(truncate(from.path, 3 * (off_t)SPACE_COPY_MAX), 0);
	assert_int_equal(copy(e, &from, &to, 0, 0, 3 * (uint64_t)SPACE_COPY_MAX, &r), NFS4_OK);
	assert_true(r.response.count > 0);
	assert_true(r.response.count <= SPACE_COPY_MAX);
}

static void both_stateids_of_a_copy_count(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_copy_args a = {0};
	struct nfs4_copy_res r;
	struct file from, to, bad;

	make_sparse(e, &from);
	make(e, "to", &to);
	bad = from;
	bad.sid.other[8] ^= 0xff;
	assert_int_equal(copy(e, &bad, &to, 0, 0, 1, &r), NFS4ERR_BAD_STATEID);
	bad = to;
	bad.sid.other[8] ^= 0xff;
	assert_int_equal(copy(e, &from, &bad, 0, 0, 1, &r), NFS4ERR_BAD_STATEID);
	bad = to;
	assert_int_equal(
		env_open(e, "to", false, OPEN4_SHARE_ACCESS_READ, 0, "r", &bad.sid, &bad.fh),
		NFS4_OK);
	assert_int_equal(copy(e, &from, &bad, 0, 0, 1, &r), NFS4ERR_OPENMODE);
	/* there must be a source, and the source must be on this server */
	env_begin(e, true);
	env_put_fh(e, &to.fh);
	nfs4_put_copy_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_NOFILEHANDLE);
	env_begin(e, true);
	env_put_fh(e, &to.fh);
	nfs4_put_copy_args(&e->args, &a);
	e->args.len -= 4;
	xdr_put_u32(&e->args, 1);
	xdr_put_u32(&e->args, NL4_NAME);
	xdr_put_opaque(&e->args, "elsewhere", 9);
	assert_int_equal(env_run(e, 3), NFS4ERR_NOTSUPP);
}

/* On a file system that shares blocks the target has the data; elsewhere the client is told. */
static void clone_shares_or_says_no(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_clone_args a = {0};
	struct file from, to;
	uint32_t status;

	make_sparse(e, &from);
	make(e, "to", &to);
	a.src = from.sid;
	a.dst = to.sid;
	env_begin(e, true);
	env_put_fh(e, &from.fh);
	nfs4_put_op(&e->args, OP_SAVEFH);
	env_put_fh(e, &to.fh);
	nfs4_put_clone_args(&e->args, &a);
	status = env_run(e, 5);
	if (status == NFS4_OK)
		expect_bytes(to.path, MIB, 'x', 10);
	else
		assert_int_equal(status, NFS4ERR_NOTSUPP);
}

/* --- READ_PLUS ------------------------------------------------------------------------------ */

static uint32_t read_plus(struct serve_env *e, const struct file *f, uint64_t offset,
	uint32_t count, struct nfs4_read_plus_res *r)
{
	struct nfs4_read_args a = {.stateid = f->sid, .offset = offset, .count = count};

	env_begin(e, true);
	env_put_fh(e, &f->fh);
	nfs4_put_read_args(&e->args, OP_READ_PLUS, &a);
	if (env_run(e, 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_READ_PLUS, NFS4_OK);
	assert_int_equal(nfs4_get_read_plus_res(&e->res, NFS4_OK, r), 0);
	return NFS4_OK;
}

/* The next piece must be this; of data, *len bytes (0: any number; then *len becomes the
 * number). */
static void expect_piece(struct serve_env *e, uint32_t what, uint64_t offset, uint64_t *len)
{
	const uint8_t *data = NULL;
	uint64_t got;
	uint32_t n;

	assert_int_equal(xdr_get_u32(&e->res), what);
	assert_int_equal(xdr_get_u64(&e->res), offset);
	if (what == NFS4_CONTENT_DATA) {
		data = xdr_get_payload(&e->res, SERVE_IO_MAX, &n, NULL);
		got = n;
	} else {
		got = xdr_get_u64(&e->res);
	}
	assert_true(xdr_in_ok(&e->res));
	for (uint64_t i = 0; data && i < got; i++)
		assert_int_equal(data[i], 'x');
	if (*len)
		assert_int_equal(got, *len);
	*len = got;
}

static void reading_tells_holes_from_data(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_read_plus_res r;
	uint64_t len;
	struct file f;

	make_sparse(e, &f);
	assert_int_equal(read_plus(e, &f, MIB - 4096, 8192, &r), NFS4_OK);
	assert_int_equal(r.n, 2);
	assert_false(r.eof);
	len = 4096;
	expect_piece(e, NFS4_CONTENT_HOLE, MIB - 4096, &len);
	len = 4096;
	expect_piece(e, NFS4_CONTENT_DATA, MIB, &len);
	/* the last bytes of the data, and the hole up to the end */
	assert_int_equal(read_plus(e, &f, 2 * MIB - 5, 3 * MIB, &r), NFS4_OK);
	assert_int_equal(r.n, 2);
	len = 5;
	expect_piece(e, NFS4_CONTENT_DATA, 2 * MIB - 5, &len);
	len = MIB - 5; /* no more than a READ gives at once */
	expect_piece(e, NFS4_CONTENT_HOLE, 2 * MIB, &len);
	assert_false(r.eof);
	assert_int_equal(read_plus(e, &f, 4 * MIB - 1, 2, &r), NFS4_OK);
	assert_int_equal(r.n, 1);
	assert_true(r.eof);
	assert_int_equal(read_plus(e, &f, 4 * MIB, 1, &r), NFS4_OK);
	assert_int_equal(r.n, 0);
	assert_true(r.eof);
	assert_int_equal(read_plus(e, &f, UINT64_MAX, 1, &r), NFS4_OK);
	assert_true(r.eof);
	assert_int_equal(read_plus(e, &f, 0, 0, &r), NFS4_OK);
	assert_int_equal(r.n, 0);
	assert_false(r.eof);
}

/* Many small pieces: the pieces of an answer are whole, and further calls bring the rest. */
static void a_fragmented_file_is_read_in_turns(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_read_plus_res r;
	uint64_t pos = 0, size = 20 * 65536, len;
	unsigned turns = 0;
	char block[4096];
	struct file f;
	int fd;

	memset(block, 'x', sizeof(block));
	make(e, "f", &f);
	fd = open(f.path, O_WRONLY);
	for (uint64_t at = 0; at < size; at += 65536)
		assert_int_equal(pwrite(fd, block, sizeof(block), (off_t)at), sizeof(block));
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
	do {
		assert_int_equal(read_plus(e, &f, pos, SERVE_IO_MAX, &r), NFS4_OK);
		assert_true(r.n > 0);
		for (uint32_t i = 0; i < r.n; i++) {
			bool data = pos % 65536 == 0;

			len = data ? 4096 : 65536 - 4096;
			expect_piece(e, data ? NFS4_CONTENT_DATA : NFS4_CONTENT_HOLE, pos, &len);
			pos += len;
		}
		assert_true(++turns < 100);
	} while (!r.eof);
	assert_int_equal(pos, size);
}

/* Another client cuts the file after the server has found data, and before the server reads the
 * data. */
static void a_file_is_cut_while_it_is_read(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_read_plus_res r;
	uint64_t len = MIB / 2;
	struct file f;

	for (e->nsinks = 0; e->nsinks < 2; e->nsinks++) { /* by reference; in the reply itself */
		e->sink[0] = SERVE_IO_MAX;
		make_sparse(e, &f);
		cut_path = f.path;
		assert_int_equal(read_plus(e, &f, MIB / 2, MIB, &r), NFS4_OK);
		assert_null(cut_path);
		assert_true(r.eof);
		assert_int_equal(r.n, 1);
		expect_piece(e, NFS4_CONTENT_HOLE, MIB / 2, &len);
		assert_int_equal(xdr_in_left(&e->res), 0);

		make_sparse(e, &f);
		cut_path = f.path;
		assert_int_equal(read_plus(e, &f, MIB, MIB, &r), NFS4_OK);
		assert_null(cut_path);
		assert_true(r.eof);
		assert_int_equal(r.n, 0);
		assert_int_equal(xdr_in_left(&e->res), 0);
	}
}

/* A Write chunk is for READ's data, not for READ_PLUS's. */
static void data_stays_out_of_write_chunks(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_read_plus_res r;
	uint64_t len;
	struct file f;

	make_sparse(e, &f);
	e->nsinks = 1;
	e->sink[0] = SERVE_IO_MAX;
	assert_int_equal(read_plus(e, &f, MIB, 1000, &r), NFS4_OK);
	assert_int_equal(e->res.npayloads, 0);
	assert_int_equal(r.n, 1);
	len = 1000;
	expect_piece(e, NFS4_CONTENT_DATA, MIB, &len);
}

static void hints_are_heard_and_not_taken(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_io_advise_args a = {.count = 1};
	struct nfs4_io_advise_res r;
	struct file f;

	make(e, "f", &f);
	a.stateid = f.sid;
	nfs4_bit_set(&a.hints, IO_ADVISE4_WILLNEED);
	env_begin(e, true);
	env_put_fh(e, &f.fh);
	nfs4_put_io_advise_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_IO_ADVISE, NFS4_OK);
	assert_int_equal(nfs4_get_io_advise_res(&e->res, NFS4_OK, &r), 0);
	assert_false(nfs4_bit(&r.hints, IO_ADVISE4_WILLNEED));
}

/* --- the minor version ---------------------------------------------------------------------- */

static void minor_version_1_has_none_of_it(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_getattr_args get = {.want = nfs4_bits(FATTR4_XATTR_SUPPORT, -1)};
	struct nfs4_access_args acc = {.access = ACCESS4_XAREAD};
	struct nfs4_attrs attrs;
	struct nfs4_seek_res r;
	struct file f;

	make(e, "f", &f);
	e->minor = 1;
	assert_int_equal(seek(e, &f, 0, NFS4_CONTENT_DATA, &r), NFS4ERR_OP_ILLEGAL);
	env_begin(e, true);
	env_put_fh(e, &f.fh);
	nfs4_put_access_args(&e->args, &acc);
	assert_int_equal(env_run(e, 3), NFS4ERR_INVAL);
	for (e->minor = 1; e->minor <= 2; e->minor++) {
		env_begin(e, true);
		env_put_fh(e, &f.fh);
		nfs4_put_getattr_args(&e->args, &get);
		assert_int_equal(env_run(e, 3), NFS4_OK);
		env_expect(e, OP_PUTFH, NFS4_OK);
		env_expect(e, OP_GETATTR, NFS4_OK);
		assert_int_equal(nfs4_get_attrs(&e->res, &attrs, NULL), 0);
		assert_int_equal(nfs4_bit(&attrs.mask, FATTR4_XATTR_SUPPORT), e->minor == 2);
	}
}

static void what_is_not_offered_is_said_so(void **state)
{
	static const uint32_t ops[] = {OP_COPY_NOTIFY, OP_WRITE_SAME};
	const struct nfs4_layouterror_args error = {.n = 1};
	const struct nfs4_layoutstats_args stats = {.type = LAYOUT4_FLEX_FILES};
	struct serve_env *e = *state;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_op(&e->args, ops[i]);
		assert_int_equal(env_run(e, 3), NFS4ERR_NOTSUPP);
	}
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_layouterror_args(&e->args, &error);
	assert_int_equal(env_run(e, 3), NFS4ERR_NOTSUPP);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_layoutstats_args(&e->args, &stats);
	assert_int_equal(env_run(e, 3), NFS4ERR_NOTSUPP);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_LAST_42 + 1);
	assert_int_equal(env_run(e, 2), NFS4ERR_OP_ILLEGAL);
}

static void no_copy_goes_on_in_the_background(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid_args a = {.stateid = {.seqid = 1}};

	for (int cancel = 0; cancel < 2; cancel++) {
		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_stateid_args(&e->args, cancel ? OP_OFFLOAD_CANCEL : OP_OFFLOAD_STATUS, &a);
		assert_int_equal(env_run(e, 3), NFS4ERR_BAD_STATEID);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(seek_finds_data_and_holes),
		TEST(space_is_reserved_and_given_back),
		TEST(only_files_opened_for_writing_change),
		TEST(data_is_copied_here),
		TEST(a_long_copy_ends_early),
		TEST(both_stateids_of_a_copy_count),
		TEST(clone_shares_or_says_no),
		TEST(reading_tells_holes_from_data),
		TEST(a_fragmented_file_is_read_in_turns),
		TEST(a_file_is_cut_while_it_is_read),
		TEST(data_stays_out_of_write_chunks),
		TEST(hints_are_heard_and_not_taken),
		TEST(minor_version_1_has_none_of_it),
		TEST(what_is_not_offered_is_said_so),
		TEST(no_copy_goes_on_in_the_background),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("serve-space", tests, NULL, NULL);
}
