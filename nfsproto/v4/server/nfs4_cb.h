/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_cb: the backchannel's session and slots (RFC 8881 section 20). Execution of callbacks:
 * nfs4_cb_run.h.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_CB_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_CB_H

#include <stdbool.h>

#include "nfsproto/v4/server/nfs4_slots.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "transport/lock.h"
#include "transport/rpc/rpc.h"

#define NFS4_CB_SLOTS  16
#define NFS4_CB_OPS    8
#define NFS4_CB_CACHED 512 /* bytes of a CB_COMPOUND's results that can be kept for a retry */

/* A slot of the backchannel; this side is the replier. */
struct nfs4_cb_slot {
	bool unknown; /* the server's next sequence id: a former daemon had the slot */
	bool used;    /* of the last executed request; 0: none yet */
	uint32_t seq; /* of the last one executed; 0 before */
	uint32_t len; /* length of the last results; 0: the results did not fit */
	uint8_t res[NFS4_CB_CACHED];
};

struct nfs4_cb {
	struct mutex lock ACQUIRED_BEFORE(LOCK_OF(struct nfs4_slots, lock));
	bool have_session GUARDED_BY(lock);
	struct nfs4_sessionid session GUARDED_BY(lock);
	struct nfs4_cb_slot slot[NFS4_CB_SLOTS] GUARDED_BY(lock);
};

void nfs4_cb_init(struct nfs4_cb *cb);
void nfs4_cb_finish(struct nfs4_cb *cb);
/* A new session: its slots start over. */
void nfs4_cb_session(struct nfs4_cb *cb, const struct nfs4_sessionid *session);
/* The session of a former daemon that was killed. A call that the former daemon has executed may be
 * executed again, which does no harm: news is just news, and a delegation goes back once. */
void nfs4_cb_resume(struct nfs4_cb *cb, const struct nfs4_sessionid *session);

#endif
