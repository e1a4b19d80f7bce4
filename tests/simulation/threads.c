/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * threads: the functions of pthreads that the product calls, by the simulator's scheduler.
 *
 * The state of an object is in the object's own memory. Zeros are an object at rest, because
 * PTHREAD_MUTEX_INITIALIZER and the other initializers are zeros. Outside a run the calls go to the
 * system's functions: no object may be held from inside a run to outside, or the other way round.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulation/sched_impl.h"
#include "tests/simulation/times.h"

#define REAL(fn) ((__typeof__(&(fn)))real(#fn))

/* Condition variables have an old version, too, which dlsym() may find first. */
static void *real(const char *name)
{
	void *fn = NULL;

	if (!strncmp(name, "pthread_cond_", 13))
		fn = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	if (!fn)
		fn = dlsym(RTLD_NEXT, name);
	if (!fn)
		abort();
	return fn;
}

/* --- mutexes ---------------------------------------------------------------------------------- */

struct mutex {
	unsigned holder; /* number of the thread; 0: none */
	unsigned depth;
	int kind;
};

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "");

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	struct mutex *x = (struct mutex *)m;
	int kind = 0;

	if (!sched_on())
		return REAL(pthread_mutex_init)(m, attr);
	memset(m, 0, sizeof(*m));
	if (attr)
		pthread_mutexattr_gettype(attr, &kind);
	x->kind = kind;
	return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *m)
{
	struct mutex *x = (struct mutex *)m;

	if (!sched_on())
		return 0;
	if (x->holder)
		sched_fail("a mutex is destroyed while thread %u holds it", x->holder);
	return 0;
}

static bool try_lock(struct mutex *x)
{
	if (x->holder == sched_self() && x->kind == PTHREAD_MUTEX_RECURSIVE) {
		x->depth++;
		return true;
	}
	if (x->holder)
		return false;
	x->holder = sched_self();
	x->depth = 1;
	sched_holds(x, 1);
	return true;
}

static void lock(struct mutex *x)
{
	while (!try_lock(x)) {
		if (x->holder == sched_self())
			sched_fail("a thread locks a mutex that the thread holds");
		sched_wait(x, SCHED_NEVER, "for a mutex");
	}
}

static void unlock(struct mutex *x)
{
	if (x->holder != sched_self())
		sched_fail("a thread unlocks a mutex that thread %u holds", x->holder);
	if (--x->depth)
		return;
	x->holder = 0;
	sched_holds(x, -1);
	sched_wake_all(x);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	if (!sched_on())
		return REAL(pthread_mutex_lock)(m);
	sched_point();
	lock((struct mutex *)m);
	return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
	if (!sched_on())
		return REAL(pthread_mutex_trylock)(m);
	sched_point();
	return try_lock((struct mutex *)m) ? 0 : EBUSY;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (!sched_on())
		return REAL(pthread_mutex_unlock)(m);
	unlock((struct mutex *)m);
	sched_point();
	return 0;
}

/* --- conditions ------------------------------------------------------------------------------- */

struct cond {
	int clock; /* of deadlines; CLOCK_REALTIME is 0 */
};

int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attr)
{
	clockid_t clock = CLOCK_REALTIME;

	if (!sched_on())
		return REAL(pthread_cond_init)(c, attr);
	memset(c, 0, sizeof(*c));
	if (attr)
		pthread_condattr_getclock(attr, &clock);
	((struct cond *)c)->clock = clock;
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *c)
{
	return 0;
}

/* False: the deadline came first. */
static bool wait_unlocked(pthread_cond_t *c, pthread_mutex_t *m, uint64_t deadline)
{
	struct mutex *x = (struct mutex *)m;
	bool woken;

	unlock(x);
	woken = sched_wait(c, deadline, "for a condition");
	lock(x);
	return woken;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	if (!sched_on())
		return REAL(pthread_cond_wait)(c, m);
	sched_point();
	wait_unlocked(c, m, SCHED_NEVER);
	return 0;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	if (!sched_on())
		return REAL(pthread_cond_timedwait)(c, m, until);
	sched_point();
	return wait_unlocked(c, m, times_of(((struct cond *)c)->clock, until)) ? 0 : ETIMEDOUT;
}

int pthread_cond_signal(pthread_cond_t *c)
{
	if (!sched_on())
		return REAL(pthread_cond_signal)(c);
	sched_wake_one(c);
	sched_point();
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
	if (!sched_on())
		return REAL(pthread_cond_broadcast)(c);
	sched_wake_all(c);
	sched_point();
	return 0;
}

/* --- read-write locks ------------------------------------------------------------------------- */

struct rwlock {
	unsigned readers, writer;
};

