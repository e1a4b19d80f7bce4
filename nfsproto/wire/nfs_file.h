/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_file: a file of any type, in the terms of every NFS version: handle, name, attributes, entry
 * in a directory.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS_FILE_H
#define RNFS_NFSPROTO_WIRE_NFS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define NFS_FH_MAX   128
#define NFS_NAME_MAX 255
#define NFS_PATH_MAX 4096

struct nfs_fh {
	uint32_t len; /* 1..NFS_FH_MAX */
	uint8_t data[NFS_FH_MAX];
	/* The server that knows the handle. 0: the mount's own, otherwise a referral's
	 * (nfs_submount.h). Not on the wire: a decoder leaves 0. */
	uint16_t server;
};

/* Are both the same handle of one server? For callers that know one server only. */
static inline bool nfs_fh_equal(const struct nfs_fh *a, const struct nfs_fh *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* Do both name one file, of any server of the mount? */
static inline bool nfs_fh_same(const struct nfs_fh *a, const struct nfs_fh *b)
{
	return a->server == b->server && nfs_fh_equal(a, b);
}

/* Names are not terminated strings: pointer and length, 1..NFS_NAME_MAX (longer: -ENAMETOOLONG). */
struct nfs_name {
	const char *s;
	uint32_t len;
};

enum nfs_type { /* numbered as ftype3 and nfs_ftype4 */
	NFS_REG = 1,
	NFS_DIR = 2,
	NFS_BLK = 3,
	NFS_CHR = 4,
	NFS_LNK = 5,
	NFS_SOCK = 6,
	NFS_FIFO = 7,
};

struct nfs_attr {
	enum nfs_type type;
	uint32_t mode; /* permission bits only, 07777 */
	uint32_t nlink;
	uint32_t uid, gid;
	uint32_t rdev_major, rdev_minor;
	uint64_t size, used; /* bytes */
	uint64_t fsid_major, fsid_minor;
	uint64_t fileid;
	uint64_t change; /* v4 change attribute; v3: made from ctime */
	struct timespec atime, mtime, ctime;
};

/* A file's attributes that come with an operation on its data. The caller uses these to tell
 * changes by this mount from changes by another client. A server need not send any.
 *
 * Over NFSv4 a GETATTR in the same COMPOUND brings the attributes: behind WRITE, COMMIT and CLOSE,
 * and in front of READ. Attributes a little older than the data are mended by the next answer;
 * newer ones would make old data count as new. Also, some servers send data without a copy only if
 * READ comes last. */
struct nfs_data_attr {
	bool have;	  /* the other fields are set, except those with a flag of their own */
	bool have_before; /* before_*: just before the operation (NFSv3; NFSv4 at an append) */
	bool counted; /* NFSv4.2: each change adds exactly one to change (RFC 7862 section 12.2.3)
		       */
	uint64_t change;
	uint64_t size, used; /* bytes */
	struct timespec atime, mtime, ctime;
	uint64_t before_change, before_size;
};

/* A directory's attributes that come with an operation on the names in it. */
struct nfs_dir_attr {
	bool have; /* the other fields are set: a server need not send any */
	/* attr is from before the operation (NFSv4's LOOKUP), otherwise from after it: a name may
	 * have been made or removed in between */
	bool before;
	struct nfs_attr attr;
};

#define NFS_SET_MODE	  (1u << 0)
#define NFS_SET_UID	  (1u << 1)
#define NFS_SET_GID	  (1u << 2)
#define NFS_SET_SIZE	  (1u << 3)
#define NFS_SET_ATIME	  (1u << 4)
#define NFS_SET_MTIME	  (1u << 5)
#define NFS_SET_ATIME_NOW (1u << 6) /* the server's clock */
#define NFS_SET_MTIME_NOW (1u << 7)
/* With NFS_SET_MODE, for a new object, in NFSv4.2 (RFC 8275). mode is as the program gave it. The
 * server removes the bits of umask unless the directory's default ACL says otherwise. */
#define NFS_SET_UMASK (1u << 8)

struct nfs_sattr {
	uint32_t mask; /* NFS_SET_* */
	uint32_t mode, uid, gid, umask;
	uint64_t size;
	struct timespec atime, mtime;
};

struct nfs_fsstat {
	uint64_t tbytes, fbytes, abytes; /* total, free, free for ordinary users */
	uint64_t tfiles, ffiles, afiles;
	uint32_t name_max;
};

/* How safe written data is. */
enum nfs_stable { NFS_UNSTABLE = 0, NFS_DATA_SYNC = 1, NFS_FILE_SYNC = 2 };

#define NFS_VERF_SIZE 8

/* One directory entry as a readdir callback sees it; valid during the callback. */
struct nfs_dirent {
	const char *name; /* not terminated */
	uint32_t namelen; /* 1..NFS_NAME_MAX, no '/', no NUL, not "." or ".." */
	uint64_t fileid;
	uint64_t cookie;
	bool have_attr, have_fh;
	struct nfs_attr attr;
	struct nfs_fh fh;
};

/* numbered as ACCESS3_ and ACCESS4_ */
#define NFS_ACCESS_READ	   0x01u
#define NFS_ACCESS_LOOKUP  0x02u
#define NFS_ACCESS_MODIFY  0x04u
#define NFS_ACCESS_EXTEND  0x08u
#define NFS_ACCESS_DELETE  0x10u
#define NFS_ACCESS_EXECUTE 0x20u

#endif
