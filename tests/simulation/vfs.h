/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs: a model of Linux's FUSE client, one instance for each mount; and of the processes that
 * use the mount.
 *
 * The daemon has a simulated descriptor that plays /dev/fuse. Processes call sys_*(), which behave
 * as the system calls of the same name on a FUSE mount do: through the kernel's dentries,
 * attributes and pages, with requests to the daemon where Linux sends them. The model is that of
 * Linux 6.1 or 6.12 (struct vfs_params); where both differ, a comment in the source says so.
 *
 * A thread of the simulator that calls sys_*() is the process's thread in that system call. Several
 * threads may be in system calls of one process. System calls have points (sched_point()) where a
 * kernel may switch to another thread.
 */
#ifndef RNFS_SIMULATION_VFS_H
#define RNFS_SIMULATION_VFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "tests/simulation/descriptors.h"

#define VFS_PAGE 4096

struct vfs;

struct vfs_params {
	unsigned version; /* 601 to 618: Linux 6.1 to 6.18; sim has 601 and 612 */
	/* mount options, which the mounter gives to mount(2) */
	bool default_permissions;
	bool allow_other; /* false: only processes of `owner` */
	uid_t owner;
	unsigned readahead; /* pages of a read-ahead; 0: 32 (128 KiB), as Linux has */
};

/* --- a mount ---------------------------------------------------------------------------------- */

/* A new mount: INIT waits for the daemon to read. Any thread of the run. */
struct vfs *vfs_new(const struct vfs_params *p);
/* The descriptor that plays /dev/fuse; for rnfs: its mount point "/dev/fd/N". A new one at each
 * call, of the same open description. */
int vfs_descriptor(struct vfs *v);
/* open(2) of /proc/self/fd/N, or of /dev/fuse, by the daemon: a new device (flags: O_NONBLOCK),
 * which belongs to no mount yet; vfs_clone() gives the device to the mount of fd. For the
 * functions that play open(2) and ioctl(2, FUSE_DEV_IOC_CLONE). The descriptor, or 0, or a negative
 * errno. */
int vfs_open_device(int flags);
int vfs_clone(int device, int fd);
/* Is fd a device of this model? */
bool vfs_is_device(int fd);
/* INIT has been answered. */
bool vfs_ready(const struct vfs *v);
/* Waits for that, as a process does, until the simulated time `deadline`. False: the deadline came,
 * or the mount has ended. */
bool vfs_wait_ready(struct vfs *v, uint64_t deadline);
/* umount(2). As in Linux no FORGET is sent then, nor DESTROY (only for a block device), and
 * requests that are under way, such as RELEASE, end at once; reading ends with ENODEV. Returns 0,
 * or -EBUSY: a process has files open. */
int vfs_unmount(struct vfs *v);
/* A fault: the connection is aborted (echo 1 > .../abort; the last device is closed): all requests
 * end with ECONNABORTED, reading with ENODEV. */
void vfs_abort(struct vfs *v);
/* Frees the mount. The daemon's descriptors are closed by then, the mount unmounted or aborted. */
struct vfs *vfs_free(struct vfs *v);

/* A fault: memory is short. The kernel drops each clean page that is not in use, and each unused
 * dentry with its inode, once in `once_in` (1: all). Sends FORGET. */
void vfs_shrink(struct vfs *v, unsigned once_in);
/* Background write-back of all dirty mapped pages, as the flusher thread does (each 5 to 30 s).
 * Does not wait for the answers. */
void vfs_flush(struct vfs *v);
/* Checks the invariants of locks, pages and requests while no system call is under way. Calls
 * sched_fail() if one does not hold. */
void vfs_check(struct vfs *v);

/* Numbers of a run, for its report. */
struct vfs_counts {
	uint64_t requests, interrupts, forgets, notifications, stale_attr, short_reads, retries;
	uint64_t by_opcode[64];
	unsigned inodes, dentries, pages, waiting; /* at present */
};
struct vfs_counts vfs_counts(const struct vfs *v);
/* Has a kernel zeroed bytes of a write to the server's inode while the write was under way? A
 * thread does so that takes another size from an answer, and truncates the pages later (the third
 * case of doc/coherence.md). */
bool vfs_has_torn(uint64_t ino);
/* Sum of lookup counts that the kernel owes the daemon for nodeid; 0: the kernel has no such
 * inode. */
uint64_t vfs_nlookup(const struct vfs *v, uint64_t nodeid);

/* --- processes -------------------------------------------------------------------------------- */

struct process;

/* A process that works in the mount. Numbers of processes are simulated, from 5000001 on, which no
 * process of Linux has. */
struct process *proc_new(struct vfs *v, uid_t uid, gid_t gid);
/* fork(2): shares the descriptions; record locks and the lock owner are not inherited. */
struct process *proc_fork(struct process *p);
/* A fatal signal (kill -9) for all threads of p in system calls. Linux sends INTERRUPT. Linux drops
 * a request that the daemon has not read yet, and the call returns -EINTR; other requests wait for
 * their answers. Later calls that would wait return -EINTR at once, except calls of proc_exit(). */
void proc_kill(struct process *p);
/* A signal with a handler. Linux sends INTERRUPT, and an interruptible wait (F_SETLKW) ends with
 * the daemon's answer. Only calls that wait now get the signal. */
void proc_signal(struct process *p);
/* Is p killed? Is a thread of p in a system call? */
bool proc_is_killed(const struct process *p);
bool proc_is_busy(const struct process *p);
/* exit(2): unmaps and closes all. To be called by a thread of the process once the others have left
 * their system calls. Frees p. */
