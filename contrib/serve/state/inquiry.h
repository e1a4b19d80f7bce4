/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inquiry: what a file that is delegated to write looks like, which its holder alone knows:
 * CB_GETATTR (RFC 8881 sections 10.4.3, 20.1).
 *
 *     made --(behind the request)--> asked --answer--> ready --> done()
 *       \                              \--none within 2 s, or an error: recalled--> ready
 *        \--the delegation has ended, or is being recalled--> ready
 *
 * Who wants to know holds no thread meanwhile. An answer serves those only who asked before the
 * call was sent: what the holder did before they asked is in it. Those who come later have a call
 * of their own, behind it.
 *
 * The lists of a delegation's inquiries (stateid.h) and of those that are ready are guarded by
 * delegs.lock.
 */
#ifndef RNFS_SERVE_STATE_INQUIRY_H
#define RNFS_SERVE_STATE_INQUIRY_H

#include "contrib/serve/state/deleg.h"

/* What o looks like is asked for by (NULL: somebody without a client record). No lock held. */
void inquiry_make(struct state *s, struct obj *o, const struct client *by, struct inquiry *q);
/* The holder of sid has answered (change and size, NULL: it has not, or not well). */
void inquiry_answered(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid,
	const uint64_t *change, uint64_t size);
/* Gives up those that have waited for too long; all: all of them. */
void inquiry_tick(struct state *s, bool all);
/* Calls done() for all that are ready. False: there were none. No lock held. */
bool inquiry_end_all(struct state *s);

#endif
