/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk: see walk.h.
 */
#include "contrib/rnfs-wire/walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "transport/rpcrdma/old/ccp.h"

void walk_say(struct walk *w, unsigned depth, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (w->silent || !xdr_in_ok(&w->x))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text_line(w->t, depth + 1, "%s", line);
}

void walk_what(struct walk *w, const char *what)
{
	if (xdr_in_ok(&w->x))
		w->what = what;
}

void walk_refuse(struct walk *w, const char *why)
{
	if (xdr_in_ok(&w->x))
		w->why = why;
	xdr_in_fail(&w->x);
}

bool walk_present(struct walk *w)
{
	uint32_t v = xdr_get_u32(&w->x);

	if (v > 1)
		walk_refuse(w, "the word that says whether an item is there is neither 0 nor 1");
	return xdr_in_ok(&w->x) && v == 1;
}

uint32_t walk_count(struct walk *w, size_t elem_min)
{
	uint32_t n = xdr_get_u32(&w->x);

	if (xdr_in_ok(&w->x) && n > xdr_in_left(&w->x) / elem_min)
		walk_refuse(w, "there are more elements than have room in it");
	return xdr_in_ok(&w->x) ? n : 0;
}

/* Reads one segment, and writes the segment down behind a label. */
static void read_segment(struct walk *w, unsigned depth, const char *label)
{
	uint32_t handle = xdr_get_u32(&w->x), length = xdr_get_u32(&w->x);
	uint64_t offset = xdr_get_u64(&w->x);

	walk_say(w, depth, "%s handle 0x%08" PRIx32 ", %" PRIu32 " bytes at 0x%" PRIx64, label,
		handle, length, offset);
}

void walk_segments(struct walk *w, unsigned depth)
{
	uint32_t n = walk_count(w, 16);

	if (!n)
		walk_say(w, depth, "empty");
	while (n-- && xdr_in_ok(&w->x))
		read_segment(w, depth, "segment:");
}

void walk_lists(struct walk *w)
{
	char label[48];
	unsigned n = 0;

	walk_what(w, "the Read list");
	while (walk_present(w)) {
		w->chunks = true;
		snprintf(label, sizeof(label), "Read, position %" PRIu32 ":", xdr_get_u32(&w->x));
		read_segment(w, 0, label);
	}
	walk_what(w, "the Write list");
	while (walk_present(w)) {
		w->chunks = true;
		walk_say(w, 0, "Write chunk %u:", ++n);
		walk_segments(w, 1);
	}
	walk_what(w, "the Reply chunk");
	if (walk_present(w)) {
		w->chunks = true;
		walk_say(w, 0, "Reply chunk:");
		walk_segments(w, 1);
	}
}

enum header_dir walk_direction(struct walk *w)
{
	uint32_t v;

	walk_what(w, "the direction");
	v = xdr_get_u32(&w->x);
	if (v > 1)
		walk_refuse(w, "it is neither CALL (0) nor REPLY (1)");
	if (!xdr_in_ok(&w->x))
		return HEADER_UNSAID;
	return v ? HEADER_REPLY : HEADER_CALL;
}

/* --- the RPC message (RFC 5531) --------------------------------------------------------------- */

static const char *program_name(uint32_t program)
{
	switch (program) {
	case 100000:
		return "portmapper";
	case 100003:
		return "NFS";
	case 100005:
		return "MOUNT";
	case 100021:
		return "NLM";
	case 100024:
		return "NSM";
	case 100227:
		return "NFSACL";
	case CCP_PROG:
		return "Connection Configuration";
	default: /* a client sets the number of its callbacks in CREATE_SESSION */
		return program >= 0x40000000 && program < 0x60000000 ? "transient" : "unknown";
	}
}

