/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_conn: the life of a connection.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_CONN_H
#define RNFS_TRANSPORT_IWARP_IWARP_CONN_H

#include "transport/iwarp/iwarp_impl.h"

/* A connection on a connected stream socket, which the connection then owns. NULL when out of
 * memory. */
struct iwarp_conn *iwarp_conn_new(int fd, bool active, const struct prov_params *p);
/* Goes straight to traffic with the given results of a negotiation. 0 or -ENOMEM. */
int iwarp_conn_start(struct iwarp_conn *c, unsigned ird, unsigned ord, bool crc);
/* Ends the connection. c may be NULL. */
void iwarp_conn_free(struct iwarp_conn *c);

#endif
