/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lock: the mutexes and the rwlock of pthreads, with annotations that clang checks.
 *
 * An annotation says which lock guards a member, which lock a function needs, and which lock a
 * thread takes first. tests/source/locks has clang 19 check the product: no older clang can name
 * another member of a struct in C. For all other compilers the annotations are empty. The functions
 * are inline: a lock costs the call of pthreads alone.
 *
 * The analysis looks at one function at a time. It tells locks apart by member, not by object: for
 * a guarded member, clang accepts the lock of any object of the type. So LOCK_OF() can name the
 * lock of an object that the annotated one does not point to. The analysis follows a list
 * (TAILQ_FIRST(&list)), but no other address of a guarded member.
 *
 * If one thread alone changes a guarded member, that thread may read the member without the lock. A
 * small function with NO_LOCK_ANALYSIS then reads the member.
 *
 * mutex_init() and mutex_destroy() also tell the analysis that no other thread reaches the object:
 * the rest of the function may use all members that the mutex guards. So a function that ends an
 * object begins with mutex_destroy(). mutex_alone() tells the same at other places.
 */
#ifndef RNFS_TRANSPORT_LOCK_H
#define RNFS_TRANSPORT_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#ifdef RNFS_LOCK_ANALYSIS
#define LOCK_ATTRIBUTE(x) __attribute__((x))
#else
#define LOCK_ATTRIBUTE(x)
#endif

/* Of a struct: the struct is a lock. */
#define LOCK_TYPE(name) LOCK_ATTRIBUTE(capability(name))

/* For an annotation: the member `lock` of another object, which is of this type. */
#define LOCK_OF(type, lock) ((type *)0)->lock

/* Of a member or a variable: each use needs the lock. PT_: each use of the target. */
#define GUARDED_BY(lock)    LOCK_ATTRIBUTE(guarded_by(&lock))
#define PT_GUARDED_BY(lock) LOCK_ATTRIBUTE(pt_guarded_by(&lock))
/* Of a lock: a thread that needs both takes the annotated one first, or last. */
#define ACQUIRED_BEFORE(lock) LOCK_ATTRIBUTE(acquired_before(&lock))
#define ACQUIRED_AFTER(lock)  LOCK_ATTRIBUTE(acquired_after(&lock))

/* Of a function: the caller holds the locks; holds them at least to read; holds none. */
#define REQUIRES(...)	     LOCK_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) LOCK_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...)	     LOCK_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/* Of a function: takes the locks; releases them; takes them if the result is `result`. */
#define ACQUIRE(...)		 LOCK_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...)	 LOCK_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...)		 LOCK_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...)	 LOCK_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define TRY_ACQUIRE(result, ...) LOCK_ATTRIBUTE(try_acquire_capability(result, __VA_ARGS__))
#define ASSERT_HELD(...)	 LOCK_ATTRIBUTE(assert_capability(__VA_ARGS__))
/* Of a function: the analysis cannot follow the locks. A comment says why. */
#define NO_LOCK_ANALYSIS LOCK_ATTRIBUTE(no_thread_safety_analysis)

struct LOCK_TYPE("mutex") mutex {
	pthread_mutex_t m;
};

// clang-format off
#define MUTEX_INITIALIZER {PTHREAD_MUTEX_INITIALIZER}
// clang-format on

static inline void mutex_init(struct mutex *m) ASSERT_HELD(*m) NO_LOCK_ANALYSIS
{
	pthread_mutex_init(&m->m, NULL);
}

static inline void mutex_destroy(struct mutex *m) ASSERT_HELD(*m) NO_LOCK_ANALYSIS
{
	pthread_mutex_destroy(&m->m);
}

static inline void mutex_lock(struct mutex *m) ACQUIRE(*m) NO_LOCK_ANALYSIS
{
	pthread_mutex_lock(&m->m);
}

/* False: another thread holds m. */
static inline bool mutex_trylock(struct mutex *m) TRY_ACQUIRE(true, *m) NO_LOCK_ANALYSIS
{
	return pthread_mutex_trylock(&m->m) == 0;
}

static inline void mutex_unlock(struct mutex *m) RELEASE(*m) NO_LOCK_ANALYSIS
{
	pthread_mutex_unlock(&m->m);
}

/* Tells the analysis that only this thread reaches the members that m guards. Does nothing. A
 * comment at the call gives the reason. */
static inline void mutex_alone(const struct mutex *m) ASSERT_HELD(*m) NO_LOCK_ANALYSIS
{
	(void)m;
}

static inline void cond_wait(pthread_cond_t *c, struct mutex *m) REQUIRES(*m)
{
	pthread_cond_wait(c, &m->m);
}

/* until: as clock_timespec() gives for a condition of clock_cond_init(). 0 or ETIMEDOUT. */
static inline int cond_timedwait(pthread_cond_t *c, struct mutex *m, const struct timespec *until)
	REQUIRES(*m)
{
	return pthread_cond_timedwait(c, &m->m, until);
}

struct LOCK_TYPE("rwlock") rwlock {
	pthread_rwlock_t l;
};

static inline void rwlock_init(struct rwlock *l) ASSERT_HELD(*l) NO_LOCK_ANALYSIS
{
	pthread_rwlock_init(&l->l, NULL);
}

static inline void rwlock_destroy(struct rwlock *l) ASSERT_HELD(*l) NO_LOCK_ANALYSIS
{
	pthread_rwlock_destroy(&l->l);
}

static inline void rwlock_rdlock(struct rwlock *l) ACQUIRE_SHARED(*l) NO_LOCK_ANALYSIS
{
	pthread_rwlock_rdlock(&l->l);
}

static inline void rwlock_wrlock(struct rwlock *l) ACQUIRE(*l) NO_LOCK_ANALYSIS
{
	pthread_rwlock_wrlock(&l->l);
}

static inline void rwlock_unlock(struct rwlock *l) RELEASE_GENERIC(*l) NO_LOCK_ANALYSIS
{
	pthread_rwlock_unlock(&l->l);
}

#endif
