/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs_submount and nfsproto/nfs_route, with back ends that answer as told.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/nfs_client.h"
#include "nfsproto/nfs_submount.h"
#include "transport/log.h"

#define FSID 7u

/* A mount. Its server answers an operation at once, or holds the operation. */
struct fake {
	struct nfs_client base; /* first */
	const char *refers;	/* LOOKUP: to the server of that name */
	int error;		/* GETATTR */
	bool holds;
	struct nfs_op *held;
	unsigned seen[NFS_OP_TYPES];
	uint32_t len; /* of the last READ */
};

struct env {
	struct fake top, sub[NFS_SUBMOUNTS_MAX];
	struct nfs_mount_params as[NFS_SUBMOUNTS_MAX];
	unsigned followed;
	const char *broken; /* the server that cannot be mounted */
	bool slow;	    /* follow() waits for go */
	bool dead;	    /* the other server does not answer: follow() waits for the end */
	bool stuck;	    /* the question for a root waits for go before it is submitted */
	unsigned unmounted;
	uint16_t order[NFS_SUBMOUNTS_MAX + 1]; /* the numbers of the unmounted, in their order */
	sem_t go, began, ended, left;
};

static struct env *the_env;

static unsigned no_thread; /* counts down: pthread_create() fails when it comes to 0 */

int __real_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	if (no_thread && --no_thread == 0)
		return EAGAIN;
	return __real_pthread_create(thread, attr, fn, arg);
}

static void fake_answer(struct nfs_op *op, int error)
{
	op->error = error;
	op->done(op);
}

static struct nfs_places *places_of(const char *server)
{
	struct nfs_places *p = calloc(1, sizeof(*p) + 32);
	char *text = (char *)(p + 1);

	strcpy(text, server);
	p->n = 1;
	p->place[0].server = text;
	p->place[0].path = strcpy(text + strlen(server) + 1, "/x");
	return p;
}

static void fake_submit(struct nfs_client *c, struct nfs_op *op)
{
	struct fake *f = (struct fake *)c;

	f->seen[op->type]++;
	if (f->holds) {
		f->held = op;
		return;
	}
	switch (op->type) {
	case NFS_LOOKUP:
		if (f->refers)
			op->places = places_of(f->refers);
		op->u.lookup.fh = (struct nfs_fh){.len = 1, .data = "f"};
		op->u.lookup.attr = (struct nfs_attr){.type = NFS_REG, .fsid_major = FSID};
		fake_answer(op, f->refers ? -EREMOTE : 0);
		break;
	case NFS_GETATTR:
		op->u.getattr.attr = (struct nfs_attr){.type = NFS_DIR, .fsid_major = FSID};
		fake_answer(op, f->error);
		break;
	case NFS_READ:
		f->len = op->u.read.to.len;
		fake_answer(op, 0);
		break;
	default:
		fake_answer(op, 0);
	}
}

static void fake_cancel(struct nfs_client *c, struct nfs_op *op, bool at_once)
{
	struct fake *f = (struct fake *)c;

	if (f->held == op)
		op->error = -EINTR; /* fake_release() ends it: not on the caller's thread */
}

static void fake_release(struct fake *f)
{
	struct nfs_op *op = f->held;

	f->held = NULL;
	f->holds = false;
	op->done(op);
}

static void fake_unmount(struct nfs_client *c)
{
	c->backend = NULL;
	the_env->order[the_env->unmounted++] = c->number;
	sem_post(&the_env->left);
}

static const struct nfs_backend fake_backend = {
	.submit = fake_submit, .cancel = fake_cancel, .unmount = fake_unmount};

