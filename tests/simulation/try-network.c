/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-network: plays two processes that speak over the simulated network: try-network SEED
 * plain|cut|lost|silent|quiet|stall|random|answers|down|ports|kill. Prints the run's digest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sched.h"

#define TOTAL  400000
#define SEC_NS 1000000000ull
#define SERVER "192.0.2.1"
#define CLIENT "192.0.2.2"
#define CHECK(is)                                                                                  \
	do {                                                                                       \
		if (!(is))                                                                         \
			sched_fail("line %d: not %s (errno %s)", __LINE__, #is, strerror(errno));  \
	} while (0)

/* One end's work: sends TOTAL bytes and reads as many. */
struct side {
	int fd;
	size_t sent, got;
	unsigned salt;
	int error; /* that it has ended with; 0: all went well */
	bool ended;
};

static const char *what;
static struct side sides[2]; /* the server's, the client's */
static unsigned server_process, port;

static bool is(const char *name)
{
	return !strcmp(what, name);
}

static uint8_t byte_at(size_t i, unsigned salt)
{
	return (uint8_t)(i * 31 + i / 251 + salt);
}

static struct sockaddr_in address(const char *ip, unsigned p)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p)};

	inet_pton(AF_INET, ip, &in.sin_addr);
	return in;
}

static void settle_error(struct side *s)
{
	if (errno != EAGAIN)
		s->error = errno;
}

static void send_some(struct side *s)
{
	uint8_t buf[30000];
	size_t n = 1 + sched_choose(sizeof(buf));
	struct iovec iov[2];
	struct msghdr m = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t done;

	n = n < TOTAL - s->sent ? n : TOTAL - s->sent;
	for (size_t i = 0; i < n; i++)
		buf[i] = byte_at(s->sent + i, s->salt);
	iov[0] = (struct iovec){buf, n / 3};
	iov[1] = (struct iovec){buf + n / 3, n - n / 3};
	done = sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (done < 0) {
		settle_error(s);
		return;
	}
	s->sent += (size_t)done;
	if (s->sent == TOTAL && shutdown(s->fd, SHUT_WR))
		s->error = errno;
}

static void receive_some(struct side *s)
{
	uint8_t buf[20000];
	size_t n = 1 + sched_choose(sizeof(buf));
	ssize_t done = sched_once_in(2) ? read(s->fd, buf, n) : recv(s->fd, buf, n, MSG_DONTWAIT);

	if (done < 0) {
		settle_error(s);
		return;
	}
	if (!done)
		s->ended = true;
	for (ssize_t i = 0; i < done; i++)
		CHECK(buf[i] == byte_at(s->got + (size_t)i, s->salt ^ 1));
	s->got += (size_t)done;
}

static void play(struct side *s)
{
	while (!s->error && !(s->ended && s->sent == TOTAL)) {
		struct pollfd p = {.fd = s->fd, .events = s->ended ? 0 : POLLIN};

		if (s->sent < TOTAL)
			p.events |= POLLOUT;
		CHECK(poll(&p, 1, -1) == 1);
		if (p.revents & POLLOUT)
			send_some(s);
		if (p.revents & (POLLIN | POLLHUP | POLLERR) && !s->error && !s->ended)
			receive_some(s);
		else if (p.revents & (POLLHUP | POLLERR) && s->ended && !s->error)
			s->error = ECONNRESET;
	}
	if (s->error)
		sched_event("side %u ends: %s", s->salt, strerror(s->error));
	else
		CHECK(s->got == TOTAL);
}

static void tune(int fd)
{
	static const int opts[][3] = {{IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 60}, {IPPROTO_TCP, TCP_KEEPINTVL, 20},
		{IPPROTO_TCP, TCP_KEEPCNT, 3}, {IPPROTO_TCP, TCP_USER_TIMEOUT, 10000}};

	for (unsigned i = 0; i < sizeof(opts) / sizeof(opts[0]); i++)
		CHECK(!setsockopt(fd, opts[i][0], opts[i][1], &opts[i][2], sizeof(int)));
}

static int hear(int *fd)
{
	struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
	socklen_t len = sizeof(at);

	*fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CHECK(descriptor_is_ours(*fd));
	CHECK(!setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
	at.sin6_port = htons((uint16_t)port);
	if (bind(*fd, (struct sockaddr *)&at, len) || listen(*fd, 128))
		return -1;
	CHECK(!getsockname(*fd, (struct sockaddr *)&at, &len) && len == sizeof(at));
	return ntohs(at.sin6_port);
}

static void *serve(void *ctx)
{
	struct side *s = &sides[0];
	struct sockaddr_in6 from;
	socklen_t len = sizeof(from);
	struct pollfd p;
	int fd;

	server_process = sched_process_new("server");
	network_place(server_process, SERVER, "2001:db8::1");
	port = 0;
	port = (unsigned)hear(&fd);
	p = (struct pollfd){.fd = fd, .events = POLLIN};
	CHECK(poll(&p, 1, -1) == 1);
	s->fd = accept4(fd, (struct sockaddr *)&from, &len, SOCK_NONBLOCK);
	CHECK(s->fd >= 0 && from.sin6_port);
	tune(s->fd);
	play(s);
	close(s->fd);
	close(fd);
	return NULL;
}

/* Returns the outcome. */
static int call(const char *ip, int *fd)
{
	struct sockaddr_in in = address(ip, port);
	struct pollfd p;
	int error = 0;
	socklen_t len = sizeof(error);

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (sched_once_in(2))
		CHECK(!fcntl(*fd, F_SETFL, 0));
	tune(*fd);
	if (!connect(*fd, (struct sockaddr *)&in, sizeof(in)))
		error = 0;
	else if (errno != EINPROGRESS)
		error = errno;
	else {
		p = (struct pollfd){.fd = *fd, .events = POLLOUT};
		CHECK(poll(&p, 1, -1) == 1);
		CHECK(!getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &len));
	}
	CHECK(!fcntl(*fd, F_SETFL, O_NONBLOCK));
	return error;
}

