/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * descriptors: the simulated ones. read(2), write(2), poll(2), fcntl(2), dup(2), close(2) and their
 * like of the product come here: a number from DESCRIPTORS_FIRST on is a simulated descriptor, any
 * other goes to the system.
 */
#ifndef RNFS_SIMULATION_DESCRIPTORS_H
#define RNFS_SIMULATION_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define DESCRIPTORS_FIRST 2000
#define DESCRIPTORS_MOST  4096 /* at a time */

/* An open file description: shared by the descriptors that dup(2) makes of one. */
struct description {
	const struct description_ops *ops;
	void *of;     /* the object's own */
	int flags;    /* O_NONBLOCK, O_APPEND and the access mode; F_SETFL changes them */
	off_t offset; /* of a file */
	unsigned refs;
	unsigned process; /* the maker: sched_process() */
	bool ended;	  /* closed, though a call still uses the description */
	int lease;	  /* set by F_SETLEASE; no process breaks a lease */
};

/* Functions return a count or 0, or a negative errno. NULL: EINVAL. None waits: -EAGAIN where the
 * description is not ready, and the caller waits if it is not O_NONBLOCK. */
struct description_ops {
	const char *name; /* "socket" */
	ssize_t (*read)(struct description *d, const struct iovec *iov, int n);
	ssize_t (*write)(struct description *d, const struct iovec *iov, int n);
	/* of files: at an offset */
	ssize_t (*pread)(struct description *d, const struct iovec *iov, int n, off_t off);
	ssize_t (*pwrite)(struct description *d, const struct iovec *iov, int n, off_t off);
	/* The present POLLIN and so on. *at: lowered to the time of the next change without a call
	 * (bytes under way arrive then). NULL: always readable and writable. */
	short (*events)(struct description *d, uint64_t *at);
	void (*close)(struct description *d); /* the last descriptor has gone */
};

/* A new descriptor, with the lowest free number. of is d's from now on. Returns the number, or
 * -EMFILE, and then of is still the caller's. */
int descriptor_add(const struct description_ops *ops, void *of, int flags);
/* The description of fd; NULL: fd is not a simulated descriptor. Valid while fd is open. */
struct description *descriptor_get(int fd);
/* Is the number in the simulated range? */
static inline bool descriptor_is_ours(int fd)
{
	return fd >= DESCRIPTORS_FIRST && fd < DESCRIPTORS_FIRST + DESCRIPTORS_MOST;
}

/* The readiness of a description may have changed: all that poll(2) or read(2) wait for look again.
 */
void descriptors_changed(void);

/* Closes all descriptors of a process that has been killed. Not a point. */
void descriptors_close_of(unsigned process);

/* How many are open. All must be closed at the end of a run. */
unsigned descriptors_open(void);

#endif
