/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bench-iwarp: the iwarp provider beside bare TCP on loopback, in one run.
 *
 * Both sides of the comparison do the work of a READ: the client asks with 128 bytes, the server
 * answers with `size` bytes of data and 128 of message, `depth` questions at a time. Over iwarp the
 * data is an RDMA Write into a door that was opened for this question, and the message a Send
 * posted
 * with the Write. The variants of one shape alternate, and each line gives the median of the
 * rounds.
 *
 * usage: bench-iwarp [rounds [seconds [bytes depth [crc]]]]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "transport/provider.h"

enum { MSG = 128, MAX_DEPTH = 64, SLOTS = 2 * MAX_DEPTH };

enum variant { TCP, TCP_SMALL, IWARP, IWARP_CRC, VARIANTS };

struct shape {
	uint32_t size;
	unsigned depth;
};

struct side {
	struct prov_conn *c;
	int fd;
	struct shape s;
	struct mem_buf *data[MAX_DEPTH], *out[MAX_DEPTH], *in[SLOTS];
	struct prov_door door[MAX_DEPTH];
	double end;
	unsigned long done;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Of the whole process, both sides. */
static double cpu(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "bench-iwarp: %s\n", what);
	exit(1);
}

/* The other side may have ended the round: then this thread ends. */
static void check(int rc, const char *what)
{
	if (rc == -ENOTCONN)
		pthread_exit(NULL);
	if (rc)
		die(what);
}

static void post_recv(struct side *e, unsigned i)
{
	struct mem_sge s = mem_buf_sge(e->in[i], 0, MSG);

	check(e->c->ops->post_recv(e->c, i, &s), "post_recv");
}

static void send_msg(struct side *e, struct mem_buf *m)
{
	struct prov_wr wr = {.op = PROV_SEND, .nsge = 1, .nhold = 1, .hold = {m}};

	wr.sge[0] = mem_buf_sge(m, 0, MSG);
	check(e->c->ops->post(e->c, &wr), "post Send");
}

static void ask(struct side *e, unsigned slot)
{
	struct mem_sge s = mem_buf_sge(e->data[slot], 0, e->s.size);
	uint32_t *w = (uint32_t *)e->out[slot]->data;

	check(e->c->ops->expose(e->c, &s, PROV_REMOTE_WRITE, &e->door[slot]), "expose");
	w[0] = slot;
	w[1] = e->door[slot].stag;
	send_msg(e, e->out[slot]);
}

static void answer(struct side *e, const uint32_t *q)
{
	struct prov_wr wr = {.op = PROV_WRITE, .flags = PROV_MORE, .nsge = 1, .nhold = 1};
	unsigned slot = q[0];

	wr.remote_stag = q[1];
	wr.sge[0] = mem_buf_sge(e->data[slot], 0, e->s.size);
	wr.hold[0] = e->data[slot];
	check(e->c->ops->post(e->c, &wr), "post Write");
	*(uint32_t *)e->out[slot]->data = slot;
	send_msg(e, e->out[slot]);
}

static void *run_iwarp(void *arg)
{
	struct side *e = arg;
	bool client = e->end > 0;
	struct prov_wc wc[16];

	for (unsigned i = 0; client && i < e->s.depth; i++)
		ask(e, i);
	for (;;) {
		int n = e->c->ops->poll(e->c, wc, 16);

		if (!n)
			e->c->ops->wait(e->c, -1, -1);
		for (int i = 0; i < n; i++) {
			uint32_t q[2];

			if (wc[i].op == PROV_WC_DOWN)
				return NULL;
			memcpy(q, e->in[wc[i].cookie]->data, sizeof(q));
			post_recv(e, (unsigned)wc[i].cookie);
			e->done++;
			if (!client) {
				answer(e, q);
				continue;
			}
			e->c->ops->withdraw(e->c, &e->door[q[0]], 1, 0);
			if (now() > e->end) {
				e->c->ops->disconnect(e->c);
				return NULL;
			}
			ask(e, q[0]);
		}
	}
}

static void read_all(int fd, void *p, size_t n)
{
	while (n) {
		ssize_t k = recv(fd, p, n, MSG_WAITALL);

		if (k <= 0)
			pthread_exit(NULL);
		p = (char *)p + k;
		n -= (size_t)k;
	}
}

static void *tcp_server(void *arg)
{
	struct side *e = arg;
	uint8_t q[MSG * MAX_DEPTH];

	for (;;) {
		ssize_t n = recv(e->fd, q, sizeof(q), 0);

		if (n <= 0)
			return NULL;
		read_all(e->fd, q + n, (size_t)-n & (MSG - 1));
		for (ssize_t i = 0; i < n; i += MSG) {
			struct iovec v[2] = {{e->data[0]->data, e->s.size}, {q + i, MSG}};
			struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
			ssize_t k = sendmsg(e->fd, &m, MSG_NOSIGNAL);

			if (k < 0)
				return NULL;
		}
	}
}

static void *tcp_client(void *arg)
{
	struct side *e = arg;
	uint8_t q[MSG] = {0};

	for (unsigned i = 0; i < e->s.depth; i++)
		if (send(e->fd, q, MSG, MSG_NOSIGNAL) != MSG)
			die("send");
	while (now() < e->end) {
		read_all(e->fd, e->data[e->done % e->s.depth]->data, e->s.size);
		read_all(e->fd, q, MSG);
		e->done++;
		if (send(e->fd, q, MSG, MSG_NOSIGNAL) != MSG)
			die("send");
	}
	/* with unread data the close is a reset, which also ends a send() of the server */
	close(e->fd);
	return NULL;
}

