/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata: whether data written to a file is safe on the server, and which openers were told of a
 * loss.
 *
 * Unstable data. WRITEs are sent UNSTABLE. The server answers with a verifier, which changes when
 * the server may have lost uncommitted data (RFC 8881 18.32.3, RFC 1813 3.3.7). A file with
 * unstable data needs a COMMIT that returns the same verifier. If a WRITE or COMMIT returns another
 * one, the kept data is written again (writeback.h).
 *
 * A server accepts a COMMIT only from a user with permission to write the file. Not every waiting
 * caller has permission: one may close a file that was opened for reading; one may be refused a
 * change of the mode of another user's file. So a COMMIT is sent with the credential of the last
 * writer. If the server refuses that one, the credential of a waiting caller is tried.
 *
 * There are three kinds of losses: another verifier for unstable data without a copy (EIO); a
 * COMMIT that fails (with its own error, such as ENOSPC or EDQUOT); a WRITE that fails long after
 * write(2) has returned. After a failed COMMIT the data still counts as unstable. The next fsync
 * sends another COMMIT; if that COMMIT fails in the same way, the failure is not a new loss. Once a
 * program has been told and has closed the file, the kept data is dropped (filedata_told(),
 * writeback.h).
 *
 * Reports follow Linux (errseq_t): losses are numbered. Each open file description keeps the number
 * of the last loss that the description was told, in a struct filedata_view.
 *
 *     fsync   reports each loss once to each description
 *     flush   reports the same, but does not count as a report: every close of a duplicate sends a
 *             FLUSH, also in a child that exits. The process that reads the answer need not be the
 *             writer.
 *
 * A description that is opened after a loss is told at fsync unless any fsync has reported the loss
 * before. Flush reports the loss unless any flush or fsync has. So a program that writes, closes,
 * opens again and syncs is told, and later openers are not told for ever. A loss while no process
 * has the file open waits here for the next opener, as long as the kernel knows the inode.
 *
 * Failed WRITEs of mapped pages are counted apart. The kernel itself tells each description at
 * fsync, before sending FSYNC. At flush the kernel tells only the first description;
 * filedata_flush() tells the others.
 *
 * With a ledger, a file with unstable data or a loss has a note for a successor of the daemon. The
 * reports that a description has had are in the note of the open file instead. If that note is
 * older than a report, the successor reports the loss again: a report that was noted before the
 * kernel had the answer could be lost.
 *
 * filechange.h is about the versions that the answers tell.
 *
 * filedata.lock, a leaf, guards all other fields, and the fields of the views. Any thread may call
 * any function.
 */
#ifndef RNFS_CACHE_FILEDATA_H
#define RNFS_CACHE_FILEDATA_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/filechange.h"
#include "nfsproto/nfs_client.h"
#include "transport/ledger.h"
#include "transport/lock.h"

struct filedata {
	struct filechange change;     /* under its own lock */
	struct mutex lock;	      /* of the views, too */
	bool dirty GUARDED_BY(lock);  /* there is unstable data */
	bool unkept GUARDED_BY(lock); /* some unstable data has no copy */
	bool unsafe GUARDED_BY(lock); /* a change came without a verifier */
	bool have_verf GUARDED_BY(lock);
	uint8_t verf[NFS_VERF_SIZE] GUARDED_BY(lock); /* of the unstable data */
	struct rpc_cred by GUARDED_BY(lock);	      /* last writer */
	uint64_t gen GUARDED_BY(lock);		      /* number of unstable changes so far */
	uint64_t restarts GUARDED_BY(lock); /* times that an answer brought another verifier */
	uint64_t redone GUARDED_BY(lock); /* `restarts` when unstable data was last written again */
	/* gen of the last failure that counts as a loss, 0: none */
	uint64_t failed_gen GUARDED_BY(lock);
	/* Gen of the last COMMIT that failed, and of the last failed COMMIT that flush or fsync has
	 * reported; 0: none. */
	uint64_t lost_gen GUARDED_BY(lock), told_gen GUARDED_BY(lock);
	uint32_t losses GUARDED_BY(lock); /* number of losses so far */
	int error GUARDED_BY(lock);	  /* of the last loss: a negative errno */
	/* the last loss reported by fsync, and by flush or fsync */
	uint32_t synced GUARDED_BY(lock), flushed GUARDED_BY(lock);
	uint32_t unwritten GUARDED_BY(lock); /* WRITEs of mapped pages that failed */
	int unwritten_error GUARDED_BY(lock);
	struct ledger *ledger GUARDED_BY(lock); /* of the note; NULL: none */
	uint64_t id GUARDED_BY(lock);		/* names the file in the note */
	struct note note GUARDED_BY(lock);
};

