/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_connect: the connection to a server, by name.
 */
#include "nfsproto/common/nfs_connect.h"

#include <unistd.h>

#include "nfsproto/common/nfs_address.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/log.h"

#define NFS_PORT_TCP   2049
#define NFS_PORT_RDMA  20049 /* RFC 8267 section 8 */
#define FIRST_LEAST_MS 1000u

void nfs_shut_out(struct err *e, struct rpc_client *rpc, const char *server, const char *step)
{
	struct rpc_client_info i;

	rpc_client_info(rpc, &i);
	err_set(e, ERR_ACCESS,
		"%s ends each connection without an answer (%s): %sit does not serve user %u of "
		"this machine (rnfs-serve: --allow-users, --clients)",
		server, step,
		i.proto == RPC_TCP ? "its port is one for RDMA (use proto=iwarp or proto=rdma), or "
				   : "",
		(unsigned)geteuid());
}

uint16_t nfs_usual_port(enum rpc_proto proto)
{
	return proto == RPC_TCP ? NFS_PORT_TCP : NFS_PORT_RDMA;
}

unsigned nfs_addresses(
	const struct nfs_mount_params *p, struct dial_addr out[DIAL_ADDRS_MAX], struct err *e)
{
	return nfs_address_find(
		p->host, p->family, p->port ? p->port : nfs_usual_port(p->proto), out, e);
}

/* Keeps the untried addresses. Returns their number. */
static unsigned drop_tried(struct dial_addr *a, unsigned n)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++)
		if (a[i].outcome == DIAL_UNTRIED)
			a[left++] = a[i];
	return left;
}

/* Tries all addresses in parallel. If the one that connected fails later, in the hand-shake, tries
 * the remaining addresses. */
static struct rpc_client *connect_any(
	struct rpc_client_params *rp, struct dial_addr *a, unsigned n, struct err *e)
{
	struct rpc_client *c = NULL;
	unsigned left = n;

	for (n++; left && left < n && !c; left = drop_tried(a, n)) {
		struct err one = {.kind = ERR_NONE};

		n = left;
		rp->choice = a;
		rp->nchoice = n;
		c = rpc_client_new(rp, &one);
		rp->peer = dial_chosen(a, n)->ss;
		rp->peer_len = dial_chosen(a, n)->len;
		if (!c)
			err_set(e, one.kind, "%s", one.msg);
	}
	rp->choice = NULL;
	rp->nchoice = 0;
	return c;
}

/* Tries one after the other, each for its share of the time: RDMA devices connect in several
 * steps. */
static struct rpc_client *connect_each(
	struct rpc_client_params *rp, const struct dial_addr *a, unsigned n, struct err *e)
{
	struct rpc_client *c = NULL;

	rp->first_ms = rp->connect_ms / n > FIRST_LEAST_MS ? rp->connect_ms / n : FIRST_LEAST_MS;
	if (rp->first_ms > rp->connect_ms)
		rp->first_ms = rp->connect_ms;
	for (unsigned i = 0; i < n && !c; i++) {
		struct err one = {.kind = ERR_NONE};

		rp->peer = a[i].ss;
		rp->peer_len = a[i].len;
		c = rpc_client_new(rp, &one);
		if (!c)
			err_set(e, one.kind, "%s", one.msg);
	}
	rp->first_ms = 0;
	return c;
}

void nfs_connect_fewer(const char *server, unsigned made, unsigned wanted, const struct err *e)
{
	if (e->kind == ERR_NO_MEMLOCK)
		log_warn("%s: only %u of %u connections come up: %s", server, made, wanted, e->msg);
	else
		log_info("%s: connection %u cannot be made now: %s", server, made + 1, e->msg);
}

struct rpc_client *nfs_connect(
	const struct nfs_mount_params *p, struct rpc_client_params *rp, struct err *e)
{
	struct dial_addr a[DIAL_ADDRS_MAX];
	unsigned n = 1;

	if (p->record)
		a[0] = (struct dial_addr){.ss = p->record->peer, .len = p->record->peer_len};
	else
		n = nfs_addresses(p, a, e);
	if (!n)
		return NULL;
	rp->proto = p->proto;
	rp->peer_name = p->host;
	rp->pool = p->pool;
	rp->connect_ms = p->connect_ms;
	rp->timeo_ms = p->timeo_ms;
	rp->retrans = p->retrans;
	rp->soft = p->soft;
	rp->may_be_unwanted = true;
	rp->rdma_versions = p->rdma_versions;
	rp->inline_size = p->inline_size;
	rp->credits = p->credits;
	rp->crc = p->crc;
	rp->abort_fd = p->abort_fd;
	return p->proto == RPC_RDMA ? connect_each(rp, a, n, e) : connect_any(rp, a, n, e);
}
