/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_io: a READ or WRITE that goes to data servers. Model: nfs4_layout_io.h.
 */
#include "nfsproto/v4/pnfs/nfs4_layout_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_lock_io.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/pnfs/nfs4_device.h"
#include "nfsproto/v4/pnfs/nfs4_layout_report.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define OLD_TRIES    8u /* of a LAYOUTCOMMIT, as stateids change */
#define UNSEEN_TRIES 4u /* of a LAYOUTCOMMIT, as the size comes to be known */

struct part {
	struct nfs4_ds_io io;
	struct nfs4_deviceid device;
	uint64_t at; /* in the file; io.offset is the place in that of the data server */
	bool alone;  /* the only stripe of the last segment: its end is the end of the file */
	int stat;    /* nfs4_io_stats_begun() */
	uint64_t ended_ns;
};

struct layout_io {
	struct nfs_op *op;
	struct nfs4_layout_held *layout;
	bool writes;
	bool commits; /* a segment wants LAYOUTCOMMIT */
	/* a data server that is needed is down, of this device */
	bool down;
	struct nfs4_deviceid down_device;
	uint64_t offset, begun_ns;
	const struct seg_list *data;
	struct nfs4_stateid stateid; /* for data servers of the file layout type */
	atomic_uint left;	     /* parts under way, and one until all are started */
	unsigned n, room;
	struct part *part;
};

/* --- the parts ----------------------------------------------------------------------------- */

static bool add_part_locked(struct layout_io *x, const struct nfs4_segment *s,
	const struct nfs4_target *t, uint32_t at, uint32_t len) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	const struct nfs4_device *d = t->device;
	struct part *p;

	if (t->ds && nfs4_ds_is_down(t->ds)) {
		x->down = true;
		x->down_device = t->id;
	}
	if (!d || !t->ds || !nfs4_ds_is_up(t->ds) || d->version >= t->nfh ||
		(!t->numeric && !d->tight))
		return false;
	if (x->n == x->room) {
		unsigned room = x->room ? 2 * x->room : 1;
		struct part *more =
			room <= NFS4_LAYOUT_PARTS ? realloc(x->part, room * sizeof(*more)) : NULL;

		if (!more)
			return false;
		x->part = more;
		x->room = room;
	}
	p = &x->part[x->n++];
	memset(p, 0, sizeof(*p));
	p->io.ds = t->ds;
	nfs4_ds_use(t->ds);
	p->device = t->id;
	p->at = x->offset + at;
	p->alone = s->nstripes == 1 && nfs4_segment_has(s, UINT64_MAX);
	p->io.write = x->writes;
	p->io.offset = nfs4_segment_place(s, x->offset + at);
	p->io.data = seg_list_cut(x->data, at, len);
	p->io.fh = t->fh[d->version];
	p->io.stateid = s->files ? x->stateid : t->stateid;
	p->io.cred =
		d->tight ? x->op->cred
			 : (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = t->uid, .gid = t->gid};
	return true;
}

/* The bytes of one call there. */
static uint32_t call_size(const struct nfs4_target *t, bool writes)
{
	const struct nfs4_device *d = t->device;

	return !d ? UINT32_MAX : writes ? d->wsize : d->rsize;
}

/* The parts for one piece of one stripe. Returns the bytes that they cover; 0: impossible. */
static uint32_t add_piece_locked(struct layout_io *x, const struct nfs4_segment *s, uint32_t at,
	uint32_t len) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	unsigned stripe = s->target ? nfs4_segment_piece(s, x->offset + at, &len) : 0;
	unsigned most = x->writes && s->flags & FF_FLAGS_WRITE_ONE_MIRROR ? 1 : s->nmirrors;
	unsigned added = 0;

	if (!s->target) /* its device is of no use */
		return 0;
	for (unsigned m = 0; m < s->nmirrors; m++) {
		uint32_t one = call_size(nfs4_segment_target(s, m, stripe), x->writes);

		len = one < len ? one : len;
	}
	for (unsigned m = 0; m < s->nmirrors && added < (x->writes ? most : 1); m++) {
		bool is = add_part_locked(x, s, nfs4_segment_target(s, m, stripe), at, len);

		if (!is && x->writes && most > 1)
			return 0; /* a WRITE reaches all mirrors, or goes another way */
		added += is;
	}
	return added ? len : 0;
}

/* Cuts the whole into parts, in the order of their bytes. */
static bool cut_locked(struct layout_io *x) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	uint32_t at = 0, n;

	for (; at < x->data->len; at += n) {
		const struct nfs4_segment *s =
			nfs4_layout_at_locked(x->layout, x->offset + at, x->writes);

		if (!s)
			return false;
		x->commits |= !(s->flags & FF_FLAGS_NO_LAYOUTCOMMIT);
		n = add_piece_locked(x, s, at, x->data->len - at);
		if (!n)
			return false;
	}
	return true;
}

