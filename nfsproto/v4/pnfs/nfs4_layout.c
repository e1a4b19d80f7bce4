/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout: the layouts of a mount. Model: nfs4_layout.h.
 */
#include "nfsproto/v4/pnfs/nfs4_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/pnfs/nfs4_device.h"
#include "transport/clock.h"

#define ROOM	   (NFS4_LAYOUTS_HELD / 8) /* places that are kept free for new layouts */
#define DEVICES	   16u			   /* layouts that go at once for want of devices */
#define PUT_OFF_NS (250 * NFS4_MSEC)	   /* between two LAYOUTRETURNs of a layout */
#define REST_NS	   (10 * NFS4_SEC)	   /* without layouts, after a recall of all */

/* --- the table ----------------------------------------------------------------------------- */

void nfs4_layouts_init(struct nfs4_layouts *t, uint32_t type)
{
	t->type = type;
	mutex_init(&t->lock);
	clock_cond_init(&t->wake);
	for (unsigned i = 0; i < NFS4_LAYOUT_BUCKETS; i++)
		LIST_INIT(&t->bucket[i]);
	TAILQ_INIT(&t->ages);
	TAILQ_INIT(&t->queue);
	TAILQ_INIT(&t->put_off);
	TAILQ_INIT(&t->reports);
	t->n = t->forgets = t->nreports = 0;
	t->closed = t->poked = t->all_changed = false;
	t->nchanged = 0;
	t->rest_ns = 0;
	t->stats_ns = UINT64_MAX;
}

static void drop_segments(struct nfs4_segments *s)
{
	while (s->n > 0) {
		struct nfs4_segment *seg = &s->seg[--s->n];

		for (unsigned i = 0; seg->target && i < seg->nmirrors * seg->nstripes; i++)
			nfs4_device_leave(seg->target[i].device);
		nfs4_segment_finish(seg);
	}
}

static void free_locked(struct nfs4_layout_held *l) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	struct nfs4_layouts *t = l->in;

	LIST_REMOVE(l, hash);
	TAILQ_REMOVE(&t->ages, l, age);
	if (l->queued)
		TAILQ_REMOVE(&t->queue, l, work);
	t->n--;
	drop_segments(&l->reads);
	drop_segments(&l->writes);
	if (l->want)
		nfs4_open_unref(l->want);
	free(l->stats);
	free(l);
}

void nfs4_layouts_finish(struct nfs4_layouts *t)
{
	mutex_destroy(&t->lock);
	while (!TAILQ_EMPTY(&t->ages))
		free_locked(TAILQ_FIRST(&t->ages));
	pthread_cond_destroy(&t->wake);
}

static unsigned bucket_of(const struct nfs_fh *fh)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (uint32_t i = 0; i < fh->len; i++)
		h = (h ^ fh->data[i]) * 16777619u;
	return h % NFS4_LAYOUT_BUCKETS;
}

struct nfs4_layout_held *nfs4_layout_find_locked(struct nfs4_layouts *t, const struct nfs_fh *fh)
{
	struct nfs4_layout_held *l;

	LIST_FOREACH (l, &t->bucket[bucket_of(fh)], hash)
		if (nfs_fh_equal(&l->fh, fh))
			return l;
	return NULL;
}

static struct nfs4_layout_held *make_locked(struct nfs4_layouts *t, const struct nfs_fh *fh)
	REQUIRES(t->lock)
{
	struct nfs4_layout_held *l;

	if (t->n >= NFS4_LAYOUTS_HELD - ROOM)
		pthread_cond_signal(&t->wake); /* the thread makes room */
	l = t->n < NFS4_LAYOUTS_HELD ? calloc(1, sizeof(*l)) : NULL;
	if (!l)
		return NULL;
	l->in = t;
	l->fh = *fh;
	TAILQ_INIT(&l->waiting);
	TAILQ_INIT(&l->stranded);
	LIST_INSERT_HEAD(&t->bucket[bucket_of(fh)], l, hash);
	TAILQ_INSERT_TAIL(&t->ages, l, age);
	t->n++;
	return l;
}

