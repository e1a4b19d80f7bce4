/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_submount: referrals: the directories of a mount that are on other servers.
 *
 * A server that does not have a file system itself answers a LOOKUP of its root NFS4ERR_MOVED, and
 * tells its places (nfs_places.h). The operation then waits until a mount of the first place that
 * answers is made, a submount, and gets the submount's root. A submount is an nfs_client like
 * any other. It has a number, 1 and up, and each handle says the number of its server (struct
 * nfs_fh), so nfs_submit() finds the client of an operation by the operation's handle. Callers see
 * one client. Handles and fsids of several servers may be equal: the number tells the first apart,
 * and the second are mixed with the place.
 *
 *     NONE ----> WANTED ----> CONNECTING ----> UP       until the end of the mount
 *                   ^                  |
 *                   +---- FAILED <-----+       a LOOKUP tries again after 30 s
 *
 * A name of a directory has one submount. When the server tells other places for the name, or the
 * root of the submount has become stale, a further submount is made, and the former one serves the
 * handles that programs still have. Each later LOOKUP of the name costs a LOOKUP and a question for
 * the places at the referring server, and a GETATTR at the other.
 *
 * A successor (nfs_client_record.h) makes the submounts that are up anew, with their numbers. It
 * waits for each of their servers, as for the mount's own.
 *
 * The thread of this module starts with the first referral. It starts a thread for each connection
 * to be made, and ends waiting operations, because nfs_cancel() may not.
 *
 * Lock: nfs_submounts.lock, over the locks of back ends by nfs_cancel() alone.
 */
#ifndef RNFS_NFSPROTO_NFS_SUBMOUNT_H
#define RNFS_NFSPROTO_NFS_SUBMOUNT_H

#include "nfsproto/common/nfs_backend.h"

#define NFS_SUBMOUNTS_MAX 64u
#define NFS_SUBMOUNT_DEEP 8u /* referrals within referrals */

/* The front of all clients (nfs_client.h), which calls this module, and which this module calls. */
struct nfs_front {
	void (*submit)(struct nfs_client *c, struct nfs_op *op);
	void (*cancel)(struct nfs_op *op);
	void (*end)(struct nfs_op *op); /* op has its results, and ends for its caller */
};

/* The submounts of a mount; NULL when out of memory or file descriptors. top: the mount itself. */
struct nfs_submounts *nfs_submounts_new(struct nfs_client *top, const struct nfs_front *front);
/* Ends all submounts, and the operations that wait for one, with -ENOTCONN. Gives up connections
 * that are being made, and waits for their threads. Before top ends. leave_by:
 * nfs_client_leave_by(). Accepts NULL. */
void nfs_submounts_end(struct nfs_submounts *t, uint64_t leave_by);
/* After top has ended: no operation of top is under way. Accepts NULL. */
void nfs_submounts_free(struct nfs_submounts *t);

/* Does no operation wait for a submount that is being made? */
bool nfs_submounts_settled(struct nfs_submounts *t);

/* A submount that is up, for a successor. */
struct nfs_submount_told {
	uint16_t number;
	unsigned depth;	   /* 1: of a name of the mount itself */
	struct nfs_fh dir; /* the name of the referral */
	char name[NFS_NAME_MAX];
	uint32_t namelen;
	struct nfs_places *places;
	unsigned place; /* the one that is mounted */
	enum rpc_proto proto;
	struct nfs_record nfs;
};

/* Fills *out for a successor, with all but the data of the back end. Submount `number` is up. The
 * places stay t's. */
void nfs_submounts_tell(struct nfs_submounts *t, unsigned number, struct nfs_submount_told *out);
/* Makes the submount anew, before operations are submitted. Takes told->places, and fills
 * told->nfs.open. Waits until the server answers. 0, or -1 with *e set. */
int nfs_submounts_inherit(struct nfs_submounts *t, struct nfs_submount_told *told, struct err *e);

/* The client for the handles of a server; NULL: there is none. Any thread; takes no lock. */
struct nfs_client *nfs_submounts_find(struct nfs_submounts *t, unsigned server);
/* The submounts that are up, i from 0; NULL: there are no more. Any thread; takes no lock. */
struct nfs_client *nfs_submounts_each(struct nfs_submounts *t, unsigned *i);

/* op, a LOOKUP by c, has ended with -EREMOTE, and has the places. 0: op waits, and front->end()
 * comes later. A negative errno: op was cancelled, or cannot be followed, and ends with that error.
 */
int nfs_submounts_follow(struct nfs_client *c, struct nfs_op *op);
/* op is unwanted. True: op waits for a submount, and ends soon. */
bool nfs_submounts_cancel(struct nfs_submounts *t, struct nfs_op *op);

#endif
