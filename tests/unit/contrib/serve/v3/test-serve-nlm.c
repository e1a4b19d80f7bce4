/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/nlm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_id.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/v3/nlm.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/clock.h"

static int setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));
	char path[128];
	int fd;

	env_init(e);
	env_path(e, "f", path, sizeof(path));
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	close(fd);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}

static struct nfs_fh file(struct serve_env *e)
{
	struct obj *root = obj_root(e->sv.objs), *o;
	struct nfs_fh fh;

	assert_int_equal(obj_lookup(e->sv.objs, root, "f", 1, &o, NULL), 0);
	fh.len = obj_handle(e->sv.objs, o, fh.data);
	obj_unref(e->sv.objs, o);
	obj_unref(e->sv.objs, root);
	return fh;
}

/* A range of the file (fh belongs to the caller) for owner svid of host. */
static struct nlm4_lock range(
	const struct nfs_fh *fh, const char *host, uint32_t svid, uint64_t offset, uint64_t len)
{
	return (struct nlm4_lock){.caller = {host, (uint32_t)strlen(host)},
		.fh = {fh->data, fh->len},
		.oh = {(const uint8_t *)"oh", 2},
		.svid = svid,
		.offset = offset,
		.len = len};
}

static bool run(struct serve_env *e, uint32_t proc, size_t len)
{
	enum serve_result result;

	memset(&e->req, 0, sizeof(e->req));
	e->req.prog = NLM4_PROGRAM;
	e->req.vers = NLM4_VERSION;
	e->req.proc = proc;
	e->req.cred.flavor = RPC_AUTH_SYS;
	e->req.cred.uid = e->req.cred.gid = e->uid;
	e->req.res_max = sizeof(e->reply);
	xdr_in_init(&e->req.args, e->call, len);
	xdr_out_init(&e->req.res, e->reply, 4096);
	result = nlm_run(&e->sv, &e->req);
	xdr_in_init(&e->res, e->reply, e->req.res.len);
	return result == SERVE_DONE;
}

static struct xdr_out *begin(struct serve_env *e)
{
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	return &e->args;
}

static uint32_t result(struct serve_env *e, uint32_t proc)
{
	struct nlm4_res r;

	assert_true(run(e, proc, e->args.len));
	assert_int_equal(nlm4_get_res(&e->res, &r), 0);
	assert_true(xdr_in_done(&e->res));
	assert_int_equal(r.cookie.len, 2);
	assert_memory_equal(r.cookie.data, "ck", 2);
	return r.status;
}

static const struct nlm4_netobj cookie = {(const uint8_t *)"ck", 2};

static uint32_t lock(struct serve_env *e, const struct nlm4_lock *l, bool exclusive, bool block)
{
	struct nlm4_lock_args a = {
		.cookie = cookie, .lock = *l, .exclusive = exclusive, .block = block, .state = 3};

	nlm4_put_lock_args(begin(e), &a);
	return result(e, NLM4PROC_LOCK);
}

static uint32_t unlock(struct serve_env *e, const struct nlm4_lock *l)
{
	struct nlm4_unlock_args a = {.cookie = cookie, .lock = *l};

	nlm4_put_unlock_args(begin(e), &a);
	return result(e, NLM4PROC_UNLOCK);
}

static uint32_t test(
	struct serve_env *e, const struct nlm4_lock *l, bool exclusive, struct nlm4_test_res *r)
{
	struct nlm4_test_args a = {.cookie = cookie, .lock = *l, .exclusive = exclusive};

	nlm4_put_test_args(begin(e), &a);
	assert_true(run(e, NLM4PROC_TEST, e->args.len));
	assert_int_equal(nlm4_get_test_res(&e->res, r), 0);
	return r->status;
}

