/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * commands: those that ask the daemons of mounts (mounts.h), and find. Each is in a file of its
 * name.
 *
 * Each takes its arguments as main() does, argv[0] being its name, and returns an exit status:
 * 0; 1 if it failed, with one sentence on standard error; 2 if its arguments are wrong.
 */
#ifndef RNFS_CLI_COMMANDS_H
#define RNFS_CLI_COMMANDS_H

int find_main(int argc, char **argv);
int list_main(int argc, char **argv);
int log_level_main(int argc, char **argv);
int stat_main(int argc, char **argv);
int top_main(int argc, char **argv);
int trace_main(int argc, char **argv);

#endif
