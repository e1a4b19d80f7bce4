/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stable: what the server has said will last, brought to stable storage; and the write verifier,
 * by which clients learn that something did not.
 *
 * Data. A WRITE that is not stable (RFC 1813 section 3.3.7, RFC 8881 section 18.32) is bracketed by
 * stable_write_begin() and _end(). From the first of them until a sync that covers it, a descriptor
 * of the file is kept that was open before the data was written: the kernel tells of a write-back
 * that failed only those who had the file open by then, and only once each. Every sync of a file
 * goes through here, and through that descriptor. One that fails changes the file's write verifier
 * before any client is told that a later one succeeded: each client with data of that file that was
 * not committed writes it again. A file's verifier is that of the run and how often its sync has
 * failed. The object that counts these is kept from then on, so that the count cannot begin anew;
 * when STABLE_FAILED are kept, the next failure changes the verifier of the run, for all files, and
 * lets them go. The failed sync of a directory changes none: it is not about data.
 *
 * Changes of directories and attributes are on stable storage before they are answered (RFC 1813
 * section 1.1, RFC 8881 section 18): an operation names what it has changed (stable_want()), and
 * the answer waits for all of it (stable_finish()). Threads of this module do the syncs, so that a
 * connection's thread goes on with the next call, and each sync serves all that asked for that
 * object until it began: a directory filled by many is not synced for each file.
 *
 *     stable_finish() --> queued for its first object --sync--> for its second ... --> done()
 *                            \-- taken along by a sync of the same object, whoever runs it
 *
 * Answers leave from these threads, or from that of stable_finish(), never from that of
 * stable_sync(), which may have the identity of a caller.
 *
 * At most one sync of an object runs at a time; its failure is that of all who waited for it. What
 * has been done to the file system then stays done: it is answered with the error all the same, as
 * nobody can say whether it will last.
 *
 * One lock guards everything here, and of each object `unstable`, `syncing` and `synced`. It is not
 * held over a sync, nor over done(); inside it only that of the table of objects is taken.
 */
#ifndef RNFS_SERVE_OPS_STABLE_H
#define RNFS_SERVE_OPS_STABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "contrib/serve/export/object.h"

#define STABLE_OBJS 8 /* of one answer; further ones are synced at once */
#define STABLE_VERF 8
/* Files with data that was not committed; WRITEs to others are synced. */
#define STABLE_UNSTABLE 512
/* Files with a verifier of their own, since a sync of them has failed. */
#define STABLE_FAILED 64

struct stable;

/* What has to be stable before an answer. Zeros: nothing. */
struct stable_set {
	unsigned n;
	struct obj *o[STABLE_OBJS]; /* referenced; synced in this order */
	int err;		    /* of one synced at once */
};

struct stable_job {
	/* the caller's; done NULL: stable_sync()'s own */
	struct stable_set set;
	void (*done)(struct stable_job *job, int err);
	/* the module's */
	unsigned at;
	int err;
	bool ended;
	TAILQ_ENTRY(stable_job) link;
};

/* async: what stable_want() names is not synced. nthreads 0: stable_finish() does the work itself.
 * The threads have the caller's identity. NULL without memory. */
struct stable *stable_new(struct obj_table *objs, unsigned nthreads, bool async);
/* Finishes all jobs. Accepts NULL, returns NULL. */
struct stable *stable_free(struct stable *s);

/* Before data is written to o, a regular file, by way of fd. verf is what the WRITE is to be
 * answered with. False: the data cannot be watched over, and must be synced by this WRITE; _end()
 * must not be called then. */
bool stable_write_begin(struct stable *s, struct obj *o, int fd, uint8_t verf[STABLE_VERF]);
void stable_write_end(struct stable *s, struct obj *o);
/* The same before data is written that is synced at once, by stable_sync_by(): then nothing need be
 * watched over, and no _end() follows, if no other data of o is. False: it must be done as above.
 */
bool stable_write_alone(struct stable *s, struct obj *o, uint8_t verf[STABLE_VERF]);
/* o is nobody's file any more: its data need not become stable. */
void stable_forget(struct stable *s, struct obj *o);
/* Syncs o, with its data, and waits for it. 0 or -errno; any thread. */
int stable_sync(struct stable *s, struct obj *o);
/* The same by a descriptor of o that the caller has, if none is kept. */
int stable_sync_by(struct stable *s, struct obj *o, int fd);
/* Has o been synced in this run, as it is known here, and did the last sync succeed? What an
 * earlier run did, or what the last sync was for, may not be stable. */
bool stable_synced(struct stable *s, const struct obj *o);
/* The verifier of o now. A COMMIT's is read when its sync has ended. */
void stable_verf(struct stable *s, const struct obj *o, uint8_t verf[STABLE_VERF]);
/* Has files synced that were last written idle_ns ago, and never committed. */
void stable_age(struct stable *s, uint64_t idle_ns);

/* Adds o to set, unless it is in it. */
void stable_want(struct stable *s, struct stable_set *set, struct obj *o);
/* The same for data of o, between stable_write_begin() and a sync: also if s is async. */
void stable_want_data(struct stable *s, struct stable_set *set, struct obj *o);
/* Syncs what job->set names, and calls job->done once, here or on another thread, with 0 or -errno;
 * the set is then empty. */
void stable_finish(struct stable *s, struct stable_job *job);

#endif
