/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log: lines to stderr while in the foreground, to syslog after daemonising.
 */
#include "transport/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

enum log_level log_max_level = LOG_L_INFO;

static const char *log_program = "rnfs";
static bool log_syslog;

void log_init(const char *program, enum log_level max)
{
	log_program = program;
	log_max_level = max;
}

void log_to_syslog(bool on)
{
	log_syslog = on;
	if (on)
		openlog(log_program, LOG_PID, LOG_DAEMON);
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
	if (log_syslog)
		syslog(priority[level], "%s", line);
	else
		fprintf(stderr, "%s: %s\n", log_program, line);
	errno = saved;
}
