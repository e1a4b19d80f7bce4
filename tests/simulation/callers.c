/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * callers: the identity by which a thread uses the simulated disk. All processes of a run are
 * root's; a thread takes another identity by setfsuid(2) and the like, which act on the thread
 * alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/simulation/acls.h"
#include "tests/simulation/paths.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/streams.h"

#define REAL(fn)   ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define GROUPS_MAX 64
#define FILES_MOST 1024

static _Thread_local struct {
	uid_t uid;
	gid_t gid;
	gid_t groups[GROUPS_MAX];
	size_t ngroups;
	mode_t mask;
	bool own_mask; /* unshare(CLONE_FS) */
} me;

static mode_t shared_mask = 022;

uid_t caller_uid(void)
{
	return me.uid;
}

gid_t caller_gid(void)
{
	return me.gid;
}

/* The server gives up all capabilities for each other user. */
bool caller_is_root(void)
{
	return me.uid == 0;
}

bool caller_in_group(gid_t gid)
{
	if (me.gid == gid)
		return true;
	for (size_t n = 0; n < me.ngroups; n++)
		if (me.groups[n] == gid)
			return true;
	return false;
}

bool caller_owns(const struct inode *i)
{
	return caller_is_root() || me.uid == i->a.uid;
}

bool caller_may(const struct inode *i, int mask)
{
	unsigned mode = i->a.mode;

	if (caller_is_root())
		return !(mask & X_OK) || S_ISDIR(mode) || mode & 0111;
	/* the kernel treats an ACL with an empty mask as one that only repeats the mode */
	if (me.uid != i->a.uid && mode & 070 && inode_xattr(i, ACLS_ACCESS))
		return acls_allow(i, (unsigned)mask);
	if (me.uid == i->a.uid)
		mode >>= 6;
	else if (caller_in_group(i->a.gid))
		mode >>= 3;
	return !((unsigned)mask & ~mode & 7);
}

mode_t caller_takes(const struct inode *i)
{
	mode_t bits = i->a.mode & S_ISUID;

	if (S_ISDIR(i->a.mode))
		return 0;
	if (i->a.mode & S_IXGRP || !(caller_is_root() || caller_in_group(i->a.gid)))
		bits |= i->a.mode & S_ISGID;
	return bits;
}

mode_t caller_umask(void)
{
	return me.own_mask ? me.mask : shared_mask;
}

/* --- calls ------------------------------------------------------------------------------------ */

mode_t umask(mode_t mask)
{
	mode_t old = caller_umask();

	if (!sched_on()) {
		shared_mask = mask & 0777;
		return REAL(umask)(mask);
	}
	if (me.own_mask)
		me.mask = mask & 0777;
	else
		shared_mask = mask & 0777;
	return old;
}

int unshare(int flags)
{
	if (!sched_on())
		return REAL(unshare)(flags);
	if (flags != CLONE_FS) {
		errno = EPERM;
		return -1;
	}
	me.mask = caller_umask();
	me.own_mask = true;
	return 0;
}

uid_t geteuid(void)
{
	return sched_on() ? 0 : REAL(geteuid)();
}

int setfsuid(uid_t uid)
{
	uid_t old = me.uid;

	if (!sched_on())
		return REAL(setfsuid)(uid);
	if (uid != (uid_t)-1)
		me.uid = uid;
	return (int)old;
}

int setfsgid(gid_t gid)
{
	gid_t old = me.gid;

	if (!sched_on())
		return REAL(setfsgid)(gid);
	if (gid != (gid_t)-1)
		me.gid = gid;
	return (int)old;
}

/* Of descriptors: few, and not those of the system, which differ between machines. */
int getrlimit64(__rlimit_resource_t what, struct rlimit64 *limit)
{
	if (!sched_on() || what != RLIMIT_NOFILE)
		return REAL(getrlimit64)(what, limit);
	*limit = (struct rlimit64){FILES_MOST, FILES_MOST};
	return 0;
}

int setrlimit64(__rlimit_resource_t what, const struct rlimit64 *limit)
{
	return sched_on() ? 0 : REAL(setrlimit64)(what, limit);
}

static long set_groups(size_t n, const gid_t *groups)
{
	if (n > GROUPS_MAX) {
		errno = EINVAL;
		return -1;
	}
	memcpy(me.groups, groups, n * sizeof(*groups));
	me.ngroups = n;
	return 0;
}

/* The simulator keeps no capabilities: all are permitted, and only the user counts. */
static long get_caps(struct __user_cap_data_struct *data)
{
	for (int n = 0; n < 2; n++)
		data[n] = (struct __user_cap_data_struct){~0u, ~0u, 0};
	return 0;
}

long syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int n = 0; n < 6; n++)
		a[n] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_getdents64 && descriptor_is_ours((int)a[0]))
		return streams_getdents((int)a[0], (void *)a[1], (size_t)a[2]);
	if (sched_on() && number == SYS_setgroups)
		return set_groups((size_t)a[0], (const gid_t *)a[1]);
	if (sched_on() && number == SYS_capget)
		return get_caps((struct __user_cap_data_struct *)a[1]);
	if (sched_on() && number == SYS_capset)
		return 0;
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
