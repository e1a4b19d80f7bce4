/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * space: holes, reserved space and copies of files, by the means of the local file system, for RFC
 * 7862. Descriptors are open for the access that a function needs. Functions that return an int
 * give 0 or -errno; -EOPNOTSUPP: the file system cannot do so.
 */
#ifndef RNFS_SERVE_OPS_SPACE_H
#define RNFS_SERVE_OPS_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "contrib/serve/export/object.h"

#define SPACE_COPY_MAX                                                                             \
	(8u << 20) /* most bytes that one call copies, so that the call does not take too long */

/* Finds the beginning of the next hole or data at or behind offset. *eof: there is none before the
 * end of the file; *pos is then the end. -ENXIO: offset is not in the file. */
int space_seek(int fd, uint64_t offset, bool hole, uint64_t *pos, bool *eof);
/* Reserves the range; the file grows if it ends before the range does. -EFBIG: the range goes
 * beyond the largest file. */
int space_allocate(int fd, uint64_t offset, uint64_t length);
/* Makes the range a hole; the file's size stays. A range that goes beyond the largest file is cut
 * to the end of the file. */
int space_punch(int fd, uint64_t offset, uint64_t length);
/* Copies up to length bytes, at most SPACE_COPY_MAX. Returns the number of bytes, 0 at the end of
 * the source; or -errno if there is not even one. */
ssize_t space_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length);
/* Makes a range of one file share the blocks of another; length 0: up to the source's end. */
int space_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length);
/* The number of which offsets and lengths of space_clone() must be multiples. 0: o's file system
 * does not share blocks, as far as is known. */
uint32_t space_clone_size(const struct obj *o);

#endif
