/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * contact: a connection of a command to the socket of a daemon.
 *
 * The peer may be a daemon that is stopped, or, for root, a program of another user's: nothing here
 * waits longer than it is told to, and lines are bounded. Any thread; a contact belongs to one.
 */
#ifndef RNFS_CLI_CONTACT_H
#define RNFS_CLI_CONTACT_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/ask.h"
#include "transport/err.h"

#define CONTACT_FULL_MS 1000

struct contact {
	int fd;
	uid_t uid;	/* the user that the daemon runs as */
	bool ended;	/* the last line of the answer was read */
	size_t len, at; /* bytes in buf, and of them those that were read */
	char buf[ANSWER_LINE_MAX];
};

/* Connects. 0, or a negative errno: -ECONNREFUSED: no process listens any more; -EAGAIN: the daemon
 * takes no connections, for CONTACT_FULL_MS at least. */
int contact_open(struct contact *c, const char *path);
/* Accepts a contact that was not opened, if its fd is -1. */
void contact_close(struct contact *c);

/* Sends the request. Whether that reached the daemon, contact_line() tells. */
void contact_ask(struct contact *c, const struct ask *a);
/* The next line of the answer, without the line feed; it is the caller's until the next call. NULL:
 * at the end of the answer (c->ended), or with *e set: after timeout_ms without a line (-1: any
 * time), at the end of the connection, or for a line that is too long. The frame is not among the
 * lines: an error that the daemon answers is *e. */
char *contact_line(struct contact *c, int timeout_ms, struct err *e);

/* Removes the sockets in the directory, which is the caller's, that no process listens at. */
void contact_sweep(const char *dir);

#endif
