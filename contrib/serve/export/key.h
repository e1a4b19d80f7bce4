/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * key: the secret that seals file handles. A file of mode 0600 keeps the key, so that handles are
 * still good after a restart.
 */
#ifndef RNFS_SERVE_EXPORT_KEY_H
#define RNFS_SERVE_EXPORT_KEY_H

#include "contrib/serve/export/handle.h"
#include "transport/err.h"

/* Reads the key from path, or makes one there. path NULL: the default place (state_dir.h), or, if
 * the default place cannot be used, a key for this run alone. dir (PATH_MAX bytes) receives the
 * directory with the key, or "" if the key is not kept. 0; or -1 with *e set: the given path cannot
 * be used. */
int key_load(const char *path, uint8_t key[HANDLE_KEY], char *dir, struct err *e);

#endif
