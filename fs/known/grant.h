/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * grant: the rights that the server gives users on an inode, from ACCESS and from answers that
 * imply a right.
 *
 * A grant belongs to a whole credential (uid, gid, groups): a process that gave up a group needs a
 * new grant. An inode keeps the few grants last used. The lists belong to inodes; the owner of
 * a list serialises every call here.
 */
#ifndef RNFS_FS_KNOWN_GRANT_H
#define RNFS_FS_KNOWN_GRANT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "transport/rpc/rpc.h"

#define GRANT_BITS 6u /* NFS_ACCESS_READ .. NFS_ACCESS_EXECUTE */
#define GRANT_ALL  ((1u << GRANT_BITS) - 1)
#define GRANTS_MAX 8u /* of one inode */

struct grant;
TAILQ_HEAD(grant_list, grant);

void grants_init(struct grant_list *l);
/* Frees all grants. */
void grants_drop(struct grant_list *l);

/* The server, asked at `seen` about the bits in `known` (NFS_ACCESS_*) for cred, allowed the bits
 * in `allowed`. Not kept when out of memory. */
void grant_put(struct grant_list *l, const struct rpc_cred *cred, uint32_t known, uint32_t allowed,
	uint64_t seen);
/* Is it known from an answer after `since` whether cred has the bits in want? *allowed: the bits
 * that cred has. */
bool grant_get(struct grant_list *l, const struct rpc_cred *cred, uint32_t want, uint64_t since,
	uint32_t *allowed);

#endif
