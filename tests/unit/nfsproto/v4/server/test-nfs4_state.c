/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_state, nfs4_recover and nfs4_cb: lost sessions, restarts,
 * revoked state, slots out of step, recalls.
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

static void test_lost_session(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	mean_lose_session(&f->srv);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.session_no, 2);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 1);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

static void test_reboot(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	mean_reboot(&f->srv);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reclaims, 1);
	assert_int_equal(f->srv.reopens, 0);
	assert_int_equal(f->srv.count[OP_RECLAIM_COMPLETE], 2);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* The client ID is asked for again and turns out to be the same: the sequence of CREATE_SESSIONs
 * goes on. */
static void test_same_clientid(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	fix_fails(f, OP_READ, NFS4ERR_STALE_CLIENTID, 1);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 2);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 2);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* The server came back, but takes no reclaims (any more). */
static void test_reboot_no_grace(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	mean_reboot(&f->srv);
	f->srv.reclaiming = false;
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reopens, 1);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* Until the server has heard RECLAIM_COMPLETE it opens no file: no event in between ends the
 * attempts. */
static void test_reclaim_complete(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR};
	sem_t sem;

	fix_mount_soft(f, 1000, 300);
	for (int i = 0; i < 2; i++) {
		mean_reboot(&f->srv); /* and the new session is lost at once, or its slot */
		fix_fails(
			f, OP_RECLAIM_COMPLETE, i ? NFS4ERR_SEQ_MISORDERED : NFS4ERR_BADSESSION, 1);
		assert_int_equal(fix_getattr(f), 0);
		assert_false(f->srv.reclaiming);
	}
	mean_reboot(&f->srv); /* and is silent then */
	f->srv.hold_op = OP_RECLAIM_COMPLETE;
	op.u.getattr.fh = f->root;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 2));
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem, 5000));
	assert_int_equal(op.error, 0);
	assert_false(f->srv.reclaiming);
	fix_unmount_clean(f);
}

/* An open is made anew, and closed at the end, with the opener's credential. */
static void test_opener_cred(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_OPEN,
		.cred = {.flavor = RPC_AUTH_SYS, .uid = 4711, .gid = 4712},
		.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDWR}};
	uint32_t n;

	assert_int_equal(fix_run(f, &op), 0);
	for (int grace = 1; grace >= 0; grace--) {
		mean_reboot(&f->srv);
		f->srv.reclaiming = grace;
		f->srv.uid[OP_OPEN] = 0;
		assert_int_equal(fix_read(f, op.u.open.open, &op.u.open.fh, 1000, &n), 0);
		assert_int_equal(grace ? f->srv.reclaims : f->srv.reopens, 1);
		assert_int_equal(f->srv.uid[OP_OPEN], 4711);
	}
	fix_unmount_clean(f); /* the file is still open */
	assert_int_equal(f->srv.uid[OP_CLOSE], 4711);
}

static void test_bad_stateid(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	fix_forget_opens(f);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reopens, 1);
	/* and once more, now refused: the file is lost, but not the client */
	fix_forget_opens(f);
	fix_fails(f, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), -EIO);
	assert_int_equal(fix_write(f, open, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(fix_close(f, open), 0);
	assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
}

/* A verdict on the slot is no verdict on the open. */
static void test_reopen_misordered(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	fix_forget_opens(f);
	fix_fails(f, OP_OPEN, NFS4ERR_SEQ_MISORDERED, 1);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reopens, 1);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

static void test_revoked_flag(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	pthread_mutex_lock(&f->srv.lock);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	f->srv.status_flags = SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_FREE_STATEID], 1));
	assert_true(mean_wait(&f->srv, &f->srv.reopens, 1));
	pthread_mutex_lock(&f->srv.lock);
	f->srv.status_flags = 0;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_read(f, open, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

static void test_misordered(void **state)
{
	struct fix *f = *state;

	pthread_mutex_lock(&f->srv.lock);
	f->srv.seq[0]++; /* the server counted a request that we never sent */
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(fix_getattr(f), 0);
	pthread_mutex_lock(&f->srv.lock);
	f->srv.seq[0] += 7; /* too far apart: only a new session helps */
	f->srv.seq[1] += 7;
	pthread_mutex_unlock(&f->srv.lock);
	for (int i = 0; i < 10; i++)
		assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
}

static void test_cb_path_down(void **state)
{
	struct fix *f = *state;

	f->srv.status_flags = SEQ4_STATUS_CB_PATH_DOWN;
	for (int i = 0; i < 20; i++)
		assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], 1));
	assert_int_equal(f->srv.count[OP_BIND_CONN_TO_SESSION], 1); /* not at every reply */
	fix_unmount_clean(f);
}

