/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/nfs4_mount_record, and of the modules that put their part into the
 * record: a mount is taken over while its former client is still there, and says nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/v4/mount/nfs4_mount.h"
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"

#define WAIT_MS 10000u

static uint8_t bytes[1 << 16];

static const char *settled(struct fix *f)
{
	const char *why = "nothing";

	for (unsigned ms = 0; ms < WAIT_MS && (why = nfs_client_settle(f->nfs)); ms++)
		usleep(1000);
	return why;
}

/* The record of f->nfs with the open files. Its length in *len. */
static void put(struct fix *f, struct nfs_open *const open[], uint32_t n, struct nfs_record *rec)
{
	struct xdr_out x;

	assert_null(settled(f));
	xdr_out_init(&x, bytes, sizeof(bytes));
	nfs_client_record(f->nfs, open, n, &x);
	assert_true(xdr_out_ok(&x));
	*rec = (struct nfs_record){.data = bytes, .len = x.len, .nopens = n};
	rec->peer = *nfs_client_peer(f->nfs, &rec->peer_len);
	rec->open = calloc(n + 1, sizeof(struct nfs_open *));
}

static struct nfs_client *take(struct fix *f, struct nfs_record *rec, struct err *e)
{
	struct nfs_mount_params p = fix_params(f, "/");

	p.vers_major = 4;
	p.vers_minor = 1;
	p.record = rec;
	return nfs_client_new(&p, e);
}

/* The former client ends as its process would: the server does not hear from it. */
static void forget(struct nfs_client *c)
{
	nfs_client_leave_by(c, 1);
	nfs_client_free(c);
}

static void opens_and_locks_go_on(void **state)
{
	struct fix *f = *state;
	struct err e = {.kind = ERR_NONE};
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct nfs_client *former = f->nfs;
	unsigned clients = fix_count(f, OP_EXCHANGE_ID), opens = fix_count(f, OP_OPEN);
	struct nfs_record rec;
	uint32_t got;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	assert_int_equal(fix_lock(f, o, &fh, 7, F_RDLCK, 20, 29), 0);
	put(f, &o, 1, &rec);
	f->nfs = take(f, &rec, &e);
	assert_non_null(f->nfs);
	assert_non_null(rec.open[0]);
	assert_int_equal(fix_count(f, OP_EXCHANGE_ID), clients);
	assert_int_equal(fix_count(f, OP_OPEN), opens);
	assert_int_equal(fix_read(f, rec.open[0], &fh, 100, &got), 0);
	/* the owner's, and not another's */
	assert_int_equal(fix_lock(f, rec.open[0], &fh, 8, F_WRLCK, 5, 5), -EAGAIN);
	assert_int_equal(fix_lock(f, rec.open[0], &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_locks_held(f), 0);
	assert_int_equal(fix_close(f, rec.open[0]), 0);
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
	forget(former);
	free(rec.open);
}

static void a_damaged_record_gives_nothing_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct nfs_record rec;
	size_t len;

	assert_int_equal(fix_lock(f, o, &fh, 7, F_WRLCK, 0, 9), 0);
	put(f, &o, 1, &rec);
	len = rec.len;
	for (rec.len = 0; rec.len < len; rec.len += 16) {
		struct err e = {.kind = ERR_NONE};

		assert_null(take(f, &rec, &e));
		assert_non_null(strstr(e.msg, "damaged"));
	}
	assert_int_equal(fix_count(f, OP_DESTROY_SESSION), 0);
	assert_int_equal(fix_count(f, OP_DESTROY_CLIENTID), 0);
	assert_int_equal(fix_count(f, OP_CLOSE), 0);
	/* the former client goes on */
	assert_int_equal(fix_lock(f, o, &fh, 7, F_UNLCK, 0, TOP), 0);
	assert_int_equal(fix_close(f, o), 0);
	free(rec.open);
	fix_unmount_clean(f);
}

/* A waiting lock cannot be handed over. */
static void a_waiting_lock_is_not_settled(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *o = fix_open(f, O_RDWR, &fh);
	struct fix_op wait;

	assert_null(settled(f));
	fix_others_hold(f, 0, 9, true);
	fix_lock_wait(f, &wait, o, &fh, 7, F_WRLCK, 0, 9);
	assert_non_null(nfs_client_settle(f->nfs));
	nfs_cancel(&wait.op);
	assert_true(fix_ends_within(&wait.sem, PATIENCE_MS));
	assert_null(settled(f));
	assert_int_equal(fix_close(f, o), 0);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(opens_and_locks_go_on),
		ON_MOUNT(a_damaged_record_gives_nothing_back),
		ON_MOUNT(a_waiting_lock_is_not_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
