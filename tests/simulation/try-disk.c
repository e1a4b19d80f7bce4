/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-disk: the same random calls on the simulated disk and on a directory of the system. Results,
 * errors and contents must be the same.
 *
 * try-disk [SEED [CALLS [DIRECTORY]]]
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

#define SIDES	2 /* simulated, real */
#define HELD	6 /* descriptors that are open */
#define NAMES	5
#define DATA	40000
#define OFFSETS 60000

static unsigned calls = 20000;
static char real_dir[64];
static int root[SIDES], held[SIDES][HELD];
static char text[1024]; /* the call under way */
static uid_t user;	/* the caller */

static void check(long a, int ea, long b, int eb)
{
	if (a == b && (a >= 0 || ea == eb))
		return;
	sched_fail("%s: %ld (%s), the system says %ld (%s)", text, a, a < 0 ? strerror(ea) : "", b,
		b < 0 ? strerror(eb) : "");
}

/* The next calls on a side are those of a user. */
static void act_as(int side, uid_t uid)
{
	if (side == 0) {
		setfsuid(uid);
		setfsgid(uid);
	} else {
		((int (*)(gid_t))dlsym(RTLD_NEXT, "setfsgid"))(uid);
		((int (*)(uid_t))dlsym(RTLD_NEXT, "setfsuid"))(uid);
	}
}

/* Both sides of a call. */
#define BOTH(call)                                                                                 \
	do {                                                                                       \
		long res_[SIDES];                                                                  \
		int err_[SIDES];                                                                   \
		for (int s = 0; s < SIDES; s++) {                                                  \
			act_as(s, user);                                                           \
			errno = 0;                                                                 \
			res_[s] = (long)(call);                                                    \
			err_[s] = errno;                                                           \
			act_as(s, 0);                                                              \
		}                                                                                  \
		check(res_[0], err_[0], res_[1], err_[1]);                                         \
	} while (0)

static void random_path(char *buf, size_t size)
{
	static const char *const odd[] = {
		".", "..", "a/", "./b", "a//c", "a/../b", "b/.", "a/b/.."};
	unsigned depth = 1 + sched_choose(3);
	size_t n = 0;

	if (sched_once_in(24)) {
		snprintf(buf, size, "%s", odd[sched_choose(8)]);
		return;
	}
	if (sched_once_in(200)) {
		memset(buf, 'x', 256);
		buf[256] = '\0';
		return;
	}
	for (unsigned d = 0; d < depth; d++)
		n += (size_t)snprintf(
			buf + n, size - n, "%s%c", d ? "/" : "", (char)('a' + sched_choose(NAMES)));
	if (sched_once_in(40))
		snprintf(buf + n, size - n, "/");
}

