/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log: lines for the operator of the program.
 *
 * site_lock also guards the counts of each site. No lock is held while a line is written.
 */
#include "transport/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/lock.h"

_Atomic int log_max_level = LOG_L_INFO;

static const char *_Atomic log_program = "rnfs";
static const char *log_source, *log_mount;
static _Atomic bool log_json;

static struct mutex hold_lock = MUTEX_INITIALIZER;
static bool holding GUARDED_BY(hold_lock);
static char held[320] GUARDED_BY(hold_lock);

static const char *const level_names[] = {
	[LOG_L_ERROR] = "error",
	[LOG_L_WARN] = "warn",
	[LOG_L_INFO] = "info",
	[LOG_L_CTRL] = "ctrl",
	[LOG_L_DATA] = "data",
};

const char *log_level_name(enum log_level level)
{
	return level_names[level];
}

int log_level_of(const char *name)
{
	for (int i = 0; i <= LOG_L_DATA; i++)
		if (!strcmp(level_names[i], name))
			return i;
	return -1;
}

void log_set_level(enum log_level max)
{
	atomic_store_explicit(&log_max_level, max, memory_order_relaxed);
}

void log_init(const char *program, enum log_level max)
{
	atomic_store_explicit(&log_program, program, memory_order_relaxed);
	atomic_store_explicit(&log_max_level, max, memory_order_relaxed);
}

void log_of(const char *source, const char *mount)
{
	log_source = source;
	log_mount = mount;
}

void log_begin(const struct log_choice *c, bool background, char *said)
{
	bool plain = c->to == LOG_TO_AUTO && !background;

	log_target_use(plain ? LOG_TO_STDERR : c->to, log_program, said);
	log_json = c->json;
}

void log_reopen(void)
{
	if (log_target_used() == LOG_TO_FILE && !log_target_reopen())
		log_error("the file of the log cannot be opened anew (%s): its lines go to the one "
			  "that is open",
			strerror(errno));
}

void log_hold(void)
{
	mutex_lock(&hold_lock);
	holding = log_max_level < LOG_L_CTRL;
	held[0] = '\0';
	mutex_unlock(&hold_lock);
}

void log_release(char *last, size_t size)
{
	mutex_lock(&hold_lock);
	holding = false;
	snprintf(last, size, "%s", held);
	mutex_unlock(&hold_lock);
}

/* Remembers the line instead of printing it, if lines are being kept back. */
static bool keep_back(const char *line)
{
	bool keep;

	mutex_lock(&hold_lock);
	keep = holding;
	if (keep)
		snprintf(held, sizeof(held), "%.300s", line);
	mutex_unlock(&hold_lock);
	return keep;
}

static void write_line(enum log_level level, const char *text)
{
	struct log_entry e = {
		.level = level,
		.program = atomic_load_explicit(&log_program, memory_order_relaxed),
		.pid = getpid(),
		.source = log_source,
		.mount = log_mount,
		.message = text,
	};

	clock_gettime(CLOCK_REALTIME, &e.time);
	log_target_write(&e, log_json);
}

/* --- left-out lines --------------------------------------------------------------------------- */

static struct mutex site_lock = MUTEX_INITIALIZER;
static struct log_limit all_sites GUARDED_BY(site_lock);
static struct log_site *silent GUARDED_BY(site_lock); /* those with lines left out */
static _Atomic unsigned any_silent; /* the length of `silent`; written with site_lock */

static void at_exit(void)
{
	log_tell(true);
}

/* May a line of this site be written? If not, it is counted. */
static bool may_say(struct log_site *site, enum log_level level, const char *text)
{
	uint64_t now = clock_ns();
	static bool registered;
	bool may;

	mutex_lock(&site_lock);
	may = log_limit_may(&site->limit, LOG_LIMIT_SITE, now) &&
	      log_limit_may(&all_sites, LOG_LIMIT_ALL, now);
	if (may) {
		log_limit_said(&site->limit, now);
		log_limit_said(&all_sites, now);
	} else if (!site->left_out++) {
		site->level = level;
		snprintf(site->like, sizeof(site->like), "%.*s", (int)sizeof(site->like) - 1, text);
		site->next = silent;
		silent = site;
		any_silent++;
		if (!registered)
			registered = atexit(at_exit) == 0;
	}
	mutex_unlock(&site_lock);
	return may;
}

/* Takes a site from the list after the end of its own span and of the span of all; copies the data
 * for its report. */
static bool take_silent(bool at_end, struct log_site *out)
{
	uint64_t now = clock_ns();
	struct log_site **at, *site;

	mutex_lock(&site_lock);
	for (at = &silent; (site = *at) != NULL; at = &site->next)
		if (at_end ||
			(log_limit_over(&site->limit, now) && log_limit_over(&all_sites, now)))
			break;
	if (site) {
		*out = *site;
		*at = site->next;
		any_silent--;
		site->left_out = 0;
	}
	mutex_unlock(&site_lock);
	return site;
}

void log_tell(bool at_end)
{
	struct log_site site;
	char line[240];

	/* relaxed: a late line is said with the next */
	if (!atomic_load_explicit(&any_silent, memory_order_relaxed))
		return;
	while (take_silent(at_end, &site)) {
		snprintf(line, sizeof(line), "%u more like this were left out: %s", site.left_out,
			site.like);
		write_line(site.level, line);
	}
}

/* --- lines ------------------------------------------------------------------------------------ */

void log_line_now(enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	char line[LOG_ENTRY_MESSAGE];
	va_list ap;

	if (log_is_on(level)) {
		va_start(ap, fmt);
		vsnprintf(line, sizeof(line), fmt, ap);
		va_end(ap);
		write_line(level, line);
	}
	errno = saved;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	char line[LOG_ENTRY_MESSAGE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!keep_back(line)) { /* else told by log_release() */
		log_tell(false);
		write_line(level, line);
	}
	errno = saved;
}

void log_site_line(struct log_site *site, enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	char line[LOG_ENTRY_MESSAGE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!keep_back(line)) { /* else told by log_release() */
		log_tell(false);
		if (may_say(site, level, line))
			write_line(level, line);
	}
	errno = saved;
}
