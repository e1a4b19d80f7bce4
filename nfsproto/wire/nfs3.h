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

enum nfs3_proc {
	NFS3PROC_NULL = 0,
	NFS3PROC_GETATTR = 1,
	NFS3PROC_SETATTR = 2,
	NFS3PROC_LOOKUP = 3,
	NFS3PROC_ACCESS = 4,
	NFS3PROC_READLINK = 5,
	NFS3PROC_READ = 6,
	NFS3PROC_WRITE = 7,
	NFS3PROC_CREATE = 8,
	NFS3PROC_MKDIR = 9,
	NFS3PROC_SYMLINK = 10,
	NFS3PROC_MKNOD = 11,
	NFS3PROC_REMOVE = 12,
	NFS3PROC_RMDIR = 13,
	NFS3PROC_RENAME = 14,
	NFS3PROC_LINK = 15,
	NFS3PROC_READDIR = 16,
	NFS3PROC_READDIRPLUS = 17,
	NFS3PROC_FSSTAT = 18,
	NFS3PROC_FSINFO = 19,
	NFS3PROC_PATHCONF = 20,
	NFS3PROC_COMMIT = 21,
	NFS3_PROCS
};

enum nfs3_status {
	NFS3_OK = 0,
	NFS3ERR_PERM = 1,
	NFS3ERR_NOENT = 2,
	NFS3ERR_IO = 5,
	NFS3ERR_NXIO = 6,
	NFS3ERR_ACCES = 13,
	NFS3ERR_EXIST = 17,
	NFS3ERR_XDEV = 18,
	NFS3ERR_NODEV = 19,
	NFS3ERR_NOTDIR = 20,
	NFS3ERR_ISDIR = 21,
	NFS3ERR_INVAL = 22,
	NFS3ERR_FBIG = 27,
	NFS3ERR_NOSPC = 28,
	NFS3ERR_ROFS = 30,
	NFS3ERR_MLINK = 31,
	NFS3ERR_NAMETOOLONG = 63,
	NFS3ERR_NOTEMPTY = 66,
	NFS3ERR_DQUOT = 69,
	NFS3ERR_STALE = 70,
	NFS3ERR_REMOTE = 71,
	NFS3ERR_BADHANDLE = 10001,
	NFS3ERR_NOT_SYNC = 10002,
	NFS3ERR_BAD_COOKIE = 10003,
	NFS3ERR_NOTSUPP = 10004,
	NFS3ERR_TOOSMALL = 10005,
	NFS3ERR_SERVERFAULT = 10006,
	NFS3ERR_BADTYPE = 10007,
	NFS3ERR_JUKEBOX = 10008,
};

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
