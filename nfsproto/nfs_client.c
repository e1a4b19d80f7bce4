/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client: the version-neutral front. Checks the operations from above, once, for all back ends,
 * and hands them to the back end.
 */
#include "nfsproto/nfs_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/common/nfs_more.h"
#include "nfsproto/common/nfs_places.h"
#include "nfsproto/common/nfs_unsure.h"
#include "nfsproto/nfs_client_record.h"
#include "nfsproto/nfs_route.h"
#include "nfsproto/nfs_submount.h"
#include "nfsproto/v3/nfs3_backend.h"
#include "nfsproto/v4/nfs4_backend.h"
#include "transport/clock.h"
#include "transport/log.h"

#define NFS_IO_MAX (1u << 20)
#define NFS_IO_MIN 1024u

/* --- life of a client ---------------------------------------------------------------------- */

/* A size of 0 stands for the largest. Sizes are multiples of 1024, as in mount.nfs. */
static uint32_t clamp_io(uint32_t want)
{
	if (want == 0 || want > NFS_IO_MAX)
		return NFS_IO_MAX;
	if (want < NFS_IO_MIN)
		return NFS_IO_MIN;
	return want & ~1023u;
}

/* size, or the largest power of two up to most. */
static uint32_t at_most(uint32_t size, size_t most)
{
	uint32_t n = NFS_IO_MIN;

	if (size <= most)
		return size;
	while (2 * n <= most)
		n *= 2;
	return n;
}

/* Limits READ, WRITE and READDIR to the memory that one RPC may register. A READDIR reply has other
 * parts beside the entries. */
static struct nfs_client *bounded(struct nfs_client *c, struct mem_pool *pool)
{
	size_t most = mem_pool_rpc_most(pool);

	if (c && most < NFS_IO_MAX) {
		c->info.rsize = at_most(c->info.rsize, most);
		c->info.wsize = at_most(c->info.wsize, most);
	}
	if (c && most / 2 < NFS_IO_MAX)
		c->info.dtsize = at_most(c->info.dtsize, most / 2);
	return c;
}

static struct nfs_client *mount_version(const struct nfs_mount_params *p, struct err *e)
{
	if (p->vers_major == 4 && p->vers_minor <= 2)
		return nfs4_backend.mount(p, e);
	if (p->vers_major == 3)
		return nfs3_backend.mount(p, e);
	err_set(e, ERR_USAGE, "NFS version %u.%u is not supported: ask for 3, 4.1 or 4.2",
		p->vers_major, p->vers_minor);
	return NULL;
}

/* Mounts by the newest version that the server speaks. As mount.nfs does, also tries NFSv3 if the
 * server has NFSv4 but no such path there: some servers have exports that only MOUNT can reach. */
static struct nfs_client *mount_any(struct nfs_mount_params *p, struct err *e)
{
	struct err four = {.kind = ERR_NONE}, three = {.kind = ERR_NONE};
	struct nfs_client *c;

	p->vers_major = 4;
	p->vers_minor = 0;
	c = mount_version(p, &four);
	if (!c && (four.kind == ERR_VERSION || four.kind == ERR_NO_EXPORT)) {
		log_ctrl("%s: trying NFSv3", four.msg);
		p->vers_major = 3;
		c = mount_version(p, &three);
		if (!c) /* report the error of the version that users expect */
			err_set(e, four.kind, "%.190s; and NFSv3 does not help: %.180s", four.msg,
				three.msg);
	} else if (!c) {
		*e = four;
	}
	return c;
}

static void end(struct nfs_op *op);

static const struct nfs_front front = {.submit = nfs_submit, .cancel = nfs_cancel, .end = end};

/* A mount of which no other is a part may have submounts. NFSv3 knows no referrals. */
static struct nfs_client *with_submounts(
	struct nfs_client *c, const struct nfs_mount_params *p, struct err *e)
{
	if (!c || p->submount || c->info.vers_major < 4 || !p->upcalls || !p->upcalls->follow)
		return c;
	c->submounts = nfs_submounts_new(c, &front);
	if (c->submounts)
		return c;
	err_set(e, ERR_INTERNAL, "out of memory or file descriptors");
	return nfs_client_free(c);
}

static struct nfs_client *make(const struct nfs_mount_params *p, struct err *e)
{
	struct nfs_mount_params mine = *p;
	struct nfs_client *c;

