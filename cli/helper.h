/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * helper: the program under the name mount.rnfs, which mount(8) calls for the type rnfs.
 *
 *     mount.rnfs SOURCE DIR [-sfnvrw] [-N NAMESPACE] [-t TYPE] [-o OPTION,...]
 *
 * The command line is rewritten as one of rnfs. Two things differ from rnfs itself, both so that a
 * line of fstab(5) means the same as for the type nfs. Root's mount lets all users in and honours
 * set-user-ID bits and device files, unless the options say otherwise. The exit status is one of
 * mount(8)'s.
 */
#ifndef RNFS_CLI_HELPER_H
#define RNFS_CLI_HELPER_H

#include <stdbool.h>

#include "transport/err.h"

/* Exit statuses of mount(8). */
#define HELPER_USAGE  1
#define HELPER_FAILED 32

/* Options in front of root's own. */
#define HELPER_ROOT_OPTIONS "allow_other,suid,dev"

struct helper {
	bool fake;    /* -f: all but the mount */
	bool verbose; /* -v */
	/* rnfs's command line, NULL at its end: argv and lists are on the heap, all other strings
	 * belong to the caller */
	int argc;
	char **argv;
	char *added; /* options in front of root's own, or NULL */
};

/* Has mount(8) called this program (argv[0]: program)? */
bool helper_named(const char *program);

/* Fills *h from mount(8)'s command line, which must outlive it, and enters the mount namespace of
 * -N. `root`: the caller is root. 0, or -1 with *e set (ERR_USAGE, or ERR_INTERNAL for want of
 * memory or of the namespace). helper_finish() is due in either case. Before any thread is made.
 */
int helper_init(struct helper *h, int argc, char **argv, bool root, struct err *e);
void helper_finish(struct helper *h);

#endif
