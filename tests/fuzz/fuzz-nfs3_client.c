/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Messages that a server may send to the NFSv3 client: results of any kind of call (the first byte
 * says which), and a portmapper's addresses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/common/nfs3_aux.h"
#include "nfsproto/v3/nfs3_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nfs3_client c;

static bool entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	if (ent->namelen == 0 || memchr(ent->name, '/', ent->namelen) || ent->cookie == 1 ||
		ent->cookie == 2)
		abort();
	return ent->fileid % 5 != 0;
}

/* how: which of the kind's procedures */
static void results(unsigned kind, uint8_t how, const uint8_t *data, size_t size)
{
	static struct nfs_open open;
	static char link[64];
	struct nfs_op op = {
		.type = kind < NFS_OP_TYPES ? (enum nfs_op_type)kind : NFS_OPEN,
		.client = &c.base,
		.be.v3 = {.open = &open, .kind = (uint8_t)kind},
	};
	struct nfs3_args a;
	struct nfs3_res r;
	struct xdr_in x;

	if (kind == NFS_READLINK) {
		op.u.readlink.buf = link;
		op.u.readlink.size = sizeof(link);
	}
	if (kind == NFS_READDIR) {
		op.u.readdir.plus = how & 1;
		op.u.readdir.entry = entry;
	}
	if (kind == NFS_CREATE)
		op.u.create.type = how & 1 ? NFS_DIR : NFS_FIFO;
	atomic_store(&c.no_plus, false);
	atomic_store(&c.no_exclusive, false);
	nfs3_kinds[kind].put(&c, &op, &a);
	op.be.v3.proc = (uint8_t)a.proc;
	xdr_in_init(&x, data, size);
	if (nfs3_get_res(&x, a.proc, &r))
		return;
	if (r.u.status == NFS3_OK)
		nfs3_kinds[kind].get(&c, &op, &r, &x);
	else if (nfs3_kinds[kind].fail)
		nfs3_kinds[kind].fail(&c, &op, r.u.status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned kind;

	if (size < 2)
		return 0;
	nfs3_aux_uaddr_port((const char *)data, (uint32_t)size);
	kind = data[0] % NFS3_KINDS;
	/* the transport places the data of a READ */
	if (nfs3_kinds[kind].get && kind != NFS_READ)
		results(kind, data[1], data + 2, size - 2);
	return 0;
}
