/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * patience: how long the kernel waits for the answer to a request.
 */
#include "fs/patience.h"

#include <limits.h>
#include <stdio.h>

/* A setting's seconds; 0: none, or this kernel has no such setting. */
static unsigned setting(const char *root, const char *name)
{
	char path[PATH_MAX];
	unsigned s = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/sys/fs/fuse/%s", root, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &s) != 1)
		s = 0;
	fclose(f);
	return s;
}

/* As the kernel reckons for a daemon that asks for no bound of its own. */
unsigned patience_s(const char *root)
{
	unsigned s = setting(root, "default_request_timeout");
	unsigned most = setting(root, "max_request_timeout");

	if (most && (!s || s > most))
		s = most;
	return s && s < PATIENCE_LEAST_S ? PATIENCE_LEAST_S : s;
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
