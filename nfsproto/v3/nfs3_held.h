/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_held: which owners of locks the server may know, in memory and in the mount's file
 * (nfs3_nsm.h), so that who succeeds a killed daemon can unlock what it left, and nothing else.
 *
 * The file has a slot of fixed size for each owner and file, behind the line of nfs3_nsm: written
 * by one pwrite(2) before the first LOCK is sent, struck out by one after the last UNLOCK was
 * answered, and used again. There is no fsync: what is to be outlived is the death of the process;
 * after that of the machine slots may be missing. Each is sealed with the digits of the name, and
 * its lengths are checked: a torn or foreign one is as an empty one.
 *
 *     FREE --note--> LIVE --strike--> FREE
 *                      \--leave--> LEFT --strike--> FREE
 *
 * LEFT are those that nobody here knows any more: a former daemon's, and those to whose last call
 * there was no answer. No locks of its own: for the thread of nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_HELD_H
#define RNFS_NFSPROTO_V3_NFS3_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "nfsproto/nfs_client.h"
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
	uint32_t left; /* so many are LEFT */
	bool warned;
};

/* former: what the file says is a former daemon's; else it is emptied. fd stays the caller's. */
void nfs3_held_open(struct nfs3_held *h, int fd, uint64_t seal, bool former);
void nfs3_held_close(struct nfs3_held *h);

/* From now on the server may know o. Its number, from 1; 0: there is no room, which is logged once,
 * as is what the file does not take. */
uint32_t nfs3_held_note(struct nfs3_held *h, const struct nfs3_held_owner *o);
/* The server does not know it any more. */
void nfs3_held_strike(struct nfs3_held *h, uint32_t number);
/* It is LEFT. */
void nfs3_held_leave(struct nfs3_held *h, uint32_t number);
/* The first that is LEFT of those after number (0: of all), into *o; 0: there is none. */
uint32_t nfs3_held_next_left(const struct nfs3_held *h, uint32_t number, struct nfs3_held_owner *o);
/* Is svid that of one that is LEFT? */
bool nfs3_held_is_left(const struct nfs3_held *h, uint32_t svid);

#endif
