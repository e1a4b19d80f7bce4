/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_cm: connecting, on librdmacm. Every connection has its own event channel, so
 * that the connection's thread gets the events. An accepted connection is moved off the listener's
 * channel.
 */
#include "transport/verbs/verbs_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/log.h"
#include "transport/verbs/verbs_door.h"
#include "transport/verbs/verbs_end.h"
#include "transport/verbs/verbs_io.h"
#include "transport/verbs/verbs_mem.h"
#include "transport/verbs/verbs_queue.h"

#define LISTEN_BACKLOG 64
#define RETRY_COUNT    6
#define RNR_RETRY      6

struct verbs_listener {
	struct prov_listener l;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct prov_params p;
	uint8_t priv[PROV_MAX_PRIV];
};

static void addr_text(const struct sockaddr *sa, socklen_t len, char *buf, size_t size)
{
	char host[INET6_ADDRSTRLEN + 16], port[8];

	if (getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(buf, size, "?");
	else
		snprintf(buf, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static struct verbs_conn *conn_new(const struct prov_params *p)
{
	struct verbs_conn *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->c.ops = &prov_verbs;
	mutex_init(&v->lock);
	STAILQ_INIT(&v->pending);
	LIST_INIT(&v->windows);
	SLIST_INIT(&v->free_windows);
	v->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	v->channel = rdma_create_event_channel();
	v->priv_len = p->priv_len;
	if (p->priv_len)
		memcpy(v->priv, p->priv, p->priv_len);
	v->want_ird = p->ird;
	v->want_ord = p->ord;
	v->abort_fd = p->abort_fd > 0 ? p->abort_fd : -1;
	return v;
}

static void verbs_free(struct prov_conn *pc)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;

	if (!v)
		return;
	mutex_destroy(&v->lock);
	if (v->id && v->id->qp) {
		rdma_disconnect(v->id);
		rdma_destroy_qp(v->id);
	}
	verbs_release_all(v);
	verbs_windows_free(v);
	verbs_bounces_free(v);
	if (v->cq) {
		ibv_ack_cq_events(v->cq, v->events_unacked);
		ibv_destroy_cq(v->cq);
	}
	if (v->comp)
		ibv_destroy_comp_channel(v->comp);
	if (v->id)
		rdma_destroy_id(v->id);
	if (v->channel)
		rdma_destroy_event_channel(v->channel);
	verbs_domain_put(v->dom);
	if (v->wake_fd >= 0)
		close(v->wake_fd);
	free(v->sq);
	free(v);
}

static uint32_t at_most(uint32_t want, uint32_t limit)
{
	return want < limit ? want : limit;
}

/* Completion queue and queue pair on v->id's device. */
static int make_qp(struct verbs_conn *v, const struct prov_params *p, struct err *e)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC};
	int ret = verbs_domain_get(v->id->verbs, p->pool, v->active, &v->dom, e);

	if (ret)
		return ret;
	mutex_alone(&v->lock); /* no other thread uses the connection yet */
	/* An RPC can take a bind, a write or read, a send and an invalidation. */
	v->sq_size = at_most(p->send_depth * 4, v->dom->attr.max_qp_wr);
	v->sq = calloc(v->sq_size, sizeof(*v->sq));
	v->comp = ibv_create_comp_channel(v->id->verbs);
	if (!v->sq || !v->comp || fcntl(v->comp->fd, F_SETFL, O_NONBLOCK))
		goto fail;
	v->cq = ibv_create_cq(v->id->verbs,
		at_most(v->sq_size + p->recv_depth + 1, v->dom->attr.max_cqe), NULL, v->comp, 0);
	if (!v->cq)
		goto fail;
	attr.send_cq = attr.recv_cq = v->cq;
	attr.cap.max_send_wr = v->sq_size;
	attr.cap.max_recv_wr = at_most(p->recv_depth, v->dom->attr.max_qp_wr);
	attr.cap.max_send_sge = at_most(PROV_MAX_SGE, v->dom->attr.max_sge);
	attr.cap.max_recv_sge = 1;
	if (rdma_create_qp(v->id, v->dom->pd, &attr))
		goto fail;
	v->want_ird = at_most(v->want_ird, v->dom->attr.max_qp_rd_atom);
	v->want_ord = at_most(v->want_ord, v->dom->attr.max_qp_init_rd_atom);
	v->c.bulk_by_doors = v->dom->lean;
	ret = verbs_bounces_new(v, p->conns);
	if (ret)
		err_set(e, ERR_NO_MEMLOCK, VERBS_NO_MEMLOCK, v->name,
			ibv_get_device_name(v->id->verbs->device));
	return ret;
fail:
	ret = errno ? -errno : -ENOMEM;
	err_set(e, ret == -ENOMEM ? ERR_NO_MEMLOCK : ERR_INTERNAL, "%s: no queue pair on %s: %s%s",
		v->name, ibv_get_device_name(v->id->verbs->device), strerror(-ret),
		ret == -ENOMEM ? VERBS_REMEDY : "");
	return ret;
}

