/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dial: a TCP connection to one of several addresses.
 *
 * fd[i] is the socket of the attempt at address i that is under way, else -1. Attempts begin in
 * order: `begun` of them have.
 */
#include "transport/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "transport/clock.h"

struct race {
	const struct dial *d;
	unsigned n, begun, running;
	int fd[DIAL_ADDRS_MAX];
};

static bool worth_another_go(int error)
{
	return error == EADDRNOTAVAIL || error == EADDRINUSE || error == EACCES;
}

/* Returns 0, EINPROGRESS or another errno; *fd is open after the first two. */
static int begin_once(const struct dial *d, const struct dial_addr *a, unsigned go, int *fd)
{
	int error = 0;

	*fd = socket(a->ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	if (d->prepare)
		error = d->prepare(d->ctx, *fd, a->ss.ss_family, go);
	if (!error && connect(*fd, (const struct sockaddr *)&a->ss, a->len))
		error = errno == EINTR ? EINPROGRESS : errno;
	if (error && error != EINPROGRESS) {
		close(*fd);
		*fd = -1;
	}
	return error;
}

/* Begins the next attempt. Returns whether it is connected already. */
static bool begin_next(struct race *r)
{
	unsigned i = r->begun++, go = 0;
	int error;

	do {
		error = begin_once(r->d, &r->d->addr[i], go++, &r->fd[i]);
	} while (worth_another_go(error) && go < r->d->goes);
	if (error == EINPROGRESS)
		r->running++;
	else
		r->d->addr[i].outcome = error;
	return !error;
}

/* The attempt at address i has an outcome. Returns whether it is connected. */
static bool collect(struct race *r, unsigned i)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(r->fd[i], SOL_SOCKET, SO_ERROR, &error, &len))
		error = errno;
	r->d->addr[i].outcome = error;
	r->running--;
	if (!error)
		return true;
	close(r->fd[i]);
	r->fd[i] = -1;
	return false;
}

static void fail_all(struct race *r, int error)
{
	for (unsigned i = 0; i < r->begun; i++)
		if (r->fd[i] >= 0)
			r->d->addr[i].outcome = error;
}

/* Waits for outcomes until `end`. Returns the number of an address that is connected, or -1; an
 * attempt that failed, or one that was interrupted, ends the wait. */
static int wait_for_outcome(struct race *r, uint64_t end, bool *aborted)
{
	struct pollfd p[DIAL_ADDRS_MAX + 1];
	uint64_t now = clock_ns();
	int ms = now < end ? (int)((end - now) / NSEC_PER_MSEC) + 1 : 0;

	for (unsigned i = 0; i < r->begun; i++)
		p[i] = (struct pollfd){.fd = r->fd[i], .events = POLLOUT};
	p[r->begun] =
		(struct pollfd){.fd = r->d->abort_fd > 0 ? r->d->abort_fd : -1, .events = POLLIN};
	if (poll(p, r->begun + 1, ms) <= 0)
		return -1;
	*aborted = p[r->begun].revents;
	for (unsigned i = 0; i < r->begun && !*aborted; i++)
		if (p[i].revents && collect(r, i))
			return (int)i;
	return -1;
}

/* Returns the number of the address that won, or -1. */
static int run(struct race *r)
{
	uint64_t end = clock_ns() + r->d->timeout_ms * NSEC_PER_MSEC, next = 0;
	bool aborted = false;

	while (r->running || r->begun < r->n) {
		unsigned before;
		int won;

		if (r->begun < r->n && (!r->running || clock_ns() >= next)) {
			if (begin_next(r))
				return (int)r->begun - 1;
			if (r->fd[r->begun - 1] < 0)
				continue;
			next = clock_ns() + DIAL_DELAY_MS * NSEC_PER_MSEC;
		}
		before = r->running;
		won = wait_for_outcome(r, r->begun < r->n && next < end ? next : end, &aborted);
		if (won >= 0)
			return won;
		if (aborted || clock_ns() >= end) {
			fail_all(r, aborted ? ECANCELED : ETIMEDOUT);
			return -1;
		}
		if (r->running < before)
			next = 0;
	}
	return -1;
}

int dial_any(const struct dial *d)
{
	struct race r = {.d = d, .n = d->n < DIAL_ADDRS_MAX ? d->n : DIAL_ADDRS_MAX};
	int won;

	for (unsigned i = 0; i < d->n; i++)
		d->addr[i].outcome = DIAL_UNTRIED;
	for (unsigned i = 0; i < r.n; i++)
		r.fd[i] = -1;
	won = run(&r);
	for (unsigned i = 0; i < r.n; i++)
		if (r.fd[i] >= 0 && won != (int)i)
			close(r.fd[i]);
	return won < 0 ? -1 : r.fd[won];
}

/* How much an outcome tells of the server. */
static unsigned telling(int outcome)
{
	switch (outcome) {
	case DIAL_UNTRIED:
		return 0;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EHOSTDOWN:
	case ENETDOWN:
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
		return 1;
	case ETIMEDOUT:
		return 2;
	case DIAL_CONNECTED:
		return 4;
	default:
		return 3;
	}
}

const struct dial_addr *dial_chosen(const struct dial_addr *addr, unsigned n)
{
	const struct dial_addr *best = n ? addr : NULL;

	for (unsigned i = 1; i < n; i++)
		if (telling(addr[i].outcome) > telling(best->outcome))
			best = &addr[i];
	return best;
}