static void *speak(void *ctx)
{
	struct side *s = &sides[1];

	s->error = call(SERVER, &s->fd);
	CHECK(!s->error || is("random"));
	play(s);
	close(s->fd);
	return NULL;
}

static void sleep_ns(uint64_t ns)
{
	uint64_t until = sched_now() + ns;

	while (sched_now() < until)
		sched_wait(&sleep_ns, until, "to pass");
}

/* A fault in the middle of the transfer, and its effect on both ends. */
static void spoil(void)
{
	while (sides[1].sent < TOTAL / 4)
		sleep_ns(50000);
	CHECK(network_connections() == 1);
	if (is("cut"))
		network_cut(network_any());
	else if (is("lost"))
		network_lose(network_any(), NETWORK_CALLED, false);
	else if (is("silent"))
		network_lose(network_any(), NETWORK_CALLED, true);
	else if (is("quiet"))
		network_quiet(network_any(), sched_choose(2), SEC_NS * (1 + 20 * sched_choose(2)));
	else if (is("stall"))
		network_stall(network_any(), sched_choose(2), SEC_NS * (1 + 20 * sched_choose(2)));
}

static void judge(uint64_t took)
{
	int client = sides[1].error, server = sides[0].error;

	if (is("plain"))
		CHECK(!client && !server && took < SEC_NS);
	else if (is("cut"))
		CHECK(took < SEC_NS && (client || server));
	else if (is("lost"))
		CHECK(took < SEC_NS && server);
	else if (is("silent") && client)
		CHECK(client == ETIMEDOUT && took >= 10 * SEC_NS && took < 11 * SEC_NS);
	else if (is("quiet") || is("stall"))
		CHECK(took >= 20 * SEC_NS || (!client && !server) || took >= 10 * SEC_NS);
}

static void converse(void)
{
	pthread_t t[2];
	uint64_t begun = sched_now();

	if (is("random")) {
		network.cut_one_in = 60;
		network.lose_one_in = 60;
		network.quiet_one_in = 20;
		network.quiet_ns = SEC_NS / 2;
	}
	sides[1].salt = 1;
	pthread_create(&t[0], NULL, serve, NULL);
	while (!port)
		sleep_ns(1000);
	network_place(sched_process_new("client"), CLIENT, "2001:db8::2");
	pthread_create(&t[1], NULL, speak, NULL);
	if (!is("plain") && !is("random"))
		spoil();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	judge(sched_now() - begun);
}

/* The outcomes of calls to a host that does not accept. */
static void try_answers(void)
{
	uint64_t begun;
	int fd, heard;

	port = 0;
	network_place(sched_process(), SERVER, NULL);
	port = (unsigned)hear(&heard);
	network_answer(SERVER, NETWORK_REFUSES);
	CHECK(call(SERVER, &fd) == ECONNREFUSED);
	close(fd);
	network_answer(SERVER, NETWORK_IGNORES);
	begun = sched_now();
	CHECK(call(SERVER, &fd) == ETIMEDOUT);
	CHECK(sched_now() - begun >= 10 * SEC_NS && sched_now() - begun < 11 * SEC_NS);
	close(fd);
	network_answer(SERVER, NETWORK_ANSWERS);
	CHECK(call(SERVER, &fd) == 0);
	close(fd);
	CHECK(call("127.0.0.1", &fd) == 0);
	close(fd);
	CHECK(network_connections() == 2); /* not accepted */
	close(heard);
	CHECK(call(SERVER, &fd) == ECONNREFUSED);
	close(fd);
	CHECK(call("192.0.2.77", &fd) == ETIMEDOUT);
	close(fd);
}

