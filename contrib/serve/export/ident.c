/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ident: the user as which a thread uses the file system.
 *
 * setfsuid() and setfsgid() act on the calling thread. So does the raw setgroups system call; the C
 * library's function of that name would change every thread. When a thread leaves fsuid 0, the
 * kernel takes the file-system capabilities out of its effective set. capset() takes out the others
 * (CAP_SYS_RESOURCE goes beyond quotas and into reserved blocks, CAP_LEASE, CAP_SYS_ADMIN, ...).
 * All stay permitted, so that the thread can come back.
 */
#include "contrib/serve/export/ident.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/lock.h"
#include "transport/log.h"

#define CAP_WORDS 2

static bool switches;
static bool squash = true;
static struct __user_cap_data_struct
	own_caps[CAP_WORDS]; /* at the start, with all permitted ones in effect */

static _Thread_local struct {
	bool assumed; /* the thread acts as a caller */
	bool suspended;
	struct rpc_cred who;
} me;

void ident_init(bool squash_root)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};

	squash = squash_root;
	switches = geteuid() == 0;
	if (syscall(SYS_capget, &h, own_caps) != 0)
		memset(own_caps, 0, sizeof(own_caps));
	for (int i = 0; i < CAP_WORDS; i++)
		own_caps[i].effective = own_caps[i].permitted;
}

/* Makes all the server's capabilities effective for this thread, or none but CAP_IPC_LOCK: the
 * transport locks memory for every caller. 0 or -errno. */
static int use_caps(bool all)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[CAP_WORDS];

	memcpy(d, own_caps, sizeof(d));
	if (!all) {
		d[0].effective &= 1u << CAP_IPC_LOCK;
		d[1].effective = 0;
	}
	return syscall(SYS_capset, &h, d) == 0 ? 0 : -errno;
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
	int r = use_caps(true); /* CAP_SETUID and CAP_SETGID are needed now */

	setfsuid(0);
	if (r == 0)
		r = set_groups(c);
	setfsgid(c->gid);
	setfsuid(c->uid);
	if (r == 0 && c->uid != 0)
		r = use_caps(false);
	if (r < 0 || (gid_t)setfsgid((gid_t)-1) != c->gid || (uid_t)setfsuid((uid_t)-1) != c->uid) {
		log_error("cannot act as uid %u gid %u with %u groups: %s", c->uid, c->gid,
			c->ngids, r < 0 ? strerror(-r) : "the kernel kept the old identity");
		return -EPERM;
	}
	return 0;
}

/* Maps the caller's credential to the identity for the file system. */
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

/* Is c root, the server's own identity? */
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

void ident_drop(void)
{
	static const struct rpc_cred self = {.flavor = RPC_AUTH_SYS};

	if (switches && me.assumed && become(&self) == 0)
		me.assumed = false;
}

uint32_t ident_uid(void)
{
	return me.assumed ? me.who.uid : geteuid();
}

void ident_suspend(void)
{
	if (!switches || !me.assumed)
		return;
	use_caps(true);
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
	if ((me.who.uid != 0 && use_caps(false) < 0) || (gid_t)setfsgid((gid_t)-1) != me.who.gid ||
		(uid_t)setfsuid((uid_t)-1) != me.who.uid)
		me.assumed = false; /* the next request tries again, and is refused if that fails */
}

/* A thread that runs jobs in place of an owner thread, which must keep its own identity. One job at
 * a time. */
struct helper {
	pthread_t thread;
	struct mutex lock;
	pthread_cond_t cond;
	GUARDED_BY(lock) void (*fn)(void *arg); /* NULL: no job */
	void *arg GUARDED_BY(lock);
	bool stop GUARDED_BY(lock);
};

static pthread_key_t helper_key;
static pthread_once_t helper_once = PTHREAD_ONCE_INIT;

static void *helper_main(void *arg)
{
	struct helper *h = arg;
	void (*fn)(void *arg);
	void *job;

	mutex_lock(&h->lock);
	for (;;) {
		while (!h->fn && !h->stop)
			cond_wait(&h->cond, &h->lock);
		if (!h->fn)
			break;
		fn = h->fn;
		job = h->arg;
		mutex_unlock(&h->lock);
		fn(job);
		mutex_lock(&h->lock);
		h->fn = NULL;
		pthread_cond_broadcast(&h->cond);
	}
	mutex_unlock(&h->lock);
	return NULL;
}

/* Called at the end of the owner's thread. */
static void helper_free(void *arg)
{
	struct helper *h = arg;

	mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_broadcast(&h->cond);
	mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	pthread_cond_destroy(&h->cond);
	mutex_destroy(&h->lock);
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
	mutex_init(&h->lock);
	pthread_cond_init(&h->cond, NULL);
	if (pthread_create(&h->thread, NULL, helper_main, h) != 0) {
		pthread_cond_destroy(&h->cond);
		mutex_destroy(&h->lock);
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
			mutex_lock(&h->lock);
			h->fn = fn;
			h->arg = arg;
			pthread_cond_broadcast(&h->cond);
			while (h->fn)
				cond_wait(&h->cond, &h->lock);
			mutex_unlock(&h->lock);
			return;
		}
	}
	fn(arg);
}
