/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * layout_use: decides whether a client may change the rights to a file, while
 * another client has a layout of the file.
 */
#ifndef RNFS_SERVE_STATE_LAYOUT_USE_H
#define RNFS_SERVE_STATE_LAYOUT_USE_H

#include "contrib/serve/state/layout.h"

/* A change of rights under way. All zeros: no client's layout matters. */
struct rights_change {
	bool begun;
	bool fenced;
};
/* The client `by` (NULL: a caller without a client record) is about to change the owner, mode or
 * ACL of o, as the thread's identity. Recalls the layouts of o, and fences o (fence.h): no former
 * holder keeps a right at data servers. NFS4_OK, or NFS4ERR_DELAY while another client than `by`
 * has a layout; then no layout is given for some seconds, and the change finds o free when the
 * caller asks again. If the kernel would not let the caller make the change, nothing happens, and
 * NFS4_OK. */
uint32_t rights_begin(
	struct state *s, struct obj *o, const struct client *by, struct rights_change *ch);
/* The change has been made, or (changed: false) not. Call once after each rights_begin(); *ch may
 * also be all zeros. */
void rights_end(struct state *s, struct obj *o, const struct rights_change *ch, bool changed);

#endif