static const char *procedure_name(uint32_t program, uint32_t vers, uint32_t procedure)
{
	static const char *const v3[] = {"NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS",
		"READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE",
		"RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF",
		"COMMIT"};

	if (!procedure)
		return "NULL";
	if (program == 100003 && vers == 4 && procedure == 1)
		return "COMPOUND";
	if (program == 100003 && vers == 3 && procedure < sizeof(v3) / sizeof(v3[0]))
		return v3[procedure];
	if (program == CCP_PROG && procedure == CCP_CONF_RDMA)
		return "CONF_RDMA";
	return "procedure";
}

static void say_call(struct walk *w, size_t len)
{
	uint32_t rpcvers = xdr_get_u32(&w->x), program = xdr_get_u32(&w->x);
	uint32_t vers = xdr_get_u32(&w->x), procedure = xdr_get_u32(&w->x);

	walk_say(w, 0,
		"RPC call, %zu bytes: %s (%" PRIu32 ") version %" PRIu32 ", %s (%" PRIu32 ")", len,
		program_name(program), program, vers, procedure_name(program, vers, procedure),
		procedure);
	if (rpcvers != 2)
		walk_say(w, 0, "it is of RPC version %" PRIu32 ", not 2", rpcvers);
}

static void say_accepted(struct walk *w, size_t len)
{
	static const char *const stat[] = {"SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH",
		"PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR"};
	uint32_t verf_len, v;

	xdr_get_u32(&w->x);
	xdr_get_opaque(&w->x, 400, &verf_len);
	v = xdr_get_u32(&w->x);
	walk_say(w, 0, "RPC reply, %zu bytes: accepted, %s (%" PRIu32 ")", len,
		v < sizeof(stat) / sizeof(stat[0]) ? stat[v] : "unknown status", v);
}

static void say_rpc(struct walk *w, size_t len)
{
	uint32_t xid = xdr_get_u32(&w->x), type = xdr_get_u32(&w->x);

	if (xid != w->h->xid)
		walk_say(w, 0, "its RPC message has another XID, 0x%08" PRIx32, xid);
	if (w->h->dir == HEADER_UNSAID && xdr_in_ok(&w->x) && type <= 1)
		w->h->dir = type ? HEADER_REPLY : HEADER_CALL;
	else if (xdr_in_ok(&w->x) && type <= 1 && (w->h->dir == HEADER_REPLY) != (type == 1))
		walk_say(w, 0, "its RPC message says that it is a %s", type ? "reply" : "call");
	if (type == 0)
		say_call(w, len);
	else if (type != 1)
		walk_say(w, 0, "neither a call nor a reply of RPC: message type %" PRIu32, type);
	else if (xdr_get_u32(&w->x) == 0)
		say_accepted(w, len);
	else
		walk_say(w, 0, "RPC reply, %zu bytes: denied (%" PRIu32 ")", len,
			xdr_get_u32(&w->x));
}

void walk_end(struct walk *w)
{
	if (xdr_in_ok(&w->x) && xdr_in_left(&w->x))
		walk_refuse(w, "something follows it");
}

static void say_stream(struct walk *w, size_t len)
{
	size_t pos = w->x.pos;

	if (w->middle) {
		walk_say(w, 0, "%zu bytes more of the message", len);
	} else {
		say_rpc(w, len);
		if (!xdr_in_ok(&w->x)) {
			/* no fault of the transport header's, which is whole */
			w->x.bad = false;
			walk_say(w, 0, "%zu bytes that are no whole RPC header", len);
		}
	}
	w->x.pos = pos + len;
}

void walk_payload(struct walk *w)
{
	size_t left = xdr_in_left(&w->x), end = w->x.len, len = left;

	if (!xdr_in_ok(&w->x))
		return;
	walk_what(w, "the payload stream");
	if (w->stream != UINT32_MAX && w->stream > left) {
		walk_refuse(w, "it is longer than the message");
		return;
	}
	if (w->stream != UINT32_MAX)
		len = w->stream;
	w->x.len = w->x.pos + len;
	if (len)
		say_stream(w, len);
	w->x.len = end;
	if (left > len)
		walk_say(w, 0, "%zu bytes behind it, padding and placed data", left - len);
}
