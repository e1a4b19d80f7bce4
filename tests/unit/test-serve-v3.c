/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's NFSv3, procedure by procedure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/v3/drc.h"
#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/fault/fault.h"
#include "contrib/serve/v3/v3.h"
#include "serve-env.h"
#include "transport/rpc/xprt.h"

static int setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init(e);
	*state = e;
	return 0;
}

/* A file may be as long as offsets go there, if that is a tmpfs. */
static int setup_shm(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init_in(e, "/dev/shm");
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}

static struct nfs_name name_of(const char *s)
{
	return (struct nfs_name){s, (uint32_t)strlen(s)};
}

static struct nfs_fh root_of(struct serve_env *e)
{
	struct obj *root = obj_root(e->sv.objs);
	struct nfs_fh fh;

	fh.len = obj_handle(e->sv.objs, root, fh.data);
	obj_unref(e->sv.objs, root);
	assert_in_range(fh.len, 1, NFS3_FHSIZE);
	return fh;
}

static struct nfs3_dirop in_root(struct serve_env *e, const char *name)
{
	return (struct nfs3_dirop){root_of(e), name_of(name)};
}

static void answered(struct v3_call *c)
{
}

/* Puts the bytes of e->call to the server. False: they are garbage. */
static bool send_call(struct serve_env *e, uint32_t proc, size_t len)
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

/* Sends a and returns the status of its answer, *r; e->res stands behind the head of it. */
static uint32_t call(struct serve_env *e, const struct nfs3_args *a, struct nfs3_res *r)
{
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	nfs3_put_args(&e->args, a);
	assert_true(xdr_out_ok(&e->args));
	e->xid++;
	assert_true(send_call(e, a->proc, e->args.len));
	assert_int_equal(nfs3_get_res(&e->res, a->proc, r), 0);
	return r->u.status;
}

