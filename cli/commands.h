/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * commands: find, and the commands that ask the daemons of mounts (mounts.h), each in a file of the
 * same name.
 *
 * A command takes its arguments as main() does, with the command's name as argv[0]. The exit status
 * is 0; 1: the command failed, with one sentence on standard error; 2: wrong arguments.
 */
#ifndef RNFS_CLI_COMMANDS_H
#define RNFS_CLI_COMMANDS_H

int find_main(int argc, char **argv);
int list_main(int argc, char **argv);
int log_level_main(int argc, char **argv);
int stat_main(int argc, char **argv);
int top_main(int argc, char **argv);
int trace_main(int argc, char **argv);
int upgrade_main(int argc, char **argv);

#endif