void proc_exit(struct process *p);
pid_t proc_pid(const struct process *p);
/* rest is called in front of each system call of p, by the thread of the call. */
void proc_set_rest(struct process *p, void (*rest)(void));
/* A process that has been in system calls since before `before`; NULL: none. locks: also one that
 * waits for a lock of a file of which another process may have a lock. */
const struct process *proc_waits_since(uint64_t before, bool locks);
void proc_set_umask(struct process *p, mode_t mask);
void proc_set_groups(struct process *p, const gid_t *groups, unsigned n); /* at most 16 */
/* The text of /proc/PID/status, /proc/PID/stat, and of /proc/PID/task/PID/... of a simulated
 * process (path is the whole path). Its length, or -ENOENT. For the functions that play open(2). */
ssize_t proc_text(const char *path, char *text, size_t size);
/* Is the path, which begins with "/proc/", of a simulated process's number, alive or not? */
bool proc_is_path(const char *path);

/* --- system calls ------------------------------------------------------------------------------
 * Each returns 0 or a count, or a negative errno. Paths begin at the mount's root, with or without
 * a
 * "/" in front; "" is the root. Descriptors are small numbers of the process. */

int sys_open(struct process *p, const char *path, int flags, mode_t mode);
int sys_creat(struct process *p, const char *path, mode_t mode);
int sys_close(struct process *p, int fd);
int sys_dup(struct process *p, int fd);
ssize_t sys_read(struct process *p, int fd, void *buf, size_t len);
ssize_t sys_pread(struct process *p, int fd, void *buf, size_t len, off_t off);
ssize_t sys_write(struct process *p, int fd, const void *buf, size_t len);
ssize_t sys_pwrite(struct process *p, int fd, const void *buf, size_t len, off_t off);
off_t sys_lseek(struct process *p, int fd, off_t off, int whence);
int sys_fsync(struct process *p, int fd);
int sys_fdatasync(struct process *p, int fd);
int sys_ftruncate(struct process *p, int fd, off_t size);
int sys_truncate(struct process *p, const char *path, off_t size);
/* mode: FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE */
int sys_fallocate(struct process *p, int fd, int mode, off_t off, off_t len);
ssize_t sys_copy_file_range(struct process *p, int from, off_t in, int to, off_t out, size_t len);

int sys_stat(struct process *p, const char *path, struct stat *st);
int sys_lstat(struct process *p, const char *path, struct stat *st);
int sys_fstat(struct process *p, int fd, struct stat *st);
int sys_access(struct process *p, const char *path, int mode);
int sys_chmod(struct process *p, const char *path, mode_t mode);
int sys_fchmod(struct process *p, int fd, mode_t mode);
int sys_chown(struct process *p, const char *path, uid_t uid, gid_t gid);
/* NULL: both now. UTIME_NOW and UTIME_OMIT are known. */
int sys_utimens(struct process *p, const char *path, const struct timespec times[2]);
int sys_futimens(struct process *p, int fd, const struct timespec times[2]);

int sys_mkdir(struct process *p, const char *path, mode_t mode);
int sys_rmdir(struct process *p, const char *path);
int sys_unlink(struct process *p, const char *path);
/* flags: RENAME_NOREPLACE, RENAME_EXCHANGE */
int sys_rename(struct process *p, const char *from, const char *to, unsigned flags);
int sys_link(struct process *p, const char *from, const char *to);
int sys_symlink(struct process *p, const char *target, const char *path);
/* Not terminated with a NUL. */
ssize_t sys_readlink(struct process *p, const char *path, char *buf, size_t size);

struct sys_dirent {
	uint64_t ino, off;
	unsigned char type; /* DT_* */
	char name[256];
};
/* One getdents64(2) of a directory that sys_open() has opened: at most max entries from its offset
 * on. The number, 0 at the end. */
int sys_getdents(struct process *p, int fd, struct sys_dirent *out, unsigned max);
/* The whole directory: opens, reads, closes. *out is from malloc(), without "." and "..". The
 * number. */
int sys_readdir(struct process *p, const char *path, struct sys_dirent **out);

/* op: LOCK_SH, LOCK_EX, LOCK_UN, with LOCK_NB or not */
int sys_flock(struct process *p, int fd, int op);
/* F_GETLK, F_SETLK, F_SETLKW, and F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW. fcntl(2)'s struct flock.
 */
struct flock;
int sys_fcntl_lock(struct process *p, int fd, int cmd, struct flock *l);
/* F_SETFL: O_APPEND, O_DIRECT. F_GETFL */
int sys_setfl(struct process *p, int fd, int flags);
int sys_getfl(struct process *p, int fd);

/* A mapping of the process; off is a multiple of the page. shared: MAP_SHARED. A number, or a
 * negative errno. */
int sys_mmap(struct process *p, int fd, off_t off, size_t len, bool shared, bool writable);
int sys_munmap(struct process *p, int map);
int sys_msync(struct process *p, int map);
/* Loads and stores of bytes by the program at an offset of the mapping. 0; -EFAULT: SIGBUS. */
int sys_load(struct process *p, int map, size_t at, void *buf, size_t len);
int sys_store(struct process *p, int map, size_t at, const void *buf, size_t len);

ssize_t sys_getxattr(struct process *p, const char *path, const char *name, void *buf, size_t size);
int sys_setxattr(struct process *p, const char *path, const char *name, const void *value,
	size_t size, int flags);

struct sys_statfs {
	uint64_t blocks, bfree, bavail, files, ffree;
	uint32_t bsize, namelen;
};
int sys_statfs(struct process *p, const char *path, struct sys_statfs *out);

#endif
