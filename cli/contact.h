/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * contact: a connection of a command to the socket of a daemon.
 *
 * The peer may be a stopped daemon, or, for root, a program of another user. So each wait and the
 * length of each line are bounded. Any thread; a contact belongs to one.
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
	uid_t uid;	/* the daemon's user */
	bool ended;	/* the last line of the answer was read */
	size_t len, at; /* len: bytes in buf; at: bytes already read */
	char buf[ANSWER_LINE_MAX];
};

/* Connects. 0, or a negative errno: -ECONNREFUSED: no process listens any more; -EAGAIN: the daemon
 * takes no connections, for CONTACT_FULL_MS at least. */
int contact_open(struct contact *c, const char *path);
/* Accepts a contact without a connection, if fd is -1. */
void contact_close(struct contact *c);

/* Sends the request. contact_line() reports errors. */
void contact_ask(struct contact *c, const struct ask *a);
/* The next line of the answer, without the line feed. The caller may change the line, which is
 * valid until the next call. NULL: at the end of the answer (c->ended), or with *e set: after
 * timeout_ms without a line (-1: any time), at the end of the connection, or for a line that is too
 * long. The frame is not returned: an error answer of the daemon becomes *e. */
char *contact_line(struct contact *c, int timeout_ms, struct err *e);

/* Removes the sockets without a listening process from the directory. The caller's user owns the
 * directory. */
void contact_sweep(const char *dir);

#endif
