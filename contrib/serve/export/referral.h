/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * referral: directories that stand for the exports of other servers (--refer).
 *
 * An object with a referral is absent (RFC 8881 section 11.3): an NFSv4 operation on it gets
 * NFS4ERR_MOVED, except a GETATTR that asks for fs_locations. NFSv3 has no referrals: its clients
 * see the directory.
 */
#ifndef RNFS_SERVE_EXPORT_REFERRAL_H
#define RNFS_SERVE_EXPORT_REFERRAL_H

#include "contrib/serve/export/obj_table.h"
#include "nfsproto/wire/nfs4_attr.h"

#define REFERRALS_MAX 32u

struct referral;
struct referrals;

/* specs, n of them: "/PATH=SERVER:/EXPORT"; the same PATH again adds a place. The directories must
 * be there. A server is a name or an address; only behind an address, :PORT may follow. NULL with
 * *e set. Before clients are served. */
struct referrals *referrals_new(
	struct obj_table *t, const char *const *specs, unsigned n, struct err *e);
/* Before obj_table_free(). Accepts NULL. */
void referrals_free(struct referrals *r);

/* The attributes of the absent file system o that its server tells; o has a referral. Valid as long
 * as the referrals. */
void referral_attrs(const struct obj *o, const struct nfs4_bitmap *want, struct nfs4_attrs *a);

#endif
