/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_ask: LAYOUTGETs under way, up to NFS4_LAYOUT_ASKS of a mount at once.
 *
 *     started --answer, or no answer in time--> answered --taken by the pNFS thread--> freed
 *
 * A layout that is asked for is busy until its owner has taken the answer. The pNFS thread is the
 * owner: it starts, tends and takes. The progress thread of the connection notes the answer, and
 * wakes the owner.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_ASK_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_ASK_H

#include "nfsproto/v4/pnfs/nfs4_layout.h"

#define NFS4_LAYOUT_ASKS 32u

struct nfs4_layout_ask {
	TAILQ_ENTRY(nfs4_layout_ask) link GUARDED_BY(NFS4_LAYOUTS_LOCK);
	struct nfs4_layouts *t; /* constant, as l is */
	struct nfs4_layout_held *l;
	struct nfs_op op;
	struct nfs4_layoutget g;
	unsigned closes, forgets; /* the counts of l and t when LAYOUTGET was started */
	uint64_t until_ns;	  /* the owner's: the latest time of an answer */
	/* out: as nfs4_sync_run() */
	int error;
	uint32_t status; /* the nfsstat4 behind error; 0: none */
};

TAILQ_HEAD(nfs4_ask_list, nfs4_layout_ask);

struct nfs4_layout_asks {
	struct nfs4_layouts *t; /* constant */
	unsigned n;		/* the owner's: started and not yet taken */
	struct nfs4_ask_list started GUARDED_BY(NFS4_LAYOUTS_LOCK);
	struct nfs4_ask_list answered GUARDED_BY(NFS4_LAYOUTS_LOCK);
};

void nfs4_layout_asks_init(struct nfs4_layout_asks *a, struct nfs4_layouts *t);
/* Starts a LAYOUTGET for l, which is busy, through o. The ask takes over the reference on o. 0 or
 * -ENOMEM. */
int nfs4_layout_ask(struct nfs4_layout_asks *a, struct nfs4_client *c, struct nfs4_layout_held *l,
	struct nfs_open *o, bool writes) EXCLUDES(NFS4_LAYOUTS_LOCK);
/* Gives up the asks whose time is over, and ends those that were given up. Lowers *next to the time
 * of the next call. No lock held. */
void nfs4_layout_asks_tend(struct nfs4_layout_asks *a, struct nfs4_client *c, uint64_t now,
	uint64_t *next) EXCLUDES(NFS4_LAYOUTS_LOCK);
/* The next answer, or NULL. The caller ends with nfs4_layout_ask_free(). */
struct nfs4_layout_ask *nfs4_layout_asks_take_locked(struct nfs4_layout_asks *a)
	REQUIRES(NFS4_LAYOUTS_LOCK);
/* Returns NULL. */
struct nfs4_layout_ask *nfs4_layout_ask_free(struct nfs4_layout_ask *ask);

#endif
