/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_ask: LAYOUTGETs under way. Model: nfs4_layout_ask.h.
 */
#include "nfsproto/v4/pnfs/nfs4_layout_ask.h"

#include <errno.h>
#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"

#define CALL_NS (10 * NFS4_SEC)
#define TEND_NS (50 * NFS4_MSEC) /* between two looks at asks that were given up */

void nfs4_layout_asks_init(struct nfs4_layout_asks *a, struct nfs4_layouts *t)
{
	mutex_alone(&t->lock); /* no other thread knows of the layouts yet */
	a->t = t;
	a->n = 0;
	TAILQ_INIT(&a->started);
	TAILQ_INIT(&a->answered);
}

static void answered(struct nfs_op *op)
{
	struct nfs4_layout_ask *ask = container_of(op, struct nfs4_layout_ask, op);
	struct nfs4_layout_asks *a = op->ctx;
	struct nfs4_layouts *t = a->t;

	mutex_lock(&t->lock);
	ask->error = op->error;
	ask->status = op->be.v4.status;
	TAILQ_REMOVE(&a->started, ask, link);
	TAILQ_INSERT_TAIL(&a->answered, ask, link);
	pthread_cond_signal(&t->wake);
	mutex_unlock(&t->lock);
}

int nfs4_layout_ask(struct nfs4_layout_asks *a, struct nfs4_client *c, struct nfs4_layout_held *l,
	struct nfs_open *o, bool writes)
{
	struct nfs4_layout_ask *ask = calloc(1, sizeof(*ask));
	struct nfs4_layouts *t = a->t;

	if (!ask)
		return -ENOMEM;
	ask->t = t;
	ask->l = l;
	ask->until_ns = clock_ns() + CALL_NS;
	ask->op.type = NFS_OP_TYPES;
	ask->op.cred = o->own.cred;
	ask->op.done = answered;
	ask->op.ctx = a;
	nfs4_task_bind(&ask->op, nfs4_server_conn(c->srv), &c->user, NFS4_K_LAYOUTGET);
	ask->op.be.v4.flags = NFS4_F_PRIV;
	ask->op.be.v4.open = o;
	mutex_lock(&t->lock);
	ask->closes = l->closes;
	ask->forgets = t->forgets;
	ask->g = (struct nfs4_layoutget){.fh = &l->fh,
		.type = t->type,
		.open = o,
		.writes = writes,
		.more = l->held,
		.stateid = l->stateid};
	TAILQ_INSERT_TAIL(&a->started, ask, link);
	mutex_unlock(&t->lock);
	a->n++;
	nfs4_task_start(&ask->op);
	return 0;
}

void nfs4_layout_asks_tend(
	struct nfs4_layout_asks *a, struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	struct nfs4_layouts *t = a->t;
	struct nfs4_layout_ask *ask;
	bool late = false;

	mutex_lock(&t->lock);
	TAILQ_FOREACH (ask, &a->started, link) {
		if (now < ask->until_ns) {
			*next = ask->until_ns < *next ? ask->until_ns : *next;
			continue;
		}
		late = true;
		mutex_lock(&c->srv->slots.lock);
		nfs4_task_cancel_locked(&ask->op);
		mutex_unlock(&c->srv->slots.lock);
	}
	/* at the end of the mount the asks are cancelled elsewhere */
	late |= t->closed && !TAILQ_EMPTY(&a->started);
	mutex_unlock(&t->lock);
	if (!late)
		return;
	nfs4_task_pump(c->srv);
	if (now + TEND_NS < *next)
		*next = now + TEND_NS;
}

struct nfs4_layout_ask *nfs4_layout_asks_take_locked(struct nfs4_layout_asks *a)
{
	struct nfs4_layout_ask *ask = TAILQ_FIRST(&a->answered);

	if (ask) {
		TAILQ_REMOVE(&a->answered, ask, link);
		a->n--;
	}
	return ask;
}

struct nfs4_layout_ask *nfs4_layout_ask_free(struct nfs4_layout_ask *ask)
{
	nfs4_open_unref(ask->g.open);
	nfs4_layoutget_finish(&ask->g);
	free(ask);
	return NULL;
}
