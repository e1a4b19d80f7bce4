/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dispatch: passes each request to its program, and answers the transport's other questions. These
 * functions are given to rpc_server_new() for every port. ctx is a struct serve_port.
 */
#ifndef RNFS_SERVE_MAIN_DISPATCH_H
#define RNFS_SERVE_MAIN_DISPATCH_H

#include "contrib/serve/serve.h"

void serve_request(void *ctx, struct rpc_req *req);
bool serve_admit(void *ctx, const struct rpc_xprt *x);
void serve_conn_down(void *ctx, struct rpc_xprt *x);
int serve_wrap(void *ctx, struct rpc_xprt *x);

#endif