static struct nfs_client *follow(
	void *ctx, const struct nfs_place *place, const struct nfs_mount_params *as, struct err *e)
{
	struct env *v = ctx;
	struct fake *f = &v->sub[v->followed];

	sem_post(&v->began);
	if (v->slow)
		sem_wait(&v->go);
	if (v->dead) {
		struct pollfd p = {.fd = as->abort_fd, .events = POLLIN};

		assert_true(as->abort_fd > 0);

		assert_int_equal(poll(&p, 1, -1), 1);
		err_set(e, ERR_UNREACHABLE, "aborted");
		return NULL;
	}
	assert_string_equal(place->path, "/x");
	if (v->broken && !strcmp(place->server, v->broken)) {
		err_set(e, ERR_UNREACHABLE, "broken");
		return NULL;
	}
	f->base.backend = &fake_backend;
	f->base.root = (struct nfs_fh){.len = 4, .data = "root"};
	f->base.submounts = as->submounts;
	f->base.number = as->submount;
	f->base.fsid_mix = as->fsid_mix;
	f->base.info.rsize = 4096;
	v->as[v->followed++] = *as;
	return &f->base;
}

static const struct nfs_client_upcalls upcalls = {.follow = follow};

static void end(struct nfs_op *op)
{
	free(op->places);
	op->places = NULL;
	op->done = op->users_done;
	op->done(op);
}

static void submit_root(struct nfs_client *c, struct nfs_op *op)
{
	if (the_env->stuck) {
		sem_post(&the_env->began);
		sem_wait(&the_env->go);
	}
	nfs_submit(c, op);
}

static const struct nfs_front front = {.submit = submit_root, .cancel = nfs_cancel, .end = end};

static int setup(void **state)
{
	struct env *v = calloc(1, sizeof(*v));

	v->top.base.backend = &fake_backend;
	v->top.base.up = &upcalls;
	v->top.base.up_ctx = v;
	v->top.base.info.rsize = 8192;
	v->top.refers = "one";
	v->top.base.submounts = nfs_submounts_new(&v->top.base, &front);
	assert_non_null(v->top.base.submounts);
	sem_init(&v->go, 0, 0);
	sem_init(&v->began, 0, 0);
	sem_init(&v->ended, 0, 0);
	sem_init(&v->left, 0, 0);
	*state = the_env = v;
	return 0;
}

static int teardown(void **state)
{
	struct env *v = *state;

	if (v->top.base.backend)
		nfs_client_free(&v->top.base);
	for (unsigned i = 0; i < v->followed; i++)
		assert_null(v->sub[i].base.backend); /* each was unmounted */
	free(v);
	return 0;
}

static void done(struct nfs_op *op)
{
	sem_post(&((struct env *)op->ctx)->ended);
}

static void begin_lookup(
	struct env *v, struct nfs_op *op, const struct nfs_fh *dir, const char *name)
{
	*op = (struct nfs_op){.type = NFS_LOOKUP, .done = done, .ctx = v};
	op->u.lookup.dir = *dir;
	op->u.lookup.name = (struct nfs_name){name, (uint32_t)strlen(name)};
	nfs_submit(&v->top.base, op);
}

static const struct nfs_fh top_dir = {.len = 1, .data = "d"};

static int lookup(struct env *v, struct nfs_op *op, const struct nfs_fh *dir, const char *name)
{
	begin_lookup(v, op, dir, name);
	sem_wait(&v->ended);
	return op->error;
}

static int run(struct env *v, struct nfs_op *op)
{
	op->done = done;
	op->ctx = v;
	nfs_submit(&v->top.base, op);
	sem_wait(&v->ended);
	return op->error;
}

static void a_referral_is_followed_once(void **state)
{
	struct env *v = *state;
	struct nfs_op op, again, in;

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	assert_int_equal(op.u.lookup.fh.server, 1);
	assert_int_equal(op.u.lookup.fh.len, 4);
	assert_int_equal(op.u.lookup.attr.type, NFS_DIR);
	/* the same fsid at another server is another file system */
	assert_true(op.u.lookup.attr.fsid_major != FSID);
	assert_int_equal(lookup(v, &again, &top_dir, "ref"), 0);
	assert_true(nfs_fh_same(&op.u.lookup.fh, &again.u.lookup.fh));
	assert_int_equal(again.u.lookup.attr.fsid_major, op.u.lookup.attr.fsid_major);
	assert_int_equal(v->followed, 1);
	/* operations go to the server of their handle */
	assert_int_equal(lookup(v, &in, &op.u.lookup.fh, "file"), 0);
	assert_int_equal(in.u.lookup.fh.server, 1);
	assert_int_equal(v->sub[0].seen[NFS_LOOKUP], 1);
	assert_int_equal(v->top.seen[NFS_LOOKUP], 2);
	assert_int_equal(v->sub[0].seen[NFS_GETATTR], 2);
}

