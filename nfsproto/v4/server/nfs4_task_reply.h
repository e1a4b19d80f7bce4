/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task_reply: the reply to an op's call, judged: how the request leaves its slot, and how the
 * op goes on. This file handles each status that any op may get. The op's user (nfs4_user.h)
 * handles all other statuses. nfs4_task_run.h acts upon the judgement.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_REPLY_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_REPLY_H

#include "nfsproto/v4/server/nfs4_server.h"

struct nfs4_task_reply {
	int error; /* of the call */
	struct nfs4_reply r;
	struct nfs4_sequence_res seq; /* all 0 unless SEQUENCE succeeded */
	enum nfs4_slot_end end;	      /* how the request leaves its slot */
	bool busy;		      /* SEQUENCE was answered DELAY */
};

/* Reads the head of the reply to op's call, which ended with error. Returns as a walk
 * (nfs4_compound.h), or the error. */
int nfs4_task_reply_begin(
	struct nfs_op *op, int error, struct xdr_in *res, struct nfs4_task_reply *a);
/* The same of a reply that a former daemon has noted (nfs4_replay.h). op has no slot. */
int nfs4_task_reply_noted(struct nfs_op *op, struct xdr_in *res, struct nfs4_task_reply *a);
/* May op keep its slot and ask again? If not, a->end is set. */
bool nfs4_task_reply_keeps_slot_locked(struct nfs_op *op, struct nfs4_task_reply *a)
	REQUIRES(LOCK_OF(struct nfs4_slots, lock));
/* Has the results read, unless rc tells that there are none. Returns as struct nfs4_kind's get. An
 * unsure op (nfs_unsure.h) that failed may be found done, or starts again to look. */
enum nfs_outcome nfs4_task_reply_read(struct nfs_op *op, int rc, struct nfs4_task_reply *a);
/* How op goes on, after out, with status if out is NFS_STATUS. NFS_FAILED, NFS_DONE: op ends with
 * op->error. NFS_AGAIN: op starts again. NFS_LATER: as the user's later. NFS_RECOVER: op waits for
 * *ms. */
enum nfs_outcome nfs4_task_reply_judge(
	struct nfs_op *op, enum nfs_outcome out, uint32_t status, unsigned *ms);

#endif
