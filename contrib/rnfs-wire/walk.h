/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk: the cursor that reads a header and writes each field down, and the parts that several
 * dialects share.
 */
#ifndef RNFS_CONTRIB_WIRE_WALK_H
#define RNFS_CONTRIB_WIRE_WALK_H

#include "contrib/rnfs-wire/header.h"
#include "transport/rpc/xdr.h"

struct walk {
	struct xdr_in x;
	struct text *t;
	struct header *h;
	const char *what; /* the field being read */
	const char *why;  /* why a value was refused; NULL: too few bytes */
	bool middle;	  /* the payload is not the beginning of an RPC message */
	uint32_t stream;  /* bytes of payload that belong to the RPC message, UINT32_MAX: all */
	bool chunks;	  /* some chunk list is not empty */
	bool silent;	  /* for a guess: writes nothing to t */
};

/* Does text_line(), one level deeper, unless an error was found before. */
void walk_say(struct walk *w, unsigned depth, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Names the field to be read next, unless an error was found before. */
void walk_what(struct walk *w, const char *what);
/* Refuses a value. */
void walk_refuse(struct walk *w, const char *why);
/* Reads the presence of an optional item, or of one more item in a list: 0 or 1. */
bool walk_present(struct walk *w);
/* Reads the number of the following elements, each of at least elem_min bytes. */
uint32_t walk_count(struct walk *w, size_t elem_min);
/* Reads the segments of a counted array. */
void walk_segments(struct walk *w, unsigned depth);
/* Reads the Read list, the Write list and the Reply chunk (RFC 8166 section 4.1.2). */
void walk_lists(struct walk *w);
/* Reads CALL or REPLY, as a word (draft-cel-nfsv4-rpcrdma-version-two-01 section 4.2). */
enum header_dir walk_direction(struct walk *w);
/* Refuses bytes behind a header without payload. */
void walk_end(struct walk *w);
/* Reads the payload behind the header. */
void walk_payload(struct walk *w);

/* Reads version 1 behind the fixed words. */
void walk_v1(struct walk *w, bool legacy);
/* The same for version 2 of 2019. *more: by the flags, the message continues in the next Send. */
void walk_v2(struct walk *w, bool *more);
/* The same for version 2 of 2016. */
void walk_2016(struct walk *w);

/* The Send-based data placement extension (draft-dnoveck-nfsv4-rpcrdma-rtrext-02): op is an
 * operation of table 4, 5..8; properties have the numbers of table 3. */
const char *walk_rtr_name(uint32_t op);
void walk_rtr(struct walk *w, uint32_t op);
/* Reads the value of property `which`, n bytes that end where w stands. False: unknown property. */
bool walk_rtr_prop(struct walk *w, uint32_t which, const void *data, uint32_t n);

/* How version 2 of 2019 carries the extension: header types and property ids are a number of a
 * private range plus the extension's number. */
#define WALK_RTR_HTYPE	0x52540000u
#define WALK_RTR_RBS_ID 0x52540001u

/* Reads a set of properties (section 5 of version 2 of 2019). extended: with the numbers of the
 * extension's table 3, as over RDMA2_OPTIONAL. */
void walk_props(struct walk *w, bool extended);

#endif
