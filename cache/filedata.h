/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata: whether what was written to a file is safe on the server, and who has been told that it
 * is not.
 *
 * Unstable data. WRITEs are sent UNSTABLE; the server answers with a verifier that changes when it
 * may have lost what was not committed (RFC 8881 18.32.3, RFC 1813 3.3.7). A file with unstable
 * data needs a COMMIT that returns the same verifier. With another one, seen at a WRITE or at a
 * COMMIT, what was kept is written again (writeback.h). A server lets only those COMMIT who may
 * write the file, and that is not everybody who waits for it: who closes a file that he only reads,
 * who is not its owner and is about to be refused another mode. So a COMMIT goes in the name of who
 * wrote something of it last, and if he may not write it any more, of who waits. Three things are a
 * loss: another verifier for unstable data of which there is no copy (EIO); a COMMIT that fails
 * (with its own error, ENOSPC and EDQUOT among them); a WRITE that fails when write(2) has long
 * returned. After a COMMIT that failed the data counts as unstable still: the next fsync sends
 * another one, and it is not a new loss if that fails in the same way.
 *
 * Who is told, as in Linux (errseq_t): losses are numbered, and each open file description keeps
 * the number of the last one that it was told, in a struct filedata_view.
 *
 *     fsync   says what this description has not been told by fsync, once
 *     flush   says the same, but does not count as having told: any close of a duplicate sends one,
 *             that of a child that exits too, and whoever reads the answer need not be who wrote
 *
 * A description that is opened after a loss is told of it by fsync if no fsync of anybody has told
 * it, and by flush if no flush has either: a program that writes, closes, opens again and syncs is
 * told, and those who come later need not hear of it for ever. What was lost when nobody had the
 * file open any more waits here for the next one who opens it, as long as the kernel knows the
 * inode.
 *
 * Failed WRITEs of mapped pages are kept apart. The kernel itself tells each description at fsync,
 * before it sends FSYNC, but to flush it tells only the first one: the rest is said here.
 *
 * Whose changes of the file the answers tell of is a chapter of its own (filechange.h).
 *
 * filedata.lock guards all other fields, of the views too. It is a leaf. Any thread may call
 * anything.
 */
#ifndef RNFS_CACHE_FILEDATA_H
#define RNFS_CACHE_FILEDATA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cache/filechange.h"
#include "nfsproto/nfs_client.h"

struct filedata {
	struct filechange change; /* under its own lock */
	pthread_mutex_t lock;	  /* what follows, and the views */
	bool dirty;		  /* there is unstable data */
	bool unkept;		  /* some of it there is no copy of */
	bool unsafe;		  /* or it came without a verifier */
	bool have_verf;
	uint8_t verf[NFS_VERF_SIZE]; /* of the unstable data */
	struct rpc_cred by;	     /* who wrote some of it last */
	uint64_t gen;		     /* unstable changes so far */
	uint64_t restarts;	     /* times that the verifier was another one */
	uint64_t failed_gen;	     /* gen of the last COMMIT that failed, 0: none */
	uint32_t losses;	     /* so far */
	int error;		     /* the last one's: a negative errno */
	uint32_t synced, flushed; /* the last one that an fsync, and that a flush or fsync told */
	uint32_t unwritten;	  /* WRITEs of mapped pages that failed */
	int unwritten_error;
};

/* What an open file description has been told. */
struct filedata_view {
	uint32_t synced, flushed, unwritten; /* as of losses and unwritten */
};

void filedata_init(struct filedata *d);
void filedata_finish(struct filedata *d);

/* What an answer's verifier tells. */
enum filedata_verf {
	FILEDATA_SAME,
	FILEDATA_OTHER, /* the server may have lost unstable data: it is to be written again */
	FILEDATA_LOST,	/* and there is no copy of some of it */
};

/* A WRITE or COPY by `by` was answered, of data that is kept for a while or not. */
enum filedata_verf filedata_wrote(struct filedata *d, const struct rpc_cred *by,
	enum nfs_stable committed, const uint8_t *verf, bool kept);
/* Data that was written and answered is lost: error is a negative errno. */
void filedata_lost(struct filedata *d, int error);
/* Something else was changed by `by`, but could not be committed as it should have been: error is a
 * negative errno, -EAGAIN if it need only be tried again. */
void filedata_unsafe(struct filedata *d, const struct rpc_cred *by, int error);
/* A WRITE of mapped pages failed with error, a negative errno. */
void filedata_unwritten(struct filedata *d, int error);

/* Is a COMMIT needed? *gen: as filedata_commit() would return it. */
bool filedata_dirty(struct filedata *d, uint64_t *gen);
/* How often has an answer brought another verifier so far? */
uint64_t filedata_restarts(struct filedata *d);
/* Could a restart of the server lose something for good? */
bool filedata_at_risk(struct filedata *d);
/* Before a COMMIT: *by is whose it is to be. Returns gen for the following two. */
uint64_t filedata_commit(struct filedata *d, struct rpc_cred *by);
/* A COMMIT was answered. */
enum filedata_verf filedata_committed(struct filedata *d, uint64_t gen, const uint8_t *verf);
/* A COMMIT failed with error, a negative errno. */
void filedata_failed(struct filedata *d, uint64_t gen, int error);

/* An open file description begins. */
void filedata_open(struct filedata *d, struct filedata_view *v);
/* What it is to be told at flush or fsync: 0 or a negative errno. */
int filedata_flush(struct filedata *d, const struct filedata_view *v);
int filedata_fsync(struct filedata *d, struct filedata_view *v);

#endif
