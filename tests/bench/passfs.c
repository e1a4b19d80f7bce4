/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * passfs: a FUSE file system that passes all requests on to a folder: the best that a program on a
 * FUSE file system can expect when the data is on this machine.
 *
 *     passfs [-f] [-a] [-w WORKERS] [-t SECONDS] FOLDER MOUNTPOINT
 *
 * WORKERS threads (2); names and attributes are believed for SECONDS (1). -a: other users may use
 * passfs too, and the kernel checks their rights. -f: stay in the foreground.
 *
 * A node is a file that the kernel knows: an O_PATH descriptor, counted by the kernel's look-ups,
 * in a table by device and inode number. The kernel's number for a node is the node's address.
 * `lock`
 * guards the table and the counts. A new file belongs to the user that asked for it; all else is
 * done
 * as the user that runs passfs.
 */
#define FUSE_USE_VERSION 314
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#define BUCKETS 16384

struct node {
	int fd; /* O_PATH */
	dev_t dev;
	ino_t ino;
	uint64_t lookups;  /* lock */
	struct node *next; /* lock; in the node's bucket */
};

static struct node root = {.fd = -1};
static struct node *buckets[BUCKETS]; /* lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double believed = 1.0; /* seconds */

static struct node *node_of(fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? &root : (struct node *)(uintptr_t)ino;
}

static int fd_of(fuse_ino_t ino)
{
	return node_of(ino)->fd;
}

static void reply(fuse_req_t req, int failed)
{
	fuse_reply_err(req, failed ? errno : 0);
}

/* A path to the file itself, for calls that take no O_PATH descriptor. */
static const char *way_to(int fd)
{
	static _Thread_local char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static struct node **bucket_of(dev_t dev, ino_t ino)
{
	return &buckets[(ino * 31 + dev) % BUCKETS];
}

/* Counts one look-up of the file of fd; fd belongs to the table from now on. NULL: no memory. */
static struct node *node_get(int fd, const struct stat *st)
{
	struct node **bucket = bucket_of(st->st_dev, st->st_ino), *n;

	pthread_mutex_lock(&lock);
	for (n = *bucket; n; n = n->next)
		if (n->ino == st->st_ino && n->dev == st->st_dev)
			break;
	if (n) {
		close(fd);
	} else {
		n = calloc(1, sizeof(*n));
		if (n) {
			*n = (struct node){fd, st->st_dev, st->st_ino, 0, *bucket};
			*bucket = n;
		}
	}
	if (n)
		n->lookups++;
	pthread_mutex_unlock(&lock);
	return n;
}

static void node_put(fuse_ino_t ino, uint64_t count)
{
	struct node *n = node_of(ino), **link;

	if (n == &root)
		return;
	pthread_mutex_lock(&lock);
	n->lookups -= count;
	if (n->lookups == 0) {
		for (link = bucket_of(n->dev, n->ino); *link != n; link = &(*link)->next)
			;
		*link = n->next;
		close(n->fd);
		free(n);
	}
	pthread_mutex_unlock(&lock);
}

/* Looks name up and counts the look-up. 0 or an errno. */
static int find(fuse_ino_t parent, const char *name, struct fuse_entry_param *e)
{
	struct node *n;
	int fd;

	memset(e, 0, sizeof(*e));
	fd = openat(fd_of(parent), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (fstatat(fd, "", &e->attr, AT_EMPTY_PATH)) {
		int error = errno;

		close(fd);
		return error;
	}
	n = node_get(fd, &e->attr);
	if (!n)
		return ENOMEM;
	e->ino = (uintptr_t)n;
	e->attr_timeout = e->entry_timeout = believed;
	return 0;
}

static void reply_found(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	int error = find(parent, name, &e);

	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_entry(req, &e);
}

/* Until as_self(), files that this thread makes belong to the caller. */
static void as_caller(fuse_req_t req)
{
	const struct fuse_ctx *c = fuse_req_ctx(req);

	if (geteuid() != 0 || c->uid == 0)
		return;
	setfsgid(c->gid);
	setfsuid(c->uid);
}

/* Leaves errno unchanged, and so do the calls inside. */
static void as_self(fuse_req_t req)
{
	if (geteuid() != 0 || fuse_req_ctx(req)->uid == 0)
		return;
	setfsuid(0);
	setfsgid(0);
}

/* Answers with the file that was made under name, or with errno. */
static void reply_made(fuse_req_t req, int failed, fuse_ino_t parent, const char *name)
{
	as_self(req);
	if (failed)
		reply(req, true);
	else
		reply_found(req, parent, name);
}

/* --- names ------------------------------------------------------------------------------------ */

static void pass_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	reply_found(req, parent, name);
}

static void pass_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	node_put(ino, count);
	fuse_reply_none(req);
}

static void pass_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *f)
{
	for (size_t i = 0; i < n; i++)
		node_put(f[i].ino, f[i].nlookup);
	fuse_reply_none(req);
}

