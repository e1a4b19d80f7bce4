/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of delegations to write (nfsproto/v4/mount/nfs4_deleg.h): the opens that want one,
 * local opens to write, the flush before a return, and the answers about the file meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "transport/clock.h"
#include "transport/log.h"

#define PATIENCE_MS 60000u

/* The user's part in the upcalls. */
static struct {
	atomic_uint flushes, recalled;
	atomic_bool holds;     /* the user takes its time to flush */
	atomic_uint no_memory; /* so often */
	atomic_bool unsure, modified;
	_Atomic uint64_t size, change;
	struct fix *f;
} user;

static void recalled(void *ctx, const struct nfs_fh *fh)
{
	atomic_fetch_add(&user.recalled, 1);
}

static bool flush(void *ctx, const struct nfs_fh *fh, uint64_t id)
{
	if (atomic_load(&user.no_memory)) {
		atomic_fetch_sub(&user.no_memory, 1);
		return false;
	}
	assert_false(nfs_deleg_holds(user.f->nfs, fh, id));
	atomic_fetch_add(&user.flushes, 1);
	if (!atomic_load(&user.holds))
		nfs_deleg_flushed(user.f->nfs, fh, id);
	return true;
}

static bool inquired(
	void *ctx, const struct nfs_fh *fh, uint64_t *size, uint64_t *change, bool *modified)
{
	*size = atomic_load(&user.size);
	*change = atomic_load(&user.change);
	*modified = atomic_load(&user.modified);
	return !atomic_load(&user.unsure);
}

static const struct nfs_client_upcalls told = {
	.recalled = recalled, .flush = flush, .inquired = inquired};

static int setup(void **state)
{
	struct err e = {.kind = ERR_NONE};
	struct fix *f;

	fix_setup_unmounted(state);
	f = *state;
	memset(&user, 0, sizeof(user));
	user.f = f;
	f->delegations = NFS_DELEGATIONS_WRITE;
	f->upcalls = &told;
	f->srv.delegs.gives = f->srv.delegs.gives_back = true;
	f->nfs = fix_mount(f, "/", &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	return 0;
}

/* An open of a file by its handle. */
static struct nfs_op open_op(unsigned file, int flags)
{
	struct nfs_op op = {.type = NFS_OPEN, .u.open = {.flags = flags}};

	op.cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 4711};
	op.u.open.dir.len = 5;
	op.u.open.dir.data[0] = 'F';
	memcpy(op.u.open.dir.data + 1, &(uint32_t){file}, 4);
	return op;
}

/* Opens and closes the file. Returns the number of the delegation. */
static uint64_t delegated(struct fix *f, unsigned file, int flags, struct nfs_fh *fh)
{
	struct nfs_op op = open_op(file, flags);

	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	assert_int_equal(op.u.open.deleg_writes, op.u.open.deleg && flags != O_RDONLY);
	*fh = op.u.open.fh;
	return op.u.open.deleg;
}

static struct nfs_open *open_locally(struct fix *f, const struct nfs_fh *fh, uint64_t id, int flags)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 4712};

	return nfs_deleg_open(f->nfs, fh, id, flags, &cred);
}

static unsigned count(struct fix *f, uint32_t op)
{
	unsigned n;

	pthread_mutex_lock(&f->srv.lock);
	n = f->srv.count[op];
	pthread_mutex_unlock(&f->srv.lock);
	return n;
}

