/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_kind: the kinds of op, each with its name, its coders and its treatment. A server learns the
 * table of all kinds, struct nfs4_kind[NFS4_KINDS], when the server is made.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_KIND_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_KIND_H

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/v4/server/nfs4_compound.h"

struct nfs4_client;
struct nfs4_server;

enum nfs4_kind_id { /* the types of nfs_client.h first, by the same numbers */
	NFS4_K_LOOKUP_AFTER = NFS_OP_TYPES, /* the new object, if CREATE's reply lacked it */
	NFS4_K_LOOK,			    /* at the name of an unsure op (nfs_unsure.h) */
	NFS4_K_GETATTR_AFTER,		    /* the attributes after SETATTR, OPEN, LINK, likewise */
	NFS4_K_OPEN_SETATTR,		    /* attributes that an exclusive OPEN could not set */
	NFS4_K_OPEN_READ, /* OPEN with data; may be repeated, and is too large for the reply cache
			   */
	NFS4_K_OPEN_UNDO, /* CLOSE after an OPEN of which a later step failed */
	NFS4_K_OPEN_MORE, /* OPEN again with the access that a lock needs */
	NFS4_K_LOCKU,	  /* NFS_LOCK that unlocks */
	NFS4_K_LOCK_FREE, /* FREE_STATEID of a lock-owner that holds nothing */
	NFS4_K_CLONE,	  /* the first attempt at an NFS_COPY */
	NFS4_K_OFFLOAD_STATUS, /* an NFS_COPY that the server carries out by itself */
	NFS4_K_OFFLOAD_CANCEL, /* after an NFS_COPY that is no longer wanted */
	NFS4_K_READ_PLUS,      /* an NFS_READ */
	NFS4_K_APPEND,	       /* an NFS_WRITE at the end of the file */
	NFS4_K_WRITE_SET,      /* an NFS_WRITE with SETATTR behind it */
	/* from here on: the back end's own, see struct nfs4_sync */
	NFS4_K_SEQUENCE,
	NFS4_K_DELEGRETURN,
	NFS4_K_DELEG_OPEN, /* a local open becomes a real one */
	NFS4_K_DELEG_LOCK, /* a local lock likewise */
	NFS4_K_EXCHANGE_ID,
	NFS4_K_CREATE_SESSION,
	NFS4_K_BIND,
	NFS4_K_DESTROY_SESSION,
	NFS4_K_DESTROY_CLIENTID,
	NFS4_K_RECLAIM_COMPLETE,
	NFS4_K_WALK,
	NFS4_K_LOCATIONS, /* also an op that was answered NFS4ERR_MOVED */
	NFS4_K_FSINFO,
	NFS4_K_REOPEN,
	NFS4_K_REDELEG, /* OPEN to have a delegation again */
	NFS4_K_RELOCK,
	NFS4_K_TEST_STATEID,
	NFS4_K_FREE_STATEID,
	NFS4_KINDS
};

#define NFS4_KF_CACHE 1u /* sa_cachethis: a second execution would not be the same */
#define NFS4_KF_NOSEQ 2u /* goes without SEQUENCE and slot */

struct nfs4_kind {
	const char *name;
	unsigned flags; /* NFS4_KF_* */
	/* Puts the operations after SEQUENCE. */
	void (*put)(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);
	/* Walks the results. NFS_STATUS: the status in r. Not NFS_RECOVER. */
	enum nfs_outcome (*get)(struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r);
	/* For kinds that are about the server itself; such a kind has no put and get. */
	void (*server_put)(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k);
	enum nfs_outcome (*server_get)(
		struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r);
};

/* The outcome of an op after a walk (nfs4_compound.h) that ended with rc, or after a negative
 * errno. */
static inline enum nfs_outcome nfs4_outcome(struct nfs_op *op, int rc)
{
	return rc > 0 ? NFS_STATUS : nfs_failed(op, rc);
}

#endif
