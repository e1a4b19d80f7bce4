/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_aux: single calls to the portmapper, MOUNT and the like.
 *
 * The portmapper of a server with an IPv4 address is asked by version 2 (GETPORT), which all have;
 * that of one with an IPv6 address by version 3 (GETADDR), since version 2 is not served there.
 */
#include "nfsproto/common/nfs3_aux.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/rpc/rpc_auth.h"

#define PMAP_PROGRAM  100000
#define PMAP_GETPORT  3 /* of version 2 */
#define PMAP_GETADDR  3 /* of version 3 */
#define UADDR_MAX     64
#define UDP_FIRST_MS  300 /* until a datagram is sent again; doubled each time */
#define UDP_ARGS_MAX  2560
#define UDP_REPLY_MAX 8192

void nfs3_aux_set_port(struct nfs3_aux *a, uint16_t port)
{
	if (a->rp.peer.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&a->rp.peer)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&a->rp.peer)->sin_port = htons(port);
}

/* --- UDP ----------------------------------------------------------------------------------- */

/* The call as one datagram at the end of head; the datagram begins at *off. 0 or -EMSGSIZE. */
static int udp_build(const struct nfs3_aux *a, struct nfs3_sync *s,
	void (*put)(struct nfs3_sync *s, struct xdr_out *x), uint8_t *buf, size_t size,
	uint32_t *off, size_t *len)
{
	struct xdr_out x;
	int rc;

	xdr_out_init(&x, buf + RPC_MSG_MAX_CALL, size - RPC_MSG_MAX_CALL);
	put(s, &x);
	if (!xdr_out_ok(&x))
		return -EMSGSIZE;
	rc = rpc_auth_put_call(
		&s->call, a->rp.prog, a->rp.vers, buf + RPC_MSG_MAX_CALL, RPC_MSG_MAX_CALL);
	if (rc < 0)
		return rc;
	*off = RPC_MSG_MAX_CALL - (uint32_t)rc;
	*len = (size_t)rc + x.len;
	return 0;
}

/* A received datagram: 1 if it is not the reply to xid, else as an rpc_done_fn gets it. */
static int udp_reply(struct nfs3_sync *s, uint32_t xid, const uint8_t *buf, size_t n)
{
	struct rpc_reply_hdr h = {.xid = ~xid};
	struct xdr_in x;
	int rc;

	xdr_in_init(&x, buf, n);
	rc = rpc_auth_get_reply(&s->call, &x, &h);
	if (h.xid != xid)
		return 1;
	s->call.rpc_stat = h.stat;
	s->call.mismatch_low = h.mismatch_low;
	s->call.mismatch_high = h.mismatch_high;
	s->call.auth_stat = h.auth_stat;
	if (rc)
		return rc;
	return s->get(s, &x) || !xdr_in_done(&x) ? -EBADMSG : 0;
}

static int udp_exchange(
	struct nfs3_sync *s, int fd, uint32_t xid, const uint8_t *msg, size_t len, uint64_t until)
{
	uint8_t buf[UDP_REPLY_MAX] __attribute__((aligned(4)));
	unsigned again_ms = UDP_FIRST_MS;
	uint64_t now = clock_ns(), resend = 0;

	for (; now < until; now = clock_ns()) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t next;
		ssize_t n;
		int rc;

