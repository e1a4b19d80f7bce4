/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve-two: two clients of a server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/state/session.h"
#include "tests/unit/contrib/serve/state/serve-two.h"
#include "transport/clock.h"
#include "transport/log.h"

struct rpc_call *two_out;
unsigned two_ncalls;
uint64_t two_later_ns;

int __wrap_rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max);
int __wrap_rpc_cb_submit(struct rpc_call *call);
void __wrap_rpc_call_finish(struct rpc_call *call);
uint64_t __wrap_clock_coarse_ns(void);

int __wrap_rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max)
{
	uint8_t *buf = malloc(args_max);

	assert_non_null(buf);
	xdr_out_init(&call->args, buf, args_max);
	return 0;
}

int __wrap_rpc_cb_submit(struct rpc_call *call)
{
	assert_true(xdr_out_ok(&call->args));
	assert_null(two_out);
	two_out = call;
	two_ncalls++;
	return 0;
}

void __wrap_rpc_call_finish(struct rpc_call *call)
{
	free(call->args.base);
}

uint64_t __wrap_clock_coarse_ns(void)
{
	return CLOCK_BEGIN + 1000 * NSEC_PER_SEC + two_later_ns;
}

static void destroy(struct rpc_xprt *x)
{
}

static void save(const struct serve_env *e, struct who *w)
{
	*w = (struct who){e->session, e->clientid, e->slot_seq};
}

void two_be(struct two *f, bool other)
{
	struct who *now = other ? &f->other : &f->holder;

	save(&f->e, f->is_other ? &f->other : &f->holder);
	f->is_other = other;
	f->e.session = now->session;
	f->e.clientid = now->clientid;
	f->e.slot_seq = now->slot_seq;
}

void two_call_back(struct two *f)
{
	struct session *ses = session_get(&f->e.sv.state, &f->e.session);

	session_set_back(ses, &f->x);
	ses->cb_wanted = ses->cb_proved = true;
	session_put(&f->e.sv.state, ses);
}

void two_make_file(const struct two *f, const char *name)
{
	char path[128];
	int fd;

	env_path(&f->e, name, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
}

int two_setup(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = destroy};
	struct two *f = calloc(1, sizeof(*f));

	log_init("test", LOG_L_ERROR);
	two_out = NULL;
	two_ncalls = 0;
	two_later_ns = 0;
	f->x.ops = &ops;
	f->x.refs = 1;
	env_init(&f->e);
	f->e.sv.state.delegs->mode = DELEG_READ;
	two_make_file(f, "f");
	env_mount(&f->e, "other");
	save(&f->e, &f->other);
	env_mount(&f->e, "holder");
	two_call_back(f);
	*state = f;
	return 0;
}

int two_teardown(void **state)
{
	struct two *f = *state;

	assert_null(two_out);
	env_finish(&f->e);
	assert_int_equal(f->x.refs, 1);
	free(f);
	return 0;
}

uint32_t two_open_with(struct two *f, const char *name, struct nfs4_open_args *a)
{
	static const char owner[] = "o";
	struct serve_env *e = &f->e;
	struct nfs4_open_res r;
	struct nfs4_getfh_res g;
	bool by_fh = a->claim == CLAIM_FH || a->claim == CLAIM_DELEG_CUR_FH;

	a->owner = (struct nfs4_owner){e->clientid, {(const uint8_t *)owner, 1}};
	a->name = (struct nfs_name){name, (uint32_t)strlen(name)};
	env_begin(e, true);
	if (by_fh)
		env_put_fh(e, &f->fh);
	else
		nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, a);
	nfs4_put_op(&e->args, OP_GETFH);
	if (env_run(e, 4) != NFS4_OK)
		return e->head.status;
	env_expect(e, by_fh ? OP_PUTFH : OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_OPEN, NFS4_OK);
	assert_int_equal(nfs4_get_open_res(&e->res, NFS4_OK, &r), 0);
	env_expect(e, OP_GETFH, NFS4_OK);
	assert_int_equal(nfs4_get_getfh_res(&e->res, NFS4_OK, &g), 0);
	f->open = r.stateid;
	f->d = r.deleg;
	f->fh = g.fh;
	return NFS4_OK;
}

