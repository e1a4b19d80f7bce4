/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * header: see header.h.
 */
#include "contrib/rnfs-wire/header.h"

#include <inttypes.h>
#include <string.h>

#include "contrib/rnfs-wire/walk.h"
#include "transport/rpcrdma/old/rpcrdma_legacy.h"
#include "transport/rpcrdma/v1/rpcrdma_v1.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"

static const struct {
	const char *option, *name;
} dialects[] = {
	[HEADER_AUTO] = {"auto", "unknown version"},
	[HEADER_V1] = {"1", "version 1"},
	[HEADER_V1_LEGACY] = {"1-legacy", "version 1 of 2005"},
	[HEADER_V2] = {"2", "version 2"},
	[HEADER_V2_2016] = {"2-2016", "version 2 of 2016"},
};

bool header_dialect_named(const char *name, enum header_dialect *d)
{
	for (unsigned i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (!strcmp(name, dialects[i].option)) {
			*d = i;
			return true;
		}
	}
	return false;
}

/* Reads the message behind the fixed words. */
static void walk_body(struct walk *w, enum header_dialect d, bool *more)
{
	*more = false;
	switch (d) {
	case HEADER_V2:
		walk_v2(w, more);
		break;
	case HEADER_V2_2016:
		walk_2016(w);
		break;
	default:
		walk_v1(w, d == HEADER_V1_LEGACY);
		break;
	}
}

/* --- the dialect ------------------------------------------------------------------------------ */

/* A message that continues another begins in the middle of the RPC message. */
static bool is_continued(const struct header *h, const struct header_talk *talk, unsigned side)
{
	return talk && talk->side[side].more && talk->side[side].xid == h->xid &&
	       (h->proc == RDMA_MSG || h->proc == RDMA_CONNPROP);
}

/* Is the message complete in dialect d: no field is missing, and the RPC message begins where the
 * chunk lists end? */
static bool comes_out(const struct walk *at, enum header_dialect d)
{
	struct header h = *at->h;
	struct walk w = *at;
	size_t left;
	bool more;

	w.h = &h;
	w.silent = true;
	if (d == HEADER_V2_2016 && h.proc == RDMA_ERROR && xdr_get_u32(&w.x) == RDMA_ERR_VERS)
		return false; /* then is_err_vers() has found out */
	w.x = at->x;
	walk_body(&w, d, &more);
	left = xdr_in_left(&w.x);
	if (!xdr_in_ok(&w.x) || h.verdict != HEADER_OK)
		return false;
	if (h.proc == RDMA_MSG)
		return w.middle || xdr_get_u32(&w.x) == h.xid;
	return !left || h.proc > RDMA_ERROR;
}

static enum header_dialect of_version_2(
	const struct walk *w, struct header_talk *talk, struct header *h)
{
	bool v2 = comes_out(w, HEADER_V2), v2016 = comes_out(w, HEADER_V2_2016);

	if (v2 == v2016 && talk && talk->v2)
		return talk->v2;
	h->guessed = v2 == v2016;
	if (v2 != v2016 && talk)
		talk->v2 = v2 ? HEADER_V2 : HEADER_V2_2016;
	return v2016 && !v2 ? HEADER_V2_2016 : HEADER_V2;
}

static enum header_dialect of_version_1(
	const struct walk *w, struct header_talk *talk, const struct header *h)
{
	bool legacy = h->proc == RDMA_MSGP || h->proc == RDMA_DONE;

	if (h->proc == RDMA_ERROR) /* an ERR_CHUNK was longer */
		legacy = comes_out(w, HEADER_V1_LEGACY) && !comes_out(w, HEADER_V1);
	if (legacy && talk)
		talk->v1 = HEADER_V1_LEGACY;
	return legacy || (talk && talk->v1) ? HEADER_V1_LEGACY : HEADER_V1;
}

static enum header_dialect choose(const struct walk *w, enum header_dialect d,
	struct header_talk *talk, struct header *h, bool err_vers)
{
	switch (h->vers) {
	case 1:
		if (d == HEADER_V1 || d == HEADER_V1_LEGACY)
			return d;
		return of_version_1(w, talk, h);
	case 2:
		if (d == HEADER_V2 || d == HEADER_V2_2016)
			return d;
		return err_vers ? HEADER_V2 : of_version_2(w, talk, h);
	default:
		return HEADER_AUTO;
	}
}

/* --- one message ------------------------------------------------------------------------------ */

static const char *refusal(enum header_dialect d, const struct rpcrdma_hdr *h)
{
	switch (h->err) {
	case RDMA_ERR_INVAL_HTYPE:
		return "INVAL_HTYPE";
	case RDMA_ERR_INVAL_FLAG:
		return "INVAL_FLAG";
	case RDMA_ERR_READ_CHUNKS:
		return "READ_CHUNKS";
	case RDMA_ERR_WRITE_CHUNKS:
		return "WRITE_CHUNKS";
	case RDMA_ERR_SEGMENTS:
		return "SEGMENTS";
	default:
		return d == HEADER_V2 ? "BAD_XDR" : d == HEADER_V2_2016 ? "BAD_HEADER" : "CHUNK";
	}
}

