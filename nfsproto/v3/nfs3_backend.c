/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_backend: mounting and unmounting with NFSv3, and the way of an op into its back end.
 *
 *     connect, NULL, MNT, FSINFO, PATHCONF, GETATTR
 *     ... ops ...
 *     UMNT, disconnect
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_client.h"
#include "nfsproto/common/nfs_connect.h"
#include "nfsproto/v3/nfs3_backend.h"
#include "nfsproto/v3/nfs3_conn.h"
#include "nfsproto/v3/nfs3_mount.h"
#include "nfsproto/v3/nfs3_nlm.h"
#include "nfsproto/v3/nfs3_nlm_record.h"
#include "nfsproto/v3/nfs3_nlm_queue.h"
#include "nfsproto/v3/nfs3_record.h"
#include "nfsproto/wire/ulb.h"
#include "transport/clock.h"
#include "transport/log.h"

#define DTSIZE_MAX    (128u << 10)
#define DTSIZE_MIN    4096u
#define IO_SERVER_MIN 1024u /* a smaller limit from a server is ignored */
#define GOODBYE_MS    1000u

/* --- mounting ------------------------------------------------------------------------------ */

/* Reports why a step of the mount failed. status: the server's answer, or 0 and error. */
static int step_error(struct nfs3_client *c, const struct nfs3_sync *s, const char *step, int error,
	uint32_t status, struct err *e)
{
	if (status == NFS3ERR_ACCES || status == NFS3ERR_PERM)
		return err_set(e, ERR_ACCESS,
			"%s refuses access (%s: %s): check the export's list of clients, and that "
			"it has the insecure option for a client without privileged ports",
			c->server, step, nfs3_status_name(status));
	if (status)
		return err_set(e, ERR_PROTOCOL, "%s answered %s with %s (%u)", c->server, step,
			nfs3_status_name(status), status);
	if (error == -EPROTONOSUPPORT && s->call.rpc_stat == RPC_PROG_MISMATCH)
		return err_set(e, ERR_VERSION, "%s serves NFS versions %u to %u, not version 3",
			c->server, s->call.mismatch_low, s->call.mismatch_high);
	if (error == -EPROTONOSUPPORT)
		return err_set(e, ERR_VERSION,
			"%s answers, but does not serve NFS on this port: check the port option",
			c->server);
	if (error == -EACCES)
		return err_set(e, ERR_ACCESS,
			"%s rejects the credentials of this client (%s, auth status %u)", c->server,
			step, s->call.auth_stat);
	if ((error == -ETIMEDOUT || error == -EINTR) && rpc_client_shut_out(c->base.rpc)) {
		nfs_shut_out(e, c->base.rpc, c->server, step);
		return -1;
	}
	if (error == -ETIMEDOUT || error == -EINTR)
		return err_set(e, ERR_UNREACHABLE,
			"%s accepted the connection but does not answer (%s): is it overloaded or "
			"starting?",
			c->server, step);
	if (error == -ENOTCONN)
		return err_set(
			e, ERR_UNREACHABLE, "%s: the connection was lost (%s)", c->server, step);
	if (error == -ENOMEM)
		return err_set(e, ERR_INTERNAL, "out of message memory (%s)", step);
	return err_set(e, ERR_PROTOCOL, "%s: %s failed: %s", c->server, step, strerror(-error));
}

static void put_proc(struct nfs3_sync *s, struct xdr_out *x)
{
	nfs3_put_args(x, s->put);
}

static int get_proc(struct nfs3_sync *s, struct xdr_in *x)
{
	return nfs3_get_res(x, s->call.proc, s->out);
}

/* A procedure on the mount's connection. 0 (the status is in res), or -errno. */
static int sync_proc(struct nfs3_client *c, struct nfs3_sync *s, const struct nfs3_args *args,
	struct nfs3_res *res, unsigned ms)
{
	s->put = args;
	s->out = res;
	s->get = get_proc;
	s->stop = NULL;
	s->look = NULL;
	return nfs3_sync_call(s, c->base.rpc, &c->cred, args->proc, put_proc,
		(uint32_t)ulb_nfs3_res_max(args->proc, NFS_PATH_MAX), ms);
}

/* Calls one procedure on the root, again until the answer is not "later", for connect_ms at most.
 * 0, or -1 with *e set. */