/* Has the pNFS thread look at l, if there is work. */
static void queue_locked(struct nfs4_layout_held *l) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	if (l->queued || l->busy || !(l->going ? l->nios == 0 : l->want != NULL))
		return;
	l->queued = true;
	TAILQ_INSERT_TAIL(&l->in->queue, l, work);
	pthread_cond_signal(&l->in->wake);
}

static void drop_locked(struct nfs4_layout_held *l, bool forgotten) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	l->forgotten |= forgotten && (l->held || l->going);
	if (!l->held)
		return;
	l->held = false;
	l->going = true;
	queue_locked(l);
}

void nfs4_layouts_poke(struct nfs4_layouts *t)
{
	mutex_lock(&t->lock);
	t->poked = true;
	pthread_cond_signal(&t->wake);
	mutex_unlock(&t->lock);
}

void nfs4_layouts_close(struct nfs4_layouts *t)
{
	mutex_lock(&t->lock);
	t->closed = true;
	pthread_cond_signal(&t->wake);
	mutex_unlock(&t->lock);
}

/* --- I/O ----------------------------------------------------------------------------------- */

/* Do the segments to write serve reads, too? */
static bool writes_read(const struct nfs4_segments *writes)
{
	return writes->n && !(writes->seg[0].flags & FF_FLAGS_NO_READ_IO);
}

static bool is_for_locked(const struct nfs4_layout_held *l, bool writes) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	return l->held && (writes ? l->writes.n : l->reads.n || writes_read(&l->writes));
}

static void want_locked(struct nfs4_layout_held *l, struct nfs_open *o, bool writes)
	REQUIRES(NFS4_LAYOUTS_LOCK)
{
	if (l->going || (l->want && (l->want_writes || !writes)) || clock_ns() < l->again_ns)
		return;
	if (l->want)
		nfs4_open_unref(l->want);
	l->want = nfs4_open_ref(o);
	l->want_writes = writes;
	queue_locked(l);
}

/* Is no layout used or wanted for now? */
static bool rests_locked(const struct nfs4_layouts *t) REQUIRES(t->lock)
{
	return t->rest_ns && clock_ns() < t->rest_ns;
}

struct nfs4_layout_held *nfs4_layout_for_locked(struct nfs4_layouts *t, struct nfs_open *o,
	bool writes, bool large, struct nfs4_layout_held **wanted)
{
	struct nfs4_layout_held *l;

	*wanted = NULL;
	if (t->closed || rests_locked(t))
		return NULL;
	l = nfs4_layout_find_locked(t, &o->fh);
	if (!l)
		l = make_locked(t, &o->fh);
	if (!l)
		return NULL;
	TAILQ_REMOVE(&t->ages, l, age);
	TAILQ_INSERT_TAIL(&t->ages, l, age);
	if (is_for_locked(l, writes))
		return l;
	if (large || l->held || l->small >= NFS4_LAYOUT_SMALL)
		want_locked(l, o, writes);
	else
		l->small++;
	if (l->want && (l->want_writes || !writes))
		*wanted = l;
	return NULL;
}

static const struct nfs4_segment *find_segment(const struct nfs4_segments *s, uint64_t offset)
{
	for (unsigned i = 0; i < s->n; i++)
		if (nfs4_segment_has(&s->seg[i], offset))
			return &s->seg[i];
	return NULL;
}

const struct nfs4_segment *nfs4_layout_at_locked(
	const struct nfs4_layout_held *l, uint64_t offset, bool writes)
{
	const struct nfs4_segment *s = writes ? NULL : find_segment(&l->reads, offset);

	return s || (!writes && !writes_read(&l->writes)) ? s : find_segment(&l->writes, offset);
}

void nfs4_layout_io_ended(struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = l->in;

	mutex_lock(&t->lock);
	l->nios--;
	queue_locked(l);
	mutex_unlock(&t->lock);
}

struct nfs4_io_stats *nfs4_layout_stats_locked(struct nfs4_layout_held *l, uint64_t now)
{
	struct nfs4_layouts *t = l->in;

