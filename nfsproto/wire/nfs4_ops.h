/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops: the table of the operations of NFSv4: RFC 8881, from ALLOCATE on RFC 7862, from
 * GETXATTR on RFC 8276. The numbers and names (nfs4.h), the arguments of any operation
 * (nfs4_xdr.h), and the upper-layer binding (ulb.h) are derived from the table. A row has
 *
 *     the operation, and its number
 *     the name X of its arguments: struct nfs4_X_args, read by nfs4_get_X_args
 *     the largest result behind number and status, a sum of the items that ulb.c names. var is the
 *         part that only the caller knows:
 *             GETATTR             ulb_nfs4_attrs_max() of the bitmap
 *             READDIR, LISTXATTRS maxcount, which is the bound of all that the result holds
 *             READLINK            most bytes of the target
 *             READ                bytes of data that come inline: 0 when a sink takes them
 *             GETDEVICEINFO, LAYOUTGET
 *                                 maxcount
 *             TEST_STATEID        number of stateids
 *             READ_PLUS           bytes asked for (a server that cuts the bytes into more pieces
 *                                 than there are pages gives a reply that does not fit)
 *             GETXATTR            most bytes of the value
 *             others              0
 *     its item that may be placed directly, an argument or a result: enum ulb_ddp
 *
 * OP is the first operation with such arguments, LIKE another one with the same. The coders do not
 * know an ALIEN operation.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_OPS_H
#define RNFS_NFSPROTO_WIRE_NFS4_OPS_H

#define NFS4_SKIP(...) /* for rows without a meaning here */