static int step(struct nfs3_client *c, uint32_t proc, struct nfs3_res *res, struct err *e)
{
	uint64_t until = clock_ns() + c->connect_ms * NFS3_MSEC;
	struct nfs3_args args = {.proc = proc};
	struct nfs3_sync s;
	unsigned wait_ms = 20;
	int rc;

	args.u.fh = c->base.root;
	for (;;) {
		uint64_t now = clock_ns();
		struct timespec pause = {.tv_nsec = (long)(wait_ms * NFS3_MSEC)};

		if (now >= until)
			return step_error(c, &s, nfs3_proc_name(proc), -ETIMEDOUT, 0, e);
		rc = sync_proc(c, &s, &args, res, (unsigned)((until - now) / NFS3_MSEC) + 1);
		if (rc)
			return step_error(c, &s, nfs3_proc_name(proc), rc, 0, e);
		if (proc == NFS3PROC_NULL || res->u.status == NFS3_OK)
			return 0;
		if (res->u.status != NFS3ERR_JUKEBOX)
			return step_error(c, &s, nfs3_proc_name(proc), 0, res->u.status, e);
		nanosleep(&pause, NULL);
		wait_ms = wait_ms < 500 ? wait_ms * 2 : 900;
	}
}

static uint32_t io_size(uint32_t want, uint32_t server)
{
	uint32_t n = want;

	if (server && server < n)
		n = server < IO_SERVER_MIN ? IO_SERVER_MIN : server;
	return n >= 8192 ? n & ~4095u : n;
}

static int limits(struct nfs3_client *c, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs_client_info *info = &c->base.info;
	const struct nfs3_fsinfo_res *fs;
	struct nfs3_res res;

	if (step(c, NFS3PROC_FSINFO, &res, e))
		return -1;
	fs = &res.u.fsinfo;
	info->vers_major = 3;
	info->rsize = io_size(p->rsize, fs->rtmax);
	info->wsize = io_size(p->wsize, fs->wtmax);
	info->dtsize = fs->dtpref < DTSIZE_MAX ? fs->dtpref : DTSIZE_MAX;
	if (info->dtsize < DTSIZE_MIN)
		info->dtsize = DTSIZE_MIN;
	info->maxfilesize =
		fs->maxfilesize && fs->maxfilesize < INT64_MAX ? fs->maxfilesize : INT64_MAX;
	if (step(c, NFS3PROC_PATHCONF, &res, e))
		return -1;
	c->name_max = res.u.pathconf.name_max;
	if (res.u.pathconf.case_insensitive)
		info->features |= NFS_FOLDS_CASE;
	if (c->name_max == 0 || c->name_max > NFS_NAME_MAX)
		c->name_max = NFS_NAME_MAX;
	if (step(c, NFS3PROC_GETATTR, &res, e))
		return -1;
	c->base.root_attr = res.u.getattr.attr;
	if (c->base.root_attr.type != NFS_DIR)
		return err_set(e, ERR_NO_EXPORT, "%s: %s is not a directory", c->server, p->export);
	return 0;
}

static void client_init(struct nfs3_client *c, const struct nfs_mount_params *p)
{
	nfs_client_init(&c->base, &nfs3_backend, p);
	c->base.rpcs = c->rpcs;
	c->cred = p->cred;
	snprintf(c->server, sizeof(c->server), "%s", p->host);
	c->connect_ms = p->connect_ms;
	c->soft = p->soft;
	c->soft_ms = p->timeo_ms * (p->retrans < 1000 ? p->retrans + 1 : 1000);
	c->name_max = NFS_NAME_MAX;
	atomic_init(&c->next_verf, 0);
	atomic_init(&c->no_plus, false);
	atomic_init(&c->no_exclusive, false);
	mutex_init(&c->lock);
	TAILQ_INIT(&c->delayed);
	LIST_INIT(&c->opens);
	TAILQ_INIT(&c->relying);
	mutex_init(&c->news_lock);
	rpc_paths_init(&c->paths);
	clock_cond_init(&c->wake);
}

static void nfs3_unmount(struct nfs_client *base)
{
	struct nfs3_client *c = nfs3_client(base);

	nfs3_timer_stop(c);
	nfs3_nlm_stop(c);
	nfs3_conn_free_all(c);
	nfs3_nlm_finish(c, nfs_leave_until(base, GOODBYE_MS));
	nfs3_mount_leave(c, nfs_leave_until(base, GOODBYE_MS));
	nfs3_open_close_all(c);
	pthread_cond_destroy(&c->wake);
	mutex_destroy(&c->lock);
	rpc_paths_finish(&c->paths);
	mutex_destroy(&c->news_lock);
	free(c);
}