static void take_priv(struct verbs_conn *v, const struct rdma_conn_param *param)
{
	v->c.peer_priv_len = param->private_data ? param->private_data_len : 0;
	if (v->c.peer_priv_len)
		memcpy(v->c.peer_priv, param->private_data, v->c.peer_priv_len);
}

static bool aborted(const struct verbs_conn *v)
{
	struct pollfd fd = {.fd = v->abort_fd, .events = POLLIN};

	return atomic_load_explicit(&v->disconnect, memory_order_relaxed) || poll(&fd, 1, 0) > 0;
}

/* Waits for one step of connecting to end with the event `want`. */
static int await(struct verbs_conn *v, enum rdma_cm_event_type want, int timeout_ms, struct err *e)
{
	struct rdma_cm_event *ev =
		verbs_next_event(v->channel, v->abort_fd, v->wake_fd, timeout_ms);
	enum rdma_cm_event_type type;
	int status;

	if (!ev && aborted(v)) {
		err_set(e, ERR_UNREACHABLE, "connecting to %s was given up", v->name);
		return -ECANCELED;
	}
	if (!ev) {
		err_set(e, ERR_UNREACHABLE, "%s does not answer over RDMA within %d s", v->name,
			(timeout_ms + 999) / 1000);
		return -ETIMEDOUT;
	}
	type = ev->event;
	status = ev->status;
	if (type == want && want == RDMA_CM_EVENT_ESTABLISHED) {
		v->c.ird = at_most(v->want_ird, ev->param.conn.responder_resources);
		v->c.ord = at_most(v->want_ord, ev->param.conn.initiator_depth);
		if (v->active)
			take_priv(v, &ev->param.conn);
	}
	rdma_ack_cm_event(ev);
	if (type == want)
		return 0;
	switch (type) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		err_set(e, ERR_UNREACHABLE, "%s cannot be reached over RDMA (%s)", v->name,
			rdma_event_str(type));
		return -EHOSTUNREACH;
	case RDMA_CM_EVENT_REJECTED:
		err_set(e, ERR_REFUSED,
			"%s refused the RDMA connection: no RDMA listener on that port "
			"(status %d)",
			v->name, status);
		return -ECONNREFUSED;
	default:
		err_set(e, ERR_NOT_RDMA,
			"%s ended the RDMA connection while it was being set up (%s)", v->name,
			rdma_event_str(type));
		return -ECONNRESET;
	}
}

static int no_device(struct verbs_conn *v, const char *step, struct err *e)
{
	int ret = -errno;

	err_set(e, ret == -ENODEV || ret == -EADDRNOTAVAIL ? ERR_NO_DEVICE : ERR_UNREACHABLE,
		"no RDMA device here leads to %s (%s: %s); proto=iwarp and proto=tcp need none",
		v->name, step, strerror(-ret));
	return ret;
}

static int verbs_open(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e)
{
	struct verbs_conn *v = conn_new(p);
	int ret = -ENOMEM;

	if (!v)
		return err_set(e, ERR_INTERNAL, "out of memory"), -ENOMEM;
	v->active = true;
	memcpy(&v->c.peer, peer, len);
	addr_text(peer, len, v->name, sizeof(v->name));
	if (!v->channel || rdma_create_id(v->channel, &v->id, v, RDMA_PS_TCP)) {
		v->id = NULL;
		ret = no_device(v, "rdma_create_id", e);
	} else if (rdma_resolve_addr(v->id, NULL, (struct sockaddr *)peer, timeout_ms)) {
		ret = no_device(v, "rdma_resolve_addr", e);
	} else {
		ret = await(v, RDMA_CM_EVENT_ADDR_RESOLVED, timeout_ms, e);
		if (!ret && rdma_resolve_route(v->id, timeout_ms))
			ret = no_device(v, "rdma_resolve_route", e);
		if (!ret)
			ret = await(v, RDMA_CM_EVENT_ROUTE_RESOLVED, timeout_ms, e);
		if (!ret)
			ret = make_qp(v, p, e);
	}
	if (ret) {
		verbs_free(&v->c);
		return ret;
	}
	*out = &v->c;
	return 0;
}

static void verbs_unlisten(struct prov_listener *pl)
{
	struct verbs_listener *l = (struct verbs_listener *)pl;

	if (!l)
		return;
	if (l->id)
		rdma_destroy_id(l->id);
	if (l->channel)
		rdma_destroy_event_channel(l->channel);
	free(l);
}

static int verbs_listen(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
	struct prov_listener **out, struct err *e)
{
	struct verbs_listener *l = calloc(1, sizeof(*l));
	char text[80];
	int ret;