#define NFS4_OPS(OP, LIKE, ALIEN)                                                                  \
	OP(OP_ACCESS, 3, access, 2 * W, NONE)                                                      \
	OP(OP_CLOSE, 4, close, STATEID, NONE)                                                      \
	OP(OP_COMMIT, 5, commit, NFS4_VERIFIER_SIZE, NONE)                                         \
	OP(OP_CREATE, 6, create, CINFO + BITMAP, ARG)                                              \
	ALIEN(OP_DELEGPURGE, 7)                                                                    \
	OP(OP_DELEGRETURN, 8, stateid, 0, NONE)                                                    \
	OP(OP_GETATTR, 9, getattr, var, NONE)                                                      \
	OP(OP_GETFH, 10, none, W + NFS4_FHSIZE, NONE)                                              \
	OP(OP_LINK, 11, name, CINFO, NONE)                                                         \
	OP(OP_LOCK, 12, lock, DENIED, NONE)                                                        \
	OP(OP_LOCKT, 13, lockt, DENIED, NONE)                                                      \
	OP(OP_LOCKU, 14, locku, STATEID, NONE)                                                     \
	LIKE(OP_LOOKUP, 15, name, 0, NONE)                                                         \
	LIKE(OP_LOOKUPP, 16, none, 0, NONE)                                                        \
	OP(OP_NVERIFY, 17, verify, 0, NONE)                                                        \
	OP(OP_OPEN, 18, open, STATEID + CINFO + W + BITMAP + DELEGATION, NONE)                     \
	ALIEN(OP_OPENATTR, 19)                                                                     \
	ALIEN(OP_OPEN_CONFIRM, 20) /* 4.0 only */                                                  \
	OP(OP_OPEN_DOWNGRADE, 21, open_downgrade, STATEID, NONE)                                   \
	OP(OP_PUTFH, 22, putfh, 0, NONE)                                                           \
	LIKE(OP_PUTPUBFH, 23, none, 0, NONE)                                                       \
	LIKE(OP_PUTROOTFH, 24, none, 0, NONE)                                                      \
	OP(OP_READ, 25, read, 2 * W + padded(var), RES)                                            \
	OP(OP_READDIR, 26, readdir, var, NONE)                                                     \
	LIKE(OP_READLINK, 27, none, W + padded(var), NONE)                                         \
	LIKE(OP_REMOVE, 28, name, CINFO, NONE)                                                     \
	OP(OP_RENAME, 29, rename, 2 * CINFO, NONE)                                                 \
	ALIEN(OP_RENEW, 30) /* 4.0 only */                                                         \
	LIKE(OP_RESTOREFH, 31, none, 0, NONE)                                                      \
	LIKE(OP_SAVEFH, 32, none, 0, NONE)                                                         \
	LIKE(OP_SECINFO, 33, name, W + NFS4_FLAVORS_MAX * SEC_FLAVOR, NONE)                        \
	OP(OP_SETATTR, 34, setattr, BITMAP, NONE)                                                  \
	ALIEN(OP_SETCLIENTID, 35)	  /* 4.0 only */                                           \
	ALIEN(OP_SETCLIENTID_CONFIRM, 36) /* 4.0 only */                                           \
	LIKE(OP_VERIFY, 37, verify, 0, NONE)                                                       \
	OP(OP_WRITE, 38, write, 2 * W + NFS4_VERIFIER_SIZE, ARG)                                   \
	ALIEN(OP_RELEASE_LOCKOWNER, 39) /* 4.0 only */                                             \
	/* NFSv4.1 */                                                                              \
	OP(OP_BACKCHANNEL_CTL, 40, backchannel_ctl, 0, NONE)                                       \
	OP(OP_BIND_CONN_TO_SESSION, 41, bind_conn_to_session, NFS4_SESSIONID_SIZE + 2 * W, NONE)   \
	OP(OP_EXCHANGE_ID, 42, exchange_id, H + 2 * W + PROTECT + H + 2 * OPAQUE + IMPL_ID, NONE)  \
	OP(OP_CREATE_SESSION, 43, create_session, NFS4_SESSIONID_SIZE + 2 * W + 2 * CHANNEL, NONE) \
	OP(OP_DESTROY_SESSION, 44, destroy_session, 0, NONE)                                       \
	LIKE(OP_FREE_STATEID, 45, stateid, 0, NONE)                                                \
	ALIEN(OP_GET_DIR_DELEGATION, 46)                                                           \
	OP(OP_GETDEVICEINFO, 47, getdeviceinfo, 2 * W + padded(var) + BITMAP, NONE)                \
	ALIEN(OP_GETDEVICELIST, 48)                                                                \
	OP(OP_LAYOUTCOMMIT, 49, layoutcommit, W + H, NONE)                                         \
	OP(OP_LAYOUTGET, 50, layoutget, W + STATEID + W + LAYOUTS + padded(var), NONE)             \
	OP(OP_LAYOUTRETURN, 51, layoutreturn, W + STATEID, NONE)                                   \
	OP(OP_SECINFO_NO_NAME, 52, secinfo_no_name, W + NFS4_FLAVORS_MAX * SEC_FLAVOR, NONE)       \
	OP(OP_SEQUENCE, 53, sequence, NFS4_SESSIONID_SIZE + 5 * W, NONE)                           \
	ALIEN(OP_SET_SSV, 54)                                                                      \
	OP(OP_TEST_STATEID, 55, test_stateid, W + W * var, NONE)                                   \
	ALIEN(OP_WANT_DELEGATION, 56)                                                              \
	OP(OP_DESTROY_CLIENTID, 57, destroy_clientid, 0, NONE)                                     \
	OP(OP_RECLAIM_COMPLETE, 58, reclaim_complete, 0, NONE)                                     \
	/* NFSv4.2 */                                                                              \
	OP(OP_ALLOCATE, 59, range, 0, NONE)                                                        \
	OP(OP_COPY, 60, copy, WRITE_RESPONSE + 2 * W, NONE)                                        \
	ALIEN(OP_COPY_NOTIFY, 61)                                                                  \
	LIKE(OP_DEALLOCATE, 62, range, 0, NONE)                                                    \
	OP(OP_IO_ADVISE, 63, io_advise, BITMAP, NONE)                                              \
	OP(OP_LAYOUTERROR, 64, layouterror, 0, NONE)                                               \
	OP(OP_LAYOUTSTATS, 65, layoutstats, 0, NONE)                                               \
	LIKE(OP_OFFLOAD_CANCEL, 66, stateid, 0, NONE)                                              \
	LIKE(OP_OFFLOAD_STATUS, 67, stateid, H + 2 * W, NONE)                                      \
	LIKE(OP_READ_PLUS, 68, read, 2 * W + pieces(var) + padded(var), NONE)                      \
	OP(OP_SEEK, 69, seek, W + H, NONE)                                                         \
	ALIEN(OP_WRITE_SAME, 70)                                                                   \
	OP(OP_CLONE, 71, clone, 0, NONE)                                                           \
	/* RFC 8276 */                                                                             \
	LIKE(OP_GETXATTR, 72, name, W + padded(var), NONE)                                         \
	OP(OP_SETXATTR, 73, setxattr, CINFO, NONE)                                                 \
	OP(OP_LISTXATTRS, 74, listxattrs, var, NONE)                                               \
	LIKE(OP_REMOVEXATTR, 75, name, CINFO, NONE)

#endif
