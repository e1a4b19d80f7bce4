/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Waiting for locks: contrib/serve/state/waiter, through COMPOUNDs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/state/client.h"
#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/client_id.h"
#include "contrib/serve/state/lock.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/state/waiter.h"
#include "tests/unit/contrib/serve/serve-env.h"

#define RW OPEN4_SHARE_ACCESS_BOTH

struct fix {
	struct serve_env e;
	struct nfs4_stateid open;
	struct nfs_fh fh;
	struct nfs4_stateid got; /* stateid of the last granted LOCK */
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	env_init(&f->e);
	env_mount(&f->e, "client");
	assert_int_equal(env_open(&f->e, "f", true, RW, 0, "opener", &f->open, &f->fh), NFS4_OK);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	env_finish(&f->e);
	free(f);
	return 0;
}

static uint32_t lock(
	struct fix *f, const char *owner, uint32_t type, uint64_t offset, uint64_t length)
{
	struct nfs4_lock_res r;
	uint32_t status = env_lock(&f->e, &f->fh, &f->open, owner, type, offset, length, &r);

	if (status == NFS4_OK)
		f->got = r.stateid;
	return status;
}

static void unlock(struct fix *f, struct nfs4_stateid sid)
{
	assert_int_equal(env_unlock(&f->e, &f->fh, &sid, 0, NFS4_LENGTH_EOF), NFS4_OK);
}

/* The owners that are told, one letter each. */
static const char *told(struct fix *f)
{
	static char names[300];
	struct notices list;
	struct notice *n;
	unsigned count = 0;

	waiter_take_notices(&f->e.sv.state, &list);
	while ((n = STAILQ_FIRST(&list))) {
		STAILQ_REMOVE_HEAD(&list, link);
		assert_int_equal(n->clientid, f->e.clientid);
		assert_memory_equal(&n->session, &f->e.session, sizeof(n->session));
		assert_int_equal(n->fh.len, f->fh.len);
		assert_memory_equal(n->fh.data, f->fh.data, f->fh.len);
		names[count++] = (char)n->owner[0];
		free(n);
	}
	names[count] = '\0';
	return names;
}

static void the_oldest_is_told_and_served_first(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid a, b;

	assert_int_equal(lock(f, "A", WRITE_LT, 0, 10), NFS4_OK);
	a = f->got;
	assert_int_equal(lock(f, "X", WRITE_LT, 0, 10), NFS4ERR_DENIED); /* does not wait */
	assert_int_equal(lock(f, "B", WRITEW_LT, 0, 5), NFS4ERR_DENIED);
	assert_int_equal(lock(f, "C", READW_LT, 0, 5), NFS4ERR_DENIED);
	assert_int_equal(lock(f, "D", WRITEW_LT, 5, 5), NFS4ERR_DENIED);
	assert_int_equal(lock(f, "B", WRITEW_LT, 0, 5), NFS4ERR_DENIED); /* keeps its place */
	assert_int_equal(f->e.sv.state.waits->n, 3);
	assert_string_equal(told(f), "");
	unlock(f, a);
	assert_string_equal(told(f), "BD"); /* C must wait for B */
	assert_int_equal(lock(f, "C", READW_LT, 0, 5), NFS4ERR_DENIED);
	assert_int_equal(lock(f, "E", READW_LT, 0, 10), NFS4ERR_DENIED);
	assert_string_equal(told(f), "");
	assert_int_equal(lock(f, "B", WRITEW_LT, 0, 5), NFS4_OK);
	b = f->got;
	assert_int_equal(lock(f, "D", WRITEW_LT, 5, 5), NFS4_OK);
	assert_int_equal(f->e.sv.state.waits->n, 2);
	unlock(f, b);
	assert_string_equal(told(f), "C");
}

