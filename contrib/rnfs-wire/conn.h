/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * conn: one iWARP connection of a capture, from its bytes in both directions to the messages on
 * its queue 0.
 *
 * Side 0 is the one that has sent the MPA Request. Until both frames of MPA's set-up are known,
 * what comes is kept, since they say how to read it. A direction in which something is not as MPA
 * or DDP has it is read no further.
 */
#ifndef RNFS_CONTRIB_WIRE_CONN_H
#define RNFS_CONTRIB_WIRE_CONN_H

#include "contrib/rnfs-wire/fpdu.h"
#include "contrib/rnfs-wire/sink.h"
#include "transport/iwarp/mpa.h"

#define CONN_CALLS   256	       /* that are remembered until they are answered, of a side */
#define CONN_MAX_MSG (4 * 1024 * 1024) /* bytes of a Send that are put together */
#define CONN_NAME    144	       /* "127.0.0.1:1023 > 127.0.0.1:20049" */

struct conn_call {
	bool used;
	uint32_t xid;
	uint64_t ns;
};

struct conn_side {
	char name[CONN_NAME]; /* of the direction */
	bool off;	      /* it is read no further */
	bool started;	      /* its set-up frame is behind it */
	struct mpa_frame frame;
	struct fpdu fpdu; /* before that, the beginning of the stream is kept here, too */
	uint8_t *msg;	  /* the Send that is under way */
	size_t len, cap;
	uint64_t sends, writes, reads, write_bytes;
	struct conn_call call[CONN_CALLS]; /* of this side's, not answered yet */
	unsigned next_call;
};

struct conn {
	struct sink *sink;
	uint64_t start; /* when the capture began, in ns */
	bool silent;	/* it is no iWARP connection */
	struct header_talk talk;
	struct conn_side side[2];
};

void conn_init(struct conn *c, struct sink *sink, uint64_t start);
void conn_finish(struct conn *c);
/* The next bytes that a side has sent; ns: when. */
void conn_bytes(struct conn *c, unsigned side, const void *data, size_t len, uint64_t ns);
/* Bytes that it has sent are not in the capture: it is read no further. */
void conn_missing(struct conn *c, unsigned side, uint64_t bytes, uint64_t ns);
/* What has gone each way in all. */
void conn_summary(const struct conn *c);

#endif