/* The reports that an open file description has had. */
struct filedata_view {
	uint32_t synced, flushed, unwritten; /* numbers, as in losses and unwritten */
};

void filedata_init(struct filedata *d);
void filedata_finish(struct filedata *d);

/* The verdict on the verifier of an answer. */
enum filedata_verf {
	FILEDATA_SAME,
	FILEDATA_OTHER, /* the server may have lost unstable data: write it again */
	FILEDATA_LOST,	/* OTHER, and some of the lost data has no copy */
};

/* A WRITE or COPY with the credential `by` was answered. kept: this mount keeps a copy of the data
 * for now. */
enum filedata_verf filedata_wrote(struct filedata *d, const struct rpc_cred *by,
	enum nfs_stable committed, const uint8_t *verf, bool kept);
/* Data of a write(2) that has returned is lost. error: a negative errno. */
void filedata_lost(struct filedata *d, int error);
/* Another change with the credential `by` should have been committed, and was not. error: a
 * negative errno; -EAGAIN if another COMMIT will do. */
void filedata_unsafe(struct filedata *d, const struct rpc_cred *by, int error);
/* A WRITE of mapped pages failed with error, a negative errno. */
void filedata_unwritten(struct filedata *d, int error);

/* Is a COMMIT needed? *gen: as filedata_commit() would return it. */
bool filedata_dirty(struct filedata *d, uint64_t *gen);
/* The number of answers so far that brought another verifier. */
uint64_t filedata_restarts(struct filedata *d);
/* The caller, which keeps the copies, is about to write again all unstable data from before the
 * last of so many restarts. After another verifier no COMMIT makes data safe until this call: a
 * COMMIT may return the new verifier, because an earlier answer has told of the restart. */
void filedata_redone(struct filedata *d, uint64_t restarts);
/* Could a restart of the server lose data for good? */
bool filedata_at_risk(struct filedata *d);
/* Before a COMMIT. *by: the credential for it. Returns gen for the next two functions. */
uint64_t filedata_commit(struct filedata *d, struct rpc_cred *by);
/* A COMMIT was answered. */
enum filedata_verf filedata_committed(struct filedata *d, uint64_t gen, const uint8_t *verf);
/* A COMMIT failed with error, a negative errno. */
void filedata_failed(struct filedata *d, uint64_t gen, int error);

/* Unstable data with this gen or an earlier one could not be committed, and flush or fsync has
 * reported that; 0: none. */
uint64_t filedata_told(struct filedata *d);
/* No copy is kept of such data any more. Without later unstable data no COMMIT is needed: the
 * failure of a COMMIT would be told as a new loss. */
void filedata_given_up(struct filedata *d);
/* Stable WRITEs have replaced all copies. True: there is no other unstable data, and no COMMIT is
 * needed. */
bool filedata_safe(struct filedata *d);

/* The note of d goes to the ledger from now on, and names the file by id. */
void filedata_note(struct filedata *d, struct ledger *l, uint64_t id);
/* filechange_replaced() may have changed: for the note. */
void filedata_note_replaced(struct filedata *d);
/* The file in note i of kind NOTE_LOSS of a former daemon. False: the note is damaged. */
bool filedata_former_id(const struct former *f, uint32_t i, uint64_t *id);
/* d, which has seen no data yet, goes on as the note says. False: the note is damaged. */
bool filedata_former(struct filedata *d, const struct former *f, uint32_t i);
/* The successor has the UNSTABLE data of the former daemon with that gen. False: d has no unstable
 * data, so the data is safe. */
bool filedata_former_keeps(struct filedata *d, uint64_t gen);

/* An open file description begins. */
void filedata_open(struct filedata *d, struct filedata_view *v);
/* The error to report at flush or fsync: 0 or a negative errno. */
int filedata_flush(struct filedata *d, const struct filedata_view *v);
int filedata_fsync(struct filedata *d, struct filedata_view *v);

#endif
