/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_msg: the rules for a segment, and the end of a message. Progress thread.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_MSG_H
#define RNFS_TRANSPORT_IWARP_IWARP_MSG_H

#include "transport/iwarp/iwarp_impl.h"

/* Judges the segment in rx->h and says where its payload goes (rx->dst). False after
 * the stream was terminated. */
bool iwarp_msg_begin(struct iwarp_conn *c);
/* The segment is complete and its CRC right. IWARP_STEP_ON, IWARP_STEP_WC or IWARP_STEP_FAIL. */
enum iwarp_step iwarp_msg_end(struct iwarp_conn *c, struct prov_wc *wc);

#endif
