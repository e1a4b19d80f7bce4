/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_lock: LOCK, LOCKT, LOCKU.
 */
#include <string.h>

#include "contrib/serve/ops/entry.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/state/lock.h"
#include "contrib/serve/v4/ops.h"

uint32_t op_lock(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_lock_args a = args->u.lock;
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	struct nfs4_lock_res res = {0};
	uint32_t status = need_file(c->cur);

	if (status == NFS4_OK)
		status = client_may_claim(&c->sv->state, c->client, a.reclaim);
	if (status != NFS4_OK)
		return status;
	current_stateid(c, a.new_owner ? &a.open_stateid : &a.lock_stateid);
	status = lock_set(&c->sv->state, c->session, &c->req->cred, c->cur, &a, &res, owner);
	if (status == NFS4_OK) {
		c->cur_sid = res.stateid;
	} else if (status != NFS4ERR_DENIED) {
		return status;
	}
	nfs4_put_lock_res(c->out, status, &res);
	c->put = true;
	return status;
}

uint32_t op_lockt(struct compound *c, const struct nfs4_args *args)
{
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	struct nfs4_lockt_res res = {0};
	uint32_t status = need_file(c->cur);

	/* the holder of a delegation may have locked the file without telling the server */
	if (status == NFS4_OK)
		status = use_begin(c, c->cur,
			lock_type_writes(args->u.lockt.type) ? DELEG_CHANGE : DELEG_LOOK);
	if (status == NFS4_OK)
		status = lock_test(
			&c->sv->state, c->client, c->cur, &args->u.lockt, &res.denied, owner);
	if (status != NFS4_OK && status != NFS4ERR_DENIED)
		return status;
	nfs4_put_lockt_res(c->out, status, &res);
	c->put = true;
	return status;
}

uint32_t op_locku(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_locku_args a = args->u.locku;
	struct nfs4_stateid_res res;
	uint32_t status = need_file(c->cur);

	if (status != NFS4_OK)
		return status;
	current_stateid(c, &a.stateid);
	layout_settle(&c->sv->state, c->client, c->cur);
	status = lock_clear(&c->sv->state, c->client, c->cur, &a, &res.stateid);
	if (status != NFS4_OK)
		return status;
	c->cur_sid = res.stateid;
	nfs4_put_stateid_res(c->out, OP_LOCKU, NFS4_OK, &res);
	return NFS4_OK;
}
