/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's READ, WRITE and COMMIT (v4/ops_io).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/session.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/rpc/xprt.h"

#define RD OPEN4_SHARE_ACCESS_READ
#define RW OPEN4_SHARE_ACCESS_BOTH

static unsigned stuck; /* writes that write nothing; the last one fails */

ssize_t __real_pwrite64(int fd, const void *p, size_t n, off64_t offset);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off64_t offset);

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off64_t offset)
{
	if (stuck == 0)
		return __real_pwrite64(fd, p, n, offset);
	errno = ENOSPC; /* for a server that tries for ever */
	return --stuck ? 0 : -1;
}

/* On a tmpfs a file may be as long as offsets allow. */
static int setup_shm(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init_in(e, "/dev/shm");
	env_mount(e, "client");
	*state = e;
	return 0;
}

static void what_is_written_is_read(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &sid, 3, (char[]){"hello"}, 5), NFS4_OK);
	assert_int_equal(env_read(e, &fh, &sid, 0, 100, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 8);
	assert_true(eof);
	assert_memory_equal(data, "\0\0\0hello", 8);
	assert_int_equal(env_read(e, &fh, &sid, 3, 2, &data, &len, &eof), NFS4_OK);
	assert_false(eof);
	assert_memory_equal(data, "he", 2);
	assert_int_equal(env_read(e, &fh, &sid, 6, 2, &data, &len, &eof), NFS4_OK);
	assert_true(eof);
	assert_int_equal(env_read(e, &fh, &sid, UINT64_MAX, 2, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
	assert_int_equal(
		env_read(e, &fh, &nfs4_stateid_anonymous, 3, 5, &data, &len, &eof), NFS4_OK);
	assert_int_equal(env_close(e, &fh, &sid), NFS4_OK);
	assert_int_equal(env_close(e, &fh, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_BAD_STATEID);
}

static void the_last_byte_of_all_is_read(void **state)
{
	struct serve_env *e = *state;
	const uint64_t last = INT64_MAX - 1;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	const uint8_t *data;
	uint32_t status, len;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	status = env_write(e, &fh, &sid, last, (char[]){"z"}, 1);
	if (status == NFS4ERR_FBIG)
		skip(); /* no tmpfs */
	assert_int_equal(status, NFS4_OK);
	assert_int_equal(env_read(e, &fh, &sid, last, 1, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 1);
	assert_true(eof);
	assert_memory_equal(data, "z", 1);
	assert_int_equal(env_read(e, &fh, &sid, last - 4094, 4096, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4095);
	assert_true(eof);
	assert_memory_equal(data + 4093, "\0z", 2);
	assert_int_equal(env_read(e, &fh, &sid, last - 4094, 4094, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4094);
	assert_false(eof);
	assert_int_equal(env_read(e, &fh, &sid, last + 1, 1, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
}

static const char *env_name(struct serve_env *e, const char *name)
{
	static char path[128];

	env_path(e, name, path, sizeof(path));
	return path;
}

static int truncate_to(struct serve_env *e, const char *name, off_t size)
{
	return truncate(env_name(e, name), size);
}

/* COMPOUND of n READs of size bytes, one behind the other. */
static uint32_t read_many(struct serve_env *e, const struct nfs_fh *fh, unsigned n, uint32_t size)
{
	struct nfs4_read_args a = {.stateid = nfs4_stateid_anonymous, .count = size};

	env_begin(e, true);
	env_put_fh(e, fh);
	for (unsigned i = 0; i < n; i++, a.offset += size)
		nfs4_put_read_args(&e->args, OP_READ, &a);
	env_run(e, 2 + n);
	env_expect(e, OP_PUTFH, NFS4_OK);
	return e->head.status;
}

static uint32_t expect_data(struct serve_env *e, const uint8_t **data, bool *eof)
{
	struct nfs4_read_res r;
	uint32_t len;

	env_expect(e, OP_READ, NFS4_OK);
	assert_int_equal(nfs4_get_read_res(&e->res, NFS4_OK, &r), 0);
	*data = xdr_get_payload(&e->res, SERVE_IO_MAX, &len, NULL);
	assert_non_null(*data);
	*eof = r.eof;
	return len;
}

static void many_reads_fit_into_one_compound(void **state)
{
	struct serve_env *e = *state;
	static uint8_t all[11000];
	struct nfs4_stateid sid;
	const uint8_t *data;
	struct nfs_fh fh;
	bool eof;

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &sid, 0, all, sizeof(all)), NFS4_OK);
	assert_int_equal(read_many(e, &fh, 12, 999), NFS4_OK);
	for (unsigned i = 0; i < 11; i++) {
		assert_int_equal(expect_data(e, &data, &eof), 999);
		assert_memory_equal(data, all + 999 * i, 999);
		assert_false(eof);
	}
	assert_int_equal(expect_data(e, &data, &eof), 11);
	assert_memory_equal(data, all + 999 * 11, 11);
	assert_true(eof);
	assert_true(xdr_in_done(&e->res));
	/* the server says that the answer is too long, and does not put the call off */
	e->sv.state.sessions.tqh_first->fore.maxresponsesize = 8192;
	assert_int_equal(read_many(e, &fh, 12, 999), NFS4ERR_REP_TOO_BIG);
}

static void data_fits_into_its_own_write_chunk(void **state)
{
	struct serve_env *e = *state;
	static uint8_t all[4000];
	struct nfs4_stateid sid;
	const uint8_t *data;
	struct nfs_fh fh;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &sid, 0, all, sizeof(all)), NFS4_OK);
	e->nsinks = 3;
	e->sink[0] = 500;
	e->sink[1] = 0; /* inline */
	e->sink[2] = 1000;
	assert_int_equal(read_many(e, &fh, 3, 800), NFS4_OK);
	assert_int_equal(expect_data(e, &data, &eof), 500);
	assert_int_equal(expect_data(e, &data, &eof), 800);
	assert_int_equal(expect_data(e, &data, &eof), 800);
	/* the first READ leaves its chunk empty: the second's data would be taken for the
	 * first's */
	assert_int_equal(read_many(e, &fh, 2, 0), NFS4_OK);
	e->nsinks = 2;
	e->sink[1] = 600;
	e->sink[0] = 4000;
	assert_int_equal(read_many(e, &fh, 1, 4000), NFS4_OK);
	assert_int_equal(truncate_to(e, "f", 0), 0);
	assert_int_equal(read_many(e, &fh, 2, 800), NFS4ERR_REP_TOO_BIG);
	assert_int_equal(expect_data(e, &data, &eof), 0);
	assert_true(eof);
	e->nsinks = 0;
}

/* A COMPOUND of two READs with a READ_PLUS and a READLINK about them, and where each begins. */
static void put_mixed(struct serve_env *e, const struct nfs_fh *fh, const uint64_t offset[2],
	uint32_t size, uint32_t begin[4])
{
	struct nfs4_read_args a = {.stateid = nfs4_stateid_anonymous, .count = size};
	struct nfs4_read_args plus = {.stateid = nfs4_stateid_anonymous, .count = size};

	e->minor = 2;
	env_begin(e, true);
	env_put_fh(e, fh);
	begin[0] = (uint32_t)e->args.len;
	nfs4_put_read_args(&e->args, OP_READ_PLUS, &plus);
	for (unsigned i = 0; i < 2; i++) {
		begin[1 + i] = (uint32_t)e->args.len;
		a.offset = offset[i];
		nfs4_put_read_args(&e->args, OP_READ, &a);
	}
	begin[3] = (uint32_t)e->args.len;
	nfs4_put_op(&e->args, OP_READLINK);
}

static void expect_plus(struct serve_env *e, uint32_t size)
{
	struct nfs4_read_plus_res r;
	uint32_t got;

	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_READ_PLUS, NFS4_OK);
	assert_int_equal(nfs4_get_read_plus_res(&e->res, NFS4_OK, &r), 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(xdr_get_u32(&e->res), NFS4_CONTENT_DATA);
	assert_int_equal(xdr_get_u64(&e->res), 0);
	assert_non_null(xdr_get_payload(&e->res, SERVE_IO_MAX, &got, NULL));
	assert_int_equal(got, size);
}

/* Data goes to the place of its READ, for any number of operations before. */
static void data_goes_to_its_own_place(void **state)
{
	struct serve_env *e = *state;
	static uint8_t all[4000];
	uint64_t offset[2] = {0, 1000};
	struct nfs4_stateid sid;
	uint32_t begin[4];
	const uint8_t *data;
	struct nfs_fh fh;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &sid, 0, all, sizeof(all)), NFS4_OK);
	e->places = true;
	e->nsinks = 1;
	e->sink[0] = 300;
	for (unsigned i = 0; i < 2; i++) { /* the place is for the first READ, and for the second */
		put_mixed(e, &fh, offset, 500, begin);
		e->sink_begin[0] = begin[1 + i];
		e->sink_end[0] = begin[2 + i];
		assert_int_equal(env_run(e, 6), NFS4ERR_WRONG_TYPE);
		expect_plus(e, 500);
		assert_int_equal(expect_data(e, &data, &eof), i ? 500 : 300);
		assert_int_equal(expect_data(e, &data, &eof), i ? 300 : 500);
		env_expect(e, OP_READLINK, NFS4ERR_WRONG_TYPE);
		assert_int_equal(e->req.res.npayloads, 3);
		assert_int_equal(rpc_req_sink(&e->req, 0), -1); /* READ_PLUS's */
		assert_int_equal(rpc_req_sink(&e->req, 1), i ? -1 : 0);
		assert_int_equal(rpc_req_sink(&e->req, 2), i ? 0 : -1);
	}
	/* two places for all: a READ without data uses up the first */
	offset[0] = 5000;
	put_mixed(e, &fh, offset, 500, begin);
	e->nsinks = 2;
	e->sink[1] = 400;
	for (unsigned i = 0; i < 2; i++) {
		e->sink_begin[i] = 0;
		e->sink_end[i] = 10000;
	}
	assert_int_equal(env_run(e, 6), NFS4ERR_WRONG_TYPE);
	expect_plus(e, 500);
	assert_int_equal(expect_data(e, &data, &eof), 0);
	assert_int_equal(expect_data(e, &data, &eof), 400);
	assert_int_equal(e->req.res.npayloads, 3);
	assert_int_equal(rpc_req_sink(&e->req, 1), 0);
	assert_int_equal(rpc_req_sink(&e->req, 2), 1);
	/* and so does a READLINK, with its path in the reply */
	assert_int_equal(symlink("anywhere", env_name(e, "l")), 0);
	env_begin(e, true);
	xdr_put_u32(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "l");
	nfs4_put_op(&e->args, OP_READLINK);
	env_put_fh(e, &fh);
	nfs4_put_read_args(&e->args, OP_READ,
		&(struct nfs4_read_args){.stateid = nfs4_stateid_anonymous, .count = 500});
	assert_int_equal(env_run(e, 6), NFS4_OK);
	assert_int_equal(e->req.res.npayloads, 2);
	assert_int_equal(e->req.res.payload[0].data.len, 0);
	assert_int_equal(e->req.res.payload[1].data.len, 400);
	assert_int_equal(rpc_req_sink(&e->req, 1), 1);
	e->nsinks = 0;
	e->places = false;
}

/* The file system takes no more bytes, and gives no error. */
static void a_write_of_nothing_is_an_error(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"data"}, 4), NFS4_OK);
	stuck = 1000;
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"data"}, 4), NFS4ERR_IO);
	stuck = 0;
	assert_int_equal(env_write(e, &fh, &sid, 0, (char[]){"data"}, 4), NFS4_OK);
}

