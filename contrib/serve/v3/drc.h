/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * drc: the duplicate request cache of NFSv3 (RFC 1813 section 4.5).
 *
 * A client that has lost its connection sends calls again that may have been carried out already; a
 * second REMOVE would then fail. The cache remembers the answers to the calls that must not be
 * carried out twice, under what such a call repeats: the client's address, with the port where
 * clients keep theirs (TCP), XID, program, version, procedure, credential, and length and checksum
 * of the arguments, so that another call, also of another client of that host, is not taken for the
 * same. Of long arguments, the data of a WRITE, the checksum takes 8 KiB and then 64 bytes of each
 * KiB. A call that comes again while the first is still being carried out waits for that one's
 * answer.
 *
 * Bounded in entries and bytes, the oldest go first; nothing is kept for longer than DRC_AGE_S.
 * The memory for an answer is got before the call is carried out, so that no call is carried out
 * whose answer could not be given a second time.
 */
#ifndef RNFS_SERVE_V3_DRC_H
#define RNFS_SERVE_V3_DRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/rpc/rpc.h"

#define DRC_AGE_S     120
#define DRC_REPLY_MAX 1024 /* bytes of an answer that is kept */

struct answers;
struct drc;
struct drc_entry;

struct drc *drc_new(unsigned max_entries);
/* No call may be under way. Accepts NULL, returns NULL. */
struct drc *drc_free(struct drc *d);

/* Looks for what earlier runs of the server have answered in a, too. Call before the first call; a
 * stays the caller's, and may be NULL. */
void drc_share(struct drc *d, struct answers *a);

enum drc_verdict {
	DRC_RUN,    /* carry it out, then drc_done(*e) */
	DRC_REPLAY, /* the answer has been put into out */
	DRC_LATER,  /* no memory to remember it with: not carried out, the client asks anew */
	DRC_DROP,   /* the first one takes too long: no answer, the client asks again */
};
/* May wait for a call on another connection, not for one on this. */
enum drc_verdict drc_begin(
	struct drc *d, const struct rpc_req *req, struct xdr_out *out, struct drc_entry **e);
/* The call has been carried out and reply is its answer; one that is too long is not kept, and the
 * call never answered again. reply NULL: nothing was done, and it may be tried again. */
void drc_done(struct drc *d, struct drc_entry *e, const struct xdr_out *reply);

/* The call has been carried out, and reply is what is known of its answer: the next run of the
 * server is to have it. Between drc_begin() and drc_done(). */
void drc_keep(struct drc *d, const struct drc_entry *e, const struct xdr_out *reply);

struct drc_stats {
	unsigned entries;
	uint64_t hits, waits;
};
void drc_stats(struct drc *d, struct drc_stats *out);

/* The host of a peer "ADDR:PORT", for everything that is kept for a client across connections. */
void drc_host(const struct rpc_req *req, char *buf, size_t size);

#endif
