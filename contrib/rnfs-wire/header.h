/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * header: a transport header of any dialect of RPC-over-RDMA, in words.
 *
 * Its fields are read one by one and each is written down as it is read, so that of a header that
 * is wrong all is shown up to the place where it is. What the transport's own codec says of it is
 * added where there is one. Any bytes are safe.
 *
 * Two dialects carry version number 2, and two carry 1. HEADER_AUTO takes the one in which the
 * message comes out even: its lists end where its RPC message begins, or where it ends itself. A
 * connection keeps what it has been found to speak.
 */
#ifndef RNFS_CONTRIB_WIRE_HEADER_H
#define RNFS_CONTRIB_WIRE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contrib/rnfs-wire/text.h"

enum header_dialect {
	HEADER_AUTO,
	HEADER_V1,	  /* RFC 8166 */
	HEADER_V1_LEGACY, /* draft-ietf-nfsv4-rpcrdma-01, of 2005 */
	HEADER_V2,	  /* draft-ietf-nfsv4-rpcrdma-version-two, of November 2019 */
	HEADER_V2_2016,	  /* draft-cel-nfsv4-rpcrdma-version-two-01 */
};

/* As on the command line; HEADER_AUTO for "auto". False: there is none of that name. */
bool header_dialect_named(const char *name, enum header_dialect *d);

enum header_dir {
	HEADER_UNSAID,
	HEADER_CALL,
	HEADER_REPLY,
};

enum header_verdict {
	HEADER_OK,
	HEADER_UNKNOWN, /* a version or a type that no dialect has */
	HEADER_WRONG,	/* cut off, or with a value that may not be there */
};

/* What is remembered of a connection from one message to the next. All zero: nothing yet. */
struct header_talk {
	enum header_dialect v1, v2; /* what each number was found to mean; HEADER_AUTO: not yet */
	struct {
		bool more; /* an RPC message goes on in the next Send with this xid */
		uint32_t xid;
	} side[2];
};

struct header {
	uint32_t xid, vers, credit, proc; /* the fixed words, as far as they are there */
	const char *dialect;		  /* "version 2", never NULL */
	const char *name;		  /* of the message type, never NULL */
	enum header_dir dir;
	enum header_verdict verdict;
	bool guessed;	/* the dialect could have been the other one of that number */
	bool conveys;	/* an RPC message begins here, in the Send or in a chunk */
	bool continued; /* its payload is not the beginning of an RPC message */
	size_t len;	/* bytes of the header; what follows is the payload */
	size_t msg_len; /* bytes of all */
};

/* Reads msg of len bytes, which one side (0 or 1) of a connection has sent, and writes its details
 * to t, a line each. talk: NULL for a message that stands alone. */
void header_read(struct header *h, enum header_dialect d, struct header_talk *talk, unsigned side,
	const void *msg, size_t len, struct text *t);
/* The line that its details belong to, without an end. */
void header_title(const struct header *h, struct text *t);

#endif
