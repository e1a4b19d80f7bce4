/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3: the numbers of NFS version 3 (RFC 1813 section 2), and the errno of each status.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS3_H
#define RNFS_NFSPROTO_WIRE_NFS3_H

#include <stdint.h>

#define NFS3_PROGRAM 100003
#define NFS3_VERSION 3

#define NFS3_FHSIZE	    64
#define NFS3_COOKIEVERFSIZE 8
#define NFS3_CREATEVERFSIZE 8
#define NFS3_WRITEVERFSIZE  8

#define NFS3_PROCEDURES(P)                                                                         \
	P(NFS3PROC_NULL, 0)                                                                        \
	P(NFS3PROC_GETATTR, 1)                                                                     \
	P(NFS3PROC_SETATTR, 2)                                                                     \
	P(NFS3PROC_LOOKUP, 3)                                                                      \
	P(NFS3PROC_ACCESS, 4)                                                                      \
	P(NFS3PROC_READLINK, 5)                                                                    \
	P(NFS3PROC_READ, 6)                                                                        \
	P(NFS3PROC_WRITE, 7)                                                                       \
	P(NFS3PROC_CREATE, 8)                                                                      \
	P(NFS3PROC_MKDIR, 9)                                                                       \
	P(NFS3PROC_SYMLINK, 10)                                                                    \
	P(NFS3PROC_MKNOD, 11)                                                                      \
	P(NFS3PROC_REMOVE, 12)                                                                     \
	P(NFS3PROC_RMDIR, 13)                                                                      \
	P(NFS3PROC_RENAME, 14)                                                                     \
	P(NFS3PROC_LINK, 15)                                                                       \
	P(NFS3PROC_READDIR, 16)                                                                    \
	P(NFS3PROC_READDIRPLUS, 17)                                                                \
	P(NFS3PROC_FSSTAT, 18)                                                                     \
	P(NFS3PROC_FSINFO, 19)                                                                     \
	P(NFS3PROC_PATHCONF, 20)                                                                   \
	P(NFS3PROC_COMMIT, 21)

#define NUMBER(proc, number) proc = number,
enum nfs3_proc { NFS3_PROCEDURES(NUMBER) NFS3_PROCS };
#undef NUMBER

/* The statuses, with the (positive) errno that a system call would return. */
#define NFS3_STATUSES(S)                                                                           \
	S(NFS3_OK, 0, 0)                                                                           \
	S(NFS3ERR_PERM, 1, EPERM)                                                                  \
	S(NFS3ERR_NOENT, 2, ENOENT)                                                                \
	S(NFS3ERR_IO, 5, EIO)                                                                      \
	S(NFS3ERR_NXIO, 6, ENXIO)                                                                  \
	S(NFS3ERR_ACCES, 13, EACCES)                                                               \
	S(NFS3ERR_EXIST, 17, EEXIST)                                                               \
	S(NFS3ERR_XDEV, 18, EXDEV)                                                                 \
	S(NFS3ERR_NODEV, 19, ENODEV)                                                               \
	S(NFS3ERR_NOTDIR, 20, ENOTDIR)                                                             \
	S(NFS3ERR_ISDIR, 21, EISDIR)                                                               \
	S(NFS3ERR_INVAL, 22, EINVAL)                                                               \
	S(NFS3ERR_FBIG, 27, EFBIG)                                                                 \
	S(NFS3ERR_NOSPC, 28, ENOSPC)                                                               \
	S(NFS3ERR_ROFS, 30, EROFS)                                                                 \
	S(NFS3ERR_MLINK, 31, EMLINK)                                                               \
	S(NFS3ERR_NAMETOOLONG, 63, ENAMETOOLONG)                                                   \
	S(NFS3ERR_NOTEMPTY, 66, ENOTEMPTY)                                                         \
	S(NFS3ERR_DQUOT, 69, EDQUOT)                                                               \
	S(NFS3ERR_STALE, 70, ESTALE)                                                               \
	S(NFS3ERR_REMOTE, 71, EREMOTE)                                                             \
	S(NFS3ERR_BADHANDLE, 10001, ESTALE)                                                        \
	S(NFS3ERR_NOT_SYNC, 10002, EIO)                                                            \
	S(NFS3ERR_BAD_COOKIE, 10003, EINVAL)                                                       \
	S(NFS3ERR_NOTSUPP, 10004, EOPNOTSUPP)                                                      \
	S(NFS3ERR_TOOSMALL, 10005, EREMOTEIO)                                                      \
	S(NFS3ERR_SERVERFAULT, 10006, EREMOTEIO)                                                   \
	S(NFS3ERR_BADTYPE, 10007, EINVAL)                                                          \
	S(NFS3ERR_JUKEBOX, 10008, EAGAIN)

#define NUMBER(status, number, err) status = number,
enum nfs3_status { NFS3_STATUSES(NUMBER) };
#undef NUMBER

/* File types are those of enum nfs_type. */

enum nfs3_createmode {
	NFS3_UNCHECKED = 0,
	NFS3_GUARDED = 1,
	NFS3_EXCLUSIVE = 2,
};

enum nfs3_time_how {
	NFS3_DONT_CHANGE = 0,
	NFS3_SET_TO_SERVER_TIME = 1,
	NFS3_SET_TO_CLIENT_TIME = 2,
};

/* FSINFO's properties */
#define NFS3_FSF_LINK	     0x0001u
#define NFS3_FSF_SYMLINK     0x0002u
#define NFS3_FSF_HOMOGENEOUS 0x0008u
#define NFS3_FSF_CANSETTIME  0x0010u

/* "NFS3ERR_NOENT"; "NFS3ERR_?" for a number the RFC does not have. */
const char *nfs3_status_name(uint32_t status);
/* 0, or the negative errno that a system call would give; -EREMOTEIO if there is none. JUKEBOX is
 * -EAGAIN: a caller that can wait tries again. */
int nfs3_status_errno(uint32_t status);
/* "GETATTR"; "?" for a number the RFC does not have. */
const char *nfs3_proc_name(uint32_t proc);

#endif
