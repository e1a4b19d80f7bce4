/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_backend: the interface of an NFS version to nfs_client.c, inside the nfsproto layer.
 *
 * A back end's client begins with a `struct nfs_client`. The front checks parameters and operations
 * (lengths, names, sizes) before it hands them to the back end. So a back end sees only sane input.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_BACKEND_H
#define RNFS_NFSPROTO_COMMON_NFS_BACKEND_H

#include <stdatomic.h>
#include <stddef.h>

#include "nfsproto/common/nfs_count.h"
#include "nfsproto/common/nfs_mount.h"
#include "nfsproto/common/nfs_record.h"

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* The outcome of an op's call, and how the op goes on. */
enum nfs_outcome {
	NFS_DONE,    /* the op has succeeded */
	NFS_AGAIN,   /* call at once, of the kind set meanwhile */
	NFS_LATER,   /* the same after a pause */
	NFS_RECOVER, /* call again after recovery of the state that the op relies on */
	NFS_STATUS,  /* the server answered with an error, which is kept with the answer */
	NFS_FAILED,  /* the op ends with the negative errno in op->error */
};

/* error: negative, or 0. */
static inline enum nfs_outcome nfs_failed(struct nfs_op *op, int error)
{
	op->error = error;
	return error ? NFS_FAILED : NFS_DONE;
}

struct nfs_backend {
	/* nfs_client_new() after the checks. */
	struct nfs_client *(*mount)(const struct nfs_mount_params *p, struct err *e);
	/* nfs_client_free(), never NULL. */
	void (*unmount)(struct nfs_client *c);
	/* nfs_submit() of an op that passed the checks. op->client, error and the back end's
	 * members have their initial values. */
	void (*submit)(struct nfs_client *c, struct nfs_op *op);
	/* nfs_cancel(); at_once false: nfs_interrupt(). */
	void (*cancel)(struct nfs_client *c, struct nfs_op *op, bool at_once);
	/* nfs_deleg_holds() etc.; NULL: the version has no delegations. id is not 0. */
	bool (*deleg_holds)(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
	struct nfs_open *(*deleg_open)(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
		int flags, const struct rpc_cred *cred);
	void (*deleg_give_back)(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
	/* nfs_locks_doubtful(); NULL: never. */
	bool (*locks_doubtful)(struct nfs_client *c, const struct nfs_open *o);
	/* nfs_lock_guard(); NULL: always 0. */
	uint64_t (*lock_guard)(
		struct nfs_client *c, const struct nfs_open *o, uint64_t first, uint64_t last);
	void (*deleg_flushed)(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
	/* nfs_client_settle(), nfs_client_record(). */
	const char *(*settle)(struct nfs_client *c);
	void (*record)(
		struct nfs_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x);
	/* nfs_former.h; NULL: the version keeps no notes */
	void (*answered)(struct nfs_client *c, uint64_t request);
	bool (*has_changes)(struct nfs_client *c, uint64_t request);
	void (*replays_end)(struct nfs_client *c);
	uint64_t (*note_number)(const struct nfs_open *o);
	struct nfs_open *(*former_open)(struct nfs_client *c, uint64_t number);
	void (*former_end)(struct nfs_client *c);
	uint64_t (*former_deleg)(struct nfs_client *c, const struct nfs_fh *fh, bool *writes);
	void (*discard)(struct nfs_open *o);
};

struct nfs_more;

struct nfs_client {
	const struct nfs_backend *backend;
	struct rpc_client *rpc; /* the first connection */
	struct rpc_client *const
		*rpcs; /* all, for statistics; they change only in nfs_client_free() */
	unsigned nrpcs;
	/* connections beside those of the mount's server; NULL: none; stays until unmount() */
	struct nfs_more *_Atomic more;
	/* constant */
	const struct nfs_client_upcalls *up; /* NULL: none */
	void *up_ctx;
	/* the user makes its files anew (nfs_former.h), and hears nothing of them until then */
	atomic_bool remaking;
	/* constant after mount; info.rpc is filled in at each query */
	struct nfs_client_info info;
	struct nfs_fh root;
	struct nfs_attr root_attr;
	struct nfs_counts counts;
	uint64_t leave_by;		    /* nfs_client_leave_by() */
	const struct rpc_client_params *rp; /* of the first connection, with its peer */
	/* of the mount; NULL: referrals are not followed */
	struct nfs_submounts *submounts;
	/* of a submount, constant: its number, 0: the mount itself; for its fsids */
	uint16_t number;
	uint64_t fsid_mix;
};

/* A back end's struct nfs_open begins with this. */
struct nfs_open_head {
	struct nfs_client *client; /* constant */
};

static inline struct nfs_client *nfs_open_client(const struct nfs_open *o)
{
	return ((const struct nfs_open_head *)o)->client;
}

/* Sets up the common part of a back end's client, with the upcalls. */
void nfs_client_init(
	struct nfs_client *c, const struct nfs_backend *backend, const struct nfs_mount_params *p);
/* The latest time, on clock_ns(), for the end of a step of leaving the server. ms: how long the
 * step may usually last. */
uint64_t nfs_leave_until(const struct nfs_client *c, unsigned ms);
/* Calls the upcall, if there is one. No lock may be held, but one that orders the news. */
void nfs_tell_recalled(struct nfs_client *c, const struct nfs_fh *fh);
/* Without the upcall there is no data to flush. */
bool nfs_tell_flush(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
bool nfs_tell_inquired(struct nfs_client *c, const struct nfs_fh *fh, uint64_t *size,
	uint64_t *change, bool *modified);
void nfs_tell_lost(struct nfs_client *c, const struct nfs_fh *fh, enum nfs_lost what);
void nfs_tell_attributes(struct nfs_client *c, const struct nfs_fh *fh,
	const struct nfs_data_attr *attr, uint64_t asked);
void nfs_tell_connection(struct nfs_client *c, enum nfs_connection what);
/* Attributes from c's server, as the callers of the mount know them. */
static inline void nfs_own_attr(const struct nfs_client *c, struct nfs_attr *a)
{
	a->fsid_major ^= c->fsid_mix;
}

/* Hands an entry that came for op, a READDIR, to its caller. False: no more are wanted. */
static inline bool nfs_tell_entry(struct nfs_op *op, struct nfs_dirent *ent)
{
	ent->fh.server = op->client->number;
	if (ent->have_attr)
		nfs_own_attr(op->client, &ent->attr);
	return op->u.readdir.entry(op, ent);
}

#endif
