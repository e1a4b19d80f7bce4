/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_held: the lock owners that the server may know, in memory and in the mount's file
 * (nfs3_nsm.h). So the successor of a killed daemon can unlock the locks of those owners, and no
 * others.
 *
 * The file has a slot of fixed size for each owner and file, behind the line of nfs3_nsm. One
 * pwrite(2) writes the slot before the first LOCK is sent. Another empties it after the last UNLOCK
 * was answered. Then it is used again. There is no fsync: the slots must outlive the process, not
 * the machine. Slots may be missing after a crash of the machine. Each slot is sealed with the
 * digits of the name, and its lengths are checked: a torn or foreign slot counts as empty.
 *
 *     FREE --note--> LIVE --strike--> FREE
 *                      \--leave--> LEFT --strike--> FREE
 *                      ^            |
 *                      \---adopt---/
 *
 * LEFT slots have owners that no process here knows any more: a former daemon's, and owners without
 * an answer to their last call. No locks of its own: for the thread of nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_HELD_H
#define RNFS_NFSPROTO_V3_NFS3_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "nfsproto/common/nfs_op.h"
#include "transport/rpc/rpc.h"

#define NFS3_HELD_MAX  8192u	   /* slots */
#define NFS3_HELD_SVID 0x40000000u /* the first number of an owner: above all process numbers */

struct nfs3_held_owner {  /* of locks in one file */
	struct nfs_fh fh; /* of 1..NFS3_FHSIZE bytes */
	uint32_t svid;	  /* NFS3_HELD_SVID..2 * NFS3_HELD_SVID - 1 */
	struct rpc_cred cred;
};

struct nfs3_held {
	int fd; /* -1: in memory only */
	uint64_t seal;
	struct nfs3_held_slot *slot; /* n of them; the first free one is slot[free - 1] */
	uint32_t n, room, free;
	uint32_t left; /* number of LEFT slots */
	bool warned;
};

/* Takes the file's slots if `former`: they are a former daemon's. Otherwise empties the file. The
 * caller still owns fd. */
void nfs3_held_open(struct nfs3_held *h, int fd, uint64_t seal, bool former);
void nfs3_held_close(struct nfs3_held *h);

/* From now on the server may know o. Returns its number, from 1; 0: no room, which is logged once,
 * as is a failed write to the file. */
uint32_t nfs3_held_note(struct nfs3_held *h, const struct nfs3_held_owner *o);
/* Slot `number`, which is LEFT, becomes o's again. False: there is no such slot. */
bool nfs3_held_adopt(struct nfs3_held *h, uint32_t number, const struct nfs3_held_owner *o);
/* The server does not know the owner any more. */
void nfs3_held_strike(struct nfs3_held *h, uint32_t number);
/* The slot becomes LEFT. */
void nfs3_held_leave(struct nfs3_held *h, uint32_t number);
/* Copies the first LEFT owner behind number (0: of all) into *o, and returns its number; 0: there
 * is none. */
uint32_t nfs3_held_next_left(const struct nfs3_held *h, uint32_t number, struct nfs3_held_owner *o);
/* Is svid the number of a LEFT owner? */
bool nfs3_held_is_left(const struct nfs3_held *h, uint32_t svid);

#endif
