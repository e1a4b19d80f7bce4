/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * record: all that a daemon leaves to its successor (upgrade.h), in a memory file.
 *
 *     head        descriptors, mount point, the talk of INIT, the daemon's run, the transport
 *     mount       the state at the server (nfs_record.h)
 *     the rest    inodes, names, silly names, open files and directories, names to be told again,
 *                 requests that wait for a lock
 *
 * Numbers are in XDR; the members of a struct are lists of fields (fields.h). A daemon reads only
 * records of its own RECORD_FORMAT, which changes with any list or order, and when the answer to
 * INIT or the meaning of a member changes. The reader checks each length, count and node ID. The
 * former daemon of the same user has written the record, so a damaged one is a defect: the mount
 * ends with a sentence.
 */
#ifndef RNFS_FS_PROGRAM_RECORD_H
#define RNFS_FS_PROGRAM_RECORD_H

#include <limits.h>

#include "fs/known/fs.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/err.h"

#define RECORD_FORMAT 7u
/* Of the notes in a ledger (ledger.h), of the holder's variable and of the messages to the holder
 * (holder.h): changes with any of them, and with the head of a record. */
#define NOTES_FORMAT 2u

struct record_head {
	unsigned run; /* of the successor (numbers.h) */
	/* Open in the successor: the FUSE device; and, or -1, its clone for rows (device.h), the
	 * pipe of auto_unmount, and the command that waits for an answer. */
	int device, row, auto_unmount, asker;
	uint64_t paused_at; /* when the former daemon stopped reading requests, on clock_ns() */
	uint64_t mounted_at;
	unsigned log_level;
	enum rpc_proto proto;
	unsigned vers_major, vers_minor;
	char mountpoint[PATH_MAX];
};

struct record {
	struct record_head head;
	struct init_talk init;
	struct nfs_record nfs;
	/* of a note: the program is on trial, or the former one is back (holder.h) */
	bool on_trial, is_back;
	/* the file; NULL: the record is a note */
	const uint8_t *map;
	size_t len, rest; /* rest: where the rest begins */
};

/* Writes the record of fs, in which nothing is under way. Returns the memory file, close-on-exec,
 * or -1 with *e set. */
int record_write(struct fs *fs, const struct record_head *head, struct err *e);

/* The head of a record as the note of a mount (survivor.h), which has no more, and has the format
 * of notes. record_of_note(): NULL with *e set: the note is damaged or of another format, or no
 * memory. */
void record_put_note(struct fs *fs, const struct record_head *head, struct xdr_out *x);
struct record *record_of_note(const void *data, uint32_t len, struct err *e);

/* Reads head and mount of the record in fd, which is closed. NULL with *e set: the record is
 * damaged or of another format, or no memory. */
struct record *record_read(int fd, struct err *e);
/* Reads the rest into fs, whose client has taken over r->nfs, and which has only the root. 0, or -1
 * with *e set. */
int record_restore(struct record *r, struct fs *fs, struct err *e);
/* Accepts NULL, returns NULL. */
struct record *record_free(struct record *r);

#endif
