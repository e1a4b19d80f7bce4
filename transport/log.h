/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log: lines to stderr while in the foreground, to syslog after daemonising.
 *
 * Control path (connections, sessions, mounts) and data path (each message) are switched
 * separately: LOG_L_CTRL is `-d`, LOG_L_DATA is `-o debug=data`.
 */
#ifndef RNFS_TRANSPORT_LOG_H
#define RNFS_TRANSPORT_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_L_ERROR,
	LOG_L_WARN,
	LOG_L_INFO,
	LOG_L_CTRL, /* control-path debugging */
	LOG_L_DATA, /* data-path debugging: one line per message */
};

/* Sets the program's name and the highest level that is printed. One thread; others may be logging
 * when only the level changes. */
void log_init(const char *program, enum log_level max);

/* From now on to syslog (true) or stderr (false). Call once, after daemonising. */
void log_to_syslog(bool on);

/* Keeps lines back from now on, so that a failing step can be told in one sentence; only the last
 * is remembered. No effect while debugging lines are printed. Not nested. */
void log_hold(void);
/* Ends that. last gets the line that was remembered, cut to size, or "". */
void log_release(char *last, size_t size);

extern _Atomic int log_max_level; /* an enum log_level */

/* Any thread. One line, no trailing newline in fmt. Preserves errno. */
__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *fmt, ...);

#define log_at(level, ...)                                                                         \
	do {                                                                                       \
		if ((int)(level) <= atomic_load_explicit(&log_max_level, memory_order_relaxed))    \
			log_line((level), __VA_ARGS__);                                            \
	} while (0)

#define log_error(...) log_at(LOG_L_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_L_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_L_INFO, __VA_ARGS__)
#define log_ctrl(...)  log_at(LOG_L_CTRL, __VA_ARGS__)
#define log_data(...)  log_at(LOG_L_DATA, __VA_ARGS__)

#endif
