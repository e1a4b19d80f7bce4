/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk_props: transport properties (draft-ietf-nfsv4-rpcrdma-version-two, November 2019, section
 * 5), and the extension's properties.
 */
#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "contrib/rnfs-wire/walk.h"
#include "transport/rpcrdma/rpcrdma_props.h"

static const char *reverse_name(uint32_t v)
{
	switch (v) {
	case RPCRDMA_REVERSE_NONE:
		return "none";
	case RPCRDMA_REVERSE_INLINE:
		return "inline";
	case RPCRDMA_REVERSE_GENERAL:
		return "general";
	default:
		return "unknown";
	}
}

static const char *number_name(uint32_t which)
{
	switch (which) {
	case RPCRDMA_PROP_SEND_SIZE:
		return "Maximum Send Size";
	case RPCRDMA_PROP_RECV_SIZE:
		return "Receive Buffer Size";
	case RPCRDMA_PROP_SEG_SIZE:
		return "Maximum RDMA Segment Size";
	case RPCRDMA_PROP_SEG_COUNT:
		return "Maximum RDMA Segment Count";
	case RPCRDMA_PROP_REVERSE:
		return "Reverse Request Support";
	default:
		return NULL;
	}
}

static void say_number(struct walk *w, const char *name, const uint8_t *data, uint32_t n, bool rev)
{
	uint32_t v;

	if (n != sizeof(v)) {
		walk_refuse(w, "a number is not 4 bytes long");
		return;
	}
	memcpy(&v, data, sizeof(v));
	v = be32toh(v);
	if (rev)
		walk_say(w, 0, "%s: %s (%" PRIu32 ")", name, reverse_name(v), v);
	else
		walk_say(w, 0, "%s: %" PRIu32, name, v);
}

static void say_auth(struct walk *w, const uint8_t *data, uint32_t n)
{
	struct xdr_in x;
	uint32_t len;

	xdr_in_init(&x, data, n);
	xdr_get_opaque(&x, UINT32_MAX, &len);
	if (!xdr_in_ok(&x) || xdr_in_left(&x))
		walk_refuse(w, "the Host Authentication Message is no opaque");
	else
		walk_say(w, 0, "Host Authentication Message: %" PRIu32 " bytes", len);
}

/* The draft that the properties came from has other numbers. */
static uint32_t renumbered(uint32_t which)
{
	switch (which) {
	case 1:
		return RPCRDMA_PROP_RECV_SIZE;
	case 2:
		return RPCRDMA_PROP_REVERSE;
	default:
		return 0;
	}
}

static void say_one(struct walk *w, uint32_t which, const uint8_t *data, uint32_t n, bool extended)
{
	uint32_t basic = extended ? renumbered(which) : which;
	const char *name = number_name(basic);

	if (name && !n)
		walk_say(w, 0, "%s: the default", name);
	else if (name)
		say_number(w, name, data, n, basic == RPCRDMA_PROP_REVERSE);
	else if (basic == RPCRDMA_PROP_HOST_AUTH && n)
		say_auth(w, data, n);
	else if (extended && walk_rtr_prop(w, which, data, n))
		return;
	else if (!extended && which == WALK_RTR_RBS_ID)
		walk_rtr_prop(w, 4, data, n);
	else
		walk_say(w, 0, "property 0x%08" PRIx32 " (unknown): %" PRIu32 " bytes", which, n);
}

void walk_props(struct walk *w, bool extended)
{
	uint32_t n;

	walk_what(w, "the properties");
	n = walk_count(w, 8);
	walk_say(w, 0, "properties: %" PRIu32, n);
	while (xdr_in_ok(&w->x) && n--) {
		uint32_t which = xdr_get_u32(&w->x), len;
		const uint8_t *data = xdr_get_opaque(&w->x, UINT32_MAX, &len);

		if (xdr_in_ok(&w->x))
			say_one(w, which, data, len, extended);
	}
	if (xdr_in_ok(&w->x) && xdr_in_left(&w->x))
		walk_refuse(w, "something is left over behind them");
}
