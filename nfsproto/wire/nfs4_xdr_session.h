/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_session: arguments and results of the operations on client IDs, sessions and stateids at
 * large. Conventions: nfs4_xdr.h, which is the header to include.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_XDR_SESSION_H
#define RNFS_NFSPROTO_WIRE_NFS4_XDR_SESSION_H

#include "nfsproto/wire/nfs4_item.h"
#include "transport/rpc/rpc.h"

struct nfs4_cb_sec {		 /* callback_sec_parms4 */
	uint32_t flavor;	 /* NFS4_AUTH_NONE, NFS4_AUTH_SYS, NFS4_RPCSEC_GSS; checked */
	struct rpc_cred sys;	 /* NFS4_AUTH_SYS */
	struct nfs_name machine; /* NFS4_AUTH_SYS: at most 255 */
	uint32_t gss_service;	 /* NFS4_RPCSEC_GSS */
	struct nfs4_opaque gss_from_server, gss_from_client;
};

struct nfs4_backchannel_ctl_args {
	uint32_t cb_program;
	uint32_t nsec; /* at most NFS4_CB_SEC_MAX */
	struct nfs4_cb_sec sec[NFS4_CB_SEC_MAX];
};
void nfs4_put_backchannel_ctl_args(struct xdr_out *x, const struct nfs4_backchannel_ctl_args *a);
int nfs4_get_backchannel_ctl_args(struct xdr_in *x, struct nfs4_backchannel_ctl_args *a);

struct nfs4_bind_conn_to_session_args {
	struct nfs4_sessionid session;
	uint32_t dir; /* channel_dir_from_client4, checked */
	bool rdma_mode;
};
struct nfs4_bind_conn_to_session_res {
	struct nfs4_sessionid session;
	uint32_t dir; /* channel_dir_from_server4, checked */
	bool rdma_mode;
};
void nfs4_put_bind_conn_to_session_args(
	struct xdr_out *x, const struct nfs4_bind_conn_to_session_args *a);
int nfs4_get_bind_conn_to_session_args(struct xdr_in *x, struct nfs4_bind_conn_to_session_args *a);
void nfs4_put_bind_conn_to_session_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_bind_conn_to_session_res *r);
int nfs4_get_bind_conn_to_session_res(
	struct xdr_in *x, uint32_t status, struct nfs4_bind_conn_to_session_res *r);

struct nfs4_impl_id {
	bool present;
	struct nfs_name domain, name;
	struct timespec date;
};
struct nfs4_exchange_id_args {
	uint8_t verf[NFS4_VERIFIER_SIZE];
	struct nfs4_opaque ownerid;	 /* at most NFS4_OPAQUE_LIMIT */
	uint32_t flags;			 /* EXCHGID4_FLAG_* */
	enum state_protect_how4 protect; /* get: SP4_SSV's parameters are checked and not kept */
	struct nfs4_bitmap must_enforce, must_allow; /* SP4_MACH_CRED: bits are operation numbers */
	struct nfs4_impl_id impl;
};
struct nfs4_exchange_id_res {
	uint64_t clientid;
	uint32_t sequenceid;
	uint32_t flags;
	enum state_protect_how4 protect; /* put: not SP4_SSV. get: as above */
	struct nfs4_bitmap must_enforce, must_allow;
	uint64_t server_minor_id;
	struct nfs4_opaque server_major_id; /* at most NFS4_OPAQUE_LIMIT */
	struct nfs4_opaque server_scope;    /* at most NFS4_OPAQUE_LIMIT */
	struct nfs4_impl_id impl;
};
void nfs4_put_exchange_id_args(struct xdr_out *x, const struct nfs4_exchange_id_args *a);
int nfs4_get_exchange_id_args(struct xdr_in *x, struct nfs4_exchange_id_args *a);
void nfs4_put_exchange_id_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_exchange_id_res *r);
int nfs4_get_exchange_id_res(struct xdr_in *x, uint32_t status, struct nfs4_exchange_id_res *r);

