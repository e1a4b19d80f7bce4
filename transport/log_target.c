/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_target: the place of the lines of the log.
 *
 * Lines of a file or the journal are written to `fd`. Once open, `fd` stays the same number: dup3()
 * puts another file in its place.
 */
#include "transport/log_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "transport/quote.h"
#include "transport/state_dir.h"

#define SYSLOG_SOCKET  "/dev/log"
#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define INIT_STDERR    "/proc/1/fd/2"
#define OWN_FILE_MAX   (1 << 20) /* bytes: a larger file of the state directory is put aside */

static _Atomic int now = LOG_TO_STDERR; /* an enum log_to, not LOG_TO_AUTO */
static int fd = -1;
static char path[PATH_MAX]; /* of fd, if fd is a file */
static _Atomic unsigned unwritten;
static _Atomic bool torn; /* the last line was written in part: it lacks its line feed */

bool log_choice_target(struct log_choice *c, const char *word)
{
	if (!strcmp(word, "stderr"))
		c->to = LOG_TO_STDERR;
	else if (!strcmp(word, "syslog"))
		c->to = LOG_TO_SYSLOG;
	else if (!strcmp(word, "journal"))
		c->to = LOG_TO_JOURNAL;
	else if (word[0] == '/' && strlen(word) < sizeof(c->file))
		c->to = LOG_TO_FILE;
	else
		return false;
	snprintf(c->file, sizeof(c->file), "%s", c->to == LOG_TO_FILE ? word : "");
	return true;
}

