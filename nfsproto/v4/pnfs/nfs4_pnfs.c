/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_pnfs: the pNFS thread. Model: nfs4_pnfs.h.
 */
#include "nfsproto/v4/pnfs/nfs4_pnfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/pnfs/nfs4_layout_devices.h"
#include "nfsproto/v4/pnfs/nfs4_layout_io.h"
#include "nfsproto/v4/pnfs/nfs4_layout_report.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/clock.h"
#include "transport/log.h"

#define CALL_MS	      10000u /* for a call of the thread */
#define SOON_MS	      1000u  /* before another attempt, doubled up to ... */
#define LATE_MS	      30000u
#define NEVER_MS      600000u /* the server has no layout for the file */
#define IDLE_NS	      (10 * NFS4_SEC)
#define STEP_NS	      (20 * NFS4_MSEC)
#define DS_AGAIN_MS   2000u
#define OLD_TRIES     3u
#define DS_AGAIN_MOST 60000u

static unsigned doubled(unsigned ms, unsigned times, unsigned most)
{
	while (times-- > 0 && ms < most)
		ms *= 2;
	return ms < most ? ms : most;
}

/* --- data servers -------------------------------------------------------------------------- */

/* Has the statistics show the connection of ds, until ds ends. */
static void show(struct nfs4_pnfs *p, struct nfs4_ds *ds)
{
	/* the metadata server's own connection is shown already */
	if (nfs4_ds_rpc(ds) != p->c->srv->conn[0].rpc)
		nfs_more_add(&p->devices.shown, nfs4_ds_rpc(ds));
}

/* Connects one data server that is due. False: none is; *next is when to look again. */
static bool connect_one(struct nfs4_pnfs *p, uint64_t now, uint64_t *next)
{
	struct err e = {.kind = ERR_NONE};
	struct nfs4_ds *ds;

	LIST_FOREACH (ds, &p->devices.servers, link) {
		if (!nfs4_ds_is_new(ds))
			continue;
		if (ds->again_ns <= now)
			break;
		if (ds->again_ns < *next)
			*next = ds->again_ns;
	}
	if (!ds)
		return false;
	if (nfs4_ds_connect(ds, &p->common, &e)) {
		log_info("%s: data server %s is connected", p->c->srv->name, ds->name);
		show(p, ds);
		return true;
	}
	log_warn("%s: data server %s: %s: its data goes through the metadata server",
		p->c->srv->name, ds->name, e.msg);
	ds->again_ns = clock_ns() + doubled(DS_AGAIN_MS, ds->tries++, DS_AGAIN_MOST) * NFS4_MSEC;
	return true;
}

/* --- LAYOUTGET ----------------------------------------------------------------------------- */

/* The pause after a layout that was malformed, or is of no use here. */
static unsigned unusable_ms(struct nfs4_pnfs *p, int error, unsigned refusals)
{
	if (error == -ENOBUFS) /* other layouts go back meanwhile */
		return doubled(SOON_MS, refusals, LATE_MS);
	log_warn("%s: %s: the file's data goes through the metadata server", p->c->srv->name,
		error == -EBADMSG ? "a layout is malformed, or of another type than asked for, or "
				    "its segments or stripes overlap: server bug"
		: error == -EOPNOTSUPP ? "a layout has too many data servers"
				       : strerror(-error));
	return error == -EOPNOTSUPP ? NEVER_MS : LATE_MS;
}

/* The pause after a LAYOUTGET that was refused. */
static unsigned refused_ms(struct nfs4_pnfs *p, uint32_t status, int error, unsigned refusals)
{
	log_ctrl("%s: LAYOUTGET: %s", p->c->srv->name,
		status ? nfs4_status_name(status) : strerror(-error));
	switch (status) {
	case NFS4ERR_LAYOUTUNAVAILABLE:
	case NFS4ERR_UNKNOWN_LAYOUTTYPE:
	case NFS4ERR_NOTSUPP:
		return NEVER_MS;
	default:
		return doubled(SOON_MS, refusals, LATE_MS);
	}
}

static void keep_locked(struct nfs4_layout_held *l, struct nfs4_layoutget *g, unsigned closes)
	REQUIRES(NFS4_LAYOUTS_LOCK)
{
	l->refusals = 0;
	if (!nfs4_layout_keep_locked(l, g))
		l->again_ns = clock_ns() + LATE_MS * NFS4_MSEC;
	/* the file was closed meanwhile: the server may have dropped the layout already */
	if (g->return_on_close && l->closes != closes) {
		l->held = false;
		l->going = true;
	}
}

