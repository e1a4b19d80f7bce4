/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-answer: results of a COMPOUND put together by hand, for a kind of op to make sense of. No
 * server and no mount: only the kind's get function.
 */
#ifndef RNFS_TESTS_NFS4_ANSWER_H
#define RNFS_TESTS_NFS4_ANSWER_H

#include <errno.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_mount.h"
#include "tests/unit/nfsproto/wire/nfs4-any.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"

struct answer {
	struct xdr_out x;
	size_t at;
	uint32_t nops;
	uint8_t buf[16384], wire[65536];
};

static inline void answer_begin(struct answer *a)
{
	struct nfs4_opaque tag = {(const uint8_t *)"", 0};

	xdr_out_init(&a->x, a->buf, sizeof(a->buf));
	a->at = nfs4_begin_compound_res(&a->x, &tag);
	a->nops = 0;
}

/* A result has been put. */
static inline void answer_add(struct answer *a)
{
	a->nops++;
}

static inline void answer_ok(struct answer *a, uint32_t op)
{
	nfs4_put_op_res(&a->x, op, NFS4_OK);
	answer_add(a);
}

/* The op goes on: a value that no op ends with. */
#define ANSWER_AGAIN INT32_MAX
#define ANSWER_LATER (INT32_MAX - 1)

/* The verdict of the op's kind: 0, and nothing remains; the status; the negative errno; or that the
 * op goes on. */
static inline int answer_read(
	struct answer *a, struct nfs4_client *c, struct nfs_op *op, uint32_t status)
{
	struct nfs4_reply r;
	struct xdr_in in;
	int rc;

	nfs4_end_compound_res(&a->x, a->at, status, a->nops);
	xdr_in_init(&in, a->wire, any_splice(&a->x, a->wire));
	rc = nfs4_reply_begin(&r, &in);
	if (rc)
		return rc;
	switch (nfs4_kinds[op->be.v4.kind].get(c, op, &r)) {
	case NFS_DONE:
		return nfs4_reply_end(&r);
	case NFS_AGAIN:
		return ANSWER_AGAIN;
	case NFS_STATUS:
		return (int)r.status;
	case NFS_FAILED:
		return op->error;
	case NFS_LATER:
	case NFS_RECOVER:
		break;
	}
	return ANSWER_LATER;
}

/* PUTFH, then op fails (or, without results, succeeds) with status. */
static inline int answer_status(
	struct answer *a, struct nfs4_client *c, struct nfs_op *op, uint32_t what, uint32_t status)
{
	answer_begin(a);
	answer_ok(a, OP_PUTFH);
	nfs4_put_op_res(&a->x, what, status);
	answer_add(a);
	return answer_read(a, c, op, status);
}

#endif
