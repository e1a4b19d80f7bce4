/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * gone: identities of objects that are gone. One list has removed objects, another has objects that
 * a sweep of the whole directory has not found (seek.h). Each identity has one place in a list, by
 * a checksum, and a later identity may take the place. So an object without an entry may be gone
 * too. Any thread; no lock.
 */
#ifndef RNFS_SERVE_EXPORT_GONE_H
#define RNFS_SERVE_EXPORT_GONE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "contrib/serve/export/handle.h"

#define GONE_MAX 4096

struct gone {
	_Atomic uint64_t sum[GONE_MAX]; /* 0: none */
};

/* An identity that does not last (handle_id_lasts()) is not remembered. */
void gone_add(struct gone *g, const uint8_t key[HANDLE_KEY], const struct handle_id *id);
/* Empties the list. */
void gone_clear(struct gone *g);
bool gone_has(const struct gone *g, const uint8_t key[HANDLE_KEY], const struct handle_id *id);

#endif
