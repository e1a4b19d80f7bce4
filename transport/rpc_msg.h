/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_msg: the header of an ONC RPC message, both kinds, both ways (RFC 5531 sections 8, 9 and
 * appendix A). Pure coders: bytes in, struct out, and the reverse.
 *
 * Headers are written backwards: they end where the arguments or results begin, so that a message
 * is one contiguous piece of memory whatever its credential's size.
 */
#ifndef RNFS_TRANSPORT_RPC_MSG_H
#define RNFS_TRANSPORT_RPC_MSG_H

#include "transport/rpc.h"

enum rpc_msg_type {
	RPC_MSG_CALL = 0,
	RPC_MSG_REPLY = 1,
};

#define RPC_MSG_VERSION	  2
#define RPC_MSG_MAX_AUTH  400 /* bytes of an opaque_auth body */
#define RPC_MSG_MAX_NAME  255 /* bytes of AUTH_SYS's machinename */
#define RPC_MSG_MAX_CALL  232 /* bytes of a call header that rpc_msg_put_call() writes, at most */
#define RPC_MSG_MIN_REPLY 24  /* bytes of an accepted reply's header with an empty verifier */

/* auth_stat, those that this program sends. */
enum rpc_auth_stat {
	RPC_AUTH_OK = 0,
	RPC_AUTH_BADCRED = 1,
	RPC_AUTH_REJECTEDCRED = 2,
	RPC_AUTH_BADVERF = 3,
};

struct rpc_call_hdr {
	uint32_t xid, prog, vers, proc;
	struct rpc_cred cred;
	const char *machine; /* put: AUTH_SYS's machinename, NULL for this host's; get: not set */
};

/* What is wrong with a call that can be answered. */
enum rpc_deny {
	RPC_DENY_NOT,	       /* nothing */
	RPC_DENY_VERSION,      /* RPC_MISMATCH: no version 2 message */
	RPC_DENY_GARBAGE,      /* the header ends early: GARBAGE_ARGS */
	RPC_DENY_BADCRED,      /* AUTH_ERROR with that status: the credential does not parse */
	RPC_DENY_REJECTEDCRED, /* AUTH_ERROR: a flavor that is not supported */
	RPC_DENY_BADVERF,      /* AUTH_ERROR: the verifier is too long */
};

/* Writes the header of a call so that it ends at msg + end (multiple of 4, RPC_MSG_MAX_CALL or
 * more). Returns the offset of its XID word. A group list longer than RPC_MAX_GIDS is cut. */
uint32_t rpc_msg_put_call(uint8_t *msg, uint32_t end, const struct rpc_call_hdr *h);

/* Reads the header of a call; x stands at the arguments afterwards. 0, or -EBADMSG if this is no
 * call that can be answered. *deny: what to refuse it for; then only xid is certain. */
int rpc_msg_get_call(struct xdr_in *x, struct rpc_call_hdr *h, enum rpc_deny *deny);

/* Writes the header of an accepted reply so that it ends at msg + end; returns the offset of its
 * XID word. For PROG_MISMATCH the two version numbers are to follow, as results. */
uint32_t rpc_msg_put_accepted(uint8_t *msg, uint32_t end, uint32_t xid, enum rpc_accept stat);

/* The same for a denied reply, complete in itself. deny: VERSION or one of the AUTH_ERRORs. */
uint32_t rpc_msg_put_denied(uint8_t *msg, uint32_t end, uint32_t xid, enum rpc_deny deny);

struct rpc_reply_hdr {
	uint32_t xid;
	enum rpc_stat stat;
	uint32_t mismatch_low, mismatch_high; /* PROG_MISMATCH, VERS_MISMATCH */
	uint32_t auth_stat;		      /* why -EACCES */
};

/* Reads the header of a reply; x stands at the results afterwards. 0, -EPROTO (stat tells) or
 * -EACCES (auth_stat tells), as an rpc_done_fn gets it. */
int rpc_msg_get_reply(struct xdr_in *x, struct rpc_reply_hdr *h);

#endif
