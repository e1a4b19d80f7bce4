/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops: the operations of a COMPOUND, one function each: from arguments to a status. On NFS4_OK the
 * operation has put its whole result into c->out. On an error the dispatcher (v4.c) discards the
 * operation's output and answers the bare status, unless the operation has set c->put (results that
 * carry more). The table in v4.c lists the conditions for the call of each operation.
 */
#ifndef RNFS_SERVE_V4_OPS_H
#define RNFS_SERVE_V4_OPS_H

#include "contrib/serve/v4/compound.h"

typedef uint32_t op_fn(struct compound *c, const struct nfs4_args *a);
op_fn op_access, op_getattr, op_setattr, op_verify, op_nverify;
op_fn op_putfh, op_putrootfh, op_savefh, op_restorefh, op_getfh, op_lookup, op_lookupp;
op_fn op_secinfo, op_secinfo_no_name, op_readlink;
op_fn op_create, op_remove, op_rename, op_link, op_readdir;
op_fn op_open, op_close, op_open_downgrade, op_delegreturn;
op_fn op_read, op_write, op_commit;
op_fn op_lock, op_lockt, op_locku;
op_fn op_exchange_id, op_create_session, op_destroy_session, op_destroy_clientid, op_sequence;
op_fn op_bind_conn_to_session, op_backchannel_ctl, op_reclaim_complete;
op_fn op_test_stateid, op_free_stateid;
op_fn op_getdeviceinfo, op_layoutget, op_layoutreturn, op_layoutcommit;
/* of minor version 2 */
op_fn op_allocate, op_deallocate, op_clone, op_copy, op_io_advise, op_offload, op_seek,
	op_read_plus;
op_fn op_layouterror, op_layoutstats;
op_fn op_getxattr, op_setxattr, op_listxattrs, op_removexattr;

#endif