/* g was answered. */
static void take_locked(struct nfs4_layout_held *l, struct nfs4_layoutget *g, unsigned closes)
	REQUIRES(NFS4_LAYOUTS_LOCK)
{
	if (!g->error && !l->going) {
		keep_locked(l, g, closes);
		return;
	}
	/* of no use, or dropped meanwhile: goes back */
	l->stateid = g->stateid;
	l->held = false;
	l->going = true;
}

/* The work on l is done, until more comes. */
static void leave(struct nfs4_pnfs *p, struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = &p->layouts;
	struct nfs4_stranded ops;

	TAILQ_INIT(&ops);
	mutex_lock(&t->lock);
	if (!l->want)
		TAILQ_CONCAT(&ops, &l->waiting, link);
	nfs4_layout_done_locked(l);
	mutex_unlock(&t->lock);
	nfs4_layout_go_on(t, p->c, &ops);
}

/* Takes the answer to a LAYOUTGET. */
static void take_answer(struct nfs4_pnfs *p, struct nfs4_layout_ask *ask, bool closed)
{
	struct nfs4_layouts *t = &p->layouts;
	struct nfs4_layout_held *l = ask->l;
	struct nfs4_layoutget *g = &ask->g;
	unsigned pause_ms = 0;
	int rc = ask->error;

	if (!rc && !g->error && !closed && !nfs4_layout_devices(p->c, &p->devices, g))
		nfs4_layouts_make_room(t);
	mutex_lock(&t->lock);
	if (!rc && ask->forgets != t->forgets)
		rc = -EAGAIN; /* the server may have forgotten the layout, too */
	else if (!rc)
		take_locked(l, g, ask->closes);
	nfs4_layout_recheck_locked(l);
	if (rc)
		pause_ms = refused_ms(p, ask->status, rc, l->refusals++);
	else if (g->error)
		pause_ms = unusable_ms(p, g->error, l->refusals++);
	if (pause_ms)
		l->again_ns = clock_ns() + pause_ms * NFS4_MSEC;
	mutex_unlock(&t->lock);
	nfs4_layout_ask_free(ask);
	leave(p, l);
}

/* Asks for l through o, with a reference. False: no memory. */
static bool ask_for(
	struct nfs4_pnfs *p, struct nfs4_layout_held *l, struct nfs_open *o, bool writes)
{
	struct nfs4_layouts *t = &p->layouts;

	if (!nfs4_layout_ask(&p->asks, p->c, l, o, writes))
		return true;
	nfs4_open_unref(o);
	mutex_lock(&t->lock);
	l->again_ns = clock_ns() + SOON_MS * NFS4_MSEC;
	mutex_unlock(&t->lock);
	return false;
}

/* --- LAYOUTRETURN -------------------------------------------------------------------------- */

/* The server has revoked the layout. FREE_STATEID ends the flag in the server's answers that tells
 * of revoked state (RFC 8881 section 18.38). */
static void free_stateid(struct nfs4_pnfs *p, const struct nfs4_stateid *id)
{
	struct nfs4_sync s;

	s.u.free_id = *id;
	nfs4_sync_run(p->c->srv, &s, NFS4_K_FREE_STATEID, CALL_MS);
}

/* How a LAYOUTRETURN has ended: the server has the layout back, or does not know it; a recall has
 * taken a seqid of the layout's stateid meanwhile; the server does not take the layout now. */
enum back { BACK, OLD, LATER };

/* Has the server not decided about a LAYOUTRETURN? A mount that is soft waits for no silent server.
 */
static bool is_undecided(struct nfs4_pnfs *p, const struct nfs4_sync *s, int rc)
{
	if (!s->status)
		return rc == -ETIMEDOUT && !p->c->user.soft;
	nfs4_state_doubt(s->op.be.v4.conn, s->status);
	return nfs4_recover_undecided(s->status);
}

static enum back send_return(struct nfs4_pnfs *p, const struct nfs4_layoutreturn *r)
{
	struct nfs4_sync s;
	int rc;

	s.u.layoutreturn = r;
	rc = nfs4_mount_run(p->c, &s, NFS4_K_LAYOUTRETURN, CALL_MS);
	if (!rc)
		return BACK;
	log_ctrl("%s: LAYOUTRETURN: %s", p->c->srv->name,
		s.status ? nfs4_status_name(s.status) : strerror(-rc));
	if (s.status == NFS4ERR_EXPIRED || s.status == NFS4ERR_ADMIN_REVOKED ||
		s.status == NFS4ERR_DELEG_REVOKED)
		free_stateid(p, &r->stateid);
	if (s.status == NFS4ERR_OLD_STATEID)
		return OLD;
	return is_undecided(p, &s, rc) ? LATER : BACK;
}