/* A user without the right to write a file, by an open or by permission, may not have the file
 * synced either. */
static void commit_asks_for_permission(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	if (geteuid() != 0)
		skip();
	ident_init(false);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(env_commit(e, &fh), NFS4_OK);
	e->uid = 1000;
	/* another user of the client that has the file open */
	assert_int_equal(env_commit(e, &fh), NFS4_OK);
	e->uid = 0;
	assert_int_equal(env_close(e, &fh, &sid), NFS4_OK);
	e->uid = 1000;
	assert_int_equal(env_commit(e, &fh), NFS4ERR_ACCESS);
	e->uid = 0;
	assert_int_equal(env_commit(e, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "o", &sid, &fh), NFS4_OK);
	e->uid = 1000; /* the right to read is not enough */
	assert_int_equal(env_commit(e, &fh), NFS4ERR_ACCESS);
	e->uid = 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, env_setup, env_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read),
		cmocka_unit_test_setup_teardown(
			the_last_byte_of_all_is_read, setup_shm, env_teardown),
		TEST(many_reads_fit_into_one_compound), TEST(data_fits_into_its_own_write_chunk),
		TEST(data_goes_to_its_own_place), TEST(a_write_of_nothing_is_an_error),
		TEST(commit_asks_for_permission), /* last: identities are switched from then on */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
