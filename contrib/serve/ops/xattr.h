/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xattr: extended attributes for users (RFC 8276). On this machine the attributes are in the
 * "user." namespace. Clients use names without that prefix, and cannot reach any other namespace.
 *
 * Linux has user attributes of regular files and directories only. Functions that return an int
 * give 0 or -errno: -ENODATA: there is no attribute of that name; -EOPNOTSUPP: the file system has
 * no attributes, or the object is of another type; -E2BIG: too big for the file system.
 */
#ifndef RNFS_SERVE_OPS_XATTR_H
#define RNFS_SERVE_OPS_XATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "contrib/serve/export/object.h"
#include "nfsproto/wire/nfs_file.h"

#define XATTR_VALUE_MAX 65536 /* bytes of a value, and of all names together */

struct xattr_list {
	char *names; /* malloc'ed: len bytes of the kernel's list, each name with a NUL behind it */
	size_t len;
	size_t pos; /* xattr_next()'s */
};

/* Does the file system of o have user attributes? o is a regular file or directory. */
bool xattr_supported(const struct obj *o);
/* The status for a name, an error if it is invalid: empty, too long, or with a NUL. */
uint32_t xattr_name_status(const struct nfs_name *name);

/* Reads the value into buf, with room for XATTR_VALUE_MAX bytes. Returns the number of bytes, or
 * -errno. */
ssize_t xattr_get(const struct obj *o, const struct nfs_name *name, void *buf);
/* flags: XATTR_CREATE (-EEXIST), XATTR_REPLACE (-ENODATA), or 0. */
int xattr_set(
	const struct obj *o, const struct nfs_name *name, const void *value, size_t len, int flags);
int xattr_remove(const struct obj *o, const struct nfs_name *name);
/* Reads all names; xattr_list_finish() must follow in any case. */
int xattr_list(const struct obj *o, struct xattr_list *l);
void xattr_list_finish(struct xattr_list *l);
/* The next user attribute's name, without "user."; false: no more. */
bool xattr_next(struct xattr_list *l, struct nfs_name *name);

#endif
