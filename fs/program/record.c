/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * record: all that a daemon leaves to its successor.
 */
#include "fs/program/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/coherence/notify.h"
#include "fs/file/file_record.h"
#include "fs/file/silly.h"
#include "fs/kernel/again.h"
#include "fs/known/inode_record.h"
#include "fs/known/names_record.h"
#include "fs/lookup/dir.h"
#include "transport/rpc/fields.h"

#define MAGIC	    0x726e6673u	       /* "rnfs" */
#define BYTES_MAX   ((size_t)16 << 30) /* address space, not memory */
#define HANDLES_MAX (1u << 28)

static const struct field head_fields[] = {
	FIELD(struct record_head, run),
	FIELD(struct record_head, device),
	FIELD(struct record_head, row),
	FIELD(struct record_head, auto_unmount),
	FIELD(struct record_head, asker),
	FIELD(struct record_head, paused_at),
	FIELD(struct record_head, mounted_at),
	FIELD(struct record_head, log_level),
	FIELD(struct record_head, proto),
	FIELD(struct record_head, vers_major),
	FIELD(struct record_head, vers_minor),
};

/* --- writing -------------------------------------------------------------------------------- */

static void put_mount(struct fs *fs, struct file *const file[], uint32_t n, struct xdr_out *x)
{
	struct nfs_open **open = calloc((size_t)n + 1, sizeof(*open));
	size_t len;

	for (uint32_t i = 0; open && i < n; i++)
		open[i] = file[i]->open;
	xdr_put_u32(x, n);
	len = xdr_skip_u32(x);
	if (open)
		nfs_client_record(fs->client, open, n, x);
	else
		x->overflow = true;
	xdr_patch_u32(x, len, (uint32_t)(x->len - len - 4));
	free(open);
}

static uint32_t count_handles(struct fs *fs)
{
	const struct handle *h;
	uint32_t n = 0;

	mutex_lock(&fs->handles_lock);
	LIST_FOREACH (h, &fs->handles, link)
		n++;
	mutex_unlock(&fs->handles_lock);
	return n;
}

static void put_head(
	struct fs *fs, const struct record_head *head, uint32_t format, struct xdr_out *x)
{
	const struct sockaddr_storage *peer;
	socklen_t peer_len;

	xdr_put_u32(x, MAGIC);
	xdr_put_u32(x, format);
	fields_put(x, head, FIELDS(head_fields));
	nfs_record_put_text(x, head->mountpoint);
	peer = nfs_client_peer(fs->client, &peer_len);
	xdr_put_opaque(x, peer, peer_len);
	xdr_put_opaque(x, fs->init.in, fs->init.in_len);
	xdr_put_opaque(x, fs->init.out, fs->init.out_len);
}

void record_put_note(struct fs *fs, const struct record_head *head, struct xdr_out *x)
{
	put_head(fs, head, NOTES_FORMAT, x);
}

static void put_all(struct fs *fs, const struct record_head *head, struct xdr_out *x)
{
	uint32_t n, nforgotten;
	struct file **file = files_list(fs, &n);
	struct inode **forgotten = fs_forgotten(fs, &nforgotten);

	if (!file || !forgotten)
		x->overflow = true;
	if (!file || !forgotten)
		goto out;
	put_head(fs, head, RECORD_FORMAT, x);
	put_mount(fs, file, n, x);
	xdr_put_u32(x, count_handles(fs));
	inode_table_put_record(fs->inodes, forgotten, nforgotten, x);
	names_put_record(fs->names, x);
	silly_put_record(fs, forgotten, nforgotten, x);
	files_put_record(fs, file, n, x);
	dirs_put_record(fs, x);
	notifier_put_record(fs->notifier, x);
	again_put_record(fs, x);
out:
	free(forgotten);
	free(file);
}

