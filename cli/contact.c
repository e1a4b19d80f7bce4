/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * contact: a connection of a command to the socket of a daemon.
 */
#include "cli/contact.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/runtime_dir.h"

#define FULL_TICK_MS 5
#define STALE_S	     10 /* a daemon may be about to listen at a younger socket */

static int open_socket(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	error = errno;
	close(fd);
	return -error;
}

int contact_open(struct contact *c, const char *path)
{
	const struct timespec pause = {.tv_nsec = FULL_TICK_MS * 1000000};
	struct ucred peer;
	socklen_t len = sizeof(peer);

	c->len = c->at = 0;
	c->ended = false;
	c->fd = open_socket(path);
	for (unsigned ms = 0; c->fd == -EAGAIN && ms < CONTACT_FULL_MS; ms += FULL_TICK_MS) {
		nanosleep(&pause, NULL);
		c->fd = open_socket(path);
	}
	if (c->fd < 0) {
		int error = c->fd;

		c->fd = -1;
		return error;
	}
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len)) {
		contact_close(c);
		return -EACCES;
	}
	c->uid = peer.uid;
	return 0;
}

void contact_close(struct contact *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void contact_ask(struct contact *c, const struct ask *a)
{
	char line[ASK_MAX + 1];
	size_t len = ask_format(a, line);

	/* before hanging up, the daemon may have sent the reason */
	if (send(c->fd, line, len, MSG_NOSIGNAL) < 0)
		return;
}

/* Takes a line out of the buffer, or returns NULL. */
static char *take_line(struct contact *c)
{
	char *line = c->buf + c->at, *end = memchr(line, '\n', c->len - c->at);

	if (!end)
		return NULL;
	*end = 0;
	c->at = (size_t)(end + 1 - c->buf);
	return line;
}

/* Reads more. 0, or -1 with *e set. */
static int fill(struct contact *c, int timeout_ms, struct err *e)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	ssize_t n;
	int ready;

	memmove(c->buf, c->buf + c->at, c->len - c->at);
	c->len -= c->at;
	c->at = 0;
	if (c->len == sizeof(c->buf))
		return err_set(e, ERR_PROTOCOL, "the daemon's answer has a line that is too long");
	do
		ready = poll(&p, 1, timeout_ms);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return err_set(e, ERR_UNREACHABLE,
			"the daemon does not answer: the process may be stopped");
	n = read(c->fd, c->buf + c->len, sizeof(c->buf) - c->len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return err_set(e, ERR_UNREACHABLE, "the daemon has closed the connection");
	c->len += (size_t)n;
	return 0;
}

char *contact_line(struct contact *c, int timeout_ms, struct err *e)
{
	static const char error[] = ANSWER_ERROR " ";
	char *line;

	if (c->ended)
		return NULL;
	for (;;) {
		while (!(line = take_line(c)))
			if (fill(c, timeout_ms, e))
				return NULL;
		if (!strncmp(line, error, sizeof(error) - 1)) {
			err_set(e, ERR_REFUSED, "%s", line + sizeof(error) - 1);
			return NULL;
		}
		if (!strcmp(line, ANSWER_OK))
			continue;
		c->ended = !strcmp(line, ANSWER_END);
		return c->ended ? NULL : line;
	}
}

/* --- sockets of killed daemons ---------------------------------------------------------------- */

static bool is_stale(const char *path)
{
	struct timespec now;
	struct stat st;
	int fd = open_socket(path);

	if (fd >= 0)
		close(fd);
	if (fd != -ECONNREFUSED || lstat(path, &st) || !S_ISSOCK(st.st_mode))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - st.st_mtim.tv_sec > STALE_S || now.tv_sec < st.st_mtim.tv_sec;
}

void contact_sweep(const char *dir)
{
	static const char end[] = RUNTIME_SOCKET_END;
	char path[RUNTIME_SOCKET_MAX];
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while ((entry = readdir(d))) {
		size_t len = strlen(entry->d_name);
		int n = snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);

		if (len > sizeof(end) - 1 &&
			!strcmp(entry->d_name + len - (sizeof(end) - 1), end) &&
			n < (int)sizeof(path) && is_stale(path))
			unlink(path);
	}
	closedir(d);
}
