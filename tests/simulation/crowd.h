/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd: programs that use the mounts in one way, and the judge of the bytes, sizes, names and
 * errors that these programs see. A run plays some crowds at the same time, each with files of its
 * own (programs.h).
 *
 * A program acts in rounds. Each round is a process of its own, which begins without an open file;
 * the round's end is exit(2). A judge ends the run at the first violation.
 */
#ifndef RNFS_SIMULATION_CROWD_H
#define RNFS_SIMULATION_CROWD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/simulation/kernel.h"
#include "tests/simulation/vfs.h"

#define STAGE_MOUNTS 3

/* The mounts of a run. */
struct stage {
	unsigned mounts;
	struct kernel *k[STAGE_MOUNTS];
	const char *options[STAGE_MOUNTS]; /* of each mount, as rnfs -o takes them */
	unsigned process[STAGE_MOUNTS];	   /* of each mount (sched_process()) */
	bool calm;			   /* the server neither ends nor is silent */
};

struct program {
	pthread_t thread;
	const struct crowd *crowd;
	const struct stage *stage;
	struct kernel *k;
	struct process *proc; /* of the present round */
	unsigned number;      /* in the run */
	unsigned nth;	      /* in the crowd, from 0 */
	unsigned mount, rounds;
};

struct crowd {
	const char *name;
	unsigned each; /* programs on each mount */
	bool alone;    /* breaks the server in a way that programs of other crowds do not expect */
	void (*begin)(const struct stage *s); /* before the first round. NULL: nothing to do */
	void (*act)(struct program *p);	      /* a round */
	void (*end)(const struct stage *s);   /* all rounds have ended. NULL: nothing to look at */
};

/* Ends the run: program p has seen a violation. */
__attribute__((format(printf, 2, 3), noreturn)) void wrong(
	const struct program *p, const char *fmt, ...);
/* A call that must not fail: ends the run if res is a negative errno. */
long must(const struct program *p, long res, const char *call, const char *name);
/* mkdir(2) of a new directory. A power cut may take the answer, and the time that marks the
 * directory as made by this call (nfsproto/common/nfs_unsure.h), but not the directory. */
void make_dir(const struct program *p, const char *path);
/* pread(2), without a lock, of a file that a program of another mount changes. A read across the
 * end of the file may end with EINTR (doc/coherence.md): the program reads again. */
long read_beside(const struct program *p, int fd, void *buf, size_t n, off_t off, const char *name);
/* May the mount of p miss the last change of the file, since the server tells times in ticks? */
bool program_is_blind(const struct program *p, const char *name);
/* Has the mount of p the option, such as "noac"? */
bool program_has(const struct program *p, const char *option);

#endif
