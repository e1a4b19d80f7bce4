/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * handover: how a mounter gives a mounted FUSE device to rnfs over a Unix socket.
 */
#include "cli/handover.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME	   "rnfs-mountfd 1"
#define PACKET_MAX (2 * PATH_MAX + HANDOVER_OPTIONS + 100)
#define FDS_MAX	   4 /* as many are closed if a peer sends more than one */

union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

unsigned long handover_pidns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

/* Appends s and a NUL; false: no room. */
static bool put(char *packet, size_t *n, const char *s)
{
	size_t len = strlen(s) + 1;

	if (len > PACKET_MAX - *n)
		return false;
	memcpy(packet + *n, s, len);
	*n += len;
	return true;
}

int handover_send(int sock, const struct handover *h)
{
	union control control = {0};
	char packet[PACKET_MAX], pidns[24];
	size_t n = 0;
	struct iovec iov = {.iov_base = packet};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	snprintf(pidns, sizeof(pidns), "%lu", h->pidns);
	if (!put(packet, &n, NAME) || !put(packet, &n, h->source) || !put(packet, &n, h->options) ||
		!put(packet, &n, h->directory) || !put(packet, &n, pidns))
		return -E2BIG;
	iov.iov_len = n;
	*c = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(c), &h->fd, sizeof(int));
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int handover_send_busy(int sock)
{
	return send(sock, "busy", sizeof("busy"), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

enum handover_word handover_hear(int sock, char *sentence)
{
	static const char failed[] = "failed";
	char packet[HANDOVER_SENTENCE + sizeof(failed)];
	ssize_t n = recv(sock, packet, sizeof(packet) - 1, 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? HANDOVER_NONE : HANDOVER_ENDED;
	if (n == 0)
		return HANDOVER_ENDED;
	packet[n] = 0;
	if (!strcmp(packet, "ready"))
		return HANDOVER_READY;
	if (strcmp(packet, failed) || n <= (ssize_t)sizeof(failed))
		return HANDOVER_NONE;
	snprintf(sentence, HANDOVER_SENTENCE, "%s", packet + sizeof(failed));
	return HANDOVER_FAILED;
}

void handover_say(int sock, const char *sentence)
{
	char packet[HANDOVER_SENTENCE] = "ready";
	size_t n = sizeof("ready");

	if (sentence)
		n = (size_t)snprintf(packet, sizeof(packet), "failed%c%.1900s", 0, sentence) + 1;
	/* the mounter may have gone */
	(void)!send(sock, packet, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* --- receiving -------------------------------------------------------------------------------- */

/* Takes the descriptors out of m: the wanted one becomes *fd, all others are closed. */
static void take_fds(struct msghdr *m, int *fd)
{
	int got[FDS_MAX];

	*fd = -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(got, CMSG_DATA(c), n * sizeof(int));
		for (size_t i = 0; i < n; i++) {
			if (*fd < 0)
				*fd = got[i];
			else
				close(got[i]);
		}
	}
}

/* Copies the field at *at to field, and moves *at behind the field. False: the field does not end,
 * or is too long. */
static bool take(const char **at, const char *end, char *field, size_t size)
{
	size_t n = strnlen(*at, (size_t)(end - *at));

	if (*at + n == end || n >= size)
		return false;
	memcpy(field, *at, n + 1);
	*at += n + 1;
	return true;
}

static bool take_all(const char *packet, size_t n, struct handover *h)
{
	const char *at = packet, *end = packet + n;
	char name[sizeof(NAME)], pidns[24], *behind;

	if (!take(&at, end, name, sizeof(name)) || strcmp(name, NAME) ||
		!take(&at, end, h->source, sizeof(h->source)) ||
		!take(&at, end, h->options, sizeof(h->options)) ||
		!take(&at, end, h->directory, sizeof(h->directory)) ||
		!take(&at, end, pidns, sizeof(pidns)) || at != end)
		return false;
	errno = 0;
	h->pidns = strtoul(pidns, &behind, 10);
	return !errno && !*behind && pidns[0] >= '0' && pidns[0] <= '9';
}

int handover_receive(int sock, struct handover *h, struct err *e)
{
	union control control;
	char packet[PACKET_MAX];
	struct iovec iov = {packet, sizeof(packet)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n;

	do {
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(e, ERR_INTERNAL, "the mounter: %s", strerror(errno));
	if (n == 0)
		return err_set(e, ERR_INTERNAL, "the mounter has ended the connection");
	take_fds(&m, &h->fd);
	if (n == sizeof("busy") && !memcmp(packet, "busy", sizeof("busy")) && h->fd < 0)
		return -1;
	if (h->fd >= 0 && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
		take_all(packet, (size_t)n, h))
		return 0;
	if (h->fd >= 0)
		close(h->fd);
	return err_set(e, ERR_PROTOCOL,
		"the mounter does not speak as rnfs-mountfd of this version does: use both of one "
		"version");
}
