/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * control: the socket at which the daemon answers commands such as `rnfs list`.
 *
 * One thread listens at PID.sock in the runtime directory (cli/runtime_dir.h), reads requests and
 * answers them (cli/ask.h). Only root and the daemon's own user are answered. The thread allocates
 * nothing once it runs, takes no lock that is held while something waits for the server, and never
 * waits for a peer: so commands are answered while the server is dead and while memory is short.
 *
 * A peer has CONTROL_ASK_MS for its request and CONTROL_READ_MS to take some of the answer; then
 * its connection is closed. When all places are taken, a newcomer takes the place of the connection
 * that has been idle for longest: of all, or of those that are being answered.
 */
#ifndef RNFS_FS_PROGRAM_CONTROL_H
#define RNFS_FS_PROGRAM_CONTROL_H

#include "fs/known/fs.h"
#include "transport/err.h"

#define CONTROL_CONNS	64u /* that may ask */
#define CONTROL_ANSWERS 8u  /* of them, those that are being answered */
#define CONTROL_TOPS	2u  /* of those, `top` */
#define CONTROL_ASK_MS	5000
#define CONTROL_READ_MS 10000

struct control;

/* Makes the socket and the thread: fs->control. The mount must be usable, and the process must have
 * gone into the background. Sockets of daemons that were killed are removed. 0, or -1 with *e set:
 * then there is none, and the mount goes on without. */
int control_start(struct fs *fs, struct err *e);

/* Ends both; before setup_end(). Accepts NULL, returns NULL. */
struct control *control_free(struct control *c);

#endif
