/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ask: the one line that a command sends to a daemon, and the frame of the answer.
 *
 * A command connects to a daemon's socket (runtime_dir.h) and sends a line of words (word.h): the
 * first word names the request, the others are NAME=NUMBER. The daemon answers with lines:
 *
 *     ok                          or: error SENTENCE, and the daemon closes the connection
 *     ... lines of the answer, each at most ANSWER_LINE_MAX bytes long
 *     .
 *
 * and closes the connection. The answer to `top` has no end. The daemon sends a report for each
 * interval:
 *
 *     total REQUESTS READ WRITTEN RPCS NANOSECONDS
 *     process PID NAME REQUESTS READ WRITTEN RPCS NANOSECONDS       ... the busiest first
 *     file PATH REQUESTS READ WRITTEN RPCS NANOSECONDS              ... likewise
 *     end MILLISECONDS LOST       how long that was; events that were dropped and do not count
 *
 * The answer to `trace` has no end either: a line for each request that ends, and a line for
 * dropped events.
 *
 *     event TIME PID NAME OPERATION PATH OFFSET LENGTH BYTES ERROR NANOSECONDS RPCS
 *     lost N
 *
 * The answer to `log-level` is the level in effect from now on:
 *
 *     level NAME
 *
 * The answer to `upgrade` comes from the successor: its version, and for how long requests have
 * waited.
 *
 *     successor VERSION MILLISECONDS
 *
 * TIME is in microseconds since 1970, PID 0 an unknown process, ERROR an errno or 0.
 */
#ifndef RNFS_CLI_ASK_H
#define RNFS_CLI_ASK_H

#include <stdbool.h>
#include <stddef.h>

#define ASK_MAX		128	     /* bytes of the line with its line feed */
#define ANSWER_MAX	(128u << 10) /* bytes of an answer */
#define ANSWER_LINE_MAX 8192	     /* bytes of a line with its line feed */
#define ANSWER_OK	"ok"
#define ANSWER_ERROR	"error"
#define ANSWER_END	"."

enum ask_what {
	ASK_HELLO,     /* identifies the mount: the beginning of a report */
	ASK_STAT,      /* a report */
	ASK_TOP,       /* the busiest processes and files, again and again */
	ASK_TRACE,     /* each request as it ends */
	ASK_UPGRADE,   /* replaces the daemon by a successor */
	ASK_LOG_LEVEL, /* sets or tells the level of the log */
	ASK_WHATS
};

#define ASK_ROWS_MAX 100u

struct ask {
	enum ask_what what;
	/* of `top`, else 0 */
	unsigned interval_ms, rows;
	/* of `trace`, else 0: errors 1: only requests that end with an error; slow_us: only
	 * requests that took at least so long */
	unsigned errors, slow_us;
	/* of `log-level`: an enum log_level + 1; 0: no change */
	unsigned level;
};

/* Sets the parameters to the usual values. */
void ask_init(struct ask *a, enum ask_what what);

/* Reads a line of len bytes, without a line feed. False: not a valid line; *why is a sentence. */
bool ask_parse(const char *line, size_t len, struct ask *out, const char **why);
/* Writes the line for ask_parse(), with a line feed and a NUL. Returns the length. */
size_t ask_format(const struct ask *a, char line[ASK_MAX + 1]);

#endif
