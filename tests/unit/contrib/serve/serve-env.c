/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve-env: a server on a temporary directory. COMPOUNDs reach the server without a transport.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/state/session.h"
#include "contrib/serve/v3/drc.h"
#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/ops/dir.h"
#include "contrib/serve/v3/mountd.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/rpc/xprt.h"

void env_init(struct serve_env *e)
{
	env_init_in(e, "/tmp");
}

void env_init_in(struct serve_env *e, const char *where)
{
	static const uint8_t secret[HANDLE_KEY] = "a test's secret";
	struct err err = {0};

	memset(e, 0, sizeof(*e));
	snprintf(e->dir, sizeof(e->dir), "%s/rnfs-serve-XXXXXX", where);
	umask(0); /* as the server sets */
	assert_non_null(mkdtemp(e->dir));
	e->sv.objs = obj_table_new(e->dir, secret, 0, &err);
	assert_non_null(e->sv.objs);
	assert_int_equal(state_init(&e->sv.state, e->sv.objs, 90), 0);
	e->sv.dirs = dir_cache_new(4);
	e->sv.pool = mem_pool_new(0);
	e->sv.fds = fdcache_new(e->sv.objs, 16);
	e->sv.drc = drc_new(64);
	e->sv.mounts = mount_list_new(4);
	e->sv.stable = stable_new(e->sv.objs, 0, true);
	assert_non_null(e->sv.stable);
	strcpy(e->sv.owner, "test");
	e->minor = 1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

void env_finish(struct serve_env *e)
{
	rpc_req_unhold(&e->req);
	state_finish(&e->sv.state);
	dir_cache_free(e->sv.dirs);
	mount_list_free(e->sv.mounts);
	drc_free(e->sv.drc);
	fdcache_free(e->sv.fds);
	stable_free(e->sv.stable);
	obj_table_free(e->sv.objs);
	mem_pool_free(e->sv.pool);
	nftw(e->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void env_verf(const struct serve_env *e, uint8_t verf[STABLE_VERF])
{
	struct obj *root = obj_root(e->sv.objs);

	stable_verf(e->sv.stable, root, verf);
	obj_unref(e->sv.objs, root);
}

void env_path(const struct serve_env *e, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", e->dir, name);
}

struct xdr_out *env_begin(struct serve_env *e, bool with_sequence)
{
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	e->count_at = nfs4_put_compound_args(&e->args, "test", e->minor);
	if (with_sequence) {
		struct nfs4_sequence_args a = {.session = e->session,
			.sequenceid = ++e->slot_seq,
			.cachethis = e->cachethis};

		nfs4_put_sequence_args(&e->args, &a);
	}
	return &e->args;
}

static void answered(struct compound *c)
{
	struct serve_env *e = (void *)((char *)c->req - offsetof(struct serve_env, req));

	e->probes = c->probe;
	session_put(&c->sv->state, c->probe);
	e->waits = false;
}

static uint32_t get_head(struct serve_env *e)
{
	xdr_in_init(&e->res, e->reply, e->req.res.len);
	e->res.npayloads = e->req.res.npayloads;
	memcpy(e->res.payload, e->req.res.payload, sizeof(e->res.payload));
	assert_int_equal(nfs4_get_compound_res(&e->res, &e->head), 0);
	return e->head.status;
}

uint32_t env_again(struct serve_env *e)
{
	struct compound *c;

	rpc_req_unhold(&e->req);
	memset(&e->req, 0, sizeof(e->req));
	e->req.cred.flavor = RPC_AUTH_SYS;
	e->req.cred.uid = e->uid;
	e->req.cred.gid = e->gid;
	e->req.res_max = sizeof(e->reply);
	e->req.nsinks = e->nsinks;
	memcpy(e->req.sink, e->sink, sizeof(e->sink));
	e->req.places = e->places;
	for (unsigned i = 0; i < e->nsinks; i++) {
		e->req.sink_for[i].begin = e->sink_begin[i];
		e->req.sink_for[i].end = e->sink_end[i];
	}
	xdr_in_init(&e->req.args, e->call, e->args.len);
	e->req.args.npayloads = e->args.npayloads;
	memcpy(e->req.args.payload, e->args.payload, sizeof(e->args.payload));
	xdr_out_init(&e->req.res, e->reply, SERVE_RES_CAP);
	e->req.res.notes_items = e->places;
	c = compound_new(&e->sv, &e->req);
	assert_non_null(c);
	assert_true(compound_run(c));
	e->waits = true;
	compound_end(c, answered);
	return e->waits ? ENV_WAITS : get_head(e);
}

uint32_t env_result(struct serve_env *e)
{
	struct nfs4_sequence_res seq;
	uint32_t word, status;

	get_head(e);
	/* behind SEQUENCE, if SEQUENCE is the first result and good */
	if (e->res.len - e->res.pos >= 8) {
		struct xdr_in ahead = e->res;

		word = xdr_get_u32(&ahead);
		status = xdr_get_u32(&ahead);
		if (word == OP_SEQUENCE && status == NFS4_OK) {
			e->res.pos += 8;
			assert_int_equal(nfs4_get_sequence_res(&e->res, NFS4_OK, &seq), 0);
		}
	}
	return e->head.status;
}

uint32_t env_run(struct serve_env *e, uint32_t nops)
{
	assert_true(xdr_out_ok(&e->args));
	xdr_patch_u32(&e->args, e->count_at, nops);
	return env_again(e) == ENV_WAITS ? ENV_WAITS : env_result(e);
}

void env_expect(struct serve_env *e, uint32_t op, uint32_t status)
{
	uint32_t got;

	assert_int_equal(nfs4_get_op_res(&e->res, op, &got), 0);
	assert_int_equal(got, status);
}

const struct nfs4_channel_attrs env_channel = {.maxrequestsize = 1 << 20,
	.maxresponsesize = 1 << 20,
	.maxresponsesize_cached = 4096,
	.maxoperations = 16,
	.maxrequests = 4};

void env_meet(struct serve_env *e, const char *owner)
{
	struct nfs4_exchange_id_args ex = {
		.ownerid = {(const uint8_t *)owner, (uint32_t)strlen(owner)}};
	struct nfs4_create_session_args cs = {.cb_program = 1};
	struct nfs4_create_session_res csr;
	struct nfs4_exchange_id_res exr;

	env_begin(e, false);
	nfs4_put_exchange_id_args(&e->args, &ex);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	env_expect(e, OP_EXCHANGE_ID, NFS4_OK);
	assert_int_equal(nfs4_get_exchange_id_res(&e->res, NFS4_OK, &exr), 0);
	cs.clientid = e->clientid = exr.clientid;
	cs.sequence = exr.sequenceid;
	cs.fore = env_channel;
	cs.back = cs.fore;
	env_begin(e, false);
	nfs4_put_create_session_args(&e->args, &cs);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	env_expect(e, OP_CREATE_SESSION, NFS4_OK);
	assert_int_equal(nfs4_get_create_session_res(&e->res, NFS4_OK, &csr), 0);
	e->session = csr.session;
	e->slot_seq = 0;
}

void env_mount(struct serve_env *e, const char *owner)
{
	struct nfs4_reclaim_complete_args rc = {0};

	env_meet(e, owner);
	env_begin(e, true);
	nfs4_put_reclaim_complete_args(&e->args, &rc);
	assert_int_equal(env_run(e, 2), NFS4_OK);
}

void env_put_lookup(struct serve_env *e, const char *name)
{
	struct nfs4_name_args a = {.name = {name, (uint32_t)strlen(name)}};

	nfs4_put_name_args(&e->args, OP_LOOKUP, &a);
}

uint32_t env_open(struct serve_env *e, const char *name, bool create, uint32_t access,
	uint32_t deny, const char *owner, struct nfs4_stateid *sid, struct nfs_fh *fh)
{
	struct nfs4_open_args a = {
		.share_access = access,
		.share_deny = deny,
		.owner = {e->clientid, {(const uint8_t *)owner, (uint32_t)strlen(owner)}},
		.create = create,
		.mode = UNCHECKED4,
		.claim = CLAIM_NULL,
		.name = {name, (uint32_t)strlen(name)},
	};
	struct nfs4_open_res r;
	struct nfs4_getfh_res g;

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	nfs4_put_op(&e->args, OP_GETFH);
	if (env_run(e, 4) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_OPEN, NFS4_OK);
	assert_int_equal(nfs4_get_open_res(&e->res, NFS4_OK, &r), 0);
	env_expect(e, OP_GETFH, NFS4_OK);
	assert_int_equal(nfs4_get_getfh_res(&e->res, NFS4_OK, &g), 0);
	*sid = r.stateid;
	*fh = g.fh;
	return NFS4_OK;
}

void env_put_mkdir(struct serve_env *e, const char *name)
{
	struct nfs4_create_args a = {.type = NF4DIR, .name = {name, (uint32_t)strlen(name)}};

	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_create_args(&e->args, &a);
}

void env_put_fh(struct serve_env *e, const struct nfs_fh *fh)
{
	struct nfs4_putfh_args a = {.fh = *fh};

	nfs4_put_putfh_args(&e->args, &a);
}

uint32_t env_write(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, void *data, uint32_t len)
{
	struct nfs4_write_args a = {.stateid = *sid,
		.offset = offset,
		.stable = FILE_SYNC4,
		.data = SEG_LIST_MEM(data, len)};

	env_begin(e, true);
	env_put_fh(e, fh);
	nfs4_put_write_args(&e->args, &a);
	return env_run(e, 3);
}

uint32_t env_read(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, uint32_t count, const uint8_t **data, uint32_t *len, bool *eof)
{
	struct nfs4_read_args a = {.stateid = *sid, .offset = offset, .count = count};
	struct nfs4_read_res r;

	env_begin(e, true);
	env_put_fh(e, fh);
	nfs4_put_read_args(&e->args, OP_READ, &a);
	if (env_run(e, 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_READ, NFS4_OK);
	assert_int_equal(nfs4_get_read_res(&e->res, NFS4_OK, &r), 0);
	*data = xdr_get_payload(&e->res, count, len, NULL);
	*eof = r.eof;
	assert_true(xdr_in_done(&e->res));
	return NFS4_OK;
}

uint32_t env_commit(struct serve_env *e, const struct nfs_fh *fh)
{
	struct nfs4_commit_args a = {0};

	env_begin(e, true);
	env_put_fh(e, fh);
	nfs4_put_commit_args(&e->args, &a);
	return env_run(e, 3);
}

uint32_t env_close(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid)
{
	struct nfs4_close_args a = {.stateid = *sid};

	env_begin(e, true);
	env_put_fh(e, fh);
	nfs4_put_close_args(&e->args, &a);
	return env_run(e, 3);
}

uint32_t env_lock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *open,
	const char *owner, uint32_t type, uint64_t offset, uint64_t length, struct nfs4_lock_res *r)
{
	struct nfs4_lock_args a = {.type = type,
		.offset = offset,
		.length = length,
		.new_owner = true,
		.open_stateid = *open,
		.owner = {e->clientid, {(const uint8_t *)owner, (uint32_t)strlen(owner)}}};
	uint32_t status;

	env_begin(e, true);
	env_put_fh(e, fh);
	nfs4_put_lock_args(&e->args, &a);
	status = env_run(e, 3);
	if (status == NFS4_OK || status == NFS4ERR_DENIED) {
		env_expect(e, OP_PUTFH, NFS4_OK);
		env_expect(e, OP_LOCK, status);
		assert_int_equal(nfs4_get_lock_res(&e->res, status, r), 0);
	}
	return status;
}

uint32_t env_unlock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, uint64_t length)
{
	struct nfs4_locku_args a = {
		.type = WRITE_LT, .stateid = *sid, .offset = offset, .length = length};

	a.stateid.seqid = 0;
	env_begin(e, true);
	env_put_fh(e, fh);
	nfs4_put_locku_args(&e->args, &a);
	return env_run(e, 3);
}

int env_setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init(e);
	env_mount(e, "client");
	*state = e;
	return 0;
}

int env_teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}