/* --- counting ------------------------------------------------------------------------------ */

static void count_begun_locked(struct layout_io *x) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	struct nfs4_io_stats *s = nfs4_layout_stats_locked(x->layout, x->begun_ns);

	for (unsigned i = 0; i < x->n; i++) {
		struct part *p = &x->part[i];

		p->stat = s ? nfs4_io_stats_begun(s, &p->device, &p->io.fh, p->io.ds, x->writes,
				      p->io.data.len, x->begun_ns)
			    : -1;
	}
}

static void count_ended_locked(struct layout_io *x) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	for (unsigned i = 0; i < x->n; i++) {
		const struct part *p = &x->part[i];
		bool ok = p->io.status == NFS4_OK;
		uint32_t done = !ok ? 0 : x->writes ? p->io.data.len : p->io.count;

		if (p->stat >= 0)
			nfs4_io_stats_ended(x->layout->stats, p->stat, x->writes, ok,
				p->io.data.len, done, x->begun_ns, p->ended_ns);
	}
}

/* --- the end ------------------------------------------------------------------------------- */

/* No part points to its data server any more. To be called before op ends: the mount may end then,
 * with all data servers. */
static void leave_servers(struct layout_io *x)
{
	for (unsigned i = 0; i < x->n; i++) {
		nfs4_ds_leave(x->part[i].io.ds);
		x->part[i].io.ds = NULL;
	}
}

static void io_free(struct layout_io *x)
{
	free(x->part);
	free(x);
}

/* Does the metadata server hear of a part that ended like this? */
static bool is_error(uint32_t status)
{
	return status != NFS4_OK && status != NFS4ERR_DELAY;
}

/* A part that failed, one that the metadata server hears of before all others; or NULL. */
static const struct part *failed_part(const struct layout_io *x)
{
	const struct part *failed = NULL;

	for (unsigned i = 0; i < x->n; i++) {
		const struct part *p = &x->part[i];

		if (is_error(p->io.status))
			return p;
		if (p->io.status != NFS4_OK)
			failed = p;
	}
	return failed;
}

/* Puts the parts' results together. False: the metadata server must tell. */
static bool read_whole(struct layout_io *x)
{
	struct nfs_op *op = x->op;
	uint32_t count = 0;
	bool eof = false;

	for (unsigned i = 0; i < x->n; i++) {
		const struct part *p = &x->part[i];

		if (p->io.count < p->io.data.len && !p->alone)
			return false;
		count += p->io.count;
		eof = p->io.eof;
		if (p->io.count < p->io.data.len)
			break;
	}
	op->u.read.count = count;
	/* of several stripes each ends where its own last byte is */
	op->u.read.eof = eof && x->part[x->n - 1].alone;
	op->u.read.attr.have = false;
	if (x->n == 1)
		op->u.read.moved = x->part[0].io.moved;
	return true;
}

static void read_let_go(struct layout_io *x)
{
	if (x->n == 1)
		seg_list_unref(&x->part[0].io.moved);
}

static bool is_cancelled(struct nfs4_server *srv, const struct nfs_op *op)
{
	bool cancelled;

	mutex_lock(&srv->slots.lock);
	cancelled = op->be.v4.cancelled;
	mutex_unlock(&srv->slots.lock);
	return cancelled;
}

/* Tells the metadata server at once, beside the I/O that is still under way. Several parts may have
 * failed, at several data servers. */
static void report(struct layout_io *x)
{
	struct nfs4_layout_error e[NFS4_LAYOUT_ERRORS];
	const struct nfs_open *o = nfs_op_open(x->op);
	struct nfs4_client *c = nfs4_client(x->op->client);
	struct nfs4_stateid id;
	unsigned n = 0;

	for (unsigned i = 0; i < x->n && n < NFS4_LAYOUT_ERRORS; i++) {
		const struct part *p = &x->part[i];

		if (is_error(p->io.status))
			e[n++] = (struct nfs4_layout_error){
				.offset = p->at,
				.length = p->io.data.len,
				.at = {.device = p->device,
					.status = p->io.status,
					.op = x->writes ? OP_WRITE : OP_READ},
			};
	}
	n = nfs4_layout_failing(x->layout, e, n, &id);
	nfs4_layout_report_errors(x->layout->in, c, &o->fh, &id, e, n);
}

