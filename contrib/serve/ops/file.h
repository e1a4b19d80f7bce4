/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file: regular files for every version of NFS: finds or makes files by name, and reads and writes
 * data.
 *
 * The call that makes a file also opens the file, so that the mode does not shut out the maker (a
 * new read-only file must be writable once). An exclusive create stores its verifier in the new
 * file's access and modification time. A retry finds the verifier in the times, also after a
 * restart. The file gets the verifier, and all other attributes, before the name. On a file system
 * without unnamed files (O_TMPFILE), the file is called ".rnfs-" and a number until then. A crash
 * may leave such a file behind.
 *
 * Data is never copied here. Reads fill the memory from which the transport sends; writes take the
 * memory into which the transport has received. Statuses are those of NFSv4.
 */
#ifndef RNFS_SERVE_OPS_FILE_H
#define RNFS_SERVE_OPS_FILE_H

#include <sys/types.h>

#include "contrib/serve/export/object.h"
#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/rpc.h"

struct serve;
struct stable_set;

enum file_how {
	FILE_EXISTING,	/* the file must exist */
	FILE_UNCHECKED, /* makes the file if there is none */
	FILE_GUARDED,	/* makes the file; NFS4ERR_EXIST if there is one */
	FILE_EXCLUSIVE, /* the same, unless the same request has made the file before: verf */
};

struct file_open {
	enum file_how how;
	uint8_t verf[NFS_VERF_SIZE]; /* FILE_EXCLUSIVE */
	/* In: the attributes of a new file. Out, if the file existed: the attributes that the
	 * caller has to set: size 0, or none (RFC 8881 section 18.16.3, RFC 1813 section 3.3.8). */
	struct nfs_sattr set;
	/* out. The caller releases o and fd, also after a failure */
	struct obj *o; /* referenced or NULL */
	int fd;	       /* of a file just made: read-write, the caller's; else -1 */
	bool created;
	bool dir_changed; /* this request has changed dir, now or when first sent */
	bool changed;	  /* the request has changed o: attributes were set after the creation */
	bool st_good;	  /* o still has the attributes st */
	struct statx st;  /* attributes of o when found or made */
	uint32_t done;	  /* NFS_SET_* applied */
};

/* Finds or makes name in dir. If the attributes of a new file cannot be set, the file is removed
 * again. */
uint32_t file_open_name(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct file_open *f);

/* May the caller read o, or write o? The owner always may; the right to execute o lets a caller
 * read. NFS4_OK or a status. */
uint32_t file_may_use(const struct obj *o, bool write);

/* Does o end at end or before? *st: o's attributes; stx_mask is 0 if they are unknown. */
bool file_ends(const struct obj *o, uint64_t end, struct statx *st);
/* Returns the number of bytes read, or -errno if there is not even one. *st: o's attributes since
 * then, if the function had to get the attributes; otherwise stx_mask is 0. */
ssize_t file_read(const struct obj *o, int fd, uint8_t *p, size_t n, uint64_t offset, bool *eof,
	struct statx *st);
/* Reads up to n bytes into memory that req holds until the answer is sent: *data. 0 or -errno. *st
 * as in file_read(). */
int file_read_held(struct serve *sv, struct rpc_req *req, const struct obj *o, int fd, uint32_t n,
	uint64_t offset, struct seg_list *data, bool *eof, struct statx *st);
/* May req hold more such memory? */
bool file_may_hold(const struct rpc_req *req);
/* Writes data. If `stable` asks for stable data, also syncs o, or leaves the sync to `later`, the
 * set of objects that must be stable before the answer (NULL: syncs here). 0 with *done bytes and
 * the write verifier (NFS_VERF_SIZE bytes) for the answer, or -errno. */
int file_write(struct serve *sv, struct obj *o, int fd, const struct seg_list *data,
	uint64_t offset, enum nfs_stable stable, struct stable_set *later, size_t *done,
	uint8_t *verf);

#endif
