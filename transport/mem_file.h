/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mem_file: the memory file of a pool (mem.h) that a successor of the daemon can take over.
 *
 * The file has far more addresses than memory. It is mapped once, as a whole. Ranges of the file
 * are taken and given; a range that is given loses its memory. The successor maps the same file,
 * keeps the ranges with data of the former daemon, and gives the rest. So no data is copied, and
 * one file serves all daemons of a mount.
 *
 * Memory that is *present*. The kernel copies requests into the daemon's memory, and answers out of
 * that memory. If the copy meets a page that is not present while the daemon is being killed, the
 * kernel does not bring the page in: it ends the request with EIO, and the program sees an error
 * that a successor cannot undo. So all memory of a taken range is made present, and is locked if
 * the process may lock so much.
 *
 * The caller serialises all calls, except mem_present(), mem_file_dry() and mem_file_offset().
 */
#ifndef RNFS_TRANSPORT_MEM_FILE_H
#define RNFS_TRANSPORT_MEM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/err.h"

struct mem_file;

/* Makes [p, p + len) present and writable, and keeps the bytes. False: no memory. Any thread. */
bool mem_present(void *p, size_t len);

/* A file with at least `bytes` of addresses. fd: the file of a former daemon, which stays the
 * caller's; -1: a new file. NULL with *e set: no memory, or fd is no such file. */
struct mem_file *mem_file_new(size_t bytes, int fd, struct err *e);
/* The file and its memory stay while another descriptor is open. Accepts NULL, returns NULL. */
struct mem_file *mem_file_free(struct mem_file *f);
/* The descriptor stays the file's. */
int mem_file_fd(const struct mem_file *f);

/* Takes a range of len bytes, present. NULL: no memory, or no addresses. */
void *mem_file_take(struct mem_file *f, size_t len);
/* Takes the range [off, off + len), present, with the bytes of the former daemon. NULL: no memory,
 * or the range is not free, not in the file, or not of whole pages. The bytes then stay in the
 * file. */
void *mem_file_keep(struct mem_file *f, uint64_t off, size_t len);
/* Ends a range from mem_file_take() or mem_file_keep(). */
void mem_file_give(struct mem_file *f, void *p);
/* Ends a range from mem_file_keep(). The bytes stay in the file, for another successor. */
void mem_file_let_go(struct mem_file *f, void *p);
/* Gives the memory of all ranges that are not taken back to the system. */
void mem_file_give_rest(struct mem_file *f);
/* Gives the memory of whole pages of a range back to the system. The range stays taken: use
 * mem_present() before the next use. Any thread. */
void mem_file_dry(const struct mem_file *f, void *p, size_t len);
/* Where p, an address in a range, lies in the file. Any thread. */
uint64_t mem_file_offset(const struct mem_file *f, const void *p);

#endif