static uint32_t create(struct serve_env *e, const char *name, uint32_t how, uint32_t mode,
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

static uint32_t write_at(struct serve_env *e, const struct nfs_fh *fh, uint64_t offset,
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

/* The status; *data and *len point to what was read. */
static uint32_t read_at(struct serve_env *e, const struct nfs_fh *fh, uint64_t offset,
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

static uint32_t on_dirop(struct serve_env *e, uint32_t proc, const char *name, struct nfs3_res *r)
{
	struct nfs3_args a = {.proc = proc};

	a.u.dirop = in_root(e, name);
	return call(e, &a, r);
}

static uint32_t on_fh(
	struct serve_env *e, uint32_t proc, const struct nfs_fh *fh, struct nfs3_res *r)
{
	struct nfs3_args a = {.proc = proc};

	a.u.fh = *fh;
	return call(e, &a, r);
}

static void what_is_written_is_read(void **state)
{
	struct serve_env *e = *state;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t len;
	bool eof;

	assert_int_equal(create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 3, "hello", &r), NFS3_OK);
	assert_int_equal(r.u.write.count, 5);
	assert_int_equal(r.u.write.committed, NFS_FILE_SYNC);
	assert_int_equal(r.u.write.wcc.before.size, 0);
	assert_int_equal(r.u.write.wcc.after.attr.size, 8);
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 8);
	assert_true(eof);
	assert_memory_equal(data, "\0\0\0hello", 8);
	assert_int_equal(read_at(e, &fh, 3, 2, &data, &len, &eof), NFS3_OK);
	assert_false(eof);
	assert_memory_equal(data, "he", 2);
	assert_int_equal(read_at(e, &fh, UINT64_MAX, 2, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
	assert_int_equal(read_at(e, &fh, 0, 0, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 0);
	assert_false(eof);
}

static void the_last_byte_of_all_is_read(void **state)
{
	struct serve_env *e = *state;
	const uint64_t last = INT64_MAX - 1;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t status, len;
	bool eof;

	assert_int_equal(create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh), NFS3_OK);
	status = write_at(e, &fh, last, "z", &r);
	if (status == NFS3ERR_FBIG)
		skip(); /* no tmpfs */
	assert_int_equal(status, NFS3_OK);
	assert_int_equal(read_at(e, &fh, last - 4094, 4096, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 4095);
	assert_true(eof);
	assert_memory_equal(data + 4093, "\0z", 2);
	assert_int_equal(read_at(e, &fh, last + 1, 1, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
}

static void a_read_fits_its_chunk_or_the_reply(void **state)
{
	struct serve_env *e = *state;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t len;
	bool eof;

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	assert_int_equal(write_at(e, &fh, 0, "0123456789", &r), NFS3_OK);
	e->nsinks = 1;
	e->sink[0] = 4;
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 4);
	assert_false(eof);
	e->nsinks = 0;
	e->res_max = 104 + 7; /* room for one word of data */
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 4);
}

static void create_has_three_modes(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh, again;
	struct nfs3_args a = {.proc = NFS3PROC_CREATE};
	struct nfs3_res r;

	assert_int_equal(create(e, "x", NFS3_EXCLUSIVE, 0, "verifier", &fh), NFS3_OK);
	assert_int_equal(create(e, "x", NFS3_EXCLUSIVE, 0, "verifier", &again), NFS3_OK);
	assert_int_equal(again.len, fh.len);
	assert_memory_equal(again.data, fh.data, fh.len);
	assert_int_equal(create(e, "x", NFS3_EXCLUSIVE, 0, "another!", &again), NFS3ERR_EXIST);
	assert_int_equal(create(e, "x", NFS3_GUARDED, 0644, NULL, &again), NFS3ERR_EXIST);
	assert_int_equal(create(e, "g", NFS3_GUARDED, 0640, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 0, "text", &r), NFS3_OK);
	/* one that is there stays as it is, but for its size */
	assert_int_equal(create(e, "g", NFS3_UNCHECKED, 0600, NULL, &again), NFS3_OK);
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3_OK);
	assert_int_equal(r.u.getattr.attr.size, 4);
	assert_int_equal(r.u.getattr.attr.mode, 0640);
	a.u.create.where = in_root(e, "g");
	a.u.create.set.mask = NFS_SET_SIZE;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.create.obj.attr.size, 0);
	assert_int_equal(create(e, ".", NFS3_UNCHECKED, 0600, NULL, &again), NFS3ERR_EXIST);
}

static void its_owner_may_use_what_the_mode_forbids(void **state)
{
	struct serve_env *e = *state;
	const uint8_t *data;
	struct nfs3_res r;
	struct nfs_fh fh;
	uint32_t len;
	bool eof;

	assert_int_equal(create(e, "f", NFS3_GUARDED, 0, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 0, "secret", &r), NFS3_OK);
	assert_int_equal(read_at(e, &fh, 0, 100, &data, &len, &eof), NFS3_OK);
	assert_int_equal(len, 6);
}

static void changes_tell_what_was_before(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_SETATTR};
	uint8_t verf[STABLE_VERF];
	struct nfs3_res r;
	struct nfs_fh fh;

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	write_at(e, &fh, 0, "12345", &r);
	a.u.setattr.fh = fh;
	a.u.setattr.set = (struct nfs_sattr){.mask = NFS_SET_SIZE | NFS_SET_MODE | NFS_SET_MTIME,
		.size = 3,
		.mode = 0600,
		.mtime = {1000, 2000}};
	a.u.setattr.guard = true;
	a.u.setattr.ctime = (struct timespec){1, 1};
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOT_SYNC);
	assert_int_equal(r.u.wcc.wcc.after.attr.size, 5);
	a.u.setattr.ctime = r.u.wcc.wcc.after.attr.ctime;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_true(r.u.wcc.wcc.have_before);
	assert_int_equal(r.u.wcc.wcc.before.size, 5);
	assert_int_equal(r.u.wcc.wcc.after.attr.size, 3);
	assert_int_equal(r.u.wcc.wcc.after.attr.mode, 0600);
	assert_int_equal(r.u.wcc.wcc.after.attr.mtime.tv_sec, 1000);
	assert_int_equal(r.u.wcc.wcc.after.attr.mtime.tv_nsec, 2000);
	a.u.setattr.fh = root_of(e);
	a.u.setattr.guard = false;
	assert_int_equal(call(e, &a, &r), NFS3ERR_ISDIR);
	/* a WRITE whose count and data differ */
	a.proc = NFS3PROC_WRITE;
	a.u.write = (struct nfs3_write_args){
		.fh = fh, .count = 4, .data = SEG_LIST_MEM((char[]){"123"}, 3)};
	assert_int_equal(call(e, &a, &r), NFS3ERR_INVAL);
	a.proc = NFS3PROC_COMMIT;
	a.u.commit = (struct nfs3_commit_args){.fh = fh};
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	stable_verf(e->sv.stable, verf);
	assert_memory_equal(r.u.commit.verf, verf, sizeof(verf));
}

