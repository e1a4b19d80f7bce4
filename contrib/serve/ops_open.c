/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_open: OPEN, CLOSE, OPEN_DOWNGRADE (RFC 8881 sections 18.16, 18.2, 18.18).
 *
 * A file that is made is opened by the call that makes it, so that its mode does not keep its maker
 * out (a new read-only file must be writable once). An exclusive create leaves its verifier in the
 * new file's access and modification time, where a retry after a restart still finds it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/serve.h"

#define CREATE_TRIES 8 /* a name that appears and disappears under us */

/* What opening by name has come to. */
struct opened {
	struct obj *o; /* referenced */
	int fd;	       /* of a file just made: read-write; else -1 */
	bool created;
	bool st_good;	      /* st is what o still looks like */
	struct statx st;      /* of an opening by name */
	struct nfs_sattr set; /* what the client wants a new file to be */
	uint32_t done;	      /* NFS_SET_* applied */
	struct nfs4_change_info cinfo;
};

static bool exclusive(const struct nfs4_open_args *a)
{
	return a->create && (a->mode == EXCLUSIVE4 || a->mode == EXCLUSIVE4_1);
}

/* 31 bits each: every file system stores such times. */
static void verf_times(const uint8_t verf[NFS4_VERIFIER_SIZE], struct timespec ts[2])
{
	uint32_t w[2];

	memcpy(w, verf, sizeof(w));
	for (int i = 0; i < 2; i++)
		ts[i] = (struct timespec){.tv_sec = w[i] & 0x7fffffff};
}

static bool verf_matches(const struct statx *st, const uint8_t verf[NFS4_VERIFIER_SIZE])
{
	struct timespec ts[2];

	verf_times(verf, ts);
	return S_ISREG(st->stx_mode) && st->stx_size == 0 && st->stx_atime.tv_sec == ts[0].tv_sec &&
	       st->stx_mtime.tv_sec == ts[1].tv_sec;
}

/* The file is new and fd open: gives it its attributes. */
static uint32_t dress(const struct nfs4_open_args *a, struct opened *op)
{
	uint32_t status = attr_after_create(op->o, op->fd, &op->st, &op->set, &op->done);
	struct timespec ts[2];

	op->st_good = status == NFS4_OK && op->st.stx_mask && !exclusive(a);
	if (status == NFS4_OK && exclusive(a)) {
		verf_times(a->verf, ts);
		if (futimens(op->fd, ts) != 0)
			status = nfs4_errno_status(errno);
	}
	return status;
}

static uint32_t try_create(
	struct compound *c, const struct nfs4_open_args *a, const char *name, struct opened *op)
{
	mode_t mode = op->set.mask & NFS_SET_MODE ? op->set.mode & 07777
		      : exclusive(a)		  ? 0600
						  : 0644;
	uint32_t status;
	int r;

