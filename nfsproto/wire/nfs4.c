/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4: names of the protocol's numbers, and the way between its statuses and errno.
 *
 * One table has for each status the name and the errno that a system call would return. The
 * server's direction is a second, shorter table, since several statuses share an errno.
 */
#include "nfsproto/wire/nfs4.h"

#include <errno.h>
#include <stddef.h>

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

struct status {
	uint32_t status;
	int err; /* positive */
	const char *name;
};

#define ROW(status, number, err) {status, err, #status},
static const struct status statuses[] = {NFS4_STATUSES(ROW)};
#undef ROW

/* By bisection: the table is in ascending order (asserted by the unit test). */
static const struct status *find(uint32_t status)
{
	size_t lo = 0, hi = N_OF(statuses);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (statuses[mid].status == status)
			return &statuses[mid];
		if (statuses[mid].status < status)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const char *nfs4_status_name(uint32_t status)
{
	const struct status *s = find(status);

	return s ? s->name : "NFS4ERR_?";
}

int nfs4_status_errno(uint32_t status)
{
	const struct status *s;

	if (status == NFS4_OK)
		return 0;
	s = find(status);
	return s ? -s->err : -EREMOTEIO;
}

uint32_t nfs4_errno_status(int err)
{
	static const struct {
		int err;
		uint32_t status;
	} map[] = {
		{0, NFS4_OK},
		{EPERM, NFS4ERR_PERM},
		{ENOENT, NFS4ERR_NOENT},
		{EIO, NFS4ERR_IO},
		{ENXIO, NFS4ERR_NXIO},
		{ENODEV, NFS4ERR_NXIO},
		{EACCES, NFS4ERR_ACCESS},
		{EEXIST, NFS4ERR_EXIST},
		{EXDEV, NFS4ERR_XDEV},
		{ENOTDIR, NFS4ERR_NOTDIR},
		{EISDIR, NFS4ERR_ISDIR},
		{EINVAL, NFS4ERR_INVAL},
		{EFBIG, NFS4ERR_FBIG},
		{EOVERFLOW, NFS4ERR_FBIG},
		{ENOSPC, NFS4ERR_NOSPC},
		{EROFS, NFS4ERR_ROFS},
		{EMLINK, NFS4ERR_MLINK},
		{ENAMETOOLONG, NFS4ERR_NAMETOOLONG},
		{ENOTEMPTY, NFS4ERR_NOTEMPTY},
		{EDQUOT, NFS4ERR_DQUOT},
		{ESTALE, NFS4ERR_STALE},
		{ELOOP, NFS4ERR_SYMLINK},
		{EOPNOTSUPP, NFS4ERR_NOTSUPP},
		{ENOSYS, NFS4ERR_NOTSUPP},
		{EBUSY, NFS4ERR_FILE_OPEN},
		{ETXTBSY, NFS4ERR_ACCESS},
		{EAGAIN, NFS4ERR_DELAY},
		{ENOMEM, NFS4ERR_DELAY},
		{EMFILE, NFS4ERR_DELAY},
		{ENFILE, NFS4ERR_DELAY},
		{EDEADLK, NFS4ERR_DEADLOCK},
		{EBADMSG, NFS4ERR_BADXDR},
		{ENODATA, NFS4ERR_NOXATTR},
		{E2BIG, NFS4ERR_XATTR2BIG},
	};

	if (err < 0)
		err = -err;
	for (size_t i = 0; i < N_OF(map); i++)
		if (map[i].err == err)
			return map[i].status;
	return NFS4ERR_SERVERFAULT;
}

const char *nfs4_op_name(uint32_t op)
{
#define NAME(op, ...) [op] = &#op[sizeof("OP_") - 1],
	static const char *const names[] = {NFS4_OPS(NAME, NAME, NAME)};
#undef NAME

	if (op == OP_ILLEGAL)
		return "ILLEGAL";
	return op < N_OF(names) && names[op] ? names[op] : "?";
}

const char *nfs4_cb_op_name(uint32_t op)
{
#define NAME(op, ...) [op] = &#op[sizeof("OP_") - 1],
	static const char *const names[] = {NFS4_CALLBACKS(NAME, NAME, NAME)};
#undef NAME

	if (op == OP_CB_ILLEGAL)
		return "CB_ILLEGAL";
	return op < N_OF(names) && names[op] ? names[op] : "?";
}