static void *establish(void *arg)
{
	struct side *e = arg;
	struct err err = {0};

	if (e->c->ops->establish(e->c, 5000, &err))
		die(err.msg);
	return NULL;
}

/* Connects both sides: over iwarp, or as plain sockets. */
static void connect_sides(
	struct side *a, struct side *b, const struct prov_params *p, enum variant v)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);
	struct prov_listener *l;
	struct err err = {0};
	int fd, one = 1, small = 256 << 10;
	pthread_t t;

	if (v < IWARP) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		a->fd = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(fd, (struct sockaddr *)&sin, len) || listen(fd, 1) ||
			getsockname(fd, (struct sockaddr *)&sin, &len) ||
			connect(a->fd, (struct sockaddr *)&sin, len))
			die("TCP connection");
		b->fd = accept(fd, NULL, NULL);
		if (v == TCP_SMALL)
			setsockopt(b->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
		setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		setsockopt(b->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		close(fd);
		return;
	}
	if (prov_iwarp.listen((struct sockaddr *)&sin, len, p, &l, &err))
		die(err.msg);
	sin.sin_port = htons(l->port);
	if (prov_iwarp.open((struct sockaddr *)&sin, len, p, 5000, &a->c, &err))
		die(err.msg);
	while (prov_iwarp.accept(l, &b->c, &err))
		;
	for (unsigned i = 0; i < SLOTS; i++) {
		post_recv(a, i);
		post_recv(b, i);
	}
	pthread_create(&t, NULL, establish, b);
	establish(a);
	pthread_join(t, NULL);
	prov_iwarp.unlisten(l);
}

/* Answers per second, and microseconds of processor time per answer. */
static double measure(struct shape s, enum variant v, double seconds, double *us)
{
	struct mem_pool *pool = mem_pool_new(0);
	bool iwarp = v >= IWARP;
	struct prov_params p = {.recv_depth = SLOTS,
		.send_depth = 2 * SLOTS,
		.ird = 16,
		.ord = 16,
		.crc = v == IWARP_CRC,
		.pool = pool};
	struct side a = {.s = s}, b = {.s = s}, *sides[2] = {&a, &b};
	pthread_t t[2];
	double start;

	for (int k = 0; k < 2; k++) {
		for (unsigned i = 0; i < SLOTS; i++)
			sides[k]->in[i] = mem_buf_get(pool, MSG);
		for (unsigned i = 0; i < s.depth; i++) {
			sides[k]->out[i] = mem_buf_get(pool, MSG);
			sides[k]->data[i] = mem_buf_get(pool, s.size);
			memset(sides[k]->data[i]->data, (int)i, s.size);
		}
	}
	connect_sides(&a, &b, &p, v);
	start = now();
	*us = cpu();
	a.end = start + seconds;
	pthread_create(&t[0], NULL, iwarp ? run_iwarp : tcp_client, &a);
	pthread_create(&t[1], NULL, iwarp ? run_iwarp : tcp_server, &b);
	pthread_join(t[0], NULL);
	seconds = now() - start;
	pthread_join(t[1], NULL);
	*us = (cpu() - *us) * 1e6 / (double)a.done;
	for (int k = 0; k < 2; k++) {
		if (iwarp)
			prov_iwarp.free(sides[k]->c);
		else if (k == 1)
			close(sides[k]->fd);
		for (unsigned i = 0; i < SLOTS; i++)
			mem_buf_unref(sides[k]->in[i]);
		for (unsigned i = 0; i < s.depth; i++) {
			mem_buf_unref(sides[k]->out[i]);
			mem_buf_unref(sides[k]->data[i]);
		}
	}
	mem_pool_free(pool);
	return (double)a.done / seconds;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {
		{4096, 1}, {4096, 16}, {131072, 8}, {1 << 20, 1}, {1 << 20, 8}};
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	double seconds = argc > 2 ? atof(argv[2]) : 0.5;
	double v[VARIANTS][64], us[VARIANTS][64];

	if (rounds < 1 || rounds > 64 || seconds <= 0)
		die("usage: bench-iwarp [rounds [seconds [bytes depth [crc]]]]");
	if (argc > 4) { /* one shape, one variant: to be run under a profiler */
		struct shape s = {(uint32_t)atoi(argv[3]), (unsigned)atoi(argv[4])};

		printf("%.0f /s", measure(s, argc > 5 ? IWARP_CRC : IWARP, seconds, us[0]));
		printf(", cpu %.1f us\n", us[0][0]);
		return 0;
	}
	printf("%13s | %23s | %23s | %23s | %23s | %s\n", "bytes x depth", "tcp: /s, GB/s, cpu us",
		"tcp, 256 KiB to send", "iwarp", "iwarp with CRC", "iwarp:tcp, cpu");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct shape s = shapes[i];
		int mid = rounds / 2;

		for (int r = 0; r < rounds; r++)
			for (int k = 0; k < VARIANTS; k++)
				v[k][r] = measure(s, (enum variant)k, seconds, &us[k][r]);
		printf("%8u x %2u |", s.size, s.depth);
		for (int k = 0; k < VARIANTS; k++) {
			qsort(v[k], (size_t)rounds, sizeof(double), by_value);
			qsort(us[k], (size_t)rounds, sizeof(double), by_value);
			printf(" %8.0f %5.2f %8.1f |", v[k][mid], v[k][mid] * s.size / 1e9,
				us[k][mid]);
		}
		printf(" %5.2f %5.2f\n", v[IWARP][mid] / v[TCP][mid],
			us[IWARP][mid] / us[TCP][mid]);
		fflush(stdout);
	}
	return 0;
}
