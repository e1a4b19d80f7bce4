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
 *     request NAME ERRORS BYTES RPCS WAITS TIME QUEUE
 *     operation NAME ...
 *
 * A TIME is SUM:MAX, in nanoseconds, and for each bucket (histogram.h) that is not empty :I=N.
 */
#ifndef RNFS_CLI_REPORT_H
#define RNFS_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/word.h"
#include "transport/histogram.h"

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
	/* What follows is told to `stat` alone. RPCs and their connection: */
	REPORT_CALLS,
	REPORT_REPLIES,
	REPORT_CALLBACKS, /* calls of the server's */
	REPORT_UNDER_WAY, /* calls that have no answer yet */
	REPORT_TIMEOUTS,
	REPORT_RECONNECTS,
	REPORT_CREDITS, /* calls that the server lets be under way; 0: TCP */
	REPORT_SLOTS,	/* of the session; 0: NFSv3 */
	REPORT_RSIZE,
	REPORT_WSIZE,
	REPORT_LEASE_S,
	/* Bytes of file data: read straight to their place, or copied there; written from where
	 * they were, or copied into messages. */
	REPORT_PLACED,
	REPORT_COPIED,
	REPORT_EXPOSED,
	REPORT_PULLED_UP,
	REPORT_CACHE_USED, /* bytes */
	REPORT_CACHE_LIMIT,
	REPORT_CACHE_HITS,    /* READs that were answered at once */
	REPORT_CACHE_JOINED,  /* READs that waited for data that was on its way */
	REPORT_CACHE_MISSES,  /* READs that the server was asked for */
	REPORT_CACHE_FETCHES, /* READs into the cache, most of them ahead of a reader */
	REPORT_CACHE_EVICTED, /* blocks */
	REPORT_CACHE_WASTED,  /* of them, those that nobody had read */
	REPORT_DIRTY,	      /* bytes that were written and are not known to be safe */
	REPORT_GATHERED,      /* bytes that were written and sent later, with others */
	REPORT_REWRITTEN,     /* times that the server had lost data, which was sent again */
	REPORT_WRITE_FULL,    /* writes that found no room */
	REPORT_MEMORY_USED,   /* bytes */
	REPORT_MEMORY_MAPPED,
	REPORT_MEMORY_LIMIT,
	REPORT_INODES,
	REPORT_OPEN_FILES,
	REPORT_INTERRUPTED, /* requests that were given up because their process was killed */
	REPORT_STARVED,	    /* times that a request waited for memory */
	REPORT_FOREIGN,	    /* changes by other clients */
	REPORT_DELEGATED,   /* opens without asking the server */
	REPORT_NUMBERS
};

#define REPORT_OP_NAME 24
#define REPORT_OPS     64u

/* Requests of programs of one kind, or operations on the server of one type. */
struct report_op {
	char name[REPORT_OP_NAME];
	uint64_t errors, bytes, rpcs;
	uint64_t waits; /* round trips that were waited for, one after the other; of requests */
	struct histogram time;	/* a request's until its answer; an operation's on its way */
	struct histogram queue; /* of operations: until the first call was sent */
};

struct report_ops {
	unsigned n;
	struct report_op of[REPORT_OPS];
};

struct report {
	char text[REPORT_TEXTS][REPORT_TEXT_MAX];
	uint64_t number[REPORT_NUMBERS];
	/* The user's memory for what is told to `stat`; NULL: it is passed over. */
	struct report_ops *requests, *operations;
};

/* Empties it; requests and operations stay, empty. */
void report_clear(struct report *r);

/* Adds an operation, and returns it with its name and all zeros; NULL: there are REPORT_OPS. */
struct report_op *report_add(struct report_ops *ops, const char *name);
/* The one of that name, or NULL. */
const struct report_op *report_find(const struct report_ops *ops, const char *name);

/* The name of a number, as in the lines. */
const char *report_number_name(enum report_number which);
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
