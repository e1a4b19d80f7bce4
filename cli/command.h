/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * command: the words that rnfs takes in place of SERVER:/EXPORT, such as `rnfs help`.
 *
 * No command mounts by itself; "rnfs mount" starts rnfs for each mount. The other commands read
 * from daemons and the system, print, and end. Each command is one function in a file of its own,
 * and one row of the table in command.c.
 */
#ifndef RNFS_CLI_COMMAND_H
#define RNFS_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

/* Whether word names a command. A source of a mount has a colon, so no source does. */
bool command_known(const char *word);

/* Runs the command named argv[0] with the arguments behind the name; argc counts both. Returns the
 * exit status: 0; 1: the command failed; 2: wrong arguments. Errors go to standard error as one
 * sentence. For processes with one thread. */
int command_run(int argc, char **argv);

#endif
