/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_end: the events of librdmacm, and the end of a connection. Progress thread, or the
 * connecting thread before.
 */
#ifndef RNFS_TRANSPORT_VERBS_VERBS_END_H
#define RNFS_TRANSPORT_VERBS_VERBS_END_H

#include "transport/verbs/verbs_impl.h"

/* The next event on the channel within timeout_ms (0: at once), or NULL: none, or one of the other
 * two, which may be -1, is readable. */
struct rdma_cm_event *verbs_next_event(
	struct rdma_event_channel *channel, int abort_fd, int wake_fd, int timeout_ms);
/* verbs_cm.c */
void verbs_cm_event(struct verbs_conn *v); /* takes one event off the channel, if there is one */
void verbs_down(struct verbs_conn *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

#endif
