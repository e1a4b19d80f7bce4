/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_entry: one line of the log, and the forms in which it is written.
 *
 * Pure functions. An entry is cut where dst ends, and each form stays valid then: a JSON object is
 * closed, each field of the journal ends. Peers and users choose bytes of message, source and
 * mount, so no form lets these begin a line, a field or an object of their own: control characters
 * become %XX in all forms (quote.h), and in JSON so does each byte that is not valid UTF-8.
 */
#ifndef RNFS_TRANSPORT_LOG_ENTRY_H
#define RNFS_TRANSPORT_LOG_ENTRY_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

enum log_level {
	LOG_L_ERROR,
	LOG_L_WARN,
	LOG_L_INFO,
	LOG_L_CTRL, /* control-path debugging */
	LOG_L_DATA, /* data-path debugging: one line per message */
};

#define LOG_ENTRY_MESSAGE 2048 /* with the NUL; longer messages are cut */
#define LOG_ENTRY_MAX	  8192 /* enough for any form of an entry */

struct log_entry {
	struct timespec time; /* CLOCK_REALTIME */
	enum log_level level;
	const char *program;
	pid_t pid;
	const char *source, *mount; /* of a mount; NULL: none */
	const char *message;	    /* without a line feed at its end */
};

/* Each writes to dst, of at least 1024 bytes, and returns how many bytes there are; no NUL. */

/* "PROGRAM: MESSAGE\n" */
size_t log_entry_plain(const struct log_entry *e, char *dst, size_t size);
/* "TIME PROGRAM[PID] LEVEL: MESSAGE\n". TIME is that of RFC 3339, in UTC and milliseconds. */
size_t log_entry_text(const struct log_entry *e, char *dst, size_t size);
/* One JSON object (RFC 8259) in one line: time, level, program, pid, source, mount, message. */
size_t log_entry_json(const struct log_entry *e, char *dst, size_t size);
/* One datagram of systemd-journald's native protocol. */
size_t log_entry_journal(const struct log_entry *e, char *dst, size_t size);

/* Of syslog(3) and the journal: LOG_ERR to LOG_DEBUG. */
int log_entry_priority(enum log_level level);

#endif
