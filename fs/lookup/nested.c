/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nested: comparing directories of this machine with the root of a mount.
 */
#include "fs/lookup/nested.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The number that the bundled server gives to the file system of its directory. File systems below
 * have the numbers of their devices: contrib/serve/ops/attr.c. */
#define FSID 0x726e6673u

static bool is_same(const char *dir, const struct nfs_attr *root)
{
	struct statx st;

	if (statx(AT_FDCWD, dir, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO | STATX_CTIME,
		    &st))
		return false;
	if (root->fsid_major != FSID &&
		(root->fsid_major != st.stx_dev_major || root->fsid_minor != st.stx_dev_minor))
		return false;
	return st.stx_ino == root->fileid && st.stx_ctime.tv_sec == root->ctime.tv_sec &&
	       st.stx_ctime.tv_nsec == root->ctime.tv_nsec;
}

int nested_check(
	const char *mountpoint, const char *source, const struct nfs_attr *root, struct err *e)
{
	char dir[PATH_MAX];
	char *slash;

	if (mountpoint[0] != '/')
		return 0;
	snprintf(dir, sizeof(dir), "%s", mountpoint);
	while (dir[1] && (slash = strrchr(dir, '/'))) {
		slash[slash == dir] = 0;
		if (is_same(dir, root))
			return err_set(e, ERR_INTERNAL,
				"mount point %.150s lies in %.150s, which this server exports as "
				"%.100s: the server would wait for this mount, and this mount for "
				"the server; give a directory outside of %.150s",
				mountpoint, dir, source, dir);
	}
	return 0;
}
