/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * layout_use: decides whether a client may change the rights to a file, while
 * another client has a layout of the file.
 */
#ifndef RNFS_SERVE_STATE_LAYOUT_USE_H
#define RNFS_SERVE_STATE_LAYOUT_USE_H

#include "contrib/serve/state/layout.h"

/* The client `by` (NULL: a caller without a client record) is about to change the rights to o.
 * Recalls the layouts of o. NFS4_OK, or NFS4ERR_DELAY while another client than `by` has one. */
uint32_t layout_recall(struct state *s, struct obj *o, const struct client *by);

#endif
