/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk_v2: version 2 of November 2019 (draft-ietf-nfsv4-rpcrdma-version-two section 6) and of 2016
 * (draft-cel-nfsv4-rpcrdma-version-two-01 section 4.2).
 */
#include <inttypes.h>
#include <stdio.h>

#include "contrib/rnfs-wire/walk.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"

/* --- of 2019 ---------------------------------------------------------------------------------- */

static void say_range(struct walk *w)
{
	uint32_t low = xdr_get_u32(&w->x), high = xdr_get_u32(&w->x);

	walk_say(w, 0, "RDMA2_ERR_VERS: versions %" PRIu32 " to %" PRIu32 " are spoken", low, high);
}

/* Writes an error with one argument. */
static void say_limit(struct walk *w, const char *fmt)
{
	uint32_t v = xdr_get_u32(&w->x);

	walk_say(w, 0, "%s %" PRIu32, fmt, v);
}

static void say_error(struct walk *w)
{
	uint32_t err, v;

	w->h->dir = HEADER_REPLY;
	walk_what(w, "the error");
	err = xdr_get_u32(&w->x);
	switch (err) {
	case RDMA_ERR_VERS:
		say_range(w);
		break;
	case RDMA_ERR_CHUNK:
		walk_say(w, 0, "RDMA2_ERR_BAD_XDR: the header could not be parsed");
		break;
	case RDMA_ERR_INVAL_HTYPE:
		walk_say(w, 0, "RDMA2_ERR_INVAL_HTYPE: the header type or its flags are not known");
		break;
	case RDMA_ERR_INVAL_FLAG:
		walk_say(w, 0, "RDMA2_ERR_INVAL_FLAG: the flags may not be set here");
		break;
	case RDMA_ERR_READ_CHUNKS:
		say_limit(w, "RDMA2_ERR_READ_CHUNKS: too many Read chunks; at most");
		break;
	case RDMA_ERR_WRITE_CHUNKS:
		say_limit(w, "RDMA2_ERR_WRITE_CHUNKS: too many Write chunks; at most");
		break;
	case RDMA_ERR_SEGMENTS:
		say_limit(w, "RDMA2_ERR_SEGMENTS: too many segments; at most");
		break;
	case RDMA_ERR_WRITE_RESOURCE:
		v = xdr_get_u32(&w->x);
		walk_say(w, 0,
			"RDMA2_ERR_WRITE_RESOURCE: Write chunk %" PRIu32
			" is too short; bytes needed: %" PRIu32,
			v, xdr_get_u32(&w->x));
		break;
	case RDMA_ERR_REPLY_RESOURCE:
		say_limit(w, "RDMA2_ERR_REPLY_RESOURCE: the Reply chunk is too short; bytes "
			     "needed:");
		break;
	case RDMA_ERR_SYSTEM:
		walk_say(w, 0, "RDMA2_ERR_SYSTEM: a problem of another kind");
		break;
	default:
		walk_say(w, 0, "error %" PRIu32 ", which is not known", err);
		if (xdr_in_ok(&w->x))
			w->h->verdict = HEADER_UNKNOWN;
		break;
	}
}

static void message(struct walk *w)
{
	uint32_t handle;

	walk_what(w, "the handle to invalidate");
	handle = xdr_get_u32(&w->x);
	if (handle)
		walk_say(w, 0, "remote invalidation: handle 0x%08" PRIx32, handle);
	walk_lists(w);
}

static uint32_t prefix(struct walk *w)
{
	char unknown[32] = "";
	uint32_t flags;

	walk_what(w, "the flags");
	flags = xdr_get_u32(&w->x);
	if (flags & ~(RPCRDMA_V2_RESPONSE | RPCRDMA_V2_MORE))
		snprintf(unknown, sizeof(unknown), " unknown 0x%08" PRIx32,
			flags & ~(RPCRDMA_V2_RESPONSE | RPCRDMA_V2_MORE));
	walk_say(w, 0, "flags:%s%s%s%s", flags & RPCRDMA_V2_RESPONSE ? " RESPONSE" : "",
		flags & RPCRDMA_V2_MORE ? " MORE" : "", unknown, flags ? "" : " none");
	walk_say(w, 0, "credits: %" PRIu32 " granted, %" PRIu32 " at most", w->h->credit & 0xffff,
		w->h->credit >> 16);
	if (xdr_in_ok(&w->x))
		w->h->dir = flags & RPCRDMA_V2_RESPONSE ? HEADER_REPLY : HEADER_CALL;
	return flags;
}

static void extension(struct walk *w)
{
	uint32_t op = w->h->proc - WALK_RTR_HTYPE;

	w->h->name = walk_rtr_name(op);
	if (w->h->name) {
		walk_rtr(w, op);
		return;
	}
	w->h->name = "unknown type";
	w->h->verdict = HEADER_UNKNOWN;
}

