/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * compound: a COMPOUND under way (RFC 8881 section 16.2), as seen and changed by its operations.
 */
#ifndef RNFS_SERVE_V4_COMPOUND_H
#define RNFS_SERVE_V4_COMPOUND_H

#include "contrib/serve/ops/stable.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/state/deleg_use.h"
#include "contrib/serve/state/inquiry.h"
#include "nfsproto/wire/nfs4_xdr.h"

/* An operation, and the beginning of the operation's result. */
struct place {
	bool known;
	uint32_t op, index;
	size_t len;
	unsigned npayloads;
};

#define COMPOUND_USES 2 /* of one operation */

struct compound {
	struct serve *sv;
	struct rpc_req *req;
	struct xdr_out *out;
	bool keep_ident;			/* of ident_call() */
	struct obj *cur, *saved;		/* referenced or NULL */
	struct nfs4_stateid cur_sid, saved_sid; /* seqid 0, zeros: none */
	uint32_t minor;				/* 1 or 2 */
	uint32_t nops, index;
	const struct obj *seen; /* the object of seen_st; not referenced. NULL: seen_st is unset */
	struct statx seen_st;	/* attributes of `seen`, from the previous operation */
	bool put;		/* the failed operation has put its result */
	size_t res_max;		/* most bytes of c->out */
	bool sink_passed;	/* a READ left its Write chunk empty */
	uint32_t inline_max;	/* most bytes of results with payload that goes inline */
	/* the objects in use by this operation (use_begin()), referenced */
	struct {
		struct obj *o;
		enum deleg_use use;
	} uses[COMPOUND_USES];
	unsigned nuses;
	/* An operation needs the attributes of the current object, which has a write delegation:
	 * the operation runs again after the inquiry (inquiry.h). */
	bool asks, asked;
	struct inquiry inquiry;
	/* after SEQUENCE */
	struct session *session; /* referenced */
	struct client *client;	 /* the session's */
	uint32_t slotid, slot_seq;
	bool cachethis;
	/* a checksum of the caller and of the first `summed` operations behind SEQUENCE */
	uint64_t sum;
	uint32_t summed;
	bool once;     /* an operation has run that must not run twice */
	bool verified; /* the operation before was a successful VERIFY */
	/* where in out the WRITE behind VERIFY tells how stable its data is; 0: no such WRITE */
	size_t committed_at;
	bool replayed; /* out holds the answer of an earlier run */
	/* referenced: probe the session's backchannel after the reply */
	struct session *probe;
	/* the end */
	uint32_t status;	/* of the last operation */
	size_t res_at;		/* offset of the results */
	struct stable_job last; /* objects that must be stable before the answer */
	struct place changed;	/* the first operation that added something to last.set */
	struct obj *opened;	/* referenced: the file newly opened by an OPEN, or NULL */
	uint32_t opened_index;	/* the index of that OPEN */
	struct nfs4_stateid opened_sid;
	bool delegated; /* the OPEN also got a delegation, with this stateid */
	struct nfs4_stateid deleg_sid;
	void (*done)(struct compound *c);
};

/* Adds an operation, just decoded, to c->sum. The operation's bytes are in `in`, from `from` to
 * in->pos. Left out are bytes that a requester may send inline the first time and by a chunk the
 * next. */
void sum_op(struct compound *c, const struct xdr_in *in, size_t from, const struct nfs4_args *a);
void set_current(struct compound *c, struct obj *o); /* takes over the reference */
/* Remembers *st as the attributes of o, the current object, for a GETATTR that follows. */
void remember_stat(struct compound *c, const struct obj *o, const struct statx *st);
/* The operation is about to use o, until it ends: NFS4_OK, or NFS4ERR_DELAY while another client's
 * delegation conflicts (deleg_use.h). */
uint32_t use_begin(struct compound *c, struct obj *o, enum deleg_use use);
void use_end(struct compound *c); /* all objects of the operation */
void current_stateid(struct compound *c, struct nfs4_stateid *sid);

#endif
