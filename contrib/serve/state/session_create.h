/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * session_create: CREATE_SESSION (RFC 8881 section 18.36).
 */
#ifndef RNFS_SERVE_STATE_SESSION_CREATE_H
#define RNFS_SERVE_STATE_SESSION_CREATE_H

#include "contrib/serve/state/session.h"

/* *out (may be NULL) is a referenced session when it was newly made. cred must be the principal of
 * EXCHANGE_ID. */
uint32_t session_create(struct state *s, struct rpc_xprt *x, const struct rpc_cred *cred,
	const struct nfs4_create_session_args *a, struct nfs4_create_session_res *r,
	struct session **out);

#endif
