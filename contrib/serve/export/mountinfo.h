/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountinfo: finds where a file system is mounted below the root. A handle of an earlier run may
 * come before anybody has come by that place (submount.h): then the kernel's list of mounts says
 * where to go, and the way there leads through the table, name by name, as every other.
 */
#ifndef RNFS_SERVE_EXPORT_MOUNTINFO_H
#define RNFS_SERVE_EXPORT_MOUNTINFO_H

#include "contrib/serve/export/obj_table.h"

/* A descriptor for open_by_handle_at() on the file system dev (as in handle_id), which stays the
 * table's; or -1. With the server's own identity. */
int mountinfo_fd(struct obj_table *t, uint64_t dev);

#endif
