/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stable-syncs: fsync() of the test's own for a server on a file system with storage. To be linked
 * with
 * --wrap=fsync. One for the process.
 */
#ifndef RNFS_TESTS_STABLE_SYNCS_H
#define RNFS_TESTS_STABLE_SYNCS_H

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "tests/unit/contrib/serve/serve-env.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned syncs, held;  /* lock */
static int fails;	      /* lock: the next sync */
static bool holding;	      /* lock */
static void (*at_sync)(void); /* each sync calls it, unless NULL */

int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	int r;

	if (at_sync)
		at_sync();
	pthread_mutex_lock(&lock);
	syncs++;
	held++;
	pthread_cond_broadcast(&changed);
	while (holding)
		pthread_cond_wait(&changed, &lock);
	held--;
	r = fails;
	fails = 0;
	pthread_mutex_unlock(&lock);
	errno = r;
	return r ? -1 : 0;
}

static inline void hold(bool yes)
{
	pthread_mutex_lock(&lock);
	holding = yes;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static inline void wait_held(unsigned n)
{
	pthread_mutex_lock(&lock);
	while (held < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static struct serve_env env;
static struct nfs4_stateid sid;
static struct nfs_fh fh;

static inline int setup(void **state)
{
	syncs = 0;
	fails = 0;
	at_sync = NULL;
	env_init_in(&env, "/var/tmp"); /* a file system with storage */
	return 0;
}

static inline int teardown(void **state)
{
	env_finish(&env);
	return 0;
}

static inline void open_file(const char *name)
{
	env_mount(&env, "client");
	assert_int_equal(
		env_open(&env, name, true, OPEN4_SHARE_ACCESS_BOTH, 0, "o", &sid, &fh), NFS4_OK);
}

static inline struct obj *object_of(const char *name)
{
	struct obj *root = obj_root(env.sv.objs), *o;

	assert_int_equal(obj_lookup(env.sv.objs, root, name, strlen(name), &o, NULL), 0);
	obj_unref(env.sv.objs, root);
	return o;
}

/* A stable append: a WRITE behind VERIFY of the size. */
static inline uint32_t append_to(uint64_t end)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_SIZE, -1);
	const struct nfs4_attrs attrs = {.mask = mask, .attr.size = end};
	struct nfs4_putfh_args p = {fh};
	struct nfs4_write_args w = {.stateid = sid,
		.offset = end,
		.stable = NFS_FILE_SYNC,
		.data = SEG_LIST_MEM((char[]){"data"}, 4)};

	env_begin(&env, true);
	nfs4_put_putfh_args(&env.args, &p);
	nfs4_put_op(&env.args, OP_VERIFY);
	nfs4_put_attrs(&env.args, &mask, &attrs);
	nfs4_put_write_args(&env.args, &w);
	return env_run(&env, 4);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
