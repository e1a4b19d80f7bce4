/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * COMPOUNDs of any bytes, put to a server on a temporary directory. The first byte says how many
 * operations follow a good SEQUENCE and PUTROOTFH, in minor version 2 or, with the byte's high bit,
 * 1,
 * on the root or, with the next bit, on a file; 0: the bytes are the whole COMPOUND.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/ops/dir.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_id.h"
#include "contrib/serve/state/devices.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/state/session_create.h"
#include "contrib/serve/v4/v4.h"
#include "transport/rpc/xprt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct serve sv;
static struct nfs4_sessionid session;
static struct nfs4_putfh_args file[2];
static uint8_t call[1 << 16], reply[1 << 16];

static void answered(struct compound *c)
{
	session_put(&sv.state, c->probe);
}

static void run(const uint8_t *msg, size_t len)
{
	struct rpc_req req = {.res_max = sizeof(reply)};
	struct compound *c = compound_new(&sv, &req);

	req.cred.flavor = RPC_AUTH_SYS;
	xdr_in_init(&req.args, msg, len);
	xdr_out_init(&req.res, reply, SERVE_RES_CAP);
	req.nsinks = len % (XDR_MAX_PAYLOADS + 1);
	for (unsigned i = 0; i < req.nsinks; i++)
		req.sink[i] = (uint32_t)(len * (i + 1) % 300);
	if (c && compound_run(c))
		compound_end(c, answered);
	rpc_req_unhold(&req);
}

/* Names and handles of two files, one with a hole. */
static void make_files(void)
{
	const struct rlimit size = {16 << 20, 16 << 20};
	struct obj *root = obj_root(sv.objs), *o;

	/* ALLOCATE must not fill the disk */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &size);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "b" : "a";
		int fd = openat(root->fd, name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

		if (fd < 0 || pwrite(fd, "data", 4, i * 65536) != 4 ||
			obj_adopt(sv.objs, root, name, 1, fd, &o, NULL) < 0)
			abort();
		file[i].fh.len = obj_handle(sv.objs, o, file[i].fh.data);
		close(fd);
		obj_unref(sv.objs, o);
	}
	obj_unref(sv.objs, root);
}

static void start(void)
{
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};
	struct nfs4_exchange_id_args ex = {.ownerid = {(const uint8_t *)"f", 1}};
	struct nfs4_create_session_args cs = {.sequence = 1};
	struct nfs4_exchange_id_res exr;
	struct nfs4_create_session_res csr;
	static const uint8_t key[HANDLE_KEY];
	char dir[] = "/tmp/rnfs-fuzz-XXXXXX", list[] = "tcp:127.0.0.1:1,tcp:127.0.0.1:2";
	static struct devices devices;
	struct session *ses;

	sv.objs = mkdtemp(dir) ? obj_table_new(dir, key, 64, NULL) : NULL;
	sv.dirs = dir_cache_new(4);
	sv.pool = mem_pool_new(64 << 20);
	sv.fds = fdcache_new(sv.objs, 16);
	sv.stable = stable_new(sv.objs, 0, true);
	if (!sv.objs || !sv.fds || !sv.dirs || !sv.pool || !sv.stable ||
		state_init(&sv.state, sv.objs, 90) < 0)
		abort();
	if (devices_add(&devices, list, NULL) < 0)
		abort();
	sv.devices = &devices;
	client_exchange_id(&sv.state, &cred, "fuzz", &(struct share_key){0}, &ex, &exr);
	cs.clientid = exr.clientid;
	cs.fore = (struct nfs4_channel_attrs){0, 1 << 20, 1 << 20, 4096, 64, 4, false, 0};
	if (session_create(&sv.state, NULL, &cred, &cs, &csr, &ses) != NFS4_OK)
		abort();
	client_reclaimed(&sv.state, ses->client);
	session_put(&sv.state, ses);
	session = csr.session;
	make_files();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t seq;
	struct nfs4_sequence_args a = {.sequenceid = seq + 1};
	struct xdr_out out;
	size_t at;

	if (!sv.objs)
		start();
	if (size < 1 || size > sizeof(call) / 2)
		return 0;
	if (data[0] == 0) {
		memcpy(call, data + 1, size - 1);
		run(call, size - 1);
		return 0;
	}
	seq++;
	a.session = session;
	xdr_out_init(&out, call, sizeof(call));
	at = nfs4_put_compound_args(&out, "", data[0] & 0x80 ? 1 : 2);
	nfs4_put_sequence_args(&out, &a);
	if (data[0] & 0x40) { /* two handles: COPY and CLONE take the saved one too */
		nfs4_put_putfh_args(&out, &file[0]);
		nfs4_put_op(&out, OP_SAVEFH);
		nfs4_put_putfh_args(&out, &file[1]);
	} else {
		nfs4_put_op(&out, OP_PUTROOTFH);
	}
	xdr_patch_u32(&out, at, data[0] % 32 + (data[0] & 0x40 ? 4 : 2));
	memcpy(call + out.len, data + 1, size - 1);
	run(call, out.len + size - 1);
	return 0;
}