/* True: l is to be returned later. I/O that waits for another layout goes on. */
static bool put_off(struct nfs4_pnfs *p, struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = &p->layouts;
	struct nfs4_stranded ops;
	bool later;

	TAILQ_INIT(&ops);
	mutex_lock(&t->lock);
	later = nfs4_layout_put_off_locked(l, atomic_load(&p->c->srv->lease_s) * NFS4_SEC);
	if (later)
		TAILQ_CONCAT(&ops, &l->waiting, link);
	mutex_unlock(&t->lock);
	nfs4_layout_go_on(t, p->c, &ops);
	return later;
}

/* False: l, which stays busy, is to be returned later. */
static bool return_layout(struct nfs4_pnfs *p, struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = &p->layouts;
	struct nfs4_layoutreturn r;
	struct nfs4_stranded ops;
	enum back back = nfs4_layout_returning(l, &r) ? OLD : BACK;
	uint64_t again;

	TAILQ_INIT(&ops);
	for (unsigned i = 0; i < r.nerrors; i++)
		nfs4_devices_doubt(&p->devices, &r.error[i].at.device);
	for (unsigned tries = 0; back == OLD && tries <= OLD_TRIES; tries++) {
		r.stateid = nfs4_layout_stateid(l);
		back = send_return(p, &r);
	}
	if (back == LATER && put_off(p, l))
		return false;
	mutex_lock(&t->lock);
	again = l->again_ns;
	nfs4_layout_gone_locked(
		l, r.nerrors ? doubled(SOON_MS, l->refusals++, LATE_MS) : SOON_MS / 10);
	if (again > l->again_ns)
		l->again_ns = again;
	TAILQ_CONCAT(&ops, &l->stranded, link);
	mutex_unlock(&t->lock);
	nfs4_layout_rescue(&ops);
	return true;
}

/* --- the thread ---------------------------------------------------------------------------- */

static void work_on(struct nfs4_pnfs *p, struct nfs4_layout_held *l)
{
	struct nfs4_layouts *t = &p->layouts;
	struct nfs_open *o;
	bool going, writes = false;

	mutex_lock(&t->lock);
	going = l->going && l->nios == 0;
	o = going ? NULL : nfs4_layout_take_want_locked(l, &writes);
	mutex_unlock(&t->lock);
	if (going && !return_layout(p, l))
		return;
	if (!o || !ask_for(p, l, o, writes))
		leave(p, l);
}

/* The layouts are closed, so no more ops come to wait in them. */
static void rescue_all(struct nfs4_layouts *t)
{
	struct nfs4_layout_held *l;
	struct nfs4_stranded ops;

	TAILQ_INIT(&ops);
	mutex_lock(&t->lock);
	TAILQ_FOREACH (l, &t->ages, age) {
		TAILQ_CONCAT(&ops, &l->waiting, link);
		TAILQ_CONCAT(&ops, &l->stranded, link);
	}
	mutex_unlock(&t->lock);
	nfs4_layout_rescue(&ops);
}

/* Has the devices that have changed asked for again. */
static void doubt_changed(struct nfs4_pnfs *p)
{
	struct nfs4_layouts *t = &p->layouts;

	mutex_lock(&t->lock);
	for (unsigned i = 0; i < t->nchanged; i++)
		if (t->changed[i].deleted)
			nfs4_devices_delete(&p->devices, &t->changed[i].device);
		else
			nfs4_devices_doubt(&p->devices, &t->changed[i].device);
	if (t->all_changed)
		nfs4_devices_doubt(&p->devices, NULL);
	t->nchanged = 0;
	t->all_changed = false;
	mutex_unlock(&t->lock);
}

/* Is there work that came since the last look? */
static bool has_news_locked(struct nfs4_pnfs *p) REQUIRES(p->layouts.lock)
{
	struct nfs4_layouts *t = &p->layouts;

	if (t->poked || !TAILQ_EMPTY(&p->asks.answered))
		return true;
	if (t->closed)
		return !p->asks.n && !t->nreports;
	return p->asks.n < NFS4_LAYOUT_ASKS && !TAILQ_EMPTY(&t->queue);
}

