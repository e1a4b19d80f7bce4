/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_report: LAYOUTERROR and LAYOUTSTATS. Model: nfs4_layout_report.h.
 */
#include "nfsproto/v4/pnfs/nfs4_layout_report.h"

#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define CALL_NS (10 * NFS4_SEC)
#define TEND_NS (50 * NFS4_MSEC)  /* between two looks at cancelled reports */
#define LOOK_NS (5 * NFS4_SEC)	  /* between two looks at a layout that is due, without I/O */
#define WAIT_NS (200 * NFS4_MSEC) /* between two looks while another report is under way */

static void reported(struct nfs_op *op)
{
	struct nfs4_layout_report *r = container_of(op, struct nfs4_layout_report, op);
	struct nfs4_layouts *t = r->t;

	if (op->error)
		log_ctrl("%s: %s: %s", nfs4_task_server(op)->name, nfs4_task_kind(op)->name,
			op->be.v4.status ? nfs4_status_name(op->be.v4.status)
					 : strerror(-op->error));
	mutex_lock(&t->lock);
	TAILQ_REMOVE(&t->reports, r, link);
	t->nreports--;
	if (t->closed) /* the pNFS thread waits for the last report */
		pthread_cond_signal(&t->wake);
	mutex_unlock(&t->lock);
	free(r);
}

/* Enters r among those under way. False: there are enough, or the mount ends. */
static bool enter_locked(struct nfs4_layouts *t, struct nfs4_layout_report *r) REQUIRES(t->lock)
{
	if (t->closed || t->nreports >= NFS4_LAYOUT_REPORTS)
		return false;
	TAILQ_INSERT_TAIL(&t->reports, r, link);
	t->nreports++;
	return true;
}

/* May op, one that the server need not have, be sent? */
static bool has(struct nfs4_client *c, uint32_t op)
{
	return c->srv->minor >= 2 && !nfs4_server_lacks(c->srv, op);
}

/* NULL: no memory. */
static struct nfs4_layout_report *report_new(
	struct nfs4_layouts *t, struct nfs4_client *c, unsigned kind, uint64_t now)
{
	struct nfs4_layout_report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->t = t;
	r->until_ns = now + CALL_NS;
	r->told_ns = now;
	r->op.type = NFS_OP_TYPES;
	r->op.cred = c->cred;
	r->op.done = reported;
	nfs4_task_bind(&r->op, nfs4_server_conn(c->srv), &c->user, kind);
	r->op.be.v4.flags = NFS4_F_PRIV;
	return r;
}

void nfs4_layout_report_errors(struct nfs4_layouts *t, struct nfs4_client *c,
	const struct nfs_fh *fh, const struct nfs4_stateid *stateid,
	const struct nfs4_layout_error *error, unsigned n)
{
	struct nfs4_layout_report *r;
	bool goes;

	if (n == 0 || t->type != LAYOUT4_FLEX_FILES || !has(c, OP_LAYOUTERROR))
		return;
	r = report_new(t, c, NFS4_K_LAYOUTERROR, clock_ns());
	if (!r)
		return; /* LAYOUTRETURN tells the errors */
	r->fh = *fh;
	r->stateid = *stateid;
	r->n = n < NFS4_LAYOUT_ERRORS ? n : NFS4_LAYOUT_ERRORS;
	memcpy(r->error, error, r->n * sizeof(*error));
	mutex_lock(&t->lock);
	goes = enter_locked(t, r);
	mutex_unlock(&t->lock);
	if (goes)
		nfs4_task_start(&r->op);
	else
		free(r);
}

/* --- LAYOUTSTATS --------------------------------------------------------------------------- */

/* The first layout with counts that are due, or NULL. Sets the time of the next look. */
static struct nfs4_layout_held *due_locked(struct nfs4_layouts *t, uint64_t now) REQUIRES(t->lock)
{
	struct nfs4_layout_held *l, *due = NULL;
	uint64_t next = UINT64_MAX;

	TAILQ_FOREACH (l, &t->ages, age) {
		const struct nfs4_io_stats *s = l->stats;
		uint64_t at;

		if (!l->held || !s)
			continue;
		if (!due && s->news && s->due_ns <= now) {
			due = l;
			continue;
		}
		at = s->due_ns > now ? s->due_ns : s->news ? now : now + LOOK_NS;
		next = at < next ? at : next;
	}
	t->stats_ns = next;
	return due;
}

/* Enters r with the counts of a layout, if those of one are due. */
static bool take_due_locked(struct nfs4_layouts *t, struct nfs4_layout_report *r, uint64_t now)
	REQUIRES(t->lock)
{
	struct nfs4_layout_held *l = due_locked(t, now);

	if (!l || !enter_locked(t, r))
		return false;
	r->fh = l->fh;
	r->stateid = l->stateid;
	r->stats = *l->stats;
	l->stats->news = false;
	l->stats->due_ns = now + l->stats_s * NFS4_SEC;
	if (l->stats->due_ns < t->stats_ns)
		t->stats_ns = l->stats->due_ns;
	return true;
}

/* When the counts of a layout may be due; 0: at `now`. */
static uint64_t stats_pause(struct nfs4_layouts *t, uint64_t now)
{
	uint64_t at;

	mutex_lock(&t->lock);
	at = t->stats_ns;
	if (at <= now)
		at = t->nreports ? now + WAIT_NS : 0;
	mutex_unlock(&t->lock);
	return at;
}

void nfs4_layout_report_stats(
	struct nfs4_layouts *t, struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	struct nfs4_layout_report *r;
	uint64_t at;
	bool goes;

	if (!has(c, OP_LAYOUTSTATS))
		return;
	at = stats_pause(t, now);
	r = at ? NULL : report_new(t, c, NFS4_K_LAYOUTSTATS, now);
	if (r) {
		mutex_lock(&t->lock);
		goes = take_due_locked(t, r, now);
		at = t->stats_ns > now ? t->stats_ns : now + WAIT_NS;
		mutex_unlock(&t->lock);
		if (goes)
			nfs4_task_start(&r->op);
		else
			free(r);
	}
	if (at && at < *next)
		*next = at;
}

/* --- the end ------------------------------------------------------------------------------- */

void nfs4_layout_reports_tend(
	struct nfs4_layouts *t, struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	struct nfs4_layout_report *r;
	bool late;

	mutex_lock(&t->lock);
	/* at the end of the mount the reports are cancelled elsewhere */
	late = t->closed && !TAILQ_EMPTY(&t->reports);
	TAILQ_FOREACH (r, &t->reports, link) {
		if (now < r->until_ns) {
			*next = r->until_ns < *next ? r->until_ns : *next;
			continue;
		}
		late = true;
		mutex_lock(&c->srv->slots.lock);
		nfs4_task_cancel_locked(&r->op);
		mutex_unlock(&c->srv->slots.lock);
	}
	mutex_unlock(&t->lock);
	if (!late)
		return;
	nfs4_task_pump(c->srv);
	if (now + TEND_NS < *next)
		*next = now + TEND_NS;
}
