/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fdcache: descriptors for the READs and WRITEs of NFSv3, which knows no open files.
 *
 * A descriptor is kept for later calls, until the descriptor has been idle or the file is removed.
 * The reason is not only speed. A client that has made a file with mode 0444 goes on writing the
 * file (RFC 1813 section 4.4). A server that is not root could not open such a file a second time.
 *
 * A descriptor says nothing about permission: the caller of this module checks permission first.
 */
#ifndef RNFS_SERVE_EXPORT_FDCACHE_H
#define RNFS_SERVE_EXPORT_FDCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "contrib/serve/export/object.h"

struct fdcache;
struct fdcache_use; /* a descriptor in use */

/* Keeps at most max unused descriptors. */
struct fdcache *fdcache_new(struct obj_table *t, unsigned max);
/* No descriptor may be in use. Accepts NULL, returns NULL. */
struct fdcache *fdcache_free(struct fdcache *fc);
/* Finds a kept descriptor of o for reading, or for writing. *fd is valid until fdcache_put(). NULL:
 * none. */
struct fdcache_use *fdcache_get(struct fdcache *fc, struct obj *o, bool write, int *fd);
/* Hands over fd, opened for reading and/or writing o. In use until fdcache_put(). NULL without
 * memory; fd is then closed. */
struct fdcache_use *fdcache_add(struct fdcache *fc, struct obj *o, int fd, bool read, bool write);
void fdcache_put(struct fdcache *fc, struct fdcache_use *u);
/* o was removed: closes each descriptor of o as soon as no call uses it. fc may be NULL. */
void fdcache_drop(struct fdcache *fc, const struct obj *o);
/* Closes descriptors that have been idle for longer than idle_ns. */
void fdcache_age(struct fdcache *fc, uint64_t idle_ns);

#endif