/* --- the whole of both ------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static unsigned list(int dirfd, char *names[], unsigned most)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY);
	DIR *d = fdopendir(fd);
	struct dirent *e;
	unsigned n = 0;

	while ((e = readdir(d)) != NULL && n < most)
		names[n++] = strdup(e->d_name);
	closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	return n;
}

static void compare_data(int fd[SIDES])
{
	static char buf[SIDES][OFFSETS + DATA + 4096];

	for (off_t off = 0;; off += (off_t)sizeof(buf[0])) {
		ssize_t n[SIDES];

		for (int s = 0; s < SIDES; s++)
			n[s] = pread(fd[s], buf[s], sizeof(buf[s]), off);
		check(n[0], errno, n[1], errno);
		if (n[0] <= 0)
			return;
		if (memcmp(buf[0], buf[1], (size_t)n[0]) != 0)
			sched_fail("data differs after %s", text);
		if ((size_t)n[0] < sizeof(buf[0]))
			return;
	}
}

static void compare_one(int dir[SIDES], const char *name);

static void compare_acl(int fd[SIDES], const char *name)
{
	char value[SIDES][200];
	ssize_t n[SIDES];
	int err[SIDES];

	for (int s = 0; s < SIDES; s++) {
		n[s] = fgetxattr(fd[s], name, value[s], sizeof(value[s]));
		err[s] = errno;
	}
	check(n[0], err[0], n[1], err[1]);
	if (n[0] > 0 && memcmp(value[0], value[1], (size_t)n[0]) != 0)
		sched_fail("%s differs after %s", name, text);
}

static void compare_dir(int dir[SIDES])
{
	char *names[SIDES][64];
	unsigned n[SIDES];

	for (int s = 0; s < SIDES; s++)
		n[s] = list(dir[s], names[s], 64);
	check(n[0], 0, n[1], 0);
	for (unsigned k = 0; k < n[0]; k++) {
		if (strcmp(names[0][k], names[1][k]) != 0)
			sched_fail("after %s: name %s, the system has %s", text, names[0][k],
				names[1][k]);
		if (strcmp(names[0][k], ".") != 0 && strcmp(names[0][k], "..") != 0)
			compare_one(dir, names[0][k]);
	}
	for (int s = 0; s < SIDES; s++)
		for (unsigned k = 0; k < n[s]; k++)
			free(names[s][k]);
}

static void compare_one(int dir[SIDES], const char *name)
{
	struct stat st[SIDES];
	int fd[SIDES];

	for (int s = 0; s < SIDES; s++)
		fstatat(dir[s], name, &st[s], AT_SYMLINK_NOFOLLOW);
	check(st[0].st_mode, 0, st[1].st_mode, 0);
	check(st[0].st_uid, 0, st[1].st_uid, 0);
	check(st[0].st_gid, 0, st[1].st_gid, 0);
	check((long)st[0].st_nlink, 0, (long)st[1].st_nlink, 0);
	check((long)st[0].st_rdev, 0, (long)st[1].st_rdev, 0);
	if (!S_ISDIR(st[0].st_mode))
		check(st[0].st_size, 0, st[1].st_size, 0);
	if (!S_ISDIR(st[0].st_mode) && !S_ISREG(st[0].st_mode))
		return;
	for (int s = 0; s < SIDES; s++)
		fd[s] = openat(dir[s], name, O_RDONLY | O_NOFOLLOW);
	if (fd[0] < 0 || fd[1] < 0)
		sched_fail("cannot open %s", name);
	compare_acl(fd, "system.posix_acl_access");
	compare_acl(fd, "system.posix_acl_default");
	if (S_ISDIR(st[0].st_mode))
		compare_dir(fd);
	else
		compare_data(fd);
	for (int s = 0; s < SIDES; s++)
		close(fd[s]);
}

/* Of files that have lost their names, too. */
static void compare_held(void)
{
	for (unsigned h = 0; h < HELD; h++) {
		struct stat st[SIDES];

		if (held[0][h] < 0)
			continue;
		for (int s = 0; s < SIDES; s++)
			fstat(held[s][h], &st[s]);
		check(st[0].st_mode, 0, st[1].st_mode, 0);
		check((long)st[0].st_nlink, 0, (long)st[1].st_nlink, 0);
		if (!S_ISDIR(st[0].st_mode))
			check(st[0].st_size, 0, st[1].st_size, 0);
	}
}

/* --- random calls ----------------------------------------------------------------------------- */

#define SAY(...) snprintf(text, sizeof(text), __VA_ARGS__)

static void hold(unsigned h, const char *path, int flags, mode_t mode)
{
	int fd[SIDES], err[SIDES];
	struct stat st;

	if (!(flags & O_PATH) && fstatat(root[0], path, &st, 0) == 0 && !S_ISREG(st.st_mode) &&
		!S_ISDIR(st.st_mode))
		return; /* a device or FIFO */
	SAY("openat(%s, %o, %o)", path, flags, mode);
	for (int s = 0; s < SIDES; s++) {
		act_as(s, user);
		fd[s] = openat(root[s], path, flags, mode);
		err[s] = errno;
		act_as(s, 0);
	}
	check(fd[0] < 0 ? -1 : 0, err[0], fd[1] < 0 ? -1 : 0, err[1]);
	if (fd[0] < 0)
		return;
	for (int s = 0; s < SIDES; s++) {
		if (held[s][h] >= 0)
			close(held[s][h]);
		held[s][h] = fd[s];
	}
}

static int random_flags(void)
{
	static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR, O_PATH};
	int flags = access[sched_choose(4)] | O_NONBLOCK;

	if (sched_once_in(2))
		flags |= O_CREAT;
	if (sched_once_in(5))
		flags |= O_EXCL;
	if (sched_once_in(5))
		flags |= O_TRUNC;
	if (sched_once_in(3))
		flags |= O_NOFOLLOW;
	if (sched_once_in(6))
		flags |= O_APPEND;
	if (sched_once_in(8))
		flags = (flags & ~O_CREAT) | O_DIRECTORY;
	if (flags & O_EXCL && !(flags & O_CREAT))
		flags &= ~O_EXCL; /* undefined */
	return flags;
}