	if (l->stats || t->type != LAYOUT4_FLEX_FILES)
		return l->stats;
	l->stats = calloc(1, sizeof(*l->stats));
	if (!l->stats)
		return NULL;
	l->stats->due_ns = now + l->stats_s * NFS4_SEC;
	if (l->stats->due_ns < t->stats_ns) {
		t->stats_ns = l->stats->due_ns;
		pthread_cond_signal(&t->wake);
	}
	return l->stats;
}

bool nfs4_layout_down_locked(struct nfs4_layout_held *l, struct nfs4_stateid *id)
{
	bool first = !l->down_told;

	l->down_told = true;
	*id = l->stateid;
	return first;
}

unsigned nfs4_layout_failing(struct nfs4_layout_held *l, struct nfs4_layout_error *e, unsigned n,
	struct nfs4_stateid *id)
{
	struct nfs4_layouts *t = l->in;
	unsigned fresh = 0;

	mutex_lock(&t->lock);
	for (unsigned i = 0; i < n; i++)
		if (nfs4_layout_error_note(l->error, &l->nerrors, &e[i]))
			e[fresh++] = e[i];
	*id = l->stateid;
	drop_locked(l, false);
	mutex_unlock(&t->lock);
	return fresh;
}

bool nfs4_layout_io_failed(struct nfs4_layout_held *l, struct nfs_op *op)
{
	struct nfs4_layouts *t = l->in;
	bool waits;

	mutex_lock(&t->lock);
	waits = !t->closed;
	if (waits)
		TAILQ_INSERT_TAIL(&l->stranded, op, link);
	l->nios--;
	queue_locked(l);
	mutex_unlock(&t->lock);
	return waits;
}

void nfs4_layouts_make_room(struct nfs4_layouts *t)
{
	struct nfs4_layout_held *l;
	unsigned n = 0;

	mutex_lock(&t->lock);
	TAILQ_FOREACH (l, &t->ages, age) {
		if (!l->held || l->nios || l->busy || l->want)
			continue;
		drop_locked(l, false);
		if (++n == DEVICES)
			break;
	}
	mutex_unlock(&t->lock);
}

void nfs4_layout_drop(struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = l->in;

	mutex_lock(&t->lock);
	drop_locked(l, false);
	mutex_unlock(&t->lock);
}

struct nfs4_stateid nfs4_layout_stateid(struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = l->in;
	struct nfs4_stateid id;

	mutex_lock(&t->lock);
	id = l->stateid;
	mutex_unlock(&t->lock);
	return id;
}

/* --- the end of layouts -------------------------------------------------------------------- */

static uint32_t recall_file_locked(
	struct nfs4_layouts *t, const struct nfs4_cb_layoutrecall_args *a) REQUIRES(t->lock)
{
	struct nfs4_layout_held *l = nfs4_layout_find_locked(t, &a->fh);

	if (!l)
		return NFS4ERR_NOMATCHING_LAYOUT;
	if (l->busy && !l->going) /* LAYOUTGET is under way */
		return NFS4ERR_DELAY;
	if (!l->held && !l->going)
		return NFS4ERR_NOMATCHING_LAYOUT;
	/* section 12.5.3: each recall takes a seqid of the layout's stateid */
	if (!memcmp(l->stateid.other, a->stateid.other, sizeof(l->stateid.other)) &&
		a->stateid.seqid > l->stateid.seqid)
		l->stateid.seqid = a->stateid.seqid;
	drop_locked(l, false);
	return NFS4_OK;
}

/* Takes all layouts out of use. Is none held, asked for, or on its way back? */
static bool drop_all_locked(struct nfs4_layouts *t, bool forgotten) REQUIRES(t->lock)
{
	struct nfs4_layout_held *l;
	bool none = true;

	TAILQ_FOREACH (l, &t->ages, age) {
		none &= !l->held && !l->going && !l->busy;
		drop_locked(l, forgotten);
	}
	return none;
}

