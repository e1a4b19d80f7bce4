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

#define NFS4_KF_CACHE 1u /* sa_cachethis: a second execution would not be the same */
#define NFS4_KF_NOSEQ 2u /* goes without SEQUENCE and slot */
/* changes files or names, if the op asks for a change: nfs4_slots_changing_locked() */
#define NFS4_KF_CHANGES 4u
#define NFS4_KF_ONCE	(NFS4_KF_CACHE | NFS4_KF_CHANGES)
/* -EOPNOTSUPP where the minor version or the server lacks op, one of NFSv4.2 */
#define NFS4_KF_NEEDS(op)     ((op) << 8)
#define NFS4_KF_NEEDED(flags) ((flags) >> 8)

/* The kinds: number, name, NFS4_KF_* flags, and the X of the coders nfs4_put_op_X and
 * nfs4_get_op_X. The types of nfs_client.h have the same numbers as kinds. A SERVER_KIND is about
 * the server itself. */
#define NFS4_TYPE_KINDS(KIND)                                                                      \
	KIND(NFS_LOOKUP, "LOOKUP", 0, lookup)                                                      \
	KIND(NFS_GETATTR, "GETATTR", 0, getattr)                                                   \
	KIND(NFS_SETATTR, "SETATTR", NFS4_KF_ONCE, setattr)                                        \
	KIND(NFS_ACCESS, "ACCESS", 0, access)                                                      \
	KIND(NFS_READLINK, "READLINK", 0, readlink)                                                \
	KIND(NFS_OPEN, "OPEN", NFS4_KF_ONCE, open)                                                 \
	KIND(NFS_CLOSE, "CLOSE", NFS4_KF_CACHE, close)                                             \
	KIND(NFS_READ, "READ", 0, read)                                                            \
	KIND(NFS_WRITE, "WRITE", NFS4_KF_CHANGES, write)                                           \
	KIND(NFS_COMMIT, "COMMIT", 0, commit)                                                      \
	KIND(NFS_CREATE, "CREATE", NFS4_KF_ONCE, create)                                           \
	KIND(NFS_REMOVE, "REMOVE", NFS4_KF_ONCE, remove)                                           \
	KIND(NFS_RENAME, "RENAME", NFS4_KF_ONCE, rename)                                           \
	KIND(NFS_LINK, "LINK", NFS4_KF_ONCE, link)                                                 \
	KIND(NFS_READDIR, "READDIR", 0, readdir)                                                   \
	KIND(NFS_STATFS, "STATFS", 0, statfs)                                                      \
	KIND(NFS_LOCK, "LOCK", NFS4_KF_CACHE, lock)                                                \
	KIND(NFS_LOCKT, "LOCKT", 0, lockt)                                                         \
	KIND(NFS_SEEK, "SEEK", NFS4_KF_NEEDS(OP_SEEK), seek)                                       \
	KIND(NFS_ALLOCATE, "ALLOCATE", NFS4_KF_CHANGES, allocate)                                  \
	KIND(NFS_COPY, "COPY", NFS4_KF_CHANGES, copy)                                              \
	KIND(NFS_GETXATTR, "GETXATTR", 0, getxattr)                                                \
	KIND(NFS_SETXATTR, "SETXATTR", NFS4_KF_ONCE, setxattr)                                     \
	KIND(NFS_LISTXATTR, "LISTXATTRS", 0, listxattr)                                            \
	KIND(NFS_REMOVEXATTR, "REMOVEXATTR", NFS4_KF_ONCE, removexattr)                            \
	KIND(NFS_GETACL, "GETATTR of an ACL", 0, getacl)                                           \
	KIND(NFS_SETACL, "SETATTR of an ACL", NFS4_KF_ONCE, setacl)