static int locks_init(struct nfs3_client *c, const struct nfs_mount_params *p)
{
	struct nfs3_nlm *n = calloc(1, sizeof(*n));
	char who[2 * NFS_PATH_MAX];

	snprintf(who, sizeof(who), "%u %s %u %s %s", c->cred.uid, p->host, p->port, p->export,
		p->mountpoint ? p->mountpoint : "");

	if (!n || nfs3_nlm_init(n, p->state_dir, who, NULL)) {
		free(n);
		return -ENOMEM;
	}
	c->nlm = n;
	c->base.info.features |= NFS_HAS_LOCKS;
	return 0;
}

static int establish(struct nfs3_client *c, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs3_res res;
	int rc;

	if (nfs3_conn_first(c, p, e) || step(c, NFS3PROC_NULL, &res, e) ||
		nfs3_mount_ask(c, p, &c->base.root, e) || limits(c, p, e))
		return -1;
	nfs3_conn_more(c, p->nconnect);
	rc = nfs3_timer_start(c);
	if (rc)
		return err_set(e, ERR_INTERNAL, "no thread for the mount: %s", strerror(-rc));
	return 0;
}

static int start_locks(struct nfs3_client *c, struct err *e)
{
	int rc = nfs3_nlm_start(c);

	return rc ? err_set(e, ERR_INTERNAL, "no thread for the locks: %s", strerror(-rc)) : 0;
}

/* Connects, and asks for the root; a successor knows the root. */
static int begin(struct nfs3_client *c, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs_fh root;

	if (p->record && nfs3_get_record(c, p->record, &root, e))
		return -1;
	if (!p->record && !p->nolock && locks_init(c, p))
		return err_set(e, ERR_INTERNAL, "out of memory");
	c->base.rp = &c->own;
	if (establish(c, p, e))
		return -1;
	if (p->record)
		c->base.root = root;
	return 0;
}

static struct nfs_client *nfs3_mount(const struct nfs_mount_params *p, struct err *e)
{
	struct nfs3_client *c = calloc(1, sizeof(*c));

	if (!c || getrandom(&c->verf, sizeof(c->verf), 0) != sizeof(c->verf)) {
		free(c);
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	client_init(c, p);
	if (begin(c, p, e) || start_locks(c, e)) {
		if (p->record && c->nlm)
			nfs3_nlm_let_go(c->nlm);
		nfs3_unmount(&c->base);
		return NULL;
	}
	return &c->base;
}

/* --- operations ---------------------------------------------------------------------------- */

static void nfs3_submit(struct nfs_client *base, struct nfs_op *op)
{
	struct nfs3_client *c = nfs3_client(base);
	int rc = 0;

	op->be.v3.kind = (uint8_t)op->type;
	switch (op->type) {
	case NFS_LOCK:
	case NFS_LOCKT:
		nfs3_nlm_submit(c, op);
		return;
	case NFS_OPEN:
		rc = nfs3_open_begin(c, op);
		break;
	case NFS_CLOSE: /* the server never knew of the open */
		nfs3_open_close(c, op->u.close.open);
		op->done(op);
		return;
	case NFS_WRITE:
		if (op->u.write.append)
			op->be.v3.kind = NFS3_K_APPEND_SIZE;
		break;
	default:
		if (!nfs3_kinds[op->type].put)
			rc = -EOPNOTSUPP;
		break;
	}
	if (rc)
		nfs3_task_end(c, op, rc);
	else
		nfs3_task_start(c, op);
}

static void nfs3_cancel(struct nfs_client *base, struct nfs_op *op, bool at_once)
{
	if (op->type == NFS_LOCK || op->type == NFS_LOCKT)
		nfs3_nlm_cancel(nfs3_client(base), op, at_once);
	else
		nfs3_task_cancel(nfs3_client(base), op);
}

static bool locks_doubtful(struct nfs_client *base, const struct nfs_open *o)
{
	return atomic_load_explicit(&o->locks_lost, memory_order_acquire) ||
	       atomic_load(&nfs3_client(base)->doubt);
}

const struct nfs_backend nfs3_backend = {
	.mount = nfs3_mount,
	.unmount = nfs3_unmount,
	.submit = nfs3_submit,
	.cancel = nfs3_cancel,
	.locks_doubtful = locks_doubtful,
	.settle = nfs3_settle,
	.record = nfs3_put_record,
};