/* All layouts and devices are recalled. LAYOUTRETURN of one layout need not be taken by the server
 * then, so the recall is over when there is nothing left (section 12.5.5.2.1.5). No layout is
 * wanted for a while: otherwise there would always be one. */
static uint32_t recall_all_locked(struct nfs4_layouts *t) REQUIRES(t->lock)
{
	uint64_t until = clock_ns() + REST_NS;

	t->all_changed = true;
	if (drop_all_locked(t, false))
		return NFS4ERR_NOMATCHING_LAYOUT;
	if (t->rest_ns < until)
		t->rest_ns = until;
	return NFS4ERR_DELAY;
}

uint32_t nfs4_layouts_recall(struct nfs4_layouts *t, const struct nfs4_cb_layoutrecall_args *a)
{
	uint32_t status = NFS4ERR_NOMATCHING_LAYOUT;

	mutex_lock(&t->lock);
	if (a->type != t->type)
		; /* of another type: there is none */
	else if (a->recall == LAYOUTRECALL4_FILE)
		status = recall_file_locked(t, a);
	else /* a file system, or all: the file systems of the files are not known here */
		status = recall_all_locked(t);
	mutex_unlock(&t->lock);
	return status;
}

/* Is l fit to go back with CLOSE? */
static bool may_go_along_locked(const struct nfs4_layout_held *l) REQUIRES(NFS4_LAYOUTS_LOCK)
{
	return l->held && !l->busy && !l->queued && !l->nios && !l->nerrors;
}

void nfs4_layouts_closing(struct nfs4_layouts *t, const struct nfs_fh *fh, bool local)
{
	struct nfs4_layout_held *l;

	mutex_lock(&t->lock);
	l = nfs4_layout_find_locked(t, fh);
	if (l) {
		l->closes++;
		if (l->return_on_close && (local || !may_go_along_locked(l)))
			drop_locked(l, false);
	}
	mutex_unlock(&t->lock);
}

struct nfs4_layout_held *nfs4_layouts_close_along(struct nfs4_layouts *t, const struct nfs_fh *fh)
{
	struct nfs4_layout_held *l;

	mutex_lock(&t->lock);
	l = t->closed ? NULL : nfs4_layout_find_locked(t, fh);
	if (l && l->return_on_close && may_go_along_locked(l)) {
		l->held = false;
		l->going = true;
		l->busy = true; /* the pNFS thread leaves l alone */
	} else {
		l = NULL;
	}
	mutex_unlock(&t->lock);
	return l;
}

bool nfs4_layout_returning(struct nfs4_layout_held *l, struct nfs4_layoutreturn *r)
{
	struct nfs4_layouts *t = l->in;
	bool known;

	mutex_lock(&t->lock);
	known = !l->forgotten;
	r->fh = &l->fh;
	r->stateid = l->stateid;
	r->nerrors = l->nerrors;
	memcpy(r->error, l->error, sizeof(r->error));
	if (l->stats)
		r->stats = *l->stats;
	else
		r->stats.n = 0;
	mutex_unlock(&t->lock);
	return known;
}

void nfs4_layout_closed(struct nfs4_layout_held *l, bool returned)
{
	struct nfs4_layouts *t = l->in;

	mutex_lock(&t->lock);
	if (returned)
		nfs4_layout_gone_locked(l, 0);
	nfs4_layout_done_locked(l);
	mutex_unlock(&t->lock);
}

bool nfs4_layouts_close_matters(struct nfs4_layouts *t, const struct nfs_fh *fh)
{
	const struct nfs4_layout_held *l;
	bool matters;

	mutex_lock(&t->lock);
	l = nfs4_layout_find_locked(t, fh);
	/* of a layout that is being asked for, the server's wish is not known yet */
	matters = l && (l->busy || (l->held && l->return_on_close));
	mutex_unlock(&t->lock);
	return matters;
}

void nfs4_layouts_drop_all(struct nfs4_layouts *t, bool forgotten)
{
	mutex_lock(&t->lock);
	t->forgets += forgotten;
	/* a device ID may mean another data server after a restart (RFC 8881 section 12.7.4) */
	t->all_changed |= forgotten;
	drop_all_locked(t, forgotten);
	mutex_unlock(&t->lock);
}

