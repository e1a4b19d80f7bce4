/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * conn: see conn.h.
 */
#include "contrib/rnfs-wire/conn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "transport/iwarp/ddp.h"
#include "transport/rpcrdma/rpcrdma_priv.h"

#define NS_PER_S 1000000000

void conn_init(struct conn *c, struct sink *sink, uint64_t start)
{
	*c = (struct conn){.sink = sink, .start = start};
}

void conn_finish(struct conn *c)
{
	for (unsigned i = 0; i < 2; i++) {
		fpdu_finish(&c->side[i].fpdu);
		free(c->side[i].msg);
	}
}

/* "0.000123 127.0.0.1:1023 > 127.0.0.1:20049: " */
static void place(const struct conn *c, unsigned side, uint64_t ns, char *buf, size_t cap)
{
	uint64_t since = ns > c->start ? ns - c->start : 0;

	snprintf(buf, cap, "%" PRIu64 ".%06" PRIu64 " %s: ", since / NS_PER_S,
		since % NS_PER_S / 1000, c->side[side].name);
}

static void note(const struct conn *c, unsigned side, uint64_t ns, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void note(const struct conn *c, unsigned side, uint64_t ns, const char *fmt, ...)
{
	char where[CONN_NAME + 64];
	va_list ap;

	place(c, side, ns, where, sizeof(where));
	fputs(where, c->sink->out);
	va_start(ap, fmt);
	vfprintf(c->sink->out, fmt, ap);
	va_end(ap);
	fputc('\n', c->sink->out);
}

/* Stops reading the direction. */
static void give_up(struct conn *c, unsigned side, uint64_t ns, const char *why)
{
	note(c, side, ns, "%s: this direction is read no further", why);
	c->side[side].off = true;
	c->sink->wrong++;
}

/* --- calls and replies ------------------------------------------------------------------------ */

static void remember(struct conn_side *s, uint32_t xid, uint64_t ns)
{
	s->call[s->next_call] = (struct conn_call){.used = true, .xid = xid, .ns = ns};
	s->next_call = (s->next_call + 1) % CONN_CALLS;
}

static struct conn_call *find(struct conn_side *s, uint32_t xid)
{
	for (unsigned i = 0; i < CONN_CALLS; i++)
		if (s->call[i].used && s->call[i].xid == xid)
			return &s->call[i];
	return NULL;
}

static void pair(struct conn *c, unsigned side, struct header *h, uint64_t ns)
{
	struct conn_call *call = find(&c->side[!side], h->xid);
	uint64_t since;

	if (h->verdict == HEADER_WRONG || h->continued)
		return;
	if (h->dir == HEADER_UNSAID && h->conveys)
		h->dir = call ? HEADER_REPLY : HEADER_CALL;
	if (h->dir == HEADER_CALL && h->conveys) {
		remember(&c->side[side], h->xid, ns);
	} else if (h->dir == HEADER_REPLY && call) {
		since = call->ns > c->start ? call->ns - c->start : 0;
		text_line(&c->sink->text, 1,
			"answers the call of %" PRIu64 ".%06" PRIu64 ", %.3f ms later",
			since / NS_PER_S, since % NS_PER_S / 1000,
			ns > call->ns ? (double)(ns - call->ns) / 1e6 : 0);
		call->used = false;
	} else if (h->dir == HEADER_REPLY && h->conveys) {
		text_line(&c->sink->text, 1, "the capture has no call of this XID");
	}
}

static void message(struct conn *c, unsigned side, const struct ddp_hdr *ddp, uint64_t ns)
{
	struct conn_side *s = &c->side[side];
	char where[CONN_NAME + 64];
	struct header h;

	s->sends++;
	if (!s->len) {
		note(c, side, ns, "an empty Send");
		return;
	}
	sink_read(c->sink, &h, &c->talk, side, s->msg, s->len);
	if (ddp->op == DDP_OP_SEND_INV || ddp->op == DDP_OP_SEND_SE_INV)
		text_line(&c->sink->text, 1, "the Send invalidates STag 0x%08" PRIx32, ddp->stag);
	pair(c, side, &h, ns);
	place(c, side, ns, where, sizeof(where));
	sink_print(c->sink, where, &h);
}

/* --- DDP segments ----------------------------------------------------------------------------- */

static void terminate(struct conn *c, unsigned side, const uint8_t *p, size_t len, uint64_t ns)
{
	struct ddp_term t;

	if (ddp_get_term(p, len, &t))
		note(c, side, ns, "a Terminate that is cut off");
	else
		note(c, side, ns, "Terminate: %s", ddp_err_text(t.err));
}

/* A segment of a Send. */
static void send_segment(struct conn *c, unsigned side, const struct ddp_hdr *ddp, const uint8_t *p,
	size_t len, uint64_t ns)
{
	struct conn_side *s = &c->side[side];
	uint8_t *grown;

	if (ddp->mo != s->len || len > CONN_MAX_MSG - s->len) {
		give_up(c, side, ns,
			ddp->mo != s->len ? "a segment of a Send is not where it should be"
					  : "a Send is longer than any");
		return;
	}
	if (len > s->cap - s->len) {
		grown = realloc(s->msg, s->len + len);
		if (!grown) {
			give_up(c, side, ns, "memory has ended");
			return;
		}
		s->msg = grown;
		s->cap = s->len + len;
	}
	if (len)
		memcpy(s->msg + s->len, p, len);
	s->len += len;
	if (!ddp->last)
		return;
	message(c, side, ddp, ns);
	s->len = 0;
}

static void segment(struct conn *c, unsigned side, const uint8_t *p, size_t len, uint64_t ns)
{
	struct conn_side *s = &c->side[side];
	struct ddp_hdr ddp;
	size_t n = ddp_get(p, len, &ddp);

	if (!n || ddp_check(&ddp) != DDP_OK) {
		give_up(c, side, ns, n ? ddp_err_text((unsigned)ddp_check(&ddp)) : "a short FPDU");
	} else if (ddp.tagged) {
		s->writes += ddp.last && ddp.op == DDP_OP_WRITE;
		s->write_bytes += ddp.op == DDP_OP_WRITE ? len - n : 0;
	} else if (ddp.qn == DDP_QN_READ_REQ) {
		s->reads++;
	} else if (ddp.qn == DDP_QN_TERMINATE) {
		terminate(c, side, p + n, len - n, ns);
	} else {
		send_segment(c, side, &ddp, p + n, len - n, ns);
	}
}

static void segments(struct conn *c, unsigned side, uint64_t ns)
{
	struct conn_side *s = &c->side[side];
	uint64_t bad = s->fpdu.bad_crc;
	const uint8_t *p;
	size_t len;

	while (!s->off && fpdu_next(&s->fpdu, &p, &len)) {
		if (s->fpdu.bad_crc != bad) {
			note(c, side, ns, "the CRC of an FPDU is wrong");
			c->sink->wrong++;
			bad = s->fpdu.bad_crc;
		}
		segment(c, side, p, len, ns);
	}
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void say_frame(const struct conn *c, unsigned side, uint64_t ns)
{
	const struct mpa_frame *f = &c->side[side].frame;
	struct rpcrdma_priv priv;

	note(c, side, ns, "MPA %s, revision %u%s%s%s", f->reply ? "Reply" : "Request", f->rev,
		f->crc ? ", CRC" : "", f->markers ? ", markers" : "", f->reject ? ", reject" : "");
	if (!c->sink->brief && rpcrdma_priv_decode(&priv, f->priv, f->priv_len))
		fprintf(c->sink->out,
			"    RFC 8797: sends up to %" PRIu32 " bytes, receives up to %" PRIu32
			"%s\n",
			priv.send_size, priv.recv_size,
			priv.remote_inval ? ", remote invalidation" : "");
}

/* Takes the set-up frame from the beginning of the stream, if the frame is complete. */
static void start(struct conn *c, unsigned side, uint64_t ns)
{
	struct conn_side *s = &c->side[side];
	const uint8_t *p = s->fpdu.raw;

	if (s->fpdu.len < MPA_HDR_LEN)
		return;
	switch (mpa_decode(p, side, &s->frame)) {
	case 0:
		break;
	case -EPROTO:
		c->silent = true;
		fpdu_finish(&c->side[0].fpdu);
		fpdu_finish(&c->side[1].fpdu);
		return;
	default:
		give_up(c, side, ns, "its MPA frame is of no revision that is known");
		return;
	}
	if (s->fpdu.len < (size_t)MPA_HDR_LEN + s->frame.pd_len)
		return;
	if (mpa_decode_pd(&s->frame, p + MPA_HDR_LEN)) {
		give_up(c, side, ns, "its MPA frame is too short");
		return;
	}
	say_frame(c, side, ns);
	s->started = true;
}

/* Both sides have started: the bytes kept behind the set-up frames are FPDUs. */
static void begin(struct conn *c)
{
	bool crc = c->side[0].frame.crc || c->side[1].frame.crc;

	for (unsigned i = 0; i < 2; i++) {
		struct conn_side *s = &c->side[i];
		size_t skip = MPA_HDR_LEN + (size_t)s->frame.pd_len;
		struct fpdu early = s->fpdu;

		/* the frame of each side asks for markers in received FPDUs, or not (RFC 5044
		 * section 7.1.1) */
		fpdu_init(&s->fpdu, crc, c->side[!i].frame.markers);
		if (fpdu_add(&s->fpdu, early.raw + skip, early.len - skip))
			s->off = true;
		fpdu_finish(&early);
		s->frame.priv = NULL;
	}
}

void conn_bytes(struct conn *c, unsigned side, const void *data, size_t len, uint64_t ns)
{
	struct conn_side *s = &c->side[side];
	bool both = c->side[0].started && c->side[1].started;

	if (c->silent || s->off)
		return;
	if (fpdu_add(&s->fpdu, data, len)) {
		give_up(c, side, ns, "memory has ended");
		return;
	}
	if (!s->started)
		start(c, side, ns);
	if (c->silent || !c->side[0].started || !c->side[1].started)
		return;
	if (!both) {
		begin(c);
		segments(c, !side, ns);
	}
	segments(c, side, ns);
}

void conn_missing(struct conn *c, unsigned side, uint64_t bytes, uint64_t ns)
{
	if (c->silent || c->side[side].off || !c->side[0].started)
		return;
	note(c, side, ns,
		"%" PRIu64 " bytes are not in the capture: this direction is read no further",
		bytes);
	c->sink->missing += bytes;
	c->side[side].off = true;
}

void conn_summary(const struct conn *c)
{
	for (unsigned i = 0; i < 2 && c->side[0].started && c->side[1].started; i++) {
		const struct conn_side *s = &c->side[i];

		fprintf(c->sink->out,
			"%s: %" PRIu64 " Sends, %" PRIu64 " RDMA Writes of %" PRIu64
			" bytes, %" PRIu64 " RDMA Reads\n",
			s->name, s->sends, s->writes, s->write_bytes, s->reads);
	}
}
