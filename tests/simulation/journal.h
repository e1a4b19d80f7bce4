/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * journal: changes of names and attributes that are not on the simulated disk yet.
 *
 * Changes reach the disk in their order, as in a file system with a journal. A record holds the
 * state from before a change; a power cut undoes the last records. The records of one system call
 * belong together.
 */
#ifndef RNFS_SIMULATION_JOURNAL_H
#define RNFS_SIMULATION_JOURNAL_H

#include "tests/simulation/inode.h"

/* A call that changes inodes begins: later records belong to the call. */
void journal_begin(void);
/* Each before the change. */
void journal_attrs(struct inode *i);
void journal_name(struct inode *dir, const char *name);
void journal_xattr(struct inode *i, const char *name);
/* A record for the blocks that a cut of i to size is about to remove: for inode_cut(). */
struct blocks *journal_cut(struct inode *i, off_t size);

/* The changes of i, and all earlier changes, reach the disk. i NULL: all. */
void journal_commit(const struct inode *i);
/* The disk is full: removed blocks are free once all changes have reached the disk. Lets the
 * changes reach the disk. Is there room then? */
bool journal_makes_room(void);
/* So many of the last calls have not reached the disk. */
void journal_undo(unsigned calls);
/* Calls that have not surely reached the disk. */
unsigned journal_calls(void);
/* Forgets all without a change. */
void journal_reset(void);

#endif
