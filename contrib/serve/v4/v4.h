/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v4: NFS version 4: from an RPC request to its answer (RFC 8881 sections 2.6, 2.10.6, 15.2, 16.2).
 *
 * The connection's thread carries out a request. Other threads then bring the request's changes to
 * stable storage, and only then answer the request. Meanwhile the connection's thread goes on with
 * the next request (stable.h).
 */
#ifndef RNFS_SERVE_V4_V4_H
#define RNFS_SERVE_V4_V4_H

#include "contrib/serve/v4/compound.h"

/* Makes a COMPOUND from req. NULL without memory. */
struct compound *compound_new(struct serve *sv, struct rpc_req *req);
/* Carries out c; compound_end() must follow. False: the arguments are not even a COMPOUND
 * (garbage), and c is freed. */
bool compound_run(struct compound *c);
/* Makes the changes of c stable, and calls done, here or on another thread, with the answer in
 * req->res. After the answer c->probe (NULL: none) is to be passed to cb_probe(). c is freed
 * afterwards. */
void compound_end(struct compound *c, void (*done)(struct compound *c));
/* rpc_service_fn's part for program 100003 version 4. */
void compound_request(const struct serve_port *port, struct rpc_req *req);

#endif
