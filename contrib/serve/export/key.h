/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * key: the secret that seals file handles. It is kept in a file of mode 0600 so that handles are
 * still good after a restart.
 */
#ifndef RNFS_SERVE_EXPORT_KEY_H
#define RNFS_SERVE_EXPORT_KEY_H

#include "contrib/serve/export/handle.h"
#include "transport/err.h"

/* Reads the key from path, or makes one there. dir (PATH_MAX bytes) receives the directory that the
 * key is kept in, or "" if it is kept nowhere. path NULL: the default place (state_dir.h); if that
 * cannot be used, a key for this run alone. 0; or -1 with *e set, when a path was given that cannot
 * be used. */
int key_load(const char *path, uint8_t key[HANDLE_KEY], char *dir, struct err *e);

#endif
