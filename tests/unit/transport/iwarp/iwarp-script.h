/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Scripts of iWARP segments, played to a connection with and without foresight (iwarp_guess.c), for
 * the unit test and the fuzzer of iwarp_guess.c. Both must come to the same: the same completions
 * and
 * the same end, and each time the same bytes in all memory that the peer has written by then.
 *
 * To find those bytes, the script is played without foresight twice, over memory of zeros and of
 * ones:
 * bytes that are equal afterwards were written.
 */
#ifndef RNFS_TESTS_IWARP_SCRIPT_H
#define RNFS_TESTS_IWARP_SCRIPT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/crc32c.h"
#include "transport/iwarp/iwarp_conn.h"
#include "transport/iwarp/iwarp_rx.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"

enum {
	SCRIPT_MEM = 12288,
	SCRIPT_GUARD = 64,
	SCRIPT_DOORS = 2,
	SCRIPT_READS = 2,
	SCRIPT_AREAS = SCRIPT_DOORS + SCRIPT_READS + 1, /* the last area is the one of receives */
	SCRIPT_RECV = 3000,
	SCRIPT_RECVS = 4,
	SCRIPT_WCS = 10,
	SCRIPT_STREAM = 60000,
};

enum script_op {
	SCRIPT_WRITE,  /* n bytes at `to` of door `which` */
	SCRIPT_ANSWER, /* of read `which` */
	SCRIPT_SEND,   /* n bytes at `to` of the current Send */
	SCRIPT_SEND_INV,
	SCRIPT_REQUEST, /* a Read Request for n bytes of door `which`, which is open for writing
			   only or, if n is 0, for nothing */
};

struct script_step {
	enum script_op op;
	unsigned which;
	uint32_t to, n;
	bool last;
	bool odd; /* with a reserved bit */
	bool bad; /* with a wrong CRC */
};

/* The result of a play. */
struct script_play {
	uint8_t area[SCRIPT_AREAS][SCRIPT_MEM + SCRIPT_GUARD];
	struct prov_wc wc[SCRIPT_WCS];
	uint8_t (*seen[SCRIPT_WCS])[SCRIPT_MEM + SCRIPT_GUARD]; /* the areas at that completion */
	unsigned n;
	bool down;
	char reason[200];
	uint64_t foreseen; /* segments */
	uint32_t stag[SCRIPT_DOORS + SCRIPT_READS];
};

static inline size_t script_put(
	uint8_t *b, const struct script_step *s, const uint32_t *stag, uint32_t msn[2], bool crc)
{
	size_t at = 2;
	uint32_t sum;

	switch (s->op) {
	case SCRIPT_WRITE:
		at += ddp_put_tagged(b + 2, DDP_OP_WRITE, s->last, stag[s->which], s->to);
		break;
	case SCRIPT_ANSWER:
		at += ddp_put_tagged(
			b + 2, DDP_OP_READ_RESP, s->last, stag[SCRIPT_DOORS + s->which], s->to);
		break;
	case SCRIPT_SEND:
	case SCRIPT_SEND_INV:
		at += ddp_put_untagged(b + 2, s->op == SCRIPT_SEND ? DDP_OP_SEND : DDP_OP_SEND_INV,
			s->last, s->op == SCRIPT_SEND ? 0 : stag[s->which], msn[0], s->to);
		msn[0] += s->last;
		break;
	case SCRIPT_REQUEST:
		at += ddp_put_untagged(b + 2, DDP_OP_READ_REQ, true, 0, msn[1]++, 0);
		b[2 + 9] = DDP_QN_READ_REQ;
		ddp_put_read_req(
			b + at, &(struct ddp_read_req){.size = s->n, .src_stag = stag[s->which]});
		at += DDP_READ_REQ_LEN;
		break;
	}
	if (s->odd)
		b[2] |= 0x04;
	if (s->op != SCRIPT_REQUEST)
		for (uint32_t i = 0; i < s->n; i++)
			b[at++] = (uint8_t)(i * 7 + s->to / 3 + s->n + 13 * (unsigned)s->op + 1);
	b[0] = (uint8_t)((at - 2) >> 8);
	b[1] = (uint8_t)(at - 2);
	while (at % 4)
		b[at++] = 0;
	sum = crc ? crc32c(0, b, at) ^ s->bad : 0;
	for (int i = 0; i < 4; i++)
		b[at++] = (uint8_t)(sum >> 8 * i);
	return at;
}

static inline void script_poll(struct iwarp_conn *c, struct script_play *p)
{
	struct prov_wc wc;

	while (!p->down && prov_iwarp.poll(&c->prov, &wc, 1) == 1) {
		if (wc.op == PROV_WC_DOWN) {
			p->down = true;
			memcpy(p->reason, c->prov.down_reason, sizeof(p->reason));
		} else if (p->n < SCRIPT_WCS) {
			p->wc[p->n] = wc;
			p->seen[p->n] = malloc(sizeof(p->area));
			memcpy(p->seen[p->n++], p->area, sizeof(p->area));
		}
	}
}

