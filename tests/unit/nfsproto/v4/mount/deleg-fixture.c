/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg-fixture: a mount of mean-nfs4 that is given delegations, and the mount's user.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/deleg-fixture.h"

struct deleg_user deleg_user;

static void recalled(void *ctx, const struct nfs_fh *fh)
{
	atomic_fetch_add(&deleg_user.recalled, 1);
}

static void lost(void *ctx, const struct nfs_fh *fh, enum nfs_lost what)
{
	atomic_fetch_add(&deleg_user.gaps, what == NFS_LOST_GAP);
	atomic_fetch_add(&deleg_user.locks_lost, what == NFS_LOST_LOCK);
}

static bool flush(void *ctx, const struct nfs_fh *fh, uint64_t id)
{
	if (atomic_load(&deleg_user.no_memory)) {
		atomic_fetch_sub(&deleg_user.no_memory, 1);
		return false;
	}
	assert_false(nfs_deleg_holds(deleg_user.f->nfs, fh, id));
	atomic_fetch_add(&deleg_user.flushes, 1);
	if (!atomic_load(&deleg_user.holds))
		nfs_deleg_flushed(deleg_user.f->nfs, fh, id);
	return true;
}

static bool inquired(
	void *ctx, const struct nfs_fh *fh, uint64_t *size, uint64_t *change, bool *modified)
{
	*size = atomic_load(&deleg_user.size);
	*change = atomic_load(&deleg_user.change);
	*modified = atomic_load(&deleg_user.modified);
	return !atomic_load(&deleg_user.unsure);
}

static const struct nfs_client_upcalls upcalls = {
	.recalled = recalled, .lost = lost, .flush = flush, .inquired = inquired};

int deleg_setup_unmounted(void **state)
{
	struct fix *f;

	fix_setup_unmounted(state);
	f = *state;
	memset(&deleg_user, 0, sizeof(deleg_user));
	deleg_user.f = f;
	f->delegations = NFS_DELEGATIONS_READ;
	f->upcalls = &upcalls;
	f->srv.delegs.gives = f->srv.delegs.gives_back = true;
	return 0;
}

int deleg_setup_read(void **state)
{
	deleg_setup_unmounted(state);
	fix_mount_root(*state);
	return 0;
}

int deleg_setup_write(void **state)
{
	struct fix *f;

	deleg_setup_unmounted(state);
	f = *state;
	f->delegations = NFS_DELEGATIONS_WRITE;
	fix_mount_root(f);
	return 0;
}

void deleg_wait(atomic_uint *counter, unsigned n)
{
	for (unsigned i = 0; i < PATIENCE_MS && atomic_load(counter) < n; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(atomic_load(counter), n);
}

struct nfs_op deleg_open_op(unsigned file, int flags)
{
	struct nfs_op op = {.type = NFS_OPEN, .u.open = {.flags = flags}};

	op.cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 4711};
	op.u.open.dir.len = 5;
	op.u.open.dir.data[0] = 'F';
	memcpy(op.u.open.dir.data + 1, &(uint32_t){file}, 4);
	return op;
}

uint64_t deleg_given(struct fix *f, unsigned file, int flags, struct nfs_fh *fh)
{
	struct nfs_op op = deleg_open_op(file, flags);

	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(fix_close(f, op.u.open.open), 0);
	assert_int_equal(op.u.open.deleg_writes, op.u.open.deleg && flags != O_RDONLY);
	*fh = op.u.open.fh;
	return op.u.open.deleg;
}

struct nfs_open *deleg_open(struct fix *f, const struct nfs_fh *fh, uint64_t id, int flags)
{
	const struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = 4712};

	return nfs_deleg_open(f->nfs, fh, id, flags, &cred);
}

void deleg_recall(struct fix *f, uint32_t seq, const struct nfs_fh *fh)
{
	const struct nfs4_stateid sid = mean_deleg_id(1);

	assert_int_equal(mean_recall(&f->srv, seq, fh, &sid), NFS4_OK);
}

void deleg_revoke(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	mean_deleg_revoke(&f->srv.delegs);
	pthread_mutex_unlock(&f->srv.lock);
}

void deleg_revoke_told(struct fix *f)
{
	pthread_mutex_lock(&f->srv.lock);
	mean_deleg_revoke(&f->srv.delegs);
	f->srv.status_flags = SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
}
