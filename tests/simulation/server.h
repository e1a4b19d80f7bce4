/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * server: rnfs-serve in the simulator: its life (contrib/serve/main/life.h) on a thread in place of
 * a process.
 */
#ifndef RNFS_SIMULATION_SERVER_H
#define RNFS_SIMULATION_SERVER_H

struct server;

/* Serves as a process with these arguments (argv[0] aside, ended by NULL) does; the strings stay
 * the caller's until server_free(). A server that fails ends the run. */
struct server *server_new(char **args);
/* How many servers have begun in the run. */
unsigned server_starts(void);
/* SIGTERM, and the end of the process. */
struct server *server_free(struct server *s);
/* All mounts have ended: no client of NFSv4, no session and no open file may be left. NFSv3 tells
 * no end of a client, and a mount that ends does not try for ever to give all back. Ends the run if
 * something is left. */
void server_check_idle(const struct server *s);

#endif
