/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountinfo: finds where a file system is mounted below the root.
 *
 * A client may send a handle of an earlier run before any request has passed the mount point
 * (submount.h). Then the kernel's list of mounts gives the path. The server follows the path
 * through the table, name by name, as it follows every other.
 */
#ifndef RNFS_SERVE_EXPORT_MOUNTINFO_H
#define RNFS_SERVE_EXPORT_MOUNTINFO_H

#include "contrib/serve/export/obj_table.h"

/* A descriptor for open_by_handle_at() on the file system dev (as in handle_id), or -1. The
 * descriptor stays the table's. Call with the server's own identity. */
int mountinfo_fd(struct obj_table *t, uint64_t dev);

#endif
