/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes from the peer of an established iWARP connection. The first byte chooses CRC and how
 * the stream is cut; "%%%w" and "%%%r" at the place of an STag name the open doors, "%%%g" the door
 * of a cancelled call.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/iwarp/iwarp_conn.h"
#include "transport/iwarp/iwarp_rx.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"

static uint8_t mem[4][4096];

static void patch(uint8_t *p, size_t n, const char *mark, uint32_t stag)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (!memcmp(p + i, mark, 4))
			for (int k = 0; k < 4; k++)
				p[i + (size_t)k] = (uint8_t)(stag >> (24 - 8 * k));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prov_params p = {.recv_depth = 4, .send_depth = 4, .ird = 2, .ord = 2};
	struct prov_wr read = {.op = PROV_READ, .nsge = 1, .remote_stag = 1};
	struct mem_sge s = {.addr = mem[0], .len = sizeof(mem[0])};
	struct prov_door w, r, g;
	struct prov_wc wc[4];
	struct iwarp_conn *c;
	uint8_t *copy;
	int sv[2];

	if (size < 2 || size > 60000 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sv))
		return 0;
	c = iwarp_conn_new(sv[0], true, &p);
	if (!c || iwarp_conn_start(c, 2, 2, data[0] & 1))
		abort();
	prov_iwarp.expose(&c->prov, &s, PROV_REMOTE_WRITE, &w);
	s.addr = mem[1];
	prov_iwarp.expose(&c->prov, &s, PROV_REMOTE_READ, &r);
	s.addr = mem[3];
	prov_iwarp.expose(&c->prov, &s, PROV_REMOTE_WRITE, &g);
	g.abandoned = true;
	prov_iwarp.withdraw(&c->prov, &g, 1, 0);
	s.addr = mem[2];
	s.len = 600;
	for (int i = 0; i < 4; i++)
		prov_iwarp.post_recv(&c->prov, 0, &s);
	read.sge[0] = s;
	prov_iwarp.post(&c->prov, &read);
	copy = malloc(size);
	memcpy(copy, data, size);
	patch(copy, size, "%%%w", w.stag);
	patch(copy, size, "%%%r", r.stag);
	patch(copy, size, "%%%g", g.stag);
	patch(copy, size, "%%%s", c->reads[0].stag);
	for (size_t at = 1, n; at < size; at += n) {
		n = data[0] & 2 ? size - at : data[0] % 64 + 1u;
		if (n > size - at)
			n = size - at;
		if (send(sv[1], copy + at, n, MSG_NOSIGNAL) < 0)
			break;
		for (int i = 0; i < 4 && prov_iwarp.poll(&c->prov, wc, 4); i++)
			;
	}
	free(copy);
	close(sv[1]);
	for (int i = 0; i < 100 && !c->down; i++)
		prov_iwarp.poll(&c->prov, wc, 4);
	if (!c->down)
		abort();
	for (size_t i = 0; i < sizeof(mem[3]); i++)
		if (mem[3][i])
			abort();
	prov_iwarp.free(&c->prov);
	return 0;
}
