/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * handover: how a mounter gives a mounted FUSE device to rnfs over a Unix socket.
 *
 * The socket is of type SOCK_SEQPACKET. rnfs, the sidecar, connects. The mounter sends one packet
 * of fields that each end with a NUL, together with one descriptor (SCM_RIGHTS):
 *
 *     "rnfs-mountfd 1"  SERVER:/EXPORT  OPTIONS  DIRECTORY  PIDNS
 *
 * OPTIONS is a list as for -o, or empty. DIRECTORY is the mount point as the mounter sees it, for
 * the log. PIDNS is the inode number of the mounter's /proc/self/ns/pid, in decimal. To a second
 * sidecar the mounter sends "busy" instead.
 *
 * The sidecar answers "ready", or "failed" and a sentence. At the end the sidecar may send "failed"
 * and a sentence, if written data is lost. The end of the connection is the end of the sidecar. If
 * the mounter ends first, the sidecar continues to serve.
 */
#ifndef RNFS_CLI_HANDOVER_H
#define RNFS_CLI_HANDOVER_H

#include <limits.h>
#include <stddef.h>

#include "transport/err.h"

#define HANDOVER_OPTIONS  4096
#define HANDOVER_SENTENCE 2000

struct handover {
	int fd; /* the receiver's to close */
	char source[PATH_MAX];
	char options[HANDOVER_OPTIONS];
	char directory[PATH_MAX];
	unsigned long pidns;
};

/* The number of this process's PID namespace; 0: unknown, as without /proc. */
unsigned long handover_pidns(void);

/* The mounter's side. 0, or -errno; -E2BIG: the packet would be too long. */
int handover_send(int sock, const struct handover *h);
int handover_send_busy(int sock);

/* Messages of the sidecar. */
enum handover_word {
	HANDOVER_NONE, /* unknown or incomplete: HANDOVER_ENDED tells of the end */
	HANDOVER_READY,
	HANDOVER_FAILED, /* sentence, of HANDOVER_SENTENCE bytes, is filled */
	HANDOVER_ENDED,
};
/* Waits for the next packet, unless the socket does not block. */
enum handover_word handover_hear(int sock, char *sentence);

/* The sidecar's side. Waits for the mounter's packet. 0 with h->fd close-on-exec; or -1 with *e
 * set, or without: the mounter is busy. */
int handover_receive(int sock, struct handover *h, struct err *e);
/* sentence: NULL for "ready". Does not block. */
void handover_say(int sock, const char *sentence);

#endif
