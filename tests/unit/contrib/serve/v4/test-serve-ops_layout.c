/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v4/ops_layout: what the operations of pNFS answer, and data servers
 * that fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "contrib/serve/v4/cb.h"
#include "tests/unit/contrib/serve/state/serve-layouts.h"
#include "transport/clock.h"

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

/* Each data server would refuse the WRITE so. The client learns of the error from this server. */
static void a_file_without_room_is_written_here(void **state)
{
	static const uint32_t cases[] = {NFS4ERR_NOSPC, NFS4ERR_DQUOT, NFS4ERR_FBIG, NFS4ERR_ROFS};
	struct two *f = *state;
	struct nfs4_ff_return r = {.nerrors = 1};
	struct nfs4_layoutreturn_res res;
	struct nfs4_stateid sid;
	int first, now;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sid = f->open;
		assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &first), NFS4_OK);
		assert_int_equal(report(f, &sid, first, cases[i]), NFS4_OK);
		assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
		assert_int_equal(get(f, &sid, LAYOUTIOMODE4_READ, &now), NFS4_OK);
		assert_int_equal(now, first);
		two_later_ns += 11 * NSEC_PER_SEC;
		assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
		assert_int_equal(now, first);
		r.error[0] = error_of(first, cases[i]); /* said at the layout's return */
		assert_int_equal(
			give_with(f, &sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res), NFS4_OK);
		sid = f->open;
		assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
		two_later_ns += 11 * NSEC_PER_SEC;
	}
}