uint32_t two_open(struct two *f, uint32_t access, uint32_t deny)
{
	struct nfs4_open_args a = {.share_access = access, .share_deny = deny, .claim = CLAIM_NULL};

	return two_open_with(f, "f", &a);
}

struct nfs4_stateid two_delegated(struct two *f)
{
	two_be(f, false);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	assert_false(f->d.recall);
	assert_int_equal(f->d.permissions.access_mask, 0);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	return f->d.stateid;
}

uint32_t two_give(struct two *f, const struct nfs4_stateid *sid)
{
	struct nfs4_stateid_args a = {.stateid = *sid};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_stateid_args(&f->e.args, OP_DELEGRETURN, &a);
	return env_run(&f->e, 3);
}

/* The callback that is out is CB_SEQUENCE and op. Gives the arguments of op in *a. The results
 * begin in x. Returns where the number of results stands. */
static size_t take_call(struct two *f, uint32_t op, struct nfs4_cb_args *a, struct xdr_out *x)
{
	struct nfs4_opaque tag = {.len = 0};
	struct nfs4_cb_sequence_res seq = {0};
	struct xdr_in in;
	uint32_t len;
	size_t at;

	assert_non_null(two_out);
	xdr_in_init(&in, two_out->args.base, two_out->args.len);
	xdr_get_opaque(&in, 1024, &len);
	assert_int_equal(xdr_get_u32(&in), 1); /* minor version */
	xdr_get_u32(&in);
	assert_int_equal(xdr_get_u32(&in), 2);
	assert_int_equal(nfs4_get_cb_args(&in, a), 0);
	assert_int_equal(a->op, OP_CB_SEQUENCE);
	assert_memory_equal(&a->u.sequence.session, &f->holder.session, sizeof(f->holder.session));
	seq.session = a->u.sequence.session;
	seq.sequenceid = a->u.sequence.sequenceid;
	assert_int_equal(nfs4_get_cb_args(&in, a), 0);
	assert_int_equal(a->op, op);
	at = nfs4_begin_compound_res(x, &tag);
	nfs4_put_cb_sequence_res(x, NFS4_OK, &seq);
	return at;
}

static void answer(struct xdr_out *x, size_t at, uint32_t status)
{
	struct rpc_call *call = two_out;
	struct xdr_in in;

	nfs4_end_compound_res(x, at, status, 2);
	xdr_in_init(&in, x->base, x->len);
	two_out = NULL;
	call->done(call, 0, &in);
}

static void check_fh(const struct two *f, const struct nfs_fh *fh)
{
	assert_int_equal(fh->len, f->fh.len);
	assert_memory_equal(fh->data, f->fh.data, f->fh.len);
}

void two_answer_recall(struct two *f, const struct nfs4_stateid *sid, uint32_t status)
{
	struct nfs4_cb_args a;
	struct xdr_out x;
	uint8_t buf[256];
	size_t at;

	xdr_out_init(&x, buf, sizeof(buf));
	at = take_call(f, OP_CB_RECALL, &a, &x);
	assert_memory_equal(&a.u.recall.stateid, sid, sizeof(*sid));
	check_fh(f, &a.u.recall.fh);
	nfs4_put_op_res(&x, OP_CB_RECALL, status);
	answer(&x, at, status);
}

void two_answer_layoutrecall(struct two *f, const struct nfs4_stateid *sid, uint32_t status)
{
	struct nfs4_cb_args a;
	struct xdr_out x;
	uint8_t buf[256];
	size_t at;

	xdr_out_init(&x, buf, sizeof(buf));
	at = take_call(f, OP_CB_LAYOUTRECALL, &a, &x);
	assert_int_equal(a.u.layoutrecall.type, LAYOUT4_FLEX_FILES);
	assert_int_equal(a.u.layoutrecall.recall, LAYOUTRECALL4_FILE);
	assert_int_equal(a.u.layoutrecall.iomode, LAYOUTIOMODE4_ANY);
	assert_true(a.u.layoutrecall.offset == 0 && a.u.layoutrecall.length == NFS4_LENGTH_EOF);
	assert_memory_equal(&a.u.layoutrecall.stateid, sid, sizeof(*sid));
	check_fh(f, &a.u.layoutrecall.fh);
	nfs4_put_op_res(&x, OP_CB_LAYOUTRECALL, status);
	answer(&x, at, status);
}