bool nfs4_layouts_rest(struct nfs4_layouts *t, uint64_t until)
{
	const struct nfs4_layout_held *l;
	bool none;

	mutex_lock(&t->lock);
	t->rest_ns = until;
	drop_all_locked(t, false);
	none = TAILQ_EMPTY(&t->queue) && t->nreports == 0;
	TAILQ_FOREACH (l, &t->ages, age)
		none &= !l->held && !l->going && !l->busy && !l->nios && TAILQ_EMPTY(&l->waiting);
	mutex_unlock(&t->lock);
	return none;
}

static bool segments_name(const struct nfs4_segments *s, const struct nfs4_deviceid *id)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct nfs4_segment *seg = &s->seg[i];

		if (seg->files && !memcmp(&seg->id, id, sizeof(*id)))
			return true;
		for (unsigned n = 0; n < seg->nmirrors * seg->nstripes; n++)
			if (!memcmp(&seg->target[n].id, id, sizeof(*id)))
				return true;
	}
	return false;
}

static bool layout_names_locked(const struct nfs4_layout_held *l, const struct nfs4_deviceid *id)
	REQUIRES(NFS4_LAYOUTS_LOCK)
{
	return segments_name(&l->reads, id) || segments_name(&l->writes, id);
}

void nfs4_layout_recheck_locked(struct nfs4_layout_held *l)
{
	const struct nfs4_layouts *t = l->in;
	bool changed = t->all_changed;

	for (unsigned i = 0; i < t->nchanged && !changed; i++)
		changed = layout_names_locked(l, &t->changed[i].device);
	if (changed)
		drop_locked(l, false);
}

static void device_changed_locked(struct nfs4_layouts *t, const struct nfs4_device_change *change)
	REQUIRES(t->lock)
{
	const struct nfs4_deviceid *id = &change->device;
	struct nfs4_layout_held *l;

	if (t->nchanged < NFS4_DEVICES_KEPT)
		t->changed[t->nchanged++] = *change;
	else
		t->all_changed = true;
	TAILQ_FOREACH (l, &t->ages, age)
		if (l->held && layout_names_locked(l, id))
			drop_locked(l, false);
}

void nfs4_layouts_devices_changed(
	struct nfs4_layouts *t, const struct nfs4_cb_notify_deviceid_args *a)
{
	mutex_lock(&t->lock);
	for (uint32_t i = 0; i < a->n; i++)
		if (a->change[i].type == t->type)
			device_changed_locked(t, &a->change[i]);
	if (a->more) {
		t->all_changed = true;
		drop_all_locked(t, false);
	}
	t->poked = true;
	pthread_cond_signal(&t->wake);
	mutex_unlock(&t->lock);
}

/* --- for the pNFS thread ------------------------------------------------------------------- */

/* Frees layouts of which nothing is held, the oldest first. If that is not enough, the oldest that
 * is held and idle goes. */
static void make_room_locked(struct nfs4_layouts *t) REQUIRES(t->lock)
{
	struct nfs4_layout_held *l, *next;
	bool drops = false;

	for (l = TAILQ_FIRST(&t->ages); l && t->n > NFS4_LAYOUTS_HELD - ROOM; l = next) {
		next = TAILQ_NEXT(l, age);
		if (l->nios || l->busy || l->going || l->want)
			continue;
		if (!l->held) {
			free_locked(l);
		} else if (!drops) {
			drop_locked(l, false);
			drops = true;
		}
	}
}

/* The first layout that was put off, if it is due; or NULL. */
static struct nfs4_layout_held *put_off_locked(struct nfs4_layouts *t, uint64_t *next)
	REQUIRES(t->lock)
{
	struct nfs4_layout_held *l = TAILQ_FIRST(&t->put_off);

	if (l && l->back_ns > clock_ns()) {
		*next = l->back_ns < *next ? l->back_ns : *next;
		return NULL;
	}
	if (l)
		TAILQ_REMOVE(&t->put_off, l, work);
	return l;
}

