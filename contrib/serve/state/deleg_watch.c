/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg_watch: learns of changes that break no lease.
 */
#include "contrib/serve/state/deleg_watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

int deleg_watch_new(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETOWN, getpid()) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) == 0)
		return fd;
	close(fd);
	return -1;
}

static int watch(int watches, int file, uint32_t events)
{
	char path[32];

	if (watches < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return inotify_add_watch(watches, path, events);
}

int deleg_watch_add(int watches, int file)
{
	return watch(watches, file, IN_ATTRIB | IN_MOVE_SELF);
}

void deleg_watch_pause(int watches, int file)
{
	watch(watches, file, IN_CREATE); /* an event of directories only */
}

void deleg_watch_end(int watches, int wd)
{
	if (watches >= 0 && wd >= 0)
		inotify_rm_watch(watches, wd); /* the watch may have ended with the file */
}

bool deleg_watch_take(int watches, struct deleg_seen *seen)
{
	struct inotify_event events[DELEG_WATCH_SEEN]; /* without names: no directories */
	ssize_t len = watches < 0 ? -1 : read(watches, events, sizeof(events));

	seen->all = false;
	seen->n = 0;
	for (size_t i = 0; len > 0 && i < (size_t)len / sizeof(events[0]); i++) {
		if (events[i].mask & IN_Q_OVERFLOW)
			seen->all = true;
		else if (!(events[i].mask & IN_IGNORED))
			seen->wd[seen->n++] = events[i].wd;
	}
	return len > 0;
}

bool deleg_watch_has(const struct deleg_seen *seen, int wd)
{
	for (unsigned i = 0; i < seen->n; i++)
		if (seen->wd[i] == wd)
			return true;
	return seen->all;
}
