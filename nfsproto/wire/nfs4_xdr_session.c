/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_session: coders of the operations on client IDs, sessions and stateids at large.
 */
#include "nfsproto/wire/nfs4_xdr_session.h"

#include <endian.h>
#include <string.h>

#include "transport/rpc/rpc_auth.h"

/* --- EXCHANGE_ID ------------------------------------------------------------------------------ */

#define SSV_ALGS_MAX	64
#define SSV_HANDLES_MAX 64

static void put_protect_ops(struct xdr_out *x, enum state_protect_how4 how,
	const struct nfs4_bitmap *must_enforce, const struct nfs4_bitmap *must_allow)
{
	xdr_put_u32(x, how);
	if (how == SP4_NONE)
		return;
	nfs4_put_bitmap(x, must_enforce);
	nfs4_put_bitmap(x, must_allow);
}

/* Returns how; for SP4_SSV the caller reads on behind the two bitmaps. */
static enum state_protect_how4 get_protect_ops(
	struct xdr_in *x, struct nfs4_bitmap *must_enforce, struct nfs4_bitmap *must_allow)
{
	enum state_protect_how4 how = nfs4_get_enum(x, SP4_NONE, SP4_SSV);

	memset(must_enforce, 0, sizeof(*must_enforce));
	memset(must_allow, 0, sizeof(*must_allow));
	if (how == SP4_NONE)
		return how;
	nfs4_get_bitmap(x, must_enforce);
	nfs4_get_bitmap(x, must_allow);
	return how;
}

static void skip_opaques(struct xdr_in *x, uint32_t max)
{
	uint32_t n = xdr_get_count(x, max, 4);
	struct nfs4_opaque o;

	while (n-- > 0)
		nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &o);
}

static void put_impl_id(struct xdr_out *x, const struct nfs4_impl_id *i)
{
	xdr_put_u32(x, i->present ? 1 : 0);
	if (!i->present)
		return;
	nfs4_put_name(x, &i->domain);
	nfs4_put_name(x, &i->name);
	nfs4_put_time(x, &i->date);
}

static void get_impl_id(struct xdr_in *x, struct nfs4_impl_id *i)
{
	memset(i, 0, sizeof(*i));
	i->present = xdr_get_count(x, 1, 20) == 1;
	if (!i->present)
		return;
	nfs4_get_name(x, &i->domain);
	nfs4_get_name(x, &i->name);
	nfs4_get_time(x, &i->date);
}

void nfs4_put_exchange_id_args(struct xdr_out *x, const struct nfs4_exchange_id_args *a)
{
	nfs4_put_op(x, OP_EXCHANGE_ID);
	xdr_put_fixed(x, a->verf, sizeof(a->verf));
	nfs4_put_opaque(x, &a->ownerid);
	xdr_put_u32(x, a->flags);
	put_protect_ops(x, a->protect, &a->must_enforce, &a->must_allow);
	put_impl_id(x, &a->impl);
}

int nfs4_get_exchange_id_args(struct xdr_in *x, struct nfs4_exchange_id_args *a)
{
	xdr_get_fixed(x, a->verf, sizeof(a->verf));
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &a->ownerid);
	a->flags = xdr_get_u32(x);
	a->protect = get_protect_ops(x, &a->must_enforce, &a->must_allow);
	if (a->protect == SP4_SSV) {
		skip_opaques(x, SSV_ALGS_MAX); /* ssp_hash_algs */
		skip_opaques(x, SSV_ALGS_MAX); /* ssp_encr_algs */
		xdr_get_u32(x);		       /* ssp_window */
		xdr_get_u32(x);		       /* ssp_num_gss_handles */
	}
	get_impl_id(x, &a->impl);
	return nfs4_got(x);
}

void nfs4_put_exchange_id_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_exchange_id_res *r)
{
	nfs4_put_op_res(x, OP_EXCHANGE_ID, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u64(x, r->clientid);
	xdr_put_u32(x, r->sequenceid);
	xdr_put_u32(x, r->flags);
	put_protect_ops(x, r->protect, &r->must_enforce, &r->must_allow);
	xdr_put_u64(x, r->server_minor_id);
	nfs4_put_opaque(x, &r->server_major_id);
	nfs4_put_opaque(x, &r->server_scope);
	put_impl_id(x, &r->impl);
}

int nfs4_get_exchange_id_res(struct xdr_in *x, uint32_t status, struct nfs4_exchange_id_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->clientid = xdr_get_u64(x);
	r->sequenceid = xdr_get_u32(x);
	r->flags = xdr_get_u32(x);
	r->protect = get_protect_ops(x, &r->must_enforce, &r->must_allow);
	if (r->protect == SP4_SSV) {
		xdr_get_u32(x); /* spi_hash_alg */
		xdr_get_u32(x); /* spi_encr_alg */
		xdr_get_u32(x); /* spi_ssv_len */
		xdr_get_u32(x); /* spi_window */
		skip_opaques(x, SSV_HANDLES_MAX);
	}
	r->server_minor_id = xdr_get_u64(x);
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &r->server_major_id);
	nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &r->server_scope);
	get_impl_id(x, &r->impl);
	return nfs4_got(x);
}

