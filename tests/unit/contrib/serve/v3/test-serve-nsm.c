/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/nsm: notices of restarted hosts.
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

#include "contrib/serve/admit.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/v3/nlm.h"
#include "contrib/serve/v3/nsm.h"
#include "nfsproto/wire/nsm_xdr.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/rpc/xprt.h"

struct fix {
	struct serve_env e;
	struct rpc_xprt from; /* only the address counts */
	struct nfs_fh fh;
	char record[128];
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct serve_env *e = &f->e;
	struct obj *root, *o;
	char path[128];
	int fd;

	env_init(e);
	env_path(e, "record", f->record, sizeof(f->record));
	env_path(e, "f", path, sizeof(path));
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	close(fd);
	root = obj_root(e->sv.objs);
	assert_int_equal(obj_lookup(e->sv.objs, root, "f", 1, &o, NULL), 0);
	f->fh.len = obj_handle(e->sv.objs, o, f->fh.data);
	obj_unref(e->sv.objs, o);
	obj_unref(e->sv.objs, root);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	f->e.sv.state.grace = grace_free(f->e.sv.state.grace);
	env_finish(&f->e);
	free(f);
	return 0;
}

static enum serve_result run(struct fix *f, const char *address, uint32_t prog, uint32_t proc)
{
	struct serve_env *e = &f->e;
	enum serve_result r;

	memset(&e->req, 0, sizeof(e->req));
	snprintf(f->from.peer, sizeof(f->from.peer), "%s:999", address);
	e->req.xprt = &f->from;
	e->req.prog = prog;
	e->req.proc = proc;
	e->req.cred.flavor = RPC_AUTH_SYS;
	e->req.cred.uid = e->req.cred.gid = e->uid;
	e->req.res_max = sizeof(e->reply);
	xdr_in_init(&e->req.args, e->call, e->args.len);
	xdr_out_init(&e->req.res, e->reply, 4096);
	r = prog == NSM_PROGRAM ? nsm_run(&e->sv, &e->req) : nlm_run(&e->sv, &e->req);
	e->req.xprt = NULL;
	return r;
}

static uint32_t lock(
	struct fix *f, const char *address, const char *name, uint32_t number, bool reclaim)
{
	struct nlm4_lock_args a = {.exclusive = true,
		.reclaim = reclaim,
		.state = number,
		.lock = {.caller = {name, (uint32_t)strlen(name)},
			.fh = {f->fh.data, f->fh.len},
			.svid = 1}};
	struct nlm4_res r;
	struct xdr_in in;

	xdr_out_init(&f->e.args, f->e.call, sizeof(f->e.call));
	nlm4_put_lock_args(&f->e.args, &a);
	assert_int_equal(run(f, address, NLM4_PROGRAM, NLM4PROC_LOCK), SERVE_DONE);
	xdr_in_init(&in, f->e.reply, f->e.req.res.len);
	assert_int_equal(nlm4_get_res(&in, &r), 0);
	return r.status;
}

static void notify(struct fix *f, const char *address, const char *name, uint32_t number)
{
	struct nsm_notify_args a = {{name, (uint32_t)strlen(name)}, number};

	xdr_out_init(&f->e.args, f->e.call, sizeof(f->e.call));
	nsm_put_notify_args(&f->e.args, &a);
	assert_int_equal(run(f, address, NSM_PROGRAM, NSMPROC_NOTIFY), SERVE_DONE);
	assert_int_equal(f->e.req.res.len, 0);
}

static void only_a_hosts_own_notice_frees_its_locks(void **state)
{
	struct fix *f = *state;

	assert_int_equal(lock(f, "192.0.2.1", "one", 3, false), NLM4_GRANTED);
	/* another address, another name, and the number that the host has locked with */
	notify(f, "192.0.2.2", "one", 5);
	notify(f, "192.0.2.1", "on", 5);
	notify(f, "192.0.2.1", "one", 3);
	assert_int_equal(lock(f, "192.0.2.2", "two", 3, false), NLM4_DENIED);
	notify(f, "192.0.2.1", "one", 5);
	assert_int_equal(lock(f, "192.0.2.2", "two", 3, false), NLM4_GRANTED);
	/* a late notice does not hurt the locks of the next run */
	notify(f, "192.0.2.2", "two", 5);
	assert_int_equal(lock(f, "192.0.2.1", "one", 5, false), NLM4_GRANTED);
	notify(f, "192.0.2.1", "one", 5);
	assert_int_equal(lock(f, "192.0.2.2", "two", 5, false), NLM4_DENIED);
}

