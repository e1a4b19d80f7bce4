/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sidecar: rnfs --fd-from SOCKET, which gets its mount from a mounter.
 */
#include "cli/sidecar.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/handover.h"
#include "transport/clock.h"
#include "transport/log.h"

#define OPTION	"--fd-from"
#define WAIT_S	60u
#define SAY_S	2u
#define TICK_NS 100000000

static int mounter = -1;
static struct handover given;

/* Takes --fd-from and its value out of argv. Returns the value; NULL with *e set: no value. */
static char *take_option(int *argc, char **argv, int i, struct err *e)
{
	char *value = argv[i][strlen(OPTION)] ? argv[i] + strlen(OPTION) + 1 : argv[i + 1];
	int n = value == argv[i + 1] ? 2 : 1;

	if (!value || !*value) {
		err_set(e, ERR_USAGE, "option " OPTION " needs a value: give the mounter's socket");
		return NULL;
	}
	memmove(argv + i, argv + i + n, (*argc - i - n + 1) * sizeof(*argv));
	*argc -= n;
	return value;
}

static int find_option(int argc, char *const *argv)
{
	size_t len = strlen(OPTION);

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strncmp(argv[i], OPTION, len) && (!argv[i][len] || argv[i][len] == '='))
			return i;
	return 0;
}

static int try_connect(const char *path, struct err *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s, error;

	if (strlen(path) >= sizeof(at.sun_path)) {
		err_set(e, ERR_USAGE, OPTION " %.200s: a socket's path has %zu bytes at most", path,
			sizeof(at.sun_path) - 1);
		return -1;
	}
	strcpy(at.sun_path, path);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (s < 0 || !connect(s, (struct sockaddr *)&at, sizeof(at)))
		return s;
	error = errno;
	close(s);
	errno = error;
	return -1;
}

/* Does the error mean that no mounter listens at the socket so far? */
static bool may_come(int error)
{
	return error == ENOENT || error == ECONNREFUSED || error == EAGAIN;
}

/* Receives into `given`. 0; -1: the mounter is busy, or *e is set. */
static int hear(uint64_t until, struct err *e)
{
	struct pollfd p = {.fd = mounter, .events = POLLIN};
	uint64_t now = clock_ns();

	if (poll(&p, 1, until > now ? (int)((until - now) / NSEC_PER_MSEC) : 0) == 0)
		return err_set(e, ERR_INTERNAL,
			"the mounter has accepted a connection, but gives nothing");
	return handover_receive(mounter, &given, e);
}

/* Waits until a mounter has sent a mount. The mounter may start after this process, and may still
 * hold the connection of the previous sidecar. */
static int receive(const char *path, struct err *e)
{
	uint64_t begun = clock_ns(), until = begun + WAIT_S * NSEC_PER_SEC;
	const char *why;
	bool said = false;

	for (;;) {
		mounter = try_connect(path, e);
		if (mounter >= 0 && !hear(until, e))
			return 0;
		why = mounter >= 0 ? "it serves another sidecar" : strerror(errno);
		if (e->kind)
			return -1;
		if (mounter < 0 && !may_come(errno))
			return err_set(e, ERR_INTERNAL,
				OPTION " %.200s: the mounter cannot be reached: %s%s", path, why,
				errno == EACCES ? "; rnfs-mountfd --user says who may" : "");
		if (mounter >= 0)
			close(mounter);
		mounter = -1;
		if (clock_ns() > until)
			return err_set(e, ERR_INTERNAL,
				OPTION " %.200s: no mounter has given a mount for %u s (%s): start "
				       "rnfs-mountfd there",
				path, WAIT_S, why);
		if (!said && clock_age(clock_ns(), begun) > SAY_S * NSEC_PER_SEC) {
			log_always_warn("waiting for a mounter at %s (%s)", path, why);
			said = true;
		}
		nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
	}
}

/* Makes a command line of argv and of `given`. */
static char **make_argv(int *argc, char *const *argv)
{
	char **all = calloc(*argc + 6, sizeof(*all));
	static char device[40], dash_o[] = "-o", dashes[] = "--";
	int n = 1;

	if (!all)
		return NULL;
	snprintf(device, sizeof(device), "/dev/fd/%d", given.fd);
	all[0] = argv[0];
	for (int i = 1; i < *argc; i++)
		all[n++] = argv[i];
	if (given.options[0]) {
		all[n++] = dash_o;
		all[n++] = given.options;
	}
	all[n++] = dashes;
	all[n++] = given.source;
	all[n++] = device;
	*argc = n;
	return all;
}

int sidecar_begin(int *argc, char ***argv, struct err *e)
{
	int i = find_option(*argc, *argv);
	char *path;

	if (!i)
		return 0;
	path = take_option(argc, *argv, i, e);
	if (!path || receive(path, e))
		return -1;
	*argv = make_argv(argc, *argv);
	return *argv ? 0 : err_set(e, ERR_INTERNAL, "out of memory");
}

const char *sidecar_directory(void)
{
	return mounter >= 0 ? given.directory : NULL;
}

bool sidecar_is_foreign(void)
{
	return !given.pidns || given.pidns != handover_pidns();
}

void sidecar_tell(const char *sentence)
{
	static atomic_bool failed;

	if (mounter < 0 || atomic_load(&failed))
		return;
	handover_say(mounter, sentence);
	if (sentence)
		atomic_store(&failed, true);
}
