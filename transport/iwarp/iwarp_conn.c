/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_conn: the life of a connection. The model is in iwarp_impl.h.
 */
#include "transport/iwarp/iwarp_conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/iwarp/iwarp_rx.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"
#include "transport/log.h"

#define LOOPBACK_SNDBUF (256 << 10)

void iwarp_conn_free(struct iwarp_conn *c)
{
	if (!c)
		return;
	iwarp_tx_purge(c);
	close(c->fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	iwarp_stags_finish(&c->stags);
	mutex_destroy(&c->rq_lock);
	mutex_destroy(&c->q_lock);
	mutex_destroy(&c->tx_lock);
	free(c->rx.buf);
	free(c->rx.waste);
	free(c->rq);
	free(c->reads);
	free(c->req_mem);
	free(c);
}

static unsigned round_up_pow2(unsigned n)
{
	unsigned p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

struct iwarp_conn *iwarp_conn_new(int fd, bool active, const struct prov_params *p)
{
	struct iwarp_conn *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return NULL;
	}
	c->params = *p;
	if (p->priv_len)
		memcpy(c->priv_data, p->priv, p->priv_len);
	c->params.priv = c->priv_data;
	c->fd = fd;
	c->active = active;
	snprintf(c->peer, sizeof(c->peer), "the peer");
	mutex_init(&c->rq_lock);
	mutex_init(&c->q_lock);
	mutex_init(&c->tx_lock);
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->spare);
	TAILQ_INIT(&c->reads_waiting);
	TAILQ_INIT(&c->ready);
	TAILQ_INIT(&c->batch.done);
	for (int i = 0; i < 3; i++)
		c->tx_msn[i] = 1;
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->rq_cap = round_up_pow2(p->recv_depth ? p->recv_depth : 1);
	c->rq = calloc(c->rq_cap, sizeof(*c->rq));
	if (iwarp_stags_init(&c->stags) || iwarp_rx_init(&c->rx) || c->wake_fd < 0 || !c->rq) {
		iwarp_conn_free(c);
		return NULL;
	}
	return c;
}

int iwarp_conn_start(struct iwarp_conn *c, unsigned ird, unsigned ord, bool crc)
{
	size_t nreq = (size_t)c->params.send_depth + 2 * ird + 1;
	int sndbuf = LOOPBACK_SNDBUF;

	/* No other thread uses the connection before `up`. */
	mutex_alone(&c->tx_lock);
	mutex_alone(&c->q_lock);
	c->prov.ird = (uint8_t)ird;
	c->prov.ord = (uint8_t)ord;
	c->crc = crc;
	c->reads = calloc(ord + 1, sizeof(*c->reads));
	c->req_mem = calloc(nreq, sizeof(*c->req_mem));
	if (!c->reads || !c->req_mem)
		return -ENOMEM;
	for (size_t i = 0; i < nreq; i++)
		TAILQ_INSERT_TAIL(&c->spare, &c->req_mem[i], link);
	c->emss = iwarp_tx_segment(c);
	c->mulpdu = mpa_mulpdu(c->emss);
	c->growing = c->emss >= IWARP_LOOPBACK_MSS;
	/* Unless alignment would cost the kernel's segmentation off-load, FPDUs do not cross
	 * segments. */
	c->aligned = c->growing || c->emss % 4 == 0;
	if (c->long_fpdus && !c->growing) {
		c->mulpdu = MPA_MAX_MULPDU;
		c->aligned = false;
	}
	/* Bytes that wait in the socket should fit the processor's cache: with the kernel's own
	 * limit of 4 MiB each byte costs two to three times as much. */
	if (c->growing)
		setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	c->held = !c->active;
	atomic_store(&c->up, true);
	log_ctrl("iwarp: connected to %s, %s, IRD %u, ORD %u, CRC %s, segments of %u bytes",
		c->peer, c->active ? "active" : "passive", ird, ord, crc ? "on" : "off", c->mulpdu);
	return 0;
}