static void another_name_or_place_is_another_submount(void **state)
{
	struct env *v = *state;
	struct nfs_op one, two, three;

	assert_int_equal(lookup(v, &one, &top_dir, "ref"), 0);
	assert_int_equal(lookup(v, &two, &top_dir, "other"), 0);
	v->top.refers = "two";
	assert_int_equal(lookup(v, &three, &top_dir, "ref"), 0);
	assert_int_equal(one.u.lookup.fh.server, 1);
	assert_int_equal(two.u.lookup.fh.server, 2);
	assert_int_equal(three.u.lookup.fh.server, 3);
	assert_true(v->as[0].fsid_mix == v->as[1].fsid_mix); /* of one place */
	assert_true(v->as[0].fsid_mix != v->as[2].fsid_mix);
}

static void a_failure_is_remembered_for_a_while(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	v->broken = "one";
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), -EREMOTE);
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), -EREMOTE);
	sem_wait(&v->began);
	assert_int_equal(sem_trywait(&v->began), -1);
	assert_int_equal(lookup(v, &op, &top_dir, "other"), -EREMOTE);
	v->top.refers = "two";
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
}

/* The first thread is that of all referrals, the second one makes the connection. */
static void the_log_tells_of_a_missing_thread(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	for (unsigned i = 1; i <= 2; i++) {
		char said[256] = "";

		no_thread = i;
		log_set_level(LOG_L_WARN);
		log_hold();
		assert_int_equal(lookup(v, &op, &top_dir, i == 1 ? "one" : "two"), -EREMOTE);
		log_release(said, sizeof(said));
		log_set_level(LOG_L_ERROR);
		assert_int_equal(no_thread, 0);
		assert_non_null(strstr(said, i == 1 ? "\"one\" is on" : "\"two\" is on"));
		assert_non_null(strstr(said, "no thread"));
		assert_non_null(strstr(said, strerror(EAGAIN)));
	}
	assert_int_equal(lookup(v, &op, &top_dir, "one"), 0);
}

static void an_error_of_the_root_is_the_answer(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	v->sub[0].error = -EACCES;
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), -EACCES);
	v->sub[0].error = 0;
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
}

/* The other server has made its file system anew. A submount whose root was never there is not made
 * again and again. */
static void a_root_that_became_stale_is_mounted_anew(void **state)
{
	struct env *v = *state;
	struct nfs_fh in;
	struct nfs_op op;

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	in = op.u.lookup.fh;
	v->sub[0].error = -ESTALE;
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	assert_int_equal(op.u.lookup.fh.server, 2);
	assert_int_equal(v->followed, 2);
	assert_int_equal(lookup(v, &op, &in, "file"), 0); /* handles of the former one stay */
	assert_int_equal(op.u.lookup.fh.server, 1);
	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	assert_int_equal(op.u.lookup.fh.server, 2);
	v->sub[1].error = v->sub[2].error = -ESTALE;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(lookup(v, &op, &top_dir, "ref"), -ESTALE);
	assert_int_equal(v->followed, 3);
}

static void all_that_ask_meanwhile_wait(void **state)
{
	struct env *v = *state;
	struct nfs_op a, b;

	v->slow = true;
	begin_lookup(v, &a, &top_dir, "ref");
	sem_wait(&v->began);
	begin_lookup(v, &b, &top_dir, "ref");
	assert_int_equal(sem_trywait(&v->ended), -1);
	sem_post(&v->go);
	sem_wait(&v->ended);
	sem_wait(&v->ended);
	assert_int_equal(a.error, 0);
	assert_int_equal(b.error, 0);
	assert_int_equal(v->followed, 1);
}

