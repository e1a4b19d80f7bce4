/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * drc: the duplicate request cache of NFSv3 (RFC 1813 section 4.5).
 *
 * A client that has lost its connection sends calls again that may have been carried out already; a
 * second REMOVE would then fail. The cache remembers the answers to the calls that must not be
 * carried out twice, under the client's address (without the port: it may change), XID, program,
 * procedure, credential and a checksum of the arguments, so that another call under an XID that
 * came around again is not taken for the same. A call that comes again while the first is still
 * being carried out waits for that one's answer.
 *
 * Bounded in entries and bytes, the oldest go first; nothing is kept for longer than DRC_AGE_S.
 */
#ifndef RNFS_SERVE_DRC_H
#define RNFS_SERVE_DRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/rpc.h"

#define DRC_AGE_S     120
#define DRC_REPLY_MAX 1024 /* bytes of an answer that is kept */

struct drc;
struct drc_entry;

struct drc *drc_new(unsigned max_entries);
/* No call may be under way. Accepts NULL, returns NULL. */
struct drc *drc_free(struct drc *d);

enum drc_verdict {
	DRC_RUN,    /* carry it out, then drc_done(*e) */
	DRC_REPLAY, /* the answer has been put into out */
	DRC_DROP,   /* the first one takes too long: no answer, the client asks again */
};
/* May wait for a call on another connection, not for one on this. */
enum drc_verdict drc_begin(
	struct drc *d, const struct rpc_req *req, struct xdr_out *out, struct drc_entry **e);
/* The call has been carried out and reply is its answer; one that is too long is not kept, and the
 * call never answered again. reply NULL: nothing was done, and it may be tried again. */
void drc_done(struct drc *d, struct drc_entry *e, const struct xdr_out *reply);

struct drc_stats {
	unsigned entries;
	uint64_t hits, waits;
};
void drc_stats(struct drc *d, struct drc_stats *out);

/* The host of a peer "ADDR:PORT", for everything that is kept for a client across connections. */
void drc_host(const struct rpc_req *req, char *buf, size_t size);

#endif
