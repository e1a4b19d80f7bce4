/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/nfs4_replication: one server falls silent, and a second one has the
 * file system.
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
	f->replication = true;
	mean_start(&second);
	f->srv.lease_s = second.lease_s = 1;
	port = rpc_server_port(second.server);
	snprintf(second_at, sizeof(second_at), "127.0.0.1.%u.%u", port >> 8, port & 255);
	return 0;
}

static int teardown(void **state)
{
	int rc = fix_teardown(state);

	mean_stop(&second);
	return rc;
}

/* A mount that has asked for the replicas. */
static void mount_root(struct fix *f, bool same)
{
	mean_name_replica(&f->srv, second_at, same);
	fix_mount_root(f);
	assert_true(mean_wait(&f->srv, &f->srv.asked, 1));
	assert_int_equal(fix_getattr(f), 0); /* its answer is behind that to the question */
}

static void fall_silent(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.hold_op = OP_SEQUENCE;
	pthread_mutex_unlock(&f->srv.lock);
}

static void wake(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.hold_op = 0;
	pthread_mutex_unlock(&f->srv.lock);
	mean_release(&f->srv);
}

static void a_silent_server_is_left(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;
	uint32_t got;

	mount_root(f, true);
	o = fix_open(f, O_RDONLY, &fh);
	fall_silent(f);
	assert_int_equal(fix_read(f, o, &fh, 100, &got), 0);
	assert_int_equal(second.nclients, 1);
	assert_int_equal(second.nopens, 1);
	assert_int_equal(fix_close(f, o), 0);
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(second.nclients, 0);
	wake(f);
}

/* The walk to the root is the first COMPOUND there with a PUTFH that is executed. */
static void a_replica_whose_root_was_not_seen_gets_no_state(void **state)
{
	struct fix *f = *state;
	struct nfs_open *o;
	struct nfs_fh fh;
	uint32_t got;

	mount_root(f, true);
	o = fix_open(f, O_RDONLY, &fh);
	pthread_mutex_lock(&second.lock);
	second.root_fileid = 1;
	second.fail_op = OP_PUTFH;
	second.fail_status = NFS4ERR_SEQ_MISORDERED;
	second.fail_times = 1;
	pthread_mutex_unlock(&second.lock);
	fall_silent(f);
	assert_true(mean_wait(&second, &second.count[OP_EXCHANGE_ID], 2));
	wake(f);
	assert_int_equal(fix_read(f, o, &fh, 100, &got), 0);
	assert_int_equal(second.count[OP_RECLAIM_COMPLETE], 0);
	assert_int_equal(second.count[OP_OPEN] + second.count[OP_READ], 0);
	assert_int_equal(fix_close(f, o), 0);
}

/* The server may execute the change when it wakes. */
static void unanswered_changes_keep_the_mount(void **state)
{
	struct fix *f = *state;
	struct nfs_sattr set = {.mask = NFS_SET_MODE, .mode = 0700};
	struct nfs_op op = {.type = NFS_SETATTR, .u.setattr = {.fh = {0}, .set = set}};
	sem_t sem;

	mount_root(f, true);
	op.u.setattr.fh = f->root;
	fall_silent(f);
	fix_start(f, &op, &sem);
	assert_false(fix_ends_within(&sem, 4000));
	wake(f);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(second.count[OP_EXCHANGE_ID], 0);
	fix_unmount_clean(f);
}

static void another_class_is_no_replica(void **state)
{
	struct nfs_op op = {.type = NFS_GETATTR};
	struct fix *f = *state;
	sem_t sem;

	mount_root(f, false);
	op.u.getattr.fh = f->root;
	fall_silent(f);
	fix_start(f, &op, &sem);
	assert_false(fix_ends_within(&sem, 4000));
	wake(f);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	assert_int_equal(second.count[OP_EXCHANGE_ID], 0);
	fix_unmount_clean(f);
}

/* Nothing is asked at a server without the attribute, nor without the option. */
static void without_the_attribute_nothing_is_asked(void **state)
{
	struct fix *f = *state;

	fix_mount_root(f);
	assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
	f->replication = false;
	mean_name_replica(&f->srv, second_at, true);
	fix_mount_root(f);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.asked, 0);
	fix_unmount_clean(f);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_silent_server_is_left),
		TEST(a_replica_whose_root_was_not_seen_gets_no_state),
		TEST(unanswered_changes_keep_the_mount),
		TEST(another_class_is_no_replica),
		TEST(without_the_attribute_nothing_is_asked),
	};

	log_init("test-nfs4_replication", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
