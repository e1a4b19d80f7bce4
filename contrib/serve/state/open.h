/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * open: opens of files, their share reservations and descriptors (RFC 8881 sections 9.7 to 9.11).
 */
#ifndef RNFS_SERVE_STATE_OPEN_H
#define RNFS_SERVE_STATE_OPEN_H

#include "contrib/serve/state/stateid.h"

/* Adds share access and deny to what owner has open of o, opening descriptors. by is who asks: a
 * new open is of his part. fd (-1: none) is one that the caller already has, for reading and
 * writing if fd_rdwr, else for reading; consumed in any case. A status. */
uint32_t st_open(struct state *s, struct client *c, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_opaque *owner, uint32_t access, uint32_t deny, int fd, bool fd_rdwr,
	struct nfs4_stateid *out);
/* Is there room for another open of by's at c? NFS4_OK; NFS4ERR_NOSPC: c has two thirds of all, or
 * so much that the rest of its share is for other users than by; NFS4ERR_DELAY: until somebody
 * closes something. Expired clients are evicted to make room. */
uint32_t st_open_room(struct state *s, struct client *c, const struct rpc_cred *by);
uint32_t st_close(struct state *s, struct client *c, struct obj *o, const struct nfs4_stateid *sid,
	struct nfs4_stateid *out);
uint32_t st_downgrade(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_stateid *sid, uint32_t access, uint32_t deny, struct nfs4_stateid *out);
/* The descriptor to read or write o with under sid. NFS4_OK with *out (to be given to st_put()) and
 * *fd, which is valid until then. */
uint32_t st_io(struct client *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct st **out, int *fd);
/* Has c an open of o to write? */
bool st_writes(const struct client *c, struct obj *o);
/* A duplicate (the caller's) of any descriptor that somebody has o open with, or -1. */
int st_any_fd(struct obj *o);
/* May I/O without a stateid go on? NFS4ERR_LOCKED: an open denies it; NFS4ERR_GRACE: an open that
 * may still be reclaimed could. */
uint32_t st_anonymous_ok(struct state *s, struct obj *o, bool write);

#endif
