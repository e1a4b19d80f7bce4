/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * command: the table of commands.
 */
#include "cli/command.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/doctor.h"
#include "cli/help.h"
#include "cli/nearest.h"
#include "cli/user_mounts.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *does;
};

static int run_help(int argc, char **argv);

static const struct command commands[] = {
	{"doctor", doctor_main, "[SERVER[:/EXPORT]]", "say why a mount does not work, or is slow"},
	{"find", find_main, "[--json] [SERVER]", "find servers nearby; list a server's exports"},
	{"help", run_help, "[COMMAND|OPTION|options]", "list the commands; say all about one word"},
	{"list", list_main, "[--json]", "show the mounts, and how they do"},
	{"log-level", log_level_main, "[MOUNT] [LEVEL]", "show or set how much a mount logs"},
	{"mount", user_mounts_run, "-a|MOUNTPOINT", "mount what ~/.config/rnfs/fstab lists"},
	{"stat", stat_main, "[MOUNT]", "show what a mount has done, and how long that took"},
	{"top", top_main, "[MOUNT]", "show which processes use which files of a mount"},
	{"trace", trace_main, "[MOUNT]", "show each request of a mount as it ends"},
	{"upgrade", upgrade_main, "[MOUNT | --all]",
		"let the installed rnfs go on with a mount in use"},
};

static const struct command *find(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, word))
			return &commands[i];
	return NULL;
}

static void tell(FILE *out, const struct command *c)
{
	fprintf(out, "rnfs %-9s %-25s %s\n", c->name, c->arguments, c->does);
}

static int say_unknown(const char *word)
{
	struct nearest n;

	nearest_init(&n, word);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		nearest_offer(&n, commands[i].name);
	help_offer(&n);
	if (n.best)
		fprintf(stderr, "rnfs: there is no command or option \"%.60s\": did you mean %s?\n",
			word, n.best);
	else
		fprintf(stderr,
			"rnfs: there is no command or option \"%.60s\": rnfs help and rnfs help "
			"options list those there are\n",
			word);
	return 2;
}

static void list(FILE *out)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		tell(out, &commands[i]);
}

static int run_help(int argc, char **argv)
{
	const struct command *c = argc > 1 ? find(argv[1]) : NULL;

	if (argc > 2) {
		fprintf(stderr, "rnfs: too many arguments: write rnfs help WORD\n");
		return 2;
	}
	if (argc == 1) {
		list(stdout);
		printf("\nrnfs help options lists the options of a mount, rnfs -h shows how to "
		       "mount\n");
	} else if (!strcmp(argv[1], "options")) {
		help_options(stdout);
	} else if (c) {
		tell(stdout, c);
		printf("\nman rnfs says more\n");
	} else if (!help_option(stdout, argv[1])) {
		return say_unknown(argv[1]);
	}
	return fflush(stdout) ? 1 : 0;
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
