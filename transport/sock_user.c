/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sock_user: the owner of the other end of a connection, if on this machine.
 *
 * The peer's socket is looked up by its addresses and ports. Four things could name a wrong owner,
 * and each makes the owner unknown instead:
 *   - the kernel may answer with a listening socket at the peer's port: the state must be a
 *     connection's;
 *   - the kernel may report a closed socket as root's: the socket must have an inode. The kernel
 *     reads the inode after the owner, and a closing socket loses the inode before the owner;
 *   - the peer's socket may be gone and the port reused: our kernel would then know of the end, so
 *     our socket must still be connected after the look-up;
 *   - in a user namespace the kernel reports every user without a number there as the overflow
 *     user.
 */
#include "transport/sock_user.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An address in the form of the request: an IPv4 address if mapped into IPv6. */
struct end {
	int family;
	size_t len;
	__be32 addr[4];
	__be16 port;
	uint32_t scope;
};

static bool end_of(const struct sockaddr *sa, struct end *e)
{
	memset(e, 0, sizeof(*e));
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)sa;

		e->family = AF_INET;
		e->len = 4;
		memcpy(e->addr, &in->sin_addr, 4);
		e->port = in->sin_port;
		return true;
	}
	if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)sa;
		bool mapped = IN6_IS_ADDR_V4MAPPED(&in->sin6_addr);

		e->family = mapped ? AF_INET : AF_INET6;
		e->len = mapped ? 4 : 16;
		memcpy(e->addr, (const uint8_t *)&in->sin6_addr + (mapped ? 12 : 0), e->len);
		e->port = in->sin6_port;
		e->scope = in->sin6_scope_id;
		return true;
	}
	return false;
}

static bool is_loopback(const struct end *e)
{
	if (e->family == AF_INET)
		return ntohl(e->addr[0]) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)e->addr);
}

bool sock_user_loopback(const struct sockaddr *sa)
{
	struct end e;

	return end_of(sa, &e) && is_loopback(&e);
}

/* Sends a request of len bytes. Reads the payload of the first answer message into buf. Returns the
 * payload's bytes, or -errno. */
static ssize_t ask(int family, struct nlmsghdr *req, void *buf, size_t size)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct timeval patience = {.tv_sec = 5};
	union {
		struct nlmsghdr h;
		char bytes[4096];
	} in;
	ssize_t n = -1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family), error;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	/* only the kernel's answers are read */
	if (connect(fd, (struct sockaddr *)&kernel, sizeof(kernel)) == 0 &&
		send(fd, req, req->nlmsg_len, 0) == (ssize_t)req->nlmsg_len)
		n = recv(fd, &in, sizeof(in), 0);
	error = errno;
	close(fd);
	if (n < 0)
		return -error;
	if (!NLMSG_OK(&in.h, (size_t)n))
		return -EBADMSG;
	n = (ssize_t)NLMSG_PAYLOAD(&in.h, 0);
	if (in.h.nlmsg_type == NLMSG_ERROR)
		return n >= (ssize_t)sizeof(struct nlmsgerr)
			       ? ((struct nlmsgerr *)NLMSG_DATA(&in.h))->error
			       : -EBADMSG;
	if (in.h.nlmsg_type != req->nlmsg_type && in.h.nlmsg_type != RTM_NEWROUTE)
		return -EBADMSG;
	if ((size_t)n > size)
		n = (ssize_t)size;
	memcpy(buf, NLMSG_DATA(&in.h), (size_t)n);
	return n;
}

/* Would a packet to e stay on this machine? 1, 0 or -errno. */
static int is_own(const struct end *e)
{
	struct {
		struct nlmsghdr h;
		struct rtmsg m;
		struct rtattr dst;
		__be32 addr[4];
		struct rtattr oif;
		uint32_t scope;
	} req = {
		.h = {.nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST},
		.m = {.rtm_family = (uint8_t)e->family, .rtm_dst_len = (uint8_t)(e->len * 8)},
		.dst = {.rta_type = RTA_DST, .rta_len = (uint16_t)RTA_LENGTH(e->len)},
	};
	struct rtmsg answer;
	ssize_t n;

	if (is_loopback(e))
		return 1;
	memcpy(req.addr, e->addr, e->len);
	req.h.nlmsg_len = (uint32_t)(offsetof(__typeof__(req), addr) + e->len);
	if (e->scope) { /* an IPv6 address: oif stands right behind the address */
		req.oif = (struct rtattr){.rta_type = RTA_OIF, .rta_len = RTA_LENGTH(4)};
		req.scope = e->scope;
		req.h.nlmsg_len = sizeof(req);
	}
	n = ask(NETLINK_ROUTE, &req.h, &answer, sizeof(answer));
	if (n == -ENETUNREACH || n == -EHOSTUNREACH)
		return 0;
	if (n < (ssize_t)sizeof(answer))
		return n < 0 ? (int)n : -EBADMSG;
	return answer.rtm_type == RTN_LOCAL;
}

/* Finds the owner of the socket at peer with a connection to own. 0 or -errno. */
static int find_socket(const struct end *peer, const struct end *own, uint32_t *uid)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} req = {
		.h = {.nlmsg_len = sizeof(req),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
		.r = {.sdiag_family = (uint8_t)peer->family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = ~0u,
			.id = {.idiag_sport = peer->port,
				.idiag_dport = own->port,
				.idiag_if = peer->scope,
				.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
	};
	struct inet_diag_msg found;
	ssize_t n;

	memcpy(req.r.id.idiag_src, peer->addr, sizeof(peer->addr));
	memcpy(req.r.id.idiag_dst, own->addr, sizeof(own->addr));
	n = ask(NETLINK_SOCK_DIAG, &req.h, &found, sizeof(found));
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(found))
		return -EBADMSG;
	if (found.idiag_state != TCP_ESTABLISHED || !found.idiag_inode ||
		found.id.idiag_sport != peer->port || found.id.idiag_dport != own->port)
		return -ENOENT;
	*uid = found.idiag_uid;
	return 0;
}

/* Has every user a distinct number here? */
static bool uid_is_certain(uint32_t uid)
{
	unsigned inside = 1, outside = 1, count = 0, overflow = 65534;
	FILE *f = fopen("/proc/self/uid_map", "re");
	bool all;

	all = f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3 && !inside && !outside &&
	      count == UINT32_MAX;
	if (f)
		fclose(f);
	if (all)
		return true;
	f = fopen("/proc/sys/kernel/overflowuid", "re");
	if (f && fscanf(f, "%u", &overflow) != 1)
		overflow = 65534;
	if (f)
		fclose(f);
	return uid != overflow;
}

static bool is_connected(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state == TCP_ESTABLISHED;
}

void sock_user_of(int fd, struct sock_user *u)
{
	struct sockaddr_storage sp = {0}, so = {0};
	socklen_t lp = sizeof(sp), lo = sizeof(so);
	struct end peer, own;

	*u = (struct sock_user){.local = true};
	if (getpeername(fd, (struct sockaddr *)&sp, &lp) < 0 ||
		getsockname(fd, (struct sockaddr *)&so, &lo) < 0 ||
		!end_of((struct sockaddr *)&sp, &peer) || !end_of((struct sockaddr *)&so, &own))
		return;
	u->local = is_own(&peer) != 0;
	u->known = u->local && find_socket(&peer, &own, &u->uid) == 0 && uid_is_certain(u->uid) &&
		   is_connected(fd);
}

void sock_user_at(const struct sockaddr *peer, struct sock_user *u)
{
	struct end e;

	*u = (struct sock_user){.local = !end_of(peer, &e) || is_own(&e) != 0};
}