static void names_call(void)
{
	char a[300], b[300];
	mode_t mode = sched_choose(010000) & ~01000u; /* no t: its effect depends on sysctls */
	unsigned flags;

	random_path(a, sizeof(a));
	random_path(b, sizeof(b));
	switch (sched_choose(12)) {
	case 0:
	case 1:
		SAY("mkdirat(%s)", a);
		BOTH(mkdirat(root[s], a, mode));
		break;
	case 2:
		SAY("unlinkat(%s)", a);
		BOTH(unlinkat(root[s], a, 0));
		break;
	case 3:
		SAY("rmdir(%s)", a);
		BOTH(unlinkat(root[s], a, AT_REMOVEDIR));
		break;
	case 4:
	case 5:
		flags = sched_choose(3);
		if (strlen(a) > 255 || strlen(b) > 255)
			break; /* both are looked up before either is looked at */
		SAY("renameat2(%s, %s, %u)", a, b, flags);
		BOTH(renameat2(root[s], a, root[s], b, flags));
		break;
	case 6:
		flags = sched_once_in(2) ? AT_SYMLINK_FOLLOW : 0;
		SAY("linkat(%s, %s, %u)", a, b, flags);
		BOTH(linkat(root[s], a, root[s], b, (int)flags));
		break;
	case 7:
		SAY("symlinkat(%s, %s)", a, b);
		if (strchr(a, '.') || a[strlen(a) - 1] == '/')
			break; /* it would leave the directory, or loop otherwise */
		BOTH(symlinkat(a, root[s], b));
		break;
	case 8:
		flags = sched_once_in(2) ? S_IFIFO : sched_once_in(2) ? S_IFCHR : S_IFSOCK;
		SAY("mknodat(%s, %o)", a, flags | mode);
		BOTH(mknodat(root[s], a, flags | mode, makedev(1, 3)));
		break;
	case 9: {
		static char buf[SIDES][300];

		SAY("readlinkat(%s)", a);
		BOTH(readlinkat(root[s], a, buf[s], sizeof(buf[s])));
		break;
	}
	case 10:
		SAY("faccessat(%s)", a);
		BOTH(faccessat(root[s], a, (int)(mode & 7), AT_EACCESS));
		break;
	default:
		hold(sched_choose(HELD), a, random_flags(), mode);
	}
}

static void set_acl(unsigned h)
{
	static const char *const names[] = {"system.posix_acl_access", "system.posix_acl_default"};
	static const uint16_t tags[] = {1, 2, 4, 8, 16, 32}; /* the owner, a user, and so on */
	const char *name = names[sched_choose(2)];
	unsigned long n = 0, named = sched_choose(4), last = 6;
	struct {
		uint32_t version;
		struct {
			uint16_t tag, perm;
			uint32_t id;
		} entry[6];
	} acl = {.version = 2};
	char path[SIDES][32];

	for (unsigned k = 0; k < last; k++) {
		if ((k == 1 && !(named & 1)) || (k == 3 && !(named & 2)) || (k == 4 && !named))
			continue;
		acl.entry[n].tag = tags[k];
		acl.entry[n].perm = (uint16_t)sched_choose(8);
		acl.entry[n++].id = k == 1 || k == 3 ? 1000 : (uint32_t)-1;
	}
	for (int s = 0; s < SIDES; s++)
		snprintf(path[s], sizeof(path[s]), "/proc/self/fd/%d", held[s][h]);
	if (sched_once_in(4)) {
		SAY("removexattr(%s)", name);
		BOTH(removexattr(path[s], name));
	} else {
		SAY("setxattr(%s, %lu)", name, n);
		BOTH(setxattr(path[s], name, &acl, 4 + n * 8, 0));
	}
}

