/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nlm: the Network Lock Manager protocol version 4 (RFC 1813 appendix II): byte-range locks for
 * clients of NFSv3, in one table with those of NFSv4.
 *
 * A host is its address and the name that it gives itself; the owner of a lock is a host's svid and
 * opaque handle. There is no lease: a lock lasts until it is cleared, until the host frees all of
 * its locks, or until it calls with another number of its status monitor, which tells that it has
 * restarted. A host that never comes back keeps what it has until this server restarts.
 *
 * Who has to wait is told so (NLM4_BLOCKED) and asks again: no call is made to clients.
 */
#ifndef RNFS_SERVE_NLM_H
#define RNFS_SERVE_NLM_H

#include "contrib/serve/serve.h"

/* Is there this procedure? */
bool nlm_has(uint32_t proc);
/* Carries out req, a call of a procedure that there is; req->res is ready. */
enum serve_result nlm_run(struct serve *sv, struct rpc_req *req);
/* rpc_service_fn's part for program 100021 version 4. */
void nlm_request(const struct serve_port *port, struct rpc_req *req);

#endif
