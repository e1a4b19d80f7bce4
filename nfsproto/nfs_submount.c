/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_submount: referrals: the directories of a mount that are on other servers.
 */
#include "nfsproto/nfs_submount.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/clock.h"
#include "transport/hash.h"
#include "transport/lock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define AGAIN_NS	 (30 * NSEC_PER_SEC) /* after a failure */
#define INHERIT_PAUSE_NS (500 * NSEC_PER_MSEC)

enum state { NONE, WANTED, CONNECTING, CONNECTED, UP, FAILED };

/* A LOOKUP that waits for a submount, and then asks for the attributes of its root. */
struct nfs_follower {
	TAILQ_ENTRY(nfs_follower) link;
	struct nfs_op *op;
	struct nfs_submounts *all;
	struct submount *of;
	/* under the lock */
	bool waits; /* in the submount's list */
	bool asked; /* the question can be cancelled */
	bool ended; /* the question has ended */
	unsigned refs;
	struct nfs_op root; /* the question */
};

TAILQ_HEAD(followers, nfs_follower);

struct submount {
	struct nfs_submounts *all;
	/* constant once there is a state */
	uint16_t number;
	unsigned depth;
	struct nfs_fh dir; /* the name of the referral */
	char name[NFS_NAME_MAX];
	uint32_t namelen;
	struct nfs_places *places;
	unsigned place; /* the one that is mounted; set before UP */
	/* under the lock */
	enum state state;
	struct followers followers;
	pthread_t thread;
	uint64_t failed_at; /* on clock_ns() */
	bool answered;	    /* the root was there once */
	bool gone;	    /* but is stale now: the name gets another submount */
	struct nfs_client *made;
	/* set before UP; read by any thread */
	struct nfs_client *_Atomic client;
};

struct nfs_submounts {
	struct nfs_client *top;
	const struct nfs_front *front;
	int abort_fd; /* of an eventfd, constant; readable: the mount ends */
	struct mutex lock;
	pthread_cond_t cond;
	pthread_t thread;
	bool running GUARDED_BY(lock); /* there is a thread */
	bool ending GUARDED_BY(lock);
	unsigned n GUARDED_BY(lock);	  /* submounts with a state */
	unsigned asking GUARDED_BY(lock); /* operations about to use a submount that they found */
	struct submount sub[NFS_SUBMOUNTS_MAX];
};

/* --- followers ----------------------------------------------------------------------------- */

static void unref_locked(struct nfs_follower *f) REQUIRES(f->all->lock)
{
	if (--f->refs == 0)
		free(f);
}

/* f's operation is f's no longer. */
static struct nfs_op *follower_leave(struct nfs_follower *f)
{
	struct nfs_submounts *t = f->all;
	struct nfs_op *op = f->op;

	mutex_lock(&t->lock);
	op->follower = NULL;
	f->ended = true;
	unref_locked(f);
	mutex_unlock(&t->lock);
	return op;
}

/* f ends its operation. The lock is not held. */
static void follower_end(struct nfs_follower *f, int error)
{
	const struct nfs_front *front = f->all->front;
	struct nfs_op *op = follower_leave(f);

	op->error = error;
	front->end(op);
}

/* Notes whether the root of f's submount is there. False: the root was there once, and is stale:
 * the other server has made the file system anew. Then f's operation can be followed once more. */
static bool root_stays(struct nfs_follower *f, int error)
{
	struct submount *s = f->of;
	bool gone, first;

	mutex_lock(&f->all->lock);
	gone = error == -ESTALE && s->answered && f->op->places;
	first = gone && !s->gone;
	s->gone |= gone;
	s->answered |= !error;
	mutex_unlock(&f->all->lock);
	if (first)
		log_warn("\"%s\" on another server has another root now, and is mounted anew",
			QUOTE(s->name, s->namelen));
	return !gone;
}

static void root_done(struct nfs_op *root)
{
	struct nfs_follower *f = root->ctx;
	const struct nfs_front *front = f->all->front;
	bool stays = root_stays(f, root->error);
	int error = root->error;
	struct nfs_op *op = f->op;

	if (!error) {
		op->u.lookup.fh = root->u.getattr.fh;
		op->u.lookup.attr = root->u.getattr.attr;
	}
	follower_leave(f);
	if (!stays) {
		error = nfs_submounts_follow(op->client, op);
		if (!error) /* op may have ended by now */
			return;
	}
	op->error = error;
	front->end(op);
}

