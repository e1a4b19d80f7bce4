/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-lock: the byte-range locks of mean-nfs4's one file. A lock stateid is "LK" and a number.
 */
#include "tests/unit/nfsproto/v4/mean-lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct nfs4_stateid stateid_of(uint32_t id)
{
	struct nfs4_stateid s = {.seqid = 1, .other = "....LK"};

	memcpy(s.other, &id, sizeof(id));
	return s;
}

static int find(const struct mean_locks *l, const struct nfs4_stateid *id)
{
	uint32_t no;

	memcpy(&no, id->other, sizeof(no));
	if (id->other[4] != 'L')
		return -1;
	for (int i = 0; i < MEAN_LOCKS; i++)
		if (l->of[i].used && l->of[i].id == no)
			return i;
	return -1;
}

bool mean_lock_known(const struct mean_locks *l, const struct nfs4_stateid *id)
{
	return find(l, id) >= 0;
}

static bool is_write(uint32_t type)
{
	return type == WRITE_LT || type == WRITEW_LT;
}

static uint64_t last_of(uint64_t offset, uint64_t length)
{
	return length == NFS4_LENGTH_EOF ? UINT64_MAX : offset + length - 1;
}

static const struct lock_range *conflict(const struct mean_locks *l, const uint8_t owner[8],
	uint64_t first, uint64_t last, bool write)
{
	const struct lock_range *g = lock_ranges_conflict(&l->others, first, last, write);

	for (int i = 0; i < MEAN_LOCKS && !g; i++)
		if (l->of[i].used && memcmp(l->of[i].owner, owner, 8) != 0)
			g = lock_ranges_conflict(&l->of[i].ranges, first, last, write);
	return g;
}

static struct nfs4_lock_denied describe(const struct lock_range *g)
{
	return (struct nfs4_lock_denied){
		.offset = g->first,
		.length = g->last == UINT64_MAX ? NFS4_LENGTH_EOF : g->last - g->first + 1,
		.type = g->write ? WRITE_LT : READ_LT,
		.owner = {.owner = {.data = (const uint8_t *)"somebody", .len = 8}},
	};
}

static int owner_new(struct mean_locks *l, const uint8_t owner[8], uint32_t open)
{
	int i, unused = -1;

	for (i = 0; i < MEAN_LOCKS; i++) {
		if (!l->of[i].used)
			unused = unused < 0 ? i : unused;
		else if (l->of[i].open == open && memcmp(l->of[i].owner, owner, 8) == 0)
			return i;
	}
	assert_true(unused >= 0);
	l->of[unused].used = true;
	l->of[unused].id = ++l->next_id;
	l->of[unused].open = open;
	memcpy(l->of[unused].owner, owner, 8);
	lock_ranges_init(&l->of[unused].ranges);
	return unused;
}

static uint32_t lock_fails(struct xdr_out *x, uint32_t status)
{
	nfs4_put_lock_res(x, status, &(struct nfs4_lock_res){.stateid = {.seqid = 0}});
	return status;
}

uint32_t mean_lock(
	struct mean_locks *l, struct xdr_out *x, const struct nfs4_lock_args *a, uint32_t open)
{
	uint64_t last = last_of(a->offset, a->length);
	int i = a->new_owner ? -1 : find(l, &a->lock_stateid);
	const struct lock_range *g;
	struct nfs4_lock_res res;

	l->last_type = a->type;
	if (a->new_owner ? open == 0 || a->owner.owner.len != 8 : i < 0)
		return lock_fails(x, NFS4ERR_BAD_STATEID);
	if (a->reclaim && !l->reclaiming)
		return lock_fails(x, NFS4ERR_NO_GRACE);
	memcpy(l->last_owner, a->new_owner ? a->owner.owner.data : l->of[i].owner, 8);
	g = conflict(l, l->last_owner, a->offset, last, is_write(a->type));
	if (g && !a->reclaim) {
		res.denied = describe(g);
		l->denied++;
		nfs4_put_lock_res(x, NFS4ERR_DENIED, &res);
		return NFS4ERR_DENIED;
	}
	l->new_owners += a->new_owner;
	l->reclaims += a->reclaim;
	l->granted++;
	if (i < 0)
		i = owner_new(l, l->last_owner, open);
	assert_int_equal(lock_ranges_set(&l->of[i].ranges, a->offset, last, is_write(a->type)), 0);
	res.stateid = stateid_of(l->of[i].id);
	nfs4_put_lock_res(x, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t mean_locku(struct mean_locks *l, struct xdr_out *x, const struct nfs4_locku_args *a)
{
	struct nfs4_stateid_res res = {.stateid = a->stateid};
	int i = find(l, &a->stateid);

	if (i < 0) {
		nfs4_put_op_res(x, OP_LOCKU, NFS4ERR_BAD_STATEID);
		return NFS4ERR_BAD_STATEID;
	}
	assert_int_equal(
		lock_ranges_clear(&l->of[i].ranges, a->offset, last_of(a->offset, a->length)), 0);
	nfs4_put_stateid_res(x, OP_LOCKU, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t mean_lockt(struct mean_locks *l, struct xdr_out *x, const struct nfs4_lockt_args *a)
{
	struct nfs4_lockt_res res;
	const struct lock_range *g = conflict(l, a->owner.owner.data, a->offset,
		last_of(a->offset, a->length), is_write(a->type));

	if (g)
		res.denied = describe(g);
	nfs4_put_lockt_res(x, g ? NFS4ERR_DENIED : NFS4_OK, &res);
	return g ? NFS4ERR_DENIED : NFS4_OK;
}

uint32_t mean_lock_free(struct mean_locks *l, struct xdr_out *x, const struct nfs4_stateid *id)
{
	int i = find(l, id);
	uint32_t status = i >= 0 && l->of[i].ranges.n ? NFS4ERR_LOCKS_HELD : NFS4_OK;

	if (i >= 0 && status == NFS4_OK) {
		lock_ranges_finish(&l->of[i].ranges);
		l->of[i].used = false;
	}
	nfs4_put_op_res(x, OP_FREE_STATEID, status);
	return status;
}

void mean_lock_drop(struct mean_locks *l, uint32_t open)
{
	for (int i = 0; i < MEAN_LOCKS; i++) {
		if (!l->of[i].used || (open && l->of[i].open != open))
			continue;
		lock_ranges_finish(&l->of[i].ranges);
		l->of[i].used = false;
	}
}

unsigned mean_lock_held(const struct mean_locks *l)
{
	unsigned n = 0;

	for (int i = 0; i < MEAN_LOCKS; i++)
		n += l->of[i].used ? l->of[i].ranges.n : 0;
	return n;
}

unsigned mean_lock_owners(const struct mean_locks *l)
{
	unsigned n = 0;

	for (int i = 0; i < MEAN_LOCKS; i++)
		n += l->of[i].used;
	return n;
}

bool mean_lock_has(const struct mean_locks *l, uint64_t first, uint64_t last, bool write)
{
	for (int i = 0; i < MEAN_LOCKS; i++) {
		for (uint32_t k = 0; l->of[i].used && k < l->of[i].ranges.n; k++) {
			const struct lock_range *g = &l->of[i].ranges.range[k];

			if (g->first == first && g->last == last && g->write == write)
				return true;
		}
	}
	return false;
}