/* Does one thing, if there is one to do. False: *next is when to look again. */
static bool do_one(struct nfs4_pnfs *p, uint64_t *next)
{
	struct nfs4_layouts *t = &p->layouts;
	struct nfs4_layout_held *l = NULL;
	struct nfs4_layout_ask *ask;
	uint64_t now = clock_ns();
	struct nfs4_ds *ds;
	bool closed;

	*next = now + IDLE_NS;
	mutex_lock(&t->lock);
	t->poked = false;
	closed = t->closed;
	ask = nfs4_layout_asks_take_locked(&p->asks);
	if (!ask && !closed && p->asks.n < NFS4_LAYOUT_ASKS)
		l = nfs4_layouts_work_locked(t, next);
	mutex_unlock(&t->lock);
	doubt_changed(p);
	LIST_FOREACH (ds, &p->devices.servers, link)
		nfs4_ds_give_up(ds);
	nfs4_layout_asks_tend(&p->asks, p->c, now, next);
	nfs4_layout_reports_tend(t, p->c, now, next);
	nfs4_layout_report_stats(t, p->c, now, next);
	if (ask)
		take_answer(p, ask, closed);
	else if (l)
		work_on(p, l);
	if (ask || l || closed)
		return ask || l;
	return connect_one(p, now, next) || nfs4_devices_tidy(&p->devices);
}

static void *pnfs_main(void *arg)
{
	struct nfs4_pnfs *p = arg;
	struct nfs4_layouts *t = &p->layouts;
	struct nfs4_ds *ds;

	mutex_lock(&t->lock);
	while (!t->closed || p->asks.n || t->nreports) {
		uint64_t next;
		bool more;

		mutex_unlock(&t->lock);
		more = do_one(p, &next);
		mutex_lock(&t->lock);
		if (!more && !has_news_locked(p))
			nfs4_state_wait_locked(&t->wake, &t->lock, next);
	}
	mutex_unlock(&t->lock);
	LIST_FOREACH (ds, &p->devices.servers, link)
		nfs4_ds_close(ds);
	rescue_all(t);
	return NULL;
}

/* --- beginning and end --------------------------------------------------------------------- */

static struct nfs4_pnfs *pnfs_of(struct nfs4_client *c)
{
	/* acquire: the thread that made it has set it up before */
	return atomic_load_explicit(&c->pnfs, memory_order_acquire);
}

static void ds_news(void *ctx)
{
	struct nfs4_pnfs *p = ctx;

	nfs4_layouts_poke(&p->layouts);
}

int nfs4_pnfs_begin(struct nfs4_client *c, uint32_t type)
{
	struct nfs4_pnfs *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->c = c;
	p->abort_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->abort_fd < 0) {
		rc = -errno;
		free(p);
		return rc;
	}
	p->common = (struct nfs4_ds_common){
		.rp = c->srv->rp,
		.cred = c->cred,
		.kinds = c->srv->kinds,
		.metadata = c->srv,
		.news = ds_news,
		.ctx = p,
	};
	p->common.rp.choice = NULL;
	p->common.rp.nchoice = 0;
	p->common.rp.paths = NULL;
	p->common.rp.cb_service = NULL;
	p->common.rp.cb_prog = 0;
	p->common.rp.abort_fd = p->abort_fd;
	nfs4_layouts_init(&p->layouts, type);
	nfs4_layout_asks_init(&p->asks, &p->layouts);
	nfs4_devices_init(&p->devices);
	rc = pthread_create(&p->thread, NULL, pnfs_main, p);
	if (rc) {
		nfs4_layouts_finish(&p->layouts);
		nfs4_devices_finish(&p->devices);
		close(p->abort_fd);
		free(p);
		return -rc;
	}
	atomic_store_explicit(&c->pnfs, p, memory_order_release);
	atomic_store_explicit(&c->base.more, &p->devices.shown, memory_order_release);
	return 0;
}

void nfs4_pnfs_stop(struct nfs4_client *c)
{
	struct nfs4_pnfs *p = pnfs_of(c);
	uint64_t one = 1;

	if (!p)
		return;
	nfs4_layouts_close(&p->layouts);
	if (write(p->abort_fd, &one, sizeof(one)) < 0)
		log_warn("cannot end the connecting to data servers early: %s", strerror(errno));
}

static bool any_held(struct nfs4_layouts *t)
{
	struct nfs4_layout_held *l;
	bool any = false;

	mutex_lock(&t->lock);
	TAILQ_FOREACH (l, &t->ages, age)
		any |= (l->held || l->going) && !l->forgotten;
	mutex_unlock(&t->lock);
	return any;
}

