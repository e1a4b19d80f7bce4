/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-nfs4: an NFSv4.1 server for tests of the client. What it can do: mean-nfs4.h.
 *
 * Handles: "R" the root, "F" + number a file. Stateids: the open's number. Every COMPOUND runs
 * under one lock.
 */
#include "mean-nfs4.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "nfsproto/wire/nfs4_xdr.h"

#define FILE_SIZE 100000u
#define RES_CAP	  200000u

static uint8_t content[FILE_SIZE + 4096];

/* One COMPOUND. */
struct run {
	struct mean_srv *s;
	struct rpc_req *req;
	struct xdr_out *x;
	struct nfs_fh cur, saved;
	uint32_t n; /* operations done */
	bool last;
	bool failing; /* has the operation fail_op */
};

static bool quirky(struct mean_srv *s, enum quirk q)
{
	if (s->quirk != q || s->quirk_times == 0)
		return false;
	s->quirk_times--;
	return true;
}

static struct nfs_fh fh_of(const char *name)
{
	struct nfs_fh fh = {.len = (uint32_t)strlen(name)};

	memcpy(fh.data, name, fh.len);
	return fh;
}

static struct nfs4_attrs attrs_of(const struct mean_srv *s, const struct nfs_fh *fh)
{
	struct nfs4_attrs a = {.maxread = 1 << 20, .maxwrite = 1 << 20, .lease_time = s->lease_s};
	bool dir = fh->data[0] == 'R';

	a.mask = nfs4_bits_encodable();
	a.supported = nfs4_bits_encodable();
	a.maxfilesize = INT64_MAX;
	a.fs.name_max = 255;
	a.attr = (struct nfs_attr){
		.type = dir ? NFS_DIR : NFS_REG,
		.mode = dir ? 0755 : 0644,
		.nlink = 1,
		.size = dir ? FILE_SIZE : s->size,
		.fileid = fh->data[fh->len - 1],
		.change = s->change,
	};
	a.change_attr_type = s->change_type;
	a.fh = *fh;
	a.mounted_on_fileid = a.attr.fileid;
	return a;
}

/* Does the COMPOUND have this operation? Looks at a copy of the cursor. */
static bool has_op(const struct rpc_req *req, uint32_t op)
{
	struct xdr_in x = req->args;
	struct nfs4_compound_args head;
	struct nfs4_args a;

	if (nfs4_get_compound_args(&x, &head))
		return false;
	for (uint32_t i = 0; i < head.nops; i++) {
		if (nfs4_get_args(&x, &a))
			return false;
		if (a.op == op)
			return true;
	}
	return false;
}

/* --- client ID and session ----------------------------------------------------------------- */

