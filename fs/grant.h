/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * grant: what the server lets whom do with an inode, as ACCESS and answers that imply it have told.
 *
 * Who somebody is, is the whole credential: a process that gave up a group is somebody else. An
 * inode remembers a few of them, those last seen. The lists belong to inodes, whose lock serialises
 * every call here.
 */
#ifndef RNFS_FS_GRANT_H
#define RNFS_FS_GRANT_H

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
/* Forgets all. */
void grants_drop(struct grant_list *l);

/* The server was asked at `seen` about the bits in `known` (NFS_ACCESS_*) for cred, and allowed
 * those in `allowed`. Not kept when out of memory. */
void grant_put(struct grant_list *l, const struct rpc_cred *cred, uint32_t known, uint32_t allowed,
	uint64_t seen);
/* Is it known from after `since` whether cred has the bits in want? *allowed: those it has. */
bool grant_get(struct grant_list *l, const struct rpc_cred *cred, uint32_t want, uint64_t since,
	uint32_t *allowed);

#endif
