/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_layout: operations about layouts in the COMPOUNDs of other kinds of op.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_LAYOUT_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_LAYOUT_H

#include "nfsproto/v4/server/nfs4_compound.h"

struct nfs4_client;
struct nfs4_layoutreturn;

/* LAYOUTRETURN of the whole layout of the current file, or (r->fh NULL) of all layouts, with the
 * report of r (RFC 8881 section 18.44). */
void nfs4_put_layout_back(
	struct nfs4_client *c, struct nfs4_comp *k, const struct nfs4_layoutreturn *r);

#endif
