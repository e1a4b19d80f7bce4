/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ds_io: a READ or WRITE at one data server.
 */
#include "nfsproto/v4/pnfs/nfs4_ds_io.h"

#include <errno.h>

#include "transport/log.h"

uint32_t nfs4_ds_io_status(int error)
{
	switch (error) {
	case -ENOMEM: /* this machine's trouble */
	case -EAGAIN: /* not sent, as there is no session */
		return NFS4ERR_DELAY;
	case -EACCES:
		return NFS4ERR_ACCESS;
	case -EPROTO:
	case -EBADMSG:
	case -EREMOTEIO:
	case -EIO:
	case -EMSGSIZE:
		return NFS4ERR_IO;
	default:
		return NFS4ERR_NXIO;
	}
}

int nfs4_ds_io_read(struct nfs4_ds_io *io, struct rpc_call *call, struct xdr_in *x, bool eof)
{
	uint32_t n;

	if (rpc_call_take_sink(call, x, 0, &n) || (n == 0 && !eof)) {
		log_warn("data server %s: the answer to a READ of %u bytes at %llu is malformed: "
			 "server bug",
			io->name, io->data.len, (unsigned long long)io->offset);
		return -EBADMSG;
	}
	io->moved = call->moved;
	io->count = n;
	io->eof = eof;
	return 0;
}

int nfs4_ds_io_wrote(const struct nfs4_ds_io *io, uint32_t count, uint32_t committed)
{
	if (count == io->data.len && committed == NFS_FILE_SYNC)
		return 0;
	if (count > io->data.len || committed != NFS_FILE_SYNC)
		log_warn("data server %s: a WRITE of %u bytes at %llu was answered with %u bytes, "
			 "stability %u: server bug",
			io->name, io->data.len, (unsigned long long)io->offset, count, committed);
	return -EBADMSG; /* the rest goes another way with the whole */
}
