/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_queue: the send queue of a connection of the verbs provider.
 */
#ifndef RNFS_TRANSPORT_VERBS_VERBS_QUEUE_H
#define RNFS_TRANSPORT_VERBS_VERBS_QUEUE_H

#include "transport/verbs/verbs_impl.h"

/* Adds w to the chain (and posts the chain unless more). */
int verbs_queue_locked(struct verbs_conn *v, struct verbs_wr *w, bool more) REQUIRES(v->lock);
/* Posts requests of `pending` for which there is room and memory. */
void verbs_post_pending_locked(struct verbs_conn *v) REQUIRES(v->lock);
/* Drops the memory of an entry. */
void verbs_sqe_release(struct verbs_conn *v, struct verbs_sqe *e) REQUIRES(v->lock);
/* Retires the ring up to and including the entry of a signalled completion. A read, or the last
 * invalidation of a withdraw(), is always signalled, so such an entry is always the last. Returns
 * how many completions *out has: 0 or 1. Progress thread. */
int verbs_retire(struct verbs_conn *v, uint32_t index, struct prov_wc *out);
/* Drops every hold; the queue pair is gone. */
void verbs_release_all(struct verbs_conn *v) REQUIRES(v->lock);

#endif
