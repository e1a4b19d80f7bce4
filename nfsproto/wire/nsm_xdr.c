/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nsm_xdr: coders of the Network Status Monitor protocol.
 */
#include "nfsproto/wire/nsm_xdr.h"

#include <errno.h>

void nsm_put_notify_args(struct xdr_out *x, const struct nsm_notify_args *a)
{
	xdr_put_opaque(x, a->name.s, a->name.len);
	xdr_put_u32(x, a->state);
}

int nsm_get_notify_args(struct xdr_in *x, struct nsm_notify_args *a)
{
	a->name.s = (const char *)xdr_get_opaque(x, NSM_NAME_MAX, &a->name.len);
	if (!a->name.s)
		a->name.len = 0;
	a->state = xdr_get_u32(x);
	return xdr_in_ok(x) ? 0 : -EBADMSG;
}
