/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/nfs4_move: the file system moves from one server to a second one.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/log.h"

static struct mean_srv second;
static char second_at[32];

static int setup(void **state)
{
	unsigned port;
	struct fix *f;

	fix_setup_unmounted(state);
	f = *state;
	f->migration = true;
	mean_start(&second);
	port = rpc_server_port(second.server);
	snprintf(second_at, sizeof(second_at), "127.0.0.1.%u.%u", port >> 8, port & 255);
	fix_mount_root(f);
	return 0;
}

static int teardown(void **state)
{
	int rc = fix_teardown(state);

	mean_stop(&second);
	return rc;
}

/* From now on the first server has the file system no more. A walk asks for handles, the question
 * for the places does not. */
static void leave(struct fix *f)
{
	f->srv.elsewhere = second_at;
	fix_fails(f, OP_GETFH, NFS4ERR_MOVED, UINT32_MAX);
}

static void the_mount_moves_with_its_file_system(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;

	leave(f);
	o = fix_open(f, O_RDONLY, &fh); /* at first asks the first server */
	assert_int_equal(second.count[OP_OPEN], 1);
	assert_int_equal(second.nclients, 1);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(second.count[OP_CLOSE], 1);
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(second.nclients, 0);
}

static void opens_move_too(void **state)
{
	struct fix *f = *state;
	unsigned closed = f->srv.count[OP_CLOSE];
	struct nfs_open *o, *late;
	struct nfs_fh fh;

	o = fix_open(f, O_RDONLY, &fh);
	leave(f);
	late = fix_open(f, O_RDONLY, &fh);
	assert_int_equal(second.nopens, 2);
	assert_int_equal(fix_close(f, o), 0);
	assert_int_equal(fix_close(f, late), 0);
	assert_int_equal(second.nopens, 0);
	assert_int_equal(f->srv.count[OP_CLOSE], closed);
}

/* The question for the places is the first COMPOUND whose last operation is executed. */
static void an_unreadable_answer_is_asked_for_again(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;

	leave(f);
	fix_quirk(f, Q_TRAILING);
	o = fix_open(f, O_RDONLY, &fh);
	assert_int_equal(f->srv.quirk_times, 0);
	assert_int_equal(second.count[OP_OPEN], 1);
	assert_int_equal(fix_close(f, o), 0);
}

/* LEASE_MOVED, without any operation that fails. */
static void a_flag_of_the_server_is_enough(void **state)
{
	struct fix *f = *state;

	leave(f);
	fix_status_flags(f, SEQ4_STATUS_LEASE_MOVED);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&second, &second.count[OP_RECLAIM_COMPLETE], 1));
}

/* The root is there: the file system of a file below has moved. */
static void a_file_system_below_the_root_is_remote(void **state)
{
	struct fix *f = *state;

	f->srv.elsewhere = second_at;
	fix_fails(f, OP_LOOKUP, NFS4ERR_MOVED, 2);
	assert_int_equal(
		fix_lookup(f, "file"), 0); /* after two answers and a question for the root */
	fix_fails(f, OP_LOOKUP, NFS4ERR_MOVED, UINT32_MAX);
	assert_int_equal(fix_lookup(f, "file"), -EREMOTE);
	fix_fails(f, OP_LOOKUP, NFS4_OK, 0);
	assert_int_equal(second.count[OP_EXCHANGE_ID], 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_mount_moves_with_its_file_system),
		TEST(opens_move_too),
		TEST(an_unreadable_answer_is_asked_for_again),
		TEST(a_flag_of_the_server_is_enough),
		TEST(a_file_system_below_the_root_is_remote),
	};

	log_init("test-nfs4_move", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
