/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * command: the table of commands.
 */
#include "cli/command.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/user_mounts.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *does;
};

static int run_help(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		fprintf(stderr, "rnfs: too many arguments: write rnfs help\n");
		return 2;
	}
	command_list(stdout);
	return fflush(stdout) ? 1 : 0;
}

static const struct command commands[] = {
	{"doctor", doctor_main, "[SERVER[:/EXPORT]]", "say why a mount does not work, or is slow"},
	{"help", run_help, "", "list the commands"},
	{"list", list_main, "[--json]", "show the mounts, and how they do"},
	{"log-level", log_level_main, "[MOUNT] [LEVEL]", "show or set how much a mount logs"},
	{"mount", user_mounts_run, "-a|MOUNTPOINT", "mount what ~/.config/rnfs/fstab lists"},
	{"stat", stat_main, "[MOUNT]", "show what a mount has done, and how long that took"},
	{"top", top_main, "[MOUNT]", "show which processes use which files of a mount"},
	{"trace", trace_main, "[MOUNT]", "show each request of a mount as it ends"},
};

static const struct command *find(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, word))
			return &commands[i];
	return NULL;
}

bool command_known(const char *word)
{
	return find(word);
}

int command_run(int argc, char **argv)
{
	const struct command *c = find(argv[0]);

	return c ? c->run(argc, argv) : 2;
}

void command_list(FILE *out)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "rnfs %-9s %-20s %s\n", commands[i].name, commands[i].arguments,
			commands[i].does);
}
