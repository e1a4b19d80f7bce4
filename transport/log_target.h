/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_target: where the lines of the log go.
 *
 *     open (before the fork; may fail) -> use (before the fork, or once the daemon stands alone)
 *
 * Until use() lines go to standard error. There is one target in a process; any thread may write to
 * it at any time, also while it changes: a change replaces the descriptor that the threads write to
 * in one step, so there is no lock.
 *
 * A daemon in the background that was given no target takes the first of these that is there:
 *  1. syslog (/dev/log);
 *  2. the journal;
 *  3. its standard error, if that is a regular file, or is also that of process 1: a container's
 * log;
 *  4. the standard error of process 1, if that is a pipe or a regular file and may be opened;
 *  5. the file "log" in the directory of state_dir.h;
 *  6. its standard error, whatever it is.
 * In 3 another pipe does not count: the program that made it may read it to its end, which does not
 * come as long as the daemon lives. In 6 such a program waits: the other choice is to lose lines.
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

/* Take a word of LOG_TARGET_WORDS, or of LOG_FORM_WORDS, into c. False: it is none of them. */
bool log_choice_target(struct log_choice *c, const char *word);
bool log_choice_form(struct log_choice *c, const char *word);

/* Makes sure of the target, and opens it if it is a file, which is made with mode 0600. 0, or -1
 * with *e set: the file cannot be opened, nobody listens at /dev/log, ... One thread. */
int log_target_open(const struct log_choice *c, struct err *e);

/* Is c a file in dir, which is a path as of realpath(3), or below it? */
bool log_target_is_in(const struct log_choice *c, const char *dir);

#define LOG_TARGET_SAID (PATH_MAX + 100)

/* From now on lines go there; a process in the foreground gives LOG_TO_STDERR for LOG_TO_AUTO.
 * said, of PATH_MAX + 100 bytes, becomes one sentence where the log is in a place that the user
 * cannot guess, else "". One thread; others may be writing lines. */
void log_target_use(enum log_to to, const char *program, char *said);

/* Where lines go now. Standard error must stay open if that is LOG_TO_STDERR. */
enum log_to log_target_used(void);

/* Opens the file anew by its path, so that the former one may be moved or removed. False: it cannot
 * be opened, with errno; lines then go where they went. */
bool log_target_reopen(void);

/* Writes e in the target's own form, or as JSON. A line that a file or pipe cannot take is counted,
 * and how many they were is said in front of the next one that it takes. */
void log_target_write(const struct log_entry *e, bool json);

/* For tests: what LOG_TO_AUTO would choose in the background if the tree below root were the
 * system's. path, of PATH_MAX bytes, is filled for LOG_TO_FILE. */
enum log_to log_target_find(const char *root, char *path);

#endif
