/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/deleg and deleg_use: two clients, a holder that is called back
 * and answers as told, and another that is in its way.
 *
 * Linked with --wrap of rpc_cb_init(), rpc_cb_submit() and rpc_call_finish(), as test-serve-cb is,
 * and of clock_coarse_ns(): time passes when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/ops/entry.h"
#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/deleg_use.h"
#include "contrib/serve/v4/cb.h"
#include "nfsproto/wire/nfs4_xdr_cb.h"
#include "serve-env.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/xprt.h"

#define RD OPEN4_SHARE_ACCESS_READ
#define WR OPEN4_SHARE_ACCESS_WRITE
#define RW OPEN4_SHARE_ACCESS_BOTH

static struct rpc_call *out; /* the call that is out */
static unsigned ncalls;
static uint64_t later_ns; /* so much time has passed: nothing else makes the clock go */

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
	assert_null(out);
	out = call;
	ncalls++;
	return 0;
}

void __wrap_rpc_call_finish(struct rpc_call *call)
{
	free(call->args.base);
}

uint64_t __wrap_clock_coarse_ns(void)
{
	return 1000 * NSEC_PER_SEC + later_ns;
}

/* A client of the server. */
struct who {
	struct nfs4_sessionid session;
	uint64_t clientid;
	uint32_t slot_seq;
};

struct fix {
	struct serve_env e;
	struct rpc_xprt x;
	struct who holder, other;
	bool is_other; /* whose calls e makes */
	struct nfs_fh fh;
	struct nfs4_stateid open;
	struct nfs4_delegation d; /* of the last OPEN */
};

static void destroy(struct rpc_xprt *x)
{
}

static void save(const struct serve_env *e, struct who *w)
{
	*w = (struct who){e->session, e->clientid, e->slot_seq};
}

static void be(struct fix *f, bool other)
{
	struct who *now = other ? &f->other : &f->holder;

	save(&f->e, f->is_other ? &f->other : &f->holder);
	f->is_other = other;
	f->e.session = now->session;
	f->e.clientid = now->clientid;
	f->e.slot_seq = now->slot_seq;
}

/* The client that calls can be called back, and has answered. */
static void give_back(struct fix *f)
{
	struct session *ses = session_get(&f->e.sv.state, &f->e.session);

	session_set_back(ses, &f->x);
	ses->cb_wanted = ses->cb_proved = true;
	session_put(&f->e.sv.state, ses);
}

