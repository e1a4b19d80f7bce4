/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state: the server's whole memory of its clients.
 */
#ifndef RNFS_SERVE_STATE_STATE_H
#define RNFS_SERVE_STATE_STATE_H

#include "contrib/serve/state/tables.h"

int state_init(struct state *s, struct obj_table *objs, uint32_t lease_s);
/* No request may be running. */
void state_finish(struct state *s);
/* Forgets old unconfirmed records, and expired ones without state. Call once a second or so. */
void state_tick(struct state *s);
/* Writes into the log how many clients there are and how much state each has. */
void state_report(struct state *s);

#endif