/* Data servers refuse a READ for other reasons, and a client without a layout has no say. */
static void only_a_holders_write_counts(void **state)
{
	struct two *f = *state;
	struct nfs4_ff_return r = {.nerrors = 1, .error[0] = error_of(0, NFS4ERR_NOSPC)};
	struct nfs4_layoutreturn_res res;
	struct nfs4_stateid sid = laid_out(f, false), bad = sid;

	bad.other[0]++;
	assert_int_equal(give_with(f, &bad, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	r.error[0].error[0].op = OP_READ;
	assert_int_equal(give_with(f, &sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
}

static bool unreadable;
ssize_t __real_getxattr(const char *path, const char *name, void *v, size_t n);
ssize_t __wrap_getxattr(const char *path, const char *name, void *v, size_t n);
ssize_t __wrap_getxattr(const char *path, const char *name, void *v, size_t n)
{
	if (!unreadable)
		return __real_getxattr(path, name, v, n);
	errno = EACCES;
	return -1;
}

/* A server that is not root cannot read the number of a file of mode 0200. */
static void a_file_with_an_unreadable_number_is_written_here(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	unreadable = true;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4ERR_LAYOUTUNAVAILABLE);
	unreadable = false;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
}

static uint64_t reports(struct two *f, int device, bool errors)
{
	const struct layout_reports *r = &f->e.sv.state.layouts->reports[device];

	return atomic_load(errors ? &r->errors : &r->counts);
}

static void reports_of_errors_are_counted(void **state)
{
	struct two *f = *state;
	struct nfs4_layouterror_args a = error_of(1, NFS4ERR_IO);
	struct nfs4_stateid sid = laid_out(f, false);

	a.n = 3; /* one of an unknown data server, and one that is no data server's fault */
	a.stateid = sid;
	a.error[1] = a.error[2] = a.error[0];
	memset(&a.error[1].device, 0xff, sizeof(a.error[1].device));
	a.error[2].status = NFS4ERR_NOSPC;
	f->e.minor = 2;
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layouterror_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 3), NFS4_OK);
	assert_int_equal(reports(f, 1, true), 2);
	assert_int_equal(reports(f, 0, true), 0);
	sid.other[0]++;
	assert_int_equal(report(f, &sid, 1, NFS4ERR_IO), NFS4ERR_BAD_STATEID);
	assert_int_equal(reports(f, 1, true), 2);
}

/* The counts of 1 READ of 4096 bytes. */
static struct nfs4_ff_update update_of(void)
{
	return (struct nfs4_ff_update){
		.addr = {{"tcp", 3}, {"10.0.0.2.8.1", 12}},
		.fh = {.len = 2, .data = "DS"},
		.read = {1, 4096, 1, 4096, 0, {.tv_nsec = 1000}, {.tv_nsec = 1000}},
		.duration = {.tv_sec = 60},
	};
}

/* LAYOUTSTATS of a body that is longer than it should be, or shorter. */
static uint32_t stats(struct two *f, const struct nfs4_stateid *sid, uint32_t type,
	const struct nfs4_deviceid *device, int longer)
{
	struct nfs4_ff_update u = update_of();
	uint8_t body[1024] = {0};
	struct nfs4_layoutstats_args a = {
		.length = NFS4_LENGTH_EOF, .stateid = *sid, .read = {1, 4096}, .device = *device};
	struct xdr_out x;

	xdr_out_init(&x, body, sizeof(body));
	nfs4_put_ff_update(&x, &u);
	a.type = type;
	a.body = (struct nfs4_opaque){body, (uint32_t)((int)x.len + longer)};
	f->e.minor = 2;
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_layoutstats_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

static void counts_of_io_are_checked_and_counted(void **state)
{
	const struct nfs4_deviceid none = {{1}}, *id = &devices.d[1].id;
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false), wrong = sid;
	struct nfs4_ff_return r = {.nstats = 2};
	struct nfs4_layoutreturn_res res;

	assert_int_equal(stats(f, &sid, LAYOUT4_FLEX_FILES, id, 0), NFS4_OK);
	assert_int_equal(reports(f, 1, false), 1);
	/* no error by what is told (RFC 7862 15.7.3) */
	assert_int_equal(stats(f, &sid, LAYOUT4_FLEX_FILES, &none, 0), NFS4_OK);
	for (int i = 4; i <= 172; i += 4)
		assert_int_equal(stats(f, &sid, LAYOUT4_FLEX_FILES, id, -i), NFS4ERR_BADXDR);
	assert_int_equal(stats(f, &sid, LAYOUT4_FLEX_FILES, id, 4), NFS4ERR_BADXDR);
	assert_int_equal(stats(f, &sid, LAYOUT4_NFSV4_1_FILES, id, 0), NFS4ERR_UNKNOWN_LAYOUTTYPE);
	wrong.other[0]++;
	assert_int_equal(stats(f, &wrong, LAYOUT4_FLEX_FILES, id, 0), NFS4ERR_BAD_STATEID);
	assert_int_equal(stats(f, &f->open, LAYOUT4_FLEX_FILES, id, 0), NFS4ERR_BAD_STATEID);
	assert_int_equal(reports(f, 1, false), 1);
	for (unsigned i = 0; i < r.nstats; i++)
		r.stats[i] = (struct nfs4_ff_iostats){.device = *id, .update = update_of()};
	assert_int_equal(give_with(f, &sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res), NFS4_OK);
	assert_int_equal(reports(f, 1, false), 1);
	assert_int_equal(f->e.sv.state.layouts->reports[1].late_counts, 2);
	assert_int_equal(reports(f, 0, false), 0);
}

static void a_layout_tells_how_often_counts_are_wanted(void **state)
{
	struct devices ds = devices;
	uint8_t body[1024];
	struct nfs4_ff_layout l;
	struct nfs4_opaque o = {.data = body};
	const struct nfs_fh fh = {.len = 2, .data = "F0"};
	struct xdr_out x;

	ds.stats_s = 7;
	xdr_out_init(&x, body, sizeof(body));
	assert_true(devices_put_layout(&x, &ds, 0, 1, &fh, 1, 1));
	o.len = (uint32_t)x.len;
	assert_int_equal(nfs4_get_ff_layout(&o, &l), 0);
	assert_int_equal(l.stats_hint, 7);
}

/* Data servers may not find a file without a name. */
static void removed_files_are_read_here(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;
	int first, now;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &first), NFS4_OK);
	assert_int_equal(two_remove(f), NFS4_OK);
	assert_int_equal(report(f, &sid, first, NFS4ERR_STALE), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4ERR_LAYOUTUNAVAILABLE);
	two_make_file(f, "f"); /* another one: its data server is not avoided */
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &first), NFS4_OK);
	assert_int_equal(report(f, &sid, first, NFS4ERR_STALE), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, 1 - first);
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
	fence_raise(f->e.sv.objs, o);
	obj_unref(f->e.sv.objs, o);
	assert_int_equal(report(f, &sid, first, NFS4ERR_ACCESS), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, first);
	two_later_ns += 121 * NSEC_PER_SEC; /* later it is */
	assert_int_equal(report(f, &sid, first, NFS4ERR_ACCESS), NFS4_OK);
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, &now), NFS4_OK);
	assert_int_equal(now, 1 - first);
}