/* Adds the verdict of the transport's own codec about a message that this reader understands. */
static void ask_codec(struct walk *w, enum header_dialect d, const void *msg, size_t len)
{
	static const struct {
		const struct rpcrdma_dialect *codec;
		uint32_t most; /* the last type that is not an extension */
	} codecs[] = {
		[HEADER_V1] = {&rpcrdma_v1, RDMA_ERROR},
		[HEADER_V1_LEGACY] = {&rpcrdma_legacy, RDMA_ERROR},
		[HEADER_V2] = {&rpcrdma_v2, RDMA_CONNPROP},
		[HEADER_V2_2016] = {&rpcrdma_v2_2016, RDMA_ERROR},
	};
	struct rpcrdma_hdr h;

	if (!codecs[d].codec || w->h->proc > codecs[d].most || w->h->verdict != HEADER_OK ||
		!xdr_in_ok(&w->x))
		return;
	if (rpcrdma_dialect_decode(codecs[d].codec, &h, msg, len))
		walk_say(w, 0, "rnfs refuses this: %s", refusal(d, &h));
}

static void say_failure(struct walk *w, size_t len)
{
	w->h->verdict = HEADER_WRONG;
	if (w->why)
		text_line(w->t, 1, "wrong: %s: %s", w->what, w->why);
	else
		text_line(w->t, 1, "cut off: %s: the message ends at %zu bytes", w->what, len);
}

/* Is the message an RDMA_ERROR with ERR_VERS? The form is common to all versions (RFC 8166 section
 * 7). */
static bool is_err_vers(const void *msg, size_t len, struct rpcrdma_hdr *h)
{
	return !rpcrdma_hdr_peek(h, msg, len) && rpcrdma_hdr_is_err_vers(h);
}

static void body(struct walk *w, enum header_dialect d, struct header_talk *talk, unsigned side)
{
	bool more;

	if (d == HEADER_AUTO) {
		walk_say(w, 0, "no dialect has version number %" PRIu32, w->h->vers);
		w->h->verdict = HEADER_UNKNOWN;
		return;
	}
	walk_body(w, d, &more);
	if (talk && d == HEADER_V2 && (w->h->proc == RDMA_MSG || w->h->proc == RDMA_CONNPROP)) {
		talk->side[side].more = more;
		talk->side[side].xid = w->h->xid;
	}
}

void header_read(struct header *h, enum header_dialect d, struct header_talk *talk, unsigned side,
	const void *msg, size_t len, struct text *t)
{
	struct walk w = {.t = t, .h = h, .what = "the fixed words", .stream = UINT32_MAX};
	struct rpcrdma_hdr err;
	bool err_vers;

	*h = (struct header){.dialect = dialects[HEADER_AUTO].name, .name = "unknown type"};
	h->msg_len = len;
	xdr_in_init(&w.x, msg, len);
	h->xid = xdr_get_u32(&w.x);
	h->vers = xdr_get_u32(&w.x);
	h->credit = xdr_get_u32(&w.x);
	h->proc = xdr_get_u32(&w.x);
	if (!xdr_in_ok(&w.x)) {
		say_failure(&w, len);
		return;
	}
	w.middle = is_continued(h, talk, side);
	err_vers = is_err_vers(msg, len, &err);
	d = choose(&w, d, talk, h, err_vers);
	h->dialect = dialects[d].name;
	if (err_vers) {
		walk_v1(&w, false);
	} else {
		body(&w, d, talk, side);
	}
	if (!xdr_in_ok(&w.x)) {
		say_failure(&w, len);
		return;
	}
	h->len = w.x.pos;
	h->continued = w.middle;
	h->conveys = h->verdict == HEADER_OK && !w.middle && h->proc != RDMA_ERROR &&
		     (d != HEADER_V2 || h->proc != RDMA_CONNPROP) &&
		     (w.chunks || (w.stream ? xdr_in_left(&w.x) : 0));
	if (h->verdict == HEADER_OK)
		walk_payload(&w);
	if (!xdr_in_ok(&w.x))
		say_failure(&w, len);
	ask_codec(&w, d, msg, len);
}

void header_title(const struct header *h, struct text *t)
{
	text_add(t, "%s%s, %s", h->dialect, h->guessed ? " (guessed)" : "", h->name);
	if (!strncmp(h->name, "unknown", 7))
		text_add(t, " %" PRIu32, h->proc);
	if (h->continued)
		text_add(t, ", continued");
	else if (h->dir == HEADER_REPLY)
		text_add(t, ", reply");
	else if (h->dir == HEADER_CALL && h->conveys)
		text_add(t, ", call");
	text_add(t, ", xid 0x%08" PRIx32 ", %zu bytes", h->xid, h->msg_len);
}