static void pass_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	as_caller(req);
	reply_made(req, mkdirat(fd_of(parent), name, mode), parent, name);
}

static void pass_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	as_caller(req);
	reply_made(req, mknodat(fd_of(parent), name, mode, rdev), parent, name);
}

static void pass_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	as_caller(req);
	reply_made(req, symlinkat(target, fd_of(parent), name), parent, name);
}

static void pass_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	if (linkat(AT_FDCWD, way_to(fd_of(ino)), fd_of(parent), name, AT_SYMLINK_FOLLOW))
		reply(req, true);
	else
		reply_found(req, parent, name);
}

static void pass_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	reply(req, unlinkat(fd_of(parent), name, 0));
}

static void pass_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	reply(req, unlinkat(fd_of(parent), name, AT_REMOVEDIR));
}

static void pass_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t to,
	const char *to_name, unsigned flags)
{
	reply(req, renameat2(fd_of(parent), name, fd_of(to), to_name, flags));
}

static void pass_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[4097];
	ssize_t n = readlinkat(fd_of(ino), "", target, sizeof(target) - 1);

	if (n < 0) {
		reply(req, true);
		return;
	}
	target[n] = 0;
	fuse_reply_readlink(req, target);
}

/* --- attributes ------------------------------------------------------------------------------- */

static void pass_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	if (fstatat(fd_of(ino), "", &st, AT_EMPTY_PATH))
		reply(req, true);
	else
		fuse_reply_attr(req, &st, believed);
}

static struct timespec time_of(int set, int now, int given, struct timespec t)
{
	if (set & now)
		return (struct timespec){.tv_nsec = UTIME_NOW};
	return set & given ? t : (struct timespec){.tv_nsec = UTIME_OMIT};
}

static int set_attr(int fd, const struct stat *a, int set)
{
	const struct timespec times[2] = {
		time_of(set, FUSE_SET_ATTR_ATIME_NOW, FUSE_SET_ATTR_ATIME, a->st_atim),
		time_of(set, FUSE_SET_ATTR_MTIME_NOW, FUSE_SET_ATTR_MTIME, a->st_mtim)};

	if ((set & FUSE_SET_ATTR_MODE) && chmod(way_to(fd), a->st_mode))
		return -1;
	if ((set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) &&
		fchownat(fd, "", set & FUSE_SET_ATTR_UID ? a->st_uid : (uid_t)-1,
			set & FUSE_SET_ATTR_GID ? a->st_gid : (gid_t)-1, AT_EMPTY_PATH))
		return -1;
	if ((set & FUSE_SET_ATTR_SIZE) && truncate(way_to(fd), a->st_size))
		return -1;
	if (times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT)
		return 0;
	return utimensat(AT_FDCWD, way_to(fd), times, 0);
}

static void pass_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set, struct fuse_file_info *fi)
{
	if (set_attr(fd_of(ino), attr, set))
		reply(req, true);
	else
		pass_getattr(req, ino, fi);
}

static void pass_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;

	if (fstatvfs(fd_of(ino), &st))
		reply(req, true);
	else
		fuse_reply_statfs(req, &st);
}

/* --- directories ------------------------------------------------------------------------------ */

static void pass_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	int fd = openat(fd_of(ino), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		reply(req, true);
		return;
	}
	fi->fh = (uintptr_t)dir;
	fuse_reply_open(req, fi);
}

/* Adds d to buf if there is room. Returns the number of bytes that d takes. */
static size_t add_entry(
	fuse_req_t req, fuse_ino_t ino, const struct dirent *d, char *buf, size_t room, bool plus)
{
	struct fuse_entry_param e = {
		.attr = {.st_ino = d->d_ino, .st_mode = (mode_t)d->d_type << 12}};
	bool dots = !strcmp(d->d_name, ".") || !strcmp(d->d_name, "..");
	size_t n;

	if (!plus)
		return fuse_add_direntry(req, buf, room, d->d_name, &e.attr, d->d_off);
	if (!dots && find(ino, d->d_name, &e))
		return 0;
	n = fuse_add_direntry_plus(req, buf, room, d->d_name, &e, d->d_off);
	if (n > room && !dots)
		node_put(e.ino, 1);
	return n;
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	const struct fuse_file_info *fi, bool plus)
{
	DIR *dir = (DIR *)(uintptr_t)fi->fh;
	char *buf = malloc(size);
	size_t used = 0;

	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	if (telldir(dir) != off)
		seekdir(dir, off);
	for (;;) {
		long here = telldir(dir);
		const struct dirent *d = readdir(dir);
		size_t n = d ? add_entry(req, ino, d, buf + used, size - used, plus) : 0;

		if (!d)
			break;
		if (n > size - used) {
			seekdir(dir, here);
			break;
		}
		used += n;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void pass_readdir(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, ino, size, off, fi, false);
}

static void pass_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, ino, size, off, fi, true);
}

static void pass_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	reply(req, closedir((DIR *)(uintptr_t)fi->fh));
}

static void pass_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	reply(req, fsync(dirfd((DIR *)(uintptr_t)fi->fh)));
}