static uint32_t fence_user(struct two *f)
{
	struct fence_ids ids;
	struct obj *o;

	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(fence_ids(f->e.sv.objs, o, &ids), 0);
	obj_unref(f->e.sv.objs, o);
	return ids.uid;
}

/* A data server that was silent may still execute the WRITE, over one that comes here. */
static void a_write_without_an_answer_is_fenced(void **state)
{
	static const struct {
		uint32_t status, op;
		bool fences;
	} cases[] = {
		{NFS4ERR_NXIO, OP_READ, false},
		{NFS4ERR_IO, OP_WRITE, false},
		{NFS4ERR_NXIO, OP_WRITE, true},
		{NFS4ERR_NXIO, OP_COMMIT, true},
	};
	struct two *f = *state;
	struct nfs4_layoutreturn_res res;
	struct nfs4_stateid sid;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nfs4_ff_return r = {.nerrors = 2};
		uint32_t user = fence_user(f);

		sid = f->open;
		assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
		/* of a device that there is not, so that the layouts go on */
		r.error[0] = error_of(0, NFS4ERR_DELAY);
		r.error[1] = error_of(0, cases[i].status);
		memset(&r.error[1].error[0].device, 0xff, sizeof(r.error[1].error[0].device));
		r.error[1].error[0].op = cases[i].op;
		assert_int_equal(
			give_with(f, &sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res), NFS4_OK);
		assert_int_equal(fence_user(f) != user, cases[i].fences);
	}
}

