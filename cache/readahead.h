/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * readahead: what the readers of an open file will want next.
 *
 * Several readers may go through one open file, each a stream: a place where it is, and a window
 * behind that which is asked for ahead. The requests of one reader come from several threads, in
 * almost any order, so a request belongs to a stream if it lies near its place. A request that
 * belongs to none begins one, in the stead of that which was used longest ago.
 *
 *     first request   at the beginning of the file: likely a file that is read from end to end. It
 *                     is read into the cache, with as much again ahead if it is a large one.
 *                     Elsewhere: nobody knows; it is not worth a block.
 *     second          it is a stream: the window opens.
 *
 * The window grows twofold each time that its data is asked for, up to READAHEAD_EASY; further only
 * if the reader had to wait for data that had been asked for ahead: then it was not far enough. So
 * it comes to what the reader takes during one round trip, whatever that is. When there is not
 * memory enough for the windows of all readers they become smaller.
 *
 * Pure: no clock, no memory, no lock. The caller sees to it that one thread at a time calls.
 */
#ifndef RNFS_CACHE_READAHEAD_H
#define RNFS_CACHE_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define READAHEAD_STREAMS 4
#define READAHEAD_MIN	  (256u << 10) /* bytes of the first window */
#define READAHEAD_EASY	  (2u << 20)

struct readahead_stream {
	uint64_t place;	 /* behind the last byte that was read */
	uint64_t ahead;	 /* up to here data has been asked for */
	uint32_t window; /* bytes; 0: not a stream yet */
	uint32_t used;	 /* when, counted in requests; 0: never */
};

struct readahead {
	struct readahead_stream stream[READAHEAD_STREAMS];
	uint32_t max;  /* bytes that a window may have; 0: nothing is read ahead */
	uint32_t now;  /* requests so far */
	uint32_t most; /* bytes that a window may have now */
};

struct readahead_plan {
	bool cache;	   /* the request itself is worth blocks */
	uint64_t from, to; /* what to ask for ahead; empty if to <= from */
};

void readahead_init(struct readahead *r, uint32_t max);
/* A request for len bytes at off of a file that is size bytes long, as far as is known. */
struct readahead_plan readahead_note(
	struct readahead *r, uint64_t off, uint32_t len, uint64_t size);
/* Somewhere data that was asked for ahead has made room for other before it was read: all readers
 * together ask for more than there is memory for. Halves what a window may have; who waits gets it
 * back little by little. */
void readahead_wasted(struct readahead *r);
/* The request had to wait for data that was being read. */
void readahead_waited(struct readahead *r, uint64_t off);

#endif
