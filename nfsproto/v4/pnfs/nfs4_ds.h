/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ds: a data server: the connection to it, and READ and WRITE by NFSv3, or by NFSv4.1 and 4.2
 * (nfs4_ds_v4.h; RFC 8435 section 2).
 *
 *     NEW --connected--> UP <--> LOST (the transport connects again, with growing pauses)
 *
 * A data server of the file layout type is reached as the metadata server's client: with the same
 * co_ownerid and verifier (RFC 8881 section 13.1). If the data server is the metadata server, its
 * session serves for both.
 *
 * A call waits for no connection. A call at a data server that is not UP ends at once, and so do
 * all calls under way when the connection is lost, or when a call has no answer within
 * NFS4_DS_TIMEO_MS. The metadata server can carry each of them out.
 *
 * A WRITE is FILE_SYNC: RFC 8435 section 2.1 wants the data to be stable before LAYOUTCOMMIT.
 *
 * Threads. The owner, one thread, makes, connects and frees. Any thread may start calls. `done` is
 * called on the progress thread of the connection, or on the thread of nfs4_ds_start(), no lock
 * held.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_DS_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_DS_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "nfsproto/v4/pnfs/nfs4_ds_v4.h"

#define NFS4_DS_PLACES	 4     /* addresses of one data server that are tried */
#define NFS4_DS_TIMEO_MS 10000 /* or the mount's timeo, if shorter */
#define NFS4_DS_NAME_MAX 64

/* An address as a device names it. */
struct nfs4_ds_place {
	struct sockaddr_storage ss;
	socklen_t len;
	enum rpc_proto proto;
	char name[NFS4_DS_NAME_MAX]; /* for messages: "10.0.0.1:2049" */
};

/* The address in a netaddr4 (RFC 5665 section 5.2.3.4). rdma: the transport that the netid rdma
 * stands for. False: malformed, of an unknown network, without a port, or no single host. */
bool nfs4_ds_place(struct nfs4_ds_place *p, const struct nfs4_netaddr *a, enum rpc_proto rdma);

bool nfs4_ds_same_place(const struct nfs4_ds_place *a, const struct nfs4_ds_place *b);

/* What all data servers of a mount have in common. */
struct nfs4_ds_common {
	struct rpc_client_params rp; /* of their connections */
	struct rpc_cred cred;	     /* of sessions */
	const struct nfs4_kind *kinds;
	struct nfs4_server *metadata;
	void (*news)(void *ctx); /* the owner is to call nfs4_ds_give_up(); any thread */
	void *ctx;
};

struct nfs4_ds {
	LIST_ENTRY(nfs4_ds) link; /* the owner's */
	/* constant */
	unsigned minor;	  /* of NFSv4; 0: NFSv3 */
	bool same_client; /* as that of the metadata server */
	unsigned nplaces;
	struct nfs4_ds_place place[NFS4_DS_PLACES];

	/* the owner's: the place that answered, the first until then; NEW: when to try again, and
	 * how often in vain so far */
	char name[NFS4_DS_NAME_MAX];
	unsigned answered; /* the number of that place */
	uint64_t again_ns;
	atomic_uint tries; /* any thread reads it */
	/* devices that name ds, and READs and WRITEs that point here; not freed before all have
	 * gone, but at the end of the mount */
	atomic_uint users;

	/* one of them: NULL: NEW; constant from then on */
	struct rpc_client *_Atomic rpc;
	struct nfs4_ds_v4 *_Atomic v4;
	/* of NFSv3 */
	atomic_bool lost;
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(, nfs4_ds_io) calls; /* under way */
	bool closing GUARDED_BY(lock);
};

/* A data server with these n places, at least one; not connected. minor: 1 or 2 of NFSv4, or 0:
 * NFSv3. same_client: of the file layout type. NULL: no memory. */
struct nfs4_ds *nfs4_ds_new(
	const struct nfs4_ds_place *place, unsigned n, unsigned minor, bool same_client);
/* Ends the calls under way and the connection. Later calls end at once. May block for some seconds.
 * Not from done. */
void nfs4_ds_end(struct nfs4_ds *ds);
/* The same, and frees ds. Accepts NULL, returns NULL. */
struct nfs4_ds *nfs4_ds_free(struct nfs4_ds *ds);
/* One more user of ds, by a pointer that another user keeps valid. Any thread. */
static inline void nfs4_ds_use(struct nfs4_ds *ds)
{
	atomic_fetch_add_explicit(&ds->users, 1, memory_order_relaxed);
}
/* A user of ds has gone. Accepts NULL. Any thread. */
static inline void nfs4_ds_leave(struct nfs4_ds *ds)
{
	if (ds) /* release: the user's last access comes before */
		atomic_fetch_sub_explicit(&ds->users, 1, memory_order_release);
}
static inline bool nfs4_ds_is_used(const struct nfs4_ds *ds)
{
	return atomic_load_explicit(&ds->users, memory_order_acquire) != 0;
}
/* Connects ds, which is NEW. Blocks for some seconds; with NFSv3 at most until common->rp.abort_fd
 * is readable. False: *e tells why not. */
bool nfs4_ds_connect(struct nfs4_ds *ds, const struct nfs4_ds_common *common, struct err *e);
static inline bool nfs4_ds_is_new(const struct nfs4_ds *ds)
{
	return !ds->rpc && !ds->v4;
}
/* The connection of ds, which is not NEW. */
struct rpc_client *nfs4_ds_rpc(struct nfs4_ds *ds);
/* Is ds UP? Any thread. */
bool nfs4_ds_is_up(const struct nfs4_ds *ds);
/* Was ds found to be out of reach? A data server that is about to be connected is neither up nor
 * down. Any thread. */
bool nfs4_ds_is_down(const struct nfs4_ds *ds);
/* Ends the calls of a connection that was lost. The owner. */
void nfs4_ds_give_up(struct nfs4_ds *ds);
/* Starts io, whose inputs are set, and all else is zeros. done is called exactly once, perhaps
 * before this function returns. */
void nfs4_ds_start(struct nfs4_ds_io *io);
/* Has io, which was started, end soon if it is under way. io must not be freed meanwhile. Any
 * thread. */
void nfs4_ds_cancel(struct nfs4_ds_io *io);
/* Ends all calls under way soon. Later ones end at once. Any thread. */
void nfs4_ds_close(struct nfs4_ds *ds);

#endif
