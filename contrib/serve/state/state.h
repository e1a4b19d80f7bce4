/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state: what the server remembers about its clients, as a whole. tables.h has the model.
 */
#ifndef RNFS_SERVE_STATE_STATE_H
#define RNFS_SERVE_STATE_STATE_H

#include "contrib/serve/state/tables.h"

int state_init(struct state *s, struct obj_table *objs, uint32_t lease_s);
/* No request may be running. */
void state_finish(struct state *s);
/* Forgets unconfirmed records that are old, and expired ones that hold nothing. Once a second or
 * so. */
void state_tick(struct state *s);
/* Writes into the log how many clients there are and what each of them holds. */
void state_report(struct state *s);

#endif
