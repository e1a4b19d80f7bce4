/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * patience: how long the kernel waits for the answer to a request.
 */
#include "fs/file/patience.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SETTINGS "/proc/sys/fs/fuse/"

/* Reads a setting, in seconds, into *s; 0: none. False: the setting cannot be read. */
static bool setting(const char *root, const char *name, unsigned *s)
{
	char path[PATH_MAX];
	FILE *f;

	*s = 0;
	snprintf(path, sizeof(path), "%s" SETTINGS "%s", root, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%u", s) != 1)
		*s = 0;
	fclose(f);
	return true;
}

/* Computes the bound as the kernel does for a daemon that asks for no bound of its own. */
bool patience_s(const char *root, unsigned *bound_s)
{
	unsigned s, most;

	if (!setting(root, "default_request_timeout", &s) ||
		!setting(root, "max_request_timeout", &most))
		return false;
	if (most && (!s || s > most))
		s = most;
	*bound_s = s && s < PATIENCE_LEAST_S ? PATIENCE_LEAST_S : s;
	return true;
}

unsigned patience_answer_s(unsigned bound_s)
{
	return bound_s * 3 / 4;
}

void patience_say(unsigned bound_s, char *text, size_t size)
{
	snprintf(text, size,
		"the kernel ends a mount of which one request waits for more than %u s "
		"(fs.fuse.max_request_timeout, fs.fuse.default_request_timeout), so requests fail "
		"with ETIMEDOUT when the server has not answered for %u s: to have them wait, set "
		"both to 0 with sysctl and mount again",
		bound_s, patience_answer_s(bound_s));
}

void patience_say_unknown(char *text, size_t size)
{
	snprintf(text, size,
		"the kernel may end a mount of which one request waits for too long: " SETTINGS
		"max_request_timeout and default_request_timeout, which say so, cannot be read "
		"here (%s) and are taken for 0: set both to 0, or mount where they can be read",
		strerror(errno));
}
