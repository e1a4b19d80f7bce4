/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ident: in whose name a thread touches the file system.
 *
 * setfsuid() and setfsgid() act on the calling thread. So does the raw setgroups system call; the C
 * library's function of that name would change every thread. Leaving fsuid 0 takes the file-system
 * capabilities away, coming back returns them.
 */
#include "contrib/serve/ident.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/log.h"

static bool switches;
static bool squash = true;

static _Thread_local struct {
	bool assumed; /* who is in force */
	bool suspended;
	struct rpc_cred who;
} me;

void ident_init(bool squash_root)
{
	squash = squash_root;
	switches = geteuid() == 0;
}

bool ident_switches(void)
{
	return switches;
}

static int set_groups(const struct rpc_cred *c)
{
	gid_t gids[RPC_MAX_GIDS];

	for (uint32_t i = 0; i < c->ngids; i++)
		gids[i] = c->gids[i];
	return syscall(SYS_setgroups, (size_t)c->ngids, gids) == 0 ? 0 : -errno;
}

static int become(const struct rpc_cred *c)
{
	int r;

	setfsuid(0); /* with it the capabilities that the next two need */
	r = set_groups(c);
	setfsgid(c->gid);
	setfsuid(c->uid);
	if (r < 0 || (gid_t)setfsgid((gid_t)-1) != c->gid || (uid_t)setfsuid((uid_t)-1) != c->uid) {
		log_error("cannot act as uid %u gid %u with %u groups: %s", c->uid, c->gid,
			c->ngids, r < 0 ? strerror(-r) : "the kernel kept the old identity");
		return -EPERM;
	}
	return 0;
}

/* What the caller's credential counts for here. */
static void admit(struct rpc_cred *out, const struct rpc_cred *in)
{
	memset(out, 0, sizeof(*out)); /* compared with memcmp() */
	out->flavor = in->flavor;
	out->uid = out->gid = IDENT_ANON;
	if (in->flavor != RPC_AUTH_SYS || in->ngids > RPC_MAX_GIDS)
		return;
	out->uid = squash && in->uid == 0 ? IDENT_ANON : in->uid;
	out->gid = squash && in->gid == 0 ? IDENT_ANON : in->gid;
	if (out->uid == (uint32_t)-1 || out->gid == (uint32_t)-1) {
		out->uid = out->gid = IDENT_ANON;
		return;
	}
	for (uint32_t i = 0; i < in->ngids; i++) {
		if (in->gids[i] == (uint32_t)-1 || (squash && in->gids[i] == 0))
			continue;
		out->gids[out->ngids++] = in->gids[i];
	}
}

/* Root is whom the server is anyway. */
static bool is_self(const struct rpc_cred *c)
{
	return c->uid == 0 && c->gid == 0;
}

int ident_assume(const struct rpc_cred *cred)
{
	struct rpc_cred want;
	int r;

	if (!switches)
		return 0;
	admit(&want, cred);
	if (!me.assumed && is_self(&want))
		return 0;
	if (me.assumed && memcmp(&want, &me.who, sizeof(want)) == 0)
		return 0;
	r = become(&want);
	me.assumed = r == 0;
	me.who = want;
	return r;
}

uint32_t ident_uid(void)
{
	return me.assumed ? me.who.uid : geteuid();
}

void ident_suspend(void)
{
	if (!switches || !me.assumed)
		return;
	setfsuid(0);
	setfsgid(0);
	me.suspended = true;
}

void ident_resume(void)
{
	if (!switches || !me.suspended)
		return;
	setfsgid(me.who.gid);
	setfsuid(me.who.uid);
	me.suspended = false;
	if ((gid_t)setfsgid((gid_t)-1) != me.who.gid || (uid_t)setfsuid((uid_t)-1) != me.who.uid)
		me.assumed = false; /* the next request tries again, and is refused if it must */
}

/* A thread that does what its owner must not do itself. One job at a time. */
struct helper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	void (*fn)(void *arg); /* NULL: none; lock */
	void *arg;
	bool stop; /* lock */
};

static pthread_key_t helper_key;
static pthread_once_t helper_once = PTHREAD_ONCE_INIT;

static void *helper_main(void *arg)
{
	struct helper *h = arg;

	pthread_mutex_lock(&h->lock);
	for (;;) {
		while (!h->fn && !h->stop)
			pthread_cond_wait(&h->cond, &h->lock);
		if (!h->fn)
			break;
		pthread_mutex_unlock(&h->lock);
		h->fn(h->arg);
		pthread_mutex_lock(&h->lock);
		h->fn = NULL;
		pthread_cond_broadcast(&h->cond);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

/* At the end of the owner's thread. */
static void helper_free(void *arg)
{
	struct helper *h = arg;

	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_broadcast(&h->cond);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	pthread_cond_destroy(&h->cond);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static void helper_make_key(void)
{
	pthread_key_create(&helper_key, helper_free);
}

static struct helper *helper_get(void)
{
	struct helper *h;

	pthread_once(&helper_once, helper_make_key);
	h = pthread_getspecific(helper_key);
	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->cond, NULL);
	if (pthread_create(&h->thread, NULL, helper_main, h) != 0) {
		pthread_cond_destroy(&h->cond);
		pthread_mutex_destroy(&h->lock);
		free(h);
		return NULL;
	}
	pthread_setspecific(helper_key, h);
	return h;
}

void ident_call(bool keep, const struct rpc_cred *cred, void (*fn)(void *arg), void *arg)
{
	struct rpc_cred want;
	struct helper *h;

	if (switches && keep) {
		admit(&want, cred);
		h = is_self(&want) ? NULL : helper_get();
		if (h) {
			pthread_mutex_lock(&h->lock);
			h->fn = fn;
			h->arg = arg;
			pthread_cond_broadcast(&h->cond);
			while (h->fn)
				pthread_cond_wait(&h->cond, &h->lock);
			pthread_mutex_unlock(&h->lock);
			return;
		}
	}
	fn(arg);
}
