/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Calls of NFSv3, MOUNT and NLM with any arguments, put to a server on a temporary directory. The
 * first byte says which procedure; an even second one puts the root's handle before the rest.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/ops/dir.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/v3/drc.h"
#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/v3/mountd.h"
#include "contrib/serve/v3/nlm.h"
#include "contrib/serve/v3/v3.h"
#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "transport/rpc/xprt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct serve sv;
static struct nfs_fh root;
static uint8_t call[1 << 16], reply[1 << 16];

static void start(void)
{
	static const uint8_t key[HANDLE_KEY];
	char dir[] = "/tmp/rnfs-fuzz-XXXXXX";
	struct obj *o;

	sv.objs = mkdtemp(dir) ? obj_table_new(dir, key, 64, NULL) : NULL;
	sv.dirs = dir_cache_new(4);
	sv.pool = mem_pool_new(64 << 20);
	sv.fds = sv.objs ? fdcache_new(sv.objs, 16) : NULL;
	sv.drc = drc_new(16);
	sv.mounts = mount_list_new(16);
	sv.stable = sv.objs ? stable_new(sv.objs, 0, true) : NULL;
	if (!sv.dirs || !sv.pool || !sv.stable || !sv.fds || !sv.drc || !sv.mounts ||
		state_init(&sv.state, sv.objs, 90) < 0)
		abort();
	o = obj_root(sv.objs);
	root.len = obj_handle(sv.objs, o, root.data);
	obj_unref(sv.objs, o);
}

static void answered(struct v3_call *c)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_req req = {.res_max = sizeof(reply)};
	struct v3_call *c;
	struct xdr_out out;

	if (!sv.objs)
		start();
	if (size < 2 || size > sizeof(call) / 2)
		return 0;
	xdr_out_init(&out, call, sizeof(call));
	if (data[1] % 2 == 0)
		nfs3_put_fh(&out, &root);
	memcpy(call + out.len, data + 2, size - 2);
	req.cred.flavor = RPC_AUTH_SYS;
	req.xid = data[1] / 2;
	xdr_in_init(&req.args, call, out.len + size - 2);
	xdr_out_init(&req.res, reply, SERVE_RES_CAP);
	req.nsinks = size % (XDR_MAX_PAYLOADS + 1);
	for (unsigned i = 0; i < req.nsinks; i++)
		req.sink[i] = (uint32_t)(size * (i + 1) % 300);
	if (data[0] < NFS3_PROCS) {
		req.prog = NFS3_PROGRAM;
		req.proc = data[0] ? data[0] : 1;
		c = v3_new(&sv, &req);
		if (c && v3_run(c) == SERVE_DONE)
			v3_end(c, answered);
	} else if (data[0] >= 128 && nlm_has(data[0] % 24)) {
		req.prog = NLM4_PROGRAM;
		req.proc = data[0] % 24;
		nlm_run(&sv, &req);
	} else {
		req.prog = MOUNT3_PROGRAM;
		req.proc = data[0] % (MOUNT3PROC_EXPORT + 1);
		mountd_run(&sv, &req);
	}
	rpc_req_unhold(&req);
	return 0;
}