static void owners_exclude_each_other(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 10, 10), two = range(&fh, "host", 2, 15, 1);
	struct nlm4_lock other = range(&fh, "other", 1, 0, 0);
	struct nlm4_test_res r;

	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	assert_int_equal(lock(e, &two, false, false), NLM4_DENIED);
	assert_int_equal(lock(e, &two, false, true), NLM4_BLOCKED);
	assert_int_equal(lock(e, &other, false, false), NLM4_DENIED);
	assert_int_equal(test(e, &other, true, &r), NLM4_DENIED);
	assert_true(r.holder.exclusive);
	assert_int_equal(r.holder.svid, 1);
	assert_int_equal(r.holder.offset, 10);
	assert_int_equal(r.holder.len, 10);
	assert_int_equal(r.holder.oh.len, 2);
	/* down to a shared lock, which many owners may hold */
	assert_int_equal(lock(e, &one, false, false), NLM4_GRANTED);
	assert_int_equal(lock(e, &two, false, false), NLM4_GRANTED);
	assert_int_equal(test(e, &one, false, &r), NLM4_GRANTED);
	assert_int_equal(test(e, &one, true, &r), NLM4_DENIED);
	assert_int_equal(unlock(e, &two), NLM4_GRANTED);
	assert_int_equal(unlock(e, &two), NLM4_GRANTED);
	/* a hole in the middle is free */
	one.offset = 12;
	one.len = 2;
	assert_int_equal(unlock(e, &one), NLM4_GRANTED);
	other.offset = 12;
	other.len = 2;
	assert_int_equal(lock(e, &other, true, false), NLM4_GRANTED);
	other.len = 3;
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED);
	/* length 0 reaches to the end */
	one.offset = UINT64_MAX - 1;
	one.len = 0;
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	one.len = 3;
	assert_int_equal(lock(e, &one, true, false), NLM4_FBIG);
}

static void a_host_can_free_what_it_has(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 0, 0), other = range(&fh, "other", 1, 0, 0);
	struct nlm4_free_all_args all = {.name = {"nobody", 6}};
	struct nlm4_lock_args a = {.cookie = cookie, .lock = one, .exclusive = true, .state = 5};

	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	nlm4_put_free_all_args(begin(e), &all);
	assert_true(run(e, NLM4PROC_FREE_ALL, e->args.len));
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED);
	all.name = one.caller;
	nlm4_put_free_all_args(begin(e), &all);
	assert_true(run(e, NLM4PROC_FREE_ALL, e->args.len));
	assert_int_equal(e->req.res.len, 0);
	assert_int_equal(lock(e, &other, true, false), NLM4_GRANTED);
	assert_int_equal(unlock(e, &other), NLM4_GRANTED);
	/* a restarted host has lost all its locks */
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	a.lock.svid = 2;
	nlm4_put_lock_args(begin(e), &a);
	assert_int_equal(result(e, NLM4PROC_NM_LOCK), NLM4_GRANTED);
	/* a reclaim without a grace period */
	a.reclaim = true;
	nlm4_put_lock_args(begin(e), &a);
	assert_int_equal(result(e, NLM4PROC_LOCK), NLM4_DENIED_GRACE_PERIOD);
}

/* A second call of a host that has restarted, on a separate thread. */
struct second {
	struct serve_env *e;
	pthread_t thread;
	struct nlm4_lock lock;
	bool started;
	uint8_t call[1024], reply[4096];
};

static struct second *second; /* starts when the server ends the states of the host */

static void *second_main(void *arg)
{
	struct second *t = arg;
	struct nlm4_lock_args a = {
		.cookie = cookie, .lock = t->lock, .exclusive = true, .state = 5};
	struct rpc_req req = {.prog = NLM4_PROGRAM,
		.vers = NLM4_VERSION,
		.proc = NLM4PROC_LOCK,
		.cred.flavor = RPC_AUTH_SYS,
		.res_max = sizeof(t->reply)};
	struct nlm4_res r = {.status = NLM4_FAILED};
	struct xdr_out args;
	struct xdr_in res;

	xdr_out_init(&args, t->call, sizeof(t->call));
	nlm4_put_lock_args(&args, &a);
	xdr_in_init(&req.args, t->call, args.len);
	xdr_out_init(&req.res, t->reply, sizeof(t->reply));
	nlm_run(&t->e->sv, &req);
	xdr_in_init(&res, t->reply, req.res.len);
	nlm4_get_res(&res, &r);
	return (void *)(intptr_t)r.status;
}