static void make_file(const struct fix *f, const char *name)
{
	char path[128];
	int fd;

	env_path(&f->e, name, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
}

static int setup(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = destroy};
	struct fix *f = calloc(1, sizeof(*f));

	log_init("test", LOG_L_ERROR);
	out = NULL;
	ncalls = 0;
	later_ns = 0;
	f->x.ops = &ops;
	f->x.refs = 1;
	env_init(&f->e);
	f->e.sv.state.delegs->mode = DELEG_READ;
	make_file(f, "f");
	env_mount(&f->e, "other");
	save(&f->e, &f->other);
	env_mount(&f->e, "holder");
	give_back(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	assert_null(out);
	env_finish(&f->e);
	assert_int_equal(f->x.refs, 1);
	free(f);
	return 0;
}

static uint32_t open_with(struct fix *f, const char *name, struct nfs4_open_args *a)
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

static uint32_t open_f(struct fix *f, uint32_t access, uint32_t deny)
{
	struct nfs4_open_args a = {.share_access = access, .share_deny = deny, .claim = CLAIM_NULL};

	return open_with(f, "f", &a);
}

/* The holder opens f to read and gets a delegation; its open is closed. */
static struct nfs4_stateid delegated(struct fix *f)
{
	be(f, false);
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	assert_false(f->d.recall);
	assert_int_equal(f->d.permissions.access_mask, 0);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	return f->d.stateid;
}

static uint32_t give(struct fix *f, const struct nfs4_stateid *sid)
{
	struct nfs4_delegreturn_args a = {.stateid = *sid};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_delegreturn_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

/* CB_RECALL of sid is out; it is answered with that status. */
static void answer_recall(struct fix *f, const struct nfs4_stateid *sid, uint32_t status)
{
	struct nfs4_opaque tag = {.len = 0};
	struct nfs4_cb_sequence_res seq = {0};
	struct nfs4_cb_args a;
	struct rpc_call *call = out;
	struct xdr_out x;
	struct xdr_in in;
	uint8_t buf[256];
	uint32_t len;
	size_t at;

	assert_non_null(call);
	xdr_in_init(&in, call->args.base, call->args.len);
	xdr_get_opaque(&in, 1024, &len);
	assert_int_equal(xdr_get_u32(&in), 1); /* minor version */
	xdr_get_u32(&in);
	assert_int_equal(xdr_get_u32(&in), 2);
	assert_int_equal(nfs4_get_cb_args(&in, &a), 0);
	assert_int_equal(a.op, OP_CB_SEQUENCE);
	assert_memory_equal(&a.u.sequence.session, &f->holder.session, sizeof(f->holder.session));
	seq.session = a.u.sequence.session;
	seq.sequenceid = a.u.sequence.sequenceid;
	assert_int_equal(nfs4_get_cb_args(&in, &a), 0);
	assert_int_equal(a.op, OP_CB_RECALL);
	assert_memory_equal(&a.u.recall.stateid, sid, sizeof(*sid));
	assert_int_equal(a.u.recall.fh.len, f->fh.len);
	assert_memory_equal(a.u.recall.fh.data, f->fh.data, f->fh.len);
	xdr_out_init(&x, buf, sizeof(buf));
	at = nfs4_begin_compound_res(&x, &tag);
	nfs4_put_cb_sequence_res(&x, NFS4_OK, &seq);
	nfs4_put_op_res(&x, OP_CB_RECALL, status);
	nfs4_end_compound_res(&x, at, status, 2);
	xdr_in_init(&in, x.base, x.len);
	out = NULL;
	call->done(call, 0, &in);
}

static uint32_t status_flags(struct fix *f)
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

static uint32_t test_sid(struct fix *f, const struct nfs4_stateid *sid)
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

static uint32_t free_sid(struct fix *f, const struct nfs4_stateid *sid)
{
	struct nfs4_free_stateid_args a = {.stateid = *sid};

	env_begin(&f->e, true);
	nfs4_put_free_stateid_args(&f->e.args, &a);
	return env_run(&f->e, 2);
}

/* --- giving ----------------------------------------------------------------------------------- */

static void who_wants_one_gets_one(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);
	const uint8_t *data;
	uint32_t len;
	bool eof;

	/* it outlives the open, and reads */
	assert_int_equal(env_read(&f->e, &f->fh, &sid, 0, 100, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4);
	assert_int_equal(env_write(&f->e, &f->fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_OPENMODE);
	assert_int_equal(test_sid(f, &sid), NFS4_OK);
	assert_int_equal(free_sid(f, &sid), NFS4ERR_LOCKS_HELD);
	/* one is enough */
	assert_int_equal(open_f(f, RD | OPEN4_SHARE_ACCESS_WANT_ANY_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(
		env_read(&f->e, &f->fh, &sid, 0, 100, &data, &len, &eof), NFS4ERR_BAD_STATEID);
	assert_int_equal(f->e.sv.state.delegs->n, 0);
}

static void who_wants_none_gets_none(void **state)
{
	static const struct {
		uint32_t access;
		uint32_t why;
	} ask[] = {
		{RD | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, WND4_NOT_WANTED},
		{RD | OPEN4_SHARE_ACCESS_WANT_CANCEL, WND4_CANCELLED},
		{RD | OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG, WND4_RESOURCE},
		{RW | OPEN4_SHARE_ACCESS_WANT_ANY_DELEG, WND4_RESOURCE},
	};
	struct fix *f = *state;

	for (unsigned i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		assert_int_equal(open_f(f, ask[i].access, 0), NFS4_OK);
		assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
		assert_int_equal(f->d.why, ask[i].why);
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	}
	f->e.sv.state.delegs->mode = DELEG_NONE;
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	assert_int_equal(open_f(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.why, WND4_RESOURCE);
}

static void without_a_backchannel_there_is_none(void **state)
{
	struct fix *f = *state;
	struct session *ses = session_get(&f->e.sv.state, &f->e.session);

	be(f, true);
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	be(f, false);
	ses->cb_proved = false;
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	ses->cb_proved = ses->cb_down = true;
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	ses->cb_down = false;
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	session_put(&f->e.sv.state, ses);
}

static void nor_of_a_file_that_others_change(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid w;
	struct obj *o;

	be(f, true);
	assert_int_equal(open_f(f, RW, 0), NFS4_OK);
	w = f->open;
	be(f, false);
	assert_int_equal(open_f(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	be(f, true);
	assert_int_equal(env_close(&f->e, &f->fh, &w), NFS4_OK);
	/* nor while a change is under way */
	be(f, false);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(deleg_begin_use(&f->e.sv.state, o, NULL, DELEG_CHANGE), NFS4_OK);
	assert_int_equal(open_f(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	deleg_end_use(&f->e.sv.state, o, DELEG_CHANGE);
	obj_unref(f->e.sv.objs, o);
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
}

static void two_readers_may_both_have_one(void **state)
{
	struct fix *f = *state;

	delegated(f);
	be(f, true);
	give_back(f);
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_READ);
	assert_int_equal(ncalls, 0);
}

static void a_client_has_so_many_and_no_more(void **state)
{
	struct fix *f = *state;
	struct delegs *d = f->e.sv.state.delegs;
	unsigned given = 0;
	char name[16];

	assert_in_range(d->max_client, 1, d->max);
	d->max_client = 5;
	for (unsigned i = 0; i < 20; i++) {
		struct nfs4_open_args a = {.share_access = RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG,
			.claim = CLAIM_NULL};

		snprintf(name, sizeof(name), "n%u", i);
		make_file(f, name);
		assert_int_equal(open_with(f, name, &a), NFS4_OK);
		given += f->d.type == OPEN_DELEGATE_READ;
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	}
	assert_int_equal(given, 5);
	assert_int_equal(d->n, 5);
	d->max = 6;
	be(f, true);
	give_back(f);
	given = 0;
	for (unsigned i = 0; i < 3; i++) {
		struct nfs4_open_args a = {.share_access = RD, .claim = CLAIM_NULL};

		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(open_with(f, name, &a), NFS4_OK);
		given += f->d.type == OPEN_DELEGATE_READ;
	}
	assert_int_equal(given, 1);
}

/* --- recalling -------------------------------------------------------------------------------- */

static uint32_t open_write(struct fix *f)
{
	return open_f(f, WR, 0);
}

static uint32_t open_deny(struct fix *f)
{
	return open_f(f, RD, OPEN4_SHARE_DENY_READ);
}

static uint32_t write_anonymous(struct fix *f)
{
	return env_write(&f->e, &f->fh, &nfs4_stateid_anonymous, 0, (char[]){"x"}, 1);
}

static uint32_t set_mode(struct fix *f)
{
	struct nfs4_attrs set = {0};
	struct nfs4_bitmap mask = nfs4_bits(FATTR4_MODE, -1);
	struct xdr_out *x = env_begin(&f->e, true);

	set.attr.mode = 0600;
	env_put_fh(&f->e, &f->fh);
	nfs4_put_op(x, OP_SETATTR);
	nfs4_put_stateid(x, &nfs4_stateid_anonymous);
	nfs4_put_attrs(x, &mask, &set);
	return env_run(&f->e, 3);
}

static uint32_t remove_it(struct fix *f)
{
	struct nfs4_remove_args a = {.name = {"f", 1}};

	env_begin(&f->e, true);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_remove_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

static uint32_t rename_as(struct fix *f, const char *from, const char *to)
{
	struct nfs4_rename_args a = {.from = {from, 1}, .to = {to, 1}};

	env_begin(&f->e, true);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_op(&f->e.args, OP_SAVEFH);
	nfs4_put_rename_args(&f->e.args, &a);
	return env_run(&f->e, 4);
}

static uint32_t rename_it(struct fix *f)
{
	return rename_as(f, "f", "g");
}

static uint32_t rename_over_it(struct fix *f)
{
	make_file(f, "h");
	return rename_as(f, "h", "f");
}

static uint32_t link_it(struct fix *f)
{
	struct nfs4_link_args a = {.name = {"l", 1}};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_op(&f->e.args, OP_SAVEFH);
	nfs4_put_op(&f->e.args, OP_PUTROOTFH);
	nfs4_put_link_args(&f->e.args, &a);
	return env_run(&f->e, 5);
}

/* As NFSv3 has it: nobody's. */
static uint32_t remove_as_v3(struct fix *f)
{
	struct obj *root = obj_root(f->e.sv.objs);
	uint32_t status =
		entry_remove(&f->e.sv, NULL, root, &(struct nfs_name){"f", 1}, ENTRY_OTHER);

	obj_unref(f->e.sv.objs, root);
	return status;
}

static uint32_t (*const conflicts[])(struct fix *f) = {open_write, open_deny, write_anonymous,
	set_mode, rename_it, rename_over_it, link_it, remove_it, remove_as_v3};

static void what_conflicts_waits_until_it_is_back(void **state)
{
	for (unsigned i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		struct nfs4_stateid sid;
		struct fix *f;

		if (i > 0)
			assert_int_equal(setup(state), 0);
		f = *state;
		sid = delegated(f);
		be(f, true);
		assert_int_equal(conflicts[i](f), NFS4ERR_DELAY);
		assert_null(out);
		cb_notify_all(&f->e.sv);
		answer_recall(f, &sid, NFS4_OK);
		assert_int_equal(conflicts[i](f), NFS4ERR_DELAY); /* it is not back yet */
		cb_notify_all(&f->e.sv);
		assert_null(out); /* and not recalled twice in a row */
		be(f, false);
		assert_int_equal(give(f, &sid), NFS4_OK);
		be(f, true);
		assert_int_equal(conflicts[i](f), NFS4_OK);
		assert_int_equal(f->e.sv.state.delegs->n, 0);
		assert_int_equal(f->e.sv.state.delegs->nrecalled, 0);
		if (i + 1 < sizeof(conflicts) / sizeof(conflicts[0]))
			assert_int_equal(teardown(state), 0);
	}
}

static void its_holder_is_not_in_its_own_way(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);

	assert_int_equal(set_mode(f), NFS4_OK);
	assert_int_equal(link_it(f), NFS4_OK);
	assert_int_equal(rename_it(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_null(out);
	/* of a file that has no name any more it is to come back */
	assert_int_equal(remove_it(f), NFS4ERR_NOENT);
	assert_int_equal(rename_as(f, "g", "f"), NFS4_OK);
	assert_int_equal(remove_it(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_null(out);
	assert_int_equal(rename_as(f, "l", "f"), NFS4_OK);
	assert_int_equal(remove_it(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	be(f, false); /* f->holder is saved */
	answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

/* Its own opens for writing end it, but do not wait. */
static void the_holder_may_write(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);

	assert_int_equal(open_write(f), NFS4_OK);
	cb_notify_all(&f->e.sv);
	be(f, false); /* f->holder is saved */
	answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void reading_is_in_nobodys_way(void **state)
{
	struct fix *f = *state;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	delegated(f);
	be(f, true);
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(env_read(&f->e, &f->fh, &nfs4_stateid_anonymous, 0, 10, &data, &len, &eof),
		NFS4_OK);
	cb_notify_all(&f->e.sv);
	assert_int_equal(ncalls, 0);
}

static void after_a_conflict_there_is_none_for_a_while(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);

	be(f, true);
	assert_int_equal(set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	answer_recall(f, &sid, NFS4_OK);
	be(f, false);
	assert_int_equal(give(f, &sid), NFS4_OK);
	assert_int_equal(open_f(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	later_ns += 60 * NSEC_PER_SEC;
	delegated(f);
}

/* A client that has not seen the answer to its OPEN yet, or has no time. */
static void a_refused_recall_is_repeated(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);

	be(f, true);
	assert_int_equal(set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	answer_recall(f, &sid, NFS4ERR_BAD_STATEID);
	later_ns += NSEC_PER_SEC;
	deleg_tick(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	answer_recall(f, &sid, NFS4ERR_DELAY);
	later_ns += NSEC_PER_SEC;
	assert_int_equal(set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(ncalls, 3);
	be(f, false);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void a_recall_that_does_not_arrive_is_repeated(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);
	struct rpc_call *call;

	be(f, true);
	assert_int_equal(set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	call = out;
	out = NULL;
	call->done(call, -ETIMEDOUT, &(struct xdr_in){0});
	be(f, false);
	assert_int_equal(status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	later_ns += 10 * NSEC_PER_SEC;
	deleg_tick(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(status_flags(f), 0);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void what_does_not_come_back_is_revoked(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f);
	const uint8_t *data;
	uint32_t len;
	bool eof;

	be(f, true);
	assert_int_equal(set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	answer_recall(f, &sid, NFS4_OK);
	be(f, false);
	for (unsigned i = 0; i < 10; i++) { /* it lives, but keeps it */
		assert_int_equal(status_flags(f), 0);
		later_ns += 10 * NSEC_PER_SEC;
		deleg_tick(&f->e.sv.state);
		cb_notify_all(&f->e.sv);
		if (out)
			answer_recall(f, &sid, NFS4_OK);
	}
	assert_int_equal(status_flags(f), SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
	be(f, true);
	assert_int_equal(set_mode(f), NFS4_OK);
	be(f, false);
	assert_int_equal(
		env_read(&f->e, &f->fh, &sid, 0, 10, &data, &len, &eof), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(test_sid(f, &sid), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(give(f, &sid), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(free_sid(f, &sid), NFS4_OK);
	assert_int_equal(free_sid(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(status_flags(f), 0);
	/* and it gets no more */
	later_ns += 60 * NSEC_PER_SEC;
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
}

/* A client that has vanished altogether loses all it has, at once. */
static void an_expired_client_is_not_waited_for(void **state)
{
	struct fix *f = *state;

	delegated(f);
	be(f, true);
	later_ns += 100 * NSEC_PER_SEC;
	assert_int_equal(set_mode(f), NFS4_OK);
	assert_int_equal(f->e.sv.state.delegs->n, 0);
}

static void foreign_stateids_are_not_taken(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f), open;

	be(f, true);
	assert_int_equal(give(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(free_sid(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(test_sid(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(open_f(f, RD, 0), NFS4_OK);
	open = f->open;
	assert_int_equal(give(f, &open), NFS4ERR_BAD_STATEID); /* an open */
	be(f, false);
	assert_int_equal(env_close(&f->e, &f->fh, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(test_sid(f, &sid), NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
}

static void opens_are_claimed_by_a_delegation(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid sid = delegated(f), wrong = sid;
	struct nfs4_open_args a = {.share_access = RD, .deleg = sid};

	be(f, true);
	assert_int_equal(open_write(f), NFS4ERR_DELAY);
	be(f, false);
	a.claim = CLAIM_DELEGATE_CUR;
	assert_int_equal(open_with(f, "f", &a), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
	a.claim = CLAIM_DELEG_CUR_FH;
	assert_int_equal(open_with(f, "f", &a), NFS4_OK);
	wrong.other[11] ^= 1;
	a.deleg = wrong;
	assert_int_equal(open_with(f, "f", &a), NFS4ERR_BAD_STATEID);
	a.deleg = f->open;
	assert_int_equal(open_with(f, "f", &a), NFS4ERR_BAD_STATEID);
	a.claim = CLAIM_DELEGATE_PREV;
	assert_int_equal(open_with(f, "f", &a), NFS4ERR_NOTSUPP);
	a.claim = CLAIM_DELEG_PREV_FH;
	assert_int_equal(open_with(f, "f", &a), NFS4ERR_NOTSUPP);
	assert_int_equal(give(f, &sid), NFS4_OK);
	cb_notify_all(&f->e.sv); /* too late, and its answer changes nothing */
	answer_recall(f, &sid, NFS4ERR_BAD_STATEID);
}

static void a_client_that_ends_gives_all_back(void **state)
{
	struct fix *f = *state;
	struct state *s = &f->e.sv.state;
	struct client *c;

	delegated(f);
	pthread_mutex_lock(&s->lock);
	c = client_find_locked(s, f->e.clientid);
	client_remove_locked(s, c);
	pthread_mutex_unlock(&s->lock);
	client_dispose(s, c);
	client_unref(s, c);
	assert_int_equal(s->delegs->n, 0);
	be(f, true);
	assert_int_equal(set_mode(f), NFS4_OK);
}

/* --- local programs --------------------------------------------------------------------------- */

static void a_local_writer_is_noticed(void **state)
{
	struct fix *f = *state;
	struct timespec wait = {.tv_sec = 20};
	struct nfs4_stateid sid;
	sigset_t set;
	char path[128];
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	deleg_use_leases(f->e.sv.state.delegs, SIGRTMIN);
	sid = delegated(f);
	env_path(&f->e, "f", path, sizeof(path));
	fd = open(path, O_WRONLY | O_NONBLOCK);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EWOULDBLOCK);
	assert_int_equal(sigtimedwait(&set, NULL, &wait), SIGRTMIN);
	deleg_leases_broken(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	be(f, false);
	answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
	fd = open(path, O_WRONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	/* while it has the file open to write, nobody gets one */
	later_ns += 60 * NSEC_PER_SEC;
	assert_int_equal(open_f(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	close(fd);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	sid = delegated(f);
	/* the holder itself is not kept waiting by its own lease */
	assert_int_equal(open_write(f), NFS4_OK);
	assert_int_equal(give(f, &sid), NFS4_OK);
	cb_notify_all(&f->e.sv);
	be(f, false);
	answer_recall(f, &sid, NFS4ERR_BAD_STATEID);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_wants_one_gets_one),
		TEST(who_wants_none_gets_none),
		TEST(without_a_backchannel_there_is_none),
		TEST(nor_of_a_file_that_others_change),
		TEST(two_readers_may_both_have_one),
		TEST(a_client_has_so_many_and_no_more),
		TEST(what_conflicts_waits_until_it_is_back),
		TEST(its_holder_is_not_in_its_own_way),
		TEST(the_holder_may_write),
		TEST(reading_is_in_nobodys_way),
		TEST(after_a_conflict_there_is_none_for_a_while),
		TEST(a_refused_recall_is_repeated),
		TEST(a_recall_that_does_not_arrive_is_repeated),
		TEST(what_does_not_come_back_is_revoked),
		TEST(an_expired_client_is_not_waited_for),
		TEST(foreign_stateids_are_not_taken),
		TEST(opens_are_claimed_by_a_delegation),
		TEST(a_client_that_ends_gives_all_back),
		TEST(a_local_writer_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
