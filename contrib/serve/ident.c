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

int ident_assume(const struct rpc_cred *cred)
{
	struct rpc_cred want;
	int r;

	if (!switches)
		return 0;
	admit(&want, cred);
	if (me.assumed && memcmp(&want, &me.who, sizeof(want)) == 0)
		return 0;
	r = become(&want);
	me.assumed = r == 0;
	me.who = want;
	return r;
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
