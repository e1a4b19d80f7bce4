/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_end: how a connection ends. The model is in iwarp_impl.h.
 *
 * The first thread that notices calls iwarp_fail(), which notes the reason. iwarp_poll() still
 * hands out the ready completions, then drops all requests under both locks, and only then delivers
 * DOWN. From there on no thread touches memory of the user.
 */
#include "transport/iwarp/iwarp_end.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "transport/iwarp/iwarp_tx.h"
#include "transport/log.h"

void iwarp_fail(struct iwarp_conn *c, const char *fmt, ...)
{
	va_list ap;

	if (c->failed)
		return;
	c->failed = true;
	va_start(ap, fmt);
	vsnprintf(c->prov.down_reason, sizeof(c->prov.down_reason), fmt, ap);
	va_end(ap);
	atomic_store(&c->over, true);
	log_ctrl("iwarp: %s", c->prov.down_reason);
}

void iwarp_terminate(struct iwarp_conn *c, unsigned ddp_err, const char *why, ...)
{
	struct iwarp_rx *rx = &c->rx;
	struct ddp_term t = {.err = (uint16_t)ddp_err};
	char text[160];
	va_list ap;

	va_start(ap, why);
	vsnprintf(text, sizeof(text), why, ap);
	va_end(ap);
	/* RFC 5040 figure 10: errors of MPA carry no header; a read request comes back whole after
	 * an error of protection. */
	t.ddp_len = rx->h.tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	if (ddp_err >> 12 != 2 && rx->ulpdu >= t.ddp_len) {
		t.has_len = t.has_ddp = true;
		t.seg_len = (uint16_t)rx->ulpdu;
		memcpy(t.ddp, rx->raw, t.ddp_len);
		if (rx->h.op == DDP_OP_READ_REQ && ddp_err >> 8 == 1) {
			t.has_rdma = true;
			memcpy(t.rdma, rx->small, DDP_READ_REQ_LEN);
		}
	}
	iwarp_fail(c, "%s broke the protocol: %s (%s)", c->peer, text, ddp_err_text(ddp_err));
	iwarp_tx_terminate(c, &t);
}
