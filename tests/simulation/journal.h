/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * journal: changes of names and attributes that are not on the simulated disk yet.
 *
 * They reach the disk in their order, as in a file system with a journal. A record holds what a
 * change has replaced; a power cut undoes the last ones. The records of one system call belong
 * together.
 */
#ifndef RNFS_SIMULATION_JOURNAL_H
#define RNFS_SIMULATION_JOURNAL_H

#include "tests/simulation/inode.h"

/* A call that changes something begins: records belong to it from now on. */
void journal_begin(void);
/* Each before the change. */
void journal_attrs(struct inode *i);
void journal_name(struct inode *dir, const char *name);
void journal_xattr(struct inode *i, const char *name);
/* Of what a cut to size is about to take out of i: for inode_cut(). */
struct blocks *journal_cut(struct inode *i, off_t size);

/* What concerns i, and all before that, reaches the disk. i NULL: all. */
void journal_commit(const struct inode *i);
/* The disk is full: what has been removed gives its room back when all has reached the disk. Is
 * there some then? */
bool journal_makes_room(void);
/* So many of the last calls have not reached the disk. */
void journal_undo(unsigned calls);
/* Calls that have not surely reached the disk. */
unsigned journal_calls(void);
/* Forgets all without a change. */
void journal_reset(void);

#endif
