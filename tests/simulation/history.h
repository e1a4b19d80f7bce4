/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * history: which files a name has stood for, and which of them a program may find by the name.
 *
 * Each successful call that changes a name is a change: at some moment between the call's begin and
 * its end the name began to stand for one file of a set. The set has more than one file where calls
 * overlap. File 0 is no file. A mount may find the name's state of some moment of a call, or an
 * older one that the mount may still believe: older than a change of another mount by at most the
 * time that the mount believes names for, and never older than a change of its own that had ended
 * when the call began.
 */
#ifndef RNFS_SIMULATION_HISTORY_H
#define RNFS_SIMULATION_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_FILES 256
#define HISTORY_MOST  400

struct history_set {
	uint64_t word[HISTORY_FILES / 64];
};

/* A moment: `order` is unique. */
struct moment {
	uint64_t order, time;
};

struct change {
	struct moment begin, end; /* end: of the far future while the call is under way */
	struct history_set files;
	const struct history *from; /* and the files of this name, while a rename is under way */
	unsigned mount;
	bool maybe; /* the server may not have carried the call out */
	/* A rename over a file that the mount has open gives that file another name first: to other
	 * mounts the name may stand for no file during the call. */
	bool gap;
};

enum history_end { HISTORY_DONE, HISTORY_MAYBE, HISTORY_FAILED };

struct history {
	char name[24];
	unsigned n;
	struct change change[HISTORY_MOST];
};

void history_new(struct history *h, const char *name);
struct moment moment_now(void);

void set_add(struct history_set *s, unsigned file);
bool set_has(const struct history_set *s, unsigned file);
bool set_meet(const struct history_set *a, const struct history_set *b); /* a file in common */
void set_add_all(struct history_set *s, struct history_set files);
/* A file other than 0? */
bool set_has_any(const struct history_set *s);

/* A call of the mount begins that shall make the name stand for one of the files, or for the file
 * of another name (NULL: no rename). */
struct change *history_begin(
	struct history *h, unsigned mount, struct history_set files, const struct history *from);
void history_end(struct change *c, enum history_end how);
/* The files that the name may stand for, to a call of the mount between the moments. believes: how
 * long the mount believes a name. */
struct history_set history_allows(const struct history *h, struct moment begin, struct moment end,
	unsigned mount, uint64_t believes);

#endif
