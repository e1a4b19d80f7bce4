/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve-v3: calls of NFSv3 to a server on a temporary directory (serve-env.h), without a transport.
 */
#ifndef RNFS_TESTS_SERVE_V3_H
#define RNFS_TESTS_SERVE_V3_H

#include <stdlib.h>
#include <string.h>

#include "contrib/serve/v3/v3.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/rpc/xprt.h"

static inline int setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init(e);
	*state = e;
	return 0;
}

static inline int teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}

static inline struct nfs_name name_of(const char *s)
{
	return (struct nfs_name){s, (uint32_t)strlen(s)};
}

static inline struct nfs_fh root_of(struct serve_env *e)
{
	struct obj *root = obj_root(e->sv.objs);
	struct nfs_fh fh;

	fh.len = obj_handle(e->sv.objs, root, fh.data);
	obj_unref(e->sv.objs, root);
	assert_in_range(fh.len, 1, NFS3_FHSIZE);
	return fh;
}

static inline struct nfs3_dirop in_root(struct serve_env *e, const char *name)
{
	return (struct nfs3_dirop){root_of(e), name_of(name)};
}

static inline void answered(struct v3_call *c)
{
}

/* Puts the bytes of e->call to the server. False: the bytes are garbage. */
static inline bool send_call(struct serve_env *e, uint32_t proc, size_t len)
{
	enum serve_result result;
	struct v3_call *c;

	rpc_req_unhold(&e->req);
	memset(&e->req, 0, sizeof(e->req));
	e->req.prog = NFS3_PROGRAM;
	e->req.vers = NFS3_VERSION;
	e->req.proc = proc;
	e->req.xid = e->xid;
	e->req.cred.flavor = RPC_AUTH_SYS;
	e->req.cred.uid = e->uid;
	e->req.cred.gid = e->gid;
	e->req.res_max = e->res_max ? e->res_max : sizeof(e->reply);
	e->req.nsinks = e->nsinks;
	memcpy(e->req.sink, e->sink, sizeof(e->sink));
	xdr_in_init(&e->req.args, e->call, len);
	e->req.args.npayloads = e->args.npayloads;
	memcpy(e->req.args.payload, e->args.payload, sizeof(e->args.payload));
	xdr_out_init(&e->req.res, e->reply, SERVE_RES_CAP);
	c = v3_new(&e->sv, &e->req);
	assert_non_null(c);
	result = v3_run(c);
	if (result == SERVE_DONE)
		v3_end(c, answered);
	assert_int_not_equal(result, SERVE_DROP);
	xdr_in_init(&e->res, e->reply, e->req.res.len);
	e->res.npayloads = e->req.res.npayloads;
	memcpy(e->res.payload, e->req.res.payload, sizeof(e->res.payload));
	return result == SERVE_DONE;
}

/* Sends a and returns the status of the answer, *r; e->res stands behind the head of the answer. */
static inline uint32_t call(struct serve_env *e, const struct nfs3_args *a, struct nfs3_res *r)
{
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	nfs3_put_args(&e->args, a);
	assert_true(xdr_out_ok(&e->args));
	e->xid++;
	assert_true(send_call(e, a->proc, e->args.len));
	assert_int_equal(nfs3_get_res(&e->res, a->proc, r), 0);
	return r->u.status;
}

static inline uint32_t create(struct serve_env *e, const char *name, uint32_t how, uint32_t mode,
	const char *verf, struct nfs_fh *fh)
{
	struct nfs3_args a = {.proc = NFS3PROC_CREATE};
	struct nfs3_res r;
	uint32_t status;

	a.u.create.where = in_root(e, name);
	a.u.create.mode = how;
	a.u.create.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = mode};
	if (verf)
		memcpy(a.u.create.verf, verf, sizeof(a.u.create.verf));
	status = call(e, &a, &r);
	assert_true(xdr_in_done(&e->res));
	assert_true(r.u.create.dir.have_before);
	assert_true(r.u.create.dir.after.have);
	if (status != NFS3_OK)
		return status;
	assert_true(r.u.create.have_fh);
	assert_true(r.u.create.obj.have);
	*fh = r.u.create.fh;
	return status;
}

static inline uint32_t write_at(struct serve_env *e, const struct nfs_fh *fh, uint64_t offset,
	const char *text, struct nfs3_res *r)
{
	struct nfs3_args a = {.proc = NFS3PROC_WRITE};
	uint32_t len = (uint32_t)strlen(text);

	a.u.write = (struct nfs3_write_args){.fh = *fh,
		.offset = offset,
		.count = len,
		.stable = NFS_FILE_SYNC,
		.data = SEG_LIST_MEM((void *)(uintptr_t)text, len)};
	return call(e, &a, r);
}

/* Returns the status; *data and *len are the bytes of the READ. */
static inline uint32_t read_at(struct serve_env *e, const struct nfs_fh *fh, uint64_t offset,
	uint32_t count, const uint8_t **data, uint32_t *len, bool *eof)
{
	struct nfs3_args a = {.proc = NFS3PROC_READ};
	struct nfs3_res r;
	uint32_t status;

	a.u.read = (struct nfs3_read_args){.fh = *fh, .offset = offset, .count = count};
	status = call(e, &a, &r);
	assert_true(r.u.read.obj.have);
	if (status != NFS3_OK)
		return status;
	*data = xdr_get_payload(&e->res, count, len, NULL);
	*eof = r.u.read.eof;
	assert_int_equal(r.u.read.count, *len);
	assert_true(xdr_in_done(&e->res));
	return status;
}

static inline uint32_t on_dirop(
	struct serve_env *e, uint32_t proc, const char *name, struct nfs3_res *r)
{
	struct nfs3_args a = {.proc = proc};

	a.u.dirop = in_root(e, name);
	return call(e, &a, r);
}

static inline uint32_t on_fh(
	struct serve_env *e, uint32_t proc, const struct nfs_fh *fh, struct nfs3_res *r)
{
	struct nfs3_args a = {.proc = proc};

	a.u.fh = *fh;
	return call(e, &a, r);
}

#endif