int record_write(struct fs *fs, const struct record_head *head, struct err *e)
{
	int fd = memfd_create("rnfs-record", MFD_CLOEXEC);
	void *map = MAP_FAILED;
	struct xdr_out x;
	bool ok = false;

	if (fd >= 0 && !ftruncate(fd, (off_t)BYTES_MAX))
		map = mmap(NULL, BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED) {
		xdr_out_init(&x, map, BYTES_MAX);
		put_all(fs, head, &x);
		ok = xdr_out_ok(&x) && !ftruncate(fd, (off_t)x.len);
		munmap(map, BYTES_MAX);
	}
	if (ok)
		return fd;
	err_set(e, ERR_INTERNAL, "no memory for the record of the mount: %s",
		map == MAP_FAILED ? strerror(errno) : "there is too much to tell");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* --- reading -------------------------------------------------------------------------------- */

static uint32_t get_bytes(struct xdr_in *x, void *dst, uint32_t size)
{
	uint32_t len;
	const uint8_t *p = xdr_get_opaque(x, size, &len);

	if (!p)
		return 0;
	memcpy(dst, p, len);
	return len;
}

static void get_head(struct record *r, struct xdr_in *x)
{
	struct record_head *h = &r->head;

	fields_get(x, h, FIELDS(head_fields));
	nfs_record_get_text(x, h->mountpoint, sizeof(h->mountpoint));
	r->nfs.peer_len = get_bytes(x, &r->nfs.peer, sizeof(r->nfs.peer));
	r->init.in_len = get_bytes(x, r->init.in, sizeof(r->init.in));
	r->init.out_len = get_bytes(x, r->init.out, sizeof(r->init.out));
	if (h->run < 1 || h->run > NUMBERS_RUN_MAX || h->device <= 2 || h->row < -1 ||
		h->auto_unmount < -1 || h->asker < -1 || h->proto > RPC_RDMA ||
		h->mountpoint[0] != '/' || !r->init.in_len || r->nfs.peer_len < sizeof(sa_family_t))
		xdr_in_fail(x);
}

/* False with *e set: the record has another format than `mine`. */
static bool get_beginning(struct record *r, uint32_t mine, struct xdr_in *x, struct err *e)
{
	uint32_t format;

	if (xdr_get_u32(x) != MAGIC)
		xdr_in_fail(x);
	format = xdr_get_u32(x);
	if (xdr_in_ok(x) && format != mine) {
		err_set(e, ERR_INTERNAL, "the record of the former daemon has format %u, not %u",
			format, mine);
		return false;
	}
	get_head(r, x);
	return true;
}

struct record *record_of_note(const void *data, uint32_t len, struct err *e)
{
	struct record *r = calloc(1, sizeof(*r));
	struct xdr_in x;

	if (!r) {
		err_set(e, ERR_INTERNAL, "out of memory for the note of the mount");
		return NULL;
	}
	xdr_in_init(&x, data, len);
	if (get_beginning(r, NOTES_FORMAT, &x, e) && xdr_in_done(&x))
		return r;
	if (!e->kind)
		err_set(e, ERR_INTERNAL, "the note of the former daemon's mount is damaged");
	return record_free(r);
}

static bool read_all(struct record *r, struct err *e)
{
	struct xdr_in x;
	uint32_t len;

	xdr_in_init(&x, r->map, r->len);
	if (!get_beginning(r, RECORD_FORMAT, &x, e))
		return false;
	r->nfs.nopens = xdr_get_u32(&x);
	r->nfs.data = xdr_get_opaque(&x, UINT32_MAX, &len);
	r->nfs.len = r->nfs.data ? len : 0;
	r->rest = x.pos;
	if (!xdr_in_ok(&x) || r->nfs.nopens > HANDLES_MAX || r->nfs.nopens > r->len) {
		err_set(e, ERR_INTERNAL, "the record of the former daemon is damaged");
		return false;
	}
	r->nfs.open = calloc((size_t)r->nfs.nopens + 1, sizeof(*r->nfs.open));
	if (!r->nfs.open)
		err_set(e, ERR_INTERNAL, "out of memory for the open files");
	return r->nfs.open;
}

struct record *record_read(int fd, struct err *e)
{
	struct record *r = calloc(1, sizeof(*r));
	void *map = MAP_FAILED;
	struct stat st;

	if (r && !fstat(fd, &st) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		err_set(e, ERR_INTERNAL, "the record of the former daemon cannot be read");
		free(r);
		r = NULL;
	} else {
		r->map = map;
		r->len = (size_t)st.st_size;
	}
	close(fd);
	return r && !read_all(r, e) ? record_free(r) : r;
}

static bool get_rest(struct record *r, struct fs *fs, struct xdr_in *x)
{
	uint32_t handles = xdr_get_u32(x);

	if (handles > HANDLES_MAX || handles > xdr_in_left(x))
		xdr_in_fail(x);
	if (!xdr_in_ok(x))
		return true;
	return numbers_init(&fs->handle_numbers, r->head.run, handles) &&
	       inode_table_get_record(fs->inodes, r->head.run, x) &&
	       names_get_record(fs->names, fs->inodes, x) && silly_get_record(fs, x) &&
	       files_get_record(fs, r->nfs.open, r->nfs.nopens, x) && dirs_get_record(fs, x) &&
	       notifier_get_record(fs->notifier, x) && again_get_record(fs, x);
}

int record_restore(struct record *r, struct fs *fs, struct err *e)
{
	struct xdr_in x;
	bool memory;

	xdr_in_init(&x, r->map + r->rest, r->len - r->rest);
	memory = get_rest(r, fs, &x);
	if (memory && !inode_table_settle(fs->inodes))
		xdr_in_fail(&x);
	if (xdr_in_ok(&x) && !memory)
		return err_set(e, ERR_INTERNAL, "out of memory for the files of the mount");
	if (!xdr_in_done(&x))
		return err_set(e, ERR_INTERNAL, "the record of the former daemon is damaged");
	fs->init = r->init;
	fs->mounted_at = r->head.mounted_at;
	return 0;
}

struct record *record_free(struct record *r)
{
	if (!r)
		return NULL;
	if (r->map)
		munmap((void *)(uintptr_t)r->map, r->len);
	free(r->nfs.open);
	free(r);
	return NULL;
}