static void attrs_call(void)
{
	static char value[SIDES][5000];
	struct timespec ts[2] = {{.tv_sec = sched_choose(1000)}, {.tv_nsec = UTIME_OMIT}};
	char a[300], x[16];
	size_t len = sched_choose(300);
	int flags = (int)sched_choose(3);

	random_path(a, sizeof(a));
	snprintf(x, sizeof(x), "user.%c", (char)('a' + sched_choose(3)));
	switch (sched_choose(7)) {
	case 3:
		if (held[0][len % HELD] >= 0)
			set_acl((unsigned)len % HELD);
		break;
	case 0:
		SAY("fchmodat(%s)", a);
		BOTH(fchmodat(root[s], a, len * 13 & 06777, 0));
		break;
	case 1:
		SAY("fchownat(%s)", a);
		BOTH(fchownat(root[s], a, len & 1 ? 1000 : (uid_t)-1, len & 2 ? 1000 : (gid_t)-1,
			AT_SYMLINK_NOFOLLOW));
		break;
	case 2:
		SAY("utimensat(%s)", a);
		BOTH(utimensat(root[s], a, ts, 0));
		break;
	default: {
		char path[SIDES][32];
		unsigned h = sched_choose(HELD);

		if (held[0][h] < 0)
			return;
		for (int s = 0; s < SIDES; s++)
			snprintf(path[s], sizeof(path[s]), "/proc/self/fd/%d", held[s][h]);
		SAY("setxattr(%s, %zu, %d)", x, len, flags);
		BOTH(setxattr(path[s], x, text, len, flags));
		if (sched_once_in(2)) {
			SAY("removexattr(%s)", x);
			BOTH(removexattr(path[s], x));
		}
		SAY("getxattr(%s, %zu)", x, len);
		BOTH(getxattr(path[s], x, value[s], len));
		SAY("fgetxattr(%s)", x);
		BOTH(fgetxattr(held[s][h], x, value[s], sizeof(value[s])));
	}
	}
}

static long copy_all(int from, off_t in, int to, off_t out, size_t n)
{
	size_t done = 0;
	ssize_t r;

	do {
		r = copy_file_range(from, &in, to, &out, n - done, 0);
		done += r > 0 ? (size_t)r : 0;
	} while (r > 0 && done < n);
	return r < 0 ? -1 : (long)done;
}

static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* File systems report different holes, but each hole must read as zeros. */
static void seek_data(int fd, off_t off)
{
	static char buf[OFFSETS + DATA];
	off_t size = lseek(fd, 0, SEEK_END), data = lseek(fd, off, SEEK_DATA);
	off_t hole = lseek(fd, off, SEEK_HOLE);
	ssize_t n;

	for (int s = 0; s < SIDES; s++)
		for (unsigned h = 0; h < HELD; h++)
			if (held[s][h] >= 0)
				lseek(held[s][h], 0, SEEK_SET);
	if (size < 0 || off >= size || hole < off || hole > size)
		return;
	n = pread(fd, buf, (size_t)((data < 0 ? size : data) - off), off);
	for (ssize_t k = 0; k < n; k++)
		if (buf[k])
			sched_fail("%s: a hole with data", text);
	n = pread(fd, buf, 4096 - hole % 4096, hole);
	for (ssize_t k = 0; k < n; k++)
		if (buf[k])
			sched_fail("%s: %ld is no hole", text, hole);
}