/* Waits for the thread; from `until` on its calls are cancelled. */
static void join(struct nfs4_pnfs *p, uint64_t until)
{
	struct nfs4_client *c = p->c;

	while (!clock_join(p->thread, until)) {
		nfs4_task_fail_queued(c->srv, &c->user);
		nfs4_task_abandon(c->srv, &c->user);
		until = clock_ns() + STEP_NS;
	}
}

void nfs4_pnfs_end(struct nfs4_client *c, uint64_t until)
{
	struct nfs4_layoutreturn all = {.fh = NULL};
	struct nfs4_pnfs *p = pnfs_of(c);
	uint64_t now = clock_ns();
	struct nfs4_sync s;

	if (!p || p->ended)
		return;
	p->ended = true;
	nfs4_pnfs_stop(c);
	join(p, until);
	atomic_store(&c->base.more, NULL);
	nfs4_devices_close(&p->devices);
	s.u.layoutreturn = &all;
	if (now < until && any_held(&p->layouts) &&
		nfs4_mount_run(c, &s, NFS4_K_LAYOUTRETURN, (unsigned)((until - now) / NFS4_MSEC)))
		log_ctrl("%s: LAYOUTRETURN of all: %s", c->srv->name,
			s.status ? nfs4_status_name(s.status) : strerror(-s.op.error));
}

void nfs4_pnfs_free(struct nfs4_client *c)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	if (!p)
		return;
	atomic_store(&c->pnfs, NULL);
	nfs4_layouts_finish(&p->layouts);
	nfs4_devices_finish(&p->devices);
	close(p->abort_fd);
	free(p);
}

/* --- for a mount that may use pNFS or not -------------------------------------------------- */

uint32_t nfs4_pnfs_type(struct nfs4_client *c)
{
	const struct nfs4_pnfs *p = pnfs_of(c);

	return p ? p->layouts.type : LAYOUT4_FLEX_FILES;
}

bool nfs4_pnfs_io(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	return p && nfs4_layout_io(&p->layouts, c, op);
}

void nfs4_pnfs_cancel(struct nfs4_client *c, struct nfs_op *op)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	if (p)
		nfs4_layout_io_cancel(&p->layouts, c, op);
}

/* Is o the last open of its file? *local: the server does not know o. */
static bool is_last_open(struct nfs4_client *c, const struct nfs_open *o, bool *local)
{
	const struct nfs_open *other;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (other, &c->opens, link)
		if (other != o && !other->close_wanted && nfs_fh_equal(&other->fh, &o->fh))
			break;
	*local = o->local;
	mutex_unlock(&c->lock);
	return !other;
}

void nfs4_pnfs_closing(struct nfs4_client *c, const struct nfs_open *o)
{
	struct nfs4_pnfs *p = pnfs_of(c);
	bool local;

	if (p && nfs4_layouts_close_matters(&p->layouts, &o->fh) && is_last_open(c, o, &local))
		nfs4_layouts_closing(&p->layouts, &o->fh, local);
}

struct nfs4_layout_held *nfs4_pnfs_close_along(struct nfs4_client *c, const struct nfs_open *o)
{
	struct nfs4_pnfs *p = pnfs_of(c);
	bool local;

	if (!p || !nfs4_layouts_close_matters(&p->layouts, &o->fh) || !is_last_open(c, o, &local))
		return NULL;
	return nfs4_layouts_close_along(&p->layouts, &o->fh);
}

uint32_t nfs4_pnfs_recall(struct nfs4_client *c, const struct nfs4_cb_layoutrecall_args *a)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	return p ? nfs4_layouts_recall(&p->layouts, a) : NFS4ERR_NOMATCHING_LAYOUT;
}

bool nfs4_pnfs_settle(struct nfs4_client *c)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	return !p || nfs4_layouts_rest(&p->layouts, clock_ns() + NFS4_SEC);
}

void nfs4_pnfs_device_news(struct nfs4_client *c, const struct nfs4_cb_notify_deviceid_args *a)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	if (p)
		nfs4_layouts_devices_changed(&p->layouts, a);
}

void nfs4_pnfs_forget(struct nfs4_client *c)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	if (p)
		nfs4_layouts_drop_all(&p->layouts, true);
}

void nfs4_pnfs_revoked(struct nfs4_client *c)
{
	struct nfs4_pnfs *p = pnfs_of(c);

	if (p)
		nfs4_layouts_drop_all(&p->layouts, false);
}
