/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_trunk: further connections to a server. Model: nfs4_trunk.h.
 */
#include "nfsproto/v4/server/nfs4_trunk.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include "nfsproto/common/nfs_address.h"
#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_session_ops.h"
#include "transport/clock.h"
#include "transport/log.h"

/* The addresses that connections go to. */
struct trunk {
	struct dial_addr a[DIAL_ADDRS_MAX + 1]; /* [0]: that of the first connection */
	enum { GOOD, DEAD, FOREIGN } is[DIAL_ADDRS_MAX + 1];
	unsigned n, dead;
	unsigned wanted; /* connections */
};

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			&((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* The address of the first connection, and then at most max_connect - 1 others of the server's
 * name. */
static void find_addresses(
	struct trunk *t, const struct nfs4_server *srv, const struct nfs_mount_params *p)
{
	struct dial_addr all[DIAL_ADDRS_MAX];
	struct err e = {.kind = ERR_NONE};
	unsigned found = p->max_connect > 1 ? nfs_addresses(p, all, &e) : 0;

	*t = (struct trunk){.n = 1};
	t->a[0] = (struct dial_addr){.ss = srv->rp.peer, .len = srv->rp.peer_len};
	for (unsigned i = 0; i < found && t->n < p->max_connect; i++)
		if (!same_address(&all[i].ss, &srv->rp.peer))
			t->a[t->n++] = all[i];
}

/* Binds conn, the last connection, to the session; other: conn goes to another address than the
 * first. NULL, or why that is not possible; *later: not now. */
static const char *bind_to_session(
	struct nfs4_conn *conn, bool other, unsigned connect_ms, bool *later)
{
	struct nfs4_sync s;
	int rc = other ? nfs4_sync_same_server(conn, &s, connect_ms) : 0;

	if (rc == -EXDEV)
		return "the address belongs to another server";
	if (rc == 0)
		rc = nfs4_sync_bind(conn, &s, connect_ms);
	if (rc == 0)
		return NULL;
	*later = s.status ? s.status == NFS4ERR_DELAY || s.status == NFS4ERR_GRACE
			  : rc == -ETIMEDOUT || rc == -ENOTCONN;
	return s.status ? nfs4_status_name(s.status) : strerror(-rc);
}

static void all_dead(struct trunk *t)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->is[i] == GOOD)
			t->is[i] = DEAD;
}

/* Makes one more connection, to address i. False: there is none, and t says why. */
static bool connect_to(struct nfs4_server *srv, struct trunk *t, unsigned i, unsigned ms)
{
	struct nfs4_conn *conn = &srv->conn[srv->nconns];
	struct err e = {.kind = ERR_NONE};
	bool later = false;
	const char *why;

	if (nfs4_conn_more(srv, &t->a[i], ms, &e)) {
		nfs_connect_fewer(srv->name, srv->nconns, t->wanted, &e);
		t->is[i] = DEAD;
		t->dead++;
		if (e.kind == ERR_NO_MEMLOCK) /* no other address can do better now */
			all_dead(t);
		return false;
	}
	conn->other = i > 0;
	why = bind_to_session(conn, conn->other, ms, &later);
	if (!why)
		return true;
	log_info("%s: connection %td cannot be bound to the session%s: %s", srv->name,
		conn - srv->conn + 1, later ? " now" : "", why);
	nfs4_conn_drop(srv);
	t->is[i] = later ? DEAD : FOREIGN;
	t->dead += later;
	return false;
}

/* Goes through the addresses that are `is`, by turns. Returns the next after *at, or -1: there is
 * none. */
static int next_address(const struct trunk *t, unsigned *at, int is)
{
	for (unsigned i = 0; i < t->n; i++) {
		unsigned next = ++*at % t->n;

		if ((int)t->is[next] == is)
			return (int)next;
	}
	return -1;
}

/* Is the session lost? Then no connection can be bound before there is another session. */
static bool is_lost(struct nfs4_server *srv)
{
	bool lost;

	mutex_lock(&srv->slots.lock);
	lost = srv->todo & NFS4_TODO_GATE;
	mutex_unlock(&srv->slots.lock);
	return lost;
}

void nfs4_trunk_connect(struct nfs4_server *srv, const struct nfs_mount_params *p)
{
	unsigned ms = p->connect_ms < NFS_MORE_MS ? p->connect_ms : NFS_MORE_MS, at = 0;
	struct err e = {.kind = ERR_NONE};
	struct trunk t;
	int i;

	if (srv->conns_wanted <= 1)
		return;
	find_addresses(&t, srv, p);
	t.wanted = p->nconnect > t.n ? p->nconnect : t.n;
	if (is_lost(srv))
		all_dead(&t);
	while (srv->nconns + t.dead < t.wanted && (i = next_address(&t, &at, GOOD)) >= 0)
		connect_to(srv, &t, (unsigned)i, ms);
	at = 0;
	while (srv->nconns < t.wanted && (i = next_address(&t, &at, DEAD)) >= 0)
		if (nfs4_conn_later(srv, &t.a[i], i > 0, false, &e))
			return;
}

/* --- addresses that the server tells --------------------------------------------------------- */

/* Is a the address of one of the first n connections? */
static bool is_used(const struct nfs4_server *srv, unsigned n, const struct sockaddr_storage *a)
{
	for (unsigned i = 0; i < n; i++)
		if (same_address(&srv->conn[i].to, a))
			return true;
	return false;
}

static unsigned addresses_used(const struct nfs4_server *srv)
{
	unsigned n = 0;

	for (unsigned i = 0; i < srv->nconns; i++)
		n += !is_used(srv, i, &srv->conn[i].to);
	return n;
}

static uint16_t port_of(const struct sockaddr_storage *a)
{
	return ntohs(a->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)a)->sin6_port
					      : ((const struct sockaddr_in *)a)->sin_port);
}

/* The addresses of a place that is the file system itself. */
static unsigned find_told(const struct nfs4_server *srv, const struct nfs_mount_params *p,
	const struct nfs_place *place, struct dial_addr all[DIAL_ADDRS_MAX])
{
	struct err e = {.kind = ERR_NONE};
	char host[NI_MAXHOST];
	uint16_t port;
	unsigned n;

	if (!nfs_place_host(place, host, sizeof(host), &port))
		return 0;
	n = nfs_address_find(host, p->family, port ? port : port_of(&srv->rp.peer), all, &e);
	if (!n)
		log_info("%s: an address that the server tells: %s", srv->name, e.msg);
	return n;
}

void nfs4_trunk_told(
	struct nfs4_server *srv, const struct nfs_mount_params *p, const struct nfs_places *places)
{
	uint64_t until = clock_ns() + NFS_MORE_MS * NFS4_MSEC;
	struct dial_addr all[DIAL_ADDRS_MAX];
	struct err e = {.kind = ERR_NONE};

	for (unsigned i = 0; i < places->n && clock_ns() < until; i++) {
		const struct nfs_place *place = &places->place[i];
		unsigned n;

		if (!places->root || strcmp(place->path, places->root))
			continue;
		n = find_told(srv, p, place, all);
		for (unsigned j = 0; j < n; j++) {
			if (is_used(srv, srv->nconns, &all[j].ss))
				continue;
			if (srv->nconns == NFS4_CONNS || addresses_used(srv) >= p->max_connect ||
				nfs4_conn_later(srv, &all[j], true, true, &e))
				return;
		}
	}
}