static uint32_t do_exchange_id(struct run *r)
{
	struct mean_srv *s = r->s;
	struct nfs4_exchange_id_res res = {
		.sequenceid = 1,
		.flags = EXCHGID4_FLAG_USE_NON_PNFS,
		.server_major_id = {.data = (const uint8_t *)"mean", .len = 4},
		.server_scope = {.data = (const uint8_t *)"mean", .len = 4},
		.protect = s->protect,
	};

	if (s->nclients && s->create_seq) {
		res.flags |= EXCHGID4_FLAG_CONFIRMED_R;
		res.sequenceid = 0; /* says nothing */
	} else if (!s->nclients) {
		s->clientid++;
		s->create_seq = 0;
	}
	s->nclients = 1;
	res.clientid = s->clientid;
	nfs4_put_exchange_id_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

void mean_session_id(const struct mean_srv *s, struct nfs4_sessionid *id)
{
	memset(id, 's', sizeof(*id));
	memcpy(id->id, &s->session_no, sizeof(s->session_no));
}

static void use_for_callbacks(struct run *r)
{
	struct rpc_xprt *before = r->s->xprt;

	r->s->xprt = rpc_xprt_ref(r->req->xprt);
	if (before)
		rpc_xprt_unref(before);
}

static int bound_at(const struct mean_srv *s, const struct rpc_req *req)
{
	for (unsigned i = 0; i < s->nbound; i++)
		if (s->bound[i] == req->xprt)
			return (int)i;
	return -1;
}

static void bind_conn(struct mean_srv *s, const struct rpc_req *req)
{
	if (bound_at(s, req) >= 0 || s->nbound == MEAN_BOUND)
		return;
	s->bound[s->nbound++] = rpc_xprt_ref(req->xprt);
}

static void unbind_all(struct mean_srv *s)
{
	while (s->nbound > 0)
		rpc_xprt_unref(s->bound[--s->nbound]);
}

static uint32_t do_bind(struct run *r, const struct nfs4_bind_conn_to_session_args *a)
{
	struct nfs4_bind_conn_to_session_res res = {
		.session = a->session,
		.dir = a->dir == CDFC4_FORE ? CDFS4_FORE : CDFS4_BOTH,
	};
	struct nfs4_sessionid mine;

	mean_session_id(r->s, &mine);
	if (!r->s->nsessions || memcmp(&mine, &a->session, sizeof(mine)) != 0) {
		nfs4_put_op_res(r->x, OP_BIND_CONN_TO_SESSION, NFS4ERR_BADSESSION);
		return NFS4ERR_BADSESSION;
	}
	bind_conn(r->s, r->req);
	if (a->dir != CDFC4_FORE)
		use_for_callbacks(r);
	r->s->bind_dir = a->dir;
	res.session.id[15] ^= r->s->wrong_session == OP_BIND_CONN_TO_SESSION;
	nfs4_put_bind_conn_to_session_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_create_session(struct run *r, const struct nfs4_create_session_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_create_session_res res = {
		.sequence = a->sequence,
		.flags = s->no_back ? 0 : CREATE_SESSION4_FLAG_CONN_BACK_CHAN,
		.fore = a->fore,
		.back = a->back,
	};

	if (!s->nclients || a->clientid != s->clientid) {
		nfs4_put_op_res(r->x, OP_CREATE_SESSION, NFS4ERR_STALE_CLIENTID);
		return NFS4ERR_STALE_CLIENTID;
	}
	if (a->sequence == s->create_seq && s->nsessions) { /* its answer was lost */
		res.fore.maxrequests = s->slots;
		mean_session_id(s, &res.session);
		nfs4_put_create_session_res(r->x, NFS4_OK, &res);
		return NFS4_OK;
	}
	if (a->sequence != s->create_seq + 1) {
		nfs4_put_op_res(r->x, OP_CREATE_SESSION, NFS4ERR_SEQ_MISORDERED);
		return NFS4ERR_SEQ_MISORDERED;
	}
	s->create_seq++;
	s->session_no++;
	s->nsessions = 1;
	memset(s->seq, 0, sizeof(s->seq));
	s->kept.len = 0;
	res.fore.maxrequests = s->slots;
	if (s->cached_max)
		res.fore.maxresponsesize_cached = s->cached_max;
	if (s->ops_max)
		res.fore.maxoperations = s->ops_max;
	if (s->request_max)
		res.fore.maxrequestsize = s->request_max;
	if (s->response_max)
		res.fore.maxresponsesize = s->response_max;
	unbind_all(s);
	bind_conn(s, r->req);
	use_for_callbacks(r);
	mean_session_id(s, &res.session);
	nfs4_put_create_session_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_sequence(struct run *r, const struct nfs4_sequence_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_sequence_res res = {
		.session = a->session,
		.sequenceid = a->sequenceid,
		.slotid = a->slotid,
		.highest_slotid = s->slots - 1,
		.target_highest_slotid = (s->target ? s->target : s->slots) - 1,
		.status_flags = s->status_flags,
	};
	struct nfs4_sessionid mine;
	uint32_t status = NFS4_OK;

	mean_session_id(s, &mine);
	if (!s->nsessions || memcmp(&mine, &a->session, sizeof(mine)) != 0)
		status = NFS4ERR_BADSESSION;
	else if (s->strict && bound_at(s, r->req) < 0)
		status = NFS4ERR_CONN_NOT_BOUND_TO_SESSION;
	else if (a->slotid >= s->slots || a->highest_slotid >= s->slots)
		status = NFS4ERR_BADSLOT;
	else if (a->sequenceid == s->seq[a->slotid]) {
		s->replays++;
		status = NFS4ERR_SEQ_FALSE_RETRY;
	} else if (a->sequenceid != s->seq[a->slotid] + 1) {
		s->misordered++;
		status = NFS4ERR_SEQ_MISORDERED;
	}
	if (status) {
		nfs4_put_op_res(r->x, OP_SEQUENCE, status);
		return status;
	}
	s->seq[a->slotid]++;
	if (bound_at(s, r->req) >= 0)
		s->sequences[bound_at(s, r->req)]++;
	if (quirky(s, Q_WRONG_SLOT))
		res.slotid++;
	res.session.id[15] ^= s->wrong_session == OP_SEQUENCE;
	s->uncached += !a->cachethis && r->failing;
	nfs4_put_sequence_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

/* --- opens --------------------------------------------------------------------------------- */

static int find_open(struct mean_srv *s, const struct nfs4_stateid *id)
{
	uint32_t no;

	memcpy(&no, id->other, sizeof(no));
	if (id->other[4]) /* a lock's */
		return -1;
	for (int i = 0; i < MEAN_OPENS; i++)
		if (s->opens[i].used && s->opens[i].id == no)
			return !id->seqid || id->seqid == s->opens[i].seqid ? i : -1;
	return -1;
}

/* The one that owner has already (there is but one file to open), or a new one. */
static int open_of_owner(struct mean_srv *s, const struct nfs4_opaque *owner)
{
	int i, unused = -1;

	for (i = 0; i < MEAN_OPENS; i++) {
		if (!s->opens[i].used)
			unused = unused < 0 ? i : unused;
		else if (memcmp(s->opens[i].owner, owner->data, owner->len) == 0)
			return i;
	}
	assert_true(unused >= 0 && owner->len <= sizeof(s->opens[0].owner));
	memcpy(s->opens[unused].owner, owner->data, owner->len);
	return unused;
}

/* Why an OPEN is refused, or NFS4_OK. */
static uint32_t judge_open(struct mean_srv *s, const struct nfs4_open_args *a)
{
	if (a->claim == CLAIM_PREVIOUS && !s->reclaiming)
		return NFS4ERR_NO_GRACE;
	if (a->claim != CLAIM_PREVIOUS && s->reclaiming) {
		s->early++;
		return NFS4ERR_GRACE;
	}
	if (!a->create || a->mode != EXCLUSIVE4_1)
		return NFS4_OK;
	if (!nfs4_bits_none(&a->attrs.mask)) /* suppattr_exclcreat is empty */
		return NFS4ERR_INVAL;
	if (s->exclusive && s->made && memcmp(s->made_verf, a->verf, sizeof(a->verf)) != 0)
		return NFS4ERR_EXIST;
	s->made = true;
	memcpy(s->made_verf, a->verf, sizeof(a->verf));
	return NFS4_OK;
}

static void note_open(struct mean_srv *s, const struct nfs4_open_args *a)
{
	s->opened.claim = a->claim;
	s->opened.access = a->share_access;
	s->opened.create = a->create;
	s->opened.mode = a->mode;
	memcpy(s->opened.verf, a->verf, sizeof(a->verf));
	memcpy(s->opened.owner, a->owner.owner.data, a->owner.owner.len);
}

static uint32_t do_open(struct run *r, const struct nfs4_open_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_open_res res = {.stateid = {.seqid = 1}};
	uint32_t status;
	int i;

	if (a->claim == CLAIM_NULL)
		r->cur = fh_of("F0");
	i = open_of_owner(s, &a->owner.owner);
	note_open(s, a);
	status = judge_open(s, a);
	if (status) {
		nfs4_put_op_res(r->x, OP_OPEN, status);
		return status;
	}
	s->reclaims += a->claim == CLAIM_PREVIOUS;
	s->reopens += a->claim == CLAIM_FH;
	if (!s->opens[i].used) {
		s->opens[i].used = true;
		s->opens[i].id = ++s->open_no;
		s->opens[i].seqid = (s->open_seqid ? s->open_seqid : 1) - 1;
		s->opens[i].access = 0;
		s->nopens++;
	}
	s->opens[i].seqid = s->opens[i].seqid == UINT32_MAX ? 1 : s->opens[i].seqid + 1;
	s->opens[i].access |= a->share_access & OPEN4_SHARE_ACCESS_BOTH;
	res.stateid.seqid = s->opens[i].seqid;
	memcpy(res.stateid.other, &s->opens[i].id, sizeof(s->opens[i].id));
	if (a->create && a->mode == EXCLUSIVE4_1)
		res.attrset = (struct nfs4_bitmap){0};
	if (quirky(s, Q_DELEGATION)) {
		res.deleg.type = OPEN_DELEGATE_READ;
		res.deleg.stateid = (struct nfs4_stateid){.seqid = 1, .other = "deleg"};
		s->ndelegs++;
	}
	if (quirky(s, Q_CUT_OPEN))
		atomic_store(&s->cut, true);
	nfs4_put_open_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_close(struct run *r, const struct nfs4_close_args *a)
{
	struct nfs4_stateid_res res = {.stateid = nfs4_stateid_invalid};
	int i = find_open(r->s, &a->stateid);

	if (r->cur.data[0] != 'F')
		i = -1; /* not the file's handle */
	if (i < 0) {
		nfs4_put_op_res(r->x, OP_CLOSE, NFS4ERR_BAD_STATEID);
		return NFS4ERR_BAD_STATEID;
	}
	mean_lock_drop(&r->s->locks, r->s->opens[i].id);
	r->s->opens[i].used = false;
	r->s->nopens--;
	nfs4_put_close_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

/* --- data ---------------------------------------------------------------------------------- */

static bool stateid_ok(struct run *r, const struct nfs4_stateid *id)
{
	return memcmp(id, &nfs4_stateid_anonymous, sizeof(*id)) == 0 ||
	       memcmp(id, &nfs4_stateid_current, sizeof(*id)) == 0 || find_open(r->s, id) >= 0 ||
	       mean_lock_known(&r->s->locks, id);
}

static uint32_t do_read(struct run *r, const struct nfs4_read_args *a)
{
	struct mem_sge data = {.addr = content + a->offset % FILE_SIZE};
	struct nfs4_read_res res = {0};
	uint64_t left = a->offset >= FILE_SIZE ? 0 : FILE_SIZE - a->offset;

	if (!stateid_ok(r, &a->stateid)) {
		nfs4_put_op_res(r->x, OP_READ, NFS4ERR_BAD_STATEID);
		return NFS4ERR_BAD_STATEID;
	}
	data.len = a->count < left ? a->count : (uint32_t)left;
	res.eof = data.len == left;
	if (quirky(r->s, Q_READ_LONG))
		data.len = a->count + 4;
	if (quirky(r->s, Q_READ_NOTHING)) {
		data.len = 0;
		res.eof = false;
	}
	res.data = seg_list_of(data, NULL);
	nfs4_put_read_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_write(struct run *r, const struct nfs4_write_args *a)
{
	struct nfs4_write_res res = {.count = a->data.len, .committed = a->stable};

	if (!stateid_ok(r, &a->stateid)) {
		nfs4_put_op_res(r->x, OP_WRITE, NFS4ERR_BAD_STATEID);
		return NFS4ERR_BAD_STATEID;
	}
	if (quirky(r->s, Q_WRITE_LONG))
		res.count++;
	if (quirky(r->s, Q_WRITE_UNSTABLE))
		res.committed = UNSTABLE4;
	if (r->s->write_max && res.count > r->s->write_max)
		res.count = r->s->write_max;
	if (a->offset + res.count > r->s->size)
		r->s->size = a->offset + res.count;
	r->s->write_at = a->offset;
	r->s->change++;
	if (quirky(r->s, Q_CUT))
		atomic_store(&r->s->cut, true);
	nfs4_put_write_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

/* Of the type, which is never a directory here, or of the size. */
static uint32_t do_verify(struct run *r, const struct nfs4_verify_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_attrs at;
	bool same = false;

	assert_int_equal(nfs4_attrs_decode(&a->attrs, &at, NULL), 0);
	if (nfs4_bit(&at.mask, FATTR4_SIZE)) {
		if (s->others_times) {
			s->others_times--;
			s->size += s->others_append;
		}
		same = at.attr.size == s->size && s->quirk != Q_NEVER_SAME;
	}
	nfs4_put_op_res(r->x, OP_VERIFY, same ? NFS4_OK : NFS4ERR_NOT_SAME);
	return same ? NFS4_OK : NFS4ERR_NOT_SAME;
}

static void put_entry(const struct mean_srv *s, struct nfs4_entries *e, uint64_t cookie,
	const char *name, uint32_t len, const struct nfs4_bitmap *want)
{
	struct nfs_name n = {.s = name, .len = len};
	struct nfs_fh fh = fh_of("F0");
	struct nfs4_attrs a = attrs_of(s, &fh);

	nfs4_entries_start(e, cookie, &n);
	nfs4_put_attrs(e->x, want, &a);
	nfs4_entries_commit(e);
}

static uint32_t do_readdir(struct run *r, const struct nfs4_readdir_args *a)
{
	static const uint8_t verf[8] = "cookies";
	struct mean_srv *s = r->s;
	struct nfs4_entries e;

	nfs4_entries_begin(&e, r->x, verf, a->maxcount, 64);
	if (quirky(s, Q_DIR_NOTHING)) {
		e.n = 1; /* so that it is not NFS4ERR_TOOSMALL */
		nfs4_entries_end(&e, false);
		return NFS4_OK;
	}
	for (uint64_t i = a->cookie; i < 5; i++) {
		char name[2] = {(char)('a' + i), 0};

		put_entry(s, &e, i + 1, name, 1, &a->want);
		if (i == 2 && quirky(s, Q_DIR_LOOP))
			put_entry(s, &e, i + 1, "loop", 4, &a->want);
		if (i == 2 && quirky(s, Q_DIR_NAME))
			put_entry(s, &e, 100, s->bad_name, s->bad_name_len, &a->want);
	}
	nfs4_entries_end(&e, true);
	return NFS4_OK;
}

/* --- the rest, and the dispatcher ---------------------------------------------------------- */

/* fattr4 with fs_locations: /vol/old of this server is /new at s->elsewhere or at b.example. */
static void put_elsewhere(struct run *r)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_FS_LOCATIONS, -1);
	size_t len_at, start;

	nfs4_put_bitmap(r->x, &mask);
	len_at = xdr_skip_u32(r->x);
	start = r->x->len;
	xdr_put_u32(r->x, 2);
	xdr_put_opaque(r->x, "vol", 3);
	xdr_put_opaque(r->x, "old", 3);
	xdr_put_u32(r->x, 2);
	for (unsigned i = 0; i < 2; i++) {
		const char *server = i ? "b.example" : r->s->elsewhere;

		xdr_put_u32(r->x, 1);
		xdr_put_opaque(r->x, server, (uint32_t)strlen(server));
		xdr_put_u32(r->x, 1);
		xdr_put_opaque(r->x, "new", 3);
	}
	xdr_patch_u32(r->x, len_at, (uint32_t)(r->x->len - start));
}

/* fattr4 with what a file must have, and s->owner. */
static void put_owned(struct run *r, const struct nfs4_attrs *a)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_TYPE, FATTR4_CHANGE, FATTR4_SIZE,
		FATTR4_FSID, FATTR4_FILEID, FATTR4_OWNER, -1);
	size_t len_at, start;

	nfs4_put_bitmap(r->x, &mask);
	len_at = xdr_skip_u32(r->x);
	start = r->x->len;
	xdr_put_u32(r->x, a->attr.type);
	xdr_put_u64(r->x, a->attr.change);
	xdr_put_u64(r->x, a->attr.size);
	xdr_put_u64(r->x, a->attr.fsid_major);
	xdr_put_u64(r->x, a->attr.fsid_minor);
	xdr_put_u64(r->x, a->attr.fileid);
	xdr_put_opaque(r->x, r->s->owner, (uint32_t)strlen(r->s->owner));
	xdr_patch_u32(r->x, len_at, (uint32_t)(r->x->len - start));
}

static uint32_t do_getattr(struct run *r, const struct nfs4_getattr_args *a)
{
	struct nfs4_attrs at = attrs_of(r->s, &r->cur);
	struct nfs4_bitmap want = a->want;

	if (quirky(r->s, Q_NO_ATTRS))
		want = (struct nfs4_bitmap){0};
	at.maxread = at.maxwrite = r->s->io_max;
	nfs4_put_op_res(r->x, OP_GETATTR, NFS4_OK);
	if (r->s->elsewhere && nfs4_bit(&want, FATTR4_FS_LOCATIONS))
		put_elsewhere(r);
	else if (r->s->owner && nfs4_bit(&want, FATTR4_OWNER))
		put_owned(r, &at);
	else
		nfs4_put_attrs(r->x, &want, &at);
	return NFS4_OK;
}

static uint32_t do_lookup(struct run *r, const struct nfs4_lookup_args *a)
{
	char name[8] = "F0";

	if (a->name.len == 4 && memcmp(a->name.s, "nope", 4) == 0) {
		nfs4_put_op_res(r->x, OP_LOOKUP, NFS4ERR_NOENT);
		return NFS4ERR_NOENT;
	}
	if (a->name.len == 3 && memcmp(a->name.s, "dir", 3) == 0)
		name[0] = 'R';
	r->cur = fh_of(name);
	nfs4_put_op_res(r->x, OP_LOOKUP, NFS4_OK);
	return NFS4_OK;
}

static uint32_t do_test_stateid(struct run *r, const struct nfs4_test_stateid_args *a)
{
	uint32_t codes[64];
	struct nfs4_test_stateid_res res = {.n = a->n < 64 ? a->n : 64, .codes = codes};

	for (uint32_t i = 0; i < res.n; i++) {
		struct nfs4_stateid id = nfs4_test_stateid_at(a, i);

		codes[i] = find_open(r->s, &id) >= 0 || mean_lock_known(&r->s->locks, &id)
				   ? NFS4_OK
				   : NFS4ERR_BAD_STATEID;
	}
	nfs4_put_test_stateid_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t plain(struct run *r, uint32_t op, uint32_t status)
{
	nfs4_put_op_res(r->x, op, status);
	return status;
}

static uint32_t do_file_op(struct run *r, const struct nfs4_args *a)
{
	struct nfs4_change_info ci = {.atomic = true};
	struct nfs4_create_res create = {.cinfo = ci};
	struct nfs4_remove_res remove = {.cinfo = ci};
	struct nfs4_rename_res rename = {.from = ci, .to = ci};
	struct nfs4_link_res link = {.cinfo = ci};
	struct nfs4_setattr_res set = {.attrset = a->u.setattr.attrs.mask};
	struct nfs4_commit_res commit = {.verf = "verf"};
	struct nfs4_access_res access = {.supported = 0x3f, .access = 0x1f};
	struct nfs4_readlink_res rl = {.link = {.s = "target", .len = 6}};
	uint32_t status;

	switch (a->op) {
	case OP_CREATE:
		r->cur = fh_of("F1");
		nfs4_put_create_res(r->x, NFS4_OK, &create);
		return NFS4_OK;
	case OP_REMOVE:
		nfs4_put_remove_res(r->x, NFS4_OK, &remove);
		return NFS4_OK;
	case OP_RENAME:
		nfs4_put_rename_res(r->x, NFS4_OK, &rename);
		return NFS4_OK;
	case OP_LINK:
		nfs4_put_link_res(r->x, NFS4_OK, &link);
		return NFS4_OK;
	case OP_SETATTR:
		status = stateid_ok(r, &a->u.setattr.stateid) ? NFS4_OK : NFS4ERR_BAD_STATEID;
		nfs4_put_setattr_res(r->x, status, status ? NULL : &set);
		return status;
	case OP_COMMIT:
		nfs4_put_commit_res(r->x, NFS4_OK, &commit);
		return NFS4_OK;
	case OP_ACCESS:
		nfs4_put_access_res(r->x, NFS4_OK, &access);
		return NFS4_OK;
	case OP_READLINK:
		nfs4_put_readlink_res(r->x, NFS4_OK, &rl);
		return NFS4_OK;
	case OP_VERIFY:
		return do_verify(r, &a->u.verify);
	case OP_NVERIFY:
		return plain(r, a->op, NFS4_OK);
	case OP_SAVEFH:
		r->saved = r->cur;
		return plain(r, a->op, NFS4_OK);
	case OP_RESTOREFH:
		r->cur = r->saved;
		return plain(r, a->op, NFS4_OK);
	default:
		return plain(r, a->op, NFS4ERR_NOTSUPP);
	}
}

static uint32_t do_op(struct run *r, const struct nfs4_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_getfh_res fh = {.fh = r->cur};
	int i;

	switch (a->op) {
	case OP_EXCHANGE_ID:
		return do_exchange_id(r);
	case OP_CREATE_SESSION:
		return do_create_session(r, &a->u.create_session);
	case OP_SEQUENCE:
		return do_sequence(r, &a->u.sequence);
	case OP_BIND_CONN_TO_SESSION:
		return do_bind(r, &a->u.bind_conn_to_session);
	case OP_DESTROY_SESSION:
		s->nsessions = 0;
		return plain(r, a->op, NFS4_OK);
	case OP_DESTROY_CLIENTID:
		if (s->nsessions || s->nopens)
			return plain(r, a->op, NFS4ERR_CLIENTID_BUSY);
		s->nclients = 0;
		return plain(r, a->op, NFS4_OK);
	case OP_RECLAIM_COMPLETE:
		s->reclaiming = false;
		return plain(r, a->op, NFS4_OK);
	case OP_PUTROOTFH:
		r->cur = fh_of("R");
		return plain(r, a->op, NFS4_OK);
	case OP_PUTFH:
		r->cur = a->u.putfh.fh;
		return plain(r, a->op, NFS4_OK);
	case OP_GETFH:
		nfs4_put_getfh_res(r->x, NFS4_OK, &fh);
		return NFS4_OK;
	case OP_LOOKUP:
		return do_lookup(r, &a->u.lookup);
	case OP_GETATTR:
		return do_getattr(r, &a->u.getattr);
	case OP_OPEN:
		return do_open(r, &a->u.open);
	case OP_CLOSE:
		return do_close(r, &a->u.close);
	case OP_READ:
		return do_read(r, &a->u.read);
	case OP_WRITE:
		return do_write(r, &a->u.write);
	case OP_READDIR:
		return do_readdir(r, &a->u.readdir);
	case OP_TEST_STATEID:
		return do_test_stateid(r, &a->u.test_stateid);
	case OP_FREE_STATEID:
		return mean_lock_free(&s->locks, r->x, &a->u.free_stateid.stateid);
	case OP_LOCK:
		i = a->u.lock.new_owner ? find_open(s, &a->u.lock.open_stateid) : -1;
		return mean_lock(&s->locks, r->x, &a->u.lock, i < 0 ? 0 : s->opens[i].id);
	case OP_LOCKU:
		return mean_locku(&s->locks, r->x, &a->u.locku);
	case OP_LOCKT:
		return mean_lockt(&s->locks, r->x, &a->u.lockt);
	case OP_DELEGRETURN:
		s->ndelegs--;
		return plain(r, a->op, NFS4_OK);
	default:
		return do_file_op(r, a);
	}
}

/* The operation fails because the test says so. */
static uint32_t told_to_fail(struct run *r, uint32_t op)
{
	struct mean_srv *s = r->s;

	if (s->fail_op != op || s->fail_times == 0)
		return NFS4_OK;
	s->fail_times--;
	if (op == OP_SETATTR)
		nfs4_put_setattr_res(r->x, s->fail_status, NULL);
	else
		nfs4_put_op_res(r->x, op, s->fail_status);
	return s->fail_status;
}

static uint32_t one_op(struct run *r)
{
	struct mean_srv *s = r->s;
	size_t before = r->x->len;
	struct nfs4_args a;
	uint32_t status;

	assert_int_equal(nfs4_get_args(&r->req->args, &a), 0);
	status = told_to_fail(r, a.op);
	if (status == NFS4_OK)
		status = do_op(r, &a);
	if (a.op < 80) {
		s->count[a.op]++;
		s->uid[a.op] = r->req->cred.uid;
	}
	r->n++;
	if (r->last && r->n > 1) {
		if (quirky(s, Q_WRONG_OP))
			xdr_patch_u32(r->x, before, OP_LOCKU);
		if (quirky(s, Q_STATUS_MISMATCH)) {
			r->x->len = before;
			nfs4_put_op_res(r->x, a.op, NFS4ERR_IO);
		}
		if (quirky(s, Q_SHORT_REPLY))
			r->x->len = before;
		if (quirky(s, Q_FEWER_RESULTS)) {
			r->x->len = before;
			r->n--;
		}
		if (quirky(s, Q_TRAILING))
			xdr_put_u32(r->x, 0);
	}
	return status;
}

static bool get_sequence(const struct rpc_req *req, uint32_t *nops, struct nfs4_args *a)
{
	struct xdr_in x = req->args;
	struct nfs4_compound_args head;

	if (nfs4_get_compound_args(&x, &head) || !head.nops || nfs4_get_args(&x, a))
		return false;
	*nops = head.nops;
	return a->op == OP_SEQUENCE;
}

/* Keeps the answer to req under its slot and sequence id. */
static void keep_answer(
	struct mean_srv *s, struct rpc_req *req, const struct nfs4_args *seq, uint32_t nops)
{
	const struct xdr_out *x = &req->res;

	assert_true(x->len <= sizeof(s->kept.reply));
	s->kept.slot = seq->u.sequence.slotid;
	s->kept.seq = seq->u.sequence.sequenceid;
	s->kept.nops = nops;
	s->kept.len = x->len;
	memcpy(s->kept.reply, x->base, x->len);
}

static void say_delay(struct rpc_req *req)
{
	struct nfs4_opaque tag = {.len = 0};
	struct xdr_out *x = &req->res;
	size_t at;

	x->len = 0;
	at = nfs4_begin_compound_res(x, &tag);
	nfs4_put_op_res(x, OP_SEQUENCE, NFS4ERR_DELAY);
	nfs4_end_compound_res(x, at, NFS4ERR_DELAY, 1);
}

/* A server that looks at slot and sequence id alone: what it has kept, whatever is asked. */
static bool answer_kept(struct mean_srv *s, struct rpc_req *req)
{
	struct nfs4_args a;
	uint32_t nops;

	if (!s->kept.len || !get_sequence(req, &nops, &a) || a.u.sequence.slotid != s->kept.slot ||
		a.u.sequence.sequenceid != s->kept.seq)
		return false;
	s->mixups += nops != s->kept.nops;
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	memcpy(req->res.base, s->kept.reply, s->kept.len);
	req->res.len = s->kept.len;
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	return true;
}

static void compound(struct mean_srv *s, struct rpc_req *req)
{
	struct run r = {.s = s, .req = req, .x = &req->res, .failing = has_op(req, s->fail_op)};
	struct nfs4_compound_args head;
	uint32_t status = NFS4_OK, nops;
	struct nfs4_args seq;
	bool busy, cut, session;
	size_t at;

	if (answer_kept(s, req))
		return;
	cut = s->cut_times && has_op(req, s->cut_op);
	session = get_sequence(req, &nops, &seq);
	busy = has_op(req, OP_OPEN) && session && quirky(s, Q_BUSY);
	assert_int_equal(nfs4_get_compound_args(&req->args, &head), 0);
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	at = nfs4_begin_compound_res(r.x, &head.tag);
	if (head.minor != s->minor)
		status = NFS4ERR_MINOR_VERS_MISMATCH;
	for (uint32_t i = 0; i < head.nops && status == NFS4_OK; i++) {
		r.last = i + 1 == head.nops;
		status = one_op(&r);
	}
	nfs4_end_compound_res(r.x, at, status, r.n);
	if (cut) {
		s->cut_times--;
		atomic_store(&s->cut, true);
	}
	if (session && (busy || cut))
		keep_answer(s, req, &seq, nops);
	if (busy)
		say_delay(req);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct mean_srv *s = ctx;

	if (req->proc != NFS4_PROC_COMPOUND) {
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
		return;
	}
	pthread_mutex_lock(&s->lock);
	if (s->hold_op && s->nheld < MEAN_HELD && has_op(req, s->hold_op))
		s->held[s->nheld++] = req;
	else if (quirky(s, Q_DROP))
		rpc_req_drop(req);
	else
		compound(s, req);
	pthread_cond_broadcast(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

static enum fault_kind hold_back(
	void *ctx, const struct rpc_req *req, struct fault_note *note, bool reply, unsigned *delay)
{
	struct mean_srv *s = ctx;

	if (!reply)
		return FAULT_NONE;
	*delay = atomic_load(&s->reply_ms);
	return atomic_exchange(&s->cut, false) ? FAULT_CLOSE : FAULT_NONE;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return fault_xprt_wrap(x, hold_back, ctx);
}

/* --- for tests ----------------------------------------------------------------------------- */

void mean_start(struct mean_srv *s)
{
	struct rpc_server_params p = {.proto = RPC_TCP, .service = service, .wrap = wrap, .ctx = s};
	struct sockaddr_in *sin = (struct sockaddr_in *)&p.addr;
	struct err e = {.kind = ERR_NONE};

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 2654435761u >> 24);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->cond, NULL);
	s->pool = mem_pool_new(0);
	s->slots = MEAN_SLOTS;
	s->io_max = 1 << 20;
	s->size = FILE_SIZE;
	s->change = 1;
	s->minor = 1;
	s->lease_s = 30;
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p.addr_len = sizeof(*sin);
	p.pool = s->pool;
	s->server = rpc_server_new(&p, &e);
	assert_non_null(s->server);
}

void mean_stop(struct mean_srv *s)
{
	mean_release(s);
	mean_lock_drop(&s->locks, 0);
	lock_ranges_finish(&s->locks.others);
	if (s->xprt)
		rpc_xprt_unref(s->xprt);
	unbind_all(s);
	rpc_server_free(s->server);
	mem_pool_free(s->pool);
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->lock);
}

void mean_release(struct mean_srv *s)
{
	mean_release_hold(s, 0);
}

void mean_release_hold(struct mean_srv *s, uint32_t op)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->nheld; i++)
		compound(s, s->held[i]);
	s->nheld = 0;
	s->hold_op = op;
	pthread_cond_broadcast(&s->cond);
	pthread_mutex_unlock(&s->lock);
}

bool mean_wait(struct mean_srv *s, const unsigned *counter, unsigned n)
{
	struct timespec t;
	bool ok;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	pthread_mutex_lock(&s->lock);
	while (*counter < n && pthread_cond_timedwait(&s->cond, &s->lock, &t) == 0)
		;
	ok = *counter >= n;
	pthread_mutex_unlock(&s->lock);
	return ok;
}

void mean_reboot(struct mean_srv *s)
{
	pthread_mutex_lock(&s->lock);
	s->nclients = s->nsessions = s->nopens = 0;
	s->reclaiming = s->locks.reclaiming = true;
	mean_lock_drop(&s->locks, 0);
	memset(s->opens, 0, sizeof(s->opens));
	pthread_mutex_unlock(&s->lock);
}

void mean_lose_session(struct mean_srv *s)
{
	pthread_mutex_lock(&s->lock);
	s->nsessions = 0;
	pthread_mutex_unlock(&s->lock);
}

struct recall {
	struct rpc_call call;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool ended;
	uint32_t status;
};

static void recall_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct recall *r = call->ctx;
	struct nfs4_compound_res head = {.status = 0xffffffff};

	if (!error && nfs4_get_compound_res(res, &head) == 0)
		r->status = head.status;
	rpc_call_finish(call);
	pthread_mutex_lock(&r->lock);
	r->ended = true;
	pthread_cond_signal(&r->cond);
	pthread_mutex_unlock(&r->lock);
}

/* Sends CB_SEQUENCE and one of the two. */
static uint32_t call_back(struct mean_srv *s, uint32_t seq, const struct nfs4_cb_recall_args *ra,
	const struct nfs4_cb_notify_lock_args *na)
{
	struct recall r = {.lock = PTHREAD_MUTEX_INITIALIZER,
		.cond = PTHREAD_COND_INITIALIZER,
		.status = 0xfffffffe};
	struct nfs4_cb_sequence_args sa = {.sequenceid = seq};
	size_t at;

	mean_session_id(s, &sa.session);
	assert_int_equal(rpc_cb_init(&r.call, s->xprt, NFS4_CB_PROGRAM, 1, 1024), 0);
	r.call.proc = NFS4_CB_COMPOUND;
	r.call.done = recall_done;
	r.call.ctx = &r;
	r.call.reply_max = 512;
	at = nfs4_put_cb_compound_args(&r.call.args, "", 1, 0);
	nfs4_put_cb_sequence_args(&r.call.args, &sa);
	if (ra)
		nfs4_put_cb_recall_args(&r.call.args, ra);
	else
		nfs4_put_cb_notify_lock_args(&r.call.args, na);
	xdr_patch_u32(&r.call.args, at, 2);
	assert_int_equal(rpc_cb_submit(&r.call), 0);
	pthread_mutex_lock(&r.lock);
	while (!r.ended)
		pthread_cond_wait(&r.cond, &r.lock);
	pthread_mutex_unlock(&r.lock);
	return r.status;
}

uint32_t mean_recall(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, const struct nfs4_stateid *id)
{
	struct nfs4_cb_recall_args a = {.stateid = *id, .fh = *fh};

	return call_back(s, seq, &a, NULL);
}

uint32_t mean_notify_lock(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
	struct nfs4_cb_notify_lock_args a = {.fh = *fh, .owner = {.owner = *owner}};

	return call_back(s, seq, NULL, &a);
}