void walk_v2(struct walk *w, bool *more)
{
	uint32_t flags = prefix(w);

	*more = xdr_in_ok(&w->x) && flags & RPCRDMA_V2_MORE;
	switch (w->h->proc) {
	case RDMA_MSG:
		w->h->name = "RDMA2_MSG";
		message(w);
		walk_what(w, "the RPC message");
		if (xdr_in_left(&w->x) < 4)
			walk_refuse(w, "there is none");
		break;
	case RDMA_NOMSG:
		w->h->name = "RDMA2_NOMSG";
		message(w);
		walk_end(w);
		break;
	case RDMA_ERROR:
		w->h->name = "RDMA2_ERROR";
		say_error(w);
		break;
	case RDMA_CONNPROP:
		w->h->name = "RDMA2_CONNPROP";
		if (*more || w->middle)
			walk_say(w, 0, "a part of a set of properties");
		else
			walk_props(w, false);
		break;
	default:
		extension(w);
		break;
	}
}

/* --- of 2016 ---------------------------------------------------------------------------------- */

enum {
	RDMA2_OPTIONAL = 5,
	ERR_BAD_HEADER = 2,
	ERR_INVAL_OPTION = 3,
	/* draft-dnoveck-nfsv4-rpcrdma-xcharext; the extension's own numbers begin behind these */
	ROPT_CONNPROP = 1,
	ROPT_PROPS = 4,
};

static void say_error_2016(struct walk *w)
{
	uint32_t err;

	w->h->dir = HEADER_REPLY;
	walk_what(w, "the error");
	err = xdr_get_u32(&w->x);
	switch (err) {
	case RDMA_ERR_VERS:
		say_range(w);
		break;
	case ERR_BAD_HEADER:
		walk_say(w, 0, "RDMA2_ERR_BAD_HEADER: the header could not be used");
		break;
	case ERR_INVAL_OPTION:
		walk_say(w, 0, "RDMA2_ERR_INVAL_OPTION: the operation is not known");
		break;
	default:
		walk_say(w, 0, "error %" PRIu32 ", which is not known", err);
		if (xdr_in_ok(&w->x))
			w->h->verdict = HEADER_UNKNOWN;
		break;
	}
}

/* Reads rdma_optinfo. */
static void optinfo(struct walk *w, uint32_t op)
{
	if (walk_rtr_name(op)) {
		walk_rtr(w, op);
	} else if (op == ROPT_CONNPROP) {
		walk_props(w, true);
	} else if (op > ROPT_PROPS || !op) {
		walk_say(w, 0, "an operation that is not known");
		w->h->verdict = HEADER_UNKNOWN;
	}
}

static void optional(struct walk *w)
{
	struct walk inner = *w;
	const uint8_t *info;
	uint32_t op, n;

	w->h->dir = walk_direction(w);
	walk_what(w, "the operation");
	op = xdr_get_u32(&w->x);
	walk_what(w, "what the operation says");
	info = xdr_get_opaque(&w->x, UINT32_MAX, &n);
	if (!xdr_in_ok(&w->x))
		return;
	walk_say(w, 0, "operation %" PRIu32 " (%s), which says %" PRIu32 " bytes", op,
		walk_rtr_name(op)     ? walk_rtr_name(op)
		: op == ROPT_CONNPROP ? "properties"
		: op <= ROPT_PROPS    ? "of properties"
				      : "unknown",
		n);
	xdr_in_init(&inner.x, info, n);
	optinfo(&inner, op);
	if (xdr_in_ok(&inner.x) && w->h->verdict == HEADER_OK && xdr_in_left(&inner.x) &&
		(walk_rtr_name(op) || op == ROPT_CONNPROP))
		walk_refuse(&inner, "something is left over in it");
	w->middle = inner.middle;
	w->stream = inner.stream;
	if (!xdr_in_ok(&inner.x)) {
		w->what = inner.what;
		walk_refuse(w, inner.why ? inner.why : "what the operation says is cut off");
	}
}

void walk_2016(struct walk *w)
{
	walk_say(w, 0, "credits: %" PRIu32, w->h->credit);
	switch (w->h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
		w->h->name = w->h->proc == RDMA_MSG ? "RDMA2_MSG" : "RDMA2_NOMSG";
		w->h->dir = walk_direction(w);
		walk_lists(w);
		walk_what(w, "the RPC message");
		if (w->h->proc == RDMA_NOMSG)
			walk_end(w);
		else if (xdr_in_left(&w->x) < 4)
			walk_refuse(w, "there is none");
		break;
	case RDMA_ERROR:
		w->h->name = "RDMA2_ERROR";
		say_error_2016(w);
		break;
	case RDMA2_OPTIONAL:
		w->h->name = "RDMA2_OPTIONAL";
		optional(w);
		break;
	default:
		w->h->verdict = HEADER_UNKNOWN;
		break;
	}
}
