/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/layout and of the operations of pNFS: layouts, their ends and
 * recalls, and data servers that fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/devices.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/v4/cb.h"
#include "nfsproto/wire/nfs4_flexfiles.h"
#include "tests/unit/contrib/serve/state/serve-two.h"
#include "transport/clock.h"

static struct devices devices;

static int setup(void **state)
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
static uint32_t get_with(
	struct two *f, const struct nfs4_layoutget_args *a, struct nfs4_layoutget_res *r)
{
	uint32_t status;

	memset(r, 0, sizeof(*r));
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutget_args(&f->e.args, a);
	status = env_run(&f->e, 3);
	if (status != NFS4_OK)
		return status;
	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	env_expect(&f->e, OP_LAYOUTGET, NFS4_OK);
	assert_int_equal(nfs4_get_layoutget_res(&f->e.res, NFS4_OK, r), 0);
	return NFS4_OK;
}

static const struct nfs4_layoutget_args whole = {.type = LAYOUT4_FLEX_FILES,
	.iomode = LAYOUTIOMODE4_RW,
	.length = NFS4_LENGTH_EOF,
	.minlength = 1,
	.maxcount = 65536};

/* f's ids at data servers. */
static struct fence_ids ids(const struct two *f)
{
	struct fence_ids ids;
	struct obj *o;

	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(fence_ids(f->e.sv.objs, o, &ids), 0);
	obj_unref(f->e.sv.objs, o);
	return ids;
}

static void assert_id(const struct nfs_name *name, uint32_t id)
{
	char text[12];

	assert_int_equal(name->len, snprintf(text, sizeof(text), "%u", id));
	assert_memory_equal(name->s, text, name->len);
}

/* LAYOUTGET of f under sid, which becomes the layout's stateid. *device: the number of the data
 * server. */
static uint32_t get(struct two *f, struct nfs4_stateid *sid, uint32_t iomode, int *device)
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
static struct nfs4_stateid laid_out(struct two *f, bool other)
{
	struct nfs4_stateid sid;

	two_be(f, other);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	return sid;
}

/* LAYOUTRETURN; with_report: the first data server has answered `status`. */
static uint32_t give_with(struct two *f, const struct nfs4_stateid *sid, uint32_t iomode,
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

static uint32_t give(struct two *f, const struct nfs4_stateid *sid)
{
	struct nfs4_layoutreturn_res r = {.left = true};
	uint32_t status = give_with(f, sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, NULL, &r);

	assert_int_equal(r.left, status != NFS4_OK);
	return status;
}

static uint32_t layouts(const struct two *f)
{
	return f->e.sv.state.layouts->n;
}

static void a_layout_lives_from_get_to_return(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid first = laid_out(f, false), sid = first;
	struct nfs4_layoutreturn_res r;

	assert_int_equal(first.seqid, 1);
	assert_int_equal(layouts(f), 1);
	/* again, under the layout's own stateid, and under one that is behind */
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(sid.seqid, 2);
	sid = first;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(sid.seqid, 3);
	assert_int_equal(layouts(f), 1);
	/* a part, and one iomode: the layout stays */
	assert_int_equal(give_with(f, &sid, LAYOUTIOMODE4_ANY, 4096, NULL, &r), NFS4_OK);
	assert_true(r.left);
	assert_int_equal(
		give_with(f, &sid, LAYOUTIOMODE4_READ, NFS4_LENGTH_EOF, NULL, &r), NFS4_OK);
	assert_true(r.left);
	assert_int_equal(r.stateid.seqid, 5);
	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
	sid.seqid = 0;
	assert_int_equal(two_test_sid(f, &sid), NFS4ERR_BAD_STATEID);
}

/* A stateid of the future, another client's, of another kind of state. */
static void foreign_stateids_are_refused(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), bad = sid;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	bad.seqid++;
	assert_int_equal(give(f, &bad), NFS4ERR_BAD_STATEID);
	assert_int_equal(give(f, &f->open), NFS4ERR_BAD_STATEID);
	bad = nfs4_stateid_anonymous;
	assert_int_equal(get(f, &bad, LAYOUTIOMODE4_READ, NULL), NFS4ERR_BAD_STATEID);
	/* no I/O and no CLOSE by a layout's stateid */
	assert_int_equal(
		env_read(&f->e, &f->fh, &sid, 0, 10, &data, &len, &eof), NFS4ERR_BAD_STATEID);
	assert_int_equal(env_close(&f->e, &f->fh, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_free_sid(f, &sid), NFS4ERR_LOCKS_HELD);
	two_be(f, true);
	bad = sid;
	assert_int_equal(get(f, &bad, LAYOUTIOMODE4_READ, NULL), NFS4ERR_BAD_STATEID);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
	two_be(f, false);
	assert_int_equal(layouts(f), 1);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void what_was_opened_decides(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;

	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_OPENMODE);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_OPENMODE);
	assert_int_equal(two_open(f, WR, 0), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
}

static void the_last_close_ends_the_layout(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), open;

	laid_out(f, true);
	assert_int_equal(layouts(f), 2);
	open = f->open;
	assert_int_equal(env_close(&f->e, &f->fh, &open), NFS4_OK);
	assert_int_equal(layouts(f), 1); /* the other client's has ended */
	two_be(f, false);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK); /* the same open */
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
}

