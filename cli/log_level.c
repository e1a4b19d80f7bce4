/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_level: `rnfs log-level`, which shows or sets how much a mount logs.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/mounts.h"
#include "transport/log.h"

#define WAIT_MS 2000

/* One argument is a level if a level has the name, else a mount. */
static bool parse(struct ask *a, const char **mount, int argc, char **argv)
{
	int level = argc > 1 ? log_level_of(argv[argc - 1]) : -1;

	ask_init(a, ASK_LOG_LEVEL);
	*mount = NULL;
	if (level >= 0)
		a->level = (unsigned)level + 1;
	if (argc - (level >= 0) > 1)
		*mount = argv[1];
	return argc - (level >= 0) <= 2 && (!*mount || **mount != '-');
}

static void run(const struct mounts *all, const struct ask *a, const char *mount, struct err *e)
{
	struct contact c;
	const char *word;
	char *line;

	if (mounts_ask(all, mount, a, &c, e))
		return;
	line = contact_line(&c, WAIT_MS, e);
	word = line ? word_next(&line) : NULL;
	if (word && !strcmp(word, "level"))
		word = word_next(&line);
	else
		word = NULL;
	if (word && log_level_of(word) >= 0)
		puts(word);
	else
		err_set(e, ERR_PROTOCOL, "the daemon's answer cannot be understood");
	contact_close(&c);
}

int log_level_main(int argc, char **argv)
{
	struct err e = {0};
	struct mounts all;
	const char *mount;
	struct ask a;

	if (!parse(&a, &mount, argc, argv)) {
		fprintf(stderr, "rnfs: the command line is rnfs log-level [MOUNT] "
				"[error|warn|info|ctrl|data]\n");
		return 2;
	}
	if (!mounts_find(&all, true, &e))
		run(&all, &a, mount, &e);
	mounts_free(&all);
	if (e.kind)
		fprintf(stderr, "rnfs: %s\n", e.msg);
	return e.kind == ERR_USAGE ? 2 : e.kind || fflush(stdout) ? 1 : 0;
}
