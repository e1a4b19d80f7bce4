/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout: the layouts of a mount (RFC 8881 section 12.5), one for each file that is read or
 * written.
 *
 *     known --I/O wants it--> wanted --LAYOUTGET--> held --recall, error, close--> going
 *       ^                       |                                                   |
 *       |<-- refused: a pause --/             <--LAYOUTRETURN, no I/O under way-----/
 *
 * A layout that the server wants back with the last close goes in the COMPOUND of that CLOSE, in
 * front of CLOSE: behind it the server knows the layout no more (RFC 8881 section 18.44.3).
 *
 * I/O uses a held layout. Large I/O wants one, and so does small I/O after the first few of a file:
 * a small file is not worth a LAYOUTGET. While a layout is wanted, small I/O goes through the
 * metadata server, and large I/O waits for the answer to LAYOUTGET. A held layout to read may be
 * wanted to write, too. So may a layout to write be wanted to read, if its server has set
 * FF_FLAGS_NO_READ_IO; otherwise it serves both.
 *
 * I/O that has failed at a data server waits in the layout, which is then going. LAYOUTRETURN tells
 * the metadata server of the error, and the server shuts the data server's old requests out
 * (fencing: RFC 8435 section 2.2). Only then the I/O goes through the metadata server. Otherwise a
 * WRITE that the data server has still to execute could undo a later one. A server that does not
 * take the layout back now is asked again, for a lease time at most.
 *
 * A layout that the server has forgotten (a restart, a lost client ID) goes without LAYOUTRETURN,
 * and is not reclaimed. The table is bounded: a file beside that gets no layout until an idle
 * layout has been returned.
 *
 * Threads and the lock. The pNFS thread (nfs4_pnfs.h) makes all calls about layouts, and it alone
 * frees a layout. Other threads leave work for it. `lock` guards the table and all layouts; it is
 * taken after cb.lock, also a data server's, and before slots.lock. Invariant: a layout with I/O
 * under way (nios) is not returned and not freed.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_H

#include "nfsproto/v4/mount/nfs4_mount.h"
#include "nfsproto/v4/pnfs/nfs4_io_stats.h"
#include "nfsproto/v4/pnfs/nfs4_layout_error.h"
#include "nfsproto/v4/pnfs/nfs4_segment.h"

#define NFS4_LAYOUTS_HELD    1024u
#define NFS4_LAYOUT_BUCKETS  256u
#define NFS4_LAYOUT_SEGMENTS NFS4_LAYOUTS_MAX
#define NFS4_LAYOUT_SMALL    8u /* small READs and WRITEs of a file without a layout */

struct nfs4_layout_held;

struct nfs4_layoutget;

struct nfs4_layoutreturn;

struct nfs4_layouts {
	struct mutex lock ACQUIRED_AFTER(LOCK_OF(struct nfs4_cb, lock))
		ACQUIRED_BEFORE(LOCK_OF(struct nfs4_slots, lock));
	uint32_t type;	     /* constant: layouttype4 */
	pthread_cond_t wake; /* of the pNFS thread */
	GUARDED_BY(lock) LIST_HEAD(, nfs4_layout_held) bucket[NFS4_LAYOUT_BUCKETS];
	GUARDED_BY(lock) TAILQ_HEAD(nfs4_layout_ages, nfs4_layout_held) ages;
	GUARDED_BY(lock) TAILQ_HEAD(, nfs4_layout_held) queue;
	GUARDED_BY(lock) TAILQ_HEAD(, nfs4_layout_held) put_off; /* busy, in the order of back_ns */
	unsigned n GUARDED_BY(lock);
	unsigned forgets GUARDED_BY(lock); /* how often the server has forgotten all */
	uint64_t rest_ns GUARDED_BY(lock); /* no layout is used or wanted before */
	bool poked GUARDED_BY(lock);	   /* a data server has news */
	/* devices that have changed; with all_changed any may have */
	struct nfs4_device_change changed[NFS4_DEVICES_KEPT] GUARDED_BY(lock);
	unsigned nchanged GUARDED_BY(lock);
	bool all_changed GUARDED_BY(lock);
	bool closed GUARDED_BY(lock); /* no layout is used or wanted any more */
	/* nfs4_layout_report.h: under way */
	GUARDED_BY(lock) TAILQ_HEAD(, nfs4_layout_report) reports;
	unsigned nreports GUARDED_BY(lock);
	uint64_t stats_ns GUARDED_BY(lock); /* no LAYOUTSTATS is due before */
};

