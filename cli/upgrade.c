/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * upgrade: `rnfs upgrade`, which replaces the daemon of a mount by the program that is installed
 * now.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/mounts.h"
#include "cli/word.h"

#define WAIT_MS (10 * 60 * 1000) /* a successor tries to reach its server for ever */

/* line: the successor's, or NULL with *e set. */
static void print(char *line, const char *mount, struct err *e)
{
	const char *word = line ? word_next(&line) : NULL, *version;
	uint64_t ms;

	version = word && !strcmp(word, "successor") ? word_next(&line) : NULL;
	if (version && word_number(&line, &ms))
		printf("%s%srnfs %s goes on, requests have waited for %" PRIu64 " ms\n",
			mount ? mount : "", mount ? ": " : "", version, ms);
	else
		err_set(e, ERR_PROTOCOL, "the daemon's answer cannot be understood");
}

static void run(const struct mounts *all, const char *mount, struct err *e)
{
	struct contact c;
	struct ask a;

	ask_init(&a, ASK_UPGRADE);
	if (mounts_ask(all, mount, &a, &c, e))
		return;
	print(contact_line(&c, WAIT_MS, e), mount, e);
	contact_close(&c);
}

int upgrade_main(int argc, char **argv)
{
	struct err e = {0};
	struct mounts all;

	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(stderr, "rnfs: the command line is rnfs upgrade [MOUNT]\n");
		return 2;
	}
	if (!mounts_find(&all, true, &e))
		run(&all, argc == 2 ? argv[1] : NULL, &e);
	mounts_free(&all);
	if (e.kind)
		fprintf(stderr, "rnfs: %s\n", e.msg);
	return e.kind == ERR_USAGE ? 2 : e.kind || fflush(stdout) ? 1 : 0;
}
