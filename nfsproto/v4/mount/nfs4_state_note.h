/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state_note: one open, and the locks of one owner in one file, for a successor: as items of a
 * record (nfs4_state_record.h), and as notes of their own (nfs_former.h).
 *
 * NOTE_OPEN stays from the reply to OPEN to the reply to CLOSE. NOTE_LOCKS has the locks that the
 * server may hold: a lock is noted when it is granted, and dropped when the server has unlocked it.
 * Local opens and locks (nfs4_deleg.h, nfs4_lock_local.c) are noted as local.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_STATE_NOTE_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_STATE_NOTE_H

#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_open.h"

/* o has that number in the record. */
void nfs4_note_put_open(struct nfs_open *o, uint32_t number, struct xdr_out *x);
/* Links the open into c, which no other thread knows yet. has_user: an open with a user, not one
 * whose CLOSE is deferred. NULL: x is bad, or no memory. */
struct nfs_open *nfs4_note_get_open(struct nfs4_client *c, struct xdr_in *x, bool has_user);
/* open: the number of ctx's open. */
void nfs4_note_put_ctx_locked(const struct nfs4_lockctx *ctx, uint32_t open, struct xdr_out *x)
	REQUIRES(NFS4_LOCKS);
/* all: the opens with the numbers 1 to n. *out: the context, or NULL. 0, -ENOMEM or -EBADMSG; x may
 * also be bad after 0. */
int nfs4_note_get_ctx(struct nfs4_client *c, struct nfs_open *const all[], uint32_t n,
	struct xdr_in *x, struct nfs4_lockctx **out);

/* Without a ledger the following functions do nothing. */

/* The server has opened o, or o has changed, or o is a local open. o has its handle. No lock of
 * o's. */
void nfs4_note_open(struct nfs_open *o);
void nfs4_note_open_locked(struct nfs4_client *c, struct nfs_open *o) REQUIRES(c->lock);
/* The server has closed o. */
void nfs4_note_closed(struct nfs_open *o);
/* The locks of ctx have changed at the server. */
void nfs4_note_locks_locked(struct nfs4_client *c, struct nfs4_lockctx *ctx)
	REQUIRES(c->locks.lock);

/* Makes the open or the locks of a note of the former daemon; opens first. A local open is one of
 * c's opens at first, with was_local. No other thread knows of c yet. 0, -ENOMEM or -EBADMSG. */
int nfs4_note_read_open(struct nfs4_client *c, struct xdr_in *x);
int nfs4_note_read_locks(struct nfs4_client *c, struct xdr_in *x);

#endif
