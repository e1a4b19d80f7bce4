/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nsm: the Network Status Monitor protocol version 1, as far as a lock manager needs it: hosts tell
 * that they have restarted, and are told that this server has.
 *
 * SM_NOTIFY of a host that has restarted frees the locks of the host of that name at the address it
 * comes from (nlm_address()), and no other's. What a host does to be told by its own status monitor
 * (SM_MON and its like) is not served.
 *
 * A server that has restarted tells the hosts which held locks until then, so that they reclaim
 * them: it asks their portmappers for their status monitors, over UDP, and sends each an SM_NOTIFY.
 * That is done on a thread of its own, which ends with the grace period at the latest.
 */
#ifndef RNFS_SERVE_V3_NSM_H
#define RNFS_SERVE_V3_NSM_H

#include "contrib/serve/serve.h"

/* Is there this procedure? */
bool nsm_has(uint32_t proc);
/* Carries out req, a call of a procedure that there is; req->res is ready. */
enum serve_result nsm_run(struct serve *sv, struct rpc_req *req);
/* rpc_service_fn's part for program 100024 version 1. */
void nsm_request(const struct serve_port *port, struct rpc_req *req);

struct nsm_notifier;
/* Begins to tell the hosts of g's record. NULL: there is nobody to tell, or no thread (logged). */
struct nsm_notifier *nsm_notifier_start(struct grace *g);
/* Ends it, waiting for what is under way, some seconds at most. Accepts NULL, returns NULL. */
struct nsm_notifier *nsm_notifier_stop(struct nsm_notifier *n);

#endif
