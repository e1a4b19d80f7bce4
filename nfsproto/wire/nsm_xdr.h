/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nsm_xdr: the Network Status Monitor protocol version 1 (X/Open XNFS chapter 11), as far as hosts
 * use the protocol among each other: SM_NOTIFY, with which a host tells that it has restarted.
 * Conventions: nlm4_xdr.h.
 */
#ifndef RNFS_NFSPROTO_WIRE_NSM_XDR_H
#define RNFS_NFSPROTO_WIRE_NSM_XDR_H

#include "nfsproto/wire/nlm4_xdr.h"

#define NSM_PROGRAM  100024
#define NSM_VERSION  1
#define NSM_NAME_MAX 1024 /* SM_MAXSTRLEN */

enum nsm_proc {
	NSMPROC_NULL = 0,
	NSMPROC_NOTIFY = 6, /* no result */
};

struct nsm_notify_args {      /* stat_chge */
	struct nfs_name name; /* of the host that has restarted */
	uint32_t state;	      /* the host's number now; odd: up */
};

void nsm_put_notify_args(struct xdr_out *x, const struct nsm_notify_args *a);
/* 0, or -EBADMSG. */
int nsm_get_notify_args(struct xdr_in *x, struct nsm_notify_args *a);

#endif
