/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_trunk: further connections to a server. Model: nfs4_trunk.h.
 */
#include "nfsproto/v4/server/nfs4_trunk.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_session_ops.h"
#include "transport/log.h"

/* A connection that is not there soon is not worth a user's wait. */
#define MORE_MS 3000u

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

/* Fills a with the address of the first connection, and then with at most most - 1 others of the
 * server's name. Returns their number. */
static unsigned addresses(const struct nfs4_server *srv, const struct nfs_mount_params *p,
	struct dial_addr a[DIAL_ADDRS_MAX + 1])
{
	struct dial_addr all[DIAL_ADDRS_MAX];
	struct err e = {.kind = ERR_NONE};
	unsigned n = 1, found = p->max_connect > 1 ? nfs_addresses(p, all, &e) : 0;

	a[0] = (struct dial_addr){.ss = srv->rp.peer, .len = srv->rp.peer_len};
	for (unsigned i = 0; i < found && n < p->max_connect; i++)
		if (!same_address(&all[i].ss, &srv->rp.peer))
			a[n++] = all[i];
	return n;
}

/* Binds conn, the last connection, to the session; other: conn goes to another address than the
 * first. NULL, or why that is not possible. */
static const char *bind_to_session(struct nfs4_conn *conn, bool other, unsigned connect_ms)
{
	struct nfs4_sync s;
	int rc = other ? nfs4_sync_same_server(conn, &s, connect_ms) : 0;

	if (rc == -EXDEV)
		return "the address belongs to another server";
	if (rc == 0)
		rc = nfs4_sync_bind(conn, &s, connect_ms);
	if (rc == 0)
		return NULL;
	return s.status ? nfs4_status_name(s.status) : strerror(-rc);
}

/* Makes one more connection, to address a. False: there is none. */
static bool connect_to(struct nfs4_server *srv, const struct dial_addr *a, bool other, unsigned ms)
{
	struct nfs4_conn *conn = &srv->conn[srv->nconns];
	struct err e = {.kind = ERR_NONE};
	const char *why;

	if (nfs4_conn_more(srv, a, ms, &e)) {
		log_info("%s: connection %td cannot be made: %s", srv->name, conn - srv->conn + 1,
			e.msg);
		return false;
	}
	why = bind_to_session(conn, other, ms);
	if (!why)
		return true;
	log_info("%s: connection %td cannot be bound to the session: %s", srv->name,
		conn - srv->conn + 1, why);
	nfs4_conn_drop(srv);
	return false;
}

void nfs4_trunk_connect(struct nfs4_server *srv, const struct nfs_mount_params *p)
{
	unsigned ms = p->connect_ms < MORE_MS ? p->connect_ms : MORE_MS;
	struct dial_addr a[DIAL_ADDRS_MAX + 1];
	bool bad[DIAL_ADDRS_MAX + 1] = {false};
	unsigned n, left, wanted;

	if (srv->conns_wanted <= 1)
		return;
	left = n = addresses(srv, p, a);
	wanted = p->nconnect > n ? p->nconnect : n;
	for (unsigned at = 1; left && srv->nconns < wanted; at++) {
		unsigned i = at % n;

		if (bad[i] || connect_to(srv, &a[i], i > 0, ms))
			continue;
		bad[i] = true;
		left--;
	}
}
