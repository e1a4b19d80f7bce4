/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * doctor_machine: looks at the things that a mount needs of this machine.
 */
#include "cli/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/machine.h"
#include "cli/mountpoint.h"
#include "transport/state_dir.h"

#define KIB		  1024ull
#define MIB		  (1024ull * 1024)
#define MEMLOCK_LEAST	  (64 * KIB)
#define MEMLOCK_PLENTY	  (512 * MIB)
#define FILES_LEAST	  64
#define KERNEL_OLD_MAJOR  5 /* rnfs uses features that FUSE of older kernels lacks */
#define GROUP_MEMORY_FEW  (128 * MIB)
#define TIMEOUT_PLENTY_S  600
#define DEAD_MOUNTS_SHOWN 8

static void look_at_fuse(struct doctor *d, const char *root)
{
	int error = machine_fuse_device(root);

	if (!error)
		finding(&d->f, FINDING_OK, "FUSE device", "/dev/fuse can be opened");
	else if (error == ENOENT || error == ENODEV || error == ENXIO)
		finding(&d->f, FINDING_FAIL, "FUSE device",
			"/dev/fuse is %s: load the kernel module \"fuse\", or give the container "
			"the device",
			error == ENOENT ? "not there" : "not the FUSE device");
	else
		finding(&d->f, FINDING_FAIL, "FUSE device",
			"/dev/fuse cannot be opened (%s): it must be readable and writable for "
			"you, usually mode 0666",
			strerror(error));
}

static void look_at_fusermount(struct doctor *d)
{
	char path[PATH_MAX];
	enum machine_fusermount is = machine_fusermount(path);

	if (is == FUSERMOUNT_WORKS)
		finding(&d->f, FINDING_OK, "fusermount3", "%s mounts for ordinary users", path);
	else
		finding(&d->f, geteuid() ? FINDING_FAIL : FINDING_NOTE, "fusermount3", "%s%s",
			machine_fusermount_says(is), geteuid() ? "" : " (root needs none)");
}

static void look_at_fuse_conf(struct doctor *d, const char *root)
{
	if (!geteuid())
		return;
	if (machine_fuse_conf(root, "user_allow_other"))
		finding(&d->f, FINDING_OK, "allow_other",
			"/etc/fuse.conf lets users mount with it");
	else
		finding(&d->f, FINDING_NOTE, "allow_other",
			"not for ordinary users: other users, root among them, cannot use your "
			"mounts; \"user_allow_other\" in /etc/fuse.conf permits it");
}

static void look_at_kernel(struct doctor *d)
{
	struct utsname u;

	uname(&u);
	if (atoi(u.release) < KERNEL_OLD_MAJOR)
		finding(&d->f, FINDING_WARN, "kernel",
			"Linux %s is older than any that rnfs is tested with (6.1): use a newer "
			"one",
			u.release);
	else
		finding(&d->f, FINDING_OK, "kernel", "Linux %s", u.release);
}

/* The kernel ends a mount when one request waits longer (Linux 6.15). */
static void look_at_timeouts(struct doctor *d, const char *root)
{
	long long usual = machine_number(root, "/proc/sys/fs/fuse/default_request_timeout");
	long long most = machine_number(root, "/proc/sys/fs/fuse/max_request_timeout");
	long long s = most > 0 && (usual <= 0 || usual > most) ? most : usual;

	if (s <= 0)
		finding(&d->f, FINDING_OK, "kernel's patience",
			"requests may wait for the server without a limit");
	else
		finding(&d->f, s < TIMEOUT_PLENTY_S ? FINDING_WARN : FINDING_NOTE,
			"kernel's patience",
			"the kernel ends a mount of which one request waits for %lld s, so rnfs "
			"answers with an error before: set fs.fuse.default_request_timeout and "
			"fs.fuse.max_request_timeout to 0 with sysctl to have requests wait",
			s);
}

static void look_at_memlock(struct doctor *d, bool devices)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r))
		return;
	if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= MEMLOCK_PLENTY)
		finding(&d->f, FINDING_OK, "registered memory", "no limit that matters");
	else if (r.rlim_cur >= MEMLOCK_LEAST)
		finding(&d->f, devices ? FINDING_WARN : FINDING_NOTE, "registered memory",
			"%llu KiB (ulimit -l): proto=rdma works, but registers memory for each "
			"READ and WRITE; raise the limit for speed. proto=iwarp and tcp need none",
			(unsigned long long)r.rlim_cur / KIB);
	else
		finding(&d->f, devices ? FINDING_FAIL : FINDING_NOTE, "registered memory",
			"%llu bytes (ulimit -l): proto=rdma needs 64 KiB at least: raise the "
			"limit, or use proto=iwarp or tcp",
			(unsigned long long)r.rlim_cur);
}

static void look_at_descriptors(struct doctor *d)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return;
	if (r.rlim_cur < FILES_LEAST)
		finding(&d->f, FINDING_FAIL, "descriptors",
			"%llu open files (ulimit -n) are too few: raise the limit to 1024",
			(unsigned long long)r.rlim_cur);
	else
		finding(&d->f, FINDING_OK, "descriptors", "%llu open files",
			(unsigned long long)r.rlim_cur);
}