static void io_failed(struct layout_io *x, const struct part *p)
{
	log_warn("data server %s: a %s of %u bytes at %llu failed: %s: the metadata server carries "
		 "it out",
		p->io.ds->name, x->writes ? "WRITE" : "READ", p->io.data.len,
		(unsigned long long)p->io.offset, nfs4_status_name(p->io.status));
	leave_servers(x);
	report(x);
	if (!nfs4_layout_io_failed(x->layout, x->op))
		nfs4_task_start(x->op);
}

/* All parts are done. */
static void io_ended(struct layout_io *x)
{
	const struct part *p = failed_part(x);
	struct nfs4_layouts *t = x->layout->in;
	struct nfs_op *op = x->op;

	mutex_lock(&t->lock); /* from here on the parts are not cancelled */
	op->be.v4.parts = NULL;
	count_ended_locked(x);
	mutex_unlock(&t->lock);
	if (p && is_error(p->io.status) && (x->writes || !is_cancelled(nfs4_task_server(op), op))) {
		io_failed(x, p);
	} else if (x->writes && !p) {
		op->u.write.count = op->u.write.from.len;
		op->u.write.committed = NFS_FILE_SYNC;
		if (op->u.write.then)
			op->u.write.then->done = false;
		leave_servers(x);
		op->be.v4.layout = x->layout; /* with the count of this I/O */
		op->be.v4.uncommitted = !x->commits;
		op->be.v4.kind = NFS4_K_LAYOUTCOMMIT;
		nfs4_task_start(op);
	} else {
		bool whole = !p && read_whole(x);

		if (!whole && !x->writes)
			read_let_go(x);
		leave_servers(x);
		nfs4_layout_io_ended(x->layout);
		if (whole)
			nfs4_task_end(op, 0);
		else
			nfs4_task_start(op);
	}
	io_free(x);
}

static void io_left(struct layout_io *x)
{
	/* the thread that is last sees the results of all */
	if (atomic_fetch_sub_explicit(&x->left, 1, memory_order_acq_rel) == 1)
		io_ended(x);
}

static void part_done(struct nfs4_ds_io *io)
{
	container_of(io, struct part, io)->ended_ns = clock_ns();
	io_left(io->ctx);
}

/* --- the beginning ------------------------------------------------------------------------- */

static struct layout_io *io_new(struct nfs_op *op)
{
	struct layout_io *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->op = op;
	x->writes = op->type == NFS_WRITE;
	x->offset = x->writes ? op->u.write.offset : op->u.read.offset;
	x->data = x->writes ? &op->u.write.from : &op->u.read.to;
	return x;
}

/* Is op one that data servers may carry out, as far as op and the locks of the mount tell? */
static bool may_go(struct nfs4_client *c, const struct nfs_op *op)
{
	uint64_t now = clock_ns();

	switch (op->be.v4.kind) {
	case NFS_READ:
		if (op->u.read.want_attr)
			return false;
		break;
	case NFS_WRITE:
		if (op->u.write.from.len == 0)
			return false;
		break;
	default:
		return false;
	}
	return nfs_op_open(op) && !nfs4_mount_unsure(c, now) && nfs4_lock_io(c, op, now) == 0;
}

/* Starts all parts of x. */
static void io_start(struct layout_io *x)
{
	struct nfs_op *op = x->op;

	x->part[0].io.moves = !x->writes && x->n == 1 && op->u.read.moves;
	atomic_init(&x->left, x->n + 1);
	nfs_op_called(op, x->begun_ns);
	for (unsigned i = 0; i < x->n; i++) {
		x->part[i].io.done = part_done;
		x->part[i].io.ctx = x;
		nfs4_ds_start(&x->part[i].io);
	}
	io_left(x);
}

/* x goes through the metadata server, since a data server is down. */
static void tell_down(struct layout_io *x, struct nfs4_client *c, const struct nfs4_stateid *id)
{
	const struct nfs4_layout_error e = {
		.offset = x->offset,
		.length = x->data->len,
		.at = {.device = x->down_device,
			.status = NFS4ERR_NXIO,
			.op = x->writes ? OP_WRITE : OP_READ},
	};

	nfs4_layout_report_errors(x->layout->in, c, &nfs_op_open(x->op)->fh, id, &e, 1);
}

