/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk_rtr: the operations and properties of send-based data placement and message continuation
 * (draft-dnoveck-nfsv4-rpcrdma-rtrext-02 section 10.2).
 */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "contrib/rnfs-wire/walk.h"

enum { /* table 4 of the draft */
	XMTREQ = 5,
	XMTRESP = 6,
	XMTCONT = 7,
	REPTERR = 8,
};

enum { /* xmdp_type */
	EXRW = 1,
	TBSN = 2,
	CHOICE = 3, /* CHOOSE in the enumeration */
	BYSIZE = 4,
	TOOSHORT = 5,
	NOITEM = 6,
};

const char *walk_rtr_name(uint32_t op)
{
	switch (op) {
	case XMTREQ:
		return "Transmit Request";
	case XMTRESP:
		return "Transmit Response";
	case XMTCONT:
		return "Transmit Continue";
	case REPTERR:
		return "Report Error";
	default:
		return NULL;
	}
}

/* --- where bulk data is, and is to be --------------------------------------------------------- */

static void buffer_segments(struct walk *w)
{
	uint32_t offset = xdr_get_u32(&w->x), n = walk_count(w, 4);

	walk_say(w, 1, "from byte %" PRIu32 " of target buffer segments (TBSN):", offset);
	while (n-- && xdr_in_ok(&w->x)) {
		uint32_t v = xdr_get_u32(&w->x);

		walk_say(w, 2, "buffer segment %" PRIu32, v);
	}
}

/* xmdp_mitem: a part left out of the payload stream. */
static void message_item(struct walk *w)
{
	uint32_t disp = xdr_get_u32(&w->x), len = xdr_get_u32(&w->x), type = xdr_get_u32(&w->x);

	walk_say(w, 0, "%" PRIu32 " bytes of data, position %" PRIu32 ":", len, disp);
	switch (type) {
	case EXRW:
		walk_say(w, 1, "by explicit RDMA (EXRW):");
		walk_segments(w, 2);
		break;
	case TBSN:
		buffer_segments(w);
		break;
	case TOOSHORT:
		walk_say(w, 1, "in the message, too short to be placed (TOOSHORT)");
		break;
	case NOITEM:
		walk_say(w, 1, "there is no such item (NOITEM)");
		break;
	default:
		walk_refuse(w, "no such type of a place in a message");
		break;
	}
}

static void message_items(struct walk *w)
{
	uint32_t n;

	walk_what(w, "where its data is");
	n = walk_count(w, 12);
	while (n-- && xdr_in_ok(&w->x))
		message_item(w);
}

/* xmdp_rsditem: a direction for one item of the response. */
static void response_item(struct walk *w)
{
	uint32_t min = xdr_get_u32(&w->x), type = xdr_get_u32(&w->x), below;

	switch (type) {
	case EXRW:
		walk_say(w, 1, "%" PRIu32 " bytes or more: by explicit RDMA (EXRW)", min);
		walk_segments(w, 2);
		break;
	case CHOICE:
		walk_say(w, 1, "%" PRIu32 " bytes or more: either way (CHOICE)", min);
		walk_segments(w, 2);
		break;
	case BYSIZE:
		below = xdr_get_u32(&w->x);
		walk_say(w, 1, "%" PRIu32 " bytes or more: by its size (BYSIZE), %" PRIu32 ":", min,
			below);
		walk_segments(w, 2);
		break;
	case TBSN:
		walk_say(w, 1, "%" PRIu32 " bytes or more: in target buffer segments (TBSN)", min);
		break;
	default:
		walk_refuse(w, "no such direction for a response");
		break;
	}
}

static void response_sets(struct walk *w)
{
	uint32_t n;

	walk_what(w, "the directions for the response");
	n = walk_count(w, 12);
	while (n-- && xdr_in_ok(&w->x)) {
		uint32_t begin = xdr_get_u32(&w->x), end = xdr_get_u32(&w->x);
		uint32_t items = walk_count(w, 8);

		walk_say(w, 0, "response to positions %" PRIu32 " to %" PRIu32 ":", begin, end);
		while (items-- && xdr_in_ok(&w->x))
			response_item(w);
	}
}

/* --- the operations --------------------------------------------------------------------------- */

static void stream_len(struct walk *w)
{
	uint32_t n = xdr_get_u32(&w->x);

	walk_say(w, 0, "payload stream: %" PRIu32 " bytes in this Send", n);
	w->stream = n;
}

static void transmissions(struct walk *w)
{
	uint32_t n = xdr_get_u32(&w->x);

	walk_say(w, 0, "transmissions of the group: %" PRIu32, n);
}

static void request(struct walk *w)
{
	uint32_t n;

	message_items(w);
	response_sets(w);
	walk_what(w, "the lengths");
	transmissions(w);
	n = xdr_get_u32(&w->x);
	walk_say(w, 0, "transmissions that the response may take: %" PRIu32, n);
	stream_len(w);
}

static void response(struct walk *w)
{
	message_items(w);
	walk_what(w, "the lengths");
	transmissions(w);
	stream_len(w);
}

