/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-run: a COMPOUND under way at mean-nfs4, for the files of mean-nfs4. mean_srv's lock guards
 * all
 * of this.
 */
#ifndef RNFS_TESTS_MEAN_RUN_H
#define RNFS_TESTS_MEAN_RUN_H

#include "tests/unit/nfsproto/v4/mean-nfs4.h"
#include "nfsproto/wire/nfs4_xdr.h"

#define FILE_SIZE 100000u /* of the file, at first */

struct run {
	struct mean_srv *s;
	struct rpc_req *req;
	struct xdr_out *x;
	struct nfs_fh cur, saved;
	uint32_t n; /* operations done */
	bool last;
	struct nfs4_stateid current; /* the stateid that OPEN has left */
	bool failing;		     /* the COMPOUND has the operation fail_op */
};

/* Is q to be done now? Counts q off. */
bool mean_quirky(struct mean_srv *s, enum quirk q);
/* Puts a result that is no more than this status. Returns the status. */
uint32_t mean_plain(struct run *r, uint32_t op, uint32_t status);
/* Each carries an operation out, puts the whole result, and returns the status. */
uint32_t mean_session_op(struct run *r, const struct nfs4_args *a);
uint32_t mean_file_op(struct run *r, const struct nfs4_args *a);
/* No connection is bound to the session any more. */
void mean_unbind_all(struct mean_srv *s);
/* Fills the file with the content that tests expect. */
void mean_file_init(void);

#endif
