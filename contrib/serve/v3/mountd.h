/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountd: the MOUNT protocol version 3 (RFC 1813 appendix I), by which a client of NFSv3 gets its
 * first handle.
 *
 * There is one export, "/", the root of the exported directory; any directory below can be mounted
 * too. Paths are walked name by name as the caller, like every name of a client. The list of mounts
 * is kept only to be reported: a handle is good with and without an entry there.
 */
#ifndef RNFS_SERVE_V3_MOUNTD_H
#define RNFS_SERVE_V3_MOUNTD_H

#include "contrib/serve/serve.h"

struct mount_list;

/* Remembers at most max mounts; further mounts push out the oldest. */
struct mount_list *mount_list_new(unsigned max);
struct mount_list *mount_list_free(struct mount_list *l); /* accepts NULL, returns NULL */
/* The number of remembered mounts. */
unsigned mount_list_count(struct mount_list *l);

/* Carries out req, a call of a known procedure; req->res is ready. */
enum serve_result mountd_run(struct serve *sv, struct rpc_req *req);
/* rpc_service_fn's part for program 100005 version 3. */
void mountd_request(const struct serve_port *port, struct rpc_req *req);

#endif
