/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * open: opens of files, their share reservations and descriptors (RFC 8881 sections 9.7 to 9.11).
 */
#ifndef RNFS_SERVE_STATE_OPEN_H
#define RNFS_SERVE_STATE_OPEN_H

#include "contrib/serve/state/stateid.h"

/* Adds share access and deny to owner's open of o, and opens descriptors. by: the caller's
 * credential; a new open counts in its share. fd (-1: none): a descriptor that the caller already
 * has, for reading and writing if fd_rdwr, otherwise for reading. fd is consumed in any case.
 * Returns a status. */
uint32_t st_open(struct state *s, struct client *c, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_opaque *owner, uint32_t access, uint32_t deny, int fd, bool fd_rdwr,
	struct nfs4_stateid *out);
/* Is there room for another open with the credential `by` at c? NFS4_OK; NFS4ERR_NOSPC: c has two
 * thirds of all, or the rest of its share is for other users; NFS4ERR_DELAY: until a client closes
 * a file. Evicts expired clients to make room. */
uint32_t st_open_room(struct state *s, struct client *c, const struct rpc_cred *by);
uint32_t st_close(struct state *s, struct client *c, struct obj *o, const struct nfs4_stateid *sid,
	struct nfs4_stateid *out);
uint32_t st_downgrade(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_stateid *sid, uint32_t access, uint32_t deny, struct nfs4_stateid *out);
/* The descriptor for I/O on o under sid. NFS4_OK sets *out, which must go to st_put(), and *fd,
 * which is valid until then. */
uint32_t st_io(struct client *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct st **out, int *fd);
/* Has c an open of o for writing? */
bool st_writes(const struct client *c, struct obj *o);
/* A duplicate, for the caller, of any open descriptor of o, or -1. */
int st_any_fd(struct obj *o);
/* May I/O without a stateid go on? NFS4ERR_LOCKED: an open denies the access; NFS4ERR_GRACE: an
 * open that may still be reclaimed could deny it. */
uint32_t st_anonymous_ok(struct state *s, struct obj *o, bool write);

#endif
