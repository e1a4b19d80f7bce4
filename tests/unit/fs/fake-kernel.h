/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-kernel: asks a mount on the server of fake-nfs.h as the kernel does, without a kernel. A
 * request is sent in the form of /dev/fuse; a worker reads the request and passes it through
 * libfuse.
 * The answer is the one that libfuse writes. One for the process.
 */
#ifndef RNFS_TESTS_FAKE_KERNEL_H
#define RNFS_TESTS_FAKE_KERNEL_H

#include <linux/fuse.h>

#include "fs/known/fs.h"
#include "tests/unit/fs/fake-nfs.h"

#define KERNEL_ROOT 1

/* Mounts, with one worker. The knobs of the server are reset, but operations end at once, and the
 * server has locks. */
struct fs *kernel_mount(void);
/* All requests must have been answered, or end with the client. */
void kernel_unmount(void);

/* The asking thread, as the kernel names the thread; 0, as at first: a thread unknown to /proc, so
 * an interrupt counts as the thread's end. */
extern pid_t kernel_tid;
/* A process that has been killed, and is still a zombie: for the caller to wait for. */
pid_t kernel_killed_process(void);

struct answer {
	int error;	 /* 0 or a negative errno */
	unsigned pieces; /* of memory that the answer was written from, without the header */
	size_t len;	 /* bytes, without the header */
	uint8_t *data;	 /* until the next kernel_wait() */
};

/* Sends a request: an argument of len bytes, then `more` of more_len. Returns the request's
 * number. */
uint64_t kernel_send(uint32_t opcode, uint64_t node, const void *arg, size_t len, const void *more,
	size_t more_len);
/* The next request has been sent before, with that number, to a daemon that was killed. */
void kernel_sends_again(uint64_t number);
/* The next request is sent, but no worker has begun it before kernel_kept_comes(). */
void kernel_keep_next(void);
void kernel_kept_comes(void);
/* Is the request answered? */
bool kernel_answered(uint64_t number);
/* The user of the requests that are sent from now on. */
extern uint32_t kernel_uid;

/* Waits for the answer. */
struct answer kernel_wait(uint64_t number);
/* Both; returns the error. Up to out_len bytes of the answer in out, which may be NULL. */
int kernel_ask(uint32_t opcode, uint64_t node, const void *arg, size_t len, const void *more,
	size_t more_len, void *out, size_t out_len);
/* The thread of the request has got a signal. */
void kernel_interrupt(uint64_t number);
/* How many notifications of this kind (FUSE_NOTIFY_*) have come. */
unsigned kernel_notified(int code);

/* --- requests of programs; 0 (or a count) or a negative errno
 * ----------------------------------- */

int kernel_lookup(uint64_t dir, const char *name, struct fuse_entry_out *out);
int kernel_mkdir(uint64_t dir, const char *name, struct fuse_entry_out *out);
int kernel_create(uint64_t dir, const char *name, int flags, uint64_t *node, uint64_t *fh);
int kernel_open(uint64_t node, int flags, uint64_t *fh);
int kernel_read(uint64_t node, uint64_t fh, uint64_t off, void *buf, uint32_t size);
uint64_t kernel_send_read(uint64_t node, uint64_t fh, uint64_t off, uint32_t size);
/* flags: of the descriptor. */
int kernel_write(
	uint64_t node, uint64_t fh, uint64_t off, const void *buf, uint32_t size, int flags);
uint64_t kernel_send_write(uint64_t node, uint64_t fh, uint64_t off, const void *buf, uint32_t size,
	int flags, uint32_t write_flags);
int kernel_flush(uint64_t node, uint64_t fh);
int kernel_fsync(uint64_t node, uint64_t fh);
int kernel_release(uint64_t node, uint64_t fh);
int kernel_unlink(uint64_t dir, const char *name);
int kernel_rmdir(uint64_t dir, const char *name);
int kernel_rename(uint64_t dir, const char *name, uint64_t to_dir, const char *to_name);
int kernel_link(uint64_t node, uint64_t dir, const char *name, struct fuse_entry_out *out);
int kernel_getattr(uint64_t node, struct fuse_attr *out);

#endif
