/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_report: the LAYOUTERRORs of a mount. Model: nfs4_layout_report.h.
 */
#include "nfsproto/v4/pnfs/nfs4_layout_report.h"

#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define CALL_NS (10 * NFS4_SEC)
#define TEND_NS (50 * NFS4_MSEC) /* between two looks at reports that were given up */

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
static bool enter(struct nfs4_layouts *t, struct nfs4_layout_report *r)
{
	bool may;

	mutex_lock(&t->lock);
	may = !t->closed && t->nreports < NFS4_LAYOUT_REPORTS;
	if (may) {
		TAILQ_INSERT_TAIL(&t->reports, r, link);
		t->nreports++;
	}
	mutex_unlock(&t->lock);
	return may;
}

void nfs4_layout_report_errors(struct nfs4_layouts *t, struct nfs4_client *c,
	const struct nfs_fh *fh, const struct nfs4_stateid *stateid,
	const struct nfs4_layout_error *error, unsigned n)
{
	struct nfs4_layout_report *r;

	if (n == 0 || c->srv->minor < 2 || nfs4_server_lacks(c->srv, OP_LAYOUTERROR))
		return;
	r = calloc(1, sizeof(*r));
	if (!r)
		return; /* LAYOUTRETURN tells the errors */
	r->t = t;
	r->fh = *fh;
	r->stateid = *stateid;
	r->n = n < NFS4_LAYOUT_ERRORS ? n : NFS4_LAYOUT_ERRORS;
	memcpy(r->error, error, r->n * sizeof(*error));
	r->until_ns = clock_ns() + CALL_NS;
	r->op.type = NFS_OP_TYPES;
	r->op.cred = c->cred;
	r->op.done = reported;
	nfs4_task_bind(&r->op, nfs4_server_conn(c->srv), &c->user, NFS4_K_LAYOUTERROR);
	r->op.be.v4.flags = NFS4_F_PRIV;
	if (enter(t, r))
		nfs4_task_start(&r->op);
	else
		free(r);
}

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
