/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ds_v4: READ and WRITE at a data server by NFSv4.1 or 4.2 (RFC 8435 section 2, RFC 8881
 * section 13.1): a server (nfs4_server.h) with a session of its own, whose only user is the struct
 * nfs4_ds_v4. If the metadata server is the data server, too, the struct is one more user of that
 * server, and of its session.
 *
 * The state manager of the server connects again, makes the next session after a restart, and
 * settles the slots of calls that were given up. No call waits for that: nfs4_ds_v4_give_up() ends
 * the calls of a lost connection, and calls end while there is no session (struct nfs4_user.hasty).
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_DS_V4_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_DS_V4_H

#include "nfsproto/v4/pnfs/nfs4_ds_io.h"
#include "nfsproto/v4/server/nfs4_server.h"

struct nfs4_ds_v4 {
	struct nfs4_user user;
	struct nfs4_server *srv;
	atomic_bool lost;
	atomic_bool lost_news; /* nfs4_ds_v4_give_up() has work */
	/* constant: called when lost_news was set; any thread, cb.lock of srv held */
	void (*news)(void *ctx);
	void *ctx;
};

/* Connects, and establishes a session. p: the parameters of a mount of the data server. metadata:
 * the server of which the data server is to know this client by the same name (RFC 8881 section
 * 13.1), or NULL. If both are the same server, nothing but the metadata server's session is used.
 * Blocks, p->connect_ms for each step at most. NULL with *e set. */
struct nfs4_ds_v4 *nfs4_ds_v4_new(const struct nfs_mount_params *p, const struct nfs4_kind *kinds,
	struct nfs4_server *metadata, void (*news)(void *ctx), void *ctx, struct err *e);
/* A data server that is the metadata server. Does not block. NULL with *e set. */
struct nfs4_ds_v4 *nfs4_ds_v4_join(
	struct nfs4_server *metadata, void (*news)(void *ctx), void *ctx, struct err *e);
/* Ends the calls under way, gives the session back and disconnects. Not from done. Accepts NULL,
 * returns NULL. */
struct nfs4_ds_v4 *nfs4_ds_v4_free(struct nfs4_ds_v4 *ds);
/* Ends all calls under way. Not from done, nor with a lock held. */
void nfs4_ds_v4_close(struct nfs4_ds_v4 *ds);
/* The same, if the connection was lost since the last call of this function. */
void nfs4_ds_v4_give_up(struct nfs4_ds_v4 *ds);
/* Has io end soon if it is under way. io must not be freed meanwhile. */
void nfs4_ds_v4_cancel(struct nfs4_ds_v4 *ds, struct nfs4_ds_io *io);
/* Starts io. done is called exactly once, perhaps before this function returns. */
void nfs4_ds_v4_start(struct nfs4_ds_v4 *ds, struct nfs4_ds_io *io);

#endif
