/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * control: the socket at which the daemon answers commands such as `rnfs list`.
 *
 * One thread listens at PID.sock in the runtime directory (cli/runtime_dir.h), reads requests and
 * answers them (cli/ask.h). Only root and the daemon's own user are answered. A running control
 * thread allocates no memory, never waits for a peer, and takes no lock that another thread holds
 * while waiting for the server. So commands are answered while the server is dead and while memory
 * is short.
 *
 * A peer has CONTROL_ASK_MS for its request and CONTROL_READ_MS to take some of the answer; then
 * the thread closes the peer's connection. When all places are taken, a newcomer takes the place of
 * the connection that has been idle for longest: among all connections, or among those with an
 * answer in progress.
 */
#ifndef RNFS_FS_PROGRAM_CONTROL_H
#define RNFS_FS_PROGRAM_CONTROL_H

#include "fs/known/fs.h"
#include "transport/err.h"

#define CONTROL_CONNS	64u /* connections */
#define CONTROL_ANSWERS 8u  /* connections with an answer in progress */
#define CONTROL_TOPS	2u  /* such connections with the answer to `top` */
#define CONTROL_ASK_MS	5000
#define CONTROL_READ_MS 10000

struct control;

/* Makes the socket and the thread: fs->control. The mount must be usable, and the process must have
 * gone into the background. Removes sockets of daemons that were killed. 0, or -1 with *e set: the
 * mount goes on without a control socket. */
int control_start(struct fs *fs, struct err *e);

/* Ends the thread and removes the socket; before setup_end(). Accepts NULL, returns NULL. */
struct control *control_free(struct control *c);

#endif