	if (!p->host || !p->host[0] || !p->export || p->export[0] != '/') {
		err_set(e, ERR_USAGE, "a mount needs a server and an absolute export path");
		return NULL;
	}
	if (strlen(p->export) >= NFS_PATH_MAX) {
		err_set(e, ERR_USAGE, "%s: the export path is longer than %d bytes", p->host,
			NFS_PATH_MAX - 1);
		return NULL;
	}
	mine.rsize = clamp_io(p->rsize);
	mine.wsize = clamp_io(p->wsize);
	if (mine.connect_ms == 0)
		mine.connect_ms = 10000;
	if (mine.timeo_ms == 0)
		mine.timeo_ms = 60000;
	c = bounded(p->vers_major ? mount_version(&mine, e) : mount_any(&mine, e), p->pool);
	return with_submounts(c, p, e);
}

/* The mount of p->record, with its submounts. */
static struct nfs_client *take_over(const struct nfs_mount_params *p, struct err *e)
{
	struct nfs_client_parts *parts = nfs_client_get_parts(p->record, e);
	struct nfs_mount_params own = *p;
	struct nfs_client *c;

	if (!parts)
		return NULL;
	own.record = &parts->own;
	c = make(&own, e);
	if (c && parts->n && !c->submounts) {
		err_set(e, ERR_INTERNAL, "the record of the mount is damaged");
		c = nfs_client_free(c);
	}
	for (uint32_t i = 0; c && i < parts->n; i++)
		if (nfs_submounts_inherit(c->submounts, &parts->sub[i], e))
			c = nfs_client_free(c);
	if (c)
		nfs_client_join_parts(parts, p->record);
	nfs_client_free_parts(parts);
	return c;
}

struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e)
{
	return p->record && !p->submount ? take_over(p, e) : make(p, e);
}

struct nfs_client *nfs_client_free(struct nfs_client *c)
{
	/* those of which a submount is a part go on */
	struct nfs_submounts *submounts = c && !c->number ? c->submounts : NULL;

	if (!c)
		return NULL;
	nfs_submounts_end(submounts, c->leave_by);
	c->backend->unmount(c);
	nfs_submounts_free(submounts);
	return NULL;
}

void nfs_client_leave_by(struct nfs_client *c, uint64_t ns)
{
	c->leave_by = ns;
}

const char *nfs_client_settle(struct nfs_client *c)
{
	const char *why = NULL, *one;
	struct nfs_client *part;

	if (c->submounts && !nfs_submounts_settled(c->submounts))
		return "directories of other servers to be mounted";
	for (unsigned n = 0; (part = nfs_route_each(c, &n));) {
		one = part->backend->settle(part);
		why = why ? why : one;
	}
	return why;
}

const struct sockaddr_storage *nfs_client_peer(struct nfs_client *c, socklen_t *len)
{
	*len = c->rp->peer_len;
	return &c->rp->peer;
}

void nfs_client_record(
	struct nfs_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x)
{
	nfs_client_put_parts(c, open, n, x);
}

void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr)
{
	if (fh)
		*fh = c->root;
	if (attr)
		*attr = c->root_attr;
}

void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out)
{
	struct rpc_client_info one;
	struct nfs_client *part;

	*out = c->info;
	rpc_client_info(c->rpc, &out->rpc);
	out->connections = 0;
	for (unsigned n = 0; (part = nfs_route_each(c, &n));) {
		for (unsigned i = part == c; i < part->nrpcs; i++) {
			rpc_client_info(part->rpcs[i], &one);
			out->rpc.credits += one.credits;
			out->rpc.under_way += one.under_way;
			if (part == c)
				out->rpc.connected |= one.connected;
		}
		out->connections += part->nrpcs;
	}
}

/* The connections beside those of part's server, or NULL. */
static struct nfs_more *more_of(const struct nfs_client *part)
{
	/* acquire: the thread that made it has set it up before */
	return atomic_load_explicit(&part->more, memory_order_acquire);
}

/* Connection number i of part, or of those beside its server's. False: *has is their number. */
static bool path_of(struct nfs_client *part, unsigned i, struct rpc_client_info *info,
	struct rpc_client_stats *stats, unsigned *has)
{
	struct nfs_more *more = more_of(part);

	if (i < part->nrpcs) {
		rpc_client_info(part->rpcs[i], info);
		rpc_client_stats(part->rpcs[i], stats);
		return true;
	}
	*has = part->nrpcs;
	return more && nfs_more_look(more, i - part->nrpcs, info, stats, has);
}

