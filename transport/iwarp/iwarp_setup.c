/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: from a TCP address to a connection that carries FPDUs (RFC 5044 section 7, RFC 6581).
 *
 * The active side sends an MPA Request, the passive side answers with a Reply. We ask for revision
 * 2 with IRD and ORD words: Linux refuses revision 1, which cannot convey them. As the passive side
 * we take either. Exactly the bytes of the frame are read, so that no byte of the first FPDU is
 * lost.
 */
#include "transport/iwarp/iwarp_setup.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/dial.h"
#include "transport/iwarp/iwarp_conn.h"
#include "transport/keepalive.h"

enum {
	LOST_AFTER_MS = 60000, /* unacknowledged data */
	KEEP_IDLE_S = 20,
	KEEP_INTERVAL_S = 5,
	KEEP_PROBES = 4,
	ORD_UNKNOWN =
		1, /* reads we dare when a peer of revision 1 has not said how many it takes */
};

struct iwarp_listener {
	struct prov_listener prov;
	struct prov_params params;
	uint8_t priv_data[PROV_MAX_PRIV];
};

static int64_t now_ms(void)
{
	return (int64_t)(clock_ns() / NSEC_PER_MSEC);
}

static void name_addr(const struct sockaddr_storage *ss, char *out, size_t n)
{
	char ip[INET6_ADDRSTRLEN + IF_NAMESIZE + 1], port[8];

	if (getnameinfo((const struct sockaddr *)ss, sizeof(*ss), ip, sizeof(ip), port,
		    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(out, n, "?");
	else
		snprintf(out, n, "%s port %s", ip, port);
}

static const struct keepalive usual = {
	.idle_s = KEEP_IDLE_S,
	.interval_s = KEEP_INTERVAL_S,
	.probes = KEEP_PROBES,
	.lost_ms = LOST_AFTER_MS,
};

/* A connection without one of these options still works. Buffer sizes are left to the kernel: its
 * automatic limits exceed those of an unprivileged setsockopt(). */
static void tune_socket(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	keepalive_set(fd, &usual);
}

void iwarp_lease(struct prov_conn *pc, unsigned s)
{
	struct keepalive k = keepalive_within(&usual, s);

	keepalive_set(((struct iwarp_conn *)pc)->fd, &k);
}

int iwarp_tcp_fd(struct prov_conn *pc)
{
	return ((struct iwarp_conn *)pc)->fd;
}

/* Waits for events on fd. 0, -ETIMEDOUT, -ECANCELED (abort_fd, if not 0) or -errno. */
static int wait_for(int fd, short events, int64_t deadline, int abort_fd)
{
	struct pollfd pfd[2] = {
		{.fd = fd, .events = events},
		{.fd = abort_fd > 0 ? abort_fd : -1, .events = POLLIN},
	};

	for (;;) {
		int64_t left = deadline - now_ms();
		int rc = poll(pfd, 2, left > 0 ? (int)left : 0);

		if (rc > 0)
			return pfd[1].revents ? -ECANCELED : 0;
		if (rc == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

/* --- active: the TCP connection --------------------------------------------------------------- */

static int connect_error(int error, const char *peer, struct err *e)
{
	switch (error) {
	case ECANCELED:
		err_set(e, ERR_UNREACHABLE, "connecting to %s was given up", peer);
		break;
	case ECONNREFUSED:
		err_set(e, ERR_REFUSED,
			"%s: connection refused, nothing listens there: start NFS over RDMA on the "
			"server, or give its port with -o port=; proto=tcp needs no RDMA",
			peer);
		break;
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EHOSTDOWN:
	case ENETDOWN:
	case EADDRNOTAVAIL:
		err_set(e, ERR_UNREACHABLE, "%s cannot be reached: %s", peer, strerror(error));
		break;
	default:
		err_set(e, ERR_INTERNAL, "connecting to %s: %s", peer, strerror(error));
	}
	return -error;
}

static int prepare(void *ctx, int fd, int family, unsigned go)
{
	tune_socket(fd);
	return 0;
}

static int finish_conn(int fd, bool active, const struct prov_params *p,
	const struct sockaddr_storage *peer, struct prov_conn **out, struct err *e)
{
	struct iwarp_conn *c = iwarp_conn_new(fd, active, p);

	if (!c) {
		err_set(e, ERR_INTERNAL, "no memory or descriptor for an iWARP connection");
		return -ENOMEM;
	}
	c->prov.peer = *peer;
	name_addr(peer, c->peer, sizeof(c->peer));
	*out = &c->prov;
	return 0;
}

static bool params_ok(const struct prov_params *p)
{
	return p->recv_depth && p->send_depth && p->ird && p->ord && p->priv_len <= PROV_MAX_PRIV;
}

int iwarp_open(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e)
{
	struct dial_addr one = {.len = len};
	struct dial d = {
		.addr = p->nchoice ? p->choice : &one,
		.n = p->nchoice ? p->nchoice : 1,
		.timeout_ms = (unsigned)timeout_ms,
		.abort_fd = p->abort_fd,
		.prepare = prepare,
	};
	const struct dial_addr *a;
	char name[80];
	int fd;

	if (!params_ok(p) || len > sizeof(one.ss)) {
		err_set(e, ERR_INTERNAL, "wrong parameters of an iWARP connection");
		return -EINVAL;
	}
	memcpy(&one.ss, peer, len);
	fd = dial_any(&d);
	a = dial_chosen(d.addr, d.n);
	name_addr(&a->ss, name, sizeof(name));
	return fd < 0 ? connect_error(a->outcome, name, e)
		      : finish_conn(fd, true, p, &a->ss, out, e);
}

/* --- passive: the TCP connection -------------------------------------------------------------- */

static int bind_listen(
	int fd, const struct sockaddr *addr, socklen_t len, struct sockaddr_storage *bound)
{
	socklen_t n = sizeof(*bound);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, addr, len) || listen(fd, 128) || getsockname(fd, (struct sockaddr *)bound, &n))
		return -errno;
	return 0;
}

int iwarp_listen(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
	struct prov_listener **out, struct err *e)
{
	struct sockaddr_storage ss = {.ss_family = AF_UNSPEC};
	struct iwarp_listener *l = calloc(1, sizeof(*l));
	char name[80];
	int fd, rc;

	if (!l) {
		err_set(e, ERR_INTERNAL, "no memory for an iWARP listener");
		return -ENOMEM;
	}
	if (!params_ok(p) || len > sizeof(ss)) {
		err_set(e, ERR_INTERNAL, "wrong parameters of an iWARP listener");
		free(l);
		return -EINVAL;
	}
	memcpy(&ss, addr, len);
	name_addr(&ss, name, sizeof(name));
	fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	rc = fd < 0 ? -errno : bind_listen(fd, addr, len, &ss);
	if (rc) {
		err_set(e, ERR_INTERNAL, "listening on %s: %s", name, strerror(-rc));
		if (fd >= 0)
			close(fd);
		free(l);
		return rc;
	}
	l->params = *p;
	if (p->priv_len)
		memcpy(l->priv_data, p->priv, p->priv_len);
	l->params.priv = l->priv_data;
	l->prov.fd = fd;
	l->prov.port = ntohs(ss.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&ss)->sin6_port
						      : ((struct sockaddr_in *)&ss)->sin_port);
	*out = &l->prov;
	return 0;
}

int iwarp_accept(struct prov_listener *pl, struct prov_conn **out, struct err *e)
{
	struct iwarp_listener *l = (struct iwarp_listener *)pl;
	struct sockaddr_storage ss = {.ss_family = AF_UNSPEC};
	socklen_t len = sizeof(ss);
	int fd = accept4(l->prov.fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int rc;

	if (fd < 0) {
		int error = errno;

		/* The peer may have gone again between its SYN and now. */
		if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR ||
			error == ECONNABORTED || error == EPROTO)
			return -EAGAIN;
		err_set(e, ERR_INTERNAL, "accepting a connection: %s", strerror(error));
		return -error;
	}
	tune_socket(fd);
	rc = finish_conn(fd, false, &l->params, &ss, out, e);
	if (rc == 0)
		sock_user_of(fd, &(*out)->user);
	return rc;
}

void iwarp_unlisten(struct prov_listener *pl)
{
	if (!pl)
		return;
	close(pl->fd);
	free(pl);
}

/* --- MPA -------------------------------------------------------------------------------------- */

/* 0, -ETIMEDOUT, -ECONNRESET (also for an orderly end) or -errno; *done bytes were moved. */
static int read_all(struct iwarp_conn *c, uint8_t *p, size_t n, int64_t deadline, size_t *done)
{
	*done = 0;
	while (*done < n) {
		ssize_t k = recv(c->fd, p + *done, n - *done, 0);

		if (k > 0) {
			*done += (size_t)k;
		} else if (k == 0) {
			return -ECONNRESET;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			int rc = wait_for(c->fd, POLLIN, deadline, c->params.abort_fd);

			if (rc)
				return rc;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int write_all(struct iwarp_conn *c, const uint8_t *p, size_t n, int64_t deadline)
{
	while (n) {
		ssize_t k = send(c->fd, p, n, MSG_NOSIGNAL);

		if (k > 0) {
			p += k;
			n -= (size_t)k;
		} else if (k < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			int rc = wait_for(c->fd, POLLOUT, deadline, c->params.abort_fd);

			if (rc)
				return rc;
		} else if (k < 0 && errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int io_error(struct iwarp_conn *c, int rc, size_t got, const char *frame, struct err *e)
{
	if (rc == -ETIMEDOUT && !got)
		err_set(e, ERR_UNREACHABLE, "%s accepts connections but sends no %s in time",
			c->peer, frame);
	else if (rc == -ETIMEDOUT)
		err_set(e, ERR_NOT_RDMA, "%s sent %zu bytes that are no whole %s", c->peer, got,
			frame);
	else if (rc == -ECONNRESET || rc == -EPIPE)
		err_set(e, ERR_NOT_RDMA,
			c->active
				? "%s closed the connection instead of sending an %s: it does not "
				  "speak iWARP, or serves only some users or machines "
				  "(rnfs-serve: --allow-users, --clients)"
				: "%s closed the connection instead of sending an %s",
			c->peer, frame);
	else if (rc == -ECANCELED)
		err_set(e, ERR_UNREACHABLE, "connecting to %s was given up", c->peer);
	else
		err_set(e, ERR_INTERNAL, "%s: %s", c->peer, strerror(-rc));
	return rc;
}

/* Reads the peer's Request or Reply into buf (MPA_MAX_FRAME bytes). */
static int read_frame(struct iwarp_conn *c, uint8_t *buf, bool reply, struct mpa_frame *f,
	int64_t deadline, struct err *e)
{
	const char *what = reply ? "MPA Reply" : "MPA Request";
	size_t got;
	int rc = read_all(c, buf, MPA_HDR_LEN, deadline, &got);

	if (rc)
		return io_error(c, rc, got, what, e);
	rc = mpa_decode(buf, reply, f);
	if (!rc)
		rc = read_all(c, buf + MPA_HDR_LEN, f->pd_len, deadline, &got);
	if (!rc)
		rc = mpa_decode_pd(f, buf + MPA_HDR_LEN);
	switch (rc) {
	case 0:
		return 0;
	case -EPROTO:
		err_set(e, ERR_NOT_RDMA, "%s answers, but not with an %s: it does not speak iWARP",
			c->peer, what);
		return rc;
	case -EPROTONOSUPPORT:
		err_set(e, ERR_NOT_RDMA, "%s speaks MPA revision %u, supported are 1 and 2",
			c->peer, f->rev);
		return rc;
	case -EMSGSIZE:
		err_set(e, ERR_NOT_RDMA,
			"%s sent an %s with %u bytes of private data, which cannot be", c->peer,
			what, f->pd_len);
		return rc;
	default:
		return io_error(c, rc, MPA_HDR_LEN + got, what, e);
	}
}

static void keep_priv(struct iwarp_conn *c, const struct mpa_frame *f)
{
	unsigned n = f->priv_len;

	if (n > sizeof(c->prov.peer_priv))
		n = sizeof(c->prov.peer_priv);
	if (n)
		memcpy(c->prov.peer_priv, f->priv, n);
	c->prov.peer_priv_len = (uint16_t)n;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int establish_active(struct iwarp_conn *c, int64_t deadline, struct err *e)
{
	struct mpa_frame f = {.rev = 2,
		.crc = c->params.crc,
		.enhanced = true,
		.long_fpdus = true,
		.ird = c->params.ird,
		.ord = c->params.ord,
		.priv = c->params.priv,
		.priv_len = c->params.priv_len};
	unsigned ird = c->params.ird, ord = c->params.ord;
	uint8_t buf[MPA_MAX_FRAME];
	int rc = write_all(c, buf, mpa_encode(&f, buf), deadline);

	if (rc)
		return io_error(c, rc, 0, "MPA Reply", e);
	rc = read_frame(c, buf, true, &f, deadline, e);
	if (rc)
		return rc;
	if (f.reject) {
		err_set(e, ERR_REFUSED,
			"%s rejects the iWARP connection (MPA revision %u, IRD %u, ORD %u)",
			c->peer, f.rev, f.ird, f.ord);
		return -ECONNREFUSED;
	}
	if (f.markers) {
		err_set(e, ERR_NOT_RDMA, "%s insists on MPA markers, which are not supported",
			c->peer);
		return -EPROTONOSUPPORT;
	}
	if (!f.enhanced) {
		ord = least(ord, ORD_UNKNOWN);
	} else {
		if (f.ird != MPA_DEPTH_ANY)
			ord = least(ord, f.ird);
		/* The peer may read more at a time than offered: grant it (RFC 6581 section
		 * 9.1). */
		if (f.ord != MPA_DEPTH_ANY && f.ord > ird)
			ird = least(f.ord, UINT8_MAX);
	}
	keep_priv(c, &f);
	c->long_fpdus = f.long_fpdus;
	return iwarp_conn_start(c, ird, ord, c->params.crc || f.crc);
}

static int reject(struct iwarp_conn *c, const struct mpa_frame *request, int64_t deadline)
{
	struct mpa_frame f = {.reply = true, .rev = request->rev, .reject = true};
	uint8_t buf[MPA_MAX_FRAME];

	write_all(c, buf, mpa_encode(&f, buf), deadline);
	shutdown(c->fd, SHUT_WR);
	return -EPROTONOSUPPORT;
}

static int establish_passive(struct iwarp_conn *c, int64_t deadline, struct err *e)
{
	struct mpa_frame q, f = {.reply = true, .crc = c->params.crc};
	unsigned ird = c->params.ird, ord = c->params.ord;
	uint8_t buf[MPA_MAX_FRAME];
	int rc = read_frame(c, buf, false, &q, deadline, e);

	if (rc)
		return rc;
	if (q.markers) {
		err_set(e, ERR_NOT_RDMA, "%s insists on MPA markers, which are not supported",
			c->peer);
		return reject(c, &q, deadline);
	}
	if (!q.enhanced) {
		ord = least(ord, ORD_UNKNOWN);
	} else {
		if (q.ord != MPA_DEPTH_ANY)
			ird = least(ird, q.ord ? q.ord : 1);
		if (q.ird != MPA_DEPTH_ANY)
			ord = least(ord, q.ird);
	}
	keep_priv(c, &q);
	f.rev = q.rev;
	f.enhanced = q.enhanced;
	f.long_fpdus = c->long_fpdus = q.long_fpdus;
	f.ird = (uint16_t)(q.ord == MPA_DEPTH_ANY ? MPA_DEPTH_ANY : ird);
	f.ord = (uint16_t)(q.ird == MPA_DEPTH_ANY ? MPA_DEPTH_ANY : ord);
	f.priv = c->params.priv;
	f.priv_len = c->params.priv_len;
	/* All must be ready before the peer can see the Reply. */
	rc = iwarp_conn_start(c, ird, ord, c->params.crc || q.crc);
	if (!rc)
		rc = write_all(c, buf, mpa_encode(&f, buf), deadline);
	return rc ? io_error(c, rc, 0, "MPA Request", e) : 0;
}

int iwarp_establish(struct prov_conn *pc, int timeout_ms, struct err *e)
{
	struct iwarp_conn *c = (struct iwarp_conn *)pc;
	int64_t deadline = now_ms() + timeout_ms;
	int rc = c->active ? establish_active(c, deadline, e) : establish_passive(c, deadline, e);

	if (rc == -ENOMEM)
		err_set(e, ERR_INTERNAL, "no memory for the iWARP connection to %s", c->peer);
	return rc;
}
