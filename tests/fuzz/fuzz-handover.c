/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: both ends' view of a hand-over. The first byte chooses the end.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/handover.h"

static void as_sidecar(int sock)
{
	static struct handover h;

	if (handover_receive(sock, &h, NULL))
		return;
	if (fcntl(h.fd, F_GETFD) < 0 || memchr(h.source, 0, sizeof(h.source)) == NULL)
		abort();
	close(h.fd);
}

static void as_mounter(int sock)
{
	char sentence[HANDOVER_SENTENCE];

	if (handover_hear(sock, sentence) == HANDOVER_FAILED &&
		!memchr(sentence, 0, sizeof(sentence)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	int s[2], fds[2] = {0, 1};
	struct iovec iov;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (size < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s))
		return 0;
	iov = (struct iovec){(void *)(data + 1), size - 1};
	if (data[0] & 6) { /* one descriptor, or two */
		unsigned n = data[0] & 4 ? 2 : 1;

		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	if (sendmsg(s[1], &m, MSG_NOSIGNAL) >= 0) {
		if (data[0] & 1)
			as_mounter(s[0]);
		else
			as_sidecar(s[0]);
	}
	close(s[0]);
	close(s[1]);
	return 0;
}
