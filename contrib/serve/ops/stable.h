/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stable: brings data and changes to stable storage, as the server has promised. The module also
 * owns the write verifier, which tells clients about a possible loss of data.
 *
 * Data. An unstable WRITE (RFC 1813 section 3.3.7, RFC 8881 section 18.32) is bracketed by
 * stable_write_begin() and _end(). From the first unstable WRITE of a file until a sync covers the
 * WRITE, the module keeps one descriptor that was open before the data was written. The reason: the
 * kernel reports a failed write-back only on descriptors that were already open, and once on each.
 *
 * Every sync of a file goes through this module and through the kept descriptor. A failed sync
 * changes the file's write verifier before any client is told that a later sync succeeded. So each
 * client with uncommitted data of the file writes the data again.
 *
 * A file's verifier combines the verifier of the run and the number of the file's failed syncs.
 * After the first failure the object is kept, so that the count cannot begin anew. When
 * STABLE_FAILED objects are kept, the next failure changes the verifier of the run, for all files,
 * and the objects are let go. A failed sync of a directory changes no verifier: directories have no
 * file data.
 *
 * Changes of directories and attributes are on stable storage before the answer (RFC 1813 section
 * 1.1, RFC 8881 section 18). An operation names the changed objects (stable_want()), and the answer
 * waits until all are stable (stable_finish()). The module's threads do the syncs, so a
 * connection's thread goes on with the next call. One sync serves all answers that waited for the
 * object when the sync began. So the server does not sync a directory once for each file that many
 * clients make there.
 *
 *     stable_finish() --> queued for its first object --sync--> for its second ... --> done()
 *                            \-- joined by a sync of the same object on any thread
 *
 * Answers leave from the module's threads, or from the thread of stable_finish(), but never from
 * the thread of stable_sync(), which may have a caller's identity.
 *
 * At most one sync of an object runs at a time. All waiters of a failed sync get the error, and so
 * do the waiters for the next sync. The kernel reports an error once, so the next sync may succeed
 * although changes are lost. For the same reason, data counts as stable only if no sync of the file
 * has failed since its WRITE began. The change to the file system remains. The client gets the
 * error all the same, because the server cannot know whether the change will last.
 *
 * One lock guards everything here, and each object's `unstable`, `syncing` and `synced`. The lock
 * is not held over a sync, nor over done(). Inside the lock only the lock of the table of objects
 * is taken.
 */
#ifndef RNFS_SERVE_OPS_STABLE_H
#define RNFS_SERVE_OPS_STABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "contrib/serve/export/object.h"

#define STABLE_OBJS 8 /* of one answer; further ones are synced at once */
#define STABLE_VERF 8
/* Files with uncommitted data; WRITEs to further files are synced. */
#define STABLE_UNSTABLE 512
/* Files with an own verifier, because a sync has failed. */
#define STABLE_FAILED 64

struct stable;

/* Objects that must be stable before an answer. Zeros: none. */
struct stable_set {
	unsigned n;
	struct obj *o[STABLE_OBJS]; /* referenced; synced in this order */
	bool data[STABLE_OBJS];	    /* with data, from when the object's verifier was verf */
	uint8_t verf[STABLE_OBJS][STABLE_VERF];
	int err; /* error of an object that was synced at once */
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

/* async: objects of stable_want() are not synced. nthreads 0: stable_finish() does the work itself.
 * The threads have the caller's identity. NULL without memory. */
struct stable *stable_new(struct obj_table *objs, unsigned nthreads, bool async);
/* Finishes all jobs. Accepts NULL, returns NULL. */
struct stable *stable_free(struct stable *s);

/* Call before data is written to o, a regular file, through fd. verf: the verifier for the answer
 * to the WRITE. False: the module cannot watch the data. Then the WRITE itself must sync the data,
 * and _end() must not be called. */
bool stable_write_begin(struct stable *s, struct obj *o, int fd, uint8_t verf[STABLE_VERF]);
void stable_write_end(struct stable *s, struct obj *o);
/* Call before data is written that stable_sync_by() syncs at once. If o has no other unstable data,
 * no watch is needed and no _end() follows. False: use stable_write_begin(). */
bool stable_write_alone(struct stable *s, struct obj *o, uint8_t verf[STABLE_VERF]);
/* o is deleted: its data need not become stable. */
void stable_forget(struct stable *s, struct obj *o);
/* Syncs o with its data, and waits. 0 or -errno; any thread. */
int stable_sync(struct stable *s, struct obj *o);
/* The same, through the caller's descriptor of o (-1: any) if none is kept. verf: of the WRITE with
 * the data that is to become stable, or NULL. -EIO, too, if another sync has failed since the WRITE
 * began: that sync may have had the kernel's only report about the data. */
int stable_sync_by(struct stable *s, struct obj *o, int fd, const uint8_t *verf);
/* Was o, as known here, synced in this run, and did the last sync succeed? Changes of an earlier
 * run, or before a failed sync, may not be stable. */
bool stable_synced(struct stable *s, const struct obj *o);
/* The present verifier of o. For a COMMIT, call this after the sync has ended. */
void stable_verf(struct stable *s, const struct obj *o, uint8_t verf[STABLE_VERF]);
/* Syncs files that were last written idle_ns ago, and never committed. */
void stable_age(struct stable *s, uint64_t idle_ns);

/* Adds o to set, unless it is there. */
void stable_want(struct stable *s, struct stable_set *set, struct obj *o);
/* The same for data of o, between stable_write_begin() and a sync; also if s is async. verf as in
 * stable_sync_by(). */
void stable_want_data(struct stable *s, struct stable_set *set, struct obj *o, const uint8_t *verf);
/* Syncs the objects of job->set, and calls job->done once, here or on another thread, with 0 or
 * -errno. The set is then empty. */
void stable_finish(struct stable *s, struct stable_job *job);

#endif