bool log_choice_form(struct log_choice *c, const char *word)
{
	if (strcmp(word, "text") && strcmp(word, "json"))
		return false;
	c->json = word[0] == 'j';
	return true;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* 0 if root/name is a socket that takes datagrams, else -1 with errno. */
static int try_socket(const char *root, const char *name)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s, r, error;

	if ((size_t)snprintf(at.sun_path, sizeof(at.sun_path), "%s%s", root, name) >=
		sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -1;
	r = connect(s, (struct sockaddr *)&at, sizeof(at));
	error = errno;
	close(s);
	errno = error;
	return r;
}

/* A stream socket is also possible: syslog(3) takes it. */
static bool syslog_listens(const char *root)
{
	return !try_socket(root, SYSLOG_SOCKET) || errno == EPROTOTYPE;
}

/* Not blocking: a FIFO or a pipe may have no reader, or a reader that does not read. */
static int open_file(const char *name)
{
	return open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

/* Puts other in the place of fd, for threads that may be writing. False, with errno: fd is as it
 * was. other is the callee's in either case. */
static bool put_fd(int other)
{
	int rc, error;

	if (fd < 0) {
		fd = other;
		return true;
	}
	do
		rc = dup3(other, fd, O_CLOEXEC);
	while (rc < 0 && (errno == EINTR || errno == EBUSY));
	error = errno;
	close(other);
	errno = error;
	return rc >= 0;
}

static int open_journal(const struct log_choice *c, struct err *e)
{
	int s;

	if (c->json)
		return err_set(e, ERR_USAGE,
			"entries of the journal have fields of their own: leave out the format "
			"json");
	if (try_socket("", JOURNAL_SOCKET) ||
		(s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) < 0 || !put_fd(s))
		return err_set(e, ERR_INTERNAL,
			JOURNAL_SOCKET " cannot be reached (%s): log to stderr or to a file where "
				       "systemd-journald does not run",
			strerror(errno));
	return 0;
}

static int open_path(const char *file, struct err *e)
{
	int f = open_file(file);

	if (f < 0 || !put_fd(f))
		return err_set(e, ERR_INTERNAL,
			"the log %.200s cannot be opened (%s): give a file that you can write to",
			file, strerror(errno));
	snprintf(path, sizeof(path), "%s", file);
	return 0;
}

int log_target_open(const struct log_choice *c, struct err *e)
{
	switch (c->to) {
	case LOG_TO_SYSLOG:
		if (syslog_listens(""))
			return 0;
		return err_set(e, ERR_INTERNAL,
			SYSLOG_SOCKET
			" cannot be reached (%s): start syslogd, or log to stderr or to "
			"a file",
			strerror(errno));
	case LOG_TO_JOURNAL:
		return open_journal(c, e);
	case LOG_TO_FILE:
		return open_path(c->file, e);
	default:
		return 0;
	}
}

bool log_target_is_in(const struct log_choice *c, const char *dir)
{
	return c->to == LOG_TO_FILE && state_dir_is_in(c->file, dir);
}

/* --- the choice ------------------------------------------------------------------------------- */

/* The state directory's file, made if need be. A large file is first put aside. */
static bool own_file(const char *root, char *name)
{
	char dir[PATH_MAX / 2], aside[PATH_MAX];
	struct stat st;
	int file;

	if (!state_dir(dir, sizeof(dir)))
		return false;
	snprintf(name, PATH_MAX, "%s%s", root, dir);
	state_dir_make(name);
	snprintf(name, PATH_MAX, "%s%s/log", root, dir);
	if (!stat(name, &st) && st.st_size > OWN_FILE_MAX) {
		snprintf(aside, sizeof(aside), "%s%s/log.old", root, dir);
		rename(name, aside);
	}
	file = open_file(name);
	if (file >= 0)
		close(file);
	return file >= 0;
}

static bool opens(const char *name)
{
	int file = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (file >= 0)
		close(file);
	return file >= 0;
}

enum log_to log_target_find(const char *root, char *name)
{
	struct stat own = {0}, init;
	bool known;

	if (syslog_listens(root))
		return LOG_TO_SYSLOG;
	if (!try_socket(root, JOURNAL_SOCKET))
		return LOG_TO_JOURNAL;
	if (!fstat(STDERR_FILENO, &own) && S_ISREG(own.st_mode))
		return LOG_TO_STDERR;
	snprintf(name, PATH_MAX, "%s" INIT_STDERR, root);
	known = !stat(name, &init) && (S_ISREG(init.st_mode) || S_ISFIFO(init.st_mode));
	if (known && init.st_dev == own.st_dev && init.st_ino == own.st_ino)
		return LOG_TO_STDERR;
	if ((known && opens(name)) || own_file(root, name))
		return LOG_TO_FILE;
	return LOG_TO_STDERR;
}

static enum log_to settle(char *said)
{
	struct log_choice c = {.to = log_target_find("", c.file)};

	if (log_target_open(&c, NULL))
		return LOG_TO_STDERR;
	if (c.to == LOG_TO_FILE)
		snprintf(said, LOG_TARGET_SAID, "the log is %s, as there is no " SYSLOG_SOCKET,
			c.file);
	return c.to;
}

void log_target_use(enum log_to to, const char *program, char *said)
{
	said[0] = 0;
	if (to == LOG_TO_AUTO)
		to = settle(said);
	if (to == LOG_TO_SYSLOG)
		openlog(program, LOG_PID, LOG_DAEMON);
	atomic_store(&now, to);
}

enum log_to log_target_used(void)
{
	return atomic_load(&now);
}

bool log_target_reopen(void)
{
	int file = open_file(path);

	return file >= 0 && put_fd(file);
}

/* --- lines ------------------------------------------------------------------------------------ */

static size_t form(const struct log_entry *e, enum log_to to, bool json, char *text, size_t size)
{
	if (to == LOG_TO_JOURNAL)
		return log_entry_journal(e, text, size);
	if (json)
		return log_entry_json(e, text, size);
	return to == LOG_TO_FILE ? log_entry_text(e, text, size) : log_entry_plain(e, text, size);
}

/* The journal may have been started again: it is found by its name each time. */
static bool put(enum log_to to, const char *text, size_t n)
{
	static const struct sockaddr_un journal = {
		.sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET};
	int file = to == LOG_TO_FILE ? fd : STDERR_FILENO;
	ssize_t done;

	if (to == LOG_TO_JOURNAL)
		return sendto(fd, text, n, MSG_NOSIGNAL, (const struct sockaddr *)&journal,
			       sizeof(journal)) == (ssize_t)n;
	if (atomic_load_explicit(&torn, memory_order_relaxed) && atomic_exchange(&torn, false) &&
		write(file, "\n", 1) != 1) {
		atomic_store(&torn, true);
		return false;
	}
	done = write(file, text, n);
	if (done > 0 && done < (ssize_t)n)
		atomic_store(&torn, true);
	return done == (ssize_t)n;
}

static void to_syslog(const struct log_entry *e, bool json)
{
	char text[LOG_ENTRY_MAX];
	size_t n;

	if (json) {
		n = log_entry_json(e, text, sizeof(text));
		text[n - 1] = 0; /* instead of the line feed */
	} else {
		quote_line(text, sizeof(text), e->message);
	}
	syslog(log_entry_priority(e->level), "%s", text);
}

static bool write_one(const struct log_entry *e, enum log_to to, bool json)
{
	char text[LOG_ENTRY_MAX];

	return put(to, text, form(e, to, json, text, sizeof(text)));
}

/* A line in place of the lost ones. */
static void tell_unwritten(const struct log_entry *next, enum log_to to, bool json)
{
	unsigned n = atomic_exchange(&unwritten, 0);
	struct log_entry e = *next;
	char text[100];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%u lines of the log could not be written and are lost", n);
	e.level = LOG_L_WARN;
	e.message = text;
	if (!write_one(&e, to, json))
		atomic_fetch_add(&unwritten, n);
}

void log_target_write(const struct log_entry *e, bool json)
{
	enum log_to to = log_target_used();

	if (to == LOG_TO_SYSLOG) {
		to_syslog(e, json);
		return;
	}
	if (atomic_load_explicit(&unwritten, memory_order_relaxed))
		tell_unwritten(e, to, json);
	if (!write_one(e, to, json))
		atomic_fetch_add(&unwritten, 1);
}
