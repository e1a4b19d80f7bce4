/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * layout: layouts of files, and how they end (RFC 8881 section 12.5).
 *
 *     given --recalled--> asked for, again and again --LAYOUTRETURN--> ended
 *       |                    \--not within the lease time--> ended by the server
 *       \--LAYOUTRETURN, the client's last CLOSE of the file, or the client ends--> ended
 *
 * If the server ends a layout by itself, or the client ends with the layout, the server fences the
 * file first (fence.h): another client that gets the file's locks then sees no late WRITE.
 *
 * A layout is a state of its client (ST_LAYOUT), at most one for each file, and always of the whole
 * file. Its file lists it like an open. A layout gives the right to read, or to read and write, the
 * file's data at the data servers (devices.h). Data servers show the same file, so layouts do not
 * conflict with one another, nor with opens.
 *
 * A change of the file's owner or permissions by another client waits for the layouts (that client
 * is told NFS4ERR_DELAY), since data servers look at neither. A CB_LAYOUTRECALL is prepared, to be
 * sent behind the answer (cb.h), and sent again now and then.
 */
#ifndef RNFS_SERVE_STATE_LAYOUT_H
#define RNFS_SERVE_STATE_LAYOUT_H

#include "contrib/serve/state/devices.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/state/stateid.h"

#define LAYOUT_RECALLS_MAX 1024 /* not sent yet */

/* The reports of clients about one data server, since this server started. */
struct layout_reports {
	_Atomic uint64_t errors, counts;	   /* by LAYOUTERROR, by LAYOUTSTATS */
	_Atomic uint64_t late_errors, late_counts; /* by LAYOUTRETURN */
};

struct layouts {
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(, st) recalled; /* not ended */
	_Atomic uint32_t n;			    /* layouts */
	_Atomic uint32_t nrecalled;
	struct notices recalls GUARDED_BY(lock); /* to be sent */
	_Atomic uint32_t nrecalls;
	struct layout_reports reports[DEVICES_MAX]; /* as devices.d */
};

/* NULL without memory. */
struct layouts *layouts_new(void);
struct layouts *layouts_free(struct layouts *l); /* accepts NULL, returns NULL */

/* Logs the reports about each data server of ds. */
void layouts_report(const struct layouts *l, const struct devices *ds);

/* The request that asks for a layout. */
struct layout_ask {
	const struct rpc_cred *by; /* the caller: the layout counts in its share */
	struct nfs4_stateid sid;   /* of an open, a lock, a delegation or the file's layout */
	uint32_t iomode;	   /* LAYOUTIOMODE4_READ or LAYOUTIOMODE4_RW */
	struct nfs4_referring_call call;
};
/* LAYOUTGET: gives c the iomode on o, and the layout's stateid in *out. NFS4_OK;
 * NFS4ERR_OPENMODE: c has no open with that access; NFS4ERR_RECALLCONFLICT,
 * NFS4ERR_LAYOUTTRYLATER: a recall is under way or was a moment ago; NFS4ERR_LAYOUTUNAVAILABLE: a
 * change of rights waits (layout_use.h), c's table of states is half full, or see
 * layout_write_here(); or a status of the stateid. */
uint32_t layout_get(struct state *s, struct client *c, struct obj *o, const struct layout_ask *ask,
	struct nfs4_stateid *out);
/* Is sid c's layout of o, with the iomode? For any seqid that was given out. A status. */
uint32_t layout_check(
	struct client *c, const struct obj *o, const struct nfs4_stateid *sid, uint32_t iomode);
/* c has told of a WRITE by the layout sid that had no answer, and that a data server may execute
 * late. The file is fenced when c's right to write there ends, or a part of it. */
void layout_doubt(struct client *c, const struct obj *o, const struct nfs4_stateid *sid);
/* c is about to give up a right to o that keeps other clients away (an open, a lock, a delegation).
 * Fences o now if c's layout is doubted. */
void layout_settle(struct state *s, struct client *c, struct obj *o);
/* c has told of a WRITE by the layout sid that a data server refused as every server would (no
 * room, ...). For a moment no client gets a layout to write o: a WRITE through this server tells
 * the program of the error. */
void layout_write_here(struct client *c, struct obj *o, const struct nfs4_stateid *sid);
/* LAYOUTRETURN of the iomode (also LAYOUTIOMODE4_ANY). all: of the whole file; otherwise the layout
 * stays. *left: the client still has a layout of o, and *out is its stateid. A status. */
uint32_t layout_return(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_stateid *sid, uint32_t iomode, bool all, bool *left,
	struct nfs4_stateid *out);
/* LAYOUTRETURN of all of c's layouts. */
void layout_return_all(struct state *s, struct client *c);
/* c has closed o, or returned a delegation: c's layout ends if that was the last. */
void layout_closed(struct state *s, struct client *c, struct obj *o);
/* Recalls st: at once, and again now and then. */
void layout_recall_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock);
/* Ends the layout st, which the file lists. The caller has taken st out of the client's table. */
void layout_end_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock);
/* The client has answered the CB_LAYOUTRECALL of sid: with NFS4ERR_NOMATCHING_LAYOUT the layout
 * ends; with another error another call is sent soon. */
void layout_refused(
	struct state *s, uint64_t clientid, const struct nfs4_stateid *sid, uint32_t status);
/* Ends layouts that were recalled a lease time ago, and recalls the other ones again. Call once a
 * second or so. */
void layout_tick(struct state *s);
/* Takes all calls to be sent; the caller frees each. */
void layout_take_recalls(struct state *s, struct notices *out);

#endif