bool nfs_client_path(struct nfs_client *c, unsigned i, struct rpc_client_info *info,
	struct rpc_client_stats *stats)
{
	struct nfs_client *part;
	unsigned has;

	for (unsigned n = 0; (part = nfs_route_each(c, &n)); i -= has)
		if (path_of(part, i, info, stats, &has))
			return true;
	return false;
}

void nfs_client_count(struct nfs_client *c, enum nfs_op_type t, struct nfs_count *out)
{
	struct nfs_client *part;

	memset(out, 0, sizeof(*out));
	for (unsigned n = 0; (part = nfs_route_each(c, &n));)
		nfs_count_add(&part->counts, t, out);
}

void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out)
{
	struct rpc_client_stats one;
	struct nfs_client *part;

	rpc_client_stats(c->rpc, out);
	for (unsigned n = 0; (part = nfs_route_each(c, &n));) {
		struct nfs_more *more = more_of(part);

		for (unsigned i = part == c; i < part->nrpcs; i++) {
			rpc_client_stats(part->rpcs[i], &one);
			rpc_client_stats_add(out, &one);
		}
		if (more)
			nfs_more_sum(more, out);
	}
}

/* --- delegations ----------------------------------------------------------------------------- */

bool nfs_deleg_holds(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	c = nfs_route_fh(c, fh);
	return id && c && c->backend->deleg_holds && c->backend->deleg_holds(c, fh, id);
}

struct nfs_open *nfs_deleg_open(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred)
{
	c = nfs_route_fh(c, fh);
	return id && c && c->backend->deleg_open ? c->backend->deleg_open(c, fh, id, flags, cred)
						 : NULL;
}

void nfs_deleg_give_back(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	c = nfs_route_fh(c, fh);
	if (id && c && c->backend->deleg_give_back)
		c->backend->deleg_give_back(c, fh, id);
}

bool nfs_locks_doubtful(struct nfs_client *c, const struct nfs_open *o)
{
	c = nfs_open_client(o);
	return c->backend->locks_doubtful && c->backend->locks_doubtful(c, o);
}

uint64_t nfs_lock_guard(
	struct nfs_client *c, const struct nfs_open *o, uint64_t first, uint64_t last)
{
	c = nfs_open_client(o);
	return c->backend->lock_guard ? c->backend->lock_guard(c, o, first, last) : 0;
}

void nfs_deleg_flushed(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id)
{
	c = nfs_route_fh(c, fh);
	if (id && c && c->backend->deleg_flushed)
		c->backend->deleg_flushed(c, fh, id);
}

/* --- operations ---------------------------------------------------------------------------- */

static int check_fh(const struct nfs_fh *fh)
{
	return fh->len >= 1 && fh->len <= NFS_FH_MAX ? 0 : -ESTALE;
}

static int check_name(const struct nfs_name *n)
{
	if (n->len == 0 || !n->s)
		return -EINVAL;
	if (n->len > NFS_NAME_MAX)
		return -ENAMETOOLONG;
	if (memchr(n->s, '/', n->len) || memchr(n->s, '\0', n->len))
		return -EINVAL;
	return 0;
}

/* Checks a name that is to be made or removed. "." and ".." are refused here with the error of the
 * system calls: a server may only answer NFS4ERR_BADNAME. */
static int check_new_name(const struct nfs_name *n, int dot_error)
{
	int rc = check_name(n);

	if (rc)
		return rc;
	if (n->s[0] == '.' && (n->len == 1 || (n->len == 2 && n->s[1] == '.')))
		return dot_error;
	return 0;
}

static int check_dir_name(const struct nfs_fh *dir, const struct nfs_name *n, int dot_error)
{
	int rc = check_fh(dir);

	return rc ? rc : check_new_name(n, dot_error);
}

/* The blocks of an open's sink must allow references, for the blocks may be needed after the open's
 * op. */
static bool can_be_held(const struct seg_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!(l->n == 1 ? &l->one : &l->seg[i])->hold)
			return false;
	return true;
}

static int check_open(const struct nfs_client *c, const struct nfs_op *op)
{
	int rc = check_fh(&op->u.open.dir);

	if (rc)
		return rc;
	if (op->u.open.to.len > c->info.rsize || !can_be_held(&op->u.open.to))
		return -EINVAL;
	if (op->u.open.name.len == 0)
		return (op->u.open.flags & O_CREAT) ? -EINVAL : 0;
	return check_new_name(&op->u.open.name, (op->u.open.flags & O_CREAT) ? -EISDIR : -EINVAL);
}

