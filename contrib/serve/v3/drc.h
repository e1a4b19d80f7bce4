/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * drc: the duplicate request cache of NFSv3 (RFC 1813 section 4.5).
 *
 * A client that has lost its connection sends calls again, although the server may have carried out
 * the calls. A second REMOVE would then fail. The cache keeps the answers to calls that must not be
 * carried out twice. The key of an answer consists of the values that such a call repeats: the
 * client's address, with the port where clients keep theirs (TCP), XID, program, version,
 * procedure, credential, and length and checksum of the arguments. So a different call, also of
 * another client of that host, does not match. Of long arguments, the data of a WRITE, the checksum
 * takes 8 KiB and then 64 bytes of each KiB. A call that comes again while the first is being
 * carried out waits for the first one's answer.
 *
 * Entries and bytes are bounded, and the oldest go first. No entry is kept for longer than
 * DRC_AGE_S. The memory for an answer is allocated before the call is carried out, so that each
 * call that is carried out can be answered a second time.
 */
#ifndef RNFS_SERVE_V3_DRC_H
#define RNFS_SERVE_V3_DRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/rpc/rpc.h"

#define DRC_AGE_S     120
#define DRC_REPLY_MAX 1024 /* bytes of an answer; longer answers are not kept */

struct answers;
struct drc;
struct drc_entry;

struct drc *drc_new(unsigned max_entries);
/* No call may be under way. Accepts NULL, returns NULL. */
struct drc *drc_free(struct drc *d);

/* Also looks in a for answers of the server's earlier runs. Call before the first drc_begin(); a
 * stays the caller's, and may be NULL. */
void drc_share(struct drc *d, struct answers *a);

enum drc_verdict {
	DRC_RUN,    /* carry out the call, then drc_done(*e) */
	DRC_REPLAY, /* the answer is in out */
	DRC_LATER,  /* no memory for an entry: not carried out, the client sends the call anew */
	DRC_DROP,   /* the first call takes too long: no answer, the client sends the call again */
};
/* May wait for a call on another connection, not for one on the same connection. */
enum drc_verdict drc_begin(
	struct drc *d, const struct rpc_req *req, struct xdr_out *out, struct drc_entry **e);
/* The call has been carried out and reply is its answer. An answer that is too long is not kept,
 * and the call is never answered again. reply NULL: the call was not carried out, and may be tried
 * again. */
void drc_done(struct drc *d, struct drc_entry *e, const struct xdr_out *reply);

/* The call has been carried out, and reply is its answer as far as known. Keeps reply for the
 * server's next run. Call between drc_begin() and drc_done(). */
void drc_keep(struct drc *d, const struct drc_entry *e, const struct xdr_out *reply);

struct drc_stats {
	unsigned entries;
	uint64_t hits, waits;
};
void drc_stats(struct drc *d, struct drc_stats *out);

/* The host of a peer "ADDR:PORT", the key for data that is kept for a client across connections. */
void drc_host(const struct rpc_req *req, char *buf, size_t size);

#endif