/* Asks for the attributes of the root of c, which is up. */
static void follower_ask(struct nfs_follower *f, struct nfs_client *c)
{
	struct nfs_submounts *t = f->all;

	f->root = (struct nfs_op){
		.type = NFS_GETATTR, .cred = f->op->cred, .done = root_done, .ctx = f};
	f->root.u.getattr.fh = c->root;
	f->root.u.getattr.fh.server = c->number;
	mutex_lock(&t->lock);
	f->refs++;
	mutex_unlock(&t->lock);
	t->front->submit(t->top, &f->root);
	mutex_lock(&t->lock);
	f->asked = !f->ended;
	if (f->asked && f->op->unwanted)
		t->front->cancel(&f->root);
	unref_locked(f);
	mutex_unlock(&t->lock);
}

bool nfs_submounts_cancel(struct nfs_submounts *t, struct nfs_op *op)
{
	struct nfs_follower *f;

	mutex_lock(&t->lock);
	op->unwanted = true;
	f = op->follower;
	if (f && f->asked)
		t->front->cancel(&f->root);
	else if (f && f->waits)
		pthread_cond_signal(&t->cond);
	mutex_unlock(&t->lock);
	return f;
}

/* --- connecting ---------------------------------------------------------------------------- */

/* told: as a former daemon has mounted the place; NULL: anew. NULL with *e set. */
static struct nfs_client *connect_place(struct submount *s, const struct nfs_place *place,
	struct nfs_submount_told *told, struct err *e)
{
	struct nfs_submounts *t = s->all;
	struct nfs_mount_params as = {
		.submounts = t,
		.submount = s->number,
		/* programs see the same inode numbers in each mount */
		.fsid_mix = hash_bytes(hash_bytes(1, place->server, strlen(place->server)),
			place->path, strlen(place->path)),
		.abort_fd = t->abort_fd,
	};

	if (told) {
		as.record = &told->nfs;
		as.proto = told->proto;
		as.vers_major = t->top->info.vers_major;
		as.vers_minor = t->top->info.vers_minor;
	}
	return t->top->up->follow(t->top->up_ctx, place, &as, e);
}

static bool is_ending(struct nfs_submounts *t)
{
	bool ending;

	mutex_lock(&t->lock);
	ending = t->ending;
	mutex_unlock(&t->lock);
	return ending;
}

/* Returns NULL. */
static struct nfs_client *end_client(struct nfs_client *c, uint64_t leave_by)
{
	c->leave_by = leave_by;
	c->backend->unmount(c);
	return NULL;
}

/* Names may differ in case alone at such a server, and the callers would not know. */
static bool fits(const struct nfs_client *top, const struct nfs_client *c, struct err *e)
{
	if (!(c->info.features & ~top->info.features & NFS_FOLDS_CASE))
		return true;
	err_set(e, ERR_MOVED, "names of that server ignore case, and those of this mount do not");
	return false;
}

/* The thread of one connection to be made. */
static void *connect_main(void *arg)
{
	struct submount *s = arg;
	struct nfs_submounts *t = s->all;
	struct err e = {0};

	for (unsigned i = 0; i < s->places->n && !s->made && !is_ending(t); i++) {
		const struct nfs_place *p = &s->places->place[i];

		e = (struct err){0};
		s->made = connect_place(s, p, NULL, &e);
		s->place = i;
		if (s->made && !fits(t->top, s->made, &e))
			s->made = end_client(s->made, 0);
		if (s->made)
			log_always_info(
				"\"%s\" is on another server, and is mounted from there: %s:%s",
				QUOTE(s->name, s->namelen), QUOTE(p->server, strlen(p->server)),
				QUOTE(p->path, strlen(p->path)));
		else
			log_warn("\"%s\" is on another server, %s:%s, which cannot be mounted: %s",
				QUOTE(s->name, s->namelen), QUOTE(p->server, strlen(p->server)),
				QUOTE(p->path, strlen(p->path)), e.msg);
	}
	mutex_lock(&t->lock);
	s->state = CONNECTED;
	pthread_cond_signal(&t->cond);
	mutex_unlock(&t->lock);
	return NULL;
}

/* --- the thread of the module -------------------------------------------------------------- */