/* A delegation keeps the layout, until the delegation goes too. */
static void a_delegation_keeps_the_layout(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid, deleg;

	f->e.sv.state.delegs->mode = DELEG_READ;
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	deleg = f->d.stateid;
	sid = deleg;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(layouts(f), 1);
	assert_int_equal(two_give(f, &deleg), NFS4_OK);
	assert_int_equal(layouts(f), 0);
}

static void all_layouts_are_returned_at_once(void **state)
{
	struct nfs4_layoutreturn_args a = {
		.type = LAYOUT4_FLEX_FILES, .iomode = LAYOUTIOMODE4_ANY, .what = LAYOUTRETURN4_ALL};
	struct two *f = *state;

	laid_out(f, true);
	laid_out(f, false);
	env_begin(&f->e, true);
	nfs4_put_layoutreturn_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 2), NFS4_OK);
	assert_int_equal(layouts(f), 1);
}

static void mistakes_have_their_status(void **state)
{
	static const struct {
		struct nfs4_layoutget_args a;
		uint32_t status;
	} bad[] = {
		{{.type = LAYOUT4_NFSV4_1_FILES, .iomode = 1, .length = 1, .maxcount = 4096},
			NFS4ERR_UNKNOWN_LAYOUTTYPE},
		{{.type = LAYOUT4_FLEX_FILES, .iomode = 3, .length = 1, .maxcount = 4096},
			NFS4ERR_BADIOMODE},
		{{.type = LAYOUT4_FLEX_FILES, .iomode = 0, .length = 1, .maxcount = 4096},
			NFS4ERR_BADIOMODE},
		{{.type = LAYOUT4_FLEX_FILES, .iomode = 1, .length = 0, .maxcount = 4096},
			NFS4ERR_INVAL},
		{{.type = LAYOUT4_FLEX_FILES,
			 .iomode = 1,
			 .length = 1,
			 .minlength = 2,
			 .maxcount = 4096},
			NFS4ERR_INVAL},
		{{.type = LAYOUT4_FLEX_FILES,
			 .iomode = 1,
			 .offset = 2,
			 .length = NFS4_LENGTH_EOF - 1,
			 .maxcount = 4096},
			NFS4ERR_INVAL},
		{{.type = LAYOUT4_FLEX_FILES, .iomode = 1, .length = 1, .maxcount = 64},
			NFS4ERR_TOOSMALL},
	};
	struct two *f = *state;
	struct nfs4_layoutget_args a;
	struct nfs4_layoutget_res r;

	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		a = bad[i].a;
		a.stateid = f->open;
		assert_int_equal(get_with(f, &a, &r), bad[i].status);
	}
	assert_int_equal(layouts(f), 0);
	a = whole;
	env_begin(&f->e, true); /* a directory */
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_layoutget_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 3), NFS4ERR_WRONG_TYPE);
	f->e.sv.devices = NULL; /* a server without --pnfs */
	a.stateid = f->open;
	assert_int_equal(get_with(f, &a, &r), NFS4ERR_NOTSUPP);
}

