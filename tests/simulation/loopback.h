/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * loopback: a small daemon for try-vfs, with a file system in memory. Its threads read raw requests
 * and answer late, in any order.
 */
#ifndef RNFS_SIMULATION_LOOPBACK_H
#define RNFS_SIMULATION_LOOPBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct loopback_params {
	int fd;
	unsigned threads, valid_s;		     /* valid_s: of names and attributes */
	bool keeps, auto_inval, notifies, truncates; /* truncates: atomic_o_trunc */
	/* One thread, which answers at once and in order. Any answer follows from the requests. */
	bool ordered;
	bool none_valid;    /* ordered: a name that is not there is told with a time */
	unsigned readahead; /* ordered: pages at most */
	unsigned pages;	    /* ordered: pages of a request at most */
	bool noflush;	    /* ordered: FOPEN_NOFLUSH of files that are open for reading */
	bool kills;	    /* ordered: handle_killpriv, not handle_killpriv_v2 */
	/* ordered: without async_read, async_dio */
	bool waits_read, waits_direct;
};

void loopback_start(const struct loopback_params *p);
/* The device has ended: joins the threads. Fails if a lookup was not given back, or a file is open.
 */
void loopback_stop(void);
/* --- an ordered daemon ------------------------------------------------------------------------ */

/* Waits until the kernel has no request for the daemon. */
void loopback_settle(void);
/* Writes the requests since the last call, a line each, and sums of FORGETs at their end. */
void loopback_tell(FILE *out);
void loopback_tell_sorted(FILE *out);
/* The next n requests of the opcode end with the (positive) errno, READs and WRITEs with 0 after a
 * part of their bytes; but no WRITE of pages that a
 * mapping has changed. */
void loopback_fail(uint32_t opcode, int error, unsigned n);

/* Another client of the file system: the kernel is not told. name: of the root's. False: there is
 * no such file. */
bool loopback_write(const char *name, size_t off, size_t len, uint8_t value);
bool loopback_cut(const char *name, size_t size);
bool loopback_remove(const char *name);
/* A new file, in place of an old one. */
void loopback_make(const char *name, size_t size, uint8_t value);

/* Notifications; 0, or a negative errno of write(2). */
int loopback_inval_inode(const char *name, int64_t off, int64_t len);
int loopback_inval_entry(const char *name, bool expire);
int loopback_delete(const char *name);

/* Lookups that the kernel holds of other inodes than the root. */
unsigned long loopback_lookups(void);

#endif