/* Who may not write a file may not have it synced either, whether it is open here or not. */
static void commit_asks_for_permission(void **state)
{
	struct nfs3_args a = {.proc = NFS3PROC_COMMIT};
	struct serve_env *e = *state;
	struct nfs3_res r;
	struct nfs_fh fh;

	if (geteuid() != 0)
		skip();
	ident_init(false);
	assert_int_equal(create(e, "f", NFS3_GUARDED, 0600, NULL, &fh), NFS3_OK);
	assert_int_equal(write_at(e, &fh, 0, "data", &r), NFS3_OK);
	a.u.commit = (struct nfs3_commit_args){.fh = fh};
	for (int i = 0; i < 2; i++) {
		e->uid = 1000;
		assert_int_equal(call(e, &a, &r), NFS3ERR_ACCES);
		e->uid = 0;
		assert_int_equal(call(e, &a, &r), NFS3_OK);
		fdcache_age(e->sv.fds, 0);
	}
}

static void names_lead_to_objects(void **state)
{
	struct serve_env *e = *state;
	char path[128], long_name[300];
	struct nfs3_args a = {.proc = NFS3PROC_LOOKUP};
	struct nfs3_res r;
	struct nfs_fh fh, root = root_of(e);

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "f", &r), NFS3_OK);
	assert_memory_equal(r.u.lookup.fh.data, fh.data, fh.len);
	assert_true(r.u.lookup.dir.have);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, i ? ".." : ".", &r), NFS3_OK);
		assert_memory_equal(r.u.lookup.fh.data, root.data, root.len);
	}
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "none", &r), NFS3ERR_NOENT);
	assert_true(r.u.lookup.dir.have);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "a/b", &r), NFS3ERR_INVAL);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "", &r), NFS3ERR_INVAL);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, long_name, &r), NFS3ERR_NAMETOOLONG);
	env_path(e, "d", path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "d", &r), NFS3_OK);
	a.u.dirop.dir = r.u.lookup.fh;
	a.u.dirop.name = name_of("..");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_memory_equal(r.u.lookup.fh.data, root.data, root.len);
	a.u.dirop.dir = fh;
	a.u.dirop.name = name_of("x");
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOTDIR);
	/* handles that are none, and one whose file has gone */
	fh.data[fh.len - 1] ^= 1;
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3ERR_BADHANDLE);
	fh.data[fh.len - 1] ^= 1;
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3_OK);
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3ERR_STALE);
	fh.len = 0;
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3ERR_BADHANDLE);
}

static void every_kind_is_made_and_removed(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_MKDIR};
	struct nfs3_res r;
	struct nfs_fh link;

	a.u.mkdir.where = in_root(e, "d");
	a.u.mkdir.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0750};
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.create.obj.attr.type, NFS_DIR);
	assert_int_equal(r.u.create.obj.attr.mode, 0750);
	assert_int_equal(call(e, &a, &r), NFS3ERR_EXIST);
	a = (struct nfs3_args){.proc = NFS3PROC_SYMLINK};
	a.u.symlink.where = in_root(e, "l");
	a.u.symlink.target = name_of("some/where");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	link = r.u.create.fh;
	assert_int_equal(on_fh(e, NFS3PROC_READLINK, &link, &r), NFS3_OK);
	assert_int_equal(r.u.readlink.target.len, 10);
	assert_memory_equal(r.u.readlink.target.s, "some/where", 10);
	/* into a Write chunk */
	e->nsinks = 1;
	e->sink[0] = 4096;
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	nfs3_put_fh(&e->args, &link);
	assert_true(send_call(e, NFS3PROC_READLINK, e->args.len));
	assert_int_equal(xdr_get_u32(&e->res), NFS3_OK);
	assert_int_equal(e->req.res.npayloads, 1);
	assert_memory_equal(e->req.res.payload[0].data.one.at.addr, "some/where", 10);
	e->sink[0] = 4;
	assert_int_equal(on_fh(e, NFS3PROC_READLINK, &link, &r), NFS3ERR_SERVERFAULT);
	e->nsinks = 0;
	a = (struct nfs3_args){.proc = NFS3PROC_MKNOD};
	a.u.mknod.where = in_root(e, "p");
	a.u.mknod.type = NFS_FIFO;
	a.u.mknod.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0600};
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.create.obj.attr.type, NFS_FIFO);
	a.u.mknod.where.name = name_of("p2");
	for (a.u.mknod.type = 0; a.u.mknod.type < 10; a.u.mknod.type++)
		if (a.u.mknod.type < NFS_BLK || a.u.mknod.type == NFS_LNK ||
			a.u.mknod.type > NFS_FIFO)
			assert_int_equal(call(e, &a, &r), NFS3ERR_BADTYPE);
	a = (struct nfs3_args){.proc = NFS3PROC_LINK};
	a.u.link.fh = link;
	a.u.link.where = in_root(e, "l2");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.link.obj.attr.nlink, 2);
	a = (struct nfs3_args){.proc = NFS3PROC_RENAME};
	a.u.rename.from = in_root(e, "l2");
	a.u.rename.to = in_root(e, "l3");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_true(r.u.rename.from.have_before && r.u.rename.to.after.have);
	a.u.rename.to.dir = link;
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOTDIR);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "d", &r), NFS3ERR_ISDIR);
	assert_int_equal(on_dirop(e, NFS3PROC_RMDIR, "l3", &r), NFS3ERR_NOTDIR);
	assert_int_equal(on_dirop(e, NFS3PROC_RMDIR, ".", &r), NFS3ERR_INVAL);
	assert_int_equal(on_dirop(e, NFS3PROC_RMDIR, "d", &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "l3", &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "l3", &r), NFS3ERR_NOENT);
}

