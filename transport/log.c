/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log: lines to stderr while in the foreground, to syslog after daemonising.
 *
 * hold_lock guards held and holding.
 */
#include "transport/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

_Atomic int log_max_level = LOG_L_INFO;

static const char *_Atomic log_program = "rnfs";
static bool log_syslog;

static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;
static bool holding;
static char held[320];

void log_init(const char *program, enum log_level max)
{
	atomic_store_explicit(&log_program, program, memory_order_relaxed);
	atomic_store_explicit(&log_max_level, max, memory_order_relaxed);
}

void log_to_syslog(bool on)
{
	log_syslog = on;
	if (on)
		openlog(log_program, LOG_PID, LOG_DAEMON);
}

void log_hold(void)
{
	pthread_mutex_lock(&hold_lock);
	holding = log_max_level < LOG_L_CTRL;
	held[0] = '\0';
	pthread_mutex_unlock(&hold_lock);
}

void log_release(char *last, size_t size)
{
	pthread_mutex_lock(&hold_lock);
	holding = false;
	snprintf(last, size, "%s", held);
	pthread_mutex_unlock(&hold_lock);
}

/* Remembers the line instead of printing it, if lines are being kept back. */
static bool keep_back(const char *line)
{
	bool keep;

	pthread_mutex_lock(&hold_lock);
	keep = holding;
	if (keep)
		snprintf(held, sizeof(held), "%.300s", line);
	pthread_mutex_unlock(&hold_lock);
	return keep;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	static const int priority[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};
	int saved = errno;
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (keep_back(line))
		; /* told by log_release() */
	else if (log_syslog)
		syslog(priority[level], "%s", line);
	else
		fprintf(stderr, "%s: %s\n",
			atomic_load_explicit(&log_program, memory_order_relaxed), line);
	errno = saved;
}
