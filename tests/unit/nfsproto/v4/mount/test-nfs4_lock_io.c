/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/mount/nfs4_lock_io: which I/O relies on which lock, and with which
 * stateid.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/mount/nfs4-locks.h"
#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/server/nfs4_task.h"

static struct nfs_op read_op(struct nfs_open *o)
{
	return (struct nfs_op){.type = NFS_READ, .u.read.open = o};
}

static struct nfs_op write_op(struct nfs_open *o)
{
	return (struct nfs_op){.type = NFS_WRITE, .u.write.open = o};
}

/* The verdict on op just after the server has renewed the lease. */
static int io(struct locks *l, struct nfs_op op)
{
	return nfs4_lock_io(&l->c, &op, atomic_load(&l->srv.renewed_ns) + 1);
}

/* The same when a lease has passed since. */
static int late_io(struct locks *l, struct nfs_op op)
{
	uint64_t lease_ns = l->srv.lease_s * NFS4_SEC;

	return nfs4_lock_io(&l->c, &op, atomic_load(&l->srv.renewed_ns) + lease_ns + 1);
}

static struct nfs4_lockctx *holds(struct locks *l, struct nfs_open *o, uint64_t owner)
{
	struct nfs4_lockctx *ctx = locks_ctx(l, o, owner);

	assert_int_equal(lock_ranges_set(&ctx->ranges, 0, 9, true), 0);
	ctx->have_stateid = true;
	ctx->stateid = (struct nfs4_stateid){.seqid = 5, .other = "lock"};
	return ctx;
}

static void judge(struct locks *l, struct nfs4_lockctx *ctx)
{
	mutex_lock(&l->c.locks.lock);
	nfs4_lockctx_judge_locked(&l->c, ctx);
	mutex_unlock(&l->c.locks.lock);
}

static void make_suspect(struct locks *l, struct nfs4_lockctx *ctx)
{
	ctx->suspect = true;
	judge(l, ctx);
}

static void make_lost(struct locks *l, struct nfs4_lockctx *ctx)
{
	lock_ranges_drop(&ctx->ranges);
	assert_int_equal(lock_ranges_set(&ctx->lost, 0, 9, true), 0);
	judge(l, ctx);
}

static void trouble_is_counted_once(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);
	struct nfs4_lockctx *a = holds(l, o, 7), *b = holds(l, o, 8);

	make_suspect(l, a);
	make_suspect(l, a);
	assert_int_equal(l->c.locks.ntrouble, 1);
	make_lost(l, a);
	make_lost(l, b);
	assert_int_equal(l->c.locks.ntrouble, 2);
	a->suspect = false;
	judge(l, a);
	assert_int_equal(l->c.locks.ntrouble, 2); /* the lock is still lost */
	lock_ranges_drop(&a->lost);
	judge(l, a);
	assert_int_equal(l->c.locks.ntrouble, 1);
	b->linked = false; /* no thread can find the context any more */
	judge(l, b);
	assert_int_equal(l->c.locks.ntrouble, 0);
	b->linked = true;
	lock_ranges_drop(&b->lost);
	judge(l, b);
}

static void all_go_while_all_is_well(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);

	assert_int_equal(io(l, read_op(NULL)), 0);
	assert_int_equal(late_io(l, write_op(NULL)), 0);
	assert_int_equal(late_io(l, write_op(o)), 0); /* an owner without locks relies on none */
	holds(l, o, 7);
	assert_int_equal(io(l, read_op(o)), 0);
	assert_int_equal(io(l, write_op(o)), 0);
}

/* Expects this verdict on I/O that relies on a lock of o. */
static void judge_reliance(struct locks *l, struct nfs_open *o, int expected)
{
	struct nfs_open *same = locks_open(l, "f", 1), *stranger = locks_open(l, "f", 2);
	struct nfs_open *elsewhere = locks_open(l, "g", 1);
	struct nfs_op ops[] = {
		read_op(o),
		write_op(o),
		{.type = NFS_SETATTR, .u.setattr.open = o},
		{.type = NFS_SEEK, .u.seek.open = o},
		{.type = NFS_ALLOCATE, .u.allocate.open = o},
		{.type = NFS_COPY, .u.copy = {.from_open = o, .to_open = elsewhere}},
		{.type = NFS_COPY, .u.copy = {.from_open = elsewhere, .to_open = o}},
		{.type = NFS_COPY, .u.copy.from_open = o},
		/* the same user may have opened the file twice, to change it */
		write_op(same),
		{.type = NFS_ALLOCATE, .u.allocate.open = same},
		{.type = NFS_COPY, .u.copy = {.from_open = elsewhere, .to_open = same}},
	};
	struct nfs_op others[] = {
		read_op(same), {.type = NFS_SEEK, .u.seek.open = same},
		{.type = NFS_COPY, .u.copy = {.from_open = same, .to_open = elsewhere}},
		read_op(stranger), write_op(stranger), read_op(elsewhere), write_op(elsewhere),
		read_op(NULL), write_op(NULL), {.type = NFS_GETATTR},
		{.type = NFS_LOCK, .u.lock.open = o}, /* lock requests are checked elsewhere */
	};
	struct nfs_op own = write_op(o);

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		assert_int_equal(io(l, ops[i]), expected);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(io(l, others[i]), 0);
	own.be.v4.flags = NFS4_F_OWN;
	assert_int_equal(io(l, own), 0);
	own.be.v4.flags = NFS4_F_PRIV;
	assert_int_equal(io(l, own), 0);
}

