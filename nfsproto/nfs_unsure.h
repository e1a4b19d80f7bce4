/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_unsure: an operation that was sent twice, and failed the second time.
 *
 * A connection was lost before the answer came, and the server answers the second call without
 * knowing the first: it was restarted, and its reply cache is gone. The first call may have been
 * carried out. Then REMOVE and RENAME find no name any more, and CREATE and LINK find the name
 * taken. Such an operation is called unsure, and its failure is judged by the name:
 *
 *     REMOVE       the name is gone, which the caller wanted: done
 *     REMOVEXATTR  likewise
 *     RENAME       a look: does the new name stand for the file that was moved?
 *     LINK         a look: does the new name stand for the file that was linked?
 *     CREATE       a look: does the name stand for an object with this call's mark?
 *
 * The mark is the time of access that CREATE sets: the clock of this machine in nanoseconds. A
 * program that uses mkdir() as a lock must not be told that it made the directory of another
 * client, and no other sign tells the two apart. Where the mark is missing (the server keeps
 * coarser times, or a reader has changed the time) the error stands. So does it where the caller
 * has not said which file is moved.
 *
 * A look is one LOOKUP with the attributes, after such a failure only.
 */
#ifndef RNFS_NFSPROTO_NFS_UNSURE_H
#define RNFS_NFSPROTO_NFS_UNSURE_H

#include "nfsproto/nfs_op.h"

enum nfs_verdict {
	NFS_V_FAILED, /* the error stands */
	NFS_V_DONE,   /* the first call did what was asked */
	NFS_V_LOOK,   /* the name tells: nfs_unsure_place(), nfs_unsure_seen() */
};

/* Gives an NFS_CREATE its mark, unless it sets a time of access. Call before it is sent. */
void nfs_unsure_mark(struct nfs_op *op);
/* What is to be made of error, a negative errno, with which the unsure op has failed. */
enum nfs_verdict nfs_unsure_failed(const struct nfs_op *op, int error);
/* Where a look has to be taken, after NFS_V_LOOK. They point into op. */
void nfs_unsure_place(
	const struct nfs_op *op, const struct nfs_fh **dir, const struct nfs_name **name);
/* The name stands for fh, of attr: has op made it so? Then op's results are filled in. */
bool nfs_unsure_seen(struct nfs_op *op, const struct nfs_fh *fh, const struct nfs_attr *attr);

#endif
