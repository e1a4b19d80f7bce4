/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dir: directories read in pieces.
 *
 * NFS reads a directory with many independent calls, each from a cookie. Here a cookie is the file
 * system's position of the next entry (d_off), to which the server can seek. Some file systems
 * promise positions only for a directory that stays open, and an open stream is faster. So streams
 * that stopped in the middle are kept: a call with the cookie where a stream stopped gets that
 * stream. A stream has one user at a time, and serves every caller that may read the directory.
 *
 * Cookies 0, 1 and 2 are reserved (RFC 8881 section 18.23.3). A position 0, 1 or 2 is sent as a
 * value that no file system uses.
 */
#ifndef RNFS_SERVE_OPS_DIR_H
#define RNFS_SERVE_OPS_DIR_H

#include <stdint.h>

#include "contrib/serve/export/object.h"

struct dir_cache;
struct dir_stream;

struct dir_entry {
	uint64_t ino;
	uint64_t cookie;    /* of the position after this entry */
	unsigned char type; /* DT_* */
	uint32_t namelen;
	const char *name; /* NUL terminated; until the next dir_next() or dir_close() */
};

struct dir_cache *dir_cache_new(unsigned max_streams);
struct dir_cache *dir_cache_free(struct dir_cache *dc);
/* Closes streams that have been idle for longer than idle_ns. */
void dir_cache_age(struct dir_cache *dc, uint64_t idle_ns);

/* A stream of dir at cookie (0: the beginning). 0 or -errno; -EACCES: the caller may not read dir.
 */
int dir_open(struct dir_cache *dc, const struct obj *dir, uint64_t cookie, struct dir_stream **out);
/* 1 and the next entry ("." and ".." are skipped), 0 at the end, or -errno. */
int dir_next(struct dir_stream *ds, struct dir_entry *ent);
/* Puts the last entry back: the next dir_next() returns it again. */
void dir_back(struct dir_stream *ds);
/* Gives the stream back, for a later call with its cookie; keep false: closes the stream. */
void dir_close(struct dir_cache *dc, struct dir_stream *ds, bool keep);

#endif
