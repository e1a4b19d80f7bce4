/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * first: the first connection of a mount.
 */
#include "fs/program/first.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fs/program/connect.h"
#include "fs/program/record.h"
#include "fs/program/upcall.h"
#include "transport/clock.h"
#include "transport/log.h"

#define SLOW_MS	     2000 /* after this time the user is told of the wait */
#define LOOK_MS	     500
#define END_MS	     2000 /* how long an unwanted attempt may take to end */
#define PAUSE_MIN_MS 500
#define PAUSE_MAX_MS 10000

/* The thread of the attempt owns this until it writes done_fd. */
struct attempt {
	struct fs *fs;
	pthread_t thread;
	int done_fd;
	struct nfs_client *client;
	bool passes; /* the failure may be over later */
	char why[1500];
};

struct first {
	struct fs *fs;
	struct daemon *d;
	first_wanted_fn *wanted;
	void *ctx;
	uint64_t began, end; /* on clock_ns(); end: no later attempt is made */
	bool told;	     /* the user knows of the wait for the server */
};

static void *attempt_main(void *arg)
{
	struct attempt *a = arg;

	a->client = connect_server(a->fs, &upcalls, &a->passes, a->why, sizeof(a->why));
	eventfd_write(a->done_fd, 1);
	return NULL;
}

/* Starts the thread with all signals blocked: signals are for the main thread. */
static int start_thread(struct attempt *a)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&a->thread, NULL, attempt_main, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void tell_slow(struct first *f)
{
	if (f->told || clock_age(clock_ns(), f->began) < SLOW_MS * NSEC_PER_MSEC)
		return;
	f->told = true;
	log_line_now(LOG_L_WARN, "waiting for %s to answer (connect_timeout=%u seconds%s)",
		f->fs->opt->host, f->fs->opt->connect_ms / 1000,
		f->fs->opt->proto == PROTO_AUTO || f->fs->opt->proto == PROTO_AUTO_RDMA
			? " for each transport"
			: "");
}

/* Waits for ms, or until fd (-1: none) is readable: true. Ends earlier, with *unwanted set, if the
 * mount is not wanted. */
static bool wait_for(struct first *f, int fd, uint64_t ms, bool *unwanted)
{
	uint64_t end = clock_ns() + ms * NSEC_PER_MSEC;

	for (;;) {
		struct pollfd p[] = {
			{.fd = fd, .events = POLLIN}, {.fd = f->fs->wake_fd, .events = POLLIN}};
		uint64_t now = clock_ns();
		eventfd_t n;

		*unwanted = !f->wanted(f->ctx);
		if (*unwanted || now >= end)
			return false;
		ms = (end - now) / NSEC_PER_MSEC + 1;
		if (poll(p, 2, ms < LOOK_MS ? (int)ms : LOOK_MS) > 0 && p[0].revents)
			return true;
		if (p[1].revents)
			eventfd_read(
				/* the file behind the name is looked at later */
				f->fs->wake_fd, &n);
		if (fd >= 0)
			tell_slow(f);
	}
}

static struct attempt *attempt_free(struct attempt *a)
{
	if (a && a->done_fd >= 0)
		close(a->done_fd);
	free(a);
	return NULL;
}

static struct attempt *attempt_new(struct fs *fs)
{
	struct attempt *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->fs = fs;
	a->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return a->done_fd < 0 || start_thread(a) ? attempt_free(a) : a;
}

/* Leaves an unwanted attempt, which may end soon. Otherwise the end of the process ends the
 * attempt. */
static enum first_end leave(struct attempt *a)
{
	struct pollfd p = {.fd = a->done_fd, .events = POLLIN};

	/* the end of a client gives the server all state back, which the former program needs */
	if ((a->fs->record && a->fs->record->on_trial) || poll(&p, 1, END_MS) != 1)
		return FIRST_LEFT;
	pthread_join(a->thread, NULL);
	nfs_client_free(a->client);
	attempt_free(a);
	return FIRST_UNWANTED;
}

/* One attempt. FIRST_FAILED: *passes tells whether another attempt may do better. */
static enum first_end try_once(struct first *f, bool *passes, char *why, size_t size)
{
	struct attempt *a = attempt_new(f->fs);
	bool unwanted;

	*passes = false;
	if (!a) {
		snprintf(why, size, "out of memory, threads or file descriptors");
		return FIRST_FAILED;
	}
	while (!wait_for(f, a->done_fd, LOOK_MS, &unwanted))
		if (unwanted)
			return leave(a);
	pthread_join(a->thread, NULL);
	f->fs->client = a->client;
	*passes = a->passes;
	snprintf(why, size, "%s", a->why);
	attempt_free(a);
	return f->fs->client ? FIRST_CONNECTED : FIRST_FAILED;
}

/* Tells of the first failure of several attempts. False: with bg, the parent has gone before. */
static bool tell_failure(struct first *f, const char *why)
{
	const struct options *o = f->fs->opt;

	f->told = true;
	if (o->delay_connect || f->fs->record)
		log_always_warn("%s; waiting for the server", why);
	else
		log_always_warn("%s; trying again for %u minute%s%s", why, o->retry_min,
			o->retry_min == 1 ? "" : "s", o->bg ? ", in the background" : "");
	return !o->bg || f->fs->record || daemon_ready(f->d);
}

/* Without this successor the mount would end, so the successor tries on after any failure. */
static bool goes_on(const struct fs *fs)
{
	return fs->record && !fs->record->on_trial;
}

enum first_end first_connect(
	struct fs *fs, struct daemon *d, first_wanted_fn *wanted, void *ctx, char *why, size_t size)
{
	struct first f = {.fs = fs, .d = d, .wanted = wanted, .ctx = ctx, .began = clock_ns()};
	uint64_t pause_ms = PAUSE_MIN_MS;
	bool passes, unwanted, failed = false;

	f.end = fs->opt->delay_connect || fs->record
			? UINT64_MAX
			: f.began + fs->opt->retry_min * 60 * NSEC_PER_SEC;
	for (;;) {
		enum first_end end = try_once(&f, &passes, why, size);

		if (end != FIRST_FAILED)
			return end;
		if ((!passes && !goes_on(fs)) || clock_ns() >= f.end)
			return FIRST_FAILED;
		if (!failed && !tell_failure(&f, why))
			return FIRST_UNWANTED;
		failed = true;
		wait_for(&f, -1, pause_ms, &unwanted);
		if (unwanted)
			return FIRST_UNWANTED;
		pause_ms = pause_ms * 2 < PAUSE_MAX_MS ? pause_ms * 2 : PAUSE_MAX_MS;
	}
}
