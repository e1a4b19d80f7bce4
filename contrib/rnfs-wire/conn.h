/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * conn: one iWARP connection of a capture, from the bytes in both directions to the messages on
 * queue 0.
 *
 * Side 0 is the sender of the MPA Request. The MPA set-up frames of both sides tell how to read the
 * later bytes, so arriving bytes are kept until both frames are known. At the first breach of MPA
 * or DDP in a direction, the reader stops reading the direction.
 */
#ifndef RNFS_CONTRIB_WIRE_CONN_H
#define RNFS_CONTRIB_WIRE_CONN_H

#include "contrib/rnfs-wire/fpdu.h"
#include "contrib/rnfs-wire/sink.h"
#include "transport/iwarp/mpa.h"

#define CONN_CALLS   256	       /* unanswered calls of a side that are remembered */
#define CONN_MAX_MSG (4 * 1024 * 1024) /* most bytes of a Send that is put together */
#define CONN_NAME    144	       /* "127.0.0.1:1023 > 127.0.0.1:20049" */

struct conn_call {
	bool used;
	uint32_t xid;
	uint64_t ns;
};

struct conn_side {
	char name[CONN_NAME]; /* of the direction */
	bool off;	      /* the reader has stopped reading the direction */
	bool started;	      /* the set-up frame has been read */
	struct mpa_frame frame;
	struct fpdu fpdu; /* before `started`, the beginning of the stream */
	uint8_t *msg;	  /* the Send under way */
	size_t len, cap;
	uint64_t sends, writes, reads, write_bytes;
	struct conn_call call[CONN_CALLS]; /* calls of the side without a reply so far */
	unsigned next_call;
};

struct conn {
	struct sink *sink;
	uint64_t start; /* when the capture began, in ns */
	bool silent;	/* not an iWARP connection */
	struct header_talk talk;
	struct conn_side side[2];
};

void conn_init(struct conn *c, struct sink *sink, uint64_t start);
void conn_finish(struct conn *c);
/* The next bytes that a side has sent; ns: the time of the packet. */
void conn_bytes(struct conn *c, unsigned side, const void *data, size_t len, uint64_t ns);
/* The capture lacks bytes that the side has sent: the reader stops reading the direction. */
void conn_missing(struct conn *c, unsigned side, uint64_t bytes, uint64_t ns);
/* Prints the totals of each direction. */
void conn_summary(const struct conn *c);

#endif