static void a_waiting_lookup_can_be_cancelled(void **state)
{
	struct env *v = *state;
	struct nfs_op a, b;

	v->slow = true;
	begin_lookup(v, &a, &top_dir, "ref");
	sem_wait(&v->began);
	begin_lookup(v, &b, &top_dir, "ref");
	nfs_cancel(&b);
	sem_wait(&v->ended);
	assert_int_equal(b.error, -EINTR);
	sem_post(&v->go);
	sem_wait(&v->ended);
	assert_int_equal(a.error, 0);
}

static void the_question_for_the_root_can_be_cancelled(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	v->sub[0].holds = true;
	begin_lookup(v, &op, &top_dir, "ref");
	assert_non_null(v->sub[0].held);
	nfs_cancel(&op);
	fake_release(&v->sub[0]);
	sem_wait(&v->ended);
	assert_int_equal(op.error, -EINTR);
}

/* The wish came while the first server was asked, too late for that server. */
static void a_lookup_that_was_cancelled_before_is_not_followed(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	v->top.holds = true;
	begin_lookup(v, &op, &top_dir, "ref");
	nfs_cancel(&op);
	op.places = places_of("one");
	op.error = -EREMOTE;
	fake_release(&v->top);
	sem_wait(&v->ended);
	assert_int_equal(op.error, -EINTR);
	assert_int_equal(v->followed, 0);
}

static void the_end_of_the_mount_ends_the_wait(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	v->slow = true;
	begin_lookup(v, &op, &top_dir, "ref");
	sem_wait(&v->began);
	sem_post(&v->go);
	nfs_client_free(&v->top.base);
	sem_wait(&v->ended);
	assert_true(op.error == -ENOTCONN || op.error == 0);
}

static void the_end_of_the_mount_gives_up_connections(void **state)
{
	struct env *v = *state;
	struct nfs_op op;

	v->dead = true;
	begin_lookup(v, &op, &top_dir, "ref");
	sem_wait(&v->began);
	nfs_client_free(&v->top.base);
	sem_wait(&v->ended);
	assert_true(op.error == -ENOTCONN || op.error == -EREMOTE);
}

static void referrals_have_bounds(void **state)
{
	struct env *v = *state;
	struct nfs_fh dir = top_dir;
	struct nfs_op op;
	char name[8];

	for (unsigned i = 0; i < NFS_SUBMOUNT_DEEP; i++) {
		assert_int_equal(lookup(v, &op, &dir, "ref"), 0);
		dir = op.u.lookup.fh;
		v->sub[i].refers = "one";
	}
	assert_int_equal(lookup(v, &op, &dir, "ref"), -ELOOP);
	for (unsigned i = NFS_SUBMOUNT_DEEP; i < NFS_SUBMOUNTS_MAX; i++) {
		snprintf(name, sizeof(name), "ref%u", i);
		assert_int_equal(lookup(v, &op, &top_dir, name), 0);
	}
	assert_int_equal(lookup(v, &op, &top_dir, "more"), -EREMOTE);
	assert_int_equal(v->followed, NFS_SUBMOUNTS_MAX);
	/* a handle of no server */
	dir.server = NFS_SUBMOUNTS_MAX + 1;
	assert_int_equal(lookup(v, &op, &dir, "name"), -ESTALE);
}

static void a_failure_takes_no_place_for_ever(void **state)
{
	struct env *v = *state;
	struct nfs_op op;
	char name[8];

	v->broken = "one";
	assert_int_equal(lookup(v, &op, &top_dir, "dead"), -EREMOTE);
	v->top.refers = "two";
	for (unsigned i = 0; i < NFS_SUBMOUNTS_MAX; i++) {
		snprintf(name, sizeof(name), "ref%u", i);
		assert_int_equal(lookup(v, &op, &top_dir, name), 0);
	}
	assert_int_equal(op.u.lookup.fh.server, 1);
}

