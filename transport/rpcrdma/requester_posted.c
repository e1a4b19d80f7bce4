/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_posted: a call of ours on a connection, and its doors.
 */
#include "transport/rpcrdma/requester_posted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RPCRDMA_DOORS_MAX (RPCRDMA_MAX_SEGS + RPCRDMA_MAX_READS)

struct rpcrdma_posted *rpcrdma_posted_new_locked(struct rpcrdma_conn *c) REQUIRES(c->lock)
{
	struct rpcrdma_posted *p = TAILQ_FIRST(&c->spare);

	if (p)
		TAILQ_REMOVE(&c->spare, p, link);
	else
		p = malloc(sizeof(*p));
	if (p) {
		p->dialect = NULL;
		p->whole = p->plain = false;
		p->error = 0;
		p->turn = c->turns++;
		p->hungry = false;
		p->ndoors = p->nsinks = 0;
		p->door = p->few;
		p->reply_buf = p->gathered = NULL;
		p->pull = NULL;
		p->reply = (struct rpcrdma_msg){0};
		p->closed = p->repeat = false;
	}
	return p;
}

void rpcrdma_posted_let_go(struct rpcrdma_posted *p)
{
	p->reply_buf = mem_buf_unref(p->reply_buf);
	p->gathered = mem_buf_unref(p->gathered);
	if (p->door != p->few)
		free(p->door);
	p->door = p->few;
	p->ndoors = p->nsinks = 0;
}

void rpcrdma_posted_free_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p) REQUIRES(c->lock)
{
	TAILQ_INSERT_HEAD(&c->spare, p, link);
}

int rpcrdma_reserve_doors(struct rpcrdma_posted *p, unsigned n)
{
	struct prov_door *door;

	if (p->door != p->few || p->ndoors + n <= RPCRDMA_DOORS_FEW)
		return 0;
	door = malloc(RPCRDMA_DOORS_MAX * sizeof(*door));
	if (!door)
		return -ENOMEM;
	memcpy(door, p->few, p->ndoors * sizeof(*door));
	p->door = door;
	return 0;
}

int rpcrdma_expose(struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct mem_sge *sge,
	unsigned access, struct rpcrdma_seg *seg)
{
	struct prov_door *door = &p->door[p->ndoors];
	int rc;

	*door = (struct prov_door){0};
	rc = c->prov->expose(c->pc, sge, access, door);
	if (rc)
		return rc;
	p->ndoors++;
	seg->handle = door->stag;
	seg->length = door->len;
	seg->offset = door->offset;
	return 0;
}

int rpcrdma_expose_sink(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	const struct seg_list *sink)
{
	struct seg_iter it = seg_iter_of(sink);
	unsigned first = p->ndoors;
	struct rpcrdma_seg seg;
	struct mem_sge at;
	int rc = rpcrdma_hdr_add_write(h, NULL, 0);

	while (!rc && seg_next_joined(&it, p->limits.seg_size, &at)) {
		rc = rpcrdma_expose(c, p, &at, PROV_REMOTE_WRITE, &seg);
		if (!rc)
			rc = rpcrdma_hdr_write_seg(h, &seg);
	}
	if (!rc)
		p->sink_doors[p->nsinks++] = p->ndoors - first;
	return rc;
}
