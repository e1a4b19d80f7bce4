/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_cb: the backchannel's session and slots.
 */
#include "nfsproto/v4/server/nfs4_cb.h"

#include <string.h>

void nfs4_cb_init(struct nfs4_cb *cb)
{
	memset(cb, 0, sizeof(*cb));
	mutex_init(&cb->lock);
}

void nfs4_cb_finish(struct nfs4_cb *cb)
{
	mutex_destroy(&cb->lock);
}

static void begin(struct nfs4_cb *cb, const struct nfs4_sessionid *session, bool unknown)
{
	mutex_lock(&cb->lock);
	cb->session = *session;
	cb->have_session = true;
	for (unsigned i = 0; i < NFS4_CB_SLOTS; i++) {
		cb->slot[i].unknown = unknown;
		cb->slot[i].used = false;
		cb->slot[i].seq = cb->slot[i].len = 0;
	}
	mutex_unlock(&cb->lock);
}

void nfs4_cb_session(struct nfs4_cb *cb, const struct nfs4_sessionid *session)
{
	begin(cb, session, false);
}

void nfs4_cb_resume(struct nfs4_cb *cb, const struct nfs4_sessionid *session)
{
	begin(cb, session, true);
}