void __real_client_drop_states(struct state *s, struct client *c);
void __wrap_client_drop_states(struct state *s, struct client *c);

void __wrap_client_drop_states(struct state *s, struct client *c)
{
	struct second *t = second;

	second = NULL;
	if (t) {
		t->started = pthread_create(&t->thread, NULL, second_main, t) == 0;
		usleep(100000); /* time for a server that does not wait here to give the lock */
	}
	__real_client_drop_states(s, c);
}

static void a_restart_drops_no_lock_of_the_next_call(void **state)
{
	static struct second t;
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 0, 10), other = range(&fh, "other", 1, 0, 1);
	struct nlm4_lock_args a = {.cookie = cookie, .exclusive = true, .state = 5};
	void *status;

	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	t = (struct second){.e = e, .lock = range(&fh, "host", 2, 20, 10)};
	second = &t;
	a.lock = range(&fh, "host", 1, 10, 10);
	nlm4_put_lock_args(begin(e), &a);
	assert_int_equal(result(e, NLM4PROC_LOCK), NLM4_GRANTED);
	assert_true(t.started);
	pthread_join(t.thread, &status);
	assert_int_equal((intptr_t)status, NLM4_GRANTED);
	assert_int_equal(lock(e, &other, true, false), NLM4_GRANTED);
	other.offset = 10;
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED);
	other.offset = 20;
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED);
}

/* The server ends and begins anew; its record is not read yet. */
static void restart(struct serve_env *e)
{
	struct serve *sv = &e->sv;

	sv->state.grace = grace_free(sv->state.grace);
	state_finish(&sv->state);
	assert_int_equal(state_init(&sv->state, sv->objs, 90), 0);
	sv->state.grace = grace_new(90);
	assert_non_null(sv->state.grace);
}

static uint32_t reclaim(struct serve_env *e, const struct nlm4_lock *l)
{
	struct nlm4_lock_args a = {
		.cookie = cookie, .lock = *l, .exclusive = true, .state = 3, .reclaim = true};

	nlm4_put_lock_args(begin(e), &a);
	return result(e, NLM4PROC_LOCK);
}

static void who_held_locks_may_reclaim_them_first(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 0, 10), other = range(&fh, "other", 1, 0, 0);
	struct nlm4_lock elsewhere = range(&fh, "other", 1, 20, 1);
	uint64_t lease = 91 * UINT64_C(1000000000);
	char path[128];

	env_path(e, "record", path, sizeof(path));
	e->sv.state.grace = grace_new(90);
	grace_begin(e->sv.state.grace, path);
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	restart(e);
	grace_begin(e->sv.state.grace, path);
	/* no host gets a new lock, and a host without old locks reclaims none */
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(lock(e, &elsewhere, true, true), NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(lock(e, &one, true, false), NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(reclaim(e, &other), NLM4_DENIED_NOLOCKS);
	assert_int_equal(reclaim(e, &one), NLM4_GRANTED);
	/* a reclaim does not make the grace period longer */
	grace_tick(e->sv.state.grace, clock_coarse_ns() + lease);
	assert_int_equal(grace_phase(e->sv.state.grace), GRACE_OVER);
	assert_int_equal(reclaim(e, &one), NLM4_DENIED_GRACE_PERIOD);
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED);
	assert_int_equal(lock(e, &elsewhere, true, false), NLM4_GRANTED);

	/* once more, and no host comes back */
	restart(e);
	grace_begin(e->sv.state.grace, path);
	assert_int_equal(lock(e, &other, true, false), NLM4_DENIED_GRACE_PERIOD);
	grace_tick(e->sv.state.grace, clock_coarse_ns() + lease);
	assert_int_equal(lock(e, &other, true, false), NLM4_GRANTED);
	e->sv.state.grace = grace_free(e->sv.state.grace);
}

