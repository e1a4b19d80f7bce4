/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/v3_io: READ, WRITE and COMMIT.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/fdcache.h"
#include "tests/unit/contrib/serve/v3/serve-v3.h"

/* On a tmpfs a file may be as long as offsets allow. */
static int setup_shm(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init_in(e, "/dev/shm");
	*state = e;
	return 0;
}

static void what_is_written_is_read(void **state)
{
	struct serve_env *e = *state;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t len;
	bool eof;

	assert_int_equal(create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 3, "hello", &r), NFS3_OK);
	assert_int_equal(r.u.write.count, 5);
	assert_int_equal(r.u.write.committed, NFS_FILE_SYNC);
	assert_int_equal(r.u.write.wcc.before.size, 0);
	assert_int_equal(r.u.write.wcc.after.attr.size, 8);
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 8);
	assert_true(eof);
	assert_memory_equal(data, "\0\0\0hello", 8);
	assert_int_equal(read_at(e, &fh, 3, 2, &data, &len, &eof), NFS3_OK);
	assert_false(eof);
	assert_memory_equal(data, "he", 2);
	assert_int_equal(read_at(e, &fh, UINT64_MAX, 2, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
	assert_int_equal(read_at(e, &fh, 0, 0, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 0);
	assert_false(eof);
}

static void the_last_byte_of_all_is_read(void **state)
{
	struct serve_env *e = *state;
	const uint64_t last = INT64_MAX - 1;
	const uint8_t *data = NULL;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t status, len;
	bool eof;

	assert_int_equal(create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh), NFS3_OK);
	status = write_at(e, &fh, last, "z", &r);
	if (status == NFS3ERR_FBIG)
		skip(); /* no tmpfs */
	assert_int_equal(status, NFS3_OK);
	assert_int_equal(read_at(e, &fh, last - 4094, 4096, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 4095);
	assert_true(eof);
	assert_memory_equal(data + 4093, "\0z", 2);
	assert_int_equal(read_at(e, &fh, last + 1, 1, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
}

static void a_read_fits_its_chunk_or_the_reply(void **state)
{
	struct serve_env *e = *state;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t len;
	bool eof;

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	assert_int_equal(write_at(e, &fh, 0, "0123456789", &r), NFS3_OK);
	e->nsinks = 1;
	e->sink[0] = 4;
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 4);
	assert_false(eof);
	e->nsinks = 0;
	e->res_max = 104 + 7; /* room for one word of data */
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 4);
}

/* A user without the right to write a file may not have the file synced either, for an open file
 * and for a closed one. */
static void commit_asks_for_permission(void **state)
{
	struct nfs3_args a = {.proc = NFS3PROC_COMMIT};
	struct serve_env *e = *state;
	struct nfs3_res r;
	struct nfs_fh fh;

	if (geteuid() != 0)
		skip();
	ident_init(false);
	assert_int_equal(create(e, "f", NFS3_GUARDED, 0600, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 0, "data", &r), NFS3_OK);
	a.u.commit = (struct nfs3_commit_args){.fh = fh};
	for (int i = 0; i < 2; i++) {
		e->uid = 1000;
		assert_int_equal(call(e, &a, &r), NFS3ERR_ACCES);
		e->uid = 0;
		assert_int_equal(call(e, &a, &r), NFS3_OK);
		fdcache_age(e->sv.fds, 0);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_written_is_read),
		cmocka_unit_test_setup_teardown(the_last_byte_of_all_is_read, setup_shm, teardown),
		T(a_read_fits_its_chunk_or_the_reply),
		T(commit_asks_for_permission), /* last: identities are switched from then on */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
