/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nlm4_xdr: the Network Lock Manager protocol version 4 (RFC 1813 appendix II): numbers and coders,
 * both directions. Conventions: nfs3_xdr.h.
 *
 * Ranges are an offset and a length; length 0 reaches to the end of the file at any later size.
 */
#ifndef RNFS_NFSPROTO_WIRE_NLM4_XDR_H
#define RNFS_NFSPROTO_WIRE_NLM4_XDR_H

#include <stdbool.h>
#include <stdint.h>

#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/xdr.h"

#define NLM4_PROGRAM	100021
#define NLM4_VERSION	4
#define NLM4_NETOBJ_MAX 1024 /* MAXNETOBJ_SZ */
#define NLM4_NAME_MAX	1024 /* LM_MAXSTRLEN */

enum nlm4_proc {
	NLM4PROC_NULL = 0,
	NLM4PROC_TEST = 1,
	NLM4PROC_LOCK = 2,
	NLM4PROC_CANCEL = 3,
	NLM4PROC_UNLOCK = 4,
	NLM4PROC_GRANTED = 5,
	/* 6..15: the same as messages without a result */
	NLM4PROC_SHARE = 20,
	NLM4PROC_UNSHARE = 21,
	NLM4PROC_NM_LOCK = 22,
	NLM4PROC_FREE_ALL = 23,
};

enum nlm4_status {
	NLM4_GRANTED = 0,
	NLM4_DENIED = 1,
	NLM4_DENIED_NOLOCKS = 2,
	NLM4_BLOCKED = 3,
	NLM4_DENIED_GRACE_PERIOD = 4,
	NLM4_DEADLCK = 5,
	NLM4_ROFS = 6,
	NLM4_STALE_FH = 7,
	NLM4_FBIG = 8,
	NLM4_FAILED = 9,
};

/* "NLM4_DENIED"; "NLM4_?" for a number the RFC does not have. */
const char *nlm4_status_name(uint32_t status);
/* "LOCK"; "?" for a number not named here. */
const char *nlm4_proc_name(uint32_t proc);

struct nlm4_netobj { /* at most NLM4_NETOBJ_MAX bytes */
	const uint8_t *data;
	uint32_t len;
};

struct nlm4_lock {
	struct nfs_name caller; /* the host's name, at most NLM4_NAME_MAX */
	struct nlm4_netobj fh, oh;
	uint32_t svid;
	uint64_t offset, len;
};

struct nlm4_holder {
	bool exclusive;
	uint32_t svid;
	struct nlm4_netobj oh;
	uint64_t offset, len;
};

struct nlm4_test_args { /* TEST and GRANTED */
	struct nlm4_netobj cookie;
	bool exclusive;
	struct nlm4_lock lock;
};
struct nlm4_test_res {
	struct nlm4_netobj cookie;
	uint32_t status;
	struct nlm4_holder holder; /* NLM4_DENIED */
};
struct nlm4_lock_args { /* LOCK and NM_LOCK */
	struct nlm4_netobj cookie;
	bool block, exclusive;
	struct nlm4_lock lock;
	bool reclaim;
	uint32_t state; /* of the caller's status monitor; odd: up */
};
struct nlm4_cancel_args {
	struct nlm4_netobj cookie;
	bool block, exclusive;
	struct nlm4_lock lock;
};
struct nlm4_unlock_args {
	struct nlm4_netobj cookie;
	struct nlm4_lock lock;
};
struct nlm4_res { /* LOCK, CANCEL, UNLOCK, GRANTED, NM_LOCK */
	struct nlm4_netobj cookie;
	uint32_t status;
};
struct nlm4_free_all_args {
	struct nfs_name name; /* the host's, at most NLM4_NAME_MAX */
	uint32_t state;
};

void nlm4_put_test_args(struct xdr_out *x, const struct nlm4_test_args *a);
int nlm4_get_test_args(struct xdr_in *x, struct nlm4_test_args *a);
void nlm4_put_test_res(struct xdr_out *x, const struct nlm4_test_res *r);
int nlm4_get_test_res(struct xdr_in *x, struct nlm4_test_res *r);
void nlm4_put_lock_args(struct xdr_out *x, const struct nlm4_lock_args *a);
int nlm4_get_lock_args(struct xdr_in *x, struct nlm4_lock_args *a);
void nlm4_put_cancel_args(struct xdr_out *x, const struct nlm4_cancel_args *a);
int nlm4_get_cancel_args(struct xdr_in *x, struct nlm4_cancel_args *a);
void nlm4_put_unlock_args(struct xdr_out *x, const struct nlm4_unlock_args *a);
int nlm4_get_unlock_args(struct xdr_in *x, struct nlm4_unlock_args *a);
void nlm4_put_res(struct xdr_out *x, const struct nlm4_res *r);
int nlm4_get_res(struct xdr_in *x, struct nlm4_res *r);
void nlm4_put_free_all_args(struct xdr_out *x, const struct nlm4_free_all_args *a);
int nlm4_get_free_all_args(struct xdr_in *x, struct nlm4_free_all_args *a);

#endif
