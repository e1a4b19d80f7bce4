/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_end: how a connection ends.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_END_H
#define RNFS_TRANSPORT_IWARP_IWARP_END_H

#include "transport/iwarp/iwarp_impl.h"

/* Progress thread: the connection is over; the first sentence stays. */
__attribute__((format(printf, 2, 3))) void iwarp_fail(struct iwarp_conn *c, const char *fmt, ...);
/* Tells the peer and ends the connection; why continues "peer ... : ". */
__attribute__((format(printf, 3, 4))) void iwarp_terminate(
	struct iwarp_conn *c, unsigned ddp_err, const char *why, ...);

#endif