int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attr)
{
	if (!sched_on())
		return REAL(pthread_rwlock_init)(l, attr);
	memset(l, 0, sizeof(*l));
	return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *l)
{
	return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	struct rwlock *x = (struct rwlock *)l;

	if (!sched_on())
		return REAL(pthread_rwlock_rdlock)(l);
	sched_point();
	while (x->writer)
		sched_wait(x, SCHED_NEVER, "to read, for a lock");
	x->readers++;
	sched_holds(x, 1);
	return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	struct rwlock *x = (struct rwlock *)l;

	if (!sched_on())
		return REAL(pthread_rwlock_wrlock)(l);
	sched_point();
	while (x->writer || x->readers)
		sched_wait(x, SCHED_NEVER, "to write, for a lock");
	x->writer = sched_self();
	sched_holds(x, 1);
	return 0;
}

int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	struct rwlock *x = (struct rwlock *)l;

	if (!sched_on())
		return REAL(pthread_rwlock_unlock)(l);
	if (x->writer)
		x->writer = 0;
	else
		x->readers--;
	sched_holds(x, -1);
	sched_wake_all(x);
	sched_point();
	return 0;
}

/* --- once ------------------------------------------------------------------------------------- */

enum { ONCE_NOT, ONCE_NOW, ONCE_DONE = 2 /* as the system has it */ };

int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	if (!sched_on())
		return REAL(pthread_once)(once, fn);
	while (*once == ONCE_NOW)
		sched_wait(once, SCHED_NEVER, "for a first call");
	if (*once == ONCE_DONE)
		return 0;
	*once = ONCE_NOW;
	sched_holds(once, 1);
	fn();
	sched_holds(once, -1);
	*once = ONCE_DONE;
	sched_wake_all(once);
	return 0;
}

/* --- threads ---------------------------------------------------------------------------------- */

#define ALIVE_MAX 1024

/* those made by pthread_create() that no join has freed */
static struct sched_thread *alive[ALIVE_MAX];

static struct sched_thread **place_of(pthread_t id)
{
	for (unsigned i = 0; i < ALIVE_MAX; i++)
		if (alive[i] && pthread_equal(alive[i]->id, id))
			return &alive[i];
	return NULL;
}

static void live(struct sched_thread *t)
{
	bool detached;

	t->result = t->start(t->arg);
	detached = t->detached;
	if (detached)
		*place_of(t->id) = NULL;
	sched_thread_end();
	if (detached)
		free(t);
}

static void *begin(void *arg)
{
	sched_thread_begin(arg, live);
	return NULL;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	struct sched_thread *t;
	unsigned i = 0;
	int error, detached = PTHREAD_CREATE_JOINABLE;

	if (!sched_on())
		return REAL(pthread_create)(id, attr, start, arg);
	sched_point();
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	while (i < ALIVE_MAX && alive[i])
		i++;
	if (i == ALIVE_MAX)
		sched_fail("more than %d threads that no other has joined", ALIVE_MAX);
	t = sched_thread_new();
	t->start = start;
	t->arg = arg;
	t->detached = detached == PTHREAD_CREATE_DETACHED;
	error = REAL(pthread_create)(&t->id, attr, begin, t);
	if (error)
		sched_fail("a thread cannot be made: %s", strerror(error));
	baton_await(&t->baton);
	alive[i] = t;
	*id = t->id;
	sched_point();
	return 0;
}

/* deadline: as sched_wait(). */
static int join(pthread_t id, void **result, uint64_t deadline)
{
	struct sched_thread **place = place_of(id), *t;

	if (!place)
		sched_fail("a thread that does not exist is joined");
	t = *place;
	while (!t->ended)
		if (!sched_wait(t, deadline, "for the end of a thread") && !t->ended)
			return ETIMEDOUT;
	REAL(pthread_join)(id, NULL);
	if (result)
		*result = t->result;
	*place = NULL;
	free(t);
	return 0;
}

int pthread_join(pthread_t id, void **result)
{
	if (!sched_on())
		return REAL(pthread_join)(id, result);
	sched_point();
	return join(id, result, SCHED_NEVER);
}

int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *until)
{
	if (!sched_on())
		return REAL(pthread_timedjoin_np)(id, result, until);
	sched_point();
	return join(id, result, times_of(CLOCK_REALTIME, until));
}

int pthread_detach(pthread_t id)
{
	struct sched_thread **place;

	if (!sched_on())
		return REAL(pthread_detach)(id);
	place = place_of(id);
	if (place && (*place)->ended)
		return join(id, NULL, SCHED_NEVER);
	if (place)
		(*place)->detached = true;
	return REAL(pthread_detach)(id);
}

int pthread_setname_np(pthread_t id, const char *name)
{
	struct sched_thread **place;

	if (!sched_on())
		return REAL(pthread_setname_np)(id, name);
	place = place_of(id);
	if (place)
		snprintf(
			(*place)->name, sizeof((*place)->name), "%u-%.20s", (*place)->number, name);
	return 0;
}

/* Signals of one thread to another only interrupt waits of the system; a run has none. */
int pthread_kill(pthread_t id, int sig)
{
	if (!sched_on())
		return REAL(pthread_kill)(id, sig);
	return 0;
}

/* A run has two processors, on each machine. */
long sysconf(int name)
{
	if (!sched_on() || name != _SC_NPROCESSORS_ONLN)
		return REAL(sysconf)(name);
	return 2;
}