static void move_all(struct followers *to, struct followers *from)
{
	struct nfs_follower *f;

	TAILQ_CONCAT(to, from, link);
	TAILQ_FOREACH (f, to, link)
		f->waits = false;
}

/* Takes the followers whose operations were cancelled. */
static void take_unwanted_locked(struct submount *s, struct followers *out) REQUIRES(s->all->lock)
{
	struct nfs_follower *f, *next;

	for (f = TAILQ_FIRST(&s->followers); f; f = next) {
		next = TAILQ_NEXT(f, link);
		if (!f->op->unwanted)
			continue;
		TAILQ_REMOVE(&s->followers, f, link);
		f->waits = false;
		TAILQ_INSERT_TAIL(out, f, link);
	}
}

/* The connection of s was made, or has failed. Takes the followers. */
static void take_connected_locked(struct submount *s, struct followers *out) REQUIRES(s->all->lock)
{
	pthread_join(s->thread, NULL); /* has left the lock, or is about to */
	if (s->made)
		atomic_store(&s->client, s->made);
	s->state = s->made ? UP : FAILED;
	s->failed_at = clock_ns();
	s->made = NULL;
	move_all(out, &s->followers);
}

static void say_no_thread(const char *name, uint32_t len, int error)
{
	log_warn("\"%s\" is on another server, and is not mounted: this process gets no thread for "
		 "the connection (%s)",
		QUOTE(name, len), strerror(error));
}

/* The next step of s, if there is one. */
static void step_locked(struct submount *s, struct followers *unwanted, struct followers *ready)
	REQUIRES(s->all->lock)
{
	struct nfs_submounts *t = s->all;
	int error;

	if (s->state == WANTED) {
		s->state = CONNECTING;
		error = pthread_create(&s->thread, NULL, connect_main, s);
		if (error) {
			say_no_thread(s->name, s->namelen, error);
			s->state = FAILED;
			s->failed_at = clock_ns();
			move_all(ready, &s->followers);
		}
	} else if (s->state == CONNECTED) {
		take_connected_locked(s, ready);
	}
	if (t->ending)
		move_all(unwanted, &s->followers);
	else
		take_unwanted_locked(s, unwanted);
}

static void end_all(struct followers *list, int error)
{
	struct nfs_follower *f;

	while ((f = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, f, link);
		follower_end(f, error);
	}
}

static void go_on(struct submount *s, struct followers *ready)
{
	struct nfs_client *c = atomic_load(&s->client);
	struct nfs_follower *f;

	if (!c)
		end_all(ready, -EREMOTE);
	while ((f = TAILQ_FIRST(ready))) {
		TAILQ_REMOVE(ready, f, link);
		follower_ask(f, c);
	}
}

static bool all_idle_locked(const struct nfs_submounts *t) REQUIRES(t->lock)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->sub[i].state != UP && t->sub[i].state != FAILED)
			return false;
	return true;
}

static void *submounts_main(void *arg)
{
	struct nfs_submounts *t = arg;

	mutex_lock(&t->lock);
	while (!t->ending || !all_idle_locked(t)) {
		bool busy = false;

		for (unsigned i = 0; i < t->n; i++) {
			struct followers unwanted = TAILQ_HEAD_INITIALIZER(unwanted);
			struct followers ready = TAILQ_HEAD_INITIALIZER(ready);
			int error = t->ending ? -ENOTCONN : -EINTR;

			step_locked(&t->sub[i], &unwanted, &ready);
			if (TAILQ_EMPTY(&unwanted) && TAILQ_EMPTY(&ready))
				continue;
			busy = true;
			mutex_unlock(&t->lock);
			end_all(&unwanted, error);
			go_on(&t->sub[i], &ready);
			mutex_lock(&t->lock);
		}
		if (!busy && (!t->ending || !all_idle_locked(t)))
			cond_wait(&t->cond, &t->lock);
	}
	mutex_unlock(&t->lock);
	return NULL;
}

/* --- the table ----------------------------------------------------------------------------- */

struct nfs_submounts *nfs_submounts_new(struct nfs_client *top, const struct nfs_front *front)
{
	struct nfs_submounts *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->abort_fd < 0) {
		free(t);
		return NULL;
	}
	t->top = top;
	t->front = front;
	mutex_init(&t->lock);
	clock_cond_init(&t->cond);
	for (unsigned i = 0; i < NFS_SUBMOUNTS_MAX; i++) {
		t->sub[i].all = t;
		t->sub[i].number = (uint16_t)(i + 1);
		TAILQ_INIT(&t->sub[i].followers);
	}
	return t;
}

