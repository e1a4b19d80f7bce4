/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * doctor_clock: the server's time, as its port mapper tells.
 *
 * Libraries that ask port mappers wait for a minute where none answers. The doctor asks two times
 * and waits for two seconds in all, so the one question is put together here.
 */
#include "cli/doctor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"

#define PMAP_PORT   111
#define PMAP_PROG   100000
#define PMAP_VERS   3 /* version 2 has no GETTIME */
#define PMAP_TIME   6
#define WAIT_MS	    1000
#define ASKS	    2
#define CALL_WORDS  10
#define REPLY_WORDS 7 /* XID, REPLY, accepted, verifier of no bytes (2), SUCCESS, time */

static bool is_answer(const uint32_t *word, ssize_t n, uint32_t xid, long long *seconds)
{
	if (n < REPLY_WORDS * 4 || word[0] != xid || ntohl(word[1]) != 1)
		return false;
	for (int i = 2; i < REPLY_WORDS - 1; i++)
		if (word[i])
			return false;
	*seconds = ntohl(word[REPLY_WORDS - 1]);
	return true;
}

static bool wait_for_answer(int fd, uint32_t xid, long long *seconds)
{
	uint64_t end = clock_ns() + WAIT_MS * 1000000ull, now;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint32_t word[64];

	while ((now = clock_ns()) < end && poll(&p, 1, (int)((end - now) / 1000000) + 1) == 1) {
		ssize_t n = recv(fd, word, sizeof(word), 0);

		if (n < 0) /* nothing listens there */
			return false;
		if (is_answer(word, n, xid, seconds))
			return true;
	}
	return false;
}

bool doctor_server_time(const struct sockaddr *server, socklen_t len, long long *seconds)
{
	uint32_t call[CALL_WORDS] = {[2] = htonl(2),
		[3] = htonl(PMAP_PROG),
		[4] = htonl(PMAP_VERS),
		[5] = htonl(PMAP_TIME)}; /* and AUTH_NONE, twice */
	struct sockaddr_storage at = {0};
	bool known = false;
	int fd;

	if (len > sizeof(at))
		return false;
	memcpy(&at, server, len);
	if (at.ss_family == AF_INET)
		((struct sockaddr_in *)&at)->sin_port = htons(PMAP_PORT);
	else
		((struct sockaddr_in6 *)&at)->sin6_port = htons(PMAP_PORT);
	fd = socket(at.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	for (int i = 0; i < ASKS && !known; i++) {
		call[0] = (uint32_t)clock_ns();
		if (connect(fd, (struct sockaddr *)&at, len) ||
			send(fd, call, sizeof(call), 0) != sizeof(call))
			break;
		known = wait_for_answer(fd, call[0], seconds);
	}
	close(fd);
	return known;
}