/* --- callback_sec_parms4 ---------------------------------------------------------------------- */

static void put_cb_secs(struct xdr_out *x, uint32_t n, const struct nfs4_cb_sec *sec)
{
	xdr_put_u32(x, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct nfs4_cb_sec *s = &sec[i];

		xdr_put_u32(x, s->flavor);
		if (s->flavor == NFS4_AUTH_SYS) {
			rpc_auth_sys_put_parms(x, &s->sys, s->machine.s, s->machine.len);
		} else if (s->flavor == NFS4_RPCSEC_GSS) {
			xdr_put_u32(x, s->gss_service);
			nfs4_put_opaque(x, &s->gss_from_server);
			nfs4_put_opaque(x, &s->gss_from_client);
		}
	}
}

static uint32_t get_cb_secs(struct xdr_in *x, struct nfs4_cb_sec sec[NFS4_CB_SEC_MAX])
{
	uint32_t n = xdr_get_count(x, NFS4_CB_SEC_MAX, 4);

	for (uint32_t i = 0; i < n; i++) {
		struct nfs4_cb_sec *s = &sec[i];

		memset(s, 0, sizeof(*s));
		s->flavor = xdr_get_u32(x);
		switch (s->flavor) {
		case NFS4_AUTH_NONE:
			break;
		case NFS4_AUTH_SYS:
			rpc_auth_sys_get_parms(x, &s->sys, &s->machine.s, &s->machine.len);
			break;
		case NFS4_RPCSEC_GSS:
			s->gss_service = xdr_get_u32(x);
			nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &s->gss_from_server);
			nfs4_get_opaque(x, NFS4_OPAQUE_LIMIT, &s->gss_from_client);
			break;
		default: /* the rest cannot be known: the union has no default arm */
			xdr_in_fail(x);
			break;
		}
	}
	return n;
}

void nfs4_put_backchannel_ctl_args(struct xdr_out *x, const struct nfs4_backchannel_ctl_args *a)
{
	nfs4_put_op(x, OP_BACKCHANNEL_CTL);
	xdr_put_u32(x, a->cb_program);
	put_cb_secs(x, a->nsec, a->sec);
}

int nfs4_get_backchannel_ctl_args(struct xdr_in *x, struct nfs4_backchannel_ctl_args *a)
{
	a->cb_program = xdr_get_u32(x);
	a->nsec = get_cb_secs(x, a->sec);
	return nfs4_got(x);
}

/* --- CREATE_SESSION, DESTROY_SESSION, BIND_CONN_TO_SESSION ------------------------------------ */

static void put_channel_attrs(struct xdr_out *x, const struct nfs4_channel_attrs *c)
{
	xdr_put_u32(x, c->headerpadsize);
	xdr_put_u32(x, c->maxrequestsize);
	xdr_put_u32(x, c->maxresponsesize);
	xdr_put_u32(x, c->maxresponsesize_cached);
	xdr_put_u32(x, c->maxoperations);
	xdr_put_u32(x, c->maxrequests);
	xdr_put_u32(x, c->have_rdma_ird ? 1 : 0);
	if (c->have_rdma_ird)
		xdr_put_u32(x, c->rdma_ird);
}

static void get_channel_attrs(struct xdr_in *x, struct nfs4_channel_attrs *c)
{
	c->headerpadsize = xdr_get_u32(x);
	c->maxrequestsize = xdr_get_u32(x);
	c->maxresponsesize = xdr_get_u32(x);
	c->maxresponsesize_cached = xdr_get_u32(x);
	c->maxoperations = xdr_get_u32(x);
	c->maxrequests = xdr_get_u32(x);
	c->have_rdma_ird = xdr_get_count(x, 1, 4) == 1;
	c->rdma_ird = c->have_rdma_ird ? xdr_get_u32(x) : 0;
}

