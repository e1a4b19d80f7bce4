/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs3_aux: calls over UDP against a server that answers as told, one
 * datagram after the other.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/common/nfs3_aux.h"
#include "transport/rpc/rpc_msg.h"

enum how {
	LOST,
	OTHER_XID, /* another XID, and then the right answer */
	SHORT,	   /* no message at all, and then the right answer */
	GOOD,
	TRUNCATED, /* results cut off */
	UNAVAIL,
};

struct udp {
	int fd;
	struct nfs3_aux aux;
	pthread_t thread;
	const enum how *script;
	unsigned n;
};

static void answer(int fd, const struct sockaddr_in *to, uint32_t xid, enum rpc_accept stat,
	uint32_t word, size_t words)
{
	uint8_t buf[128] __attribute__((aligned(4)));
	struct xdr_out x;
	uint32_t off = rpc_msg_put_accepted(buf, 64, xid, NULL, stat);

	xdr_out_init(&x, buf + 64, 64);
	for (size_t i = 0; i < words; i++)
		xdr_put_u32(&x, word);
	sendto(fd, buf + off, 64 - off + x.len, 0, (const struct sockaddr *)to, sizeof(*to));
}

static void *serve(void *arg)
{
	struct udp *u = arg;

	for (unsigned i = 0; i < u->n; i++) {
		uint8_t buf[512] __attribute__((aligned(4)));
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(u->fd, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);
		struct rpc_call_hdr h;
		enum rpc_deny deny;
		struct xdr_in x;

		xdr_in_init(&x, buf, n > 0 ? (size_t)n : 0);
		if (rpc_msg_get_call(&x, &h, &deny) || deny != RPC_DENY_NOT ||
			xdr_get_u32(&x) != 42 || !xdr_in_done(&x))
			break;
		switch (u->script[i]) {
		case LOST:
			break;
		case OTHER_XID:
			answer(u->fd, &from, h.xid + 1, RPC_ACCEPT_SUCCESS, 1, 1);
			answer(u->fd, &from, h.xid, RPC_ACCEPT_SUCCESS, 4711, 1);
			break;
		case SHORT:
			sendto(u->fd, buf, 3, 0, (struct sockaddr *)&from, len);
			/* fallthrough */
		case GOOD:
			answer(u->fd, &from, h.xid, RPC_ACCEPT_SUCCESS, 4711, 1);
			break;
		case TRUNCATED:
			answer(u->fd, &from, h.xid, RPC_ACCEPT_SUCCESS, 0, 0);
			break;
		case UNAVAIL:
			answer(u->fd, &from, h.xid, RPC_ACCEPT_PROG_UNAVAIL, 0, 0);
			break;
		}
	}
	return NULL;
}

static void start(struct udp *u, const enum how *script, unsigned n)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	socklen_t len = sizeof(sin);

	memset(u, 0, sizeof(*u));
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	u->fd = socket(AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(bind(u->fd, (struct sockaddr *)&sin, len), 0);
	assert_int_equal(getsockname(u->fd, (struct sockaddr *)&sin, &len), 0);
	memcpy(&u->aux.rp.peer, &sin, sizeof(sin));
	u->aux.rp.peer_len = sizeof(sin);
	u->aux.rp.prog = 100005;
	u->aux.rp.vers = 3;
	u->aux.udp = true;
	u->script = script;
	u->n = n;
	assert_int_equal(pthread_create(&u->thread, NULL, serve, u), 0);
}

static void put_word(struct nfs3_sync *s, struct xdr_out *x)
{
	xdr_put_u32(x, 42);
}

static int get_word(struct nfs3_sync *s, struct xdr_in *x)
{
	*(uint32_t *)s->out = xdr_get_u32(x);
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}

static int call(struct udp *u, uint32_t *word)
{
	struct nfs3_sync s = {.out = word, .get = get_word};
	int rc = nfs3_aux_call(&u->aux, &s, 1, put_word, 64, 20000, NULL);

	pthread_join(u->thread, NULL);
	close(u->fd);
	return rc;
}

static void replies_are_told_from_noise(void **state)
{
	static const struct {
		enum how script[2];
		unsigned n;
		int rc;
	} cases[] = {
		{{GOOD}, 1, 0},
		{{LOST, GOOD}, 2, 0},
		{{OTHER_XID}, 1, 0},
		{{SHORT}, 1, 0},
		{{TRUNCATED}, 1, -EREMOTEIO},
		{{UNAVAIL}, 1, -EPROTONOSUPPORT},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t word = 0;
		struct udp u;

		start(&u, cases[i].script, cases[i].n);
		assert_int_equal(call(&u, &word), cases[i].rc);
		if (cases[i].rc == 0)
			assert_int_equal(word, 4711);
	}
}

static void a_closed_port_and_silence_end(void **state)
{
	struct nfs3_sync s = {.get = get_word};
	uint32_t word;
	struct udp u;

	s.out = &word;
	start(&u, NULL, 0);
	pthread_join(u.thread, NULL);
	assert_int_equal(nfs3_aux_call(&u.aux, &s, 1, put_word, 64, 100, NULL), -ETIMEDOUT);
	close(u.fd);
	assert_int_equal(nfs3_aux_call(&u.aux, &s, 1, put_word, 64, 20000, NULL), -ECONNREFUSED);
}

static void a_universal_address_ends_in_a_port(void **state)
{
	assert_int_equal(nfs3_aux_uaddr_port("10.0.0.1.8.1", 12), 2049);
	assert_int_equal(nfs3_aux_uaddr_port("::1.0.111", 9), 111);
	assert_int_equal(nfs3_aux_uaddr_port("", 0), 0);
	assert_int_equal(nfs3_aux_uaddr_port("8.1", 3), 0);
	assert_int_equal(nfs3_aux_uaddr_port("::1.256.1", 9), 0);
	assert_int_equal(nfs3_aux_uaddr_port("::1.1.4294967297", 16), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_are_told_from_noise),
		cmocka_unit_test(a_closed_port_and_silence_end),
		cmocka_unit_test(a_universal_address_ends_in_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