static void data_call(void)
{
	static char from[DATA], to[SIDES][DATA];
	unsigned h = sched_choose(HELD), g = sched_choose(HELD);
	off_t off = sched_choose(OFFSETS);
	size_t n = sched_choose(DATA);
	static const int modes[] = {
		0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE};
	int mode = modes[sched_choose(3)];
	char a[300];

	if (held[0][h] < 0 || held[0][g] < 0)
		return;
	memset(from, 'a' + (int)sched_choose(26), n);
	switch (sched_choose(13)) {
	case 0:
	case 1:
		SAY("pwrite(%d, %zu, %ld)", held[0][h], n, off);
		BOTH(pwrite(held[s][h], from, n, off));
		break;
	case 2:
		SAY("write(%d, %zu)", held[0][h], n);
		BOTH(write(held[s][h], from, n));
		break;
	case 3:
		SAY("read(%d, %zu)", held[0][h], n);
		BOTH(read(held[s][h], to[s], n));
		break;
	case 4:
		SAY("ftruncate(%d, %ld)", held[0][h], off);
		BOTH(ftruncate(held[s][h], off));
		break;
	case 5:
		SAY("fallocate(%d, %d, %ld, %zu)", held[0][h], mode, off, n);
		BOTH(fallocate(held[s][h], mode, off, (off_t)n));
		break;
	case 6:
		SAY("lseek(%d, %ld)", held[0][h], off);
		if (is_plain(held[0][h]))
			seek_data(held[0][h], off);
		break;
	case 7: {
		struct stat x, y;

		fstat(held[0][h], &x);
		fstat(held[0][g], &y);
		SAY("copy_file_range(%d, %ld, %d, %zu)", held[0][h], off, held[0][g], n);
		if (S_ISREG(x.st_mode) && S_ISREG(y.st_mode))
			BOTH(copy_all(held[s][h], off, held[s][g], off / 2, n));
		break;
	}
	case 8:
		SAY("fsync(%d)", held[0][h]);
		BOTH(fsync(held[s][h]));
		break;
	case 9: {
		char path[SIDES][32];
		int flags = random_flags() & ~(O_CREAT | O_EXCL), fd[SIDES] = {-1, -1};

		SAY("open again(%d, %o)", held[0][h], flags);
		for (int s = 0; s < SIDES; s++)
			snprintf(path[s], sizeof(path[s]), "/proc/self/fd/%d", held[s][h]);
		if (flags & O_NOFOLLOW || !is_plain(held[0][h]))
			break;
		BOTH((fd[s] = open(path[s], flags)) < 0 ? -1 : 0);
		for (int s = 0; s < SIDES && fd[0] >= 0; s++) {
			close(held[s][g]);
			held[s][g] = fd[s];
		}
		break;
	}
	case 10:
		random_path(a, sizeof(a));
		SAY("linkat(%d, %s)", held[0][h], a);
		BOTH(linkat(held[s][h], "", root[s], a, AT_EMPTY_PATH));
		break;
	case 11:
		SAY("openat(O_TMPFILE)");
		hold(h, ".", O_RDWR | O_TMPFILE | (sched_once_in(4) ? O_EXCL : 0), 0644);
		break;
	default: {
		struct iovec iov[SIDES][2] = {{{to[0], n / 2}, {to[0] + n / 2, n - n / 2}},
			{{to[1], n / 2}, {to[1] + n / 2, n - n / 2}}};

		SAY("preadv(%d, %zu, %ld)", held[0][h], n, off);
		memset(to, 0, sizeof(to));
		BOTH(preadv(held[s][h], iov[s], 2, off));
		if (memcmp(to[0], to[1], n) != 0)
			sched_fail("%s: other bytes", text);
	}
	}
}

static void differ(void)
{
	char path[80];

	snprintf(real_dir + strlen(real_dir), sizeof(real_dir) - strlen(real_dir),
		"/rnfs-try-disk-XXXXXX");
	if (!mkdtemp(real_dir) || mkdir("/sim/try", 0700) != 0)
		sched_fail("no directories");
	/* one below: ".." is inside, too */
	snprintf(path, sizeof(path), "%s/in", real_dir);
	if (mkdir(path, 0700) != 0 || mkdir("/sim/try/in", 0700) != 0)
		sched_fail("no directories");
	root[0] = open("/sim/try/in", O_RDONLY | O_DIRECTORY);
	root[1] = open(path, O_RDONLY | O_DIRECTORY);
	umask(022);
	fchown(root[0], 1000, 1000);
	fchown(root[1], 1000, 1000);
	memset(held, 0xff, sizeof(held));
	setgroups(0, NULL);
	for (unsigned n = 0; n < calls; n++) {
		user = sched_once_in(4) ? 1000 : 0;
		switch (sched_choose(3)) {
		case 0:
			names_call();
			break;
		case 1:
			attrs_call();
			break;
		default:
			data_call();
		}
		if (n % 10 == 0)
			compare_held();
		if (n % 50 == 0 || n + 1 == calls)
			compare_dir(root);
	}
	for (int s = 0; s < SIDES; s++) {
		for (unsigned h = 0; h < HELD; h++)
			if (held[s][h] >= 0)
				close(held[s][h]);
		close(root[s]);
	}
}

static void run(void *ctx)
{
	unsigned unnamed;

	disk_new();
	differ();
	sync();
	disk_inodes(&unnamed);
	if (unnamed || descriptors_open())
		sched_fail("%u inodes without a name, %u descriptors are left", unnamed,
			descriptors_open());
	disk_reset();
}

int main(int argc, char **argv)
{
	struct sched_params p = {.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		.policy = SCHED_WALK,
		.most_steps = UINT64_MAX,
		.out = stderr};
	char command[128];

	if (getuid() != 0) {
		fprintf(stderr, "try-disk acts as several users: root is needed\n");
		return 77;
	}
	if (argc > 2)
		calls = (unsigned)strtoul(argv[2], NULL, 0);
	snprintf(real_dir, sizeof(real_dir), "%s", argc > 3 ? argv[3] : "/tmp");
	sched_run(&p, run, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", real_dir);
	printf("seed %llu: %016llx\n", (unsigned long long)p.seed,
		(unsigned long long)sched_digest());
	return system(command);
}
