/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * walk: the cursor that reads a header and writes down what it reads, and the parts that more than
 * one dialect has.
 */
#ifndef RNFS_CONTRIB_WIRE_WALK_H
#define RNFS_CONTRIB_WIRE_WALK_H

#include "contrib/rnfs-wire/header.h"
#include "transport/rpc/xdr.h"

struct walk {
	struct xdr_in x;
	struct text *t;
	struct header *h;
	const char *what; /* is being read */
	const char *why;  /* a value was refused; NULL: there were too few bytes */
	bool middle;	  /* what follows the header is not the beginning of an RPC message */
	uint32_t stream;  /* bytes of it that are the RPC message's, UINT32_MAX: all */
	bool chunks;	  /* some list of them is not empty */
	bool silent;	  /* for a guess: t is not to be written to */
};

/* As text_line(), one deeper, if nothing went wrong before. */
void walk_say(struct walk *w, unsigned depth, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What is read next, unless something is wrong already. */
void walk_what(struct walk *w, const char *what);
/* Refuses a value. */
void walk_refuse(struct walk *w, const char *why);
/* The presence of an optional item, or of one more in a list: 0 or 1. */
bool walk_present(struct walk *w);
/* The number of elements of at least elem_min bytes that follow. */
uint32_t walk_count(struct walk *w, size_t elem_min);
/* One segment, said behind a label. */
void walk_segment(struct walk *w, unsigned depth, const char *label);
/* Segments of a counted array. */
void walk_segments(struct walk *w, unsigned depth);
/* The Read list, the Write list and the Reply chunk (RFC 8166 section 4.1.2). */
void walk_lists(struct walk *w);
/* CALL or REPLY, as a word (draft-cel-nfsv4-rpcrdma-version-two-01 section 4.2). */
enum header_dir walk_direction(struct walk *w);
/* Refuses what follows a header that nothing may follow. */
void walk_end(struct walk *w);
/* What follows the header. */
void walk_payload(struct walk *w);

/* Version 1: what follows its fixed words. */
void walk_v1(struct walk *w, bool legacy);
/* Version 2 of 2019, likewise. *more: its flags say that it goes on in the next Send. */
void walk_v2(struct walk *w, bool *more);
/* Version 2 of 2016, likewise. */
void walk_2016(struct walk *w);

/* The Send-based data placement extension (draft-dnoveck-nfsv4-rpcrdma-rtrext-02): an operation of
 * its table 4, 5..8, and its properties by the numbers of its table 3. */
const char *walk_rtr_name(uint32_t op);
void walk_rtr(struct walk *w, uint32_t op);
/* The value of property `which`, of n bytes, which w is at the end of. False: not known. */
bool walk_rtr_prop(struct walk *w, uint32_t which, const void *data, uint32_t n);

/* How version 2 of 2019 carries that extension: header types and property ids of a private range,
 * to which the numbers of the extension are added. */
#define WALK_RTR_HTYPE	0x52540000u
#define WALK_RTR_RBS_ID 0x52540001u

/* A set of properties (section 5 of version 2 of 2019). extended: with the numbers of the
 * extension's table 3, as over RDMA2_OPTIONAL. */
void walk_props(struct walk *w, bool extended);

#endif
