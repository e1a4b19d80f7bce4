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
/* SIGTERM, and the end of the process. */
struct server *server_free(struct server *s);

#endif
