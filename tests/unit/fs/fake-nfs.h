/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-nfs: the nfs_client interface over a tree in memory, for tests of the modules above
 * nfs_client.
 * Operations end on a thread of the client, in order, unless a knob says otherwise.
 */
#ifndef RNFS_TESTS_FAKE_NFS_H
#define RNFS_TESTS_FAKE_NFS_H

#include <stdatomic.h>

#include "nfsproto/nfs_client.h"

/* One for the process. Each knob may be turned while ops are under way: ops that begin later see
 * the new value, the others perhaps. All knobs are set at once only while no op is under way. */
struct fake_knobs {
	atomic_uint rsize, wsize;	/* 0: 1 MiB */
	atomic_uint dtsize;		/* 0: 64 KiB */
	atomic_uint features;		/* NFS_HAS_*; ops of theirs need a script */
	atomic_uint short_read;		/* most bytes a READ returns, 0: all */
	atomic_uint short_write;	/* most bytes a WRITE takes, 0: all */
	atomic_uint verf;		/* a new value: the server has restarted */
	atomic_int fail[NFS_OP_TYPES];	/* negative errno for each op of the type, 0: works */
	atomic_uint denied;		/* NFS_HAS_*; ops of the features need a script */
	atomic_bool uses_times;		/* an exclusive create has other values in its times */
	atomic_bool delegates;		/* OPEN to read brings a delegation */
	atomic_bool doubtful;		/* locks may be lost */
	atomic_bool delegates_write;	/* OPEN to write brings a delegation */
	atomic_bool no_compound;	/* as NFSv3: no attribute is set behind a WRITE */
	atomic_bool bare_open;		/* OPEN and CREATE bring neither rights nor data */
	atomic_bool hang[NFS_OP_TYPES]; /* ops of the type end only when cancelled or at the end */
	atomic_bool sync;		/* done is called before nfs_submit() returns */
	/* Called for each op before the op is carried out, with no lock held. True: the op is done,
	 * and op->error and the results are as the script has left them. NULL: none */
	bool (*_Atomic script)(struct nfs_op *op);
	/* Called for each op that was carried out. Returns the error that op ends with all the
	 * same, as if the answer was lost; 0: none. NULL: none */
	int (*_Atomic lose)(const struct nfs_op *op);
	atomic_ullong changes;	  /* the request that has notes of a former daemon; 0: none has */
	atomic_uint discards;	  /* counts nfs_open_discard() */
	atomic_bool cookie_stuck; /* READDIR gives one entry again and again */
	atomic_bool cookie_low;	  /* READDIR gives the reserved cookie 2 */
	atomic_bool cookie_loop;  /* READDIR begins anew after the last entry, an entry at a time */
};
extern struct fake_knobs fake_knobs;
/* How many ops were interrupted, from the first client on. */
extern atomic_uint fake_interrupts;

/* For tests without a connection. */
struct nfs_client *fake_client_new(void);
/* fork(2); the child can use c: the thread of c does not hold the lock of c meanwhile. */
pid_t fake_fork(struct nfs_client *c);
/* The file is not delegated any more; the client is not told. */
void fake_recall(struct nfs_client *c, const struct nfs_fh *fh);
/* The delegation of the last flush (nfs_deleg_flushed()), or 0. */
uint64_t fake_flushed(struct nfs_client *c);
/* Ops that hang are carried out now; the knob hang says which ops hang from now on. */
void fake_release(struct nfs_client *c);

#endif
