/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names_record: the names of a mount for a successor (record.h).
 */
#ifndef RNFS_FS_KNOWN_NAMES_RECORD_H
#define RNFS_FS_KNOWN_NAMES_RECORD_H

#include "fs/known/names.h"
#include "transport/rpc/xdr.h"

/* No request is under way. */
void names_put_record(struct names *n, struct xdr_out *x);
/* n has no names, and t has the inodes of the record. On failure x is bad; false: no memory. */
bool names_get_record(struct names *n, struct inode_table *t, struct xdr_in *x);

#endif