/* --- data ------------------------------------------------------------------------------------- */

static void pass_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	int fd = open(way_to(fd_of(ino)), (fi->flags & ~(O_NOFOLLOW | O_DIRECT)) | O_CLOEXEC);

	if (fd < 0) {
		reply(req, true);
		return;
	}
	fi->fh = (uint64_t)fd;
	fuse_reply_open(req, fi);
}

static void pass_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	int fd, error;

	as_caller(req);
	fd = openat(fd_of(parent), name,
		((fi->flags | O_CREAT) & ~(O_NOFOLLOW | O_DIRECT)) | O_CLOEXEC, mode);
	as_self(req);
	error = fd < 0 ? errno : find(parent, name, &e);
	if (error) {
		if (fd >= 0)
			close(fd);
		fuse_reply_err(req, error);
		return;
	}
	fi->fh = (uint64_t)fd;
	fuse_reply_create(req, &e, fi);
}

static void pass_read(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	static _Thread_local char buf[1 << 20];
	ssize_t n = pread((int)fi->fh, buf, size < sizeof(buf) ? size : sizeof(buf), off);

	if (n < 0)
		reply(req, true);
	else
		fuse_reply_buf(req, buf, (size_t)n);
}

static void pass_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	ssize_t n = pwrite((int)fi->fh, buf, size, off);

	if (n < 0)
		reply(req, true);
	else
		fuse_reply_write(req, (size_t)n);
}

static void pass_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}

static void pass_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	reply(req, close((int)fi->fh));
}

static void pass_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	reply(req, datasync ? fdatasync((int)fi->fh) : fsync((int)fi->fh));
}

static void pass_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t length,
	struct fuse_file_info *fi)
{
	reply(req, fallocate((int)fi->fh, mode, off, length));
}

static void pass_init(void *arg, struct fuse_conn_info *conn)
{
	conn->max_background = 128;
	conn->want &= ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

static const struct fuse_lowlevel_ops ops = {
	.init = pass_init,
	.lookup = pass_lookup,
	.forget = pass_forget,
	.forget_multi = pass_forget_multi,
	.getattr = pass_getattr,
	.setattr = pass_setattr,
	.readlink = pass_readlink,
	.mknod = pass_mknod,
	.mkdir = pass_mkdir,
	.unlink = pass_unlink,
	.rmdir = pass_rmdir,
	.symlink = pass_symlink,
	.rename = pass_rename,
	.link = pass_link,
	.open = pass_open,
	.read = pass_read,
	.write = pass_write,
	.flush = pass_flush,
	.release = pass_release,
	.fsync = pass_fsync,
	.opendir = pass_opendir,
	.readdir = pass_readdir,
	.readdirplus = pass_readdirplus,
	.releasedir = pass_releasedir,
	.fsyncdir = pass_fsyncdir,
	.statfs = pass_statfs,
	.create = pass_create,
	.fallocate = pass_fallocate,
};

/* Serves until the unmount. */
static int serve(struct fuse_session *se, unsigned workers)
{
	struct fuse_loop_config *loop = fuse_loop_cfg_create();
	int ret;

	fuse_loop_cfg_set_max_threads(loop, workers);
	fuse_loop_cfg_set_idle_threads(loop, workers);
	ret = fuse_session_loop_mt(se, loop);
	fuse_loop_cfg_destroy(loop);
	return ret;
}

/* One descriptor for each file that the kernel remembers; root may raise its limit. */
static void many_descriptors(void)
{
	struct rlimit r = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};

	if (setrlimit(RLIMIT_NOFILE, &r) && !getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

int main(int argc, char **argv)
{
	static char for_all[] = "-oallow_other,default_permissions";
	char *list[] = {argv[0], for_all, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(1, list);
	bool foreground = false;
	unsigned workers = 2;
	struct fuse_session *se;
	int ret, opt;

	while ((opt = getopt(argc, argv, "faw:t:")) != -1) {
		if (opt == 'f')
			foreground = true;
		else if (opt == 'a')
			args.argc = 2;
		else if (opt == 'w')
			workers = (unsigned)atoi(optarg);
		else if (opt == 't')
			believed = atof(optarg);
		else
			return 2;
	}
	if (argc - optind != 2 || workers < 1 || workers > 64) {
		fprintf(stderr,
			"usage: passfs [-f] [-a] [-w WORKERS] [-t SECONDS] FOLDER MOUNTPOINT\n");
		return 2;
	}
	umask(0);
	many_descriptors();
	root.fd = open(argv[optind], O_PATH | O_DIRECTORY | O_CLOEXEC);
	se = root.fd < 0 ? NULL : fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!se || fuse_set_signal_handlers(se) || fuse_session_mount(se, argv[optind + 1]) ||
		fuse_daemonize(foreground))
		return 1;
	ret = serve(se, workers);
	fuse_session_unmount(se);
	fuse_remove_signal_handlers(se);
	fuse_session_destroy(se);
	return ret != 0;
}
