/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * truth: the size and bytes of a file as its programs have made them, and the calls that compare.
 *
 * The caller has the file alone, or shares the file with readers only: by a lock of the file, or
 * because other programs have closed the file before the caller opened. A call that changes the
 * file changes the truth, too. Functions end the run where a program sees other bytes.
 */
#ifndef RNFS_SIMULATION_TRUTH_H
#define RNFS_SIMULATION_TRUTH_H

#include "tests/simulation/crowd.h"

#define TRUTH_MOST 60000u

struct truth {
	char name[24];
	size_t size;
	uint8_t bytes[TRUTH_MOST];
};

void truth_new(struct truth *t, const char *name, unsigned number);
/* Compares n bytes that a program has got from off on. */
void truth_compare(
	const struct program *p, const struct truth *t, const uint8_t *got, size_t off, size_t n);
/* A size that the call has told. */
void truth_check_size(const struct program *p, const struct truth *t, off_t size, const char *call);
/* Reads a part of the seed's choice, or all. Looks at the size now and then. */
void truth_read(struct program *p, const struct truth *t, int fd);
void truth_read_all(struct program *p, const struct truth *t, int fd);
/* Writes some bytes at a place of the seed's choice, up to `gap` bytes behind the end. */
void truth_write(struct program *p, struct truth *t, int fd, size_t gap);
/* The truth of a write: `byte` at off, n times. */
void truth_wrote(struct truth *t, size_t off, size_t n, uint8_t byte);
/* The truth of a truncation. */
void truth_cut(struct truth *t, size_t size);
/* The truth of zeros from off to end; the size stays. */
void truth_zero(struct truth *t, size_t off, size_t end);
/* fsync(2). False: the server has lost data with its power, and the call has said so (EIO); the
 * file is empty then. */
bool truth_sync(struct program *p, struct truth *t, int fd);
/* Waits, for a minute at most, until the server's file is as the truth says. */
void truth_wait_disk(const struct truth *t);
/* All programs have closed the file: the server's file is as the truth says. */
void truth_check_disk(const struct truth *t);

#endif