static void continuation(struct walk *w)
{
	uint32_t number, type;

	walk_what(w, "the continuation");
	number = xdr_get_u32(&w->x);
	type = xdr_get_u32(&w->x);
	walk_say(w, 0, "transmission %" PRIu32 " of a group that began with a %s (%" PRIu32 ")",
		number, walk_rtr_name(type) ? walk_rtr_name(type) : "type that is not known", type);
	stream_len(w);
	w->middle = true;
}

static void transmission_id(struct walk *w, const char *label)
{
	uint32_t xid = xdr_get_u32(&w->x), dir = xdr_get_u32(&w->x), seq = xdr_get_u32(&w->x);

	if (dir > 1)
		walk_refuse(w, "a direction is neither CALL (0) nor REPLY (1)");
	walk_say(w, 0, "%s: xid 0x%08" PRIx32 ", %s, transmission %" PRIu32, label, xid,
		dir ? "reply" : "call", seq);
}

static void say_two(struct walk *w, const char *name)
{
	uint32_t expect = xdr_get_u32(&w->x), current = xdr_get_u32(&w->x);

	walk_say(w, 0, "%s: 0x%" PRIx32 " was expected, 0x%" PRIx32 " is there", name, expect,
		current);
}

static void say_three(struct walk *w, const char *name)
{
	uint32_t v = xdr_get_u32(&w->x), min = xdr_get_u32(&w->x), max = xdr_get_u32(&w->x);

	walk_say(
		w, 0, "%s: %" PRIu32 " is not valid of %" PRIu32 " to %" PRIu32, name, v, min, max);
}

static void error_report(struct walk *w)
{
	uint32_t err;

	w->stream = 0;
	walk_what(w, "the report of an error");
	transmission_id(w, "found in");
	if (walk_present(w))
		transmission_id(w, "after");
	err = xdr_get_u32(&w->x);
	switch (err) {
	case 1:
		say_two(w, "OPTRERR_BADHMT, header type");
		break;
	case 2:
		say_two(w, "OPTRERR_BADOMT, operation");
		break;
	case 3:
		walk_say(w, 0, "OPTRERR_BADCONT: nothing was to be continued");
		break;
	case 4:
		say_two(w, "OPTRERR_BADSEQ, transmission");
		break;
	case 5:
		say_two(w, "OPTRERR_BADXID, xid");
		break;
	case 6:
		say_three(w, "OPTRERR_BADOFF, offset");
		break;
	case 7:
		say_three(w, "OPTRERR_BADTBSN, buffer segment");
		break;
	case 8:
		say_three(w, "OPTRERR_BADPL, length of the payload stream");
		break;
	default:
		walk_refuse(w, "no such error");
		break;
	}
}

void walk_rtr(struct walk *w, uint32_t op)
{
	switch (op) {
	case XMTREQ:
		request(w);
		break;
	case XMTRESP:
		response(w);
		break;
	case XMTCONT:
		continuation(w);
		break;
	default:
		error_report(w);
		break;
	}
}

/* --- the properties --------------------------------------------------------------------------- */

static void buffer_structure(struct walk *w)
{
	uint32_t len = xdr_get_u32(&w->x), n = walk_count(w, 16);

	walk_say(w, 0, "Receive Buffer Structure: %" PRIu32 " bytes", len);
	while (n-- && xdr_in_ok(&w->x)) {
		uint32_t count = xdr_get_u32(&w->x), size = xdr_get_u32(&w->x);
		uint32_t align = xdr_get_u32(&w->x), flags = xdr_get_u32(&w->x);

		walk_say(w, 1,
			"%" PRIu32 " segments of %" PRIu32 " bytes, aligned to %" PRIu32 "%s",
			count, size, align, flags & 1 ? ", a target of placement" : "");
		if (flags & ~1u)
			walk_say(w, 2, "flags that are not known: 0x%08" PRIx32, flags & ~1u);
	}
}

/* The words of RTR Support. */
static void support(struct walk *w, uint32_t v)
{
	walk_say(w, 0, "RTR Support:%s%s%s%s", v & 1 ? " Transmit Request" : "",
		v & 2 ? " Transmit Response" : "", v & 4 ? " Transmit Continue" : "",
		v & 7 ? "" : " none");
}

static const char *prop_name(uint32_t which)
{
	static const char *const names[] = {"RTR Support", "Receive Buffer Structure",
		"Request Transmission Receive Limit", "Response Transmission Send Limit"};

	return names[which - 3];
}

bool walk_rtr_prop(struct walk *w, uint32_t which, const void *data, uint32_t n)
{
	struct walk inner = *w;

	if (which < 3 || which > 6)
		return false;
	xdr_in_init(&inner.x, data, n);
	inner.what = "a property";
	if (!n) {
		walk_say(w, 0, "%s: the default", prop_name(which));
		return true;
	}
	if (which == 4)
		buffer_structure(&inner);
	else if (which == 3)
		support(&inner, xdr_get_u32(&inner.x));
	else
		walk_say(&inner, 0, "%s: %" PRIu32, prop_name(which), xdr_get_u32(&inner.x));
	if (!xdr_in_ok(&inner.x) || xdr_in_left(&inner.x))
		walk_refuse(w, inner.why ? inner.why : "a property has not the length of its type");
	return true;
}
