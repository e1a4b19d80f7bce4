/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_end: the events of librdmacm, and the end of a connection.
 */
#include "transport/verbs/verbs_end.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>

#include "transport/verbs/verbs_queue.h"

struct rdma_cm_event *verbs_next_event(
	struct rdma_event_channel *channel, int abort_fd, int wake_fd, int timeout_ms)
{
	struct pollfd fd[3] = {
		{.fd = channel->fd, .events = POLLIN},
		{.fd = abort_fd, .events = POLLIN},
		{.fd = wake_fd, .events = POLLIN},
	};
	struct rdma_cm_event *ev;

	if (poll(fd, 3, timeout_ms) <= 0 || fd[1].revents || fd[2].revents ||
		rdma_get_cm_event(channel, &ev))
		return NULL;
	return ev;
}

void verbs_down(struct verbs_conn *v, const char *fmt, ...)
{
	va_list ap;

	if (verbs_is_down(v))
		return;
	va_start(ap, fmt);
	vsnprintf(v->c.down_reason, sizeof(v->c.down_reason), fmt, ap);
	va_end(ap);
	mutex_lock(&v->lock);
	v->down = true;
	v->nchain = 0;
	mutex_unlock(&v->lock);
	/* Each thread that posts checks `down` under the lock first, so only this thread uses the
	 * queue pair now. Both calls enter the kernel and may take long. */
	rdma_disconnect(v->id);
	rdma_destroy_qp(v->id);
	mutex_lock(&v->lock);
	verbs_release_all(v);
	mutex_unlock(&v->lock);
}

void verbs_cm_event(struct verbs_conn *v)
{
	struct rdma_cm_event *ev = verbs_next_event(v->channel, -1, -1, 0);
	enum rdma_cm_event_type type;

	if (!ev)
		return;
	type = ev->event;
	rdma_ack_cm_event(ev);
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		verbs_down(v, "%s closed the connection", v->name);
	else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		verbs_down(v, "the RDMA device of the connection to %s was removed", v->name);
}
