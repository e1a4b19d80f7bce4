/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ulb: the upper-layer binding of NFS to RPC-over-RDMA (RFC 8267, in the terms of RFC 8166): which
 * data items may be placed directly, and how large a reply can be. Requester and responder assert
 * the first where a call, an operation or a result has got its payload.
 *
 * A requester must give a Reply chunk whenever the largest reply exceeds the requester's inline
 * threshold for receiving (RFC 8267 section 3). That bound is summed while a COMPOUND is built:
 *
 *     size_t bound = ulb_nfs4_begin(taglen);
 *     bound += ulb_nfs4_res_max(OP_SEQUENCE, 0);
 *     bound += ulb_nfs4_res_max(OP_GETATTR, ulb_nfs4_attrs_max(&want));
 *     call->reply_max = bound;
 *
 * All sizes are bytes of XDR in the results, from the COMPOUND's status on. Not counted: the RPC
 * header (the transport's), and payload that a Write chunk takes.
 */
#ifndef RNFS_NFSPROTO_WIRE_ULB_H
#define RNFS_NFSPROTO_WIRE_ULB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsproto/wire/nfs4_xdr.h"

enum ulb_ddp {
	ULB_DDP_NONE = 0,
	ULB_DDP_ARG = 1, /* an argument may be moved by a Read chunk */
	ULB_DDP_RES = 2, /* a result may be moved by a Write chunk */
};

/* RFC 8267 section 6.1: NFSv4, any minor version, by operation. READLINK is eligible by the RFC and
 * answers ULB_DDP_NONE all the same: servers in the field do not take the Write chunk for it. */
enum ulb_ddp ulb_nfs4_op(uint32_t op);
/* RFC 8267 section 4: NFSv3, by procedure. Callbacks (6.5) and the programs beside NFS (sections
 * 5.1, 5.2: MOUNT, NLM, NSM) have no item that may be moved: nothing of ours puts a payload there.
 */
enum ulb_ddp ulb_nfs3_proc(uint32_t proc);

/* The head of a COMPOUND's results: status, tag, count. */
size_t ulb_nfs4_begin(uint32_t taglen);
/* The largest result of op, its number and status included. var is the part that only the caller
 * knows (nfs4_ops.h). An operation that the table does not know: SIZE_MAX / 64, which no inline
 * threshold holds. */
size_t ulb_nfs4_res_max(uint32_t op, size_t var);
/* The largest fattr4 (mask, length and values) in an answer to want. Attributes without a protocol
 * limit (ACL, fs_locations: RFC 8267 6.2) count ULB_ATTR_UNBOUNDED each. */
#define ULB_ATTR_UNBOUNDED 16384u
size_t ulb_nfs4_attrs_max(const struct nfs4_bitmap *want);

/* The largest results of an NFSv3 procedure. var is the part that only the caller knows:
 *     READLINK                most bytes of the target
 *     READ                    bytes of data that come inline: 0 when a sink takes them
 *     READDIR, READDIRPLUS    count, maxcount
 *     others                  0
 * A procedure that the RFC does not have: SIZE_MAX / 64. */
size_t ulb_nfs3_res_max(uint32_t proc, size_t var);

#endif