static void who_does_not_wait_or_holds_something_is_served(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid a, x;

	assert_int_equal(lock(f, "A", WRITE_LT, 0, 10), NFS4_OK);
	a = f->got;
	assert_int_equal(lock(f, "H", READ_LT, 100, 1), NFS4_OK);
	assert_int_equal(lock(f, "B", WRITEW_LT, 0, 10), NFS4ERR_DENIED);
	unlock(f, a);
	assert_string_equal(told(f), "B");
	assert_int_equal(lock(f, "X", READ_LT, 0, 1), NFS4_OK);
	x = f->got;
	assert_int_equal(lock(f, "H", READW_LT, 0, 1), NFS4_OK);
	unlock(f, f->got);
	unlock(f, x);
	assert_int_equal(lock(f, "B", WRITEW_LT, 0, 10), NFS4_OK);
	assert_int_equal(f->e.sv.state.waits->n, 0);
}

static void a_downgrade_and_a_close_set_free_too(void **state)
{
	struct fix *f = *state;
	struct nfs4_close_args ca = {.stateid = f->open};
	struct nfs4_stateid other;
	struct nfs_fh fh;

	assert_int_equal(lock(f, "A", WRITE_LT, 0, 10), NFS4_OK);
	assert_int_equal(lock(f, "B", READW_LT, 0, 10), NFS4ERR_DENIED);
	assert_int_equal(lock(f, "C", WRITEW_LT, 0, 10), NFS4ERR_DENIED);
	assert_int_equal(lock(f, "A", READ_LT, 0, 10), NFS4_OK);
	assert_string_equal(told(f), "B");
	/* C waits through another open, as the first one's locks end with that open */
	assert_int_equal(env_open(&f->e, "f", false, RW, 0, "second", &other, &fh), NFS4_OK);
	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	ca.stateid.seqid = 0;
	nfs4_put_close_args(&f->e.args, &ca);
	assert_int_equal(env_run(&f->e, 3), NFS4_OK);
	assert_string_equal(told(f), ""); /* B has its turn */
	f->open = other;
	assert_int_equal(lock(f, "B", READW_LT, 0, 10), NFS4_OK);
	unlock(f, f->got);
	assert_string_equal(told(f), "C");
}

static void a_downgrade_by_nlm_sets_free_too(void **state)
{
	struct fix *f = *state;
	struct state *s = &f->e.sv.state;
	struct nfs4_opaque name = {(const uint8_t *)"host", 4}, owner = {(const uint8_t *)"N", 1};
	struct lock_want w = {.type = WRITE_LT, .last = 9};
	struct client *host = client_nlm(s, "host", &(struct share_key){0}, &name, true);
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS};
	struct nfs4_lock_denied d;
	uint8_t by[NFS4_OPAQUE_LIMIT];
	struct obj *o;

	assert_non_null(host);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	assert_int_equal(lock_set_plain(s, host, &cred, o, &owner, &w, &d, by), NFS4_OK);
	assert_int_equal(lock(f, "B", READW_LT, 0, 10), NFS4ERR_DENIED);
	w.type = READ_LT;
	assert_int_equal(lock_set_plain(s, host, &cred, o, &owner, &w, &d, by), NFS4_OK);
	assert_string_equal(told(f), "B");
	assert_int_equal(lock_clear_plain(s, host, o, &owner, 0, 9), NFS4_OK);
	obj_unref(f->e.sv.objs, o);
	client_unref(s, host);
}

static void one_owner_through_two_opens(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid first = f->open, a, b;
	struct nfs_fh fh;

	assert_int_equal(lock(f, "A", WRITE_LT, 0, 10), NFS4_OK);
	a = f->got;
	assert_int_equal(env_open(&f->e, "f", false, RW, 0, "second", &f->open, &fh), NFS4_OK);
	assert_int_equal(lock(f, "A", READ_LT, 5, 10), NFS4_OK); /* replaces the overlapping part */
	b = f->got;
	f->open = first;
	assert_int_equal(lock(f, "B", READ_LT, 5, 5), NFS4_OK);
	unlock(f, f->got);
	unlock(f, b);
	assert_int_equal(lock(f, "B", WRITE_LT, 5, 5), NFS4_OK);
	assert_int_equal(lock(f, "B", READ_LT, 4, 1), NFS4ERR_DENIED);
	unlock(f, a);
	assert_int_equal(lock(f, "B", WRITE_LT, 0, 5), NFS4_OK);
}

