/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * by_handle: finds objects by a client's handle: obj_by_handle() and the other functions of
 * object.h on handles.
 */
#ifndef RNFS_SERVE_EXPORT_BY_HANDLE_H
#define RNFS_SERVE_EXPORT_BY_HANDLE_H

#include "contrib/serve/export/obj_table.h"

/* Does this process have the privilege for open_by_handle_at()? root is the root's identity. */
bool by_handle_allowed(struct obj_table *t, const struct handle_id *root);

#endif