		if (now >= resend) {
			if (send(fd, msg, len, 0) < 0 && errno != EAGAIN && errno != ENOBUFS)
				return -errno;
			resend = now + again_ms * NSEC_PER_MSEC;
			again_ms *= 2;
		}
		next = resend < until ? resend : until;
		if (poll(&p, 1, (int)((next - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno == ECONNREFUSED)
			return -ECONNREFUSED; /* no program listens there */
		if (n < 0)
			continue;
		rc = udp_reply(s, xid, buf, (size_t)n);
		if (rc <= 0)
			return rc;
	}
	return -ETIMEDOUT;
}

static int udp_call(const struct nfs3_aux *a, struct nfs3_sync *s, uint32_t proc,
	void (*put)(struct nfs3_sync *s, struct xdr_out *x), unsigned ms)
{
	uint8_t msg[RPC_MSG_MAX_CALL + UDP_ARGS_MAX] __attribute__((aligned(4)));
	uint64_t until = clock_ns() + ms * NSEC_PER_MSEC;
	uint32_t xid, off;
	size_t len;
	int fd, rc;

	memset(&s->call, 0, sizeof(s->call));
	s->call.proc = proc;
	s->call.cred = a->cred;
	if (getrandom(&xid, sizeof(xid), 0) != sizeof(xid))
		return -EIO;
	s->call.xid = xid;
	rc = udp_build(a, s, put, msg, sizeof(msg), &off, &len);
	if (rc)
		return rc;
	fd = socket(a->rp.peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Servers may insist on a privileged port. An unprivileged client does without. */
	if (a->rp.peer.ss_family == AF_INET)
		bindresvport(fd, NULL);
	if (connect(fd, (const struct sockaddr *)&a->rp.peer, a->rp.peer_len))
		rc = -errno;
	else
		rc = udp_exchange(s, fd, xid, msg + off, len, until);
	close(fd);
	return rc ? nfs3_rpc_error(&s->call, rc) : 0;
}

/* --- both ---------------------------------------------------------------------------------- */

int nfs3_aux_call(const struct nfs3_aux *a, struct nfs3_sync *s, uint32_t proc,
	void (*put)(struct nfs3_sync *s, struct xdr_out *x), uint32_t reply_max, unsigned ms,
	struct err *e)
{
	uint64_t until = clock_ns() + ms * NSEC_PER_MSEC, now;
	struct rpc_client_params rp = a->rp;
	struct rpc_client *rpc;
	int rc = -ETIMEDOUT;

	if (a->udp)
		return udp_call(a, s, proc, put, ms);
	rp.connect_ms = ms;
	rp.timeo_ms = ms;
	rp.retrans = 0;
	rp.soft = true;
	rpc = rpc_client_new(&rp, e);
	if (!rpc)
		return -ENOTCONN;
	now = clock_ns();
	if (now < until)
		rc = nfs3_sync_call(s, rpc, &a->cred, proc, put, reply_max,
			(unsigned)((until - now) / NSEC_PER_MSEC) + 1);
	rpc_client_free(rpc);
	return rc;
}

/* --- the portmapper ------------------------------------------------------------------------ */

static void put_getport(struct nfs3_sync *s, struct xdr_out *x)
{
	const struct nfs3_aux *a = s->put;

	xdr_put_u32(x, a->rp.prog);
	xdr_put_u32(x, a->rp.vers);
	xdr_put_u32(x, a->udp ? IPPROTO_UDP : IPPROTO_TCP);
	xdr_put_u32(x, 0);
}

static int get_getport(struct nfs3_sync *s, struct xdr_in *x)
{
	uint32_t port = xdr_get_u32(x);

	*(uint16_t *)s->out = port <= UINT16_MAX ? (uint16_t)port : 0;
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

static void put_getaddr(struct nfs3_sync *s, struct xdr_out *x)
{
	const struct nfs3_aux *a = s->put;

	xdr_put_u32(x, a->rp.prog);
	xdr_put_u32(x, a->rp.vers);
	xdr_put_opaque(x, a->udp ? "udp6" : "tcp6", 4);
	xdr_put_opaque(x, "", 0); /* r_addr */
	xdr_put_opaque(x, "", 0); /* r_owner */
}

uint16_t nfs3_aux_uaddr_port(const char *s, uint32_t n)
{
	unsigned part[2] = {0, 0}, unit = 1;
	int i = 1;

	/* the last two numbers, from the end */
	while (n > 0 && i >= 0) {
		char ch = s[--n];

		if (ch == '.') {
			i--;
			unit = 1;
		} else if (ch >= '0' && ch <= '9' && unit <= 100) {
			part[i] += (unsigned)(ch - '0') * unit;
			unit *= 10;
		} else {
			return 0;
		}
	}
	if (i >= 0 || part[0] > 255 || part[1] > 255)
		return 0;
	return (uint16_t)(part[0] << 8 | part[1]);
}

static int get_getaddr(struct nfs3_sync *s, struct xdr_in *x)
{
	uint32_t n;
	const char *uaddr = (const char *)xdr_get_opaque(x, UADDR_MAX, &n);

	*(uint16_t *)s->out = uaddr ? nfs3_aux_uaddr_port(uaddr, n) : 0;
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

int nfs3_aux_getport(const struct nfs3_aux *a, uint16_t *port, unsigned ms)
{
	bool v6 = a->rp.peer.ss_family == AF_INET6;
	struct nfs3_aux pmap = *a;
	struct nfs3_sync s = {
		.put = a, .out = port, .get = v6 ? get_getaddr : get_getport, .stop = a->stop};

	*port = 0;
	nfs3_aux_set_port(&pmap, PMAP_PORT);
	pmap.cred = (struct rpc_cred){.flavor = RPC_AUTH_NONE};
	pmap.rp.proto = RPC_TCP;
	pmap.rp.prog = PMAP_PROGRAM;
	pmap.rp.vers = v6 ? 3 : 2;
	return nfs3_aux_call(&pmap, &s, v6 ? PMAP_GETADDR : PMAP_GETPORT,
		v6 ? put_getaddr : put_getport, 4 + UADDR_MAX, ms, NULL);
}
