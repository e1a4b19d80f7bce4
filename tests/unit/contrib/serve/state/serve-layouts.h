/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve-layouts: two clients (serve-two.h) of a metadata server with two data servers.
 */
#ifndef RNFS_TESTS_SERVE_LAYOUTS_H
#define RNFS_TESTS_SERVE_LAYOUTS_H

#include <stdio.h>
#include <string.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/devices.h"
#include "contrib/serve/state/layout.h"
#include "nfsproto/wire/nfs4_flexfiles.h"
#include "tests/unit/contrib/serve/state/serve-two.h"

static struct devices devices; /* the server's */

static inline int layouts_setup(void **state)
{
	char list[] = "tcp:10.0.0.1:2049,tcp:10.0.0.2:2049/4.1";
	struct err e;
	struct two *f;

	two_setup(state);
	f = *state;
	devices = (struct devices){0};
	assert_int_equal(devices_add(&devices, list, &e), 0);
	f->e.sv.devices = &devices;
	f->e.sv.state.delegs->mode = DELEG_NONE;
	return 0;
}

/* LAYOUTGET with any arguments. Returns the status; *r is the result. */
static inline uint32_t get_with(
	struct two *f, const struct nfs4_layoutget_args *a, struct nfs4_layoutget_res *r)
{
	uint32_t status;

	memset(r, 0, sizeof(*r));
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutget_args(&f->e.args, a);
	status = env_run(&f->e, 3);
	if (status != NFS4_OK && status != NFS4ERR_LAYOUTTRYLATER)
		return status;
	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	env_expect(&f->e, OP_LAYOUTGET, status);
	assert_int_equal(nfs4_get_layoutget_res(&f->e.res, status, r), 0);
	assert_int_equal(xdr_in_left(&f->e.res), 0);
	return status;
}

static const struct nfs4_layoutget_args whole = {.type = LAYOUT4_FLEX_FILES,
	.iomode = LAYOUTIOMODE4_RW,
	.length = NFS4_LENGTH_EOF,
	.minlength = 1,
	.maxcount = 65536};

/* f's ids at data servers. */
static inline struct fence_ids ids(const struct two *f)
{
	struct fence_ids ids;
	struct obj *o;

	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(fence_ids(f->e.sv.objs, o, &ids), 0);
	obj_unref(f->e.sv.objs, o);
	return ids;
}

static inline void assert_id(const struct nfs_name *name, uint32_t id)
{
	char text[12];

	assert_int_equal(name->len, snprintf(text, sizeof(text), "%u", id));
	assert_memory_equal(name->s, text, name->len);
}

/* LAYOUTGET of f under sid, which becomes the layout's stateid. *device: the number of the data
 * server. */
static inline uint32_t get(struct two *f, struct nfs4_stateid *sid, uint32_t iomode, int *device)
{
	struct nfs4_layoutget_args a = whole;
	struct nfs4_layoutget_res r;
	struct nfs4_ff_walk w = {0};
	struct nfs4_ff_server s;
	struct nfs4_ff_layout l;
	uint32_t status;

	a.stateid = *sid;
	a.iomode = iomode;
	status = get_with(f, &a, &r);
	if (status != NFS4_OK)
		return status;
	assert_true(r.return_on_close);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.layout[0].iomode, iomode);
	assert_int_equal(r.layout[0].type, LAYOUT4_FLEX_FILES);
	assert_true(r.layout[0].offset == 0 && r.layout[0].length == NFS4_LENGTH_EOF);
	assert_int_equal(nfs4_get_ff_layout(&r.layout[0].body, &l), 0);
	assert_true(nfs4_ff_next(&l, &w, &s));
	assert_int_equal(s.fh[0].len, f->fh.len);
	assert_memory_equal(s.fh[0].data, f->fh.data, f->fh.len);
	assert_id(&s.user, iomode == LAYOUTIOMODE4_RW ? ids(f).uid : IDENT_ANON);
	assert_id(&s.group, ids(f).gid);
	if (device)
		*device = devices_find(&devices, &s.device);
	*sid = r.stateid;
	return NFS4_OK;
}

/* The holder, or the other client, opens f and gets a layout. */
static inline struct nfs4_stateid laid_out(struct two *f, bool other)
{
	struct nfs4_stateid sid;

	two_be(f, other);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	return sid;
}

/* LAYOUTRETURN; with_report: the first data server has answered `status`. */
static inline uint32_t give_with(struct two *f, const struct nfs4_stateid *sid, uint32_t iomode,
	uint64_t length, const struct nfs4_ff_return *report, struct nfs4_layoutreturn_res *r)
{
	struct nfs4_layoutreturn_args a = {.type = LAYOUT4_FLEX_FILES,
		.iomode = iomode,
		.what = LAYOUTRETURN4_FILE,
		.length = length,
		.stateid = *sid};
	uint8_t buf[1024];
	struct xdr_out x;
	uint32_t status;

	xdr_out_init(&x, buf, sizeof(buf));
	if (report)
		nfs4_put_ff_return(&x, report);
	a.body = (struct nfs4_opaque){buf, (uint32_t)x.len};
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutreturn_args(&f->e.args, &a);
	status = env_run(&f->e, 3);
	if (status != NFS4_OK)
		return status;
	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	env_expect(&f->e, OP_LAYOUTRETURN, NFS4_OK);
	assert_int_equal(nfs4_get_layoutreturn_res(&f->e.res, NFS4_OK, r), 0);
	return NFS4_OK;
}

static inline uint32_t give(struct two *f, const struct nfs4_stateid *sid)
{
	struct nfs4_layoutreturn_res r = {.left = true};
	uint32_t status = give_with(f, sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, NULL, &r);

	assert_int_equal(r.left, status != NFS4_OK);
	return status;
}

static inline uint32_t layouts(const struct two *f)
{
	return f->e.sv.state.layouts->n;
}

#endif
