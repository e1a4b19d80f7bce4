/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * doctor_clock: asks the server's port mapper for the time.
 *
 * The doctor asks twice, and waits two seconds at most.
 */
#include "cli/doctor.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cli/portmap.h"
#include "transport/clock.h"

#define WAIT_MS 1000
#define ASKS	2

static bool wait_for_answer(int fd, uint32_t xid, long long *seconds)
{
	uint64_t end = clock_ns() + WAIT_MS * 1000000ull, now;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint32_t word[64], value;

	while ((now = clock_ns()) < end && poll(&p, 1, (int)((end - now) / 1000000) + 1) == 1) {
		ssize_t n = recv(fd, word, sizeof(word), 0);

		if (n < 0) /* nothing listens there */
			return false;
		if (portmap_answer(word, n, xid, &value)) {
			*seconds = value;
			return true;
		}
	}
	return false;
}

bool doctor_server_time(const struct sockaddr *server, socklen_t len, long long *seconds)
{
	uint32_t call[PORTMAP_WORDS];
	struct sockaddr_storage at = {0};
	bool known = false;
	int fd;

	if (len > sizeof(at))
		return false;
	memcpy(&at, server, len);
	if (at.ss_family == AF_INET)
		((struct sockaddr_in *)&at)->sin_port = htons(PORTMAP_PORT);
	else
		((struct sockaddr_in6 *)&at)->sin6_port = htons(PORTMAP_PORT);
	fd = socket(at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	for (int i = 0; i < ASKS && !known; i++) {
		size_t n = portmap_call(call, (uint32_t)clock_ns(), 3, PORTMAP_GETTIME, NULL, 0);

		if (connect(fd, (struct sockaddr *)&at, len) || send(fd, call, n, 0) != (ssize_t)n)
			break;
		known = wait_for_answer(fd, call[0], seconds);
	}
	close(fd);
	return known;
}
