/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_exports: the exports that a server's MOUNT service lists.
 *
 * libnfs 4.0 (Debian 12) lists exports without a time-out; later versions have one.
 * This file has the calls of nfs3_mount, with their time-outs.
 */
#include "nfsproto/v3/nfs3_exports.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/wire/mount3.h"
#include "nfsproto/common/nfs3_aux.h"

#define REPLY_MAX (256u << 10) /* some thousand exports */

struct listing {
	nfs3_export_fn *each;
	void *ctx;
};

static void put_nothing(struct nfs3_sync *s, struct xdr_out *x)
{
}

/* Returns how many there are, or -EBADMSG. */
static int get_groups(struct xdr_in *x, struct nfs_name *names)
{
	struct nfs_name one;
	unsigned n = 0;
	int rc;

	while ((rc = mount3_get_group(x, &one)) > 0)
		if (n < NFS3_EXPORT_GROUPS)
			names[n++] = one;
	return rc ? rc : (int)n;
}

static int get_exports(struct nfs3_sync *s, struct xdr_in *x)
{
	const struct listing *l = s->out;
	struct nfs_name path, names[NFS3_EXPORT_GROUPS];
	int rc;

	while ((rc = mount3_get_export(x, &path)) > 0) {
		int n = get_groups(x, names);

		if (n < 0)
			return n;
		if (path.len && path.s[0] == '/' && !memchr(path.s, 0, path.len))
			l->each(l->ctx, &path, names, (unsigned)n);
	}
	return rc;
}

int nfs3_exports(const struct sockaddr *server, socklen_t len, struct mem_pool *pool, unsigned ms,
	nfs3_export_fn *each, void *ctx, struct err *e)
{
	struct listing l = {each, ctx};
	struct nfs3_sync s = {.out = &l, .get = get_exports};
	struct nfs3_aux a = {.rp = {.proto = RPC_TCP,
				     .peer_len = len,
				     .peer_name = "the server",
				     .prog = MOUNT3_PROGRAM,
				     .vers = MOUNT3_VERSION,
				     .pool = pool}};
	struct err why = {.kind = ERR_NONE};
	uint16_t port = 0;
	int rc;

	memcpy(&a.rp.peer, server, len);
	rpc_cred_own(&a.cred);
	rc = nfs3_aux_getport(&a, &port, ms);
	if (rc)
		return err_set(
			e, ERR_UNREACHABLE, "no portmapper answers on its port %d", PMAP_PORT);
	if (!port)
		return err_set(e, ERR_VERSION, "the portmapper knows no MOUNT service");
	nfs3_aux_set_port(&a, port);
	rc = nfs3_aux_call(&a, &s, MOUNT3PROC_EXPORT, put_nothing, REPLY_MAX, ms, &why);
	if (rc == -EREMOTEIO)
		return err_set(e, ERR_PROTOCOL, "its list of exports cannot be read");
	if (rc)
		return err_set(e, ERR_UNREACHABLE,
			"the MOUNT service on port %u does not list its exports (%s)", port,
			rc == -ENOTCONN ? err_kind_name(why.kind) : strerror(-rc));
	return 0;
}