static void wait_until(atomic_uint *n, unsigned is)
{
	for (unsigned i = 0; i < PATIENCE_MS && atomic_load(n) < is; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(atomic_load(n), is);
}

/* --- asking and having ----------------------------------------------------------------------- */

static void who_writes_asks_for_one(void **state)
{
	static const int flags[] = {O_WRONLY, O_RDWR, O_RDWR | O_TRUNC, O_RDONLY | O_TRUNC};
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id;

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		id = delegated(f, i, flags[i], &fh);
		assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
			OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG);
		assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	}
	id = delegated(f, 10, O_RDONLY, &fh);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK,
		OPEN4_SHARE_ACCESS_WANT_READ_DELEG);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void it_is_opened_to_write_without_asking(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, read_fh;
	uint64_t id = delegated(f, 1, O_RDWR, &fh), read = delegated(f, 2, O_RDONLY, &read_fh);
	unsigned opens = count(f, OP_OPEN), closes = count(f, OP_CLOSE);
	struct nfs_open *w = open_locally(f, &fh, id, O_WRONLY);
	struct nfs_open *r = open_locally(f, &fh, id, O_RDONLY);
	uint32_t n;

	assert_non_null(w);
	assert_non_null(r);
	assert_null(open_locally(f, &read_fh, read, O_WRONLY)); /* a read delegation */
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_read(f, r, &fh, 1000, &n), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(fix_close(f, r), 0);
	assert_int_equal(count(f, OP_OPEN), opens);
	assert_int_equal(count(f, OP_CLOSE), closes);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

/* --- going back ------------------------------------------------------------------------------ */

/* The writers get opens to write at the server, but not before all data is safe. */
static void what_was_written_is_made_safe_first(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = delegated(f, 1, O_RDWR, &fh);
	const struct nfs4_stateid sid = mean_deleg_id(1);
	struct nfs_open *w = open_locally(f, &fh, id, O_WRONLY);

	atomic_store(&user.holds, true);
	assert_int_equal(mean_recall(&f->srv, 1, &fh, &sid), NFS4_OK);
	wait_until(&user.flushes, 1);
	assert_int_equal(atomic_load(&user.recalled), 1);
	assert_null(open_locally(f, &fh, id, O_RDONLY));
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &sid), NFS4_OK); /* the server is impatient */
	assert_int_equal(fix_write(f, w, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(f->srv.delegs.claims, 0);
	assert_int_equal(count(f, OP_DELEGRETURN), 0);
	nfs_deleg_flushed(f->nfs, &fh, id + 1); /* the number of another delegation */
	nfs_deleg_flushed(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(atomic_load(&user.flushes), 1);
	assert_int_equal(f->srv.delegs.claims, 1);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_ACCESS_WRITE);
	assert_int_equal(f->srv.delegs.held, 0);
	nfs_deleg_flushed(f->nfs, &fh, id); /* late */
	assert_int_equal(fix_write(f, w, &fh, NFS_FILE_SYNC), 0);
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

static void without_memory_it_is_asked_again(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	const struct nfs4_stateid sid = mean_deleg_id(1);

	delegated(f, 1, O_RDWR, &fh);
	atomic_store(&user.no_memory, 1);
	assert_int_equal(mean_recall(&f->srv, 1, &fh, &sid), NFS4_OK);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(atomic_load(&user.flushes), 1);
	fix_unmount_clean(f);
}

/* A slow flush of one file does not delay the recalls of others, to read or to write. */
static void others_do_not_wait_for_it(void **state)
{
	struct fix *f = *state;
	struct nfs_fh slow, fh;
	uint64_t id = delegated(f, 1, O_RDWR, &slow), read = delegated(f, 2, O_RDONLY, &fh);

	atomic_store(&user.holds, true);
	nfs_deleg_give_back(f->nfs, &slow, id);
	wait_until(&user.flushes, 1);
	nfs_deleg_give_back(f->nfs, &fh, read);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	id = delegated(f, 3, O_RDWR, &fh);
	atomic_store(&user.holds, false);
	nfs_deleg_give_back(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 2));
	fix_unmount_clean(f); /* the unmount does not wait for the first file either: its user was
				 told before */
	assert_int_equal(f->srv.delegs.held, 0);
}

/* A flush waits for WRITEs with the stateid that the server refuses: the flush does not wait for
 * ever. */
static void what_is_disowned_while_it_is_flushed_goes_back(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = delegated(f, 1, O_RDWR, &fh);
	const struct nfs4_stateid sid = mean_deleg_id(1);
	struct nfs_open *w = open_locally(f, &fh, id, O_WRONLY);

	atomic_store(&user.holds, true);
	assert_int_equal(mean_recall(&f->srv, 1, &fh, &sid), NFS4_OK);
	wait_until(&user.flushes, 1);
	pthread_mutex_lock(&f->srv.lock);
	mean_deleg_revoke(&f->srv.delegs);
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_write(f, w, &fh, NFS_FILE_SYNC), 0);
	nfs_deleg_flushed(f->nfs, &fh, id);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 1));
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

/* --- attributes of the file
 * -------------------------------------------------------------------- */

static void it_is_told_what_the_file_looks_like(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = open_op(1, O_RDWR);
	uint64_t change, size, truncated;
	const struct nfs4_stateid sid = mean_deleg_id(1);
	struct nfs_fh fh, read;

	assert_int_equal(fix_run(f, &op), 0);
	fh = op.u.open.fh;
	atomic_store(&user.size, 4711);
	atomic_store(&user.change, op.u.open.attr.change + 10);
	assert_int_equal(mean_cb_getattr(&f->srv, 1, &fh, &change, &size), NFS4_OK);
	assert_int_equal(size, 4711);
	assert_int_equal(change, op.u.open.attr.change); /* of the OPEN */
	atomic_store(&user.modified, true);
	assert_int_equal(mean_cb_getattr(&f->srv, 2, &fh, &change, &size), NFS4_OK);
	assert_int_equal(change, op.u.open.attr.change + 1);
	assert_int_equal(mean_cb_getattr(&f->srv, 2, &fh, &change, &size), NFS4_OK); /* again */
	assert_int_equal(change, op.u.open.attr.change + 1);
	atomic_store(&user.unsure, true);
	assert_int_equal(mean_cb_getattr(&f->srv, 3, &fh, &change, &size), NFS4ERR_DELAY);
	atomic_store(&user.unsure, false);
	delegated(f, 2, O_RDONLY, &read);
	assert_int_equal(mean_cb_getattr(&f->srv, 4, &read, &change, &size), NFS4ERR_BADHANDLE);
	assert_int_equal(mean_cb_getattr(&f->srv, 5, &f->root, &change, &size), NFS4ERR_BADHANDLE);
	/* the server has cut the file after OPEN: the attributes of OPEN are not those of the
	 * delegation */
	delegated(f, 3, O_RDWR | O_TRUNC, &fh);
	truncated = atomic_load(&user.change);
	assert_int_equal(mean_cb_getattr(&f->srv, 6, &fh, &change, &size), NFS4_OK);
	assert_int_equal(change, truncated + 1);
	assert_int_equal(mean_recall(&f->srv, 7, &op.u.open.fh, &sid), NFS4_OK);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(
		mean_cb_getattr(&f->srv, 8, &op.u.open.fh, &change, &size), NFS4ERR_BADHANDLE);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	fix_unmount_clean(f);
}

