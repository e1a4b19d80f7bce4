/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nsm: the Network Status Monitor protocol version 1, as far as a lock manager needs it: notices of
 * restarts from hosts to the server, and from the server to hosts.
 *
 * SM_NOTIFY of a restarted host frees the locks of the named host at the sender's address
 * (nlm_address()), and no other locks. The procedures between a host and its own status monitor
 * (SM_MON and its like) are not served.
 *
 * After a restart, the server tells the hosts that held locks until then to reclaim the locks. The
 * server asks each host's portmapper for the status monitor, over UDP, and sends an SM_NOTIFY
 * there. A separate thread does so, and ends with the grace period at the latest.
 */
#ifndef RNFS_SERVE_V3_NSM_H
#define RNFS_SERVE_V3_NSM_H

#include "contrib/serve/serve.h"

/* Does the server have this procedure? */
bool nsm_has(uint32_t proc);
/* Carries out req, a call of a known procedure; req->res is ready. */
enum serve_result nsm_run(struct serve *sv, struct rpc_req *req);
/* rpc_service_fn's part for program 100024 version 1. */
void nsm_request(const struct serve_port *port, struct rpc_req *req);

struct nsm_notifier;
/* Begins to tell the hosts of g's record. NULL: there are no such hosts, or no thread (logged). */
struct nsm_notifier *nsm_notifier_start(struct grace *g);
/* Ends the notifier. Waits for calls under way, some seconds at most. Accepts NULL, returns NULL.
 */
struct nsm_notifier *nsm_notifier_stop(struct nsm_notifier *n);

#endif
