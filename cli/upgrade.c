/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * upgrade: `rnfs upgrade`, which replaces the daemon of a mount, or of all mounts, by the program
 * that is installed now.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Of each mount in this mount namespace: the programs of other namespaces are their own. */
struct one {
	const struct mount *mount; /* NULL: there is nothing to wait for */
	struct contact c;
};

/* False: no daemon answers, which is told. */
static bool begin_one(struct one *o, const struct mount *m)
{
	struct ask a;
	int error = m->daemon == MOUNT_ANSWERS ? contact_open(&o->c, m->socket) : -EAGAIN;

	if (error) {
		fprintf(stderr, "rnfs: %s: no daemon answers\n", mount_point(m));
		return false;
	}
	ask_init(&a, ASK_UPGRADE);
	contact_ask(&o->c, &a);
	o->mount = m;
	return true;
}

static bool end_one(struct one *o)
{
	struct err e = {0};

	print(contact_line(&o->c, WAIT_MS, &e), mount_point(o->mount), &e);
	contact_close(&o->c);
	if (e.kind)
		fprintf(stderr, "rnfs: %s: %s\n", mount_point(o->mount), e.msg);
	fflush(stdout);
	return !e.kind;
}

/* All at a time: a daemon may take a while. Returns the exit status. */
static int run_all(const struct mounts *all)
{
	struct one *list = calloc((size_t)all->n + 1, sizeof(*list));
	bool ok = list;

	for (unsigned i = 0; list && i < all->n; i++)
		if (all->of[i].is_here && all->of[i].daemon != MOUNT_DEAD)
			ok &= begin_one(&list[i], &all->of[i]);
	for (unsigned i = 0; list && i < all->n; i++)
		if (list[i].mount)
			ok &= end_one(&list[i]);
	if (!list)
		fprintf(stderr, "rnfs: out of memory\n");
	free(list);
	return ok ? 0 : 1;
}

int upgrade_main(int argc, char **argv)
{
	bool of_all = argc == 2 && !strcmp(argv[1], "--all");
	struct err e = {0};
	struct mounts all;
	int status = 0;

	if (argc > 2 || (argc == 2 && argv[1][0] == '-' && !of_all)) {
		fprintf(stderr, "rnfs: the command line is rnfs upgrade [MOUNT | --all]\n");
		return 2;
	}
	if (!mounts_find(&all, true, &e) && of_all)
		status = run_all(&all);
	else if (!e.kind)
		run(&all, argc == 2 ? argv[1] : NULL, &e);
	mounts_free(&all);
	if (e.kind)
		fprintf(stderr, "rnfs: %s\n", e.msg);
	return e.kind == ERR_USAGE ? 2 : e.kind || fflush(stdout) ? 1 : status;
}