	op->fd = openat(c->cur->fd, name,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
	if (op->fd < 0)
		return nfs4_errno_status(errno);
	op->created = true;
	r = obj_adopt(c->sv->objs, c->cur, a->name.s, a->name.len, op->fd, &op->o, &op->st);
	status = r < 0 ? nfs4_errno_status(r) : dress(a, op);
	if (status != NFS4_OK) {
		unlinkat(c->cur->fd, name, 0);
		if (op->o)
			obj_removed(c->sv->objs, op->o, NULL);
	}
	return status;
}

static uint32_t open_existing(struct compound *c, const struct nfs4_open_args *a, struct opened *op)
{
	int r = obj_lookup(c->sv->objs, c->cur, a->name.s, a->name.len, &op->o, &op->st);

	if (r < 0)
		return nfs4_errno_status(r);
	if (a->create && a->mode == GUARDED4)
		return NFS4ERR_EXIST;
	if (exclusive(a)) {
		if (!verf_matches(&op->st, a->verf))
			return NFS4ERR_EXIST;
		/* a retry of the call that made it: what was to be set was set */
		op->done = op->set.mask;
		return NFS4_OK;
	}
	op->set.mask &= op->set.size == 0 ? NFS_SET_SIZE : 0; /* section 18.16.3 */
	op->st_good = !op->set.mask;
	return need_file(op->o);
}

static uint32_t open_by_name(struct compound *c, const struct nfs4_open_args *a, struct opened *op)
{
	char name[OBJ_NAME_MAX + 1];
	uint32_t status = need_dir(c->cur);

	if (status == NFS4_OK)
		status = name_status(&a->name);
	if (status == NFS4_OK && a->create && a->mode != EXCLUSIVE4)
		status = nfs4_sattr_decode(&a->attrs, &op->set);
	if (status == NFS4_OK && exclusive(a) &&
		op->set.mask &
			(NFS_SET_ATIME | NFS_SET_MTIME | NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW))
		status = NFS4ERR_INVAL; /* not in suppattr_exclcreat */
	if (status != NFS4_OK)
		return status;
	memcpy(name, a->name.s, a->name.len);
	name[a->name.len] = '\0';
	cinfo_before(c->cur, &op->cinfo);
	op->cinfo.after = op->cinfo.before;
	if (!a->create)
		return open_existing(c, a, op);
	for (int i = 0; i < CREATE_TRIES; i++) {
		status = try_create(c, a, name, op);
		if (op->created || status != NFS4ERR_EXIST)
			break;
		status = open_existing(c, a, op);
		if (status != NFS4ERR_NOENT)
			break;
	}
	if (op->created)
		cinfo_after(c->cur, &op->cinfo);
	return status;
}

/* A file that the client has by its handle. */
static uint32_t open_by_fh(struct compound *c, const struct nfs4_open_args *a, struct opened *op)
{
	uint32_t status = need_file(c->cur);

	if (status != NFS4_OK)
		return status;
	if (a->claim == CLAIM_PREVIOUS)
		status = client_may_reclaim(&c->sv->state, c->client);
	if (status != NFS4_OK)
		return status;
	if (a->create) {
		if (a->mode != UNCHECKED4)
			return NFS4ERR_EXIST;
		status = nfs4_sattr_decode(&a->attrs, &op->set);
		op->set.mask &= op->set.size == 0 ? NFS_SET_SIZE : 0;
	}
	op->o = obj_ref(c->sv->objs, c->cur);
	return status;
}

static uint32_t check_args(const struct compound *c, const struct nfs4_open_args *a)
{
	uint32_t access = a->share_access & OPEN4_SHARE_ACCESS_BOTH;

	if (access == 0 || a->share_deny > OPEN4_SHARE_DENY_BOTH)
		return NFS4ERR_INVAL;
	if (c->sv->read_only && (access & OPEN4_SHARE_ACCESS_WRITE || a->create))
		return NFS4ERR_ROFS;
	return NFS4_OK;
}

/* Delegations are not given; a client that has an opinion is told so. */
static void no_delegation(const struct nfs4_open_args *a, struct nfs4_delegation *d)
{
	uint32_t want = a->share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;

	d->type = OPEN_DELEGATE_NONE;
	if (want == OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE)
		return;
	d->type = OPEN_DELEGATE_NONE_EXT;
	d->why = want == OPEN4_SHARE_ACCESS_WANT_NO_DELEG ? WND4_NOT_WANTED : WND4_RESOURCE;
	if (want == OPEN4_SHARE_ACCESS_WANT_CANCEL)
		d->why = WND4_CANCELLED;
}

/* O_TRUNC of a file that was there already. */
static uint32_t truncate_opened(
	struct compound *c, struct opened *op, const struct nfs4_stateid *sid)
{
	struct nfs4_stateid closed;
	uint32_t status;
	struct st *st = NULL;
	int fd;

