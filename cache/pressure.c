/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pressure: how much memory the system leaves this process.
 */
#include "cache/pressure.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX 8192
#define NO_LIMIT ((uint64_t)1 << 60) /* version 1 shows "no limit" as a number near 2^63 */

/* Reads the beginning of a file as text. False: the file is missing or empty. */
static bool read_text(const char *path, char text[TEXT_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	while (len < TEXT_MAX - 1 && (n = read(fd, text + len, TEXT_MAX - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = 0;
	return len > 0;
}

/* Reads a number from a file; UINT64_MAX: "max", or no such file. */
static uint64_t read_number(const char *dir, size_t len, const char *name)
{
	char path[PATH_MAX], text[TEXT_MAX], *end;
	uint64_t n;

	if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, name) >= sizeof(path) ||
		!read_text(path, text))
		return UINT64_MAX;
	n = strtoull(text, &end, 10);
	return end == text || n >= NO_LIMIT ? UINT64_MAX : n;
}

/* The number behind key in memory.stat or meminfo; 0: no such key. */
static uint64_t stat_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *s = text; s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (!strncmp(s, key, len) && s[len] == ' ')
			return strtoull(s + len, NULL, 10);
	}
	return 0;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Is `name` in the list of n bytes of controllers with commas between? */
static bool lists(const char *s, size_t n, const char *name)
{
	size_t len = strlen(name);

	for (const char *end = s + n; s < end;) {
		size_t part = strcspn(s, ",:");

		if (part == len && !memcmp(s, name, len))
			return true;
		s += part + 1;
	}
	return false;
}

/* Cuts this process's group out of the text of /proc/self/cgroup: the group of version 2, or the
 * version 1 group with the controller. NULL: no such group. */
static char *group_in(char *text, const char *controller)
{
	for (char *s = text, *next; s && *s; s = next) {
		char *names = strchr(s, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		next = strchr(s, '\n');
		if (!path || (next && path > next)) {
			next = next ? next + 1 : NULL;
			continue;
		}
		if (controller ? lists(names + 1, (size_t)(path - names - 1), controller)
			       : path == names + 1) {
			if (next)
				*next = 0;
			return path + 1;
		}
		next = next ? next + 1 : NULL;
	}
	return NULL;
}

/* Sets our group: `path` below root and where. A container without a cgroup namespace sees the
 * machine's path in /proc/self/cgroup, but its own group at the top. */
static bool set_group(
	struct pressure *p, const char *root, const char *where, const char *path, bool v1)
{
	char dir[PATH_MAX];
	int top = snprintf(dir, sizeof(dir), "%s%s", root, where);

	if (top >= (int)sizeof(dir) || access(dir, F_OK))
		return false;
	if (!strcmp(path, "/") || strstr(path, "..") || strlen(path) >= sizeof(dir) - (size_t)top)
		path = "";
	strcpy(dir + top, path);
	p->group = strdup(dir);
	p->top = (size_t)top;
	p->v1 = v1;
	return p->group != NULL;
}

static void find_group(struct pressure *p, const char *root)
{
	char path[PATH_MAX], text[TEXT_MAX], *group;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	if (!read_text(path, text))
		return;
	group = group_in(text, "memory");
	if (group && (set_group(p, root, "/sys/fs/cgroup/memory", group, true)))
		return;
	if (!read_text(path, text))
		return;
	group = group_in(text, NULL);
	if (group && !set_group(p, root, "/sys/fs/cgroup/unified", group, false))
		set_group(p, root, "/sys/fs/cgroup", group, false);
}

/* Shortens *len, a group's length in p->group, to the length of the group above. False: no group is
 * above. */
static bool above(const struct pressure *p, size_t *len)
{
	if (*len <= p->top)
		return false;
	while (*len > p->top && p->group[*len - 1] != '/')
		--*len;
	if (*len > p->top)
		--*len;
	return true;
}

static uint64_t limit_of(const struct pressure *p, size_t len)
{
	uint64_t max, high;

	if (p->v1)
		return read_number(p->group, len, "memory.limit_in_bytes");
	max = read_number(p->group, len, "memory.max");
	high = read_number(p->group, len, "memory.high");
	return high < max ? high : max;
}

/* The bytes that a group uses, pages of files included; UINT64_MAX: unknown. */
static uint64_t used_of(const struct pressure *p, size_t len)
{
	return read_number(p->group, len, p->v1 ? "memory.usage_in_bytes" : "memory.current");
}

/* The bytes that a group uses and that the kernel cannot reclaim. */
static uint64_t held_of(const struct pressure *p, size_t len)
{
	uint64_t used = used_of(p, len);
	char path[PATH_MAX], text[TEXT_MAX];
	uint64_t files;

	if (used == UINT64_MAX ||
		(size_t)snprintf(path, sizeof(path), "%.*s/memory.stat", (int)len, p->group) >=
			sizeof(path) ||
		!read_text(path, text))
		return 0;
	files = p->v1 ? stat_of(text, "total_inactive_file") + stat_of(text, "total_active_file")
		      : stat_of(text, "inactive_file") + stat_of(text, "active_file");
	return files < used ? used - files : 0;
}

size_t pressure_limit(const struct pressure *p)
{
	size_t len = p->group ? strlen(p->group) : 0;
	uint64_t least = UINT64_MAX;

	if (!p->group)
		return SIZE_MAX;
	do {
		uint64_t limit = limit_of(p, len);

		least = limit < least ? limit : least;
	} while (above(p, &len));
	return least < SIZE_MAX ? (size_t)least : SIZE_MAX;
}

size_t pressure_room(const struct pressure *p, unsigned part)
{
	size_t len = p->group ? strlen(p->group) : 0;
	uint64_t least = UINT64_MAX;

	if (!p->group)
		return SIZE_MAX;
	do {
		uint64_t limit = limit_of(p, len), most = limit - limit / part, held, room;

		if (limit == UINT64_MAX)
			continue;
		held = held_of(p, len);
		room = held < most ? most - held : 0;
		least = room < least ? room : least;
	} while (above(p, &len));
	return least < SIZE_MAX ? (size_t)least : SIZE_MAX;
}

/* Has the machine plenty of memory for new programs? False also if meminfo does not tell. */
static bool machine_has_plenty(const struct pressure *p)
{
	uint64_t all, left;
	char text[TEXT_MAX];

	if (!read_text(p->meminfo, text))
		return false;
	all = stat_of(text, "MemTotal:");
	left = stat_of(text, "MemAvailable:");
	return all && left > all / PRESSURE_PLENTY;
}

bool pressure_stall_counts(const struct pressure *p)
{
	size_t len = p->group ? strlen(p->group) : 0;

	if (!machine_has_plenty(p))
		return true;
	if (!p->group)
		return false;
	do {
		uint64_t limit = limit_of(p, len), used;

		if (limit == UINT64_MAX)
			continue;
		/* Pages of files fill every group in time. Only stalls in the group itself show
		 * that the group's processes wait until the kernel takes such pages. */
		used = p->of_group ? used_of(p, len) : held_of(p, len);
		if (used != UINT64_MAX &&
			used >= limit - limit / (p->of_group ? PRESSURE_ROOM : PRESSURE_PLENTY))
			return true;
	} while (above(p, &len));
	return false;
}

/* --- stalls ----------------------------------------------------------------------------------- */

/* The kernel watches as long as the descriptor is open. */
static int watch(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	char text[64];
	int len = snprintf(text, sizeof(text), "some %d %d", PRESSURE_STALL_US, PRESSURE_WINDOW_US);

	if (fd < 0)
		return -1;
	if (write(fd, text, (size_t)len + 1) > 0)
		return fd;
	close(fd);
	return -1;
}

void pressure_init(struct pressure *p, const char *root)
{
	char path[PATH_MAX];

	*p = (struct pressure){.fd = -1};
	find_group(p, root);
	if (p->group && !p->v1 &&
		(size_t)snprintf(path, sizeof(path), "%s/memory.pressure", p->group) < sizeof(path))
		p->fd = watch(path);
	p->of_group = p->fd >= 0;
	snprintf(p->meminfo, sizeof(p->meminfo), "%s/proc/meminfo", root);
	if (p->fd < 0) {
		snprintf(path, sizeof(path), "%s/proc/pressure/memory", root);
		p->fd = watch(path);
	}
}

void pressure_lost(struct pressure *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void pressure_finish(struct pressure *p)
{
	pressure_lost(p);
	free(p->group);
	p->group = NULL;
}
