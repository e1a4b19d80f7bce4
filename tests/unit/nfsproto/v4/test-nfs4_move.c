/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/nfs4_move: the file system moves from one server to a second one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/log.h"

static struct mean_srv second;
static char first_at[32], second_at[32];

static void name_of(unsigned port, char name[32])
{
	snprintf(name, 32, "127.0.0.1.%u.%u", port >> 8, port & 255);
}

static int setup(void **state)
{
	struct fix *f;

	fix_setup_unmounted(state);
	f = *state;
	f->migration = true;
	mean_start(&second);
	/* two servers do not give the same numbers */
	second.clientid = 1000;
	second.session_no = 1000;
	name_of(rpc_server_port(f->srv.server), first_at);
	name_of(rpc_server_port(second.server), second_at);
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
static void leave_to(struct fix *f, const char *first, const char *then)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.elsewhere = first;
	f->srv.elsewhere_too = then;
	pthread_mutex_unlock(&f->srv.lock);
	fix_fails(f, OP_GETFH, NFS4ERR_MOVED, UINT32_MAX);
}

static void leave(struct fix *f)
{
	leave_to(f, second_at, NULL);
}

/* Begins an OPEN of "file". */
static void start_open(struct fix *f, struct fix_op *o)
{
	*o = (struct fix_op){.op.type = NFS_OPEN};
	o->op.u.open.dir = f->root;
	o->op.u.open.name = (struct nfs_name){"file", 4};
	fix_start(f, &o->op, &o->sem);
}

static void open_ends(struct fix *f, struct fix_op *o)
{
	assert_true(fix_ends_within(&o->sem, PATIENCE_MS));
	assert_int_equal(o->op.error, 0);
	assert_int_equal(fix_close(f, o->op.u.open.open), 0);
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

static void a_server_that_names_itself_first_is_left(void **state)
{
	struct fix *f = *state;
	struct fix_op o;

	leave_to(f, first_at, second_at);
	start_open(f, &o);
	open_ends(f, &o);
	assert_int_equal(second.count[OP_OPEN], 1);
}

static void moves_that_lead_nowhere_are_not_made_without_end(void **state)
{
	struct fix *f = *state;
	struct fix_op o;

	leave_to(f, first_at, first_at);
	start_open(f, &o);
	assert_false(fix_ends_within(&o.sem, 4000));
	assert_in_range(fix_count(f, OP_EXCHANGE_ID), 3, 12);
	leave_to(f, second_at, second_at);
	open_ends(f, &o);
}

/* The root's handle is that of another directory there. */
static void a_server_with_another_root_is_left(void **state)
{
	struct fix *f = *state;
	struct fix_op o;

	second.root_fileid = 1;
	leave_to(f, second_at, second_at);
	start_open(f, &o);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_EXCHANGE_ID], 3));
	pthread_mutex_lock(&second.lock);
	assert_int_equal(second.count[OP_OPEN], 0);
	second.root_fileid = 0;
	pthread_mutex_unlock(&second.lock);
	open_ends(f, &o);
	assert_int_equal(second.count[OP_OPEN], 1);
}

/* A question for the root fails so often at the second server. */
static void hide_root(uint32_t status, unsigned times)
{
	pthread_mutex_lock(&second.lock);
	second.fail_op = OP_PUTFH;
	second.fail_status = status;
	second.fail_times = times;
	pthread_mutex_unlock(&second.lock);
}

/* The new server has the file system only after a while. */
static void a_server_without_the_root_is_left(void **state)
{
	struct fix *f = *state;
	struct fix_op o;

	hide_root(NFS4ERR_STALE, 2);
	leave_to(f, second_at, second_at);
	start_open(f, &o);
	open_ends(f, &o);
	assert_int_equal(second.count[OP_OPEN], 1);
	assert_int_equal(second.fail_times, 0);
}

/* The open file is reclaimed only where the root was seen. */
static void a_server_that_hides_the_root_is_left(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct fix_op late;
	struct nfs_fh fh;

	o = fix_open(f, O_RDONLY, &fh);
	hide_root(NFS4ERR_ACCESS, 1);
	leave(f);
	start_open(f, &late);
	open_ends(f, &late);
	assert_int_equal(second.fail_times, 0);
	assert_in_range(second.count[OP_CREATE_SESSION], 2, 20); /* the mount went back */
	assert_int_equal(second.count[OP_RECLAIM_COMPLETE], 1);
	assert_int_equal(fix_close(f, o), 0);
}

/* The answer after the DELAY is that of another root. */
static void a_server_that_is_busy_is_asked_again(void **state)
{
	struct fix *f = *state;
	struct fix_op o;

	second.root_fileid = 1;
	hide_root(NFS4ERR_DELAY, 1);
	leave(f);
	start_open(f, &o);
	assert_true(mean_wait(&second, &second.count[OP_PUTFH], 1));
	/* the mount goes back, again and again */
	assert_true(mean_wait(
		&f->srv, &f->srv.count[OP_CREATE_SESSION], fix_count(f, OP_CREATE_SESSION) + 1));
	pthread_mutex_lock(&second.lock);
	assert_int_equal(second.fail_times, 0);
	assert_int_equal(second.count[OP_RECLAIM_COMPLETE], 0);
	second.root_fileid = 0;
	pthread_mutex_unlock(&second.lock);
	open_ends(f, &o);
}

static void a_server_that_drops_the_session_gets_another(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;

	hide_root(NFS4ERR_BADSESSION, 1);
	leave(f);
	o = fix_open(f, O_RDONLY, &fh);
	assert_int_equal(second.fail_times, 0);
	assert_in_range(second.count[OP_CREATE_SESSION], 2, 20);
	assert_int_equal(second.count[OP_RECLAIM_COMPLETE], 1);
	assert_int_equal(fix_close(f, o), 0);
}

/* A port of another program, or a server that hangs. */
static void a_place_that_does_not_answer_is_passed_over(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);
	struct fix *f = *state;
	struct fix_op o;
	char dumb[32];

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	name_of(ntohs(at.sin_port), dumb);
	nfs_client_free(f->nfs);
	f->connect_ms = 1000; /* how long the mount waits for an answer */
	fix_mount_root(f);
	leave_to(f, dumb, second_at);
	start_open(f, &o);
	open_ends(f, &o);
	assert_int_equal(second.count[OP_OPEN], 1);
	close(fd);
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
		TEST(a_server_that_names_itself_first_is_left),
		TEST(moves_that_lead_nowhere_are_not_made_without_end),
		TEST(a_server_with_another_root_is_left),
		TEST(a_server_without_the_root_is_left),
		TEST(a_server_that_hides_the_root_is_left),
		TEST(a_server_that_is_busy_is_asked_again),
		TEST(a_server_that_drops_the_session_gets_another),
		TEST(a_place_that_does_not_answer_is_passed_over),
		TEST(a_flag_of_the_server_is_enough),
		TEST(a_file_system_below_the_root_is_remote),
	};

	log_init("test-nfs4_move", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
