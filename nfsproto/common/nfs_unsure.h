/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_unsure: an operation that was sent twice, and failed the second time.
 *
 * The connection was lost before the answer came, and the server restarted and lost its reply
 * cache. So the server executes the second call as a new one. The first call may have been
 * executed. Then REMOVE and RENAME find the name gone, and CREATE and LINK find the name taken.
 * Such an operation is called unsure, and its failure is judged by the name:
 *
 *     REMOVE       the name is gone, as the caller wanted: done
 *     REMOVEXATTR  likewise
 *     RENAME       a look: does the new name stand for the file that was moved?
 *     LINK         a look: does the new name stand for the file that was linked?
 *     CREATE       a look: does the name stand for an object with this call's mark?
 *
 * The mark is the access time that CREATE sets: this machine's clock in nanoseconds. A program that
 * uses mkdir() as a lock must not be told that it made another client's directory, and no other
 * sign tells the two apart. If the mark is missing (the server keeps coarser times, or a reader has
 * changed the time), the error stands. The error also stands if the caller has not said which file
 * is moved.
 *
 * A look is one LOOKUP with the attributes, after such a failure only.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_UNSURE_H
#define RNFS_NFSPROTO_COMMON_NFS_UNSURE_H

#include "nfsproto/common/nfs_op.h"

enum nfs_verdict {
	NFS_V_FAILED, /* the error stands */
	NFS_V_DONE,   /* the first call had the wanted effect */
	NFS_V_LOOK,   /* the name tells: nfs_unsure_place(), nfs_unsure_seen() */
};

/* Gives an NFS_CREATE its mark, unless the op sets an access time itself. Call before the op is
 * sent. */
void nfs_unsure_mark(struct nfs_op *op);
/* The verdict on an unsure op that has failed with error, a negative errno. */
enum nfs_verdict nfs_unsure_failed(const struct nfs_op *op, int error);
/* The place for a look, after NFS_V_LOOK. The results point into op. */
void nfs_unsure_place(
	const struct nfs_op *op, const struct nfs_fh **dir, const struct nfs_name **name);
/* The name stands for fh with attr. True if op has made it so; then op's results are filled in. */
bool nfs_unsure_seen(struct nfs_op *op, const struct nfs_fh *fh, const struct nfs_attr *attr);

#endif