/* --- a server that restarts, or revokes
 * -------------------------------------------------------- */

static void one_is_reclaimed_when_the_server_restarts(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, due;
	uint64_t id = delegated(f, 1, O_RDWR, &fh), other = delegated(f, 2, O_RDWR, &due);
	struct nfs_open *w = open_locally(f, &fh, id, O_RDWR);
	unsigned opens;

	/* this delegation is on the way back: its data is still being flushed */
	atomic_store(&user.holds, true);
	nfs_deleg_give_back(f->nfs, &due, other);
	wait_until(&user.flushes, 1);
	mean_reboot(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.delegs.reclaims, 2);
	assert_int_equal(f->srv.opened.access & OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_ACCESS_BOTH);
	assert_true(nfs_deleg_holds(f->nfs, &fh, id));
	opens = count(f, OP_OPEN);
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(count(f, OP_OPEN), opens);
	nfs_deleg_flushed(f->nfs, &due, other);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.delegs.held, 1);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.delegs.held, 0);
}

static void what_is_not_reclaimed_is_opened_anew(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	uint64_t id = delegated(f, 1, O_RDWR, &fh);
	struct nfs_open *w = open_locally(f, &fh, id, O_RDWR);

	f->srv.delegs.gives_back = false;
	mean_reboot(&f->srv);
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_false(nfs_deleg_holds(f->nfs, &fh, id));
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(atomic_load(&user.flushes), 0);
	assert_int_equal(fix_close(f, w), 0);
	fix_unmount_clean(f);
}

static void what_is_revoked_is_found_out(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh, due;
	uint64_t id = delegated(f, 1, O_RDWR, &fh), other = delegated(f, 2, O_RDWR, &due);
	struct nfs_open *w = open_locally(f, &fh, id, O_RDWR);
	struct nfs_open *v = open_locally(f, &due, other, O_RDWR);

	atomic_store(&user.holds, true);
	nfs_deleg_give_back(f->nfs, &due, other);
	wait_until(&user.flushes, 1);
	pthread_mutex_lock(&f->srv.lock);
	mean_deleg_revoke(&f->srv.delegs);
	f->srv.status_flags = SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.delegs.freed, 2));
	pthread_mutex_lock(&f->srv.lock);
	f->srv.status_flags = 0;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(fix_write(f, w, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(fix_write(f, v, &due, NFS_UNSTABLE), 0);
	assert_int_equal(fix_close(f, w), 0);
	assert_int_equal(fix_close(f, v), 0);
	nfs_deleg_flushed(f->nfs, &due, other);
	fix_unmount_clean(f);
}

/* The server carries out an append, and restarts before the answer. */
static void no_other_client_can_have_appended_meanwhile(void **state)
{
	struct fix *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 100);
	struct nfs_fh fh;
	uint64_t id = delegated(f, 0, O_RDWR, &fh);
	struct nfs_open *o = open_locally(f, &fh, id, O_RDWR);

	for (unsigned i = 0; i < 2; i++) {
		struct nfs_op op = {.type = NFS_WRITE};

		op.u.write.open = o;
		op.u.write.fh = fh;
		op.u.write.from = seg_list_of_buf(buf, 0, 100);
		op.u.write.append = true;
		op.u.write.offset = f->srv.size;
		f->srv.delegs.gives_back = i == 0;
		fix_quirk(f, Q_CUT_REBOOT);
		assert_int_equal(fix_run(f, &op), -EALREADY);
		assert_int_equal(op.u.write.ours, i == 0);
	}
	assert_int_equal(fix_close(f, o), 0);
	mem_buf_unref(buf);
	fix_unmount_clean(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_writes_asks_for_one),
		TEST(it_is_opened_to_write_without_asking),
		TEST(what_was_written_is_made_safe_first),
		TEST(without_memory_it_is_asked_again),
		TEST(others_do_not_wait_for_it),
		TEST(what_is_disowned_while_it_is_flushed_goes_back),
		TEST(it_is_told_what_the_file_looks_like),
		TEST(one_is_reclaimed_when_the_server_restarts),
		TEST(what_is_not_reclaimed_is_opened_anew),
		TEST(no_other_client_can_have_appended_meanwhile),
		TEST(what_is_revoked_is_found_out),
	};

	log_init("test-nfs4_deleg_write", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
