/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * helper: the command line of mount.rnfs.
 */
#include "cli/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool helper_named(const char *program)
{
	const char *slash = strrchr(program, '/');

	return !strcmp(slash ? slash + 1 : program, "mount.rnfs");
}

static int enter(const char *ns, struct err *e)
{
	int fd = open(ns, O_RDONLY | O_CLOEXEC), rc = -1;

	if (fd >= 0)
		rc = setns(fd, CLONE_NEWNS);
	if (rc)
		err_set(e, ERR_INTERNAL,
			"option -N: the mount namespace %.100s cannot be entered: %s", ns,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

static void add(struct helper *h, char *word)
{
	h->argv[h->argc++] = word;
}

static void add_list(struct helper *h, char *list)
{
	static char dash_o[] = "-o";

	add(h, dash_o);
	add(h, list);
}

/* Is name in the comma-separated list? */
static bool has_option(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *s = list; s; s = strchr(s, ',')) {
		s += *s == ',';
		if (!strncmp(s, name, len) && (!s[len] || s[len] == ','))
			return true;
	}
	return false;
}

/* Adds HELPER_ROOT_OPTIONS. The kernel's client has no such restrictions, and mount.fuse(8) passes
 * suid and dev, too. The added options stand in front, since later options take precedence. libfuse
 * refuses allow_other beside allow_root. */
static int add_roots(struct helper *h, int argc, char **argv, struct err *e)
{
	bool alone = false;

	for (int i = 1; i < argc; i++)
		alone |= has_option(argv[i], "allow_root");
	h->added = strdup(alone ? strchr(HELPER_ROOT_OPTIONS, ',') + 1 : HELPER_ROOT_OPTIONS);
	if (!h->added)
		return err_set(e, ERR_INTERNAL, "out of memory");
	add_list(h, h->added);
	return 0;
}

static int parse(struct helper *h, int argc, char **argv, const char **ns, struct err *e)
{
	static char sloppy[] = "-s", read_only[] = "-r", read_write[] = "-w";
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt(argc, argv, ":sfnvrwN:t:o:")) != -1) {
		switch (c) {
		case 's':
			add(h, sloppy);
			break;
		case 'f':
			h->fake = true;
			break;
		case 'v':
			h->verbose = true;
			break;
		case 'r':
			add(h, read_only);
			break;
		case 'w':
			add(h, read_write);
			break;
		case 'N':
			*ns = optarg;
			break;
		case 'o':
			add_list(h, optarg);
			break;
		case 'n': /* there is no mtab */
		case 't': /* rnfs or fuse.rnfs */
			break;
		default:
			return err_set(e, ERR_USAGE,
				c == ':' ? "option -%c needs a value: call mount -t rnfs"
					 : "unknown option -%c: call mount -t rnfs",
				optopt);
		}
	}
	if (argc - optind != 2)
		return err_set(e, ERR_USAGE,
			"the command line is mount.rnfs SERVER:/EXPORT MOUNTPOINT [-o OPTION,...], "
			"and mount -t rnfs calls it");
	add(h, argv[optind]);
	add(h, argv[optind + 1]);
	return 0;
}

int helper_init(struct helper *h, int argc, char **argv, bool root, struct err *e)
{
	static char name[] = "rnfs";
	const char *ns = NULL;

	*h = (struct helper){.argv = calloc((size_t)argc * 2 + 4, sizeof(*h->argv))};
	if (!h->argv)
		return err_set(e, ERR_INTERNAL, "out of memory");
	add(h, name);
	if (root && add_roots(h, argc, argv, e))
		return -1;
	if (parse(h, argc, argv, &ns, e))
		return -1;
	return ns ? enter(ns, e) : 0;
}

void helper_finish(struct helper *h)
{
	free(h->added);
	free(h->argv);
	*h = (struct helper){0};
}
