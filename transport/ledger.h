/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ledger: notes about the objects of a daemon, in a memory file that outlives the daemon.
 *
 * The owner of an object keeps one note of the object: writes it when the object is made, writes it
 * anew when the object changes, and drops it when the object goes. If the daemon is killed, its
 * successor reads the notes (struct former).
 *
 *     none --ledger_put()--> whole --ledger_put()--> whole, the new one --ledger_drop()--> none
 *
 * At each moment a note is whole or not there: a daemon that is killed within ledger_put() leaves
 * the note from before. For that, the new one is written beside the old one, and becomes valid by
 * one store of its serial number. Until the old one is gone, the reader takes the one with the
 * higher serial. ledger_words() are for members that change often: each word changes by one store.
 *
 * The file has chunks of CHUNK bytes. A chunk has entries of one size, a power of two. The lists of
 * free entries are in the memory of the daemon alone. A reader looks at all entries.
 *
 * No ledger (NULL) is as good as one that nobody reads: all functions that write accept NULL, and
 * do nothing. If a note cannot be written (no memory, a note that is too long), the ledger is not
 * *whole* any more: a successor could not trust it.
 */
#ifndef RNFS_TRANSPORT_LEDGER_H
#define RNFS_TRANSPORT_LEDGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/err.h"

/* The kinds of notes. The module that is named writes and reads the contents. */
enum note_kind {
	NOTE_NONE,
	NOTE_MOUNT,	/* fs/program/survivor.h: the mount itself */
	NOTE_FS,	/* fs/program/former.h: numbers of the mount */
	NOTE_SERVER,	/* nfs4_server_record.h: server, client ID, session */
	NOTE_EXPORT,	/* nfs4_mount_record.h: the properties of the mount */
	NOTE_SLOTS,	/* nfs4_replay.h: the slots of the session */
	NOTE_CHANGE,	/* nfs4_replay.h: a call that changes the file system, and its answer */
	NOTE_OPEN,	/* nfs4_state_note.h: an open at the server */
	NOTE_LOCKS,	/* nfs4_state_note.h: the locks of an owner */
	NOTE_INODE,	/* inode_note.h */
	NOTE_FILE,	/* file_note.h: an open file */
	NOTE_OPENING,	/* open_note.h: how a file is being opened */
	NOTE_STALE,	/* stale.h: threads that open again after ESTALE */
	NOTE_LOCKER,	/* locker.h: an owner that may hold locks */
	NOTE_DIR,	/* ops.h: an open directory */
	NOTE_SILLY,	/* silly.h: a silly name */
	NOTE_EXTENT,	/* dirty_note.h: written data */
	NOTE_LOSS,	/* filedata.h: data that was lost, and openers that are to be told */
	NOTE_ANSWER,	/* underway.h: an answer that the kernel may not have yet */
	NOTE_UNDER_WAY, /* underway.h: a request of the kernel */
	NOTE_DELEG,	/* nfs4_deleg_note.h: a delegation */
	NOTE_AGAIN,	/* again.h: a request that is to begin anew */
	NOTE_KINDS
};

/* A note, in the object that it is of. All zero: none. Under the object's lock. */
struct note {
	uint32_t at;
};

struct ledger;

#define LEDGER_NOTE_MAX (100u << 10) /* bytes of a note */

/* NULL with *e set: no memory, or no memory files. */
struct ledger *ledger_new(struct err *e);
/* The notes go with the last descriptor of the file. Accepts NULL, returns NULL. */
struct ledger *ledger_free(struct ledger *l);
/* The memory file, which stays the ledger's. */
int ledger_fd(const struct ledger *l);
/* Could all notes be written? Any thread. */
bool ledger_is_whole(const struct ledger *l);
/* A note of an object could not be made, for another reason than ledger_put() would find. */
void ledger_give_up(struct ledger *l);

/* Makes *n the note `len` bytes of data, in place of the note that it may be. Any thread; the
 * caller holds the lock of the object. */
void ledger_put(
	struct ledger *l, struct note *n, enum note_kind kind, const void *data, size_t len);
/* *n becomes none. As ledger_put(). */
void ledger_drop(struct ledger *l, struct note *n);
/* The bytes of *n as words, each of which the owner of *n may change at any time. Valid until *n is
 * put or dropped. NULL: no ledger, or no note. */
_Atomic uint64_t *ledger_words(struct ledger *l, const struct note *n);

/* --- the ledger of a former daemon ---------------------------------------------------------- */

struct former;

/* Reads the ledger in fd, which stays the caller's. Its daemon must have ended. NULL with *e set:
 * the file is no ledger, is damaged, or is not whole; or no memory. */
struct former *former_read(int fd, struct err *e);
/* Accepts NULL, returns NULL. */
struct former *former_free(struct former *f);
/* How many notes of kind there are. */
uint32_t former_count(const struct former *f, enum note_kind kind);
/* Note i of a kind, below former_count(), in the order in which the notes were made first. *len:
 * its bytes. The memory is f's, 8-byte aligned, and writable by no one. */
const void *former_note(const struct former *f, enum note_kind kind, uint32_t i, uint32_t *len);

#endif
