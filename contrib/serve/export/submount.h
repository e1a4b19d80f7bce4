/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * submount: descriptors of the file systems mounted below the root. open_by_handle_at() needs a
 * descriptor on the file system of the handle. The table keeps one descriptor for each file system,
 * from the first request that passes the mount point.
 */
#ifndef RNFS_SERVE_EXPORT_SUBMOUNT_H
#define RNFS_SERVE_EXPORT_SUBMOUNT_H

#include "contrib/serve/export/obj_table.h"

/* The directory fd lies on the file system dev (as in handle_id). fd is only read. */
void submount_note(struct obj_table *t, uint64_t dev, int fd);
/* The descriptor kept for dev, or -1. The table owns the descriptor. */
int submount_fd(struct obj_table *t, uint64_t dev);

#endif
