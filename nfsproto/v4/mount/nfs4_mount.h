/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_mount: one mount with NFSv4.1 or later: an export of a server (nfs4_server.h), with the
 * open files and locks of the mount. Only files of nfsproto/v4 include this header, and no file
 * about the server does.
 *
 * The files of mount, from below. Each includes, and calls, only files above it in this list.
 *
 *     nfs4_deleg.h, nfs4_lock.h  models and data of delegations and locks
 *     nfs4_mount                 the data of a mount, and its calls
 *     nfs4_names                 owners by name
 *     nfs4_open                  one open
 *     nfs4_deleg_note            the note of a delegation
 *     nfs4_deleg_table           the delegations, and local opens
 *     nfs4_openreq               OPEN and CLOSE
 *     nfs4_lockctx, nfs4_lock_wait, nfs4_lock_io, nfs4_lock_local, nfs4_lockreq, nfs4_locking,
 *     nfs4_lock_push             locks
 *     nfs4_deleg_return, nfs4_deleg_along
 *                                the ways of a delegation back to the server
 *     nfs4_disowned              stateids that the server refuses
 *     nfs4_lock_recover, nfs4_open_recover, nfs4_deleg_recover
 *                                state after a loss
 *
 * Locks. The mount's own lock guards the mount's lists, and is held only for a short time. The
 * state of the mount's ops is the server's business. Order: cb.lock, locks.lock, the mount's lock,
 * slots.lock, nfs_open.lock. READ, WRITE and all ops that look at a file take none of the mount's
 * locks. Where the file is locked, they take locks.lock.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_MOUNT_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_MOUNT_H

#include "nfsproto/v4/mount/nfs4_deleg.h"
#include "nfsproto/v4/mount/nfs4_lock.h"
#include "nfsproto/v4/server/nfs4_sync.h"
#include "transport/ledger.h"

#define NFS4_OFFLOADS 16u

/* The end of an asynchronous copy: CB_OFFLOAD came before any op waited for it. */
struct nfs4_offload {
	bool set;
	uint8_t other[NFS4_STATEID_OTHER];
	uint32_t status;
	struct nfs4_write_response response; /* NFS4_OK */
};

struct idmap;
struct nfs4_pnfs;

struct nfs4_client {
	struct nfs_client base; /* first */
	struct nfs4_user user;	/* the mount as the server's user */
	/* constant after mount */
	struct nfs4_server *srv;
	struct rpc_cred cred; /* of the mount itself */
	unsigned connect_ms;
	struct idmap *idmap; /* NULL: numbers only */
	enum nfs_idmap idmap_mode;
	atomic_bool send_names;	      /* instead of numbers */
	struct nfs4_bitmap supported; /* in the root's file system; other file systems may differ */
	struct nfs4_bitmap
		stat_want; /* nfs4_bits_stat(): without the bits that a file system lacks */
	struct nfs4_bitmap data_want; /* nfs4_bits_data(), and CHANGE_ATTR_TYPE if the server's
					 change attribute counts changes */
	struct nfs4_bitmap exclcreat; /* attributes that may go with an exclusive create */
	bool migrates;		      /* the option migration: nfs4_move.h */
	/* the option replication, and a server that names replicas: nfs4_replication.h */
	atomic_bool replicates;
	bool read_only;			    /* constant with replicates: the option ro */
	bool read_plus;			    /* use READ_PLUS if the server has it */
	enum nfs_delegations delegs_wanted; /* the kind to ask for */
	uint32_t clone_blksize;		    /* a power of two, or 0: try any alignment */
	uint32_t layout_types;		    /* of the root's file system: bits 1 << layouttype4 */
	struct nfs4_pnfs *_Atomic pnfs;	    /* nfs4_pnfs.h; NULL: data goes through the server */

	struct {			     /* nfs4_replication.h: the state manager's */
		struct nfs4_replicas *known; /* as the server of now has told them last, or NULL */
		uint64_t ask_ns;	     /* when to ask for them next */
		uint64_t heard_ns;	     /* when the server last gave a sign of life, */
		uint64_t since_ns; /* and since when it owes one, as far as was seen; 0: does not */
		uint64_t looked_ns; /* when that was last looked at */
		uint64_t try_ns;    /* when to try the replicas next */
		bool held;	    /* the log says why the mount stays */
		bool arrived;	    /* at replica `at`, whose root has not been seen yet */
		unsigned at;
		char told[NFS4_WHERE_MAX];    /* the last places in the log */
		struct sockaddr_storage home; /* with arrived: the address left */
		socklen_t home_len;
	} replica;

	struct ledger
		*ledger;  /* constant: for notes of the mount's state (nfs_former.h), or NULL */
	struct note note; /* nfs4_mount_note(): of the thread that mounts and unmounts */
	uint64_t reclaim_until_ns; /* the state manager's: time limit for repeating delayed reclaims
				    */

	struct nfs4_locks locks;

	struct mutex lock ACQUIRED_AFTER(locks.lock)
		ACQUIRED_BEFORE(LOCK_OF(struct nfs4_slots, lock));
	GUARDED_BY(lock) TAILQ_HEAD(, nfs_open) opens;
	unsigned nown GUARDED_BY(lock); /* own ops under way */
	pthread_cond_t idle;		/* nown has become 0 */
	struct nfs4_delegs delegs GUARDED_BY(lock);
	struct nfs4_offload offload[NFS4_OFFLOADS] GUARDED_BY(lock);
	unsigned next_offload GUARDED_BY(lock);
	struct {		   /* nfs4_move.h */
		bool wanted;	   /* an op, or the server, says that a file system has moved */
		uint64_t try_ns;   /* wanted: when to ask next */
		uint64_t there_ns; /* when the root was last found at the server; 0: never */
	} move GUARDED_BY(lock);
	struct {			      /* nfs4_move.h: the state manager's */
		unsigned hops;		      /* moves since the root was last found */
		bool arrived;		      /* at a server whose root has not been found yet */
		struct sockaddr_storage home; /* with arrived: the address left */
		socklen_t home_len;
	} moving;
	/* the last place told for a moved file system */
	char moved[NFS4_WHERE_MAX] GUARDED_BY(lock);
	uint64_t moved_ns GUARDED_BY(lock); /* when; 0: never */
};

/* For annotations: the mount's lock. */
#define NFS4_MOUNT LOCK_OF(struct nfs4_client, lock)

static inline struct nfs4_client *nfs4_client(struct nfs_client *c)
{
	return (struct nfs4_client *)c;
}

static inline struct nfs4_client *nfs4_client_of(struct nfs4_user *u)
{
	return container_of(u, struct nfs4_client, user);
}

/* nfs4_task_bind() for one of the mount's ops, on the next connection in turn. */
void nfs4_mount_bind(struct nfs4_client *c, struct nfs_op *op, unsigned kind);
/* nfs4_sync_run_as() with the mount's own credential, about no open. */
int nfs4_mount_run(struct nfs4_client *c, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms);
/* Own ops, of opens, locks and delegations, are counted. The count goes up before the op starts and
 * down after its last access to any memory. */
void nfs4_own_begins(struct nfs4_client *c);
void nfs4_own_ended(struct nfs4_client *c);
/* A reclaim was answered with status. True: the server puts reclaims off, and the pause is over:
 * send the reclaim again. The state manager's thread. */
bool nfs4_reclaim_put_off(struct nfs4_client *c, uint32_t status);
/* May the server have revoked state, at `now`, without our knowing? */
bool nfs4_mount_unsure(const struct nfs4_client *c, uint64_t now);

#endif