static void who_relies_on_a_suspect_lock_waits(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);

	make_suspect(l, holds(l, o, 7));
	judge_reliance(l, o, -EAGAIN);
}

static void who_relies_on_a_lost_lock_fails(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);

	make_lost(l, holds(l, o, 7));
	judge_reliance(l, o, -EIO);
}

/* The server has revoked some lock; the client is finding out which. */
static void while_nobody_knows_what_is_revoked_all_wait(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);

	holds(l, o, 7);
	atomic_store(&l->srv.revoking, true);
	judge_reliance(l, o, -EAGAIN);
	atomic_store(&l->srv.revoking, false);
	assert_int_equal(io(l, write_op(o)), 0);
}

static void a_lease_that_may_be_over_is_waited_for(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);
	struct nfs4_lockctx *ctx = holds(l, o, 7);
	uint64_t renewed = atomic_load(&l->srv.renewed_ns);
	struct nfs_op op = write_op(o);

	assert_int_equal(late_io(l, op), -EAGAIN);
	assert_int_equal(nfs4_lock_io(&l->c, &op, renewed + 30 * NFS4_SEC), 0); /* to the end */
	atomic_store(&l->srv.renewed_ns, renewed + 1);
	assert_int_equal(nfs4_lock_io(&l->c, &op, renewed + 30 * NFS4_SEC + 1), 0);
	lock_ranges_drop(&ctx->ranges); /* unlocked: no lock can be lost */
	assert_int_equal(late_io(l, op), 0);
	make_suspect(l, ctx);
	assert_int_equal(late_io(l, op), 0);
}

/* Of two locks the lost one decides, in either order. */
static void a_lost_lock_outweighs_a_suspect_one(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1), *p = locks_open(l, "g", 1);
	struct nfs_op copy = {.type = NFS_COPY, .u.copy = {.from_open = o, .to_open = p}};
	struct nfs_op back = {.type = NFS_COPY, .u.copy = {.from_open = p, .to_open = o}};

	make_suspect(l, holds(l, o, 7));
	make_lost(l, holds(l, p, 8));
	assert_int_equal(io(l, copy), -EIO);
	assert_int_equal(io(l, back), -EIO);
	for (uint64_t owner = 20; owner < 24; owner++)
		make_suspect(l, holds(l, p, owner));
	assert_int_equal(io(l, write_op(p)), -EIO);
}

static bool goes_with(struct locks *l, struct nfs_open *o, const char *other, bool lock_id)
{
	struct nfs_op op = read_op(o);
	struct nfs4_stateid id;

	op.be.v4.flags = lock_id ? 0 : NFS4_F_LOCK_ID; /* as it was the last time */
	id = nfs4_io_stateid(&l->c, &op, o);
	return id.seqid == 0 && !strcmp((const char *)id.other, other) &&
	       !(op.be.v4.flags & NFS4_F_LOCK_ID) == !lock_id;
}

static void the_only_holder_lends_its_stateid(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1), *same = locks_open(l, "f", 1);
	struct nfs4_lockctx *a, *b;

	assert_true(goes_with(l, NULL, "", false));
	assert_true(goes_with(l, o, "open", false));
	a = holds(l, o, 7);
	assert_true(goes_with(l, o, "lock", true));
	assert_true(goes_with(l, same, "open", false)); /* the other open has no locks */
	b = locks_ctx(l, o, 8);
	assert_true(goes_with(l, o, "lock", true)); /* the second owner holds nothing */
	assert_int_equal(lock_ranges_set(&b->ranges, 20, 29, false), 0);
	assert_true(goes_with(l, o, "lock", true)); /* the server does not know the second */
	b->have_stateid = true;
	assert_true(goes_with(l, o, "open", false)); /* the owner of the data is unknown */
	lock_ranges_drop(&b->ranges);
	make_suspect(l, a);
	/* the server does not know the lock any more */
	assert_true(goes_with(l, o, "open", false));
}

