/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * relay: a longer way to a server. The relay passes all bytes of a connection on to the server, and
 * back, with the given delay, in order and without a bound on the bytes under way.
 *
 *     relay [-d MICROSECONDS] [-w FILE] PORT
 *
 * PORT is the server's on 127.0.0.1. The first line of output is the relay's own port. -d: the
 * delay,
 * each way. -w: the bytes are written to FILE as a capture (pcap, IPv4), with made-up headers. The
 * relay ends with SIGTERM.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK	  32768
#define MAX_CONNS 64

struct chunk {
	STAILQ_ENTRY(chunk) link;
	uint64_t due; /* ns */
	size_t len, off;
	uint8_t data[];
};

/* One direction: bytes that were read from `from` and go to `to`. */
struct way {
	int from, to;
	uint32_t seq; /* of the next byte, in the capture */
	bool ended;   /* no more bytes come */
	STAILQ_HEAD(, chunk) chunks;
};

struct conn {
	struct way way[2]; /* to the server, and back */
	uint16_t port;	   /* the client's */
};

static struct conn *conns[MAX_CONNS];
static unsigned nconns;
static uint64_t delay; /* ns */
static FILE *capture;
static volatile sig_atomic_t stop;

static void die(const char *what)
{
	fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* --- the capture ------------------------------------------------------------------------------ */

static void begin_capture(const char *path)
{
	const uint32_t head[] = {0xa1b2c3d4, 4u << 16 | 2, 0, 0, 262144, 101};

	capture = fopen(path, "wb");
	if (!capture || fwrite(head, sizeof(head), 1, capture) != 1)
		die(path);
}

/* A packet of way w, with n bytes of data. */
static void record(const struct conn *c, unsigned w, unsigned flags, const void *data, size_t n)
{
	uint32_t size = 40 + (uint32_t)n;
	uint64_t us = now() / 1000;
	const uint32_t head[] = {(uint32_t)(us / 1000000), (uint32_t)(us % 1000000), size, size};
	uint16_t port[2] = {htons(c->port), htons(20049)};
	uint8_t p[40] = {0x45, 0, (uint8_t)(size >> 8),
		(uint8_t)size, [8] = 64, [9] = 6, [12] = 127, [15] = 1, [16] = 127, [19] = 1,
		[32] = 0x50, [33] = (uint8_t)flags, [34] = 0xff};
	uint32_t seq[2] = {htonl(c->way[w].seq), htonl(c->way[!w].seq)};

	if (!capture)
		return;
	memcpy(p + 20, &port[w], 2);
	memcpy(p + 22, &port[!w], 2);
	memcpy(p + 24, seq, 8);
	fwrite(head, sizeof(head), 1, capture);
	fwrite(p, sizeof(p), 1, capture);
	if (n)
		fwrite(data, n, 1, capture);
}

/* --- connections ------------------------------------------------------------------------------ */

static int connect_to(uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	return fd;
}

static int listen_on_any(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) || listen(fd, 16) ||
		getsockname(fd, (struct sockaddr *)&at, &n))
		die("listen");
	printf("%u\n", ntohs(at.sin_port));
	fflush(stdout);
	return fd;
}