/* Reads the root piece by piece into names, separated by commas. Returns how many pieces. */
static int list(struct serve_env *e, bool plus, uint32_t maxcount, char *names)
{
	struct nfs3_args a = {.proc = plus ? NFS3PROC_READDIRPLUS : NFS3PROC_READDIR};
	struct nfs3_entry ent;
	struct nfs3_res r;
	bool eof = false;
	int n = 0;

	names[0] = '\0';
	a.u.readdir.dir = root_of(e);
	a.u.readdir.maxcount = maxcount;
	a.u.readdir.dircount = maxcount;
	for (; !eof; n++) {
		assert_int_equal(call(e, &a, &r), NFS3_OK);
		assert_true(e->res.len <= maxcount + 4);
		while (nfs3_get_entry(&e->res, plus, &ent, &eof) == 1) {
			snprintf(
				names + strlen(names), 300, "%.*s,", (int)ent.name.len, ent.name.s);
			assert_int_not_equal(ent.fileid, 0);
			assert_int_equal(ent.obj.have, plus);
			assert_int_equal(ent.have_fh, plus);
			assert_int_not_equal(ent.cookie, a.u.readdir.cookie);
			a.u.readdir.cookie = ent.cookie;
		}
		assert_true(xdr_in_done(&e->res));
		memcpy(a.u.readdir.verf, r.u.readdir.verf, sizeof(a.u.readdir.verf));
	}
	return n;
}

static void directories_are_read_in_pieces(void **state)
{
	struct serve_env *e = *state;
	char names[8192], name[32];
	struct nfs3_args a = {.proc = NFS3PROC_READDIR};
	struct nfs3_res r;
	struct nfs_fh fh;

	assert_int_equal(list(e, false, 4096, names), 1);
	assert_string_equal(names, ".,..,");
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "a-file-called-%d", i);
		create(e, name, NFS3_UNCHECKED, 0644, NULL, &fh);
	}
	for (int plus = 0; plus < 2; plus++) {
		for (uint32_t max = 300; max <= 32768; max = max * 2 + 1) {
			list(e, plus, max, names);
			assert_memory_equal(names, ".,..,", 5);
			for (int i = 0; i < 60; i++) {
				snprintf(name, sizeof(name), ",a-file-called-%d,", i);
				assert_non_null(strstr(names, name));
				assert_null(strstr(strstr(names, name) + 1, name));
			}
		}
		assert_true(list(e, plus, 700, names) > 3);
	}
	a.u.readdir.dir = root_of(e);
	a.u.readdir.maxcount = 60;
	assert_int_equal(call(e, &a, &r), NFS3ERR_TOOSMALL);
	a.u.readdir.maxcount = 4096;
	a.u.readdir.cookie = 5;
	assert_int_equal(call(e, &a, &r), NFS3ERR_BAD_COOKIE); /* the verifier is wrong */
	a.u.readdir.dir = fh;
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOTDIR);
}