static void both_versions_wait_for_each_others_reclaims(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 0, 10);
	struct nfs4_stateid sid;
	char path[128];

	env_path(e, "record", path, sizeof(path));
	e->sv.state.grace = grace_new(90);
	grace_begin(e->sv.state.grace, path);
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	restart(e);
	grace_begin(e->sv.state.grace, path);
	env_mount(e, "client");
	assert_int_equal(
		env_open(e, "f", false, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4ERR_GRACE);
	/* the host has nothing to reclaim */
	nlm_host_restarted(&e->sv, "local", &one.caller, 5);
	assert_int_equal(grace_phase(e->sv.state.grace), GRACE_OVER);
	assert_int_equal(
		env_open(e, "f", false, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
	restart(e);
	grace_begin(e->sv.state.grace, path);
	fh = file(e);
	assert_int_equal(lock(e, &one, true, false), NLM4_DENIED_GRACE_PERIOD);
	e->sv.state.grace = grace_free(e->sv.state.grace);
}

static void *begin_grace(void *arg)
{
	struct serve_env *e = arg;
	char path[128];

	env_path(e, "record", path, sizeof(path));
	grace_begin(e->sv.state.grace, path);
	return NULL;
}

/* The host would take a refusal for "no grace period here", and the lock for lost. */
static void a_reclaim_waits_for_the_record(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 0, 10);
	pthread_t t;

	e->sv.state.grace = grace_new(90);
	begin_grace(e);
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	restart(e);
	assert_int_equal(pthread_create(&t, NULL, begin_grace, e), 0);
	assert_int_equal(reclaim(e, &one), NLM4_GRANTED);
	pthread_join(t, NULL);
	e->sv.state.grace = grace_free(e->sv.state.grace);
}

static void both_versions_see_each_others_locks(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 5, 10);
	struct nfs4_lock_args a = {.type = WRITE_LT, .offset = 0, .length = 8, .new_owner = true};
	struct nfs4_putfh_args putfh;
	struct nlm4_test_res r;
	struct nfs4_lock_res res;

	env_mount(e, "client");
	assert_int_equal(env_open(e, "f", false, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &a.open_stateid,
				 &putfh.fh),
		NFS4_OK);
	a.owner.clientid = e->clientid;
	a.owner.owner = (struct nfs4_opaque){(const uint8_t *)"owner", 5};
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	for (int i = 0; i < 2; i++) {
		env_begin(e, true);
		nfs4_put_putfh_args(&e->args, &putfh);
		nfs4_put_lock_args(&e->args, &a);
		assert_int_equal(env_run(e, 3), i ? NFS4_OK : NFS4ERR_DENIED);
		env_expect(e, OP_PUTFH, NFS4_OK);
		env_expect(e, OP_LOCK, i ? NFS4_OK : NFS4ERR_DENIED);
		if (i)
			break;
		assert_int_equal(nfs4_get_lock_res(&e->res, NFS4ERR_DENIED, &res), 0);
		assert_int_equal(res.denied.offset, 5);
		assert_int_equal(unlock(e, &one), NLM4_GRANTED);
	}
	assert_int_equal(test(e, &one, false, &r), NLM4_DENIED);
	assert_int_equal(r.holder.svid, 0);
	assert_int_equal(r.holder.oh.len, 5);
	assert_int_equal(lock(e, &one, false, false), NLM4_DENIED);
}

static void what_cannot_be_locked_is_told(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e), bad = fh, root;
	struct nlm4_lock l = range(&bad, "host", 1, 0, 0);
	struct obj *o = obj_root(e->sv.objs);
	struct nlm4_cancel_args cancel = {.cookie = cookie};
	uint8_t oh[1024] = {0};

	root.len = obj_handle(e->sv.objs, o, root.data);
	obj_unref(e->sv.objs, o);
	bad.data[3] ^= 1;
	assert_int_equal(lock(e, &l, true, false), NLM4_STALE_FH);
	l = range(&root, "host", 1, 0, 0);
	assert_int_equal(lock(e, &l, true, false), NLM4_FAILED);
	l = range(&fh, "host", 1, 0, 0);
	l.oh = (struct nlm4_netobj){oh, 1024};
	assert_int_equal(lock(e, &l, true, false), NLM4_FAILED);
	l.oh.len = 1020;
	assert_int_equal(lock(e, &l, true, false), NLM4_GRANTED);
	cancel.lock = l;
	nlm4_put_cancel_args(begin(e), &cancel);
	assert_int_equal(result(e, NLM4PROC_CANCEL), NLM4_GRANTED);
	for (uint32_t proc = 0; proc < 30; proc++)
		assert_int_equal(nlm_has(proc), proc <= 4 || proc == 22 || proc == 23);
}