void two_answer_getattr(struct two *f, uint32_t status, uint64_t change, uint64_t size)
{
	struct nfs4_bitmap both = nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, -1);
	struct nfs4_attrs attrs = {.attr.change = change, .attr.size = size};
	struct nfs4_cb_args a;
	struct xdr_out x;
	uint8_t buf[256];
	size_t at;

	xdr_out_init(&x, buf, sizeof(buf));
	at = take_call(f, OP_CB_GETATTR, &a, &x);
	assert_memory_equal(a.u.getattr.want.w, both.w, sizeof(both.w));
	check_fh(f, &a.u.getattr.fh);
	nfs4_put_op_res(&x, OP_CB_GETATTR, status);
	attrs.mask = both;
	if (status == NFS4_OK)
		nfs4_put_attrs(&x, &both, &attrs);
	answer(&x, at, status);
}

uint32_t two_status_flags(struct two *f)
{
	struct nfs4_sequence_res r;

	env_begin(&f->e, true);
	assert_int_equal(env_run(&f->e, 1), NFS4_OK);
	xdr_in_init(&f->e.res, f->e.reply, f->e.req.res.len);
	assert_int_equal(nfs4_get_compound_res(&f->e.res, &f->e.head), 0);
	env_expect(&f->e, OP_SEQUENCE, NFS4_OK);
	assert_int_equal(nfs4_get_sequence_res(&f->e.res, NFS4_OK, &r), 0);
	return r.status_flags;
}

uint32_t two_test_sid(struct two *f, const struct nfs4_stateid *sid)
{
	struct nfs4_test_stateid_res r;
	struct xdr_out *x = env_begin(&f->e, true);

	nfs4_put_op(x, OP_TEST_STATEID);
	xdr_put_u32(x, 1);
	nfs4_put_stateid(x, sid);
	assert_int_equal(env_run(&f->e, 2), NFS4_OK);
	env_expect(&f->e, OP_TEST_STATEID, NFS4_OK);
	xdr_get_u32(&f->e.res);
	memset(&r, 0, sizeof(r));
	return xdr_get_u32(&f->e.res);
}

uint32_t two_free_sid(struct two *f, const struct nfs4_stateid *sid)
{
	struct nfs4_stateid_args a = {.stateid = *sid};

	env_begin(&f->e, true);
	nfs4_put_stateid_args(&f->e.args, OP_FREE_STATEID, &a);
	return env_run(&f->e, 2);
}

uint32_t two_open_write(struct two *f)
{
	return two_open(f, WR, 0);
}

uint32_t two_set_mode(struct two *f)
{
	struct nfs4_attrs set = {0};
	struct nfs4_bitmap mask = nfs4_bits(FATTR4_MODE, -1);
	struct xdr_out *x = env_begin(&f->e, true);

	set.attr.mode = 0600;
	set.mask = mask;
	env_put_fh(&f->e, &f->fh);
	nfs4_put_op(x, OP_SETATTR);
	nfs4_put_stateid(x, &nfs4_stateid_anonymous);
	nfs4_put_attrs(x, &mask, &set);
	return env_run(&f->e, 3);
}

uint32_t two_remove(struct two *f)
{
	struct nfs4_name_args a = {.name = {"f", 1}};

	env_begin(&f->e, true);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_name_args(&f->e.args, OP_REMOVE, &a);
	return env_run(&f->e, 3);
}

uint32_t two_rename(struct two *f, const char *from, const char *to)
{
	struct nfs4_rename_args a = {.from = {from, 1}, .to = {to, 1}};

	env_begin(&f->e, true);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_op(&f->e.args, OP_SAVEFH);
	nfs4_put_rename_args(&f->e.args, &a);
	return env_run(&f->e, 4);
}

uint32_t two_link(struct two *f)
{
	struct nfs4_name_args a = {.name = {"l", 1}};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_op(&f->e.args, OP_SAVEFH);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_name_args(&f->e.args, OP_LINK, &a);
	return env_run(&f->e, 5);
}
