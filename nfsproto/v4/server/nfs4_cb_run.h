/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_cb_run: the callback service.
 *
 * Each slot of the backchannel remembers its last results, so that a server that lost a reply with
 * the connection gets the same reply again (RFC 8881 section 2.10.6.1). The progress thread that
 * receives a callback executes and answers it, on any connection. Work that needs a call to the
 * server (returning a delegation) is only started.
 *
 * A recall of a delegation that is held or on its way back is answered NFS4_OK. A recall of any
 * other delegation is answered NFS4ERR_DELAY while a call that may have brought the delegation is
 * unanswered: a call that the server refers to (section 2.10.6.3), or any OPEN, since not all
 * servers refer to calls. Otherwise the answer that brought the delegation is lost for good: the
 * server kept no answer (NFS4ERR_RETRY_UNCACHED_REP), or the session has ended. A user then returns
 * the delegation unseen, and the answer is NFS4_OK; NFS4ERR_BAD_STATEID if there are too many such
 * returns. An inquiry about a file is answered in the same way, with NFS4ERR_BADHANDLE if the file
 * is none of ours.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_CB_RUN_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_CB_RUN_H

#include "nfsproto/v4/server/nfs4_server.h"

/* One CB_COMPOUND: arguments in, results out. 0, or -EBADMSG if not even its head parses. */
int nfs4_cb_execute(struct nfs4_server *srv, struct xdr_in *args, struct xdr_out *res);

/* The rpc_service_fn; ctx is the struct nfs4_server. */
void nfs4_cb_service(void *ctx, struct rpc_req *req);

#endif