/* may_wait: for a layout that is wanted. */
static bool try_io(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs_op *op, bool may_wait)
{
	struct layout_io *x = may_go(c, op) ? io_new(op) : NULL;
	struct nfs4_layout_held *wanted;
	struct nfs4_stateid id;
	bool goes, waits = false, tells;

	if (!x)
		return false;
	x->begun_ns = clock_ns();
	if (t->type == LAYOUT4_NFSV4_1_FILES)
		x->stateid = nfs4_io_stateid(c, op, nfs_op_open(op));
	mutex_lock(&t->lock);
	x->layout =
		nfs4_layout_for_locked(t, nfs_op_open(op), x->writes, nfs_links_large(op), &wanted);
	goes = x->layout && cut_locked(x) && nfs4_task_away(op);
	if (goes) {
		x->layout->nios++;
		count_begun_locked(x);
		op->be.v4.parts = x;
	} else if (wanted && may_wait && nfs4_task_away(op)) {
		TAILQ_INSERT_TAIL(&wanted->waiting, op, link);
		waits = true;
	}
	tells = x->down && !goes && nfs4_layout_down_locked(x->layout, &id);
	if (!goes)
		leave_servers(x);
	mutex_unlock(&t->lock);
	if (tells)
		tell_down(x, c, &id);
	if (goes)
		io_start(x);
	else
		io_free(x);
	return goes || waits;
}

bool nfs4_layout_io(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs_op *op)
{
	return try_io(t, c, op, nfs_links_large(op));
}

/* op waits for a layout no more. False: it does not wait for one. */
static bool leave_locked(struct nfs4_layouts *t, struct nfs_op *op) REQUIRES(t->lock)
{
	const struct nfs_fh *fh = op->type == NFS_READ ? &op->u.read.fh : &op->u.write.fh;
	struct nfs4_layout_held *l = nfs4_layout_find_locked(t, fh);
	struct nfs_op *at;

	if (!l)
		return false;
	TAILQ_FOREACH (at, &l->waiting, link)
		if (at == op)
			break;
	if (at)
		TAILQ_REMOVE(&l->waiting, op, link);
	return at;
}

void nfs4_layout_io_cancel(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs_op *op)
{
	struct layout_io *x;

	if (op->type != NFS_READ && op->type != NFS_WRITE)
		return;
	mutex_lock(&t->lock);
	x = op->type == NFS_READ ? op->be.v4.parts : NULL;
	for (unsigned i = 0; x && i < x->n; i++)
		nfs4_ds_cancel(&x->part[i].io);
	if (leave_locked(t, op)) {
		mutex_lock(&c->srv->slots.lock);
		nfs4_task_end_later_locked(c->srv, op, -EINTR);
		mutex_unlock(&c->srv->slots.lock);
	}
	mutex_unlock(&t->lock);
}

void nfs4_layout_go_on(struct nfs4_layouts *t, struct nfs4_client *c, struct nfs4_stranded *ops)
{
	struct nfs_op *op;

	while ((op = TAILQ_FIRST(ops))) {
		TAILQ_REMOVE(ops, op, link);
		if (!try_io(t, c, op, false))
			nfs4_task_start(op);
	}
}

/* --- LAYOUTCOMMIT -------------------------------------------------------------------------- */

void nfs4_layout_io_over(struct nfs_op *op)
{
	if (op->be.v4.kind == NFS4_K_LAYOUTCOMMIT && op->be.v4.layout)
		nfs4_layout_io_ended(op->be.v4.layout);
	else if (op->be.v4.kind == NFS_CLOSE && op->be.v4.layout)
		nfs4_layout_closed(op->be.v4.layout, false);
	else
		return;
	op->be.v4.layout = NULL;
}

/* Writes the data of op through the metadata server. */
static enum nfs_outcome write_again(struct nfs4_client *c, struct nfs_op *op, const char *why)
{
	log_warn("%s: LAYOUTCOMMIT failed: %s: the data is written through the metadata server",
		c->srv->name, why);
	nfs4_layout_drop(op->be.v4.layout);
	nfs4_layout_io_over(op);
	op->be.v4.kind = NFS_WRITE;
	return NFS_AGAIN;
}

enum nfs_outcome nfs4_layout_uncommitted(struct nfs4_client *c, struct nfs_op *op, uint32_t status)
{
	/* another LAYOUTGET, or a recall, has taken a seqid meanwhile */
	if (status == NFS4ERR_OLD_STATEID && nfs4_task_may_stray(op, OLD_TRIES))
		return NFS_AGAIN;
	return write_again(c, op, status ? nfs4_status_name(status) : "a malformed answer");
}

enum nfs_outcome nfs4_layout_unseen(struct nfs4_client *c, struct nfs_op *op)
{
	if (nfs4_task_may_stray(op, UNSEEN_TRIES))
		return NFS_AGAIN;
	return write_again(c, op, "the metadata server does not see the file's new size");
}

void nfs4_layout_rescue(struct nfs4_stranded *ops)
{
	struct nfs_op *op;

	while ((op = TAILQ_FIRST(ops))) {
		TAILQ_REMOVE(ops, op, link);
		nfs4_task_start(op);
	}
}
