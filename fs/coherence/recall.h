/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * recall: the server's requests for a file that is delegated to this mount to write: for the
 * present size and change attribute, and for the delegation (deleg.h).
 */
#ifndef RNFS_FS_COHERENCE_RECALL_H
#define RNFS_FS_COHERENCE_RECALL_H

#include "fs/known/fs.h"

/* The upcalls `flush` and `inquired` of struct nfs_client_upcalls. */
bool recall_flush(struct fs *fs, const struct nfs_fh *fh, uint64_t id);
bool recall_inquired(
	struct fs *fs, const struct nfs_fh *fh, uint64_t *size, uint64_t *change, bool *modified);

#endif