/* --- recalls ---------------------------------------------------------------------------------- */

static void a_change_of_the_mode_waits_for_the_layout(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), other;

	laid_out(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	sid.seqid++; /* the recall counts */
	two_answer_layoutrecall(f, &sid, NFS4_OK);
	two_be(f, false);
	other = sid;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_READ, NULL), NFS4ERR_RECALLCONFLICT);
	assert_int_equal(give(f, &sid), NFS4_OK);
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	/* for a moment there is none, so that the change comes first */
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	other = f->open;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_READ, NULL), NFS4ERR_LAYOUTTRYLATER);
	two_later_ns += 3 * NSEC_PER_SEC;
	assert_int_equal(get(f, &other, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
}

/* The holder that makes the change itself need not wait. Its layout is recalled all the same. */
static void the_holders_own_change_does_not_wait(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);

	assert_int_equal(two_set_mode(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	sid.seqid++;
	two_answer_layoutrecall(f, &sid, NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void a_refused_layoutrecall_is_repeated(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);

	sid.seqid++;
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_layoutrecall(f, &sid, NFS4ERR_DELAY);
	two_later_ns += NSEC_PER_SEC;
	layout_tick(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	two_answer_layoutrecall(f, &sid, NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(layouts(f), 0); /* the client does not have it */
	assert_int_equal(two_set_mode(f), NFS4_OK);
}

static void a_layout_that_does_not_come_back_ends(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct fence_ids before = ids(f);

	sid.seqid++;
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	for (unsigned i = 0; i < 10; i++) {
		cb_notify_all(&f->e.sv);
		if (two_out)
			two_answer_layoutrecall(f, &sid, NFS4_OK);
		two_be(f, false); /* the client lives */
		assert_int_equal(two_status_flags(f), 0);
		two_be(f, true);
		assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
		two_later_ns += 10 * NSEC_PER_SEC;
		layout_tick(&f->e.sv.state);
	}
	cb_notify_all(&f->e.sv); /* the last call comes too late */
	two_answer_layoutrecall(f, &sid, NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(layouts(f), 0);
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	two_be(f, false);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
}

/* The state of a client that has gone silent ends with its first conflict. */
static void an_expired_client_keeps_no_layout(void **state)
{
	struct two *f = *state;
	struct fence_ids before;

	laid_out(f, false);
	before = ids(f);
	two_later_ns += 100 * NSEC_PER_SEC;
	two_be(f, true);
	assert_int_equal(two_status_flags(f), 0);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	cb_notify_all(&f->e.sv); /* the call has no client any more */
	assert_null(two_out);
}

/* A layout that was returned, or closed, fences nothing. */
static void an_orderly_end_fences_nothing(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct fence_ids before = ids(f);

	assert_int_equal(give(f, &sid), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_true(before.uid == ids(f).uid && before.gid == ids(f).gid);
}

/* A holder that keeps a delegation has data to write, which must not come late. */
static void a_revoked_delegation_is_fenced(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid, deleg;
	struct fence_ids before;

	f->e.sv.state.delegs->mode = DELEG_READ;
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	deleg = f->d.stateid;
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	before = ids(f);
	two_be(f, true);
	assert_int_equal(two_open(f, WR, 0), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &deleg, NFS4_OK);
	for (unsigned i = 0; i < 10; i++) {
		two_be(f, false); /* the client lives */
		assert_int_equal(two_status_flags(f), 0);
		assert_true(before.uid == ids(f).uid);
		two_later_ns += 10 * NSEC_PER_SEC;
		deleg_tick(&f->e.sv.state);
		cb_notify_all(&f->e.sv);
		if (two_out)
			two_answer_recall(f, &deleg, NFS4_OK);
	}
	assert_true(before.uid != ids(f).uid && before.gid != ids(f).gid);
	two_be(f, true);
	assert_int_equal(two_open(f, WR, 0), NFS4_OK);
}

/* A data server does not know the caller, for whom a WRITE must take these bits away. */
static void programs_of_other_users_are_not_written_there(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;
	char path[128];

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	env_path(&f->e, "f", path, sizeof(path));
	assert_int_equal(chmod(path, 04755), 0);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
}

/* --- data servers ----------------------------------------------------------------------------- */

static struct nfs4_layouterror_args error_of(int device, uint32_t status)
{
	return (struct nfs4_layouterror_args){.length = NFS4_LENGTH_EOF,
		.n = 1,
		.error = {{devices.d[device].id, status, OP_WRITE}}};
}

static uint32_t report(struct two *f, const struct nfs4_stateid *sid, int device, uint32_t status)
{
	struct nfs4_layouterror_args a = error_of(device, status);

	a.stateid = *sid;
	f->e.minor = 2;
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layouterror_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

static void a_data_server_that_fails_is_avoided(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid, others;
	struct nfs4_ff_return r = {.nerrors = 1};
	struct nfs4_layoutreturn_res res;
	int first, now;

	others = laid_out(f, true);
	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &first), NFS4_OK);
	/* what any other data server would answer, too */
	assert_int_equal(report(f, &sid, first, NFS4ERR_NOSPC), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, first);
	assert_int_equal(report(f, &sid, first, NFS4ERR_NXIO), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, 1 - first);
	/* the other data server fails too, said at the layout's return */
	r.error[0] = error_of(1 - first, NFS4ERR_IO);
	assert_int_equal(give_with(f, &sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4ERR_LAYOUTUNAVAILABLE);
	/* another client has its own ways */
	two_be(f, true);
	assert_int_equal(get(f, &others, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, first);
	two_be(f, false);
	two_later_ns += 61 * NSEC_PER_SEC;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, first);
}

/* Data servers refuse clients that have the layout of a file from before its fence. */
static void a_refusal_behind_a_fence_is_no_failure(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;
	struct obj *o;
	int first, now;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &first), NFS4_OK);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	fence_raise(o);
	obj_unref(f->e.sv.objs, o);
	assert_int_equal(report(f, &sid, first, NFS4ERR_ACCESS), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, first);
	two_later_ns += 121 * NSEC_PER_SEC; /* later it is */
	assert_int_equal(report(f, &sid, first, NFS4ERR_ACCESS), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, 1 - first);
}

static uint32_t device_info(struct two *f, const struct nfs4_deviceid *id, uint32_t type,
	uint32_t maxcount, struct nfs4_getdeviceinfo_res *r)
{
	struct nfs4_getdeviceinfo_args a = {.device = *id, .type = type, .maxcount = maxcount};
	uint32_t status, code;

	env_begin(&f->e, true);
	nfs4_put_getdeviceinfo_args(&f->e.args, &a);
	status = env_run(&f->e, 2);
	assert_int_equal(nfs4_get_op_res(&f->e.res, OP_GETDEVICEINFO, &code), 0);
	assert_int_equal(code, status);
	assert_int_equal(nfs4_get_getdeviceinfo_res(&f->e.res, status, r), 0);
	assert_true(xdr_in_done(&f->e.res));
	return status;
}

static void data_servers_have_addresses(void **state)
{
	const struct nfs4_deviceid none = {{1}};
	struct two *f = *state;
	struct nfs4_getdeviceinfo_res r;
	struct nfs4_ff_device d;
	uint32_t need;

	two_be(f, false);
	assert_int_equal(device_info(f, &devices.d[1].id, LAYOUT4_FLEX_FILES, 4096, &r), NFS4_OK);
	assert_int_equal(nfs4_get_ff_device(&r.body, &d), 0);
	assert_int_equal(d.version[0].version, 4);
	assert_memory_equal(d.addrs.addr[0].addr.s, "10.0.0.2.8.1", 12);
	need = r.body.len + 12;
	assert_int_equal(device_info(f, &devices.d[1].id, LAYOUT4_FLEX_FILES, need, &r), NFS4_OK);
	assert_int_equal(device_info(f, &devices.d[1].id, LAYOUT4_FLEX_FILES, need - 1, &r),
		NFS4ERR_TOOSMALL);
	assert_int_equal(r.mincount, need);
	assert_int_equal(device_info(f, &devices.d[1].id, LAYOUT4_FLEX_FILES, 0, &r), NFS4_OK);
	assert_int_equal(r.body.len, 0);
	assert_int_equal(device_info(f, &none, LAYOUT4_FLEX_FILES, 4096, &r), NFS4ERR_NOENT);
	assert_int_equal(device_info(f, &devices.d[0].id, LAYOUT4_NFSV4_1_FILES, 4096, &r),
		NFS4ERR_UNKNOWN_LAYOUTTYPE);
}

static void a_commit_needs_a_layout_to_write(void **state)
{
	struct nfs4_layoutcommit_args a = {
		.length = 4, .wrote = true, .last = 3, .type = LAYOUT4_FLEX_FILES};
	struct nfs4_layoutcommit_res r = {.resized = true};
	struct two *f = *state;

	a.stateid = laid_out(f, false);
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutcommit_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 3), NFS4_OK);
	env_expect(&f->e, OP_PUTFH, NFS4_OK);
	env_expect(&f->e, OP_LAYOUTCOMMIT, NFS4_OK);
	assert_int_equal(nfs4_get_layoutcommit_res(&f->e.res, NFS4_OK, &r), 0);
	assert_false(r.resized);
	assert_int_equal(give(f, &a.stateid), NFS4_OK);
	a.stateid = f->open;
	assert_int_equal(get(f, &a.stateid, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutcommit_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 3), NFS4ERR_BADLAYOUT);
	a.reclaim = true; /* outside of the grace period */
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutcommit_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 3), NFS4ERR_NO_GRACE);
}

static void clients_learn_of_the_layout_type(void **state)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits(FATTR4_FS_LAYOUT_TYPES, -1)};
	struct nfs4_attrs attrs;
	struct two *f = *state;

	for (int i = 0; i < 2; i++) {
		env_begin(&f->e, true);
		nfs4_put_op(&f->e.args, OP_PUTROOTFH);
		nfs4_put_getattr_args(&f->e.args, &a);
		assert_int_equal(env_run(&f->e, 3), NFS4_OK);
		env_expect(&f->e, OP_PUTROOTFH, NFS4_OK);
		env_expect(&f->e, OP_GETATTR, NFS4_OK);
		assert_int_equal(nfs4_get_attrs(&f->e.res, &attrs, NULL), 0);
		assert_int_equal(nfs4_bit(&attrs.mask, FATTR4_FS_LAYOUT_TYPES), i == 0);
		assert_int_equal(attrs.layout_types, i == 0 ? 1u << LAYOUT4_FLEX_FILES : 0);
		f->e.sv.devices = NULL;
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_layout_lives_from_get_to_return),
		TEST(foreign_stateids_are_refused),
		TEST(what_was_opened_decides),
		TEST(the_last_close_ends_the_layout),
		TEST(a_delegation_keeps_the_layout),
		TEST(all_layouts_are_returned_at_once),
		TEST(mistakes_have_their_status),
		TEST(a_change_of_the_mode_waits_for_the_layout),
		TEST(the_holders_own_change_does_not_wait),
		TEST(a_refused_layoutrecall_is_repeated),
		TEST(a_layout_that_does_not_come_back_ends),
		TEST(an_expired_client_keeps_no_layout),
		TEST(an_orderly_end_fences_nothing),
		TEST(a_revoked_delegation_is_fenced),
		TEST(programs_of_other_users_are_not_written_there),
		TEST(a_data_server_that_fails_is_avoided),
		TEST(a_refusal_behind_a_fence_is_no_failure),
		TEST(data_servers_have_addresses),
		TEST(a_commit_needs_a_layout_to_write),
		TEST(clients_learn_of_the_layout_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