static int check_create(const struct nfs_op *op)
{
	int rc = check_dir_name(&op->u.create.dir, &op->u.create.name, -EEXIST);

	if (rc)
		return rc;
	if (op->u.create.type == NFS_LNK) {
		if (op->u.create.target_len == 0)
			return -ENOENT;
		if (op->u.create.target_len >= NFS_PATH_MAX)
			return -ENAMETOOLONG;
		return op->u.create.target ? 0 : -EINVAL;
	}
	return op->u.create.type >= NFS_DIR && op->u.create.type <= NFS_FIFO ? 0 : -EINVAL;
}

static int check_io(const struct nfs_client *c, const struct nfs_op *op)
{
	if (op->type == NFS_READ) {
		if (op->u.read.to.len > c->info.rsize || op->u.read.offset > INT64_MAX)
			return -EINVAL;
		return check_fh(&op->u.read.fh);
	}
	if (op->u.write.from.len > c->info.wsize)
		return -EINVAL;
	if (!op->u.write.append && op->u.write.offset > (uint64_t)INT64_MAX - op->u.write.from.len)
		return -EFBIG;
	return check_fh(&op->u.write.fh);
}

/* Checks the range at..at+len of a file. */
static int check_range(uint64_t at, uint64_t len)
{
	if (len == 0 || at > INT64_MAX)
		return -EINVAL;
	return len > (uint64_t)INT64_MAX - at ? -EFBIG : 0;
}

static int check_lock(const struct nfs_op *op)
{
	bool test = op->type == NFS_LOCKT;
	int type = test ? op->u.lockt.type : op->u.lock.type;
	uint64_t start = test ? op->u.lockt.start : op->u.lock.start;
	uint64_t end = test ? op->u.lockt.end : op->u.lock.end;

	if (start > end)
		return -EINVAL;
	if (type != F_RDLCK && type != F_WRLCK && (test || type != F_UNLCK))
		return -EINVAL;
	return check_fh(test ? &op->u.lockt.fh : &op->u.lock.fh);
}

static int check_copy(const struct nfs_op *op)
{
	int rc = check_range(op->u.copy.from, op->u.copy.count);

	if (!rc)
		rc = check_range(op->u.copy.to, op->u.copy.count);
	if (!rc)
		rc = check_fh(&op->u.copy.from_fh);
	return rc ? rc : check_fh(&op->u.copy.to_fh);
}

/* Checks the name of an extended attribute, which may have any byte but NUL. */
static int check_xattr(const struct nfs_fh *fh, const struct nfs_name *n)
{
	if (n->len == 0 || !n->s)
		return -EINVAL;
	if (n->len > NFS_NAME_MAX)
		return -ERANGE;
	return memchr(n->s, '\0', n->len) ? -EINVAL : check_fh(fh);
}

static int check_rename(const struct nfs_op *op)
{
	int rc = check_dir_name(&op->u.rename.from_dir, &op->u.rename.from, -EBUSY);

	return rc ? rc : check_dir_name(&op->u.rename.to_dir, &op->u.rename.to, -EBUSY);
}

