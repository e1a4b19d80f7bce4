/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file: regular files as every version of NFS sees them: found or made by name, and their data.
 *
 * A file that is made is opened by the call that makes it, so that its mode does not keep its maker
 * out (a new read-only file must be writable once). An exclusive create leaves its verifier in the
 * new file's access and modification time, where a retry after a restart still finds it; the file
 * has it, and all its attributes, before it gets its name. Where the file system has no files
 * without a name (O_TMPFILE), that is ".rnfs-" and a number until then, which a crash may leave
 * behind.
 *
 * Data is read from the file into memory that the transport sends from, and written from where the
 * transport has put it: it is never copied here. Statuses are those of NFSv4.
 */
#ifndef RNFS_SERVE_OPS_FILE_H
#define RNFS_SERVE_OPS_FILE_H

#include <sys/types.h>

#include "contrib/serve/export/object.h"
#include "nfsproto/nfs_file.h"
#include "transport/rpc/rpc.h"

struct serve;
struct stable_set;

enum file_how {
	FILE_EXISTING,	/* it must be there */
	FILE_UNCHECKED, /* made if it is not there */
	FILE_GUARDED,	/* made, and NFS4ERR_EXIST if it is there */
	FILE_EXCLUSIVE, /* the same, unless this very request has made it: see verf */
};

struct file_open {
	enum file_how how;
	uint8_t verf[NFS_VERF_SIZE]; /* FILE_EXCLUSIVE */
	/* In: the attributes of a new file. Out, if the file was there: what the caller has to do
	 * to it, truncate it or nothing (RFC 8881 section 18.16.3, RFC 1813 section 3.3.8). */
	struct nfs_sattr set;
	/* out; o and fd also after a failure, to be let go */
	struct obj *o; /* referenced or NULL */
	int fd;	       /* of a file just made: read-write, the caller's; else -1 */
	bool created;
	bool dir_changed; /* this request, now or when it came before, has changed dir */
	bool changed;	  /* the same of o: attributes were set after it was made */
	bool st_good;	  /* o still has the attributes st */
	struct statx st;  /* its attributes when it was found or made */
	uint32_t done;	  /* NFS_SET_* applied */
};

/* Finds or makes name in dir. A file that could not be given its attributes is removed again. */
uint32_t file_open_name(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct file_open *f);

/* May the caller read o, or write it? Its owner always may. NFS4_OK or a status. */
uint32_t file_may_use(const struct obj *o, bool write);

/* Does o end at end or before it? *st: its attributes; stx_mask is 0 if they cannot be had. */
bool file_ends(const struct obj *o, uint64_t end, struct statx *st);
/* Bytes read, or -errno if there is not even one. *st: o's attributes since then, if they had to be
 * looked at; else its stx_mask is 0. */
ssize_t file_read(const struct obj *o, int fd, uint8_t *p, size_t n, uint64_t offset, bool *eof,
	struct statx *st);
/* Reads up to n bytes into memory that req holds until its answer is sent: *data. 0 or -errno. *st
 * as above. */
int file_read_held(struct serve *sv, struct rpc_req *req, const struct obj *o, int fd, uint32_t n,
	uint64_t offset, struct seg_list *data, bool *eof, struct statx *st);
/* May req hold more such memory? */
bool file_may_hold(const struct rpc_req *req);
/* Writes and, if stable asks for it, makes it lasting, unless that is left to `later`, what must be
 * stable before the answer (NULL: not to be left to it). 0 with *done bytes and the write verifier
 * (NFS_VERF_SIZE bytes) to be answered, or -errno. */
int file_write(struct serve *sv, struct obj *o, int fd, const struct seg_list *data,
	uint64_t offset, enum nfs_stable stable, struct stable_set *later, size_t *done,
	uint8_t *verf);

#endif
