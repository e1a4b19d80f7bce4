/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file: regular files as every version of NFS sees them.
 */
#include "contrib/serve/ops/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/serve.h"

#define CREATE_TRIES 8 /* a name may appear and disappear meanwhile */

/* 31 bits each: every file system stores such times. */
static void verf_times(const uint8_t verf[NFS_VERF_SIZE], struct timespec ts[2])
{
	uint32_t w[2];

	memcpy(w, verf, sizeof(w));
	for (int i = 0; i < 2; i++)
		ts[i] = (struct timespec){.tv_sec = w[i] & 0x7fffffff};
}

static bool verf_matches(const struct statx *st, const uint8_t verf[NFS_VERF_SIZE])
{
	struct timespec ts[2];

	verf_times(verf, ts);
	return S_ISREG(st->stx_mode) && st->stx_size == 0 && st->stx_atime.tv_sec == ts[0].tv_sec &&
	       st->stx_mtime.tv_sec == ts[1].tv_sec;
}

/* Sets the attributes of the new file, through its open descriptor. */
static uint32_t set_attrs(struct file_open *f)
{
	bool cut = f->set.mask & NFS_SET_SIZE && f->set.size == 0;
	struct nfs_sattr set = f->set;
	struct timespec ts[2];
	uint32_t status;

	if (cut)
		set.mask &= ~NFS_SET_SIZE; /* a truncation would clear the set-ID bits */
	status = attr_after_create(f->o, f->fd, &f->st, &set, &f->done);
	f->done |= cut ? NFS_SET_SIZE : 0;
	f->changed = !f->st.stx_mask || f->how == FILE_EXCLUSIVE;
	f->st_good = status == NFS4_OK && !f->changed;
	if (status == NFS4_OK && f->how == FILE_EXCLUSIVE) {
		verf_times(f->verf, ts);
		if (futimens(f->fd, ts) != 0)
			status = nfs4_errno_status(errno);
	}
	return status;
}

#define TMP_NAME_SIZE 24

/* Makes a file in dir without a name (tmp is then empty) or, if the file system has no such files,
 * with the name tmp. A descriptor or -errno. */
