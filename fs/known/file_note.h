/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_note: the note of an open file (ledger.h): the number by which the kernel knows the open
 * file, inode and opener, and the open at the server, which has a note of its own.
 *
 * The note is made when the server has opened the file, before the kernel is told. So a file may
 * have a note and be unknown to the kernel: then the kernel sends the noted request again.
 */
#ifndef RNFS_FS_KNOWN_FILE_NOTE_H
#define RNFS_FS_KNOWN_FILE_NOTE_H

#include "cache/filedata.h"
#include "transport/ledger.h"
#include "transport/rpc/rpc.h"

/* What a note says. */
struct file_told {
	uint64_t number, inode; /* file.handle.number; the node ID */
	uint64_t open;		/* nfs_open_note_number() */
	uint64_t request;	/* file.request */
	uint64_t flock_owner;
	int flags;
	struct filedata_view view; /* file.told, at the open */
	bool released;		   /* file.released */
	struct rpc_cred cred;
};

/* Makes *note the note of an open file. l: NULL is no ledger. */
void file_note_put(struct ledger *l, struct note *note, const struct file_told *told);
/* Reads the note of len bytes at data. False: no open file has such a note. */
bool file_note_get(const void *data, uint32_t len, struct file_told *out);

#endif
