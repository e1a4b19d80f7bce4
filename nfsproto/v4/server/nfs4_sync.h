/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_sync: blocking calls. The callers are the thread that establishes or ends a server, the
 * state manager, and a mount that asks a running server.
 *
 * A sync op is never retried without its caller: each failure is returned, with the nfsstat4 beside
 * the errno. Sync ops of the state manager pass the gate and never queue for a slot. While no state
 * manager runs, all sync ops pass the gate. Sync ops of other threads wait like any op.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SYNC_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SYNC_H

#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/v4/server/nfs4_server.h"

#define NFS4_WHERE_MAX 300 /* of other servers named in a sentence */

struct nfs4_deleg;
struct nfs4_device_info;
struct nfs4_layoutreturn;
struct nfs4_lockctx;
struct nfs4_replicas;

struct nfs4_sync {
	struct nfs_op op;
	struct mutex lock;
	pthread_cond_t cond;
	bool ended GUARDED_BY(lock);
	/* how the op ended */
	uint32_t status; /* the nfsstat4 behind op.error; 0: none */
	uint32_t walked; /* operations that succeeded before the end */
	/* in and out, by kind */
	union {
		struct {
			bool compare; /* in: keep nothing of the server's owner */
			uint64_t clientid;
			uint32_t sequence, flags;
			bool same; /* with compare: owner and scope are those that are kept */
		} exchange_id;
		struct {
			const char *path;  /* names separated by one '/', no leading one */
			uint32_t from_len; /* 0: from the root of the server, else fh */
			struct nfs_fh fh;  /* in and out */
			struct nfs_attr attr;
			struct nfs_places *places; /* NFS4_K_LOCATIONS: out, or NULL; free() */
		} walk;
		struct {			    /* NFS4_K_REPLICAS: out */
			struct nfs4_replicas *list; /* NULL: not told; free() */
			uint32_t lease_s;	    /* seconds; 0: not told */
		} replicas;
		struct nfs4_attrs fsinfo; /* mask, in: attributes to ask for; out: those that came
					   */
		struct {
			struct nfs_open *open;
			bool reclaim; /* CLAIM_PREVIOUS, else CLAIM_FH */
			struct nfs4_stateid stateid;
		} reopen;
		struct {
			struct nfs4_deleg *deleg;
			/* out */
			enum open_delegation_type4 type;
			struct nfs4_stateid stateid;
			bool recall;
			struct nfs_data_attr attr;
		} redeleg;
		struct {
			struct nfs4_lockctx *ctx;
			struct lock_range range;
		} relock;
		struct {
			struct nfs4_stateid ids[32];
			uint32_t n;
			uint32_t code[32];
		} test;
		struct nfs4_stateid free_id;
		/* nfs4_device.h, nfs4_layout.h */
		struct nfs4_device_info *device;
		const struct nfs4_layoutreturn *layoutreturn;
	} u;
};

/* Runs one op of a kind that is about the server, and waits at most timeout_ms for its end. Not on
 * a progress thread. Returns op.error: 0; -EAGAIN (no slot, for an op that passes the gate);
 * -ETIMEDOUT (silence; or nfs_mount_params.abort_fd); -EINTR (the server stops, or the visited user
 * quits); ... */
int nfs4_sync_run(struct nfs4_server *srv, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms);
/* The same on a certain connection, for u (NULL: no user) as cred, about o (or NULL). */
int nfs4_sync_run_as(struct nfs4_conn *conn, struct nfs4_user *u, const struct rpc_cred *cred,
	struct nfs_open *o, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms);

#endif
