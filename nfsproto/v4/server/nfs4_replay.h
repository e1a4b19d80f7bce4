/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_replay: notes about calls that change the file system, for a successor of this daemon
 * (nfs_former.h). NOTE_CHANGE is one such call, NOTE_SLOTS the sequence ids of all slots.
 *
 * A change is one call of an op with nfs_op.noted: of the request U of the kernel.
 *
 *     this daemon:
 *         none --nfs4_replay_calls()--> CALLED in a slot --nfs4_replay_replied()--> REPLIED
 *         CALLED --the server certainly has not counted the call--> UNSENT
 *         UNSENT, or an answer after which the op calls again --> CALLED in another slot
 *         all --nfs4_replay_answered(U)--> none
 *     a successor:
 *         CALLED, REPLIED, UNSENT --an op of U finds it--> a change of this daemon
 *         not found --nfs4_replay_end()--> CALLED, without a slot
 *
 * The successor's op is encoded anew, with the parts of the first call that would be others by now:
 * the number of the open-owner or lock-owner, the mark of a CREATE, the offset and the stability of
 * an append, the delegation that an OPEN asks for. So the call is the same one, and the server's
 * reply cache may answer. The reply then has the results that this op asks for: an op that asks for
 * others is not the same (key_of()).
 *
 * The slot of a CALLED change is RESERVED (nfs4_slots.h) until the op takes the slot, or the change
 * is given up. If the session is another by then, the op is executed anew, and is unsure
 * (nfs_unsure.h).
 *
 * A call that is not noted is repeated by the successor without harm, or has an owner that knows of
 * it (CLOSE, LOCKU, DELEGRETURN). The state manager finds out about its slot.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_REPLAY_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_REPLAY_H

#include "nfsproto/v4/server/nfs4_server.h"
#include "transport/ledger.h"

#define NFS4_REPLAY_BUCKETS 64

struct nfs4_change;
TAILQ_HEAD(nfs4_changes, nfs4_change);

struct nfs4_replay {
	struct ledger *ledger; /* constant; NULL: nothing is noted */
	struct mutex lock ACQUIRED_AFTER(LOCK_OF(struct nfs4_slots, lock)); /* a leaf */
	struct nfs4_changes bucket[NFS4_REPLAY_BUCKETS] GUARDED_BY(lock);   /* oldest first */
	atomic_uint n;							    /* changes */
	atomic_uint nformer; /* those of the former daemon that no op has found */
	struct note slots;   /* under slots.lock */
	struct note server;  /* nfs4_server_note(): of the thread that makes the session */
};

/* NULL: no memory. l NULL: for a successor that keeps no notes. */
struct nfs4_replay *nfs4_replay_new(struct ledger *l);
/* Drops all notes. Accepts NULL, returns NULL. */
struct nfs4_replay *nfs4_replay_free(struct nfs4_replay *r);

/* The functions below accept a server without notes, srv->replay NULL, unless they say otherwise.
 */

/* The session is new: notes its slots. */
void nfs4_replay_slots_locked(struct nfs4_server *srv) REQUIRES(srv->slots.lock);

/* op is about to be sent, in its slot. */
void nfs4_replay_calls(struct nfs_op *op);
/* op's call ended: rc of nfs4_task_reply_begin(); busy: SEQUENCE was answered DELAY. end: how the
 * request leaves its slot. res: the results of len bytes, for rc 0. Before the slot is given back.
 */
void nfs4_replay_replied(
	struct nfs_op *op, int rc, bool busy, enum nfs4_slot_end end, const void *res, size_t len);
/* op, which has ended, or which could not be sent, has no call. */
void nfs4_replay_unsent(struct nfs_op *op);
void nfs4_replay_ended(struct nfs_op *op);

enum nfs4_replay_way {
	NFS4_REPLAY_NONE,  /* op is executed, perhaps as an unsure op */
	NFS4_REPLAY_SLOT,  /* the same, in the slot of the former call, which op has (kept) */
	NFS4_REPLAY_REPLY, /* there is a reply */
};

/* op, without a slot, is about to start: looks for a change of the former daemon. *reply: the
 * results of *len bytes, for the caller to free(). */
enum nfs4_replay_way nfs4_replay_find(struct nfs_op *op, uint8_t **reply, size_t *len)
	EXCLUDES(LOCK_OF(struct nfs4_slots, lock));

/* nfs_client_answered(), nfs_client_has_changes(), nfs_client_replays_end(). No lock held. */
void nfs4_replay_answered(struct nfs4_server *srv, uint64_t request);
bool nfs4_replay_has(struct nfs4_server *srv, uint64_t request);
void nfs4_replay_end(struct nfs4_server *srv);

/* The slots and changes of the former daemon on srv's session, which srv goes on with; all slots
 * with calls that are not noted are DOUBTFUL. No thread is up. 0, or -1 with *e set. srv->replay is
 * not NULL. */
int nfs4_replay_read(struct nfs4_server *srv, const struct former *f, struct err *e)
	EXCLUDES(srv->slots.lock);
/* One note, as nfs4_replay_read() does: 0, -ENOMEM, or -EBADMSG. Exposed for tests. */
int nfs4_replay_read_change(struct nfs4_server *srv, const void *note, uint32_t len)
	EXCLUDES(srv->slots.lock);

#endif
