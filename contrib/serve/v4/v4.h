/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v4: NFS version 4: from an RPC request to its answer (RFC 8881 sections 2.6, 2.10.6, 15.2, 16.2).
 *
 * A request is carried out on its connection's thread. What it has changed is then brought to
 * stable storage, by other threads, and only then is it answered, while the connection's thread
 * goes on with the next (stable.h).
 */
#ifndef RNFS_SERVE_V4_V4_H
#define RNFS_SERVE_V4_V4_H

#include "contrib/serve/v4/compound.h"

/* A COMPOUND that is to be carried out, or NULL without memory. */
struct compound *compound_new(struct serve *sv, struct rpc_req *req);
/* Carries out c; then compound_end() it. False: the arguments are not even a COMPOUND (garbage),
 * and c is gone. */
bool compound_run(struct compound *c);
/* Sees to it that what c has changed is stable, and calls done, here or on another thread: the
 * answer is in req->res, and what is left to do behind it is c->probe (NULL: nothing), which is to
 * be cb_probe()d. c is gone afterwards. */
void compound_end(struct compound *c, void (*done)(struct compound *c));
/* rpc_service_fn's part for program 100003 version 4. */
void compound_request(const struct serve_port *port, struct rpc_req *req);

#endif
