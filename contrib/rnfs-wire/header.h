/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * header: prints a transport header of any dialect of RPC-over-RDMA in words.
 *
 * The reader takes one field after the other and writes each down at once. So for a bad header the
 * output shows all fields up to the bad place. If the transport has a codec for the dialect, the
 * codec's verdict follows. Any bytes are safe.
 *
 * Two dialects have version number 2, and two have 1. HEADER_AUTO takes the dialect in which the
 * message is complete: the chunk lists end where the RPC message begins, or at the end of the
 * message. The dialect found is remembered for the connection.
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

/* Finds the dialect by the name on the command line; HEADER_AUTO for "auto". False: no dialect has
 * the name. */
bool header_dialect_named(const char *name, enum header_dialect *d);

enum header_dir {
	HEADER_UNSAID,
	HEADER_CALL,
	HEADER_REPLY,
};

enum header_verdict {
	HEADER_OK,
	HEADER_UNKNOWN, /* no dialect has the version or the type */
	HEADER_WRONG,	/* cut off, or with a forbidden value */
};

/* Memory of a connection from one message to the next. All zero: nothing yet. */
struct header_talk {
	enum header_dialect v1, v2; /* the dialect found for each; HEADER_AUTO: none yet */
	struct {
		bool more; /* the RPC message continues in the next Send with xid */
		uint32_t xid;
	} side[2];
};

struct header {
	uint32_t xid, vers, credit, proc; /* the fixed words, as far as the message goes */
	const char *dialect;		  /* "version 2", never NULL */
	const char *name;		  /* of the message type, never NULL */
	enum header_dir dir;
	enum header_verdict verdict;
	bool guessed;	/* the message fits both dialects of the version number */
	bool conveys;	/* an RPC message begins here, in the Send or in a chunk */
	bool continued; /* the payload is not the beginning of an RPC message */
	size_t len;	/* bytes of the header; the payload follows */
	size_t msg_len; /* bytes of the whole message */
};

/* Reads msg of len bytes, which one side (0 or 1) of a connection has sent, and writes the details
 * to t, a line each. talk: NULL for a message without a connection. */
void header_read(struct header *h, enum header_dialect d, struct header_talk *talk, unsigned side,
	const void *msg, size_t len, struct text *t);
/* Writes the title line above the details, without a line end. */
void header_title(const struct header *h, struct text *t);

#endif
