/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inquiry: asks the holder of a write delegation for the file's attributes, which only the holder
 * knows: CB_GETATTR (RFC 8881 sections 10.4.3, 20.1).
 *
 *     made --(behind the request)--> asked --answer--> ready --> done()
 *       \                              \--none within 2 s, or an error: recalled--> ready
 *        \--the delegation has ended, or is being recalled--> ready
 *
 * An inquiry holds no thread while it waits. An answer serves only inquiries from before the call
 * was sent: the answer includes all that the holder did before such an inquiry. Later inquiries
 * wait for a second call behind the first.
 *
 * delegs.lock guards the lists of a delegation's inquiries (stateid.h) and of ready ones.
 */
#ifndef RNFS_SERVE_STATE_INQUIRY_H
#define RNFS_SERVE_STATE_INQUIRY_H

#include "contrib/serve/state/deleg.h"

/* The client `by` (NULL: a caller without a client record) asks for the attributes of o. No lock
 * held. */
void inquiry_make(struct state *s, struct obj *o, const struct client *by, struct inquiry *q);
/* The holder of sid has answered with change and size; NULL: there was no valid answer. */
void inquiry_answered(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid,
	const uint64_t *change, uint64_t size);
/* Ends inquiries that have waited too long; all: all inquiries. */
void inquiry_tick(struct state *s, bool all);
/* Calls done() for all ready inquiries. False: there were none. No lock held. */
bool inquiry_end_all(struct state *s);

#endif