static void look_at_group(struct doctor *d, const char *root)
{
	long long bytes = machine_number(root, "/sys/fs/cgroup/memory.max");

	if (bytes < 0)
		bytes = machine_number(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
	if (bytes < 0 || bytes >= 1ll << 50)
		return;
	finding(&d->f, bytes < (long long)GROUP_MEMORY_FEW ? FINDING_WARN : FINDING_NOTE,
		"control group",
		"it may have %lld MiB of memory, of which rnfs takes half at most%s",
		bytes / (long long)MIB,
		bytes < (long long)GROUP_MEMORY_FEW ? ": give it 128 MiB or more for speed" : "");
}

/* --- RDMA devices ------------------------------------------------------------------------------
 */

/* A word or line of a file of the device; "" if there is none. */
static void read_word(const char *root, const char *file, char *word, size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	word[0] = 0;
	snprintf(path, sizeof(path), "%s%s", root, file);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(word, (int)size, f))
		word[strcspn(word, "\n")] = 0;
	fclose(f);
}

static void look_at_device(struct doctor *d, const char *root, const char *name)
{
	char file[400], state[64], type[64];

	snprintf(file, sizeof(file), "/sys/class/infiniband/%.100s/ports/1/state", name);
	read_word(root, file, state, sizeof(state));
	snprintf(file, sizeof(file), "/sys/class/infiniband/%.100s/ports/1/link_layer", name);
	read_word(root, file, type, sizeof(type));
	if (strstr(state, "ACTIVE"))
		finding(&d->f, FINDING_OK, "RDMA device", "%s (%s) is active", name, type);
	else
		finding(&d->f, FINDING_WARN, "RDMA device",
			"the link of %s (%s) is not active (%s): bring its network interface up",
			name, type, state[0] ? state : "unknown");
}

/* Whether user-space drivers can reach the devices. */
static void look_at_uverbs(struct doctor *d, const char *root)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dev/infiniband/rdma_cm", root);
	if (!access(path, R_OK | W_OK))
		return;
	finding(&d->f, FINDING_FAIL, "RDMA devices",
		"/dev/infiniband/rdma_cm cannot be opened (%s): %s", strerror(errno),
		errno == ENOENT ? "load the kernel module \"rdma_ucm\", or give the container "
				  "/dev/infiniband"
				: "it must be readable and writable for you");
}

static bool look_at_devices(struct doctor *d, const char *root)
{
	char path[PATH_MAX];
	struct dirent *e;
	bool any = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband", root);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.') {
			look_at_device(d, root, e->d_name);
			any = true;
		}
	if (dir)
		closedir(dir);
	if (any)
		look_at_uverbs(d, root);
	else
		finding(&d->f, FINDING_NOTE, "RDMA devices",
			"there is none: proto=iwarp reaches servers on iWARP (siw included), "
			"proto=tcp all others");
	return any;
}

/* --- places ----------------------------------------------------------------------------------- */

static void look_at_state_dir(struct doctor *d)
{
	char dir[PATH_MAX], up[PATH_MAX];

	if (!state_dir(dir, sizeof(dir))) {
		finding(&d->f, FINDING_NOTE, "state directory",
			"there is no home directory: locks of an NFSv3 mount whose daemon is "
			"killed stay at the server");
		return;
	}
	snprintf(up, sizeof(up), "%s", dir);
	while (access(up, F_OK) && strcmp(up, "/")) {
		char parent[PATH_MAX];

		state_dir_of(up, parent);
		snprintf(up, sizeof(up), "%s", parent[0] ? parent : "/");
	}
	if (access(up, W_OK))
		finding(&d->f, FINDING_NOTE, "state directory",
			"%s cannot be written (%s): locks of an NFSv3 mount whose daemon is "
			"killed stay at the server",
			dir, strerror(errno));
	else
		finding(&d->f, FINDING_OK, "state directory", "%s", dir);
}

static void look_at_mounts(struct doctor *d, const char *root)
{
	char path[PATH_MAX], line[4096 + 512];
	unsigned mounts = 0, dead = 0;
	struct mountinfo m;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (!mountinfo_parse(line, &m) || strcmp(m.type, "fuse.rnfs"))
			continue;
		mounts++;
		if (mountpoint_dead_at(&m) && dead++ < DEAD_MOUNTS_SHOWN)
			finding(&d->f, FINDING_WARN, "mount",
				"the daemon of %s has died: run fusermount3 -u %s", m.dir, m.dir);
	}
	fclose(f);
	if (!dead)
		finding(&d->f, FINDING_OK, "mounts", "%u of rnfs, none without its daemon", mounts);
}

void doctor_machine(struct doctor *d, const char *root)
{
	bool devices;

	look_at_kernel(d);
	look_at_fuse(d, root);
	look_at_fusermount(d);
	look_at_fuse_conf(d, root);
	look_at_timeouts(d, root);
	devices = look_at_devices(d, root);
	look_at_memlock(d, devices);
	look_at_descriptors(d);
	look_at_group(d, root);
	look_at_state_dir(d);
	look_at_mounts(d, root);
}
