/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * upcall: events that the NFS client reports unasked (nfs_client_upcalls), and the file system's
 * reaction.
 *
 *     recalled, lost   another client may have changed the file: the kernel's attributes are
 *                      invalidated
 *     flush, inquired  the server asks about a file that is delegated to write (recall.h)
 *     attributes       handled as if an answer had brought them (change.h)
 *     connection       the log says that the server does not answer, and later that the server
 *                      answers again
 */
#ifndef RNFS_FS_PROGRAM_UPCALL_H
#define RNFS_FS_PROGRAM_UPCALL_H

#include "nfsproto/nfs_client.h"

/* ctx: the struct fs. Before the first file is opened only fs.opt need be set. */
extern const struct nfs_client_upcalls upcalls;

#endif