static void what_comes_again_is_answered_again(void **state)
{
	struct serve_env *e = *state;
	struct drc_stats s;
	struct nfs3_res r;
	struct nfs_fh fh;
	size_t len;

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3_OK);
	len = e->args.len;
	assert_true(send_call(e, NFS3PROC_REMOVE, len));
	assert_int_equal(nfs3_get_res(&e->res, NFS3PROC_REMOVE, &r), 0);
	assert_int_equal(r.u.status, NFS3_OK);
	drc_stats(e->sv.drc, &s);
	assert_int_equal(s.hits, 1);
	/* another call, another caller, another procedure under the same XID */
	e->uid = 7;
	assert_true(send_call(e, NFS3PROC_REMOVE, len));
	nfs3_get_res(&e->res, NFS3PROC_REMOVE, &r);
	assert_int_equal(r.u.status, NFS3ERR_NOENT);
	e->uid = 0;
	assert_true(send_call(e, NFS3PROC_RMDIR, len));
	nfs3_get_res(&e->res, NFS3PROC_RMDIR, &r);
	assert_int_equal(r.u.status, NFS3ERR_NOENT);
	e->call[len - 4] = 'g';
	assert_true(send_call(e, NFS3PROC_REMOVE, len));
	nfs3_get_res(&e->res, NFS3PROC_REMOVE, &r);
	assert_int_equal(r.u.status, NFS3ERR_NOENT);
	drc_stats(e->sv.drc, &s);
	assert_int_equal(s.hits, 1);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3ERR_NOENT);
}

static void a_read_only_export_changes_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_ACCESS};
	struct nfs3_res r;
	struct nfs_fh fh, root = root_of(e);

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	e->sv.read_only = true;
	assert_int_equal(write_at(e, &fh, 0, "x", &r), NFS3ERR_ROFS);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3ERR_ROFS);
	a.u.access.fh = fh;
	a.u.access.access = 0x3f;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.access.access, NFS_ACCESS_READ);
	e->sv.read_only = false;
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(
		r.u.access.access, NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND);
	assert_int_equal(on_fh(e, NFS3PROC_FSINFO, &root, &r), NFS3_OK);
	assert_int_equal(r.u.fsinfo.wtmax, SERVE_IO_MAX);
	assert_int_equal(on_fh(e, NFS3PROC_FSSTAT, &root, &r), NFS3_OK);
	assert_true(r.u.fsstat.st.tbytes > 0);
	assert_int_equal(on_fh(e, NFS3PROC_PATHCONF, &root, &r), NFS3_OK);
	assert_int_equal(r.u.pathconf.name_max, 255);
}

static void faults_hit_procedures_too(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_res r;
	struct nfs_fh root = root_of(e);
	struct err err;

	e->sv.fault = fault_new("error=NFS3ERR_JUKEBOX:op=FSSTAT:count=1,error=NFS4ERR_DELAY:op="
				"LOOKUP:nth=2",
		&err);
	assert_non_null(e->sv.fault);
	assert_int_equal(on_fh(e, NFS3PROC_FSSTAT, &root, &r), NFS3ERR_JUKEBOX);
	assert_int_equal(on_fh(e, NFS3PROC_FSSTAT, &root, &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, ".", &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, ".", &r), NFS3ERR_JUKEBOX);
	e->sv.fault = fault_free(e->sv.fault);
}

static void truncated_calls_are_garbage(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_RENAME};
	struct nfs3_res r;

	a.u.rename.from = in_root(e, "from");
	a.u.rename.to = in_root(e, "to");
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOENT);
	for (size_t len = 0; len < e->args.len; len += 4)
		assert_false(send_call(e, NFS3PROC_RENAME, len));
	memset(e->call + e->args.len, 0, 4);
	assert_false(send_call(e, NFS3PROC_RENAME, e->args.len + 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(what_is_written_is_read),
		cmocka_unit_test_setup_teardown(the_last_byte_of_all_is_read, setup_shm, teardown),
		T(a_read_fits_its_chunk_or_the_reply), T(create_has_three_modes),
		T(its_owner_may_use_what_the_mode_forbids), T(changes_tell_what_was_before),
		T(names_lead_to_objects), T(every_kind_is_made_and_removed),
		T(directories_are_read_in_pieces), T(what_comes_again_is_answered_again),
		T(a_read_only_export_changes_nothing), T(faults_hit_procedures_too),
		T(truncated_calls_are_garbage),
		T(commit_asks_for_permission), /* last: identities are switched from then on */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