static void end_depth(struct nfs_submounts *t, unsigned depth, uint64_t leave_by)
{
	for (unsigned i = 0; i < NFS_SUBMOUNTS_MAX; i++) {
		struct nfs_client *c =
			t->sub[i].depth == depth ? atomic_exchange(&t->sub[i].client, NULL) : NULL;

		if (c)
			end_client(c, leave_by);
	}
}

void nfs_submounts_end(struct nfs_submounts *t, uint64_t leave_by)
{
	bool running;

	if (!t)
		return;
	mutex_lock(&t->lock);
	t->ending = true;
	running = t->running;
	eventfd_write(t->abort_fd, 1);
	pthread_cond_signal(&t->cond);
	mutex_unlock(&t->lock);
	if (running)
		pthread_join(t->thread, NULL);
	mutex_lock(&t->lock);
	while (t->asking)
		cond_wait(&t->cond, &t->lock);
	mutex_unlock(&t->lock);
	/* from the deepest: a submount's root is looked up at the one that refers to it */
	for (unsigned depth = NFS_SUBMOUNT_DEEP; depth > 0; depth--)
		end_depth(t, depth, leave_by);
}

void nfs_submounts_free(struct nfs_submounts *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < NFS_SUBMOUNTS_MAX; i++)
		free(t->sub[i].places);
	mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->cond);
	close(t->abort_fd);
	free(t);
}

/* --- a successor --------------------------------------------------------------------------- */

bool nfs_submounts_settled(struct nfs_submounts *t)
{
	bool settled;

	mutex_lock(&t->lock);
	settled = all_idle_locked(t);
	mutex_unlock(&t->lock);
	return settled;
}

void nfs_submounts_tell(struct nfs_submounts *t, unsigned number, struct nfs_submount_told *out)
{
	struct submount *s = &t->sub[number - 1];
	const struct nfs_client *c = atomic_load(&s->client);
	struct rpc_client_info info;

	rpc_client_info(c->rpc, &info);
	*out = (struct nfs_submount_told){
		.number = s->number,
		.depth = s->depth,
		.dir = s->dir,
		.namelen = s->namelen,
		.places = s->places,
		.place = s->place,
		.proto = info.proto,
		.nfs = {.peer = c->rp->peer, .peer_len = c->rp->peer_len},
	};
	memcpy(out->name, s->name, s->namelen);
}

/* The numbers below that were not up stand for failures: no handle names them. */
static void enter_inherited(struct submount *s, struct nfs_client *c)
{
	struct nfs_submounts *t = s->all;

	mutex_lock(&t->lock);
	while (t->n < s->number)
		t->sub[t->n++].state = FAILED;
	s->state = UP;
	s->answered = true;
	atomic_store(&s->client, c);
	mutex_unlock(&t->lock);
}

int nfs_submounts_inherit(struct nfs_submounts *t, struct nfs_submount_told *told, struct err *e)
{
	struct submount *s = &t->sub[told->number - 1];
	const struct nfs_place *place = &told->places->place[told->place];
	struct nfs_client *c;

	s->depth = told->depth;
	s->dir = told->dir;
	memcpy(s->name, told->name, told->namelen);
	s->namelen = told->namelen;
	s->places = told->places;
	s->place = told->place;
	told->places = NULL;
	for (bool said = false;; said = true) {
		*e = (struct err){0};
		c = connect_place(s, place, told, e);
		if (c || e->kind == ERR_INTERNAL)
			break;
		if (!said)
			log_always_warn("%s; waiting for the server", e->msg);
		nanosleep(&(struct timespec){.tv_nsec = INHERIT_PAUSE_NS}, NULL);
	}
	if (!c)
		return -1;
	enter_inherited(s, c);
	return 0;
}

/* --- clients ------------------------------------------------------------------------------- */

struct nfs_client *nfs_submounts_find(struct nfs_submounts *t, unsigned server)
{
	return server >= 1 && server <= NFS_SUBMOUNTS_MAX ? atomic_load(&t->sub[server - 1].client)
							  : NULL;
}

struct nfs_client *nfs_submounts_each(struct nfs_submounts *t, unsigned *i)
{
	struct nfs_client *c = NULL;