/* An idle client learns by probes that the server is off. Later packets get a reset. */
static void try_down(void)
{
	struct pollfd p = {.events = POLLIN};
	int heard, fd[2], error = 0;
	socklen_t len = sizeof(error);
	unsigned server = sched_process_new("server"), client;
	uint64_t begun;

	network_place(server, SERVER, NULL);
	port = (unsigned)hear(&heard);
	client = sched_process_new("client");
	network_place(client, CLIENT, NULL);
	for (int i = 0; i < 2; i++)
		CHECK(!call(SERVER, &fd[i]));
	begun = sched_now();
	network_down(SERVER);
	p.fd = fd[0];
	CHECK(poll(&p, 1, -1) == 1 && p.revents & POLLERR);
	CHECK(!getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &error, &len) && error == ETIMEDOUT);
	CHECK(sched_now() - begun >= 79 * SEC_NS && sched_now() - begun < 81 * SEC_NS);
	close(fd[0]);
	close(fd[1]);
	close(heard);
	network_up(SERVER);
	sched_process_enter(server);
	CHECK(hear(&heard) == (int)port);
	sched_process_enter(client);
	CHECK(!call(SERVER, &fd[0]));
	network_down(SERVER);
	CHECK(send(fd[0], "x", 1, MSG_NOSIGNAL) == 1);
	sleep_ns(SEC_NS);
	network_up(SERVER);
	p.fd = fd[0];
	CHECK(poll(&p, 1, 1000) == 1);
	CHECK(recv(fd[0], &error, 1, 0) < 0 && errno == ECONNRESET);
	close(fd[0]);
	close(heard);
}

static void try_ports(void)
{
	struct sockaddr_in in = address("0.0.0.0", 700), to, own;
	socklen_t len = sizeof(own);
	int heard, a, b, c;
	struct pollfd p;
	char byte;

	port = (unsigned)hear(&heard);
	to = address("127.0.0.1", port);
	a = socket(AF_INET, SOCK_STREAM, 0);
	b = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!bind(a, (struct sockaddr *)&in, sizeof(in)));
	CHECK(bind(b, (struct sockaddr *)&in, sizeof(in)) && errno == EADDRINUSE);
	CHECK(!connect(a, (struct sockaddr *)&to, sizeof(to)));
	CHECK(!getsockname(a, (struct sockaddr *)&own, &len) && own.sin_port == htons(700));
	CHECK(own.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	c = accept(heard, NULL, NULL);
	CHECK(c >= 0 && write(c, "x", 1) == 1 && read(a, &byte, 1) == 1 && byte == 'x');
	CHECK(recv(a, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	close(a); /* first: the port is kept */
	CHECK(read(c, &byte, 1) == 0);
	close(c);
	CHECK(bind(b, (struct sockaddr *)&in, sizeof(in)) && errno == EADDRINUSE);
	sleep_ns(61 * SEC_NS);
	CHECK(!bind(b, (struct sockaddr *)&in, sizeof(in)));
	CHECK(!connect(b, (struct sockaddr *)&to, sizeof(to)));
	CHECK(!setsockopt(
		b, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger)));
	close(b); /* by a reset: the port is free at once */
	b = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!bind(b, (struct sockaddr *)&in, sizeof(in)));
	close(b);
	c = accept(heard, NULL, NULL);
	CHECK(read(c, &byte, 1) < 0 && errno == ECONNRESET);
	close(c);
	close(heard);
	a = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(!bindresvport(a, NULL) && !connect(a, (struct sockaddr *)&to, sizeof(to)));
	CHECK(send(a, "x", 1, 0) == 1);
	p = (struct pollfd){.fd = a, .events = POLLIN};
	CHECK(poll(&p, 1, 1000) == 1 && recv(a, &byte, 1, MSG_DONTWAIT) < 0);
	CHECK(errno == ECONNREFUSED);
	close(a);
}

/* Closes the descriptors of a killed process: the other end learns of the close. */
static void try_kill(void)
{
	pthread_t t;
	char byte;
	ssize_t n;
	int fd;

	sides[1].salt = 1;
	pthread_create(&t, NULL, serve, NULL);
	while (!port)
		sleep_ns(1000);
	CHECK(call(SERVER, &fd) == 0);
	sleep_ns(SEC_NS);
	sched_process_kill(server_process);
	descriptors_close_of(server_process);
	CHECK(!fcntl(fd, F_SETFL, 0));
	while ((n = read(fd, &byte, 1)) > 0)
		;
	CHECK(n == 0);
	CHECK(send(fd, "x", 1, MSG_NOSIGNAL) == 1);
	CHECK(read(fd, &byte, 1) == 0);
	sleep_ns(SEC_NS);
	CHECK(send(fd, "x", 1, MSG_NOSIGNAL) < 0 && (errno == EPIPE || errno == ECONNRESET));
	close(fd);
}

static void first(void *ctx)
{
	if (is("answers"))
		try_answers();
	else if (is("down"))
		try_down();
	else if (is("ports"))
		try_ports();
	else if (is("kill"))
		try_kill();
	else
		converse();
	CHECK(!network_connections() && !descriptors_open());
}

int main(int argc, char **argv)
{
	struct sched_params p = {.most_steps = 3000000, .depth = 3, .span = 3000};

	if (argc < 3)
		return 2;
	p.seed = strtoull(argv[1], NULL, 0);
	what = argv[2];
	p.policy = argc > 3 ? SCHED_PCT : SCHED_WALK;
	p.trace = getenv("TRACE") ? 2 : 0;
	sched_run(&p, first, NULL);
	printf("%016llx\n", (unsigned long long)sched_digest());
	return 0;
}
