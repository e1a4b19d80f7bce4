/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * seg: payload as a list of segments.
 *
 * Invariant: the segments of a list have, behind skip, at least len bytes. All walking goes through
 * seg_next().
 */
#include "transport/rpc/seg.h"

#include <errno.h>
#include <string.h>

static const struct seg *segs_of(const struct seg_list *l)
{
	return l->n == 1 ? &l->one : l->seg;
}

int seg_list_init(struct seg_list *l, const struct seg *seg, unsigned n)
{
	uint64_t len = 0;

	*l = (struct seg_list){0};
	if (n > SEG_LIST_MAX)
		return -E2BIG;
	for (unsigned i = 0; i < n; i++)
		len += seg[i].at.len;
	if (len > MEM_MAX_SIZE)
		return -E2BIG;
	l->len = (uint32_t)len;
	l->n = len ? n : 0;
	if (l->n == 1)
		l->one = seg[0];
	else if (l->n)
		l->seg = seg;
	return 0;
}

bool seg_next(struct seg_iter *it, uint32_t max, struct mem_sge *at, struct mem_buf **hold)
{
	const struct seg *s;

	if (!it->left || !max)
		return false;
	s = segs_of(it->l) + it->i;
	while (it->off == s->at.len) {
		s++;
		it->i++;
		it->off = 0;
	}
	*at = s->at;
	at->addr = (uint8_t *)at->addr + it->off;
	at->len -= it->off;
	if (at->len > it->left)
		at->len = it->left;
	if (at->len > max)
		at->len = max;
	if (hold)
		*hold = s->hold;
	it->off += at->len;
	it->left -= at->len;
	return true;
}

bool seg_next_joined(struct seg_iter *it, uint32_t max, struct mem_sge *at)
{
	if (!seg_next(it, max, at, NULL))
		return false;
	while (it->left && at->len < max) {
		struct seg_iter ahead = *it;
		struct mem_sge next;

		if (!seg_next(&ahead, max - at->len, &next, NULL) || next.slab != at->slab ||
			next.addr != (uint8_t *)at->addr + at->len)
			return true;
		at->len += next.len;
		*it = ahead;
	}
	return true;
}

unsigned seg_list_count_joined(const struct seg_list *l, uint32_t max)
{
	struct seg_iter it = seg_iter_of(l);
	struct mem_sge at;
	unsigned n = 0;

	if (l->n <= 1)
		return l->len / max + (l->len % max != 0);
	while (seg_next_joined(&it, max, &at))
		n++;
	return n;
}

unsigned seg_iter_iov(struct seg_iter it, struct iovec *iov, unsigned max)
{
	struct mem_sge at;
	unsigned n = 0;

	while (n < max && seg_next(&it, UINT32_MAX, &at, NULL))
		iov[n++] = (struct iovec){.iov_base = at.addr, .iov_len = at.len};
	return n;
}

void seg_iter_skip(struct seg_iter *it, uint32_t n)
{
	struct mem_sge at;

	while (seg_next(it, n, &at, NULL))
		n -= at.len;
}

struct seg_list seg_list_cut(const struct seg_list *l, uint32_t off, uint32_t len)
{
	struct seg_iter it = seg_iter_of(l);
	struct mem_sge at;
	struct mem_buf *hold;
	struct seg_list r = {0};
	uint32_t first, skip;

	if (l->n == 1 && off < l->len) {
		at = l->one.at;
		at.addr = (uint8_t *)at.addr + l->skip + off;
		at.len = len < l->len - off ? len : l->len - off;
		return seg_list_of(at, l->one.hold);
	}
	seg_iter_skip(&it, off);
	if (it.left > len)
		it.left = len;
	r.len = it.left;
	if (!seg_next(&it, UINT32_MAX, &at, &hold))
		return r;
	if (at.len == r.len)
		return seg_list_of(at, hold);
	first = it.i;
	skip = it.off - at.len;
	while (seg_next(&it, UINT32_MAX, &at, NULL))
		;
	r.seg = segs_of(l) + first;
	r.skip = skip;
	r.n = it.i + 1 - first;
	return r;
}

bool seg_list_same(const struct seg_list *a, const struct seg_list *b)
{
	struct seg_iter ia = seg_iter_of(a), ib = seg_iter_of(b);
	struct mem_sge ma, mb;

	return seg_next(&ia, 1, &ma, NULL) && seg_next(&ib, 1, &mb, NULL) && ma.addr == mb.addr;
}

/* --- references ------------------------------------------------------------------------------- */

unsigned seg_list_holds(const struct seg_list *l, struct mem_buf **hold)
{
	const struct seg *s = segs_of(l);
	struct mem_buf *last = NULL;
	unsigned n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		if (s[i].hold && s[i].hold != last)
			hold[n++] = s[i].hold;
		last = s[i].hold;
	}
	return n;
}

size_t seg_list_kept(const struct seg_list *l)
{
	const struct seg *s = segs_of(l);
	size_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (s[i].hold && (!i || s[i].hold != s[i - 1].hold))
			n += s[i].hold->size;
	return n;
}

void seg_list_ref(const struct seg_list *l)
{
	const struct seg *s = segs_of(l);

	for (uint32_t i = 0; i < l->n; i++)
		if (s[i].hold && (!i || s[i].hold != s[i - 1].hold))
			mem_buf_ref(s[i].hold);
}

void seg_list_unref(const struct seg_list *l)
{
	const struct seg *s = segs_of(l);

	for (uint32_t i = 0; i < l->n; i++)
		if (s[i].hold && (!i || s[i].hold != s[i - 1].hold))
			mem_buf_unref(s[i].hold);
}

/* --- copying ---------------------------------------------------------------------------------- */

void seg_iter_put(struct seg_iter *it, const void *src, uint32_t n)
{
	const uint8_t *from = src;
	struct mem_sge at;

	while (seg_next(it, n, &at, NULL)) {
		memmove(at.addr, from, at.len);
		from += at.len;
		n -= at.len;
	}
}

void seg_iter_zero(struct seg_iter *it, uint32_t n)
{
	struct mem_sge at;

	while (seg_next(it, n, &at, NULL)) {
		memset(at.addr, 0, at.len);
		n -= at.len;
	}
}

void seg_list_gather(const struct seg_list *l, void *dst)
{
	struct seg_iter it = seg_iter_of(l);
	uint8_t *to = dst;
	struct mem_sge at;

	while (seg_next(&it, UINT32_MAX, &at, NULL)) {
		memcpy(to, at.addr, at.len);
		to += at.len;
	}
}

void seg_list_copy(const struct seg_list *dst, const struct seg_list *src)
{
	struct seg_iter from = seg_iter_of(src), to = seg_iter_of(dst);
	struct mem_sge at;

	while (seg_next(&from, UINT32_MAX, &at, NULL))
		seg_iter_put(&to, at.addr, at.len);
}