#define NFS4_LAYOUTS_LOCK LOCK_OF(struct nfs4_layouts, lock)

struct nfs4_segments {
	unsigned n;
	struct nfs4_segment seg[NFS4_LAYOUT_SEGMENTS];
};

struct nfs4_layout_held {
	struct nfs4_layouts *in; /* constant, as fh is */
	struct nfs_fh fh;
	LIST_ENTRY(nfs4_layout_held) hash GUARDED_BY(NFS4_LAYOUTS_LOCK);
	TAILQ_ENTRY(nfs4_layout_held) age GUARDED_BY(NFS4_LAYOUTS_LOCK); /* oldest use first */
	/* if queued, or put off */
	TAILQ_ENTRY(nfs4_layout_held) work GUARDED_BY(NFS4_LAYOUTS_LOCK);
	bool queued GUARDED_BY(NFS4_LAYOUTS_LOCK);
	bool busy GUARDED_BY(NFS4_LAYOUTS_LOCK); /* a call about it is under way */
	bool held GUARDED_BY(NFS4_LAYOUTS_LOCK), going GUARDED_BY(NFS4_LAYOUTS_LOCK);
	bool forgotten GUARDED_BY(NFS4_LAYOUTS_LOCK); /* by the server */
	/* wanted: the open through which to ask, with a reference; and for writing? */
	struct nfs_open *want GUARDED_BY(NFS4_LAYOUTS_LOCK);
	bool want_writes GUARDED_BY(NFS4_LAYOUTS_LOCK);
	unsigned small GUARDED_BY(NFS4_LAYOUTS_LOCK); /* small I/O since nothing is held */
	GUARDED_BY(NFS4_LAYOUTS_LOCK)
	TAILQ_HEAD(nfs4_stranded, nfs_op) waiting;	 /* ops, for the answer to LAYOUTGET */
	uint64_t again_ns GUARDED_BY(NFS4_LAYOUTS_LOCK); /* it is not wanted before */
	unsigned refusals GUARDED_BY(NFS4_LAYOUTS_LOCK); /* in a row */
	/* LAYOUTRETURN is put off until back_ns, and never beyond back_by_ns; 0: it was not yet */
	uint64_t back_ns GUARDED_BY(NFS4_LAYOUTS_LOCK), back_by_ns GUARDED_BY(NFS4_LAYOUTS_LOCK);

	struct nfs4_stateid stateid GUARDED_BY(NFS4_LAYOUTS_LOCK); /* if held or going */
	bool return_on_close GUARDED_BY(NFS4_LAYOUTS_LOCK);
	unsigned closes GUARDED_BY(NFS4_LAYOUTS_LOCK); /* counts nfs4_layouts_closing() */
	/* the segments to read, and those to read and write */
	struct nfs4_segments reads GUARDED_BY(NFS4_LAYOUTS_LOCK);
	struct nfs4_segments writes GUARDED_BY(NFS4_LAYOUTS_LOCK);

	unsigned nios GUARDED_BY(NFS4_LAYOUTS_LOCK);
	struct nfs4_stranded stranded GUARDED_BY(NFS4_LAYOUTS_LOCK); /* ops, for LAYOUTRETURN */
	unsigned nerrors GUARDED_BY(NFS4_LAYOUTS_LOCK);
	struct nfs4_layout_error error[NFS4_LAYOUT_ERRORS] GUARDED_BY(NFS4_LAYOUTS_LOCK);
	bool down_told GUARDED_BY(NFS4_LAYOUTS_LOCK); /* of a data server that is down */
	/* of the I/O since the layout is held; NULL: none yet, or not of flexible files */
	struct nfs4_io_stats *stats GUARDED_BY(NFS4_LAYOUTS_LOCK);
	uint32_t stats_s GUARDED_BY(NFS4_LAYOUTS_LOCK); /* between two LAYOUTSTATS */
};

/* type: the layouttype4 of all layouts, LAYOUT4_FLEX_FILES or LAYOUT4_NFSV4_1_FILES. */
void nfs4_layouts_init(struct nfs4_layouts *t, uint32_t type);
/* No I/O is under way, and the pNFS thread has ended. */
void nfs4_layouts_finish(struct nfs4_layouts *t);
/* Has the pNFS thread look at the data servers. Any thread. */
void nfs4_layouts_poke(struct nfs4_layouts *t) EXCLUDES(t->lock);
/* From now on no I/O uses a layout. */
void nfs4_layouts_close(struct nfs4_layouts *t) EXCLUDES(t->lock);

