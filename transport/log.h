/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log: lines for the operator of the program. log_target.h tells the place of the lines,
 * log_entry.h their form.
 *
 * Control path (connections, sessions, mounts) and data path (each message) are switched
 * separately: LOG_L_CTRL is `-d`, LOG_L_DATA is `-o debug=data`.
 *
 * A peer that could make a process log without end would fill a disk, or hide one line among many.
 * So log_error(), log_warn() and log_info() leave lines out when one place has too many, and say
 * how many. Lines that must always be seen have functions of their own.
 */
#ifndef RNFS_TRANSPORT_LOG_H
#define RNFS_TRANSPORT_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "transport/log_entry.h"
#include "transport/log_limit.h"
#include "transport/log_target.h"

/* Sets the program's name and the highest level that is printed. One thread; others may be logging
 * when only the level changes. */
void log_init(const char *program, enum log_level max);

/* The further names in a JSON object and an entry of the journal, beside the program; NULL: none.
 * The strings stay the caller's, and stay. Before other threads log. */
void log_of(const char *source, const char *mount);

/* From now on lines go to the target of c, no longer to standard error, for a process in the
 * foreground or in the background. log_target_open() has taken c. said, of LOG_TARGET_SAID bytes:
 * as for log_target_use(). Other threads may be logging. */
void log_begin(const struct log_choice *c, bool background, char *said);

/* After SIGHUP: if the log is a file that the user chose, opens the file anew by its name, as
 * logrotate(8) wants. */
void log_reopen(void);

/* Keeps lines back from now on, so that one sentence can tell of a failing step; only the last line
 * is remembered. No effect while debugging lines are printed. Not nested. */
void log_hold(void);
/* Ends log_hold(). last gets the remembered line, cut to size, or "". */
void log_release(char *last, size_t size);

/* "error", "warn", "info", "ctrl" or "data"; and the level of a name, -1: there is none. */
const char *log_level_name(enum log_level level);
int log_level_of(const char *name);
/* Sets the highest level that is printed, from now on. Any thread. */
void log_set_level(enum log_level max);

extern _Atomic int log_max_level; /* an enum log_level */

/* A place in the source with a line that may be said over and over. Each place has one struct; the
 * struct is log.c's. */
struct log_site {
	struct log_limit limit;
	unsigned left_out; /* lines since the last one that was said */
	enum log_level level;
	char like[120];	       /* the beginning of a left-out line */
	struct log_site *next; /* in the list of those with lines left out */
};

/* Any thread. One line, no trailing newline in fmt. Bytes chosen by a peer go through quote.h, and
 * control characters never get into the log. Preserves errno. */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *fmt, ...);
/* The same, also while lines are held (log_hold()). */
__attribute__((format(printf, 2, 3))) void log_line_now(enum log_level level, const char *fmt, ...);
/* As log_line(), but within the limits of log_limit.h: further lines are counted instead. The
 * number of left-out lines is said in their place: with the first line of any kind after the span,
 * by log_tell(), or at the end. */
__attribute__((format(printf, 3, 4))) void log_site_line(
	struct log_site *site, enum log_level level, const char *fmt, ...);

/* Says how many lines were left out in finished spans; at_end: in all spans. Any thread; to be
 * called now and then. The normal end of the process calls it. */
void log_tell(bool at_end);

#define log_is_on(level)                                                                           \
	((int)(level) <= atomic_load_explicit(&log_max_level, memory_order_relaxed))

#define log_at(level, ...)                                                                         \
	do {                                                                                       \
		if (log_is_on(level))                                                              \
			log_line((level), __VA_ARGS__);                                            \
	} while (0)

#define log_limited(level, ...)                                                                    \
	do {                                                                                       \
		static struct log_site log_site_;                                                  \
		if (log_is_on(level))                                                              \
			log_site_line(&log_site_, (level), __VA_ARGS__);                           \
	} while (0)

/* Events that happen again and again, and that a peer may cause. */
#define log_error(...) log_limited(LOG_L_ERROR, __VA_ARGS__)
#define log_warn(...)  log_limited(LOG_L_WARN, __VA_ARGS__)
#define log_info(...)  log_limited(LOG_L_INFO, __VA_ARGS__)

/* Events to be seen each time: the start, the end, the operator's requests, servers that do not
 * respond and respond again, and every loss. */
#define log_always_error(...) log_at(LOG_L_ERROR, __VA_ARGS__)
#define log_always_warn(...)  log_at(LOG_L_WARN, __VA_ARGS__)
#define log_always_info(...)  log_at(LOG_L_INFO, __VA_ARGS__)

/* Only when asked for, and then all lines. */
#define log_ctrl(...) log_at(LOG_L_CTRL, __VA_ARGS__)
#define log_data(...) log_at(LOG_L_DATA, __VA_ARGS__)

#endif
