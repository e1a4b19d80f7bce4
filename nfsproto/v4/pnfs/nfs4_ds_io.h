/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ds_io: a READ or WRITE at one data server, of any version of NFS.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_DS_IO_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_DS_IO_H

#include <sys/queue.h>

#include "nfsproto/common/nfs_op.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "transport/rpc/rpc.h"

struct nfs4_ds;

struct nfs4_ds_io {
	/* in */
	struct nfs4_ds *ds;
	bool write;
	bool moves; /* a READ's data may stay elsewhere: rpc_call.moves */
	uint64_t offset;
	struct seg_list data; /* the bytes to write, or the place for the bytes read */
	struct nfs_fh fh;
	struct nfs4_stateid stateid; /* for NFSv4 */
	struct rpc_cred cred;
	void (*done)(struct nfs4_ds_io *io);
	void *ctx;
	/* out */
	uint32_t status; /* nfsstat4. NFS4ERR_NXIO: no answer. NFS4ERR_DELAY: not now */
	uint32_t count;	 /* a READ's; a WRITE has written all */
	bool eof;
	struct seg_list moved; /* as rpc_call.moved */
	/* the data server's */
	const char *name;	      /* of the data server, for messages */
	struct rpc_call call;	      /* NFSv3 */
	struct nfs_op *op;	      /* NFSv4 */
	TAILQ_ENTRY(nfs4_ds_io) link; /* NFSv3, if listed */
	bool listed;		      /* with the calls under way; under the lock of those */
};

/* Ends io. */
static inline void nfs4_ds_io_end(struct nfs4_ds_io *io, uint32_t status)
{
	io->status = status;
	io->done(io);
}
/* The status of a call that ended with error (negative), without results. */
uint32_t nfs4_ds_io_status(int error);
/* Takes the results of a READ, whose data call has as payload 0 at x, or of a WRITE. 0; or
 * -EBADMSG: malformed, or a WRITE that did not put all on stable storage. */
int nfs4_ds_io_read(struct nfs4_ds_io *io, struct rpc_call *call, struct xdr_in *x, bool eof);
int nfs4_ds_io_wrote(const struct nfs4_ds_io *io, uint32_t count, uint32_t committed);

#endif
