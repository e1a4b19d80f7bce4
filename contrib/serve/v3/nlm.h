/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nlm: the Network Lock Manager protocol version 4 (RFC 1813 appendix II): byte-range locks for
 * clients of NFSv3, in one table with the locks of NFSv4.
 *
 * A host is an address and the name that the host sends. On this machine, an untrusted user
 * (admit.h) could use another host's name, so the user is also part of the host. The owner of a
 * lock is a host's svid and opaque handle. Locks have no lease. A lock lasts until its owner clears
 * the lock, until the host frees all of its locks, or until the host reports a restart: by
 * SM_NOTIFY (nsm.h), or by a call with another number of its status monitor. A host that never
 * comes back keeps its locks until this server restarts, or needs the host's place for another
 * (client_id.c).
 *
 * Hosts are in the record of clients and share the grace period of NFSv4's clients (grace.h).
 * During the grace period, hosts with locks before the restart may reclaim those locks, and no host
 * gets other locks.
 *
 * A host that has to wait gets NLM4_BLOCKED and asks again: the server makes no calls to clients.
 */
#ifndef RNFS_SERVE_V3_NLM_H
#define RNFS_SERVE_V3_NLM_H

#include "contrib/serve/serve.h"
#include "nfsproto/wire/nfs_file.h"

/* Does the server have this procedure? */
bool nlm_has(uint32_t proc);
/* Carries out req, a call of a known procedure; req->res is ready. */
enum serve_result nlm_run(struct serve *sv, struct rpc_req *req);
#define NLM_ADDRESS_MAX 96
/* Writes the origin of req as a string: the same for all requests of a host, but different for any
 * two hosts that could harm each other. */
void nlm_address(const struct serve *sv, const struct rpc_req *req, char buf[NLM_ADDRESS_MAX]);
/* The host `name` at the address (nlm_address()) has restarted, or has reported that no locks are
 * left. Frees the host's locks, unless number is already known as that of the host's status
 * monitor. */
void nlm_host_restarted(
	struct serve *sv, const char *address, const struct nfs_name *name, uint32_t number);
/* rpc_service_fn's part for program 100021 version 4. */
void nlm_request(const struct serve_port *port, struct rpc_req *req);

#endif
