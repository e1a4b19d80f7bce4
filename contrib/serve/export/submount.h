/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * submount: the file systems mounted below the root, as far as open_by_handle_at() needs them: it
 * asks for a descriptor on the file system that the handle is of. One is kept from the first time
 * that somebody comes by where it is mounted.
 */
#ifndef RNFS_SERVE_EXPORT_SUBMOUNT_H
#define RNFS_SERVE_EXPORT_SUBMOUNT_H

#include "contrib/serve/export/obj_table.h"

/* fd, of a directory, leads to the file system dev (as in handle_id); it is only read. */
void submount_note(struct obj_table *t, uint64_t dev, int fd);
/* The descriptor kept for dev, which stays the table's; or -1. */
int submount_fd(struct obj_table *t, uint64_t dev);

#endif