/* The layout of the file of o, if it serves for I/O now. Else NULL, and then it is wanted through
 * o, unless I/O is one of a few small ones: *wanted, or NULL, is where I/O may wait for it. */
struct nfs4_layout_held *nfs4_layout_for_locked(struct nfs4_layouts *t, struct nfs_open *o,
	bool writes, bool large, struct nfs4_layout_held **wanted) REQUIRES(t->lock);
/* The segment with the byte at offset, or NULL. */
const struct nfs4_segment *nfs4_layout_at_locked(
	const struct nfs4_layout_held *l, uint64_t offset, bool writes) REQUIRES(NFS4_LAYOUTS_LOCK);
/* I/O that has begun with nios raised has ended. */
void nfs4_layout_io_ended(struct nfs4_layout_held *l) EXCLUDES(NFS4_LAYOUTS_LOCK);
/* I/O has found a data server of l down, and goes another way. True: for the first time; *id is the
 * stateid of l. */
bool nfs4_layout_down_locked(struct nfs4_layout_held *l, struct nfs4_stateid *id)
	REQUIRES(NFS4_LAYOUTS_LOCK);
/* The counts of l, for I/O that begins at `now`; NULL: none are kept. */
struct nfs4_io_stats *nfs4_layout_stats_locked(struct nfs4_layout_held *l, uint64_t now)
	REQUIRES(NFS4_LAYOUTS_LOCK);
/* I/O that has begun with nios raised has failed with the n errors e: l goes. Moves those of a kind
 * that is new to l to the front of e, and returns how many these are. *id: the stateid of l. */
unsigned nfs4_layout_failing(struct nfs4_layout_held *l, struct nfs4_layout_error *e, unsigned n,
	struct nfs4_stateid *id) EXCLUDES(NFS4_LAYOUTS_LOCK);
/* Behind nfs4_layout_failing(): the I/O of op has ended, and op waits in the layout. False: op does
 * not wait, as the mount ends. */
bool nfs4_layout_io_failed(struct nfs4_layout_held *l, struct nfs_op *op)
	EXCLUDES(NFS4_LAYOUTS_LOCK);
/* The layout of fh, in any state, or NULL. */
struct nfs4_layout_held *nfs4_layout_find_locked(struct nfs4_layouts *t, const struct nfs_fh *fh)
	REQUIRES(t->lock);
/* There is no room for the devices of a new layout. A few held layouts without I/O go, those that
 * were used the longest ago. */
void nfs4_layouts_make_room(struct nfs4_layouts *t) EXCLUDES(t->lock);
/* Takes l out of use. */
void nfs4_layout_drop(struct nfs4_layout_held *l) EXCLUDES(NFS4_LAYOUTS_LOCK);
/* The stateid of l for a call. */
struct nfs4_stateid nfs4_layout_stateid(struct nfs4_layout_held *l) EXCLUDES(NFS4_LAYOUTS_LOCK);

/* CB_LAYOUTRECALL (RFC 8881 section 20.3): takes the layouts out of use. NFS4_OK: the layout of
 * the file goes; NFS4ERR_NOMATCHING_LAYOUT: there is none; NFS4ERR_DELAY: one may be on its way,
 * or, of all, one is left. */
uint32_t nfs4_layouts_recall(struct nfs4_layouts *t, const struct nfs4_cb_layoutrecall_args *a)
	EXCLUDES(t->lock);
/* The file is about to be closed, for the last time. A layout that the server wants back then goes
 * along with CLOSE (nfs4_layouts_close_along()). If I/O is under way, or no CLOSE is sent (local),
 * the layout goes alone. */
void nfs4_layouts_closing(struct nfs4_layouts *t, const struct nfs_fh *fh, bool local)
	EXCLUDES(t->lock);
/* The layout of fh that is to go back in the COMPOUND of the last CLOSE, or NULL. The caller has it
 * until nfs4_layout_closed(). */
struct nfs4_layout_held *nfs4_layouts_close_along(struct nfs4_layouts *t, const struct nfs_fh *fh)
	EXCLUDES(t->lock);
/* *r is the LAYOUTRETURN of l, which is to go back. False: the server has forgotten the layout. */
bool nfs4_layout_returning(struct nfs4_layout_held *l, struct nfs4_layoutreturn *r)
	EXCLUDES(NFS4_LAYOUTS_LOCK);