/* Errors of READ come first in a report, and the one of the WRITE behind many of these. */
static void a_write_at_the_end_of_a_report_counts(void **state)
{
	static const unsigned ns[] = {20, NFS4_FF_ERRORS_KEPT + 1};
	struct two *f = *state;
	struct nfs4_layoutreturn_args a = {.type = LAYOUT4_FLEX_FILES,
		.iomode = LAYOUTIOMODE4_ANY,
		.what = LAYOUTRETURN4_FILE,
		.length = NFS4_LENGTH_EOF};
	struct nfs4_layouterror_args error;
	uint8_t buf[4096];
	struct xdr_out x;
	uint32_t user;

	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		user = fence_user(f);
		a.stateid = f->open;
		assert_int_equal(get(f, &a.stateid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
		xdr_out_init(&x, buf, sizeof(buf));
		xdr_put_u32(&x, ns[i]);
		for (unsigned k = 1; k <= ns[i]; k++) {
			error = error_of(0, k == ns[i] ? NFS4ERR_NXIO : NFS4ERR_DELAY);
			error.error[0].op = k == ns[i] ? OP_WRITE : OP_READ;
			/* of a device that there is not, so that the layouts go on */
			memset(&error.error[0].device, 0xff, sizeof(error.error[0].device));
			nfs4_put_ioerr(&x, &error);
		}
		xdr_put_u32(&x, 0);
		a.body = (struct nfs4_opaque){buf, (uint32_t)x.len};
		env_begin(&f->e, true);
		env_put_fh(&f->e, &f->fh);
		nfs4_put_layoutreturn_args(&f->e.args, &a);
		assert_int_equal(env_run(&f->e, 3), NFS4_OK);
		assert_int_not_equal(fence_user(f), user);
	}
}

/* The client still writes there, until the layout ends, without another word on the WRITE. */
static void a_write_without_an_answer_is_fenced_at_the_end(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;
	uint32_t user;

	sid = laid_out(f, false);
	user = fence_user(f);
	assert_int_equal(report(f, &sid, 0, NFS4ERR_NXIO), NFS4_OK);
	assert_int_equal(fence_user(f), user);
	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_int_not_equal(fence_user(f), user);
	user = fence_user(f);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_int_equal(fence_user(f), user);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(report(f, &sid, 0, NFS4ERR_NXIO), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_not_equal(fence_user(f), user);
}

/* A client may let go of all layouts at once, or of one that is recalled without LAYOUTRETURN. */
static void a_write_without_an_answer_is_fenced_however_the_layout_ends(void **state)
{
	struct nfs4_layoutreturn_args all = {
		.type = LAYOUT4_FLEX_FILES, .iomode = LAYOUTIOMODE4_ANY, .what = LAYOUTRETURN4_ALL};
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	uint32_t user = fence_user(f);

	assert_int_equal(report(f, &sid, 0, NFS4ERR_NXIO), NFS4_OK);
	env_begin(&f->e, true);
	nfs4_put_layoutreturn_args(&f->e.args, &all);
	assert_int_equal(env_run(&f->e, 2), NFS4_OK);
	assert_int_equal(layouts(f), 0);
	assert_int_not_equal(fence_user(f), user);
	user = fence_user(f);
	sid = f->open;
	assert_int_equal(get(f, &sid, LAYOUTIOMODE4_RW, NULL), NFS4_OK);
	assert_int_equal(report(f, &sid, 0, NFS4ERR_NXIO), NFS4_OK);
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	sid.seqid++;
	two_answer_layoutrecall(f, &sid, NFS4ERR_NOMATCHING_LAYOUT);
	assert_int_equal(layouts(f), 0);
	assert_int_not_equal(fence_user(f), user);
}

/* Another client may get a lock as soon as LOCKU has ended. */
static void a_write_without_an_answer_is_fenced_before_an_unlock(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = laid_out(f, false);
	struct nfs4_locku_args a = {.type = WRITE_LT, .length = NFS4_LENGTH_EOF};
	uint32_t user = fence_user(f);

	assert_int_equal(report(f, &sid, 0, NFS4ERR_NXIO), NFS4_OK);
	a.stateid = f->open; /* of any state: the order counts */
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_locku_args(&f->e.args, &a);
	assert_int_equal(env_run(&f->e, 3), NFS4ERR_BAD_STATEID);
	assert_int_not_equal(fence_user(f), user);
	user = fence_user(f);
	assert_int_equal(give(f, &sid), NFS4_OK); /* settled */
	assert_int_equal(fence_user(f), user);
}

/* Else a client could shut all others out. */
static void without_a_layout_nothing_is_fenced(void **state)
{
	struct nfs4_ff_return r = {.nerrors = 1, .error[0] = error_of(0, NFS4ERR_NXIO)};
	struct two *f = *state;
	struct nfs4_layoutreturn_res res;
	struct nfs4_stateid sid = laid_out(f, false), reads;
	uint32_t user = fence_user(f);

	sid.other[0]++;
	assert_int_equal(give_with(f, &sid, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res),
		NFS4ERR_BAD_STATEID);
	assert_int_equal(fence_user(f), user);
	two_be(f, true);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	reads = f->open;
	assert_int_equal(get(f, &reads, LAYOUTIOMODE4_READ, NULL), NFS4_OK);
	assert_int_equal(
		give_with(f, &reads, LAYOUTIOMODE4_ANY, NFS4_LENGTH_EOF, &r, &res), NFS4_OK);
	assert_int_equal(fence_user(f), user);
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
#define TEST(f) cmocka_unit_test_setup_teardown(f, layouts_setup, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(mistakes_have_their_status),
		TEST(programs_of_other_users_are_not_written_there),
		TEST(a_data_server_that_fails_is_avoided),
		TEST(a_file_without_room_is_written_here),
		TEST(only_a_holders_write_counts),
		TEST(a_file_with_an_unreadable_number_is_written_here),
		TEST(reports_of_errors_are_counted),
		TEST(counts_of_io_are_checked_and_counted),
		TEST(a_layout_tells_how_often_counts_are_wanted),
		TEST(removed_files_are_read_here),
		TEST(a_refusal_behind_a_fence_is_no_failure),
		TEST(a_write_without_an_answer_is_fenced),
		TEST(a_write_at_the_end_of_a_report_counts),
		TEST(a_write_without_an_answer_is_fenced_at_the_end),
		TEST(a_write_without_an_answer_is_fenced_however_the_layout_ends),
		TEST(a_write_without_an_answer_is_fenced_before_an_unlock),
		TEST(without_a_layout_nothing_is_fenced),
		TEST(data_servers_have_addresses),
		TEST(a_commit_needs_a_layout_to_write),
		TEST(clients_learn_of_the_layout_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