static void accept_one(int listener, uint16_t port)
{
	struct sockaddr_in peer;
	socklen_t n = sizeof(peer);
	int one = 1, fd = accept4(listener, (struct sockaddr *)&peer, &n, SOCK_CLOEXEC);
	struct conn *c = calloc(1, sizeof(*c));

	if (fd < 0 || !c || nconns == MAX_CONNS)
		die("accept");
	c->port = ntohs(peer.sin_port);
	c->way[0].from = c->way[1].to = fd;
	c->way[1].from = c->way[0].to = connect_to(port);
	for (unsigned w = 0; w < 2; w++) {
		STAILQ_INIT(&c->way[w].chunks);
		setsockopt(c->way[w].to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		record(c, w, w ? 0x12 : 0x02, NULL, 0);
		c->way[w].seq++;
	}
	record(c, 0, 0x10, NULL, 0);
	conns[nconns++] = c;
}

static void take(struct conn *c, unsigned w)
{
	struct way *way = &c->way[w];
	struct chunk *k = malloc(sizeof(*k) + CHUNK);
	ssize_t n;

	if (!k)
		die("memory");
	n = recv(way->from, k->data, CHUNK, MSG_DONTWAIT);
	if (n <= 0) {
		way->ended = n == 0 || (errno != EAGAIN && errno != EINTR);
		free(k);
		return;
	}
	record(c, w, 0x18, k->data, (size_t)n);
	way->seq += (uint32_t)n;
	k->due = now() + delay;
	k->len = (size_t)n;
	k->off = 0;
	STAILQ_INSERT_TAIL(&way->chunks, k, link);
}

/* Sends the chunks that are due. */
static void pass_on(struct way *way)
{
	struct chunk *k;

	while ((k = STAILQ_FIRST(&way->chunks)) && k->due <= now()) {
		ssize_t n = send(
			way->to, k->data + k->off, k->len - k->off, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		k->off += n < 0 ? k->len : (size_t)n; /* a closed end gets no more bytes */
		if (k->off < k->len)
			continue;
		STAILQ_REMOVE_HEAD(&way->chunks, link);
		free(k);
	}
	if (way->ended && !k)
		shutdown(way->to, SHUT_WR);
}

/* Forgets connections that have ended both ways. */
static void forget(void)
{
	for (unsigned i = nconns; i-- > 0;) {
		struct way *way = conns[i]->way;

		if (!way[0].ended || !way[1].ended || !STAILQ_EMPTY(&way[0].chunks) ||
			!STAILQ_EMPTY(&way[1].chunks))
			continue;
		close(way[0].from);
		close(way[0].to);
		free(conns[i]);
		conns[i] = conns[--nconns];
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

/* The time of the next due chunk that the other end has room for, as far as is known. */
static uint64_t next_due(void)
{
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < 2 * nconns; i++) {
		struct chunk *k = STAILQ_FIRST(&conns[i / 2]->way[i % 2].chunks);

		if (k && k->due < due && k->due > now())
			due = k->due;
	}
	return due;
}

static void turn(int listener, uint16_t port)
{
	struct pollfd fds[1 + 2 * MAX_CONNS];
	uint64_t due = next_due(), left = due == UINT64_MAX ? UINT64_C(100000000) : 0;
	struct timespec ts;
	unsigned n = 2 * nconns;

	if (!left && due > now())
		left = due - now();
	ts = (struct timespec){(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
	for (unsigned i = 0; i < n; i++) {
		struct way *in = &conns[i / 2]->way[i % 2], *out = &conns[i / 2]->way[!(i % 2)];
		struct chunk *k = STAILQ_FIRST(&out->chunks);

		fds[i] = (struct pollfd){.fd = in->from};
		fds[i].events = in->ended ? 0 : POLLIN;
		if (k && k->due <= now())
			fds[i].events |= POLLOUT;
		if (in->ended && !fds[i].events)
			fds[i].fd = -1;
	}
	fds[n] = (struct pollfd){.fd = listener, .events = POLLIN};
	if (ppoll(fds, n + 1, &ts, NULL) < 0 && errno != EINTR)
		die("poll");
	for (unsigned i = 0; i < n; i++)
		if (fds[i].revents & (POLLIN | POLLHUP | POLLERR))
			take(conns[i / 2], i % 2);
	for (unsigned i = 0; i < n; i++)
		pass_on(&conns[i / 2]->way[i % 2]);
	forget();
	if (fds[n].revents)
		accept_one(listener, port);
}

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

int main(int argc, char **argv)
{
	int opt, listener;

	while ((opt = getopt(argc, argv, "d:w:")) != -1) {
		if (opt == 'd')
			delay = (uint64_t)(atof(optarg) * 1000);
		else if (opt == 'w')
			begin_capture(optarg);
		else
			return 2;
	}
	if (argc - optind != 1) {
		fprintf(stderr, "usage: relay [-d MICROSECONDS] [-w FILE] PORT\n");
		return 2;
	}
	signal(SIGTERM, on_term);
	prctl(PR_SET_TIMERSLACK, 1);
	listener = listen_on_any();
	while (!stop)
		turn(listener, (uint16_t)atoi(argv[optind]));
	if (capture && fclose(capture))
		die("the capture");
	return 0;
}
