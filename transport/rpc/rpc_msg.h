/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_msg: the header of an ONC RPC message, both kinds, both ways (RFC 5531 sections 8, 9 and
 * appendix A). Pure coders: bytes in, struct out, and the reverse.
 *
 * Credentials and verifiers are bytes here; rpc_auth.h gives the bytes a meaning. Headers of
 * replies are written backwards: a header ends where the results begin. So a message is one
 * contiguous piece of memory for any size of verifier.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_MSG_H
#define RNFS_TRANSPORT_RPC_RPC_MSG_H

#include "transport/rpc/rpc.h"

enum rpc_msg_type {
	RPC_MSG_CALL = 0,
	RPC_MSG_REPLY = 1,
};

#define RPC_MSG_VERSION	  2
#define RPC_MSG_MAX_AUTH  400 /* bytes of an opaque_auth body */
#define RPC_MSG_MAX_NAME  255 /* bytes of AUTH_SYS's machinename */
#define RPC_MSG_CALL_HEAD 24  /* bytes of a call before its credential */
#define RPC_MSG_MAX_CALL  232 /* bytes of a call's header with AUTH_NONE or AUTH_SYS, at most */
#define RPC_MSG_MIN_REPLY 24  /* bytes of an accepted reply's header with an empty verifier */

/* The values of auth_stat that this program sends or sets. */
enum rpc_auth_stat {
	RPC_AUTH_OK = 0,
	RPC_AUTH_BADCRED = 1,
	RPC_AUTH_REJECTEDCRED = 2,
	RPC_AUTH_BADVERF = 3,
	RPC_AUTH_INVALIDRESP = 6, /* a requester's, of a reply's verifier */
};

/* A credential or verifier (RFC 5531 section 8.2). */
struct rpc_opaque_auth {
	uint32_t flavor;
	uint32_t len; /* 0..RPC_MSG_MAX_AUTH */
	const uint8_t *body;
};

/* Flavor, length and body; a is at most RPC_MSG_MAX_AUTH long. */
void rpc_msg_put_auth(struct xdr_out *x, const struct rpc_opaque_auth *a);

struct rpc_call_hdr {
	uint32_t xid, prog, vers, proc;
	struct rpc_opaque_auth cred, verf; /* both lie in the message */
};

/* The defect of a call that can be answered. */
enum rpc_deny {
	RPC_DENY_NOT,	  /* nothing */
	RPC_DENY_VERSION, /* RPC_MISMATCH: no version 2 message */
	RPC_DENY_GARBAGE, /* the header ends early: GARBAGE_ARGS */
	RPC_DENY_BADCRED, /* AUTH_ERROR: the credential is too long */
	RPC_DENY_BADVERF, /* AUTH_ERROR: the verifier is too long */
};

/* Puts the RPC_MSG_CALL_HEAD bytes of a call from its XID on; credential and verifier follow. */
void rpc_msg_put_call(struct xdr_out *x, uint32_t xid, uint32_t prog, uint32_t vers, uint32_t proc);

/* Reads the header of a call; x stands at the arguments afterwards. 0, or -EBADMSG if no answer is
 * possible. *deny: the reason to refuse the call, if any; then only xid is certain. */
int rpc_msg_get_call(struct xdr_in *x, struct rpc_call_hdr *h, enum rpc_deny *deny);

/* Writes the header of an accepted reply up to msg + end; returns the offset of the XID word. verf:
 * NULL for an empty one. For PROG_MISMATCH the two version numbers are to follow, as results. */
uint32_t rpc_msg_put_accepted(uint8_t *msg, uint32_t end, uint32_t xid,
	const struct rpc_opaque_auth *verf, enum rpc_accept stat);

/* The same for a denied reply, complete in itself: RPC_MISMATCH, or AUTH_ERROR with auth_stat. */
uint32_t rpc_msg_put_mismatch(uint8_t *msg, uint32_t end, uint32_t xid);
uint32_t rpc_msg_put_auth_error(uint8_t *msg, uint32_t end, uint32_t xid, uint32_t auth_stat);

struct rpc_reply_hdr {
	uint32_t xid;
	enum rpc_stat stat;
	uint32_t mismatch_low, mismatch_high; /* PROG_MISMATCH, VERS_MISMATCH */
	uint32_t auth_stat;		      /* why -EACCES */
	bool accepted;			      /* there is a verifier */
	struct rpc_opaque_auth verf;	      /* it lies in the message */
};

/* Reads the header of a reply; x stands at the results afterwards. 0, -EPROTO (stat tells) or
 * -EACCES (auth_stat tells), as an rpc_done_fn gets it. */
int rpc_msg_get_reply(struct xdr_in *x, struct rpc_reply_hdr *h);

#endif