static int open_unnamed(const struct obj *dir, mode_t mode, char tmp[TMP_NAME_SIZE])
{
	uint64_t random;
	int fd;

	tmp[0] = '\0';
	fd = openat(dir->fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0 ? fd : -errno;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	snprintf(tmp, TMP_NAME_SIZE, ".rnfs-%016" PRIx64, random);
	fd = openat(dir->fd, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd >= 0 ? fd : -errno;
}

/* Gives the new file fd, which has no name, the name s. From Linux 6.10 on, the process that has
 * opened the file can do so directly. */
static int give_first_name(const struct obj *dir, int fd, const char *s)
{
	char path[OBJ_PATH_SIZE];

	if (linkat(fd, "", dir->fd, s, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT && errno != EPERM)
		return -errno;
	obj_fd_path(fd, path);
	return linkat(AT_FDCWD, path, dir->fd, s, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

/* Gives the new file fd (its present name is tmp, unless empty) the name s, unless there is a file
 * s. 0 or -errno. */
static int give_name(const struct obj *dir, int fd, const char *tmp, const char *s)
{
	if (!tmp[0])
		return give_first_name(dir, fd, s);
	if (renameat2(dir->fd, tmp, dir->fd, s, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dir->fd, tmp, dir->fd, s, 0) != 0)
		return -errno;
	unlinkat(dir->fd, tmp, 0);
	return 0;
}

static uint32_t create_exclusive(struct serve *sv, struct obj *dir, const struct nfs_name *name,
	const char *s, mode_t mode, struct file_open *f)
{
	char tmp[TMP_NAME_SIZE];
	struct stat st;
	uint32_t status;
	int r;

	if (fstatat(dir->fd, s, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return NFS4ERR_EXIST;
	f->fd = open_unnamed(dir, mode, tmp);
	if (f->fd < 0)
		return nfs4_errno_status(f->fd);
	r = obj_adopt(sv->objs, dir, name->s, name->len, f->fd, &f->o, &f->st);
	status = r < 0 ? nfs4_errno_status(r) : set_attrs(f);
	if (status == NFS4_OK)
		status = nfs4_errno_status(give_name(dir, f->fd, tmp, s));
	f->created = f->dir_changed = status == NFS4_OK;
	if (f->created)
		return NFS4_OK;
	if (tmp[0])
		unlinkat(dir->fd, tmp, 0);
	if (f->o)
		obj_removed(sv->objs, f->o);
	f->o = obj_unref(sv->objs, f->o);
	close(f->fd);
	f->fd = -1;
	return status;
}

static uint32_t try_create(struct serve *sv, struct obj *dir, const struct nfs_name *name,
	const char *s, struct file_open *f)
{
	mode_t mode = f->set.mask & NFS_SET_MODE ? f->set.mode & 07777
		      : f->how == FILE_EXCLUSIVE ? 0600
						 : 0644;
	uint32_t status;
	int r;

	if (f->how == FILE_EXCLUSIVE)
		return create_exclusive(sv, dir, name, s, mode, f);

	f->fd = openat(
		dir->fd, s, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
	if (f->fd < 0)
		return nfs4_errno_status(errno);
	f->created = f->dir_changed = true;
	r = obj_adopt(sv->objs, dir, name->s, name->len, f->fd, &f->o, &f->st);
	status = r < 0 ? nfs4_errno_status(r) : set_attrs(f);
	if (status != NFS4_OK) {
		unlinkat(dir->fd, s, 0);
		if (f->o)
			obj_removed(sv->objs, f->o);
	}
	return status;
}

static uint32_t open_existing(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct file_open *f)
{
	int r = obj_lookup(sv->objs, dir, name->s, name->len, &f->o, &f->st);

	if (r < 0)
		return nfs4_errno_status(r);
	if (f->how == FILE_GUARDED)
		return NFS4ERR_EXIST;
	if (f->how == FILE_EXCLUSIVE) {
		if (!verf_matches(&f->st, f->verf))
			return NFS4ERR_EXIST;
		/* this call has made the file before, and had set all attributes */
		f->done = f->set.mask;
		f->set.mask = 0;
		f->dir_changed = f->changed = true;
		return NFS4_OK;
	}
	/* an earlier run may have made the file, and ended before it synced dir and answered */
	f->dir_changed = f->how == FILE_UNCHECKED && !stable_synced(sv->stable, dir);
	f->set.mask &= f->set.size == 0 ? NFS_SET_SIZE : 0;
	f->st_good = !f->set.mask;
	return need_file(f->o);
}

uint32_t file_open_name(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct file_open *f)
{
	struct entry_name s;
	uint32_t status = need_dir(dir);

	f->o = NULL;
	f->fd = -1;
	f->created = f->dir_changed = f->changed = f->st_good = false;
	f->done = 0;
	if (status == NFS4_OK)
		status = entry_name(name, &s);
	if (status != NFS4_OK)
		return status;
	if (f->how == FILE_EXISTING)
		return open_existing(sv, dir, name, f);
	for (int i = 0; i < CREATE_TRIES; i++) {
		status = try_create(sv, dir, name, s.s, f);
		if (f->created || status != NFS4ERR_EXIST)
			break;
		status = open_existing(sv, dir, name, f);
		if (status != NFS4ERR_NOENT)
			break;
	}
	return status;
}

bool file_ends(const struct obj *o, uint64_t end, struct statx *st)
{
	if (obj_stat(o, st) < 0)
		st->stx_mask = 0;
	return st->stx_mask && end >= st->stx_size;
}

/* The read asks for one byte more than wanted: if that byte arrives, the file goes on (not *eof),
 * without another system call. The read never goes past the largest file offset: the kernel would
 * refuse. Where the file seems to end, the attributes decide; callers often want the attributes
 * anyhow. */
ssize_t file_read(const struct obj *o, int fd, uint8_t *p, size_t n, uint64_t offset, bool *eof,
	struct statx *st)
{
	size_t done = 0;
	uint8_t more;
	int vecs;

	st->stx_mask = 0;
	*eof = offset > INT64_MAX;
	if (*eof)
		return 0;
	if (n > (uint64_t)INT64_MAX - offset)
		n = (size_t)((uint64_t)INT64_MAX - offset);
	vecs = n < (uint64_t)INT64_MAX - offset ? 2 : 1;
	while (done < n) {
		struct iovec iov[2] = {{p + done, n - done}, {&more, 1}};
		ssize_t r = preadv(fd, iov, vecs, (off_t)(offset + done));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return done ? (ssize_t)done : -errno;
		if ((size_t)r > n - done)
			return (ssize_t)n;
		if (r == 0) {
			*eof = true;
			return (ssize_t)done;
		}
		done += (size_t)r;
		if (done < n && file_ends(o, offset + done, st) && st->stx_size == offset + done) {
			*eof = true;
			return (ssize_t)done;
		}
	}
	*eof = file_ends(o, offset + done, st); /* or the extra byte could not be read */
	return (ssize_t)done;
}

bool file_may_hold(const struct rpc_req *req)
{
	return req->nhold < XDR_MAX_PAYLOADS;
}

int file_read_held(struct serve *sv, struct rpc_req *req, const struct obj *o, int fd, uint32_t n,
	uint64_t offset, struct seg_list *data, bool *eof, struct statx *st)
{
	struct mem_buf *buf = mem_buf_get(sv->pool, n);
	ssize_t got;

	if (!buf)
		return -ENOMEM;
	got = file_read(o, fd, buf->data, n, offset, eof, st);
	if (got < 0) {
		mem_buf_unref(buf);
		return (int)got;
	}
	return rpc_req_hold(req, &(struct seg){mem_buf_sge(buf, 0, (uint32_t)got), buf}, 1, data);
}

static int write_fully(int fd, const struct seg_list *data, uint64_t offset, size_t *done)
{
	struct seg_iter it = seg_iter_of(data);
	struct mem_sge at;

	while (seg_next(&it, UINT32_MAX, &at, NULL)) {
		const uint8_t *p = at.addr, *end = p + at.len;

		while (p < end) {
			ssize_t r = pwrite(fd, p, (size_t)(end - p), (off_t)(offset + *done));

			if (r < 0 && errno == EINTR)
				continue;
			if (r <= 0) /* 0: some file systems do so when they can write no more */
				return *done ? 0 : r < 0 ? -errno : -EIO;
			p += r;
			*done += (size_t)r;
		}
	}
	return 0;
}

int file_write(struct serve *sv, struct obj *o, int fd, const struct seg_list *data,
	uint64_t offset, enum nfs_stable stable, struct stable_set *later, size_t *done,
	uint8_t *verf)
{
	bool alone, watched;
	int r;

	*done = 0;
	if (offset > (uint64_t)INT64_MAX - data->len)
		return -EFBIG;
	alone = stable != NFS_UNSTABLE && !later && stable_write_alone(sv->stable, o, verf);
	watched = !alone && stable_write_begin(sv->stable, o, fd, verf);
	r = write_fully(fd, data, offset, done);
	if (*done)
		attr_touch(o);
	if (watched)
		stable_write_end(sv->stable, o);
	if (r < 0 || (stable == NFS_UNSTABLE && watched))
		return r;
	if (later && watched) {
		stable_want_data(sv->stable, later, o, verf);
		return 0;
	}
	return stable_sync_by(sv->stable, o, fd, verf);
}

uint32_t file_may_use(const struct obj *o, bool write)
{
	struct statx st;
	int r = obj_stat(o, &st);

	if (r < 0)
		return nfs4_errno_status(r);
	if (st.stx_uid == ident_uid() || obj_allowed(o, write ? W_OK : R_OK) ||
		(!write && obj_allowed(o, X_OK)))
		return NFS4_OK;
	return NFS4ERR_ACCESS;
}