	if (op->created || !(op->set.mask & NFS_SET_SIZE) || op->done)
		return NFS4_OK;
	status = st_io(c->client, op->o, sid, true, &st, &fd);
	if (status == NFS4ERR_OPENMODE)
		fd = -1; /* opened for reading: truncated with the caller's rights on the file */
	if (status == NFS4_OK || status == NFS4ERR_OPENMODE)
		status = attr_apply(op->o, fd, &op->set, &op->done);
	st_put(&c->sv->state, st);
	if (status != NFS4_OK && sid->seqid == 1)
		st_close(&c->sv->state, c->client, op->o, sid, &closed);
	return status;
}

static void put_open(struct compound *c, const struct nfs4_open_args *a, const struct opened *op,
	const struct nfs4_stateid *sid)
{
	struct nfs4_open_res res = {.stateid = *sid, .cinfo = op->cinfo};

	res.rflags = OPEN4_RESULT_LOCKTYPE_POSIX;
	res.attrset = nfs4_sattr_bits(op->done);
	if (exclusive(a)) { /* section 18.16.3: where the verifier lies */
		nfs4_bit_set(&res.attrset, FATTR4_TIME_ACCESS);
		nfs4_bit_set(&res.attrset, FATTR4_TIME_MODIFY);
	}
	no_delegation(a, &res.deleg);
	nfs4_put_open_res(c->out, NFS4_OK, &res);
}

uint32_t op_open(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_open_args *a = &args->u.open;
	struct opened op = {.fd = -1};
	struct nfs4_stateid sid;
	uint32_t status = check_args(c, a);

	if (status != NFS4_OK)
		return status;
	if (a->create) /* before there is a file that nobody could be given */
		status = st_open_room(&c->sv->state, c->client);
	if (status != NFS4_OK)
		return status;
	switch (a->claim) {
	case CLAIM_NULL:
		status = open_by_name(c, a, &op);
		break;
	case CLAIM_FH:
	case CLAIM_PREVIOUS:
		status = open_by_fh(c, a, &op);
		break;
	default:
		return NFS4ERR_NOTSUPP; /* claims by delegation: none was given */
	}
	if (status == NFS4_OK) {
		status = st_open(&c->sv->state, c->client, op.o, &a->owner.owner,
			a->share_access & OPEN4_SHARE_ACCESS_BOTH, a->share_deny, op.fd, true,
			&sid);
		op.fd = -1;
	}
	if (status == NFS4_OK)
		status = truncate_opened(c, &op, &sid);
	if (op.fd >= 0)
		close(op.fd);
	if (status != NFS4_OK) {
		obj_unref(c->sv->objs, op.o);
		return status;
	}
	put_open(c, a, &op, &sid);
	set_current(c, op.o);
	if (op.st_good)
		remember_stat(c, op.o, &op.st);
	c->cur_sid = sid;
	return NFS4_OK;
}

uint32_t op_close(struct compound *c, const struct nfs4_args *a)
{
	struct nfs4_stateid sid = a->u.close.stateid;
	struct nfs4_stateid_res res;
	uint32_t status;

	current_stateid(c, &sid);
	status = st_close(&c->sv->state, c->client, c->cur, &sid, &res.stateid);
	if (status != NFS4_OK)
		return status;
	memset(&c->cur_sid, 0, sizeof(c->cur_sid));
	nfs4_put_close_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_open_downgrade(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_open_downgrade_args *a = &args->u.open_downgrade;
	struct nfs4_stateid sid = a->stateid;
	struct nfs4_stateid_res res;
	uint32_t status;

	current_stateid(c, &sid);
	status = st_downgrade(&c->sv->state, c->client, c->cur, &sid,
		a->share_access & OPEN4_SHARE_ACCESS_BOTH, a->share_deny, &res.stateid);
	if (status != NFS4_OK)
		return status;
	c->cur_sid = res.stateid;
	nfs4_put_open_downgrade_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_delegreturn(struct compound *c, const struct nfs4_args *a)
{
	return NFS4ERR_BAD_STATEID; /* none was given */
}