/* A deep submount may have a lower number than the submount that refers to the deep one. Operations
 * of the deep submount count at the other. */
static void the_deepest_submount_ends_first(void **state)
{
	struct env *v = *state;
	struct nfs_fh dir;
	struct nfs_op op;
	char name[8];

	v->broken = "one";
	assert_int_equal(lookup(v, &op, &top_dir, "dead"), -EREMOTE);
	v->top.refers = "two";
	for (unsigned i = 0; i < NFS_SUBMOUNTS_MAX - 1; i++) {
		snprintf(name, sizeof(name), "ref%u", i);
		assert_int_equal(lookup(v, &op, &top_dir, name), 0);
	}
	assert_int_equal(op.u.lookup.fh.server, NFS_SUBMOUNTS_MAX);
	v->sub[v->followed - 1].refers = "three";
	dir = op.u.lookup.fh;
	assert_int_equal(lookup(v, &op, &dir, "deep"), 0);
	assert_int_equal(op.u.lookup.fh.server, 1);
	nfs_client_free(&v->top.base);
	assert_int_equal(v->unmounted, NFS_SUBMOUNTS_MAX + 1);
	assert_int_equal(v->order[0], 1);
	assert_int_equal(v->order[NFS_SUBMOUNTS_MAX], 0);
}

static void *lookup_main(void *arg)
{
	struct env *v = arg;
	static struct nfs_op op;

	begin_lookup(v, &op, &top_dir, "ref");
	return NULL;
}

static void *free_main(void *arg)
{
	struct env *v = arg;

	nfs_client_free(&v->top.base);
	return NULL;
}

static bool comes_within(sem_t *sem, unsigned s)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += s;
	return sem_timedwait(sem, &t) == 0;
}

static void a_submount_that_was_found_stays_until_it_was_asked(void **state)
{
	struct env *v = *state;
	pthread_t asks, frees;
	struct nfs_op op;

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	assert_true(comes_within(&v->began, 60)); /* follow() */
	v->stuck = true;
	pthread_create(&asks, NULL, lookup_main, v);
	assert_true(comes_within(&v->began, 60));
	pthread_create(&frees, NULL, free_main, v);
	assert_false(comes_within(&v->left, 1));
	sem_post(&v->go);
	pthread_join(asks, NULL);
	pthread_join(frees, NULL);
	assert_true(comes_within(&v->ended, 60));
	assert_int_equal(v->unmounted, 2);
}

static void two_servers_are_two_devices(void **state)
{
	struct env *v = *state;
	struct nfs_op op, move = {.type = NFS_RENAME};
	struct nfs_fh root;

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	root = op.u.lookup.fh;
	move.u.rename.from_dir = top_dir;
	move.u.rename.to_dir = root;
	move.u.rename.from = move.u.rename.to = (struct nfs_name){"n", 1};
	assert_int_equal(run(v, &move), -EXDEV);
	/* and a submount is as busy as a mount point */
	move.u.rename.to_dir = top_dir;
	move.u.rename.moved = &root;
	assert_int_equal(run(v, &move), -EBUSY);
	assert_int_equal(v->top.seen[NFS_RENAME], 0);
	move.u.rename.moved = NULL;
	assert_int_equal(run(v, &move), 0);
}

static void a_read_is_cut_to_the_size_of_the_submount(void **state)
{
	static uint8_t mem[8192];
	struct env *v = *state;
	struct nfs_op op, read = {.type = NFS_READ};

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	read.u.read.fh = op.u.lookup.fh;
	read.u.read.to = seg_list_of((struct mem_sge){.addr = mem, .len = sizeof(mem)}, NULL);
	assert_int_equal(run(v, &read), 0);
	assert_int_equal(v->sub[0].len, 4096);
	read.u.read.fh = top_dir;
	read.u.read.to = seg_list_of((struct mem_sge){.addr = mem, .len = sizeof(mem)}, NULL);
	assert_int_equal(run(v, &read), 0);
	assert_int_equal(v->top.len, 8192);
}

