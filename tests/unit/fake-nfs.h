/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-nfs: the nfs_client interface over a tree in memory, for tests of what is above it.
 * Operations end on a thread of its own, in order, unless a knob says otherwise.
 */
#ifndef RNFS_TESTS_FAKE_NFS_H
#define RNFS_TESTS_FAKE_NFS_H

#include "nfsproto/nfs_client.h"

struct fake_knobs {		 /* set while nothing is under way; one for the process */
	uint32_t rsize, wsize;	 /* 0: 1 MiB */
	uint32_t dtsize;	 /* 0: 64 KiB */
	uint32_t features;	 /* NFS_HAS_*; ops of theirs need a script */
	uint32_t short_read;	 /* most bytes a READ returns, 0: all */
	uint32_t short_write;	 /* most bytes a WRITE takes, 0: all */
	uint32_t verf;		 /* changes: the server has restarted */
	int fail[NFS_OP_TYPES];	 /* negative errno for each op of the type, 0: works */
	uint32_t denied;	 /* NFS_ACCESS_* that nobody has */
	bool uses_times;	 /* what is made exclusively has something else in its times */
	bool delegates;		 /* OPEN to read brings a delegation */
	bool doubtful;		 /* locks may be lost */
	bool delegates_write;	 /* OPEN to write does */
	bool bare_open;		 /* OPEN and CREATE bring neither rights nor data */
	bool hang[NFS_OP_TYPES]; /* ops of the type end only when cancelled or at the end */
	bool sync;		 /* done is called before nfs_submit() returns */
	/* Called for each op before it is carried out, with no lock held. True: that was all that
	 * is done, op->error and results are as it has left them. NULL: none */
	bool (*script)(struct nfs_op *op);
	bool cookie_stuck; /* READDIR gives one entry again and again */
	bool cookie_low;   /* READDIR gives the reserved cookie 2 */
	bool cookie_loop;  /* READDIR begins anew after the last entry, an entry at a time */
};
extern struct fake_knobs fake_knobs;

/* For tests that need no connection. */
struct nfs_client *fake_client_new(void);
/* The file is not delegated any more; nobody is told. */
void fake_recall(struct nfs_client *c, const struct nfs_fh *fh);
/* The delegation that was flushed last (nfs_deleg_flushed()), or 0. */
uint64_t fake_flushed(struct nfs_client *c);
/* Ops that hang are carried out now; knob hang says what hangs from now on. */
void fake_release(struct nfs_client *c);

#endif