/* A user that could take a lock can release the lock, even without the permission: otherwise no
 * other user could ever have it. */
static void who_lost_permission_still_unlocks(void **state)
{
	const struct rpc_cred root = {.flavor = RPC_AUTH_SYS};
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock one = range(&fh, "host", 1, 0, 0), other = range(&fh, "other", 1, 0, 0);
	char path[128];

	if (geteuid() != 0)
		skip(); /* the owner of a file never loses the permission */
	env_path(e, "f", path, sizeof(path));
	ident_init(false);
	e->uid = 65534;
	assert_int_equal(lock(e, &one, true, false), NLM4_GRANTED);
	assert_int_equal(ident_assume(&root), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(lock(e, &other, true, false), NLM4_FAILED);
	assert_int_equal(unlock(e, &one), NLM4_GRANTED);
	e->uid = 0;
	assert_int_equal(lock(e, &other, true, false), NLM4_GRANTED);
	assert_int_equal(ident_assume(&root), 0);
}

/* When a peer has as many hosts as allowed, its next host takes the place of the one that has been
 * silent for longest. The locks of the silent host are free then. */
static void what_a_vanished_host_left_is_given_up(void **state)
{
	const struct share_key nobody = {0};
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock gone = range(&fh, "gone", 1, 0, 10), next = range(&fh, "next", 1, 0, 10);
	char name[32];

	assert_int_equal(lock(e, &gone, true, false), NLM4_GRANTED);
	assert_int_equal(lock(e, &next, true, false), NLM4_DENIED);
	for (unsigned i = 2; i < STATE_MAX_CLIENTS / 4; i++) {
		struct nfs4_opaque id = {
			(uint8_t *)name, (uint32_t)snprintf(name, sizeof(name), "host%u", i)};
		struct client *c = client_nlm(&e->sv.state, "peer", &nobody, &id, true);

		assert_non_null(c);
		client_unref(&e->sv.state, c);
	}
	/* a host that the server hears of keeps its place */
	next = range(&fh, "newcomer", 1, 0, 10);
	assert_int_equal(lock(e, &next, true, false), NLM4_DENIED_NOLOCKS);
	e->sv.state.lease_s = 0;
	TAILQ_FIRST(&e->sv.state.clients)->seen_ns -= 1000000000; /* as if the host were silent */
	assert_int_equal(lock(e, &next, true, false), NLM4_GRANTED);
}

static void truncated_calls_are_garbage(void **state)
{
	struct serve_env *e = *state;
	struct nfs_fh fh = file(e);
	struct nlm4_lock l = range(&fh, "host", 1, 0, 0);

	assert_int_equal(lock(e, &l, true, false), NLM4_GRANTED);
	for (size_t len = 0; len < e->args.len; len += 4)
		assert_false(run(e, NLM4PROC_LOCK, len));
	memset(e->call + e->args.len, 0, 4);
	assert_false(run(e, NLM4PROC_LOCK, e->args.len + 4));
	assert_false(run(e, NLM4PROC_NULL, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(owners_exclude_each_other),
		T(a_host_can_free_what_it_has),
		T(a_restart_drops_no_lock_of_the_next_call),
		T(who_held_locks_may_reclaim_them_first),
		T(both_versions_wait_for_each_others_reclaims),
		T(a_reclaim_waits_for_the_record),
		T(both_versions_see_each_others_locks),
		T(what_cannot_be_locked_is_told),
		T(who_lost_permission_still_unlocks),
		T(what_a_vanished_host_left_is_given_up),
		T(truncated_calls_are_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