/* The stream of n steps, sent in pieces of cut bytes and, each second time, cut2. */
static inline struct script_play *script_play(const struct script_step *s, unsigned n, size_t cut,
	size_t cut2, bool crc, uint8_t fill, bool foresee)
{
	struct prov_params params = {
		.recv_depth = SCRIPT_RECVS, .send_depth = 4, .ird = 2, .ord = SCRIPT_READS};
	struct script_play *p = calloc(1, sizeof(*p));
	uint8_t *b = malloc(SCRIPT_STREAM + 70000);
	struct iwarp_conn *c;
	uint32_t msn[2] = {1, 1};
	struct prov_door door;
	struct mem_sge sge;
	size_t len = 0;
	int sv[2];

	if (!p || !b || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv))
		abort();
	c = iwarp_conn_new(sv[0], true, &params);
	if (!c || iwarp_conn_start(c, 2, SCRIPT_READS, crc))
		abort();
	/* the same numbers each time */
	for (unsigned i = 0; i < 64; i++)
		c->stags.rnd[i] = 0x51a60000 + i;
	c->stags.rnd_left = 64;
	memset(p->area, fill, sizeof(p->area));
	for (unsigned i = 0; i < SCRIPT_DOORS; i++) {
		sge = (struct mem_sge){.addr = p->area[i], .len = SCRIPT_MEM};
		if (prov_iwarp.expose(&c->prov, &sge, PROV_REMOTE_WRITE, &door))
			abort();
		p->stag[i] = door.stag;
	}
	for (unsigned i = 0; i < SCRIPT_READS; i++) {
		struct prov_wr wr = {.op = PROV_READ, .nsge = 1, .cookie = 100 + i};

		wr.sge[0] = (struct mem_sge){.addr = p->area[SCRIPT_DOORS + i], .len = SCRIPT_MEM};
		if (prov_iwarp.post(&c->prov, &wr))
			abort();
		p->stag[SCRIPT_DOORS + i] = c->reads[i].stag;
	}
	for (unsigned i = 0; i < SCRIPT_RECVS; i++) {
		sge = (struct mem_sge){.addr = p->area[SCRIPT_AREAS - 1] + (size_t)i * SCRIPT_RECV,
			.len = SCRIPT_RECV};
		if (prov_iwarp.post_recv(&c->prov, i, &sge))
			abort();
	}
	c->rx.guess.skip = foresee ? 0 : UINT32_MAX;

	for (unsigned i = 0; i < n && len < SCRIPT_STREAM; i++)
		len += script_put(b + len, &s[i], p->stag, msn, crc);
	for (size_t at = 0, k; at < len && !p->down; at += k) {
		k = cut ? cut : len;
		if (k > len - at)
			k = len - at;
		if (send(sv[1], b + at, k, MSG_NOSIGNAL) != (ssize_t)k)
			break;
		for (int i = 0; i < 3; i++)
			script_poll(c, p);
		if (cut2) {
			size_t other = cut;

			cut = cut2;
			cut2 = other;
		}
	}
	close(sv[1]);
	for (int i = 0; i < 8; i++)
		script_poll(c, p);
	p->foreseen = c->rx.guess.hits;
	prov_iwarp.free(&c->prov);
	free(b);
	return p;
}

static inline void script_free(struct script_play *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->seen[i]);
	free(p);
}

/* Are the areas of the play as they must be, where the two others agree? */
static inline bool script_same(uint8_t (*zeros)[SCRIPT_MEM + SCRIPT_GUARD],
	uint8_t (*ones)[SCRIPT_MEM + SCRIPT_GUARD], uint8_t (*play)[SCRIPT_MEM + SCRIPT_GUARD])
{
	for (unsigned a = 0; a < SCRIPT_AREAS; a++) {
		bool same = !memcmp(zeros[a], play[a], SCRIPT_MEM);

		for (unsigned i = 0; i < SCRIPT_MEM && !same; i++)
			if (zeros[a][i] == ones[a][i] && zeros[a][i] != play[a][i])
				return false;
		for (unsigned i = SCRIPT_MEM; i < SCRIPT_MEM + SCRIPT_GUARD; i++)
			if (play[a][i])
				return false;
	}
	return true;
}

/* Returns the first error found, or NULL. Adds to *foreseen. */
static inline const char *script_check(const struct script_step *s, unsigned n, size_t cut,
	size_t cut2, bool crc, uint64_t *foreseen)
{
	struct script_play *zeros = script_play(s, n, cut, cut2, crc, 0, false);
	struct script_play *ones = script_play(s, n, cut, cut2, crc, 0xff, false);
	struct script_play *p = script_play(s, n, cut, cut2, crc, 0, true);
	const char *why = NULL;

	*foreseen += p->foreseen;
	if (p->n != zeros->n || p->down != zeros->down)
		why = "not the same completions";
	else if (strcmp(p->reason, zeros->reason))
		why = "not the same end";
	for (unsigned i = 0; i < p->n && !why; i++) {
		const struct prov_wc *w = &p->wc[i], *z = &zeros->wc[i];

		if (w->op != z->op || w->cookie != z->cookie || w->len != z->len ||
			w->invalidated != z->invalidated || w->inv_stag != z->inv_stag)
			why = "another completion";
		else if (!script_same(zeros->seen[i], ones->seen[i], p->seen[i]))
			why = "other bytes at a completion";
		for (unsigned d = 0; d < SCRIPT_DOORS && w->invalidated; d++)
			if (p->stag[d] == w->inv_stag &&
				memcmp(p->seen[i][d], p->area[d], SCRIPT_MEM))
				why = "bytes changed behind a closed door";
		for (unsigned d = 0; d < SCRIPT_READS && w->op == PROV_WC_READ; d++)
			if (w->cookie == 100 + d && memcmp(p->seen[i][SCRIPT_DOORS + d],
							    p->area[SCRIPT_DOORS + d], SCRIPT_MEM))
				why = "bytes changed after a read";
	}
	if (!why && !script_same(zeros->area, ones->area, p->area))
		why = "other bytes at the end";
	script_free(zeros);
	script_free(ones);
	script_free(p);
	return why;
}

#endif