struct nfs4_layout_held *nfs4_layouts_work_locked(struct nfs4_layouts *t, uint64_t *next)
{
	struct nfs4_layout_held *l = put_off_locked(t, next);

	if (l)
		return l;
	make_room_locked(t);
	l = TAILQ_FIRST(&t->queue);
	if (!l)
		return NULL;
	TAILQ_REMOVE(&t->queue, l, work);
	l->queued = false;
	l->busy = true;
	return l;
}

/* A want may have come while the layout was being asked for. */
struct nfs_open *nfs4_layout_take_want_locked(struct nfs4_layout_held *l, bool *writes)
{
	struct nfs_open *o = l->want;

	l->want = NULL;
	*writes = l->want_writes;
	if (!o || (!is_for_locked(l, *writes) && clock_ns() >= l->again_ns && !rests_locked(l->in)))
		return o;
	nfs4_open_unref(o);
	return NULL;
}

bool nfs4_layout_put_off_locked(struct nfs4_layout_held *l, uint64_t most_ns)
{
	uint64_t now = clock_ns();

	if (!l->back_by_ns)
		l->back_by_ns = now + most_ns;
	if (now >= l->back_by_ns)
		return false;
	l->back_ns = now + PUT_OFF_NS;
	TAILQ_INSERT_TAIL(&l->in->put_off, l, work);
	if (l->want)
		nfs4_open_unref(l->want);
	l->want = NULL;
	return true;
}

void nfs4_layout_done_locked(struct nfs4_layout_held *l)
{
	l->busy = false;
	queue_locked(l);
}

bool nfs4_layout_keep_locked(struct nfs4_layout_held *l, struct nfs4_layoutget *g)
{
	struct nfs4_segments *to = g->segs.seg[0].writes ? &l->writes : &l->reads;

	drop_segments(to);
	*to = g->segs;
	g->segs.n = 0;
	l->stateid = g->stateid;
	l->return_on_close = g->return_on_close;
	l->stats_s = to->seg[0].stats_s ? to->seg[0].stats_s : NFS4_IO_STATS_S;
	l->held = true;
	l->down_told = false;
	return is_for_locked(l, g->writes);
}

void nfs4_layout_gone_locked(struct nfs4_layout_held *l, unsigned pause_ms)
{
	drop_segments(&l->reads);
	drop_segments(&l->writes);
	l->held = l->going = l->forgotten = false;
	l->back_by_ns = 0;
	l->small = 0;
	l->nerrors = 0;
	free(l->stats);
	l->stats = NULL;
	l->again_ns = clock_ns() + pause_ms * NFS4_MSEC;
}

/* --- LAYOUTGET ----------------------------------------------------------------------------- */

/* Does the last segment overlap one before, or differ from them in kind? */
static bool is_wrong(const struct nfs4_layoutget *g)
{
	const struct nfs4_segment *last = &g->segs.seg[g->segs.n - 1];

	for (unsigned i = 0; i + 1 < g->segs.n; i++)
		if (nfs4_segments_overlap(&g->segs.seg[i], last) ||
			g->segs.seg[i].writes != last->writes)
			return true;
	return g->writes && !last->writes;
}

void nfs4_layoutget_told(struct nfs4_layoutget *g, const struct nfs4_layoutget_res *r)
{
	struct nfs4_segments *s = &g->segs;

	s->n = 0;
	g->error = r->n ? 0 : -EBADMSG;
	g->stateid = r->stateid;
	g->return_on_close = r->return_on_close;
	for (uint32_t i = 0; i < r->n && s->n < NFS4_LAYOUT_SEGMENTS && !g->error; i++) {
		g->error = nfs4_segment_init(&s->seg[s->n], &r->layout[i], g->type);
		if (!g->error) {
			s->n++;
			g->error = is_wrong(g) ? -EBADMSG : 0;
		}
	}
	if (g->error)
		nfs4_layoutget_finish(g);
}

void nfs4_layoutget_finish(struct nfs4_layoutget *g)
{
	drop_segments(&g->segs);
}
