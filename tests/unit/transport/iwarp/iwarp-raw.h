/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * An iWARP connection with a raw socket as its peer, for tests: each byte of the stream is
 * scripted.
 */
#ifndef RNFS_TESTS_IWARP_RAW_H
#define RNFS_TESTS_IWARP_RAW_H

#include <stdio.h>
#include <poll.h>
#include <unistd.h>

#include "tests/unit/transport/iwarp/iwarp-pair.h"
#include "transport/crc32c.h"

enum { DOOR = 4096, RECV = 512 };

/* The connection under test, the memory of the connection, and the raw end of the wire. */
struct raw {
	struct mem_pool *pool;
	struct end e;
	int fd;
	uint8_t writable[DOOR + 64], readable[DOOR], recv[4][RECV + 16];
	struct prov_door w, r;
	bool crc;
	uint32_t msn[3];
	size_t cut; /* not 0: only this many bytes of the next FPDU are sent ... */
	uint8_t rest[70000];
	size_t nrest; /* ... and this is the part that was left out */
};

static inline void raw_start(struct raw *t, bool crc)
{
	struct prov_params p;
	struct iwarp_conn *c;
	struct mem_sge s;
	int sv[2];

	memset(t, 0, sizeof(*t));
	t->crc = crc;
	t->msn[0] = t->msn[1] = t->msn[2] = 1;
	t->pool = mem_pool_new(0);
	p = pair_params(t->pool);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv), 0);
	t->fd = sv[1];
	c = iwarp_conn_new(sv[0], false, &p);
	assert_non_null(c);
	assert_int_equal(iwarp_conn_start(c, 2, 2, crc), 0);
	t->e.c = &c->prov;
	s = sge_of(t->writable, DOOR);
	assert_int_equal(prov_iwarp.expose(t->e.c, &s, PROV_REMOTE_WRITE, &t->w), 0);
	s = sge_of(t->readable, DOOR);
	assert_int_equal(prov_iwarp.expose(t->e.c, &s, PROV_REMOTE_READ, &t->r), 0);
	for (unsigned i = 0; i < 3; i++)
		post_recv(&t->e, i, t->recv[i], RECV);
}

static inline void raw_finish(struct raw *t)
{
	prov_iwarp.free(t->e.c);
	close(t->fd);
	mem_pool_free(t->pool);
}

/* Sends an FPDU with this header and n bytes of 0xa5. */
static inline void raw_fpdu(struct raw *t, const struct ddp_hdr *h, const void *payload, uint32_t n)
{
	static uint8_t b[70000];
	size_t at = 2;
	uint32_t crc;

	if (h->tagged)
		at += ddp_put_tagged(b + 2, h->op, h->last, h->stag, h->to);
	else
		at += ddp_put_untagged(b + 2, h->op, h->last, h->stag, h->msn, h->mo);
	if (!h->tagged)
		b[2 + 9] = (uint8_t)h->qn;
	b[2] = (uint8_t)((b[2] & ~3) | h->dv);
	b[3] = (uint8_t)(h->rv << 6 | h->op);
	if (payload)
		memcpy(b + at, payload, n);
	else
		memset(b + at, 0xa5, n);
	at += n;
	b[0] = (uint8_t)((at - 2) >> 8);
	b[1] = (uint8_t)(at - 2);
	while (at % 4)
		b[at++] = 0;
	crc = t->crc ? crc32c(0, b, at) : 0;
	for (int i = 0; i < 4; i++)
		b[at++] = (uint8_t)(crc >> 8 * i);
	if (t->cut) {
		t->nrest = at - t->cut;
		memcpy(t->rest, b + t->cut, t->nrest);
		at = t->cut;
		t->cut = 0;
	}
	assert_int_equal(send(t->fd, b, at, MSG_NOSIGNAL), at);
}

static inline struct ddp_hdr h_write(uint32_t stag, uint64_t to)
{
	return (struct ddp_hdr){.tagged = true,
		.last = true,
		.dv = 1,
		.rv = 1,
		.op = DDP_OP_WRITE,
		.stag = stag,
		.to = to};
}

static inline struct ddp_hdr h_send(uint32_t msn, uint32_t mo)
{
	return (struct ddp_hdr){
		.last = true, .dv = 1, .rv = 1, .op = DDP_OP_SEND, .msn = msn, .mo = mo};
}

static inline struct ddp_hdr h_read(uint32_t msn)
{
	struct ddp_hdr h = h_send(msn, 0);

	h.op = DDP_OP_READ_REQ;
	h.qn = DDP_QN_READ_REQ;
	return h;
}

static inline void raw_read_req(struct raw *t, uint32_t msn, const struct ddp_read_req *q)
{
	struct ddp_hdr h = h_read(msn);
	uint8_t p[DDP_READ_REQ_LEN];

	ddp_put_read_req(p, q);
	raw_fpdu(t, &h, p, sizeof(p));
}

/* Receives the next FPDU of the connection. Returns the length of the payload, or -1 for none. */
static inline int raw_receive(struct raw *t, struct ddp_hdr *h, uint8_t *payload)
{
	uint8_t b[70000];
	unsigned n, hlen;

	if (recv(t->fd, b, 2, MSG_PEEK) != 2)
		return -1;
	n = (unsigned)b[0] << 8 | b[1];
	n += 2 + mpa_pad(n) + 4;
	assert_int_equal(recv(t->fd, b, n, MSG_WAITALL), n);
	hlen = (unsigned)ddp_get(b + 2, DDP_UNTAGGED_LEN, h);
	n = ((unsigned)b[0] << 8 | b[1]) - hlen;
	memcpy(payload, b + 2 + hlen, n);
	return (int)n;
}

/* After an error: exactly one DOWN, last, and a Terminate with this error on the wire. */
static inline void expect_terminate(struct raw *t, unsigned err, const char *sentence)
{
	uint8_t payload[70000];
	struct ddp_term term;
	struct ddp_hdr h;
	int n;

	for (int i = 0; i < 4; i++)
		end_poll(&t->e);
	assert_true(t->e.down);
	assert_int_equal(t->e.log[t->e.n - 1].op, PROV_WC_DOWN);
	if (!strstr(t->e.c->down_reason, sentence))
		fail_msg("\"%s\" lacks \"%s\"", t->e.c->down_reason, sentence);
	do {
		n = raw_receive(t, &h, payload);
		assert_true(n >= 0);
	} while (h.op != DDP_OP_TERMINATE);
	assert_int_equal(ddp_check(&h), DDP_OK);
	assert_true(h.last);
	assert_int_equal(h.msn, 1);
	assert_int_equal(ddp_get_term(payload, (size_t)n, &term), 0);
	assert_int_equal(term.err, err);
	assert_int_equal(term.has_ddp, err >> 12 != 2 && err != RDMAP_ERR_UNSPECIFIED);
	assert_int_equal(raw_receive(t, &h, payload), -1);
	for (int i = 0; i < 64; i++)
		assert_int_equal(t->writable[DOOR + i], 0);
	assert_int_equal(
		prov_iwarp.post_recv(t->e.c, 9, &(struct mem_sge){.addr = t->recv[0]}), -ENOTCONN);
	assert_int_equal(send_bytes(&t->e, "x", 1, 0), -ENOTCONN);
	raw_finish(t);
}

#endif
