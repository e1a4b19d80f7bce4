/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountinfo: the kernel's list of mounts.
 *
 *     36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 */
#include "cli/mountinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next word of the line, with the escapes (\040) replaced; NULL at the end. */
static char *word(char **line)
{
	char *w = strsep(line, " \n"), *to = w;

	if (!w || !*w)
		return NULL;
	for (const char *from = w; *from; to++) {
		bool escape = from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
			      from[2] >= '0' && from[2] <= '7' && from[3] >= '0' && from[3] <= '7';

		*to = escape ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'))
			     : *from;
		from += escape ? 4 : 1;
	}
	*to = 0;
	return w;
}

/* The rest of the option "name..." in the comma-separated list, or NULL. */
static const char *option(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *s = list; s; s = strchr(s, ',')) {
		s += *s == ',';
		if (!strncmp(s, name, len))
			return s + len;
	}
	return NULL;
}

static bool number(const char *list, const char *name, unsigned *out)
{
	const char *value = option(list, name);

	return value && sscanf(value, "%u", out) == 1;
}

bool mountinfo_parse(char *line, struct mountinfo *out)
{
	char *id = word(&line), *parent = word(&line), *dev = word(&line), *root = word(&line);
	char *dir = word(&line), *flags = word(&line), *w, *type, *source, *options;

	memset(out, 0, sizeof(*out));
	while ((w = word(&line)) && strcmp(w, "-"))
		;
	type = word(&line);
	source = word(&line);
	options = word(&line);
	if (!id || !parent || !dev || !root || !dir || !flags || !w || !type || !source)
		return false;
	if (sscanf(id, "%u", &out->id) != 1 || sscanf(dev, "%u:%u", &out->major, &out->minor) != 2)
		return false;
	snprintf(out->flags, sizeof(out->flags), "%s", flags);
	snprintf(out->type, sizeof(out->type), "%s", type);
	snprintf(out->source, sizeof(out->source), "%s", source);
	snprintf(out->dir, sizeof(out->dir), "%s", dir);
	out->owned = !strncmp(type, "fuse", 4) && options &&
		     number(options, "user_id=", &out->uid) &&
		     number(options, "group_id=", &out->gid);
	out->shared = out->owned && option(options, "allow_other");
	return true;
}

static bool mount_id(int fd, unsigned *id)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "mnt_id: %u", id) == 1;
	fclose(f);
	return found;
}

bool mountinfo_of(int fd, struct mountinfo *out)
{
	char *line = NULL;
	bool found = false;
	size_t size = 0;
	unsigned id;
	FILE *f;

	if (!mount_id(fd, &id))
		return false;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return false;
	while (!found && getline(&line, &size, f) > 0)
		found = mountinfo_parse(line, out) && out->id == id;
	free(line);
	fclose(f);
	return found;
}
