/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_target: the place of the lines of the log.
 *
 *     open (before the fork; may fail) -> use (before the fork, or once the daemon stands alone)
 *
 * Until use() lines go to standard error. There is one target in a process. Any thread may write to
 * the target at any time, also during a change: a change replaces the threads' descriptor in one
 * step, so there is no lock.
 *
 * A daemon in the background without a given target takes the first of these that exists:
 *  1. syslog (/dev/log);
 *  2. the journal;
 *  3. its standard error, if it is a regular file, or is also that of process 1: a container's log;
 *  4. the standard error of process 1, if it is a pipe or a regular file and may be opened;
 *  5. the file "log" in the directory of state_dir.h;
 *  6. its standard error, of any kind.
 * In 3 another pipe does not count: the program that made the pipe may read to its end, which does
 * not come as long as the daemon lives. In 6 such a program waits: the other choice is to lose
 * lines.
 */
#ifndef RNFS_TRANSPORT_LOG_TARGET_H
#define RNFS_TRANSPORT_LOG_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include "transport/err.h"
#include "transport/log_entry.h"

enum log_to {
	LOG_TO_AUTO, /* foreground: standard error; background: see above */
	LOG_TO_STDERR,
	LOG_TO_SYSLOG,
	LOG_TO_JOURNAL,
	LOG_TO_FILE,
};

/* As the command line has it; zeroed: LOG_TO_AUTO and text. */
struct log_choice {
	enum log_to to;
	bool json;
	char file[PATH_MAX]; /* of LOG_TO_FILE, absolute */
};

#define LOG_TARGET_WORDS "stderr, syslog, journal or the absolute path of a file"
#define LOG_FORM_WORDS	 "text or json"

/* Reads a word of LOG_TARGET_WORDS, or of LOG_FORM_WORDS, into c. False: an unknown word. */
bool log_choice_target(struct log_choice *c, const char *word);
bool log_choice_form(struct log_choice *c, const char *word);

/* Makes sure of the target. Opens a file, which is made with mode 0600. 0, or -1 with *e set: the
 * file cannot be opened, no process listens at /dev/log, ... One thread. */
int log_target_open(const struct log_choice *c, struct err *e);

/* Is c a file in dir, which is a path as of realpath(3), or below it? */
bool log_target_is_in(const struct log_choice *c, const char *dir);

#define LOG_TARGET_SAID (PATH_MAX + 100)

/* From now on lines go to the target; a process in the foreground gives LOG_TO_STDERR for
 * LOG_TO_AUTO. said, of PATH_MAX + 100 bytes, becomes one sentence if the user cannot guess the
 * log's place, else "". One thread; others may be writing lines. */
void log_target_use(enum log_to to, const char *program, char *said);

/* The current target of lines. Standard error must stay open if it is LOG_TO_STDERR. */
enum log_to log_target_used(void);

/* Opens the file anew by its path, so that the user may move or remove the former file. False: the
 * file cannot be opened, with errno; lines then go to the former file. */
bool log_target_reopen(void);

/* Writes e in the target's own form, or as JSON. Lines that a file or pipe cannot take are counted;
 * the next line that it takes is preceded by their number. */
void log_target_write(const struct log_entry *e, bool json);

/* For tests: the target of LOG_TO_AUTO in the background, if the tree below root were the system's.
 * path, of PATH_MAX bytes, is filled for LOG_TO_FILE. */
enum log_to log_target_find(const char *root, char *path);

#endif