/* Untrusted users of one machine share an address, and may use each other's names. */
static void local_users_do_not_free_each_others_locks(void **state)
{
	const struct admit none = {0};
	struct fix *f = *state;

	f->e.sv.admit = &none;
	f->from.user = (struct sock_user){.local = true, .known = true, .uid = 4001};
	assert_int_equal(lock(f, "127.0.0.1", "one", 3, false), NLM4_GRANTED);
	f->from.user.uid = 4002;
	notify(f, "127.0.0.1", "one", 5);
	assert_int_equal(lock(f, "127.0.0.1", "one", 5, false), NLM4_DENIED);
	f->from.user.uid = 4001;
	notify(f, "127.0.0.1", "one", 5);
	f->from.user.uid = 4002;
	assert_int_equal(lock(f, "127.0.0.1", "one", 5, false), NLM4_GRANTED);
}

static void restart(struct fix *f)
{
	struct serve *sv = &f->e.sv;

	sv->state.grace = grace_free(sv->state.grace);
	state_finish(&sv->state);
	assert_int_equal(state_init(&sv->state, sv->objs, 90), 0);
	sv->state.grace = grace_new(90);
	grace_begin(sv->state.grace, f->record);
}

static void who_restarts_in_the_grace_period_ends_it(void **state)
{
	struct fix *f = *state;
	struct serve *sv = &f->e.sv;

	sv->state.grace = grace_new(90);
	grace_begin(sv->state.grace, f->record);
	assert_int_equal(lock(f, "192.0.2.1", "one", 3, false), NLM4_GRANTED);
	restart(f);
	assert_int_equal(grace_phase(sv->state.grace), GRACE_ON);
	notify(f, "192.0.2.2", "one", 5);
	assert_int_equal(grace_phase(sv->state.grace), GRACE_ON);
	notify(f, "192.0.2.1", "one", 5);
	assert_int_equal(grace_phase(sv->state.grace), GRACE_OVER);
	assert_int_equal(lock(f, "192.0.2.2", "two", 3, false), NLM4_GRANTED);
	/* and the locks that were reclaimed already are free */
	restart(f);
	assert_int_equal(lock(f, "192.0.2.2", "two", 3, true), NLM4_GRANTED);
	notify(f, "192.0.2.2", "two", 5);
	assert_int_equal(grace_phase(sv->state.grace), GRACE_OVER);
	assert_int_equal(lock(f, "192.0.2.1", "one", 5, false), NLM4_GRANTED);
}

static void truncated_notices_are_garbage(void **state)
{
	struct fix *f = *state;

	assert_int_equal(lock(f, "192.0.2.1", "one", 3, false), NLM4_GRANTED);
	notify(f, "192.0.2.1", "one", 3);
	for (size_t len = f->e.args.len, cut = 0; cut < len; cut += 4) {
		f->e.args.len = cut;
		assert_int_equal(run(f, "192.0.2.1", NSM_PROGRAM, NSMPROC_NOTIFY), SERVE_GARBAGE);
	}
	f->e.args.len = 16;
	assert_int_equal(run(f, "192.0.2.1", NSM_PROGRAM, NSMPROC_NOTIFY), SERVE_GARBAGE);
	assert_int_equal(run(f, "192.0.2.1", NSM_PROGRAM, NSMPROC_NULL), SERVE_GARBAGE);
	for (uint32_t proc = 0; proc < 10; proc++)
		assert_int_equal(nsm_has(proc), proc == 0 || proc == 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(only_a_hosts_own_notice_frees_its_locks),
		T(local_users_do_not_free_each_others_locks),
		T(who_restarts_in_the_grace_period_ends_it),
		T(truncated_notices_are_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