struct nfs4_channel_attrs {
	uint32_t headerpadsize;
	uint32_t maxrequestsize, maxresponsesize,
		maxresponsesize_cached; /* bytes of the RPC message */
	uint32_t maxoperations;
	uint32_t maxrequests; /* slots */
	bool have_rdma_ird;
	uint32_t rdma_ird;
};
struct nfs4_create_session_args {
	uint64_t clientid;
	uint32_t sequence;
	uint32_t flags; /* CREATE_SESSION4_FLAG_* */
	struct nfs4_channel_attrs fore, back;
	uint32_t cb_program;
	uint32_t nsec; /* at most NFS4_CB_SEC_MAX */
	struct nfs4_cb_sec sec[NFS4_CB_SEC_MAX];
};
struct nfs4_create_session_res {
	struct nfs4_sessionid session;
	uint32_t sequence;
	uint32_t flags;
	struct nfs4_channel_attrs fore, back;
};
void nfs4_put_create_session_args(struct xdr_out *x, const struct nfs4_create_session_args *a);
int nfs4_get_create_session_args(struct xdr_in *x, struct nfs4_create_session_args *a);
void nfs4_put_create_session_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_create_session_res *r);
int nfs4_get_create_session_res(
	struct xdr_in *x, uint32_t status, struct nfs4_create_session_res *r);

struct nfs4_destroy_session_args {
	struct nfs4_sessionid session;
};
void nfs4_put_destroy_session_args(struct xdr_out *x, const struct nfs4_destroy_session_args *a);
int nfs4_get_destroy_session_args(struct xdr_in *x, struct nfs4_destroy_session_args *a);

struct nfs4_destroy_clientid_args {
	uint64_t clientid;
};
void nfs4_put_destroy_clientid_args(struct xdr_out *x, const struct nfs4_destroy_clientid_args *a);
int nfs4_get_destroy_clientid_args(struct xdr_in *x, struct nfs4_destroy_clientid_args *a);

struct nfs4_test_stateid_args {
	uint32_t n;
	const struct nfs4_stateid *ids; /* put */
	const uint8_t *raw;		/* get: nfs4_test_stateid_at() */
};
struct nfs4_test_stateid_res {
	uint32_t n;
	const uint32_t *codes; /* put: nfsstat4 */
	const uint8_t *raw;    /* get: nfs4_test_stateid_code() */
};
void nfs4_put_test_stateid_args(struct xdr_out *x, const struct nfs4_test_stateid_args *a);
int nfs4_get_test_stateid_args(struct xdr_in *x, struct nfs4_test_stateid_args *a);
void nfs4_put_test_stateid_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_test_stateid_res *r);
int nfs4_get_test_stateid_res(struct xdr_in *x, uint32_t status, struct nfs4_test_stateid_res *r);
/* The i-th (i < n) of decoded arguments or results. */
struct nfs4_stateid nfs4_test_stateid_at(const struct nfs4_test_stateid_args *a, uint32_t i);
uint32_t nfs4_test_stateid_code(const struct nfs4_test_stateid_res *r, uint32_t i);

struct nfs4_reclaim_complete_args {
	bool one_fs;
};
void nfs4_put_reclaim_complete_args(struct xdr_out *x, const struct nfs4_reclaim_complete_args *a);
int nfs4_get_reclaim_complete_args(struct xdr_in *x, struct nfs4_reclaim_complete_args *a);

struct nfs4_sequence_args {
	struct nfs4_sessionid session;
	uint32_t sequenceid, slotid, highest_slotid;
	bool cachethis;
};
struct nfs4_sequence_res {
	struct nfs4_sessionid session;
	uint32_t sequenceid, slotid, highest_slotid, target_highest_slotid;
	uint32_t status_flags; /* SEQ4_STATUS_* */
};
void nfs4_put_sequence_args(struct xdr_out *x, const struct nfs4_sequence_args *a);
int nfs4_get_sequence_args(struct xdr_in *x, struct nfs4_sequence_args *a);
void nfs4_put_sequence_res(struct xdr_out *x, uint32_t status, const struct nfs4_sequence_res *r);
int nfs4_get_sequence_res(struct xdr_in *x, uint32_t status, struct nfs4_sequence_res *r);

#endif
