/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nlm: the Network Lock Manager protocol version 4 (RFC 1813 appendix II): byte-range locks for
 * clients of NFSv3, in one table with those of NFSv4.
 *
 * A host is its address and the name that it gives itself, and on this machine also the user, if it
 * is one without trust (admit.h), who could call himself as others do; the owner of a lock is a
 * host's svid and opaque handle. There is no lease: a lock lasts until it is cleared, until the
 * host frees all of its locks, or until it says that it has restarted, by SM_NOTIFY (nsm.h) or by a
 * call with another number of its status monitor. A host that never comes back keeps what it has
 * until this server restarts, or needs its place for another (client_id.c).
 *
 * Hosts stand in the record of clients and have the grace period that clients of NFSv4 have
 * (grace.h): while it lasts those that held locks before may reclaim them, and nobody gets others.
 *
 * Who has to wait is told so (NLM4_BLOCKED) and asks again: no call is made to clients.
 */
#ifndef RNFS_SERVE_V3_NLM_H
#define RNFS_SERVE_V3_NLM_H

#include "contrib/serve/serve.h"
#include "nfsproto/nfs_file.h"

/* Is there this procedure? */
bool nlm_has(uint32_t proc);
/* Carries out req, a call of a procedure that there is; req->res is ready. */
enum serve_result nlm_run(struct serve *sv, struct rpc_req *req);
#define NLM_ADDRESS_MAX 96
/* Where req comes from, as a string: all requests of a host come from the same place, and none of
 * another that could harm it. */
void nlm_address(const struct serve *sv, const struct rpc_req *req, char buf[NLM_ADDRESS_MAX]);
/* The host of this name at this address (nlm_address()) has restarted, or says that it holds
 * nothing any more: its locks are free, unless number is that of its status monitor already. */
void nlm_host_restarted(
	struct serve *sv, const char *address, const struct nfs_name *name, uint32_t number);
/* rpc_service_fn's part for program 100021 version 4. */
void nlm_request(const struct serve_port *port, struct rpc_req *req);

#endif