static void test_recall(void **state)
{
	static const struct nfs4_stateid id = {.seqid = 1, .other = "deleg"};
	struct fix *f = *state;
	struct nfs_open *open;
	struct nfs_fh fh;

	assert_int_equal(mean_recall(&f->srv, 1, &f->root, &id), NFS4_OK); /* unknown: goes back */
	assert_int_equal(mean_recall(&f->srv, 1, &f->root, &id), NFS4_OK); /* again */
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(mean_recall(&f->srv, 3, &f->root, &id), NFS4ERR_SEQ_MISORDERED);
	f->srv.hold_op = OP_DELEGRETURN;
	fix_quirk(f, Q_DELEGATION);
	open = fix_open(f, O_RDONLY, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	/* the delegation is on its way back */
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &id), NFS4_OK);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	assert_int_equal(f->srv.ndelegs, 0);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* A delegation that comes with an OPEN does not cost the owner's name. */
static void test_delegation_and_names(void **state)
{
	struct fix *f = *state;
	struct nfs_mount_params p = {.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.export = "/",
		.vers_major = 4,
		.vers_minor = 1,
		.idmap_domain = "example.org",
		.pool = f->pool,
		.connect_ms = 1000};
	struct nfs_op get = {.type = NFS_GETATTR}, op = {.type = NFS_OPEN};
	struct err e = {.kind = ERR_NONE};

	f->srv.owner = "root@example.org";
	f->nfs = nfs_client_new(&p, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	get.u.getattr.fh = f->root;
	assert_int_equal(fix_run(f, &get), 0);
	assert_int_equal(get.u.getattr.attr.uid, 0); /* the name is known now */
	fix_quirk(f, Q_DELEGATION);
	op.u.open.dir = f->root;
	op.u.open.name = (struct nfs_name){"file", 4};
	op.u.open.flags = O_RDONLY;
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.open.attr.uid, 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.ndelegs, 0);
}

/* An idle client keeps its lease. */
static void test_renewal(void **state)
{
	struct fix *f = *state;
	unsigned before;

	f->srv.lease_s = 2;
	fix_mount_root(f);
	before = f->srv.count[OP_SEQUENCE];
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_SEQUENCE], before + 1));
	for (unsigned i = 2; i < 5; i++) { /* again and again, each in time */
		uint64_t begun = fix_now_ms();

		assert_true(mean_wait(&f->srv, &f->srv.count[OP_SEQUENCE], before + i));
		assert_true(fix_now_ms() - begun < 1900);
	}
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_lost_session),
		ON_MOUNT(test_reboot),
		ON_MOUNT(test_same_clientid),
		ON_MOUNT(test_reboot_no_grace),
		cmocka_unit_test_setup_teardown(
			test_reclaim_complete, fix_setup_unmounted, fix_teardown),
		ON_MOUNT(test_opener_cred),
		ON_MOUNT(test_bad_stateid),
		ON_MOUNT(test_reopen_misordered),
		ON_MOUNT(test_revoked_flag),
		ON_MOUNT(test_misordered),
		ON_MOUNT(test_cb_path_down),
		ON_MOUNT(test_recall),
		cmocka_unit_test_setup_teardown(
			test_delegation_and_names, fix_setup_unmounted, fix_teardown),
		cmocka_unit_test_setup_teardown(test_renewal, fix_setup_unmounted, fix_teardown),
	};

	log_init("test-nfs4_state", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
