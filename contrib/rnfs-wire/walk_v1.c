/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk_v1: version 1 (RFC 8166), and its form of 2005 (draft-ietf-nfsv4-rpcrdma-01 section 4.2).
 */
#include <inttypes.h>

#include "contrib/rnfs-wire/walk.h"
#include "transport/rpcrdma/rpcrdma_hdr.h"

#define EXTRA_WORDS 8 /* of an ERR_CHUNK in 2005 */

static void say_error(struct walk *w, bool legacy)
{
	uint32_t err, low, high;

	w->h->dir = HEADER_REPLY;
	walk_what(w, "the error");
	err = xdr_get_u32(&w->x);
	switch (err) {
	case RDMA_ERR_VERS:
		low = xdr_get_u32(&w->x);
		high = xdr_get_u32(&w->x);
		walk_say(w, 0, "ERR_VERS: versions %" PRIu32 " to %" PRIu32 " are spoken", low,
			high);
		break;
	case RDMA_ERR_CHUNK:
		walk_say(w, 0, "ERR_CHUNK: the header could not be used");
		if (!legacy)
			break;
		walk_what(w, "rdma_extra");
		for (unsigned i = 0; i < EXTRA_WORDS; i++) {
			uint32_t v = xdr_get_u32(&w->x);

			if (v)
				walk_say(w, 0, "rdma_extra[%u]: 0x%08" PRIx32, i, v);
		}
		break;
	default:
		walk_say(w, 0, "error %" PRIu32 ", which is not known", err);
		if (xdr_in_ok(&w->x))
			w->h->verdict = HEADER_UNKNOWN;
		break;
	}
}

static void msgp(struct walk *w)
{
	uint32_t align, thresh;

	w->h->name = "RDMA_MSGP";
	walk_what(w, "the padding parameters");
	align = xdr_get_u32(&w->x);
	thresh = xdr_get_u32(&w->x);
	walk_say(w, 0, "data of more than %" PRIu32 " bytes is padded to a multiple of %" PRIu32,
		thresh, align);
	walk_lists(w);
}

void walk_v1(struct walk *w, bool legacy)
{
	walk_say(w, 0, "credits: %" PRIu32, w->h->credit);
	switch (w->h->proc) {
	case RDMA_MSG:
		w->h->name = "RDMA_MSG";
		walk_lists(w);
		walk_what(w, "the RPC message");
		if (xdr_in_left(&w->x) < 4)
			walk_refuse(w, "there is none");
		break;
	case RDMA_NOMSG:
		w->h->name = "RDMA_NOMSG";
		walk_lists(w);
		walk_end(w);
		break;
	case RDMA_MSGP:
		msgp(w);
		walk_what(w, "the RPC message");
		if (xdr_in_left(&w->x) < 4)
			walk_refuse(w, "there is none");
		break;
	case RDMA_DONE:
		w->h->name = "RDMA_DONE";
		w->h->dir = HEADER_CALL;
		walk_say(w, 0, "the Read chunks of the reply have been read");
		break;
	case RDMA_ERROR:
		w->h->name = "RDMA_ERROR";
		say_error(w, legacy);
		break;
	default:
		w->h->verdict = HEADER_UNKNOWN;
		break;
	}
}
