/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nlm4_xdr: coders of the Network Lock Manager protocol version 4 (RFC 1813 appendix II).
 */
#include "nfsproto/wire/nlm4_xdr.h"

#include <errno.h>
#include <string.h>

static int got(const struct xdr_in *x)
{
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

const char *nlm4_status_name(uint32_t status)
{
	static const char *const names[] = {"NLM4_GRANTED", "NLM4_DENIED", "NLM4_DENIED_NOLOCKS",
		"NLM4_BLOCKED", "NLM4_DENIED_GRACE_PERIOD", "NLM4_DEADLCK", "NLM4_ROFS",
		"NLM4_STALE_FH", "NLM4_FBIG", "NLM4_FAILED"};

	return status < sizeof(names) / sizeof(names[0]) ? names[status] : "NLM4_?";
}

const char *nlm4_proc_name(uint32_t proc)
{
	switch (proc) {
	case NLM4PROC_NULL:
		return "NULL";
	case NLM4PROC_TEST:
		return "TEST";
	case NLM4PROC_LOCK:
		return "LOCK";
	case NLM4PROC_CANCEL:
		return "CANCEL";
	case NLM4PROC_UNLOCK:
		return "UNLOCK";
	case NLM4PROC_GRANTED:
		return "GRANTED";
	case NLM4PROC_SHARE:
		return "SHARE";
	case NLM4PROC_UNSHARE:
		return "UNSHARE";
	case NLM4PROC_NM_LOCK:
		return "NM_LOCK";
	case NLM4PROC_FREE_ALL:
		return "FREE_ALL";
	default:
		return "?";
	}
}

/* --- items ------------------------------------------------------------------------------------ */

static void put_netobj(struct xdr_out *x, const struct nlm4_netobj *o)
{
	xdr_put_opaque(x, o->data, o->len);
}

static void get_netobj(struct xdr_in *x, struct nlm4_netobj *o)
{
	o->data = xdr_get_opaque(x, NLM4_NETOBJ_MAX, &o->len);
	if (!o->data)
		o->len = 0;
}

static void put_string(struct xdr_out *x, const struct nfs_name *s)
{
	xdr_put_opaque(x, s->s, s->len);
}

static void get_string(struct xdr_in *x, struct nfs_name *s)
{
	s->s = (const char *)xdr_get_opaque(x, NLM4_NAME_MAX, &s->len);
	if (!s->s)
		s->len = 0;
}

static void put_lock(struct xdr_out *x, const struct nlm4_lock *l)
{
	put_string(x, &l->caller);
	put_netobj(x, &l->fh);
	put_netobj(x, &l->oh);
	xdr_put_u32(x, l->svid);
	xdr_put_u64(x, l->offset);
	xdr_put_u64(x, l->len);
}

static void get_lock(struct xdr_in *x, struct nlm4_lock *l)
{
	get_string(x, &l->caller);
	get_netobj(x, &l->fh);
	get_netobj(x, &l->oh);
	l->svid = xdr_get_u32(x);
	l->offset = xdr_get_u64(x);
	l->len = xdr_get_u64(x);
}

/* --- procedures ------------------------------------------------------------------------------- */

void nlm4_put_test_args(struct xdr_out *x, const struct nlm4_test_args *a)
{
	put_netobj(x, &a->cookie);
	xdr_put_bool(x, a->exclusive);
	put_lock(x, &a->lock);
}

int nlm4_get_test_args(struct xdr_in *x, struct nlm4_test_args *a)
{
	get_netobj(x, &a->cookie);
	a->exclusive = xdr_get_bool(x);
	get_lock(x, &a->lock);
	return got(x);
}

void nlm4_put_test_res(struct xdr_out *x, const struct nlm4_test_res *r)
{
	put_netobj(x, &r->cookie);
	xdr_put_u32(x, r->status);
	if (r->status != NLM4_DENIED)
		return;
	xdr_put_bool(x, r->holder.exclusive);
	xdr_put_u32(x, r->holder.svid);
	put_netobj(x, &r->holder.oh);
	xdr_put_u64(x, r->holder.offset);
	xdr_put_u64(x, r->holder.len);
}

int nlm4_get_test_res(struct xdr_in *x, struct nlm4_test_res *r)
{
	memset(r, 0, sizeof(*r));
	get_netobj(x, &r->cookie);
	r->status = xdr_get_u32(x);
	if (r->status != NLM4_DENIED)
		return got(x);
	r->holder.exclusive = xdr_get_bool(x);
	r->holder.svid = xdr_get_u32(x);
	get_netobj(x, &r->holder.oh);
	r->holder.offset = xdr_get_u64(x);
	r->holder.len = xdr_get_u64(x);
	return got(x);
}

void nlm4_put_lock_args(struct xdr_out *x, const struct nlm4_lock_args *a)
{
	put_netobj(x, &a->cookie);
	xdr_put_bool(x, a->block);
	xdr_put_bool(x, a->exclusive);
	put_lock(x, &a->lock);
	xdr_put_bool(x, a->reclaim);
	xdr_put_u32(x, a->state);
}

int nlm4_get_lock_args(struct xdr_in *x, struct nlm4_lock_args *a)
{
	get_netobj(x, &a->cookie);
	a->block = xdr_get_bool(x);
	a->exclusive = xdr_get_bool(x);
	get_lock(x, &a->lock);
	a->reclaim = xdr_get_bool(x);
	a->state = xdr_get_u32(x);
	return got(x);
}

void nlm4_put_cancel_args(struct xdr_out *x, const struct nlm4_cancel_args *a)
{
	put_netobj(x, &a->cookie);
	xdr_put_bool(x, a->block);
	xdr_put_bool(x, a->exclusive);
	put_lock(x, &a->lock);
}

int nlm4_get_cancel_args(struct xdr_in *x, struct nlm4_cancel_args *a)
{
	get_netobj(x, &a->cookie);
	a->block = xdr_get_bool(x);
	a->exclusive = xdr_get_bool(x);
	get_lock(x, &a->lock);
	return got(x);
}

void nlm4_put_unlock_args(struct xdr_out *x, const struct nlm4_unlock_args *a)
{
	put_netobj(x, &a->cookie);
	put_lock(x, &a->lock);
}

int nlm4_get_unlock_args(struct xdr_in *x, struct nlm4_unlock_args *a)
{
	get_netobj(x, &a->cookie);
	get_lock(x, &a->lock);
	return got(x);
}

void nlm4_put_res(struct xdr_out *x, const struct nlm4_res *r)
{
	put_netobj(x, &r->cookie);
	xdr_put_u32(x, r->status);
}

int nlm4_get_res(struct xdr_in *x, struct nlm4_res *r)
{
	get_netobj(x, &r->cookie);
	r->status = xdr_get_u32(x);
	return got(x);
}

void nlm4_put_free_all_args(struct xdr_out *x, const struct nlm4_free_all_args *a)
{
	put_string(x, &a->name);
	xdr_put_u32(x, a->state);
}

int nlm4_get_free_all_args(struct xdr_in *x, struct nlm4_free_all_args *a)
{
	get_string(x, &a->name);
	a->state = xdr_get_u32(x);
	return got(x);
}
