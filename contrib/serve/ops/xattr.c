/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xattr: extended attributes of objects that belong to users.
 */
#include "contrib/serve/ops/xattr.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "nfsproto/wire/nfs4.h"

#define PREFIX	   "user."
#define PREFIX_LEN (sizeof(PREFIX) - 1)
#define NAME_MAX_  255 /* XATTR_NAME_MAX, the prefix included */

/* A name with the prefix, for the kernel. */
struct full_name {
	char s[NAME_MAX_ + 1];
};

static bool can_have(const struct obj *o)
{
	return S_ISREG(o->type) || S_ISDIR(o->type);
}

bool xattr_supported(const struct obj *o)
{
	char path[OBJ_PATH_SIZE];
	bool yes;

	if (!can_have(o))
		return false;
	ident_suspend(); /* the caller needs no permission to read */
	yes = getxattr(obj_path(o, path), PREFIX "rnfs", NULL, 0) >= 0 || errno != EOPNOTSUPP;
	ident_resume();
	return yes;
}

uint32_t xattr_name_status(const struct nfs_name *name)
{
	if (name->len == 0)
		return NFS4ERR_INVAL;
	if (name->len > NAME_MAX_ - PREFIX_LEN)
		return NFS4ERR_NAMETOOLONG;
	return memchr(name->s, '\0', name->len) ? NFS4ERR_BADCHAR : NFS4_OK;
}

/* The server's own attribute, not a user's. */
static bool is_ours(const char *name, size_t len)
{
	return len == strlen(FENCE_NAME) && memcmp(name, FENCE_NAME, len) == 0;
}

static int full(const struct obj *o, const struct nfs_name *name, struct full_name *out)
{
	if (!can_have(o))
		return -EOPNOTSUPP;
	if (xattr_name_status(name) != NFS4_OK)
		return -EINVAL;
	if (is_ours(name->s, name->len))
		return -EPERM;
	snprintf(out->s, sizeof(out->s), PREFIX "%.*s", (int)name->len, name->s);
	return 0;
}

ssize_t xattr_get(const struct obj *o, const struct nfs_name *name, void *buf)
{
	char path[OBJ_PATH_SIZE];
	struct full_name f;
	int r = full(o, name, &f);
	ssize_t n;

	if (r < 0)
		return r;
	n = getxattr(obj_path(o, path), f.s, buf, XATTR_VALUE_MAX);
	return n < 0 ? -errno : n;
}

int xattr_set(
	const struct obj *o, const struct nfs_name *name, const void *value, size_t len, int flags)
{
	char path[OBJ_PATH_SIZE];
	struct full_name f;
	int r = full(o, name, &f);

	if (r < 0)
		return r;
	if (len > XATTR_VALUE_MAX)
		return -E2BIG;
	if (setxattr(obj_path(o, path), f.s, value, len, flags) == 0)
		return 0;
	/* a file system with room only for small values reports ENOSPC or ERANGE for a big one */
	if (errno == ERANGE || (errno == ENOSPC && len > 1024))
		return -E2BIG;
	return -errno;
}

int xattr_remove(const struct obj *o, const struct nfs_name *name)
{
	char path[OBJ_PATH_SIZE];
	struct full_name f;
	int r = full(o, name, &f);

	if (r == 0 && removexattr(obj_path(o, path), f.s) != 0)
		r = -errno;
	return r;
}

int xattr_list(const struct obj *o, struct xattr_list *l)
{
	char path[OBJ_PATH_SIZE];
	ssize_t n;

	*l = (struct xattr_list){0};
	if (!can_have(o))
		return -EOPNOTSUPP;
	l->names = malloc(XATTR_VALUE_MAX);
	if (!l->names)
		return -ENOMEM;
	n = listxattr(obj_path(o, path), l->names, XATTR_VALUE_MAX);
	if (n < 0)
		return errno == ERANGE ? -E2BIG : -errno;
	l->len = (size_t)n;
	return 0;
}

void xattr_list_finish(struct xattr_list *l)
{
	free(l->names);
	l->names = NULL;
}

bool xattr_next(struct xattr_list *l, struct nfs_name *name)
{
	while (l->pos < l->len) {
		const char *s = l->names + l->pos;
		size_t n = strnlen(s, l->len - l->pos);

		l->pos += n + 1;
		if (n <= PREFIX_LEN || strncmp(s, PREFIX, PREFIX_LEN) != 0 ||
			is_ours(s + PREFIX_LEN, n - PREFIX_LEN))
			continue;
		name->s = s + PREFIX_LEN;
		name->len = (uint32_t)(n - PREFIX_LEN);
		return true;
	}
	return false;
}