static void a_server_without_umasks_gets_modes(void **state)
{
	struct env *v = *state;
	struct nfs_op op, make = {.type = NFS_CREATE};

	assert_int_equal(lookup(v, &op, &top_dir, "ref"), 0);
	make.u.create.dir = op.u.lookup.fh;
	make.u.create.type = NFS_DIR;
	make.u.create.name = (struct nfs_name){"n", 1};
	make.u.create.set = (struct nfs_sattr){
		.mask = NFS_SET_MODE | NFS_SET_UMASK, .mode = 0777, .umask = 022};
	assert_int_equal(run(v, &make), 0);
	assert_false(make.u.create.set.mask & NFS_SET_UMASK);
	assert_int_equal(make.u.create.set.mode, 0755);
}

/* The submount "name" of a former daemon, number 2: 1 was not up. */
static void a_successor_goes_on_with_submounts(void **state)
{
	struct env *v = *state;
	struct nfs_submount_told told = {.number = 2,
		.depth = 1,
		.dir = top_dir,
		.name = "name",
		.namelen = 4,
		.places = places_of("one"),
		.proto = RPC_TCP,
		.nfs = {.nopens = 5}};
	struct nfs_submounts *t = v->top.base.submounts;
	struct err e = {0};
	struct nfs_op op;

	v->top.base.info.vers_major = 4;
	v->top.base.info.vers_minor = 1;
	assert_int_equal(nfs_submounts_inherit(t, &told, &e), 0);
	assert_null(told.places);
	assert_int_equal(v->followed, 1);
	assert_ptr_equal(v->as[0].record, &told.nfs);
	assert_int_equal(v->as[0].proto, RPC_TCP);
	assert_int_equal(v->as[0].vers_minor, 1);
	assert_true(nfs_submounts_settled(t));
	assert_null(nfs_submounts_find(t, 1));
	assert_ptr_equal(nfs_submounts_find(t, 2), &v->sub[0].base);
	assert_int_equal(lookup(v, &op, &top_dir, "name"), 0);
	assert_int_equal(op.u.lookup.fh.server, 2);
	assert_int_equal(v->followed, 1); /* no other mount */
	assert_int_equal(lookup(v, &op, &top_dir, "other"), 0);
	assert_int_equal(op.u.lookup.fh.server, 3);
	v->sub[0].error = -ESTALE; /* the root was there for the former daemon */
	assert_int_equal(lookup(v, &op, &top_dir, "name"), 0);
	assert_int_equal(op.u.lookup.fh.server, 4);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_referral_is_followed_once),
		TEST(another_name_or_place_is_another_submount),
		TEST(a_failure_is_remembered_for_a_while),
		TEST(the_log_tells_of_a_missing_thread),
		TEST(an_error_of_the_root_is_the_answer),
		TEST(a_root_that_became_stale_is_mounted_anew),
		TEST(all_that_ask_meanwhile_wait),
		TEST(a_waiting_lookup_can_be_cancelled),
		TEST(the_question_for_the_root_can_be_cancelled),
		TEST(a_lookup_that_was_cancelled_before_is_not_followed),
		TEST(the_end_of_the_mount_ends_the_wait),
		TEST(the_end_of_the_mount_gives_up_connections),
		TEST(referrals_have_bounds),
		TEST(a_failure_takes_no_place_for_ever),
		TEST(the_deepest_submount_ends_first),
		TEST(a_submount_that_was_found_stays_until_it_was_asked),
		TEST(two_servers_are_two_devices),
		TEST(a_read_is_cut_to_the_size_of_the_submount),
		TEST(a_server_without_umasks_gets_modes),
		TEST(a_successor_goes_on_with_submounts),
	};

	log_init("test-nfs_submount", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