/* The CLOSE is over for l. returned: the server has l back, or has forgotten l. Else the pNFS
 * thread returns l. */
void nfs4_layout_closed(struct nfs4_layout_held *l, bool returned) EXCLUDES(NFS4_LAYOUTS_LOCK);
/* Is the layout of fh one that goes at the last close? */
bool nfs4_layouts_close_matters(struct nfs4_layouts *t, const struct nfs_fh *fh) EXCLUDES(t->lock);
/* All layouts go, and none is used or wanted before `until`, on clock_ns(). True: none is left,
 * the pNFS thread has no work with any, and no report is under way. */
bool nfs4_layouts_rest(struct nfs4_layouts *t, uint64_t until) EXCLUDES(t->lock);
/* All layouts go. forgotten: the server does not know them any more, and all devices are asked for
 * again. */
void nfs4_layouts_drop_all(struct nfs4_layouts *t, bool forgotten) EXCLUDES(t->lock);

/* Notes that the devices have changed, for the pNFS thread. The layouts that name them go, and with
 * `more` all layouts. */
void nfs4_layouts_devices_changed(
	struct nfs4_layouts *t, const struct nfs4_cb_notify_deviceid_args *a) EXCLUDES(t->lock);

/* --- for the pNFS thread ------------------------------------------------------------------- */

/* The next layout with work, now busy, or NULL. Makes room if the table is nearly full. Lowers
 * *next to the time when a layout that was put off is due. */
struct nfs4_layout_held *nfs4_layouts_work_locked(struct nfs4_layouts *t, uint64_t *next)
	REQUIRES(t->lock);
/* The open through which the layout is to be asked for, with its reference, and whether for
 * writing; NULL: not any more, or not yet. */
struct nfs_open *nfs4_layout_take_want_locked(struct nfs4_layout_held *l, bool *writes)
	REQUIRES(NFS4_LAYOUTS_LOCK);
/* The server does not take l back now: l, which stays busy, is work again after a pause. The file
 * is not wanted meanwhile. False: the server was asked for most_ns already. */
bool nfs4_layout_put_off_locked(struct nfs4_layout_held *l, uint64_t most_ns)
	REQUIRES(NFS4_LAYOUTS_LOCK);
/* The work is done: l is not busy any more. Wants that came meanwhile are queued. */
void nfs4_layout_done_locked(struct nfs4_layout_held *l) REQUIRES(NFS4_LAYOUTS_LOCK);
/* Keeps the segments of g in l, which is held from now on. Is l good for that which it was asked
 * for? */
bool nfs4_layout_keep_locked(struct nfs4_layout_held *l, struct nfs4_layoutget *g)
	REQUIRES(NFS4_LAYOUTS_LOCK);
/* After that: l is dropped if a device that l names has changed since the pNFS thread last looked.
 * l may hold the device as it was. */
void nfs4_layout_recheck_locked(struct nfs4_layout_held *l) REQUIRES(NFS4_LAYOUTS_LOCK);
/* l has gone: nothing is held. Not to be wanted for pause_ms. */
void nfs4_layout_gone_locked(struct nfs4_layout_held *l, unsigned pause_ms)
	REQUIRES(NFS4_LAYOUTS_LOCK);

/* A LAYOUTGET: nfs4_ops_layout.c. */
struct nfs4_layoutget {
	/* in */
	const struct nfs_fh *fh;
	uint32_t type; /* layouttype4 */
	struct nfs_open *open;
	bool writes;
	bool more;		     /* in: stateid is that of the layout that is held */
	struct nfs4_stateid stateid; /* in, with more, and out */
	/* out */
	int error; /* 0, or as nfs4_segment_init(); -EBADMSG also: segments overlap */
	bool return_on_close;
	struct nfs4_segments segs; /* all of one kind */
};
/* Takes the results of g. Pure. */
void nfs4_layoutget_told(struct nfs4_layoutget *g, const struct nfs4_layoutget_res *r);
void nfs4_layoutget_finish(struct nfs4_layoutget *g);

/* A LAYOUTRETURN of one file, or (fh NULL) of all. */
struct nfs4_layoutreturn {
	const struct nfs_fh *fh;
	struct nfs4_stateid stateid;
	unsigned nerrors;
	struct nfs4_layout_error error[NFS4_LAYOUT_ERRORS];
	struct nfs4_io_stats stats;
};

#endif
