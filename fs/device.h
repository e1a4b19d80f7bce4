/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * device: reading requests from the FUSE device, and writing answers to it.
 *
 * A worker that has nothing to do sleeps in read(). Behind a request whose message is kept back it
 * reads what else there is (worker.h), and that must not sleep. Which of both a read() does is a
 * property of the open file, which all share, so there are two of the same connection to the
 * kernel: the session's, which sleeps, and a clone that does not, for rows. (To ask poll() instead
 * would not do: another worker may take what there was.) The kernel takes an answer only by the
 * open file that the request was read from, so it is kept in mind what came by the clone.
 *
 * Without a clone, which needs the right to open the device, there are no rows.
 */
#ifndef RNFS_FS_DEVICE_H
#define RNFS_FS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Requests that were read in rows and are not answered; there are no more rows then. */
#define DEVICE_ROW_MAX 256

struct device;

/* Of a session's open file fd, which stays the caller's and outlives it; it is made to sleep. NULL
 * when out of memory. */
struct device *device_new(int fd);
/* With a clone, or what else does not sleep, which is closed with the device. -1: none. */
struct device *device_of(int fd, int row);
/* All is answered, or never will be. Accepts NULL, returns NULL. */
struct device *device_free(struct device *d);

/* As read(). in_row: EAGAIN when nothing can be read at once. */
ssize_t device_read(struct device *d, void *buf, size_t len, bool in_row);
/* As writev(), of an answer, which begins with a struct fuse_out_header, or of a notification. */
ssize_t device_writev(struct device *d, const struct iovec *iov, int count);

#endif
