/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountd: the MOUNT protocol version 3.
 */
#include "contrib/serve/v3/mountd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/v3/drc.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/export/ident.h"
#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nfs4.h"
#include "nfsproto/wire/nfs3.h"
#include "transport/lock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define HOST_MAX 64

struct mounted {
	TAILQ_ENTRY(mounted) link;
	char host[HOST_MAX];
	uint32_t len;
	char path[];
};

struct mount_list {
	struct mutex lock;
	unsigned n GUARDED_BY(lock), max;
	GUARDED_BY(lock) TAILQ_HEAD(, mounted) mounts; /* oldest first */
};

struct mount_list *mount_list_new(unsigned max)
{
	struct mount_list *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	mutex_init(&l->lock);
	TAILQ_INIT(&l->mounts);
	l->max = max;
	return l;
}

static void forget_locked(struct mount_list *l, struct mounted *m) REQUIRES(l->lock)
{
	TAILQ_REMOVE(&l->mounts, m, link);
	l->n--;
	free(m);
}

struct mount_list *mount_list_free(struct mount_list *l)
{
	struct mounted *m;

	if (!l)
		return NULL;
	mutex_destroy(&l->lock);
	while ((m = TAILQ_FIRST(&l->mounts)) != NULL)
		forget_locked(l, m);
	free(l);
	return NULL;
}

unsigned mount_list_count(struct mount_list *l)
{
	unsigned n;

	mutex_lock(&l->lock);
	n = l->n;
	mutex_unlock(&l->lock);
	return n;
}

/* host has unmounted path; NULL: all paths. */
static void forget(struct mount_list *l, const char *host, const struct nfs_name *path)
{
	struct mounted *m, *next;

	mutex_lock(&l->lock);
	for (m = TAILQ_FIRST(&l->mounts); m; m = next) {
		next = TAILQ_NEXT(m, link);
		if (strcmp(m->host, host) == 0 &&
			(!path || (m->len == path->len && memcmp(m->path, path->s, m->len) == 0)))
			forget_locked(l, m);
	}
	mutex_unlock(&l->lock);
}

static void remember(struct mount_list *l, const char *host, const struct nfs_name *path)
{
	struct mounted *m = malloc(sizeof(*m) + path->len);

	forget(l, host, path);
	if (!m)
		return;
	snprintf(m->host, sizeof(m->host), "%s", host);
	m->len = path->len;
	memcpy(m->path, path->s, path->len);
	mutex_lock(&l->lock);
	TAILQ_INSERT_TAIL(&l->mounts, m, link);
	if (++l->n > l->max)
		forget_locked(l, TAILQ_FIRST(&l->mounts));
	mutex_unlock(&l->lock);
}

/* MOUNT's statuses are a few of NFSv3's, with the same numbers. */
static uint32_t mount_status(uint32_t status)
{
	switch (status) {
	case NFS4ERR_SYMLINK:
		return MOUNT3ERR_NOTDIR;
	case NFS4ERR_BADNAME: /* "..": not allowed in a path */
	case NFS4ERR_PERM:
		return MOUNT3ERR_ACCES;
	case NFS4ERR_BADCHAR:
		return MOUNT3ERR_INVAL;
	case NFS4_OK:
	case NFS4ERR_NOENT:
	case NFS4ERR_IO:
	case NFS4ERR_ACCESS:
	case NFS4ERR_NOTDIR:
	case NFS4ERR_INVAL:
	case NFS4ERR_NAMETOOLONG:
		return status;
	default:
		return MOUNT3ERR_SERVERFAULT;
	}
}

/* NFS4_OK with a reference to the directory at path, seen from the root. */
static uint32_t walk(struct serve *sv, const struct nfs_name *path, struct obj **out)
{
	struct obj *o = obj_root(sv->objs);
	const char *p = path->s, *end = path->s + path->len;
	uint32_t status = NFS4_OK;

	while (p < end && status == NFS4_OK) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		struct nfs_name name = {p, (uint32_t)((slash ? slash : end) - p)};
		struct obj *next;

		p = slash ? slash + 1 : end;
		if (name.len == 0 || (name.len == 1 && name.s[0] == '.'))
			continue;
		status = entry_lookup(sv, o, &name, &next, NULL);
		if (status == NFS4_OK) {
			obj_unref(sv->objs, o);
			o = next;
		}
	}
	if (status == NFS4_OK)
		status = need_dir(o);
	if (status != NFS4_OK)
		o = obj_unref(sv->objs, o);
	*out = o;
	return status;
}

static void mnt(
	struct serve *sv, struct rpc_req *req, const char *host, const struct nfs_name *path)
{
	struct mount3_mnt_res r = {.nflavors = 2, .flavor = {RPC_AUTH_SYS, RPC_AUTH_NONE}};
	uint32_t status = NFS4ERR_ACCESS;
	struct obj *o;

	if (ident_assume(&req->cred) == 0)
		status = walk(sv, path, &o);
	if (status == NFS4_OK) {
		r.fh.len = obj_handle(sv->objs, o, r.fh.data);
		obj_unref(sv->objs, o);
		remember(sv->mounts, host, path);
	}
	r.status = mount_status(status);
	log_ctrl("%s: MNT %s: %s", host, QUOTE(path->s, path->len), mount3_status_name(r.status));
	mount3_put_mnt_res(&req->res, &r);
}

/* Puts as many mounts as fit. */
static void dump(struct mount_list *l, struct rpc_req *req)
{
	size_t cap = req->res.cap < req->res_max ? req->res.cap : req->res_max;
	struct mounted *m;

	mutex_lock(&l->lock);
	TAILQ_FOREACH (m, &l->mounts, link) {
		struct mount3_mounted out = {
			.host = {m->host, (uint32_t)strlen(m->host)}, .path = {m->path, m->len}};

		if (req->res.len + m->len + HOST_MAX + 32 > cap)
			break;
		mount3_put_mounted(&req->res, &out);
	}
	mutex_unlock(&l->lock);
	mount3_put_end(&req->res);
}

static void put_exports(struct xdr_out *x)
{
	struct nfs_name root = {"/", 1};

	mount3_put_export(x, &root);
	mount3_put_end(x); /* no groups: every client */
	mount3_put_end(x);
}

enum serve_result mountd_run(struct serve *sv, struct rpc_req *req)
{
	bool has_path = req->proc == MOUNT3PROC_MNT || req->proc == MOUNT3PROC_UMNT;
	struct xdr_in in = req->args;
	struct nfs_name path;
	char host[HOST_MAX];

	if ((has_path && mount3_get_path(&in, &path) < 0) || !xdr_in_done(&in))
		return SERVE_GARBAGE;
	drc_host(req, host, sizeof(host));
	switch (req->proc) {
	case MOUNT3PROC_MNT:
		mnt(sv, req, host, &path);
		break;
	case MOUNT3PROC_DUMP:
		dump(sv->mounts, req);
		break;
	case MOUNT3PROC_UMNT:
		forget(sv->mounts, host, &path);
		break;
	case MOUNT3PROC_UMNTALL:
		forget(sv->mounts, host, NULL);
		break;
	case MOUNT3PROC_EXPORT:
		put_exports(&req->res);
		break;
	default: /* NULL */
		break;
	}
	return SERVE_DONE;
}

void mountd_request(const struct serve_port *port, struct rpc_req *req)
{
	if (req->proc <= MOUNT3PROC_EXPORT)
		serve_call(port, req, SERVE_RES_CAP, mountd_run);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
}
