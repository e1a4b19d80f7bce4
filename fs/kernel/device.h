/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * device: reading requests from the FUSE device, and writing answers to the device.
 *
 * A worker that has nothing to do sleeps in read(). A worker that has a message kept back looks for
 * more requests (worker.h), and that read() must not sleep. Whether read() sleeps is a property of
 * the open file, which all workers share. So there are two open files of the same connection to the
 * kernel: the session's, which sleeps, and a clone that does not, for rows. (poll() would not do:
 * another worker may take the request in between.) The kernel takes an answer only from the open
 * file that the request was read from, so the device notes the requests from the clone.
 *
 * Without a clone, which needs the right to open the device, there are no rows.
 */
#ifndef RNFS_FS_KERNEL_DEVICE_H
#define RNFS_FS_KERNEL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Most unanswered requests from rows; at this number no further row begins. */
#define DEVICE_ROW_MAX 256

struct device;

/* For a session's open file fd, which stays the caller's and outlives the device; makes fd sleep.
 * NULL when out of memory. */
struct device *device_new(int fd);
/* The same with row, a clone or another open file that does not sleep, which is closed with the
 * device. -1: none. */
struct device *device_of(int fd, int row);
/* All requests have been answered, or never will be. Accepts NULL, returns NULL. */
struct device *device_free(struct device *d);

/* Has the connection of the FUSE device fd to the kernel ended, as after umount(8)? Any thread. */
bool device_gone(int fd);

/* The open file for rows, which stays the device's; -1: none. */
int device_row(const struct device *d);
/* Did the request with number unique, which is not answered, come by a row? Accepts NULL: false. */
bool device_is_row(struct device *d, uint64_t unique);
/* A request that a former daemon has read by d's row is to be answered by d. False: there is no
 * row, or too many such requests. Accepts NULL: false. */
bool device_inherit_row(struct device *d, uint64_t unique);

/* As read(). in_row: EAGAIN when no request can be read at once. */
ssize_t device_read(struct device *d, void *buf, size_t len, bool in_row);
/* As writev(). Sends an answer, which begins with a struct fuse_out_header, or a notification. */
ssize_t device_writev(struct device *d, const struct iovec *iov, int count);

#endif
