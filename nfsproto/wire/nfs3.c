/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3: names of NFSv3's procedures and statuses, and statuses as errno.
 */
#include "nfsproto/wire/nfs3.h"

#include <errno.h>
#include <stddef.h>

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* An errno with several statuses goes out as the first of these statuses. */
static const struct status {
	uint32_t status;
	int err;
	const char *name;
} statuses[] = {
	{NFS3_OK, 0, "NFS3_OK"},
	{NFS3ERR_PERM, EPERM, "NFS3ERR_PERM"},
	{NFS3ERR_NOENT, ENOENT, "NFS3ERR_NOENT"},
	{NFS3ERR_IO, EIO, "NFS3ERR_IO"},
	{NFS3ERR_NXIO, ENXIO, "NFS3ERR_NXIO"},
	{NFS3ERR_ACCES, EACCES, "NFS3ERR_ACCES"},
	{NFS3ERR_EXIST, EEXIST, "NFS3ERR_EXIST"},
	{NFS3ERR_XDEV, EXDEV, "NFS3ERR_XDEV"},
	{NFS3ERR_NODEV, ENODEV, "NFS3ERR_NODEV"},
	{NFS3ERR_NOTDIR, ENOTDIR, "NFS3ERR_NOTDIR"},
	{NFS3ERR_ISDIR, EISDIR, "NFS3ERR_ISDIR"},
	{NFS3ERR_INVAL, EINVAL, "NFS3ERR_INVAL"},
	{NFS3ERR_FBIG, EFBIG, "NFS3ERR_FBIG"},
	{NFS3ERR_NOSPC, ENOSPC, "NFS3ERR_NOSPC"},
	{NFS3ERR_ROFS, EROFS, "NFS3ERR_ROFS"},
	{NFS3ERR_MLINK, EMLINK, "NFS3ERR_MLINK"},
	{NFS3ERR_NAMETOOLONG, ENAMETOOLONG, "NFS3ERR_NAMETOOLONG"},
	{NFS3ERR_NOTEMPTY, ENOTEMPTY, "NFS3ERR_NOTEMPTY"},
	{NFS3ERR_DQUOT, EDQUOT, "NFS3ERR_DQUOT"},
	{NFS3ERR_STALE, ESTALE, "NFS3ERR_STALE"},
	{NFS3ERR_REMOTE, EREMOTE, "NFS3ERR_REMOTE"},
	{NFS3ERR_BADHANDLE, ESTALE, "NFS3ERR_BADHANDLE"},
	{NFS3ERR_NOT_SYNC, EIO, "NFS3ERR_NOT_SYNC"},
	{NFS3ERR_BAD_COOKIE, EINVAL, "NFS3ERR_BAD_COOKIE"},
	{NFS3ERR_NOTSUPP, EOPNOTSUPP, "NFS3ERR_NOTSUPP"},
	{NFS3ERR_TOOSMALL, EREMOTEIO, "NFS3ERR_TOOSMALL"},
	{NFS3ERR_SERVERFAULT, EREMOTEIO, "NFS3ERR_SERVERFAULT"},
	{NFS3ERR_BADTYPE, EINVAL, "NFS3ERR_BADTYPE"},
	{NFS3ERR_JUKEBOX, EAGAIN, "NFS3ERR_JUKEBOX"},
};

static const struct status *find(uint32_t status)
{
	for (size_t i = 0; i < N_OF(statuses); i++)
		if (statuses[i].status == status)
			return &statuses[i];
	return NULL;
}

const char *nfs3_status_name(uint32_t status)
{
	const struct status *s = find(status);

	return s ? s->name : "NFS3ERR_?";
}

int nfs3_status_errno(uint32_t status)
{
	const struct status *s = find(status);

	return s ? -s->err : -EREMOTEIO;
}

const char *nfs3_proc_name(uint32_t proc)
{
	static const char *const names[NFS3_PROCS] = {
		[NFS3PROC_NULL] = "NULL",
		[NFS3PROC_GETATTR] = "GETATTR",
		[NFS3PROC_SETATTR] = "SETATTR",
		[NFS3PROC_LOOKUP] = "LOOKUP",
		[NFS3PROC_ACCESS] = "ACCESS",
		[NFS3PROC_READLINK] = "READLINK",
		[NFS3PROC_READ] = "READ",
		[NFS3PROC_WRITE] = "WRITE",
		[NFS3PROC_CREATE] = "CREATE",
		[NFS3PROC_MKDIR] = "MKDIR",
		[NFS3PROC_SYMLINK] = "SYMLINK",
		[NFS3PROC_MKNOD] = "MKNOD",
		[NFS3PROC_REMOVE] = "REMOVE",
		[NFS3PROC_RMDIR] = "RMDIR",
		[NFS3PROC_RENAME] = "RENAME",
		[NFS3PROC_LINK] = "LINK",
		[NFS3PROC_READDIR] = "READDIR",
		[NFS3PROC_READDIRPLUS] = "READDIRPLUS",
		[NFS3PROC_FSSTAT] = "FSSTAT",
		[NFS3PROC_FSINFO] = "FSINFO",
		[NFS3PROC_PATHCONF] = "PATHCONF",
		[NFS3PROC_COMMIT] = "COMMIT",
	};

	return proc < NFS3_PROCS ? names[proc] : "?";
}