void nfs4_put_create_session_args(struct xdr_out *x, const struct nfs4_create_session_args *a)
{
	nfs4_put_op(x, OP_CREATE_SESSION);
	xdr_put_u64(x, a->clientid);
	xdr_put_u32(x, a->sequence);
	xdr_put_u32(x, a->flags);
	put_channel_attrs(x, &a->fore);
	put_channel_attrs(x, &a->back);
	xdr_put_u32(x, a->cb_program);
	put_cb_secs(x, a->nsec, a->sec);
}

int nfs4_get_create_session_args(struct xdr_in *x, struct nfs4_create_session_args *a)
{
	a->clientid = xdr_get_u64(x);
	a->sequence = xdr_get_u32(x);
	a->flags = xdr_get_u32(x);
	get_channel_attrs(x, &a->fore);
	get_channel_attrs(x, &a->back);
	a->cb_program = xdr_get_u32(x);
	a->nsec = get_cb_secs(x, a->sec);
	return nfs4_got(x);
}

void nfs4_put_create_session_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_create_session_res *r)
{
	nfs4_put_op_res(x, OP_CREATE_SESSION, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_sessionid(x, &r->session);
	xdr_put_u32(x, r->sequence);
	xdr_put_u32(x, r->flags);
	put_channel_attrs(x, &r->fore);
	put_channel_attrs(x, &r->back);
}

int nfs4_get_create_session_res(
	struct xdr_in *x, uint32_t status, struct nfs4_create_session_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_sessionid(x, &r->session);
	r->sequence = xdr_get_u32(x);
	r->flags = xdr_get_u32(x);
	get_channel_attrs(x, &r->fore);
	get_channel_attrs(x, &r->back);
	return nfs4_got(x);
}

void nfs4_put_destroy_session_args(struct xdr_out *x, const struct nfs4_destroy_session_args *a)
{
	nfs4_put_op(x, OP_DESTROY_SESSION);
	nfs4_put_sessionid(x, &a->session);
}

int nfs4_get_destroy_session_args(struct xdr_in *x, struct nfs4_destroy_session_args *a)
{
	nfs4_get_sessionid(x, &a->session);
	return nfs4_got(x);
}

void nfs4_put_bind_conn_to_session_args(
	struct xdr_out *x, const struct nfs4_bind_conn_to_session_args *a)
{
	nfs4_put_op(x, OP_BIND_CONN_TO_SESSION);
	nfs4_put_sessionid(x, &a->session);
	xdr_put_u32(x, a->dir);
	xdr_put_bool(x, a->rdma_mode);
}

int nfs4_get_bind_conn_to_session_args(struct xdr_in *x, struct nfs4_bind_conn_to_session_args *a)
{
	nfs4_get_sessionid(x, &a->session);
	a->dir = xdr_get_u32(x);
	if (a->dir != CDFC4_FORE && a->dir != CDFC4_BACK && a->dir != CDFC4_FORE_OR_BOTH &&
		a->dir != CDFC4_BACK_OR_BOTH)
		xdr_in_fail(x);
	a->rdma_mode = xdr_get_bool(x);
	return nfs4_got(x);
}

void nfs4_put_bind_conn_to_session_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_bind_conn_to_session_res *r)
{
	nfs4_put_op_res(x, OP_BIND_CONN_TO_SESSION, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_sessionid(x, &r->session);
	xdr_put_u32(x, r->dir);
	xdr_put_bool(x, r->rdma_mode);
}

int nfs4_get_bind_conn_to_session_res(
	struct xdr_in *x, uint32_t status, struct nfs4_bind_conn_to_session_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_sessionid(x, &r->session);
	r->dir = nfs4_get_enum(x, CDFS4_FORE, CDFS4_BOTH);
	r->rdma_mode = xdr_get_bool(x);
	return nfs4_got(x);
}

/* --- SEQUENCE --------------------------------------------------------------------------------- */

void nfs4_put_sequence_args(struct xdr_out *x, const struct nfs4_sequence_args *a)
{
	nfs4_put_op(x, OP_SEQUENCE);
	nfs4_put_sessionid(x, &a->session);
	xdr_put_u32(x, a->sequenceid);
	xdr_put_u32(x, a->slotid);
	xdr_put_u32(x, a->highest_slotid);
	xdr_put_bool(x, a->cachethis);
}

int nfs4_get_sequence_args(struct xdr_in *x, struct nfs4_sequence_args *a)
{
	nfs4_get_sessionid(x, &a->session);
	a->sequenceid = xdr_get_u32(x);
	a->slotid = xdr_get_u32(x);
	a->highest_slotid = xdr_get_u32(x);
	a->cachethis = xdr_get_bool(x);
	return nfs4_got(x);
}

void nfs4_put_sequence_res(struct xdr_out *x, uint32_t status, const struct nfs4_sequence_res *r)
{
	nfs4_put_op_res(x, OP_SEQUENCE, status);
	if (status != NFS4_OK)
		return;
	nfs4_put_sessionid(x, &r->session);
	xdr_put_u32(x, r->sequenceid);
	xdr_put_u32(x, r->slotid);
	xdr_put_u32(x, r->highest_slotid);
	xdr_put_u32(x, r->target_highest_slotid);
	xdr_put_u32(x, r->status_flags);
}

int nfs4_get_sequence_res(struct xdr_in *x, uint32_t status, struct nfs4_sequence_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	nfs4_get_sessionid(x, &r->session);
	r->sequenceid = xdr_get_u32(x);
	r->slotid = xdr_get_u32(x);
	r->highest_slotid = xdr_get_u32(x);
	r->target_highest_slotid = xdr_get_u32(x);
	r->status_flags = xdr_get_u32(x);
	return nfs4_got(x);
}

/* --- DESTROY_CLIENTID, RECLAIM_COMPLETE, TEST_STATEID ------------------------------------------
 */

void nfs4_put_destroy_clientid_args(struct xdr_out *x, const struct nfs4_destroy_clientid_args *a)
{
	nfs4_put_op(x, OP_DESTROY_CLIENTID);
	xdr_put_u64(x, a->clientid);
}

int nfs4_get_destroy_clientid_args(struct xdr_in *x, struct nfs4_destroy_clientid_args *a)
{
	a->clientid = xdr_get_u64(x);
	return nfs4_got(x);
}

void nfs4_put_reclaim_complete_args(struct xdr_out *x, const struct nfs4_reclaim_complete_args *a)
{
	nfs4_put_op(x, OP_RECLAIM_COMPLETE);
	xdr_put_bool(x, a->one_fs);
}

int nfs4_get_reclaim_complete_args(struct xdr_in *x, struct nfs4_reclaim_complete_args *a)
{
	a->one_fs = xdr_get_bool(x);
	return nfs4_got(x);
}

#define STATEID_WIRE (4u + NFS4_STATEID_OTHER)

void nfs4_put_test_stateid_args(struct xdr_out *x, const struct nfs4_test_stateid_args *a)
{
	nfs4_put_op(x, OP_TEST_STATEID);
	xdr_put_u32(x, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		nfs4_put_stateid(x, &a->ids[i]);
}

/* The elements stay where they are: only the message bounds their number. */
int nfs4_get_test_stateid_args(struct xdr_in *x, struct nfs4_test_stateid_args *a)
{
	a->ids = NULL;
	a->n = xdr_get_count(x, UINT32_MAX, STATEID_WIRE);
	a->raw = xdr_consume(x, (size_t)a->n * STATEID_WIRE);
	return nfs4_got(x);
}

struct nfs4_stateid nfs4_test_stateid_at(const struct nfs4_test_stateid_args *a, uint32_t i)
{
	const uint8_t *p = a->raw + (size_t)i * STATEID_WIRE;
	struct nfs4_stateid s;

	memcpy(&s.seqid, p, 4);
	s.seqid = be32toh(s.seqid);
	memcpy(s.other, p + 4, sizeof(s.other));
	return s;
}

void nfs4_put_test_stateid_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_test_stateid_res *r)
{
	nfs4_put_op_res(x, OP_TEST_STATEID, status);
	if (status != NFS4_OK)
		return;
	xdr_put_u32(x, r->n);
	for (uint32_t i = 0; i < r->n; i++)
		xdr_put_u32(x, r->codes[i]);
}

int nfs4_get_test_stateid_res(struct xdr_in *x, uint32_t status, struct nfs4_test_stateid_res *r)
{
	memset(r, 0, sizeof(*r));
	if (status != NFS4_OK)
		return nfs4_got(x);
	r->n = xdr_get_count(x, UINT32_MAX, 4);
	r->raw = xdr_consume(x, (size_t)r->n * 4);
	return nfs4_got(x);
}

uint32_t nfs4_test_stateid_code(const struct nfs4_test_stateid_res *r, uint32_t i)
{
	uint32_t v;

	memcpy(&v, r->raw + (size_t)i * 4, 4);
	return be32toh(v);
}