	while (!c && *i < NFS_SUBMOUNTS_MAX)
		c = atomic_load(&t->sub[(*i)++].client);
	return c;
}

/* A place in the table for another submount: a new one, or that of a failure, which no handle
 * names. NULL: all are in use. */
static struct submount *free_locked(struct nfs_submounts *t) REQUIRES(t->lock)
{
	if (t->n < NFS_SUBMOUNTS_MAX)
		return &t->sub[t->n++];
	for (unsigned i = 0; i < t->n; i++) {
		if (t->sub[i].state != FAILED)
			continue;
		free(t->sub[i].places);
		return &t->sub[i];
	}
	return NULL;
}

/* The submount of op's name with op's places; made if there is none, NULL: *error. */
static struct submount *submount_locked(struct nfs_submounts *t, struct nfs_client *c,
	struct nfs_op *op, int *error) REQUIRES(t->lock)
{
	const struct nfs_name *name = &op->u.lookup.name;
	unsigned depth = c->number ? t->sub[c->number - 1].depth + 1 : 1;
	struct submount *s;

	for (unsigned i = 0; i < t->n; i++) {
		s = &t->sub[i];
		if (!s->gone && nfs_fh_same(&s->dir, &op->u.lookup.dir) &&
			s->namelen == name->len && !memcmp(s->name, name->s, name->len) &&
			nfs_places_equal(s->places, op->places))
			return s;
	}
	*error = depth > NFS_SUBMOUNT_DEEP ? -ELOOP : -EREMOTE;
	s = depth > NFS_SUBMOUNT_DEEP ? NULL : free_locked(t);
	if (!s) {
		log_warn("\"%s\" is on another server, and is not mounted: %s",
			QUOTE(name->s, name->len),
			depth > NFS_SUBMOUNT_DEEP ? "the referrals lie too deep within one another"
						  : "there are too many referrals in this mount");
		return NULL;
	}
	s->depth = depth;
	s->dir = op->u.lookup.dir;
	memcpy(s->name, name->s, name->len);
	s->namelen = name->len;
	s->places = op->places;
	op->places = NULL;
	s->state = WANTED;
	return s;
}

/* For a referral of that name. */
static bool start_locked(struct nfs_submounts *t, const struct nfs_name *name) REQUIRES(t->lock)
{
	int error = t->running ? 0 : pthread_create(&t->thread, NULL, submounts_main, t);

	if (error)
		say_no_thread(name->s, name->len, error);
	t->running = !error;
	return t->running;
}

/* Where f, whose op is to be followed, goes: -EAGAIN: *up has the submount's client; 0: f waits. */
static int enter_locked(struct nfs_submounts *t, struct nfs_client *c, struct nfs_follower *f,
	struct nfs_client **up) REQUIRES(t->lock)
{
	struct submount *s;
	int error;

	if (f->op->unwanted)
		return -EINTR;
	if (t->ending || !start_locked(t, &f->op->u.lookup.name))
		return t->ending ? -ENOTCONN : -EREMOTE;
	s = submount_locked(t, c, f->op, &error);
	if (!s)
		return error;
	if (s->state == FAILED && clock_age(clock_ns(), s->failed_at) < AGAIN_NS)
		return -EREMOTE;
	f->op->follower = f;
	f->of = s;
	*up = atomic_load(&s->client);
	t->asking += *up != NULL;
	if (*up)
		return -EAGAIN;
	if (s->state == FAILED)
		s->state = WANTED;
	TAILQ_INSERT_TAIL(&s->followers, f, link);
	f->waits = true;
	pthread_cond_signal(&t->cond);
	return 0;
}

int nfs_submounts_follow(struct nfs_client *c, struct nfs_op *op)
{
	struct nfs_submounts *t = c->submounts;
	struct nfs_follower *f = calloc(1, sizeof(*f));
	struct nfs_client *up = NULL;
	int error;

	if (!f)
		return -ENOMEM;
	f->op = op;
	f->all = t;
	f->refs = 1;
	mutex_lock(&t->lock);
	error = enter_locked(t, c, f, &up);
	mutex_unlock(&t->lock);
	if (!up) {
		if (error)
			free(f);
		return error;
	}
	follower_ask(f, up);
	mutex_lock(&t->lock);
	t->asking--;
	pthread_cond_signal(&t->cond);
	mutex_unlock(&t->lock);
	return 0;
}