#define NFS4_OWN_KINDS(KIND, SERVER_KIND)                                                          \
	/* the new object, if CREATE's reply lacked it */                                          \
	KIND(NFS4_K_LOOKUP_AFTER, "LOOKUP after CREATE", 0, lookup_after)                          \
	/* at the name of an unsure op (nfs_unsure.h) */                                           \
	KIND(NFS4_K_LOOK, "LOOKUP after a lost answer", 0, look)                                   \
	/* the attributes after SETATTR, OPEN or LINK, if the reply lacked them */                 \
	KIND(NFS4_K_GETATTR_AFTER, "GETATTR after a change", 0, getattr_after)                     \
	/* attributes that an exclusive OPEN could not set */                                      \
	KIND(NFS4_K_OPEN_SETATTR, "SETATTR after OPEN", NFS4_KF_ONCE, open_setattr)                \
	/* may be repeated, and is too large for the reply cache */                                \
	KIND(NFS4_K_OPEN_READ, "OPEN with READ", 0, open)                                          \
	KIND(NFS4_K_OPEN_UNDO, "CLOSE after a failed OPEN", NFS4_KF_CACHE, open_undo)              \
	/* with the access that a lock needs */                                                    \
	KIND(NFS4_K_OPEN_MORE, "OPEN for a lock", NFS4_KF_CACHE, open_more)                        \
	/* NFS_LOCK that unlocks */                                                                \
	KIND(NFS4_K_LOCKU, "LOCKU", NFS4_KF_CACHE, locku)                                          \
	KIND(NFS4_K_LOCK_FREE, "FREE_STATEID of a lock-owner", NFS4_KF_CACHE, lock_free)           \
	/* the first attempt at an NFS_COPY */                                                     \
	KIND(NFS4_K_CLONE, "CLONE", NFS4_KF_CHANGES, clone)                                        \
	/* an NFS_COPY that the server carries out by itself */                                    \
	KIND(NFS4_K_OFFLOAD_STATUS, "OFFLOAD_STATUS", 0, offload_status)                           \
	/* after an NFS_COPY that is no longer wanted */                                           \
	KIND(NFS4_K_OFFLOAD_CANCEL, "OFFLOAD_CANCEL", 0, offload_cancel)                           \
	KIND(NFS4_K_READ_PLUS, "READ_PLUS", 0, read_plus)                                          \
	KIND(NFS4_K_APPEND, "WRITE at the end", NFS4_KF_ONCE, append)                              \
	KIND(NFS4_K_WRITE_SET, "WRITE and SETATTR", NFS4_KF_ONCE, write)                           \
	/* of a WRITE that data servers have carried out */                                        \
	KIND(NFS4_K_LAYOUTCOMMIT, "LAYOUTCOMMIT", NFS4_KF_CHANGES, layoutcommit)                   \
	/* from here on: the back end's own, see struct nfs4_sync */                               \
	SERVER_KIND(NFS4_K_SEQUENCE, "SEQUENCE", 0, sequence)                                      \
	KIND(NFS4_K_DELEGRETURN, "DELEGRETURN", NFS4_KF_CACHE, delegreturn)                        \
	/* a local open becomes a real one */                                                      \
	KIND(NFS4_K_DELEG_OPEN, "OPEN of what was delegated", NFS4_KF_CACHE, deleg_open)           \
	/* a local lock becomes a real one */                                                      \
	KIND(NFS4_K_DELEG_LOCK, "LOCK of what was delegated", NFS4_KF_CACHE, deleg_lock)           \
	SERVER_KIND(NFS4_K_EXCHANGE_ID, "EXCHANGE_ID", NFS4_KF_NOSEQ, exchange_id)                 \
	SERVER_KIND(NFS4_K_CREATE_SESSION, "CREATE_SESSION", NFS4_KF_NOSEQ, create_session)        \
	SERVER_KIND(NFS4_K_BIND, "BIND_CONN_TO_SESSION", NFS4_KF_NOSEQ, bind)                      \
	SERVER_KIND(NFS4_K_DESTROY_SESSION, "DESTROY_SESSION", NFS4_KF_NOSEQ, destroy_session)     \
	SERVER_KIND(NFS4_K_DESTROY_CLIENTID, "DESTROY_CLIENTID", NFS4_KF_NOSEQ, destroy_clientid)  \
	SERVER_KIND(NFS4_K_RECLAIM_COMPLETE, "RECLAIM_COMPLETE", NFS4_KF_CACHE, reclaim_complete)  \
	KIND(NFS4_K_WALK, "LOOKUP of the export", 0, walk)                                         \
	/* also an op that was answered NFS4ERR_MOVED */                                           \
	KIND(NFS4_K_LOCATIONS, "GETATTR of the locations", 0, locations)                           \
	KIND(NFS4_K_REPLICAS, "GETATTR of the replicas", 0, replicas)                              \
	KIND(NFS4_K_FSINFO, "GETATTR of the export", 0, fsinfo)                                    \
	KIND(NFS4_K_REOPEN, "OPEN anew", NFS4_KF_CACHE, reopen)                                    \
	KIND(NFS4_K_REDELEG, "OPEN of what is delegated anew", NFS4_KF_CACHE, redeleg)             \
	KIND(NFS4_K_RELOCK, "LOCK anew", NFS4_KF_CACHE, relock)                                    \
	KIND(NFS4_K_LAYOUTGET, "LAYOUTGET", 0, layoutget)                                          \
	KIND(NFS4_K_GETDEVICEINFO, "GETDEVICEINFO", 0, getdeviceinfo)                              \
	KIND(NFS4_K_LAYOUTRETURN, "LAYOUTRETURN", NFS4_KF_CACHE, layoutreturn)                     \
	/* struct nfs4_layout_report */                                                            \
	KIND(NFS4_K_LAYOUTERROR, "LAYOUTERROR", 0, layouterror)                                    \
	KIND(NFS4_K_LAYOUTSTATS, "LAYOUTSTATS", 0, layoutstats)                                    \
	SERVER_KIND(NFS4_K_TEST_STATEID, "TEST_STATEID", 0, test_stateid)                          \
	SERVER_KIND(NFS4_K_FREE_STATEID, "FREE_STATEID", NFS4_KF_CACHE, free_stateid)

#define NUMBER(id, ...) id,
enum nfs4_kind_id { NFS4_K_TYPES = NFS_OP_TYPES - 1, NFS4_OWN_KINDS(NUMBER, NUMBER) NFS4_KINDS };
#undef NUMBER

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
