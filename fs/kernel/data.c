/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * data: memory for READ and WRITE data, within the mount's limit.
 */
#include "fs/kernel/data.h"

#include <stdlib.h>

#define PIECES_MAX (MEM_MAX_SIZE / DATA_PIECE_MIN + 1)

/* Leaves at least `left` bytes of the limit. */
static struct mem_buf *get(struct fs *fs, size_t size, size_t left)
{
	struct mem_buf *buf;

	if (atomic_fetch_add(&fs->data_used, size) + size + left > fs->data_limit) {
		atomic_fetch_sub(&fs->data_used, size);
		return NULL;
	}
	buf = mem_buf_get(fs->pool, size);
	if (!buf) {
		atomic_fetch_sub(&fs->data_used, size);
		return NULL;
	}
	if (buf->size > size)
		atomic_fetch_add(&fs->data_used, buf->size - size);
	return buf;
}

struct mem_buf *data_get(struct fs *fs, size_t size)
{
	return get(fs, size, 0);
}

struct mem_buf *data_get_idle(struct fs *fs, size_t size)
{
	return get(fs, size, MEM_MAX_SIZE);
}

void data_kept(struct fs *fs, const struct mem_buf *buf)
{
	atomic_fetch_add(&fs->data_used, buf->size);
}

void data_put(struct fs *fs, struct mem_buf *buf)
{
	if (!buf)
		return;
	atomic_fetch_sub(&fs->data_used, buf->size);
	mem_buf_unref(buf);
}

/* Memory for size bytes, in pieces as large as the pool has. Returns the number of pieces; 0: not
 * enough memory. */
static unsigned get_pieces(struct fs *fs, uint32_t size, struct seg *seg)
{
	uint32_t piece = size;
	unsigned n = 0;

	while (size) {
		uint32_t len = size < piece ? size : piece;
		struct mem_buf *buf = data_get(fs, len);

		if (buf) {
			seg[n++] = (struct seg){.at = mem_buf_sge(buf, 0, len), .hold = buf};
			size -= len;
		} else if (piece > DATA_PIECE_MIN) {
			piece = piece / 2 > DATA_PIECE_MIN ? piece / 2 : DATA_PIECE_MIN;
		} else {
			while (n)
				data_put(fs, seg[--n].hold);
			return 0;
		}
	}
	return n;
}

bool data_get_list(struct fs *fs, uint32_t size, struct seg_list *l)
{
	struct mem_buf *buf = data_get(fs, size);
	struct seg pieces[PIECES_MAX], *seg;
	unsigned n;

	if (buf) {
		*l = seg_list_of_buf(buf, 0, size);
		return true;
	}
	n = size > DATA_PIECE_MIN ? get_pieces(fs, size, pieces) : 0;
	if (!n)
		return false;
	seg = malloc(n * sizeof(*seg));
	if (seg) {
		memcpy(seg, pieces, n * sizeof(*seg));
		seg_list_init(l, seg, n);
		return true;
	}
	while (n)
		data_put(fs, pieces[--n].hold);
	return false;
}

void data_put_list(struct fs *fs, const struct seg_list *l)
{
	struct mem_buf *hold[SEG_LIST_MAX];
	unsigned n = seg_list_holds(l, hold);

	while (n)
		data_put(fs, hold[--n]);
	if (l->n > 1)
		free((void *)l->seg);
}
