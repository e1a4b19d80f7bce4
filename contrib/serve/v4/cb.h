/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cb: the backchannel (RFC 8881 sections 2.10.3.1, 20.9, 20.11).
 */
#ifndef RNFS_SERVE_V4_CB_H
#define RNFS_SERVE_V4_CB_H

struct serve;
struct session;

/* Probes ses's backchannel. Consumes the reference to ses; no lock held. */
void cb_probe(struct serve *sv, struct session *ses);
/* Sends all due calls: CB_NOTIFY_LOCK (waiter.h), CB_RECALL (deleg.h), CB_GETATTR and
 * CB_LAYOUTRECALL (layout.h). Ends the
 * inquiries that are ready (inquiry.h). Not on a thread of ident_call(). */
void cb_notify_all(struct serve *sv);

#endif
