/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * installed: the program that is installed now.
 *
 * The first question, `rnfs --upgrade-format`, is a wrong option to a program from before records.
 * Only a program that has answered the first question is run with the arguments of a mount.
 */
#include "fs/program/installed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/program/daemon.h"
#include "fs/program/record.h"
#include "fs/program/successor.h"
#include "transport/clock.h"

#define ASK_MS	  10000u
#define FORMAT	  "rnfs-record %u\n"
#define NOTES	  "rnfs-notes %u\n"
#define WORDS_MAX (4u << 20) /* bytes of a command line, or of an environment */

void installed_print_formats(void)
{
	printf(FORMAT NOTES, RECORD_FORMAT, NOTES_FORMAT);
}

/* --- path, arguments, environment ------------------------------------------------------------- */

static bool find_path(char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	size_t end = sizeof(deleted) - 1;

	if (n <= 0)
		return false;
	path[n] = 0;
	if ((size_t)n > end && !strcmp(path + n - end, deleted))
		path[n - (ssize_t)end] = 0;
	return true;
}

/* Reads a file of words that each end with a NUL into a list, with room for one more word. The list
 * and *words are from malloc(). NULL: no memory, or the file cannot be read. */
static char **read_words(const char *path, char **words, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0, at = 0;
	char **list = NULL;
	ssize_t got = -1;

	*n = 0;
	*words = malloc(WORDS_MAX + 1);
	while (*words && fd >= 0 && len < WORDS_MAX &&
		(got = read(fd, *words + len, WORDS_MAX - len)) > 0)
		len += (size_t)got;
	if (fd >= 0)
		close(fd);
	if (!*words || got)
		return NULL;
	(*words)[len] = 0;
	for (size_t i = 0; i < len; i++)
		*n += !(*words)[i];
	list = calloc(*n + 2, sizeof(*list));
	for (size_t i = 0; list && i < *n; i++, at += strlen(*words + at) + 1)
		list[i] = *words + at;
	return list;
}

/* This process may be a successor itself. */
static void drop_variables(struct installed *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nenv; i++)
		if (strncmp(p->env[i], SUCCESSOR_VARIABLE "=", sizeof(SUCCESSOR_VARIABLE)) != 0 &&
			strncmp(p->env[i], HOLDER_VARIABLE "=", sizeof(HOLDER_VARIABLE)) != 0)
			p->env[kept++] = p->env[i];
	p->env[kept] = NULL;
	p->nenv = kept;
}

int installed_init(struct installed *p, struct err *e)
{
	size_t nargs;

	*p = (struct installed){.args = NULL};
	if (!find_path(p->path))
		return err_set(e, ERR_INTERNAL, "/proc does not tell where the program is");
	p->argv = read_words("/proc/self/cmdline", &p->args, &nargs);
	p->env = read_words("/proc/self/environ", &p->variables, &p->nenv);
	if (!p->argv || !p->env || !nargs)
		return err_set(e, ERR_INTERNAL,
			"the arguments of the daemon cannot be read from /proc, or there is no "
			"memory for them");
	drop_variables(p);
	return 0;
}

void installed_finish(struct installed *p)
{
	free(p->argv);
	free(p->args);
	free(p->env);
	free(p->variables);
}

/* --- questions -------------------------------------------------------------------------------- */

/* Starts the program with its output in *out. Returns its process, or -1 with errno. */
static pid_t start(const char *path, char *const *argv, char *const *env, int *out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int end[2], rc;
	pid_t pid;

	if (pipe2(end, O_CLOEXEC))
		return -1;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, end[1], 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	rc = posix_spawn(&pid, path, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(end[1]);
	*out = end[0];
	if (!rc)
		return pid;
	close(end[0]);
	errno = rc;
	return -1;
}

/* Reads the program's output into text, for ASK_MS at most. False: the output has not ended by
 * then. */
static bool read_output(int fd, char *text, size_t size)
{
	uint64_t end = clock_ns() + ASK_MS * NSEC_PER_MSEC, now = 0;
	size_t len = 0;

	while (len < size - 1 && (now = clock_ns()) < end) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) <= 0)
			continue;
		n = read(fd, text + len, size - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = 0;
	return now < end;
}

/* Is line, which ends with a line feed, a line of text? */
static bool has_line(const char *text, const char *line)
{
	const char *found = strstr(text, line);

	return found && (found == text || found[-1] == '\n');
}

/* Does the program say the line `want`? -1 with *e set: it cannot be run, or is too slow. */
static int answers(
	struct installed *p, char *const *argv, const char *want, bool *does, struct err *e)
{
	char text[256];
	int out, status;
	pid_t pid = start(p->path, argv, p->env, &out);
	bool ended;

	if (pid < 0)
		return err_set(
			e, ERR_INTERNAL, "%.200s cannot be run: %s", p->path, strerror(errno));
	ended = read_output(out, text, sizeof(text));
	close(out);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*does = has_line(text, want);
	if (ended || *does)
		return 0;
	return err_set(e, ERR_INTERNAL,
		"%.200s has not answered within %u s: try again when the machine is less busy",
		p->path, ASK_MS / 1000);
}

int installed_check(struct installed *p, bool by_notes, struct err *e)
{
	char name[] = "rnfs", format[] = "--upgrade-format", *argv[] = {name, format, NULL};
	char variable[] = SUCCESSOR_VARIABLE "=" SUCCESSOR_CHECK, want[64];
	bool does;

	snprintf(want, sizeof(want), by_notes ? NOTES : FORMAT,
		by_notes ? NOTES_FORMAT : RECORD_FORMAT);
	if (answers(p, argv, want, &does, e))
		return -1;
	if (!does)
		return err_set(e, ERR_INTERNAL,
			"%.200s cannot take over from this version: unmount and mount again when "
			"the mount is not in use",
			p->path);
	p->env[p->nenv] = variable;
	if (!answers(p, p->argv, want, &does, e) && !does)
		err_set(e, ERR_INTERNAL,
			"%.200s does not take the options of this mount: unmount and mount again "
			"with others",
			p->path);
	p->env[p->nenv] = NULL;
	return e->kind ? -1 : 0;
}

int installed_exec(struct installed *p, int record)
{
	char variable[40];
	sigset_t all, before;
	int error;

	snprintf(variable, sizeof(variable), SUCCESSOR_VARIABLE "=%d", record);
	p->env[p->nenv] = variable;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	execve(p->path, p->argv, p->env);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->env[p->nenv] = NULL;
	return error;
}
