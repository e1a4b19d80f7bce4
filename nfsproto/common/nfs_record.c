/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_record: the items of a mount's record for its successor.
 */
#include "nfsproto/common/nfs_record.h"

#include "transport/rpc/fields.h"

static const struct field attr_fields[] = {
	FIELD(struct nfs_attr, type),
	FIELD(struct nfs_attr, mode),
	FIELD(struct nfs_attr, nlink),
	FIELD(struct nfs_attr, uid),
	FIELD(struct nfs_attr, gid),
	FIELD(struct nfs_attr, rdev_major),
	FIELD(struct nfs_attr, rdev_minor),
	FIELD(struct nfs_attr, size),
	FIELD(struct nfs_attr, used),
	FIELD(struct nfs_attr, fsid_major),
	FIELD(struct nfs_attr, fsid_minor),
	FIELD(struct nfs_attr, fileid),
	FIELD(struct nfs_attr, change),
	FIELD(struct nfs_attr, atime.tv_sec),
	FIELD(struct nfs_attr, atime.tv_nsec),
	FIELD(struct nfs_attr, mtime.tv_sec),
	FIELD(struct nfs_attr, mtime.tv_nsec),
	FIELD(struct nfs_attr, ctime.tv_sec),
	FIELD(struct nfs_attr, ctime.tv_nsec),
};

void nfs_record_put_fh(struct xdr_out *x, const struct nfs_fh *fh)
{
	xdr_put_opaque(x, fh->data, fh->len);
	xdr_put_u32(x, fh->server);
}

void nfs_record_get_fh(struct xdr_in *x, struct nfs_fh *fh)
{
	uint32_t len, server;
	const uint8_t *data = xdr_get_opaque(x, NFS_FH_MAX, &len);

	fh->len = data ? len : 0;
	if (data)
		memcpy(fh->data, data, len);
	server = xdr_get_u32(x);
	fh->server = (uint16_t)server;
	if (!fh->len || server > UINT16_MAX)
		xdr_in_fail(x);
}

void nfs_record_put_cred(struct xdr_out *x, const struct rpc_cred *cred)
{
	xdr_put_u32(x, cred->flavor);
	xdr_put_u32(x, cred->uid);
	xdr_put_u32(x, cred->gid);
	xdr_put_u32(x, cred->ngids);
	for (uint32_t i = 0; i < cred->ngids; i++)
		xdr_put_u32(x, cred->gids[i]);
}

void nfs_record_get_cred(struct xdr_in *x, struct rpc_cred *cred)
{
	uint32_t flavor = xdr_get_u32(x);

	*cred = (struct rpc_cred){.flavor = (enum rpc_flavor)flavor};
	if (flavor != RPC_AUTH_SYS && flavor != RPC_AUTH_NONE)
		xdr_in_fail(x);
	cred->uid = xdr_get_u32(x);
	cred->gid = xdr_get_u32(x);
	cred->ngids = xdr_get_count(x, RPC_MAX_GIDS, 4);
	for (uint32_t i = 0; i < cred->ngids; i++)
		cred->gids[i] = xdr_get_u32(x);
}

void nfs_record_put_attr(struct xdr_out *x, const struct nfs_attr *attr)
{
	fields_put(x, attr, FIELDS(attr_fields));
}

void nfs_record_get_attr(struct xdr_in *x, struct nfs_attr *attr)
{
	fields_get(x, attr, FIELDS(attr_fields));
	if ((unsigned)attr->type > NFS_FIFO)
		xdr_in_fail(x);
}

void nfs_record_put_text(struct xdr_out *x, const char *text)
{
	xdr_put_opaque(x, text, (uint32_t)strlen(text));
}

void nfs_record_get_text(struct xdr_in *x, char *dst, uint32_t size)
{
	uint32_t len;
	const uint8_t *text = xdr_get_opaque(x, size - 1, &len);

	dst[0] = 0;
	if (!text)
		return;
	memcpy(dst, text, len);
	dst[len] = 0;
	if (strlen(dst) != len)
		xdr_in_fail(x);
}