/* A LOCK of an owner that has a lock state, on a separate thread. */
struct late {
	struct fix *f;
	struct session *ses;
	struct obj *o;
	struct nfs4_lock_args a;
	uint32_t status;
};

static void *lock_late(void *arg)
{
	struct late *l = arg;
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	struct rpc_cred by = {.flavor = RPC_AUTH_SYS};
	struct nfs4_lock_res r;

	l->status = lock_set(&l->f->e.sv.state, l->ses, &by, l->o, &l->a, &r, owner);
	return NULL;
}

static bool is_used(struct client *c, struct st *st)
{
	bool used;

	mutex_lock(&c->lock);
	used = st->refs > 1;
	mutex_unlock(&c->lock);
	return used;
}

/* The state that a LOCK has looked up ends, as by CLOSE, before the LOCK has the file for
 * itself. */
static void what_has_ended_gets_no_range(void **state)
{
	struct fix *f = *state;
	struct state *s = &f->e.sv.state;
	struct late l = {.f = f};
	struct client *c;
	pthread_t thread;
	struct st *st;

	assert_int_equal(lock(f, "A", WRITE_LT, 0, 10), NFS4_OK);
	l.a = (struct nfs4_lock_args){
		.type = WRITE_LT, .offset = 100, .length = 10, .lock_stateid = f->got};
	l.ses = session_get(s, &f->e.session);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &l.o), 0);
	c = l.ses->client;
	mutex_lock(&l.o->lock);
	mutex_lock(&c->lock);
	assert_int_equal(st_find_locked(c, l.o, &f->got, &st), NFS4_OK);
	mutex_unlock(&c->lock);
	pthread_create(&thread, NULL, lock_late, &l);
	while (!is_used(c, st))
		sched_yield();
	assert_true(st_remove(c, st));
	ranges_drop_locked(st);
	LIST_REMOVE(st, obj_link);
	mutex_unlock(&l.o->lock);
	pthread_join(thread, NULL);
	assert_int_equal(l.status, NFS4ERR_BAD_STATEID);
	assert_int_equal(c->nranges, 0);
	st_put(s, st);
	obj_unref(f->e.sv.objs, l.o);
	session_put(s, l.ses);
}

static void the_list_is_bounded(void **state)
{
	struct fix *f = *state;
	struct nfs4_stateid a;
	struct session *ses;
	char owner[16];

	assert_int_equal(lock(f, "A", WRITE_LT, 0, 10), NFS4_OK);
	a = f->got;
	for (unsigned i = 0; i < WAITERS_OF_CLIENT + 50; i++) {
		snprintf(owner, sizeof(owner), "W%u", i);
		assert_int_equal(lock(f, owner, READW_LT, 0, 10), NFS4ERR_DENIED);
	}
	assert_int_equal(f->e.sv.state.waits->n, WAITERS_OF_CLIENT);
	unlock(f, a);
	assert_int_equal(strlen(told(f)), 32); /* at once */
	ses = session_get(&f->e.sv.state, &f->e.session);
	client_drop_states(&f->e.sv.state, ses->client);
	session_put(&f->e.sv.state, ses);
	assert_int_equal(f->e.sv.state.waits->n, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_oldest_is_told_and_served_first),
		TEST(who_does_not_wait_or_holds_something_is_served),
		TEST(a_downgrade_and_a_close_set_free_too),
		TEST(a_downgrade_by_nlm_sets_free_too),
		TEST(one_owner_through_two_opens),
		TEST(what_has_ended_gets_no_range),
		TEST(the_list_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