	addr_text(addr, len, text, sizeof(text));
	if (!l)
		return err_set(e, ERR_INTERNAL, "out of memory"), -ENOMEM;
	l->l.ops = &prov_verbs;
	l->p = *p;
	if (p->priv_len)
		memcpy(l->priv, p->priv, p->priv_len);
	l->p.priv = l->priv;
	l->channel = rdma_create_event_channel();
	if (!l->channel || rdma_create_id(l->channel, &l->id, NULL, RDMA_PS_TCP) ||
		rdma_bind_addr(l->id, (struct sockaddr *)addr) ||
		rdma_listen(l->id, LISTEN_BACKLOG) || fcntl(l->channel->fd, F_SETFL, O_NONBLOCK)) {
		ret = -errno;
		err_set(e, ret == -ENODEV ? ERR_NO_DEVICE : ERR_INTERNAL,
			"cannot listen for RDMA on %s: %s", text,
			ret == -ENODEV ? "no RDMA device has that address" : strerror(-ret));
		verbs_unlisten(&l->l);
		return ret;
	}
	l->l.fd = l->channel->fd;
	l->l.port = ntohs(rdma_get_src_port(l->id));
	*out = &l->l;
	return 0;
}

/* Makes a verbs_conn of a connection request, and moves the id to a new channel. */
static int take_request(
	struct verbs_listener *l, struct rdma_cm_event *ev, struct prov_conn **out, struct err *e)
{
	struct rdma_cm_id *id = ev->id;
	struct verbs_conn *v = conn_new(&l->p);
	int ret = -ENOMEM;

	if (v) {
		/* in a request both numbers are already swapped: responder_resources is the number
		 * of RDMA Reads that the peer wants under way, initiator_depth the number that the
		 * peer can serve */
		v->want_ird = at_most(v->want_ird, ev->param.conn.responder_resources);
		v->want_ord = at_most(v->want_ord, ev->param.conn.initiator_depth);
		take_priv(v, &ev->param.conn);
	}
	rdma_ack_cm_event(ev);
	if (!v || !v->channel || rdma_migrate_id(id, v->channel)) {
		rdma_destroy_id(id);
		if (v)
			verbs_free(&v->c);
		return err_set(e, ERR_INTERNAL, "a connection request could not be taken"), ret;
	}
	v->id = id;
	v->c.peer = id->route.addr.dst_storage;
	sock_user_at((const struct sockaddr *)&v->c.peer, &v->c.user);
	addr_text(rdma_get_peer_addr(id), sizeof(v->c.peer), v->name, sizeof(v->name));
	ret = make_qp(v, &l->p, e);
	if (ret) {
		rdma_reject(id, NULL, 0);
		verbs_free(&v->c);
		return ret;
	}
	*out = &v->c;
	return 0;
}

static int verbs_accept(struct prov_listener *pl, struct prov_conn **out, struct err *e)
{
	struct verbs_listener *l = (struct verbs_listener *)pl;
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(l->channel, &ev))
		return -EAGAIN;
	if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return take_request(l, ev, out, e);
	rdma_ack_cm_event(ev);
	return -EAGAIN;
}

static int verbs_establish(struct prov_conn *pc, int timeout_ms, struct err *e)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	struct rdma_conn_param param = {
		.private_data = v->priv,
		.private_data_len = v->priv_len,
		.responder_resources = v->want_ird,
		.initiator_depth = v->want_ord,
		.retry_count = RETRY_COUNT,
		.rnr_retry_count = RNR_RETRY,
	};
	int ret;

	if (v->active ? rdma_connect(v->id, &param) : rdma_accept(v->id, &param)) {
		ret = -errno;
		err_set(e, ERR_REFUSED, "%s: the RDMA connection cannot be made: %s", v->name,
			strerror(-ret));
		return ret;
	}
	ret = await(v, RDMA_CM_EVENT_ESTABLISHED, timeout_ms, e);
	if (ret)
		return ret;
	/* The passive side's event need not repeat the agreed values. */
	if (!v->active) {
		v->c.ird = v->want_ird;
		v->c.ord = v->want_ord;
	}
	return 0;
}

static void verbs_disconnect(struct prov_conn *pc)
{
	struct verbs_conn *v = (struct verbs_conn *)pc;
	uint64_t one = 1;

	atomic_store_explicit(&v->disconnect, true, memory_order_relaxed);
	if (write(v->wake_fd, &one, sizeof(one)) < 0)
		log_ctrl("%s: wake-up: %s", v->name, strerror(errno));
}

const struct prov_ops prov_verbs = {
	.name = "verbs",
	.remote_inval = false, /* doors may be plain registrations */
	.open = verbs_open,
	.listen = verbs_listen,
	.accept = verbs_accept,
	.unlisten = verbs_unlisten,
	.establish = verbs_establish,
	.post_recv = verbs_post_recv,
	.post = verbs_post,
	.expose = verbs_expose,
	.withdraw = verbs_withdraw,
	.poll = verbs_poll,
	.wait = verbs_wait,
	.disconnect = verbs_disconnect,
	.free = verbs_free,
};