static uint64_t covers(struct locks *l, struct nfs_open *o, uint64_t first, uint64_t last)
{
	return nfs4_lock_covers(&l->c, o, first, last, atomic_load(&l->srv.renewed_ns) + 1);
}

static void an_exclusive_lock_covers_its_range(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1), *same = locks_open(l, "f", 1);
	struct nfs4_lockctx *ctx = holds(l, o, 7);

	assert_true(covers(l, o, 0, 9) && covers(l, o, 3, 4));
	assert_true(covers(l, same, 0, 9)); /* the same user may have opened the file twice */
	assert_false(covers(l, o, 0, 10));
	assert_false(covers(l, NULL, 0, 9));
	assert_false(covers(l, locks_open(l, "f", 2), 0, 9));
	assert_false(covers(l, locks_open(l, "g", 1), 0, 9));
	assert_false(nfs4_lock_covers(
		&l->c, o, 0, 9, atomic_load(&l->srv.renewed_ns) + l->srv.lease_s * NFS4_SEC + 1));
	atomic_store(&l->srv.revoking, true);
	assert_false(covers(l, o, 0, 9));
	atomic_store(&l->srv.revoking, false);
	make_suspect(l, ctx);
	assert_false(covers(l, o, 0, 9));
	ctx->suspect = false;
	assert_int_equal(lock_ranges_set(&ctx->ranges, 0, 9, false), 0);
	assert_false(covers(l, o, 0, 9));
}

/* The number of the lock stays while the server has forgotten the lock and the client claims the
 * lock again, and while the owner locks and unlocks other ranges. */
static void a_lock_guards_its_range_until_it_is_released_or_lost(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);
	struct nfs4_lockctx *ctx = holds(l, o, 7);
	uint64_t first = nfs4_lock_guard(&l->c, o, 0, 9);

	assert_true(first);
	assert_false(nfs4_lock_guard(&l->c, o, 0, 10));
	assert_false(nfs4_lock_guard(&l->c, locks_open(l, "f", 1), 0, 9));
	assert_int_equal(lock_ranges_set(&ctx->ranges, 100, 109, true), 0);
	assert_int_equal(lock_ranges_clear(&ctx->ranges, 100, 109), 0);
	assert_true(nfs4_lock_guard(&l->c, o, 2, 9) == first);
	make_suspect(l, ctx);
	assert_true(nfs4_lock_guard(&l->c, o, 0, 9) == first);
	ctx->suspect = false;
	judge(l, ctx);
	assert_int_equal(lock_ranges_set(&ctx->ranges, 0, 9, false), 0);
	assert_false(nfs4_lock_guard(&l->c, o, 0, 9));
	assert_int_equal(lock_ranges_set(&ctx->ranges, 0, 9, true), 0);
	assert_true(nfs4_lock_guard(&l->c, o, 0, 9) && nfs4_lock_guard(&l->c, o, 0, 9) != first);
}

/* Another client may have had the lock in between. */
static void a_lock_that_is_had_again_is_another_one(void **state)
{
	struct locks *l = *state;
	struct nfs_open *o = locks_open(l, "f", 1);
	struct nfs4_lockctx *ctx = holds(l, o, 7);
	uint64_t first = covers(l, o, 0, 9);

	make_suspect(l, ctx); /* the lock is reclaimed */
	ctx->suspect = false;
	judge(l, ctx);
	assert_true(covers(l, o, 0, 9) == first);
	assert_int_equal(lock_ranges_clear(&ctx->ranges, 0, 9), 0);
	assert_int_equal(lock_ranges_set(&ctx->ranges, 0, 9, true), 0);
	assert_true(covers(l, o, 0, 9) && covers(l, o, 0, 9) != first);
	lock_ranges_drop(&ctx->ranges);
	holds(l, o, 8);
	assert_true(covers(l, o, 0, 9) && covers(l, o, 0, 9) != first);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, locks_setup, locks_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trouble_is_counted_once),
		TEST(all_go_while_all_is_well),
		TEST(who_relies_on_a_suspect_lock_waits),
		TEST(who_relies_on_a_lost_lock_fails),
		TEST(while_nobody_knows_what_is_revoked_all_wait),
		TEST(a_lease_that_may_be_over_is_waited_for),
		TEST(a_lost_lock_outweighs_a_suspect_one),
		TEST(the_only_holder_lends_its_stateid),
		TEST(an_exclusive_lock_covers_its_range),
		TEST(a_lock_guards_its_range_until_it_is_released_or_lost),
		TEST(a_lock_that_is_had_again_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
