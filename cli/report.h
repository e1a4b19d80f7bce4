/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * report: what a daemon tells of itself and its mount, and how that travels.
 *
 * The daemon fills a report and writes it as lines of words (word.h); a command reads the lines
 * into a report again, and prints it. Lines and names that the reader does not know are passed
 * over: daemon and command may be of different versions. What is not told is empty, or 0.
 *
 *     is NAME TEXT
 *     n NAME NUMBER
 */
#ifndef RNFS_CLI_REPORT_H
#define RNFS_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/word.h"

#define REPORT_TEXT_MAX 1024 /* bytes of a text with its NUL */

enum report_text {
	REPORT_MOUNTPOINT, /* as the daemon knows it: of its own mount namespace */
	REPORT_SOURCE,	   /* SERVER:/EXPORT as given */
	REPORT_PROGRAM,	   /* the version of rnfs */
	REPORT_NFS,	   /* the version of NFS: "4.2" */
	REPORT_TRANSPORT,  /* "iwarp", as rpc_proto_name() */
	REPORT_PROVIDER,   /* "iwarp", "verbs", "tcp" */
	REPORT_DIALECT,	   /* the version of RPC-over-RDMA; empty: TCP */
	REPORT_TEXTS
};

enum report_number {
	REPORT_PID,
	REPORT_UID,	  /* the daemon's user */
	REPORT_DEV_MAJOR, /* of the mounted file system; both 0: not known */
	REPORT_DEV_MINOR,
	REPORT_UP_MS,	  /* since the mount was made */
	REPORT_SILENT_MS, /* for so long the server does not answer; 0: it does */
	REPORT_LOST_MS,	  /* for so long there is no connection; 0: there is one */
	REPORT_OLDEST_MS, /* age of the oldest request of the kernel's but locks; 0: none waits */
	REPORT_NUMBERS
};

struct report {
	char text[REPORT_TEXTS][REPORT_TEXT_MAX];
	uint64_t number[REPORT_NUMBERS];
};

/* Its text becomes text, cut to size. */
void report_set(struct report *r, enum report_text which, const char *text);

/* Adds the lines of r. */
void report_write(const struct report *r, struct words *w);
/* Takes one line, without its line feed; it is changed. False: it is malformed, or says more than a
 * report holds. */
bool report_read(struct report *r, char *line);

/* The state of the mount as one word, and as a sentence for people. */
enum report_state {
	REPORT_OK,
	REPORT_SLOW,	     /* a request has waited for REPORT_SLOW_MS or more */
	REPORT_DISCONNECTED, /* there is no connection to the server */
	REPORT_SILENT,	     /* the server does not answer */
};
#define REPORT_SLOW_MS 5000u
enum report_state report_state(const struct report *r);
const char *report_state_name(enum report_state s);
/* For how long that is so, in milliseconds; 0 for REPORT_OK. */
uint64_t report_state_ms(const struct report *r);

#endif
