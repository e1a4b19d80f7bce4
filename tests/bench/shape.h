/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * shape: the work of a benchmark program, the time for it, and the report: with the same words for
 * all programs, so that their figures can be compared.
 *
 *     PROGRAM [OPTION]... SHAPE
 *
 * Shapes: read, write, rand, create, unlink.
 *   read    the file from its beginning to its end, then again; opened and closed each time
 *   write   the same, with fsync (COMMIT) before each close
 *   rand    blocks of the file in an order that meets each once, then all again
 *   create  new files are made and closed
 *   unlink  files made before are removed
 *
 * Options: -b BYTES of a block, -s BYTES of the file, -q DEPTH, -j JOBS, -t SECONDS, -n FILES.
 * Sizes may end with K, M or G.
 *
 * All ends when the time is over (a pass of writes with its fsync), but not before one block or
 * file is done; create and unlink also when all files are. One line on standard output:
 *
 *     rate=R ops=N bytes=N seconds=S cpu=S
 *
 * rate: bytes a second, or operations a second where blocks are smaller than 64 KiB or there are
 * none.
 */
#ifndef RNFS_TESTS_BENCH_SHAPE_H
#define RNFS_TESTS_BENCH_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum shape_kind { SHAPE_READ, SHAPE_WRITE, SHAPE_RAND, SHAPE_CREATE, SHAPE_UNLINK };

struct shape {
	enum shape_kind kind;
	uint32_t block; /* bytes */
	uint64_t size;	/* of the file, whole blocks */
	unsigned depth, jobs;
	double seconds;
	unsigned files;
};

struct shape_result {
	uint64_t ops, bytes;
	double seconds;
};

#define SHAPE_OPTIONS	"b:s:q:j:t:n:"
#define SHAPE_MAX_DEPTH 64

void shape_init(struct shape *s);
/* One option of SHAPE_OPTIONS. False: another option, or an invalid value. */
bool shape_option(struct shape *s, int opt, const char *value);
/* The shape by its name, and defaults for the options. False: no such shape, or a value that does
 * not suit the shape. */
bool shape_set(struct shape *s, const char *name);

static inline bool shape_has_data(const struct shape *s)
{
	return s->kind <= SHAPE_RAND;
}

/* The i-th block: i itself, or, for rand, one of [0, n) in an order that begins elsewhere for each
 * seed. */
uint64_t shape_block(const struct shape *s, uint64_t i, uint64_t n, uint64_t seed);

double shape_now(void); /* seconds, monotonic */
void shape_print(const struct shape *s, const struct shape_result *r);

#endif