/* The error that a system call with these arguments gets without asking the server. */
static int check_op(const struct nfs_client *c, const struct nfs_op *op)
{
	int rc;

	switch (op->type) {
	case NFS_LOOKUP:
		rc = check_fh(&op->u.lookup.dir);
		return rc ? rc : check_name(&op->u.lookup.name);
	case NFS_GETATTR:
		return check_fh(&op->u.getattr.fh);
	case NFS_SETATTR:
		return check_fh(&op->u.setattr.fh);
	case NFS_ACCESS:
		return check_fh(&op->u.access.fh);
	case NFS_READLINK:
		return op->u.readlink.size < 2 ? -EINVAL : check_fh(&op->u.readlink.fh);
	case NFS_OPEN:
		return check_open(c, op);
	case NFS_CLOSE:
		return op->u.close.open ? 0 : -EINVAL;
	case NFS_READ:
	case NFS_WRITE:
		return check_io(c, op);
	case NFS_COMMIT:
		return check_fh(&op->u.commit.fh);
	case NFS_CREATE:
		return check_create(op);
	case NFS_REMOVE:
		return check_dir_name(&op->u.remove.dir, &op->u.remove.name,
			op->u.remove.is_dir ? -ENOTEMPTY : -EISDIR);
	case NFS_RENAME:
		return check_rename(op);
	case NFS_LINK:
		rc = check_fh(&op->u.link.fh);
		return rc ? rc : check_dir_name(&op->u.link.dir, &op->u.link.name, -EEXIST);
	case NFS_READDIR:
		return op->u.readdir.entry ? check_fh(&op->u.readdir.dir) : -EINVAL;
	case NFS_STATFS:
		return check_fh(&op->u.statfs.fh);
	case NFS_LOCK:
	case NFS_LOCKT:
		return check_lock(op);
	case NFS_SEEK:
		return op->u.seek.offset > INT64_MAX ? -ENXIO : check_fh(&op->u.seek.fh);
	case NFS_ALLOCATE:
		rc = check_range(op->u.allocate.offset, op->u.allocate.length);
		return rc ? rc : check_fh(&op->u.allocate.fh);
	case NFS_COPY:
		return check_copy(op);
	case NFS_GETXATTR:
		return check_xattr(&op->u.getxattr.fh, &op->u.getxattr.name);
	case NFS_SETXATTR:
		if (op->u.setxattr.len && !op->u.setxattr.value)
			return -EINVAL;
		return check_xattr(&op->u.setxattr.fh, &op->u.setxattr.name);
	case NFS_LISTXATTR:
		return check_fh(&op->u.listxattr.fh);
	case NFS_REMOVEXATTR:
		return check_xattr(&op->u.removexattr.fh, &op->u.removexattr.name);
	case NFS_GETACL:
		return check_fh(&op->u.getacl.fh);
	case NFS_SETACL:
		return check_fh(&op->u.setacl.fh);
	case NFS_OP_TYPES:
		break;
	}
	return -EINVAL;
}

/* Clears results that a server need not send. */
static void clear_results(struct nfs_op *op)
{
	static const struct nfs_data_attr none = {.have = false};

	if (op->type == NFS_READ) {
		op->u.read.attr = none;
		op->u.read.moved = (struct seg_list){0};
	} else if (op->type == NFS_WRITE)
		op->u.write.attr = none;
	else if (op->type == NFS_COMMIT)
		op->u.commit.attr = none;
	else if (op->type == NFS_CLOSE)
		op->u.close.attr = none;
	else if (op->type == NFS_OPEN)
		op->u.open.have_access = op->u.open.have_data = op->u.open.times_left = false;
}

/* --- the life of an operation --------------------------------------------------------------- */

static void end(struct nfs_op *op)
{
	free(op->places);
	op->places = NULL;
	op->done = op->users_done;
	op->ended_ns = clock_ns();
	nfs_count_note(&op->client->counts, op);
	op->done(op);
}

static void ended(struct nfs_op *op)
{
	struct nfs_client *c = op->client;

	if (c->number)
		nfs_route_results(op);
	if (op->type == NFS_LOOKUP && op->error == -EREMOTE && op->places && c->submounts) {
		int error = nfs_submounts_follow(c, op);

		if (!error) /* op may have ended by now */
			return;
		op->error = error;
	}
	end(op);
}

void nfs_submit(struct nfs_client *c, struct nfs_op *op)
{
	struct nfs_client *to = nfs_route(c, op);

	op->client = to ? to : c;
	op->error = to ? check_op(to, op) : -ESTALE;
	if (!op->error)
		op->error = nfs_route_check(op);
	op->calls = (struct nfs_op_calls){0};
	if (!op->since_ns)
		op->since_ns = clock_ns();
	op->users_done = op->done;
	op->done = ended;
	op->places = NULL;
	op->follower = NULL;
	op->unwanted = false;
	op->slot = NULL;
	op->tries = 0;
	op->due_ns = 0;
	memset(&op->be, 0, sizeof(op->be));
	clear_results(op);
	if (op->error) {
		end(op);
		return;
	}
	if (op->type == NFS_READ && op->u.read.to.len == 0) {
		op->u.read.count = 0;
		op->u.read.eof = false;
		end(op);
		return;
	}
	if (op->type == NFS_CREATE)
		nfs_unsure_mark(op);
	to->backend->submit(to, op);
}

void nfs_cancel(struct nfs_op *op)
{
	struct nfs_submounts *t = op->type == NFS_LOOKUP ? op->client->submounts : NULL;

	if (!t || !nfs_submounts_cancel(t, op))
		op->client->backend->cancel(op->client, op, true);
}

void nfs_interrupt(struct nfs_op *op)
{
	op->client->backend->cancel(op->client, op, false);
}
