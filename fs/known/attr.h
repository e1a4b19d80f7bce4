/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attr: attributes in three forms: of the server, of stat(2), and of setattr.
 */
#ifndef RNFS_FS_KNOWN_ATTR_H
#define RNFS_FS_KNOWN_ATTR_H

#include <sys/stat.h>

#include "nfsproto/nfs_client.h"

/* S_IFREG and so on; 0 for an unknown type. */
mode_t attr_type_mode(enum nfs_type type);
/* The reverse of attr_type_mode(); 0 for a mode without a file type. */
enum nfs_type attr_mode_type(mode_t mode);

void attr_to_stat(const struct nfs_attr *a, struct stat *st);

/* Converts FUSE_SET_ATTR_* and the values in st to the attributes of a SETATTR. Never fails: bits
 * without a meaning for NFS (ctime) are left out, so the mask may come out empty. */
void attr_from_setattr(const struct stat *st, int to_set, struct nfs_sattr *out);

#endif
