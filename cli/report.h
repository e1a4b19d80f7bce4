/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * report: the state of a daemon and its mount, as a daemon sends it to a command.
 *
 * The daemon fills a report and writes it as lines of words (word.h); a command reads the lines
 * into a report again, and prints the report. The reader skips unknown lines and names, because
 * daemon and command may be of different versions. A text or number without a line is empty, or 0.
 *
 *     is NAME TEXT
 *     n NAME NUMBER
 *     request NAME ERRORS BYTES RPCS WAITS TIME QUEUE
 *     operation NAME ...
 *     connection UP CALLS REPLIES ... SERVER           the numbers of enum report_path_number;
 *                                                      an older daemon does not tell SERVER
 *
 * A TIME is SUM:MAX, in nanoseconds, and :I=N for each bucket (histogram.h) that is not empty.
 */
#ifndef RNFS_CLI_REPORT_H
#define RNFS_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/word.h"
#include "transport/histogram.h"

#define REPORT_TEXT_MAX 1024 /* bytes of a text with its NUL */

enum report_text {
	REPORT_MOUNTPOINT, /* in the daemon's mount namespace */
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
	REPORT_DEV_MAJOR, /* of the mounted file system; both 0: unknown */
	REPORT_DEV_MINOR,
	REPORT_UP_MS,	  /* since the mount was made */
	REPORT_SILENT_MS, /* time without an answer from the server; 0: the server answers */
	REPORT_LOST_MS,	  /* time without a connection; 0: connected */
	REPORT_OLDEST_MS, /* age of the kernel's oldest request, locks apart; 0: none waits */
	/* The rest is for `stat` alone. RPCs and the connection: */
	REPORT_CALLS,
	REPORT_REPLIES,
	REPORT_CALLBACKS, /* calls by the server */
	REPORT_UNDER_WAY, /* calls without an answer so far */
	REPORT_TIMEOUTS,
	REPORT_RECONNECTS,
	REPORT_CONNECTIONS, /* 0: the daemon is too old to say */
	REPORT_CONNECTIONS_UP,
	REPORT_CREDITS, /* calls under way that the server allows; 0: TCP */
	REPORT_SLOTS,	/* of the session; 0: NFSv3 */
	REPORT_RSIZE,
	REPORT_WSIZE,
	REPORT_LEASE_S,
	/* Bytes of file data: read straight to the destination, or copied there; written straight
	 * from the source, or copied into messages. */
	REPORT_PLACED,
	REPORT_COPIED,
	REPORT_EXPOSED,
	REPORT_PULLED_UP,
	REPORT_CACHE_USED, /* bytes */
	REPORT_CACHE_LIMIT,
	REPORT_CACHE_HITS,    /* READs answered from the cache */
	REPORT_CACHE_JOINED,  /* READs that waited for data in flight */
	REPORT_CACHE_MISSES,  /* READs sent to the server */
	REPORT_CACHE_FETCHES, /* READs into the cache, mostly ahead of a reader */
	REPORT_CACHE_EVICTED, /* blocks */
	REPORT_CACHE_WASTED,  /* evicted blocks that no program had read */
	REPORT_DIRTY,	      /* written bytes that are not committed */
	REPORT_GATHERED,      /* written bytes that were sent later, with other bytes */
	REPORT_REWRITTEN,     /* times that lost data was sent to the server again */
	REPORT_WRITE_FULL,    /* writes that found no room */
	REPORT_MEMORY_USED,   /* bytes */
	REPORT_MEMORY_MAPPED,
	REPORT_MEMORY_LIMIT,
	REPORT_INODES,
	REPORT_OPEN_FILES,
	REPORT_INTERRUPTED, /* requests given up because the process was killed */
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
	uint64_t waits;		/* of requests: round trips waited for, one after the other */
	struct histogram time;	/* of requests: until the answer; of operations: in flight */
	struct histogram queue; /* of operations: until the first call was sent */
};

struct report_ops {
	unsigned n;
	struct report_op of[REPORT_OPS];
};

/* The numbers of one of several connections. */
enum report_path_number {
	REPORT_PATH_UP, /* 1; 0: lost. The others are as those of enum report_number */
	REPORT_PATH_CALLS,
	REPORT_PATH_REPLIES,
	REPORT_PATH_UNDER_WAY,
	REPORT_PATH_TIMEOUTS,
	REPORT_PATH_RECONNECTS,
	REPORT_PATH_CREDITS,
	REPORT_PATH_PLACED,
	REPORT_PATH_COPIED,
	REPORT_PATH_EXPOSED,
	REPORT_PATH_PULLED_UP,
	REPORT_PATH_NUMBERS
};

#define REPORT_PATHS	  16u
#define REPORT_SERVER_MAX 340 /* bytes with the NUL */
#define REPORT_WHY_MAX	  256

struct report_path {
	uint64_t number[REPORT_PATH_NUMBERS];
	char server[REPORT_SERVER_MAX]; /* name and address, or empty */
	char why[REPORT_WHY_MAX];	/* lost: why, or empty */
};

struct report {
	char text[REPORT_TEXTS][REPORT_TEXT_MAX];
	uint64_t number[REPORT_NUMBERS];
	/* The connections of `stat`, if there are several; else npaths is 0. */
	struct report_path path[REPORT_PATHS];
	unsigned npaths;
	/* The caller's memory for the lists of `stat`; NULL: such lines are skipped. */
	struct report_ops *requests, *operations;
};

/* Empties r; requests and operations stay, empty. */
void report_clear(struct report *r);

/* Adds an operation. Returns the operation with the name set and all else 0; NULL: ops has
 * REPORT_OPS already. */
struct report_op *report_add(struct report_ops *ops, const char *name);
/* Finds the operation by name, or NULL. */
const struct report_op *report_find(const struct report_ops *ops, const char *name);

/* The name of a number, as in the lines. */
const char *report_number_name(enum report_number which);
const char *report_path_name(enum report_path_number which);
/* The number of all connections together that one of each connection adds to. */
enum report_number report_path_total(enum report_path_number which);
/* Sets one text of r, cut to size. */
void report_set(struct report *r, enum report_text which, const char *text);

/* Adds the lines of r. */
void report_write(const struct report *r, struct words *w);
/* Takes one line without a line feed, and changes the line. False: malformed, or more than a report
 * holds. */
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
/* For how long the state has lasted, in milliseconds; 0 for REPORT_OK. */
uint64_t report_state_ms(const struct report *r);

#endif
