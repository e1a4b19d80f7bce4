/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_stag: the doors of a connection, and the ghosts of closed doors.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_STAG_H
#define RNFS_TRANSPORT_IWARP_IWARP_STAG_H

#include "transport/iwarp/iwarp_impl.h"

int iwarp_stags_init(struct iwarp_stags *t);
void iwarp_stags_finish(struct iwarp_stags *t);
/* An unpredictable number other than 0. */
uint32_t iwarp_stags_random(struct iwarp_stags *t);
/* Opens a door; sets d->stag and d->seq. 0 or -ENOMEM. */
int iwarp_stags_open(struct iwarp_stags *t, struct iwarp_door *d);
/* Copies the door to *d. False: there is none. */
bool iwarp_stags_find(struct iwarp_stags *t, uint32_t stag, struct iwarp_door *d);
/* Likewise, and notes a write by the peer of n bytes from `to` on, as far as the bytes lie in the
 * door. */
bool iwarp_stags_write(
	struct iwarp_stags *t, uint32_t stag, uint64_t to, uint32_t n, struct iwarp_door *d);
/* Closes the door if its seq is `seq` (0: any). False: the door was closed already. */
bool iwarp_stags_close(struct iwarp_stags *t, uint32_t stag, uint64_t seq);
/* Closes the door likewise, and leaves a ghost. */
bool iwarp_stags_abandon(struct iwarp_stags *t, uint32_t stag, uint64_t seq);
/* Copies access and length of the ghost to *d, without an address. False: there is none. */
bool iwarp_stags_find_ghost(struct iwarp_stags *t, uint32_t stag, struct iwarp_door *d);
/* Counts n bytes for the ghost, to be thrown away. False: there is no such ghost, or its bytes are
 * used up. */
bool iwarp_stags_discard(struct iwarp_stags *t, uint32_t stag, uint32_t n);
/* The ghost goes. False: there is none. */
bool iwarp_stags_bury(struct iwarp_stags *t, uint32_t stag);

#endif
