/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-file: the files of mean-nfs4: opens, data, attributes and the directory.
 *
 * Handles: "R" the root, "F" + number a file. Stateids: the open's number.
 */
#include "tests/unit/nfsproto/v4/mean-run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static uint8_t content[FILE_SIZE + 4096];

void mean_file_init(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (uint8_t)(i * 2654435761u >> 24);
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
		.fileid = dir && s->root_fileid ? s->root_fileid : fh->data[fh->len - 1],
		.change = s->change,
	};
	a.change_attr_type = s->change_type;
	a.layout_types = s->layouts.gives ? 1u << mean_layout_type(&s->layouts) : 0;
	if (s->info_len) {
		nfs4_bit_set(&a.supported, FATTR4_FS_LOCATIONS_INFO);
		nfs4_bit_set(&a.mask, FATTR4_FS_LOCATIONS_INFO);
		a.fs_locations_info = (struct nfs4_opaque){s->info, s->info_len};
	}
	a.fh = *fh;
	a.mounted_on_fileid = a.attr.fileid;
	return a;
}

void mean_name_replica(struct mean_srv *s, const char *at, bool same)
{
	struct xdr_out x;

	xdr_out_init(&x, s->info, sizeof(s->info));
	xdr_put_u32(&x, 0);
	xdr_put_u32(&x, 0);
	xdr_put_u32(&x, 0);
	xdr_put_u32(&x, 2);
	for (unsigned i = 0; i < 2; i++) {
		struct nfs4_replica one = {.ninfo = FSLI4BX_KNOWN};

		one.info[FSLI4BX_GFLAGS] = FSLI4GF_WRITABLE | (i ? 0 : FSLI4GF_CUR_REQ);
		one.info[FSLI4BX_CLCHANGE] = i && !same;
		one.server = (struct nfs_name){i ? at : "", i ? (uint32_t)strlen(at) : 0};
		xdr_put_u32(&x, 1);
		nfs4_put_replica(&x, &one);
		xdr_put_u32(&x, 0);
	}
	s->info_len = (uint32_t)x.len;
}

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

/* The existing open of owner (there is but one file to open), or a new one. */
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

/* NFS4_OK, or the reason to refuse an OPEN. */
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
	if (!status)
		status = mean_deleg_open(&s->delegs, a, &r->cur, &res.deleg);
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
	if (a->create && a->mode == EXCLUSIVE4_1 && s->verf_in_times)
		res.attrset = nfs4_bits(FATTR4_TIME_ACCESS, FATTR4_TIME_MODIFY, -1);
	if (mean_quirky(s, Q_DELEGATION)) {
		res.deleg.type = OPEN_DELEGATE_READ;
		res.deleg.stateid = (struct nfs4_stateid){.seqid = 1, .other = "deleg"};
		s->ndelegs++;
	}
	r->current = res.stateid;
	if (mean_quirky(s, Q_CUT_OPEN))
		atomic_store(&s->cut, true);
	nfs4_put_open_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_close(struct run *r, const struct nfs4_close_args *a)
{
	struct nfs4_stateid_res res = {.stateid = nfs4_stateid_invalid};
	bool current = !memcmp(&a->stateid, &nfs4_stateid_current, sizeof(a->stateid));
	int i = find_open(r->s, current ? &r->current : &a->stateid);

	if (r->cur.data[0] != 'F')
		i = -1; /* the handle of another file */
	if (i < 0) {
		nfs4_put_op_res(r->x, OP_CLOSE, NFS4ERR_BAD_STATEID);
		return NFS4ERR_BAD_STATEID;
	}
	mean_lock_drop(&r->s->locks, r->s->opens[i].id);
	r->s->opens[i].used = false;
	r->s->nopens--;
	nfs4_put_stateid_res(r->x, OP_CLOSE, NFS4_OK, &res);
	return NFS4_OK;
}

static bool stateid_ok(struct run *r, const struct nfs4_stateid *id)
{
	r->s->io_stateid = *id;
	return r->s->knows_all || memcmp(id, &nfs4_stateid_anonymous, sizeof(*id)) == 0 ||
	       memcmp(id, &nfs4_stateid_current, sizeof(*id)) == 0 || find_open(r->s, id) >= 0 ||
	       mean_lock_known(&r->s->locks, id) || mean_deleg_judge(&r->s->delegs, id) == NFS4_OK;
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
	if (mean_quirky(r->s, Q_READ_LONG))
		data.len = a->count + 4;
	if (mean_quirky(r->s, Q_READ_NOTHING)) {
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
	if (mean_quirky(r->s, Q_WRITE_LONG))
		res.count++;
	if (mean_quirky(r->s, Q_WRITE_UNSTABLE))
		res.committed = UNSTABLE4;
	if (r->s->write_max && res.count > r->s->write_max)
		res.count = r->s->write_max;
	if (a->offset + res.count > r->s->size)
		r->s->size = a->offset + res.count;
	r->s->write_at = a->offset;
	r->s->change++;
	if (mean_quirky(r->s, Q_CUT))
		atomic_store(&r->s->cut, true);
	if (mean_quirky(r->s, Q_CUT_REBOOT)) {
		atomic_store(&r->s->cut, true);
		mean_reboot_locked(r->s);
	}
	nfs4_put_write_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_locku(struct run *r, const struct nfs4_locku_args *a)
{
	uint32_t status = mean_locku(&r->s->locks, r->x, a);

	if (mean_quirky(r->s, Q_CUT_UNLOCK)) {
		atomic_store(&r->s->cut, true);
		mean_reboot_locked(r->s);
	}
	return status;
}

/* Of the type (never a directory here), of the handle, or of the size. */
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
	if (nfs4_bit(&at.mask, FATTR4_FILEHANDLE))
		same = nfs_fh_equal(&at.fh, &r->cur) && s->quirk != Q_NEVER_SAME;
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
	if (mean_quirky(s, Q_DIR_NOTHING)) {
		e.n = 1; /* so that the status is not NFS4ERR_TOOSMALL */
		nfs4_entries_end(&e, false);
		return NFS4_OK;
	}
	for (uint64_t i = a->cookie; i < 5; i++) {
		char name[2] = {(char)('a' + i), 0};

		put_entry(s, &e, i + 1, name, 1, &a->want);
		if (i == 2 && mean_quirky(s, Q_DIR_LOOP))
			put_entry(s, &e, i + 1, "loop", 4, &a->want);
		if (i == 2 && mean_quirky(s, Q_DIR_NAME))
			put_entry(s, &e, 100, s->bad_name, s->bad_name_len, &a->want);
	}
	nfs4_entries_end(&e, true);
	return NFS4_OK;
}

/* fattr4 with fs_locations: /vol/old of this server is /new at s->elsewhere or at another. */
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
		const char *too = r->s->elsewhere_too ? r->s->elsewhere_too : "b.example";
		const char *server = i ? too : r->s->elsewhere;

		xdr_put_u32(r->x, 1);
		xdr_put_opaque(r->x, server, (uint32_t)strlen(server));
		xdr_put_u32(r->x, 1);
		xdr_put_opaque(r->x, "new", 3);
	}
	xdr_patch_u32(r->x, len_at, (uint32_t)(r->x->len - start));
}

/* fattr4 with fs_locations: / of this server is / at each of s->trunk, and /old at 127.0.0.9. */
static void put_trunk(struct run *r)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_FS_LOCATIONS, -1);
	size_t len_at, start;
	uint32_t n = 0;

	while (r->s->trunk[n])
		n++;
	nfs4_put_bitmap(r->x, &mask);
	len_at = xdr_skip_u32(r->x);
	start = r->x->len;
	xdr_put_u32(r->x, 0);
	xdr_put_u32(r->x, 2);
	xdr_put_u32(r->x, 1);
	xdr_put_opaque(r->x, "127.0.0.9", 9);
	xdr_put_u32(r->x, 1);
	xdr_put_opaque(r->x, "old", 3);
	xdr_put_u32(r->x, n);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_opaque(r->x, r->s->trunk[i], (uint32_t)strlen(r->s->trunk[i]));
	xdr_put_u32(r->x, 0);
	xdr_patch_u32(r->x, len_at, (uint32_t)(r->x->len - start));
}

/* fattr4 with the attributes that a file must have, and s->owner. */
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

	if (mean_quirky(r->s, Q_NO_ATTRS))
		want = (struct nfs4_bitmap){0};
	at.maxread = at.maxwrite = r->s->io_max;
	r->s->asked += nfs4_bit(&want, FATTR4_FS_LOCATIONS_INFO);
	nfs4_put_op_res(r->x, OP_GETATTR, NFS4_OK);
	if (r->s->elsewhere && nfs4_bit(&want, FATTR4_FS_LOCATIONS))
		put_elsewhere(r);
	else if (r->s->trunk[0] && nfs4_bit(&want, FATTR4_FS_LOCATIONS))
		put_trunk(r);
	else if (r->s->owner && nfs4_bit(&want, FATTR4_OWNER))
		put_owned(r, &at);
	else
		nfs4_put_attrs(r->x, &want, &at);
	return NFS4_OK;
}

static uint32_t do_lookup(struct run *r, const struct nfs4_name_args *a)
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

		codes[i] = mean_deleg_is(&id) ? mean_deleg_judge(&r->s->delegs, &id)
			   : find_open(r->s, &id) >= 0 || mean_lock_known(&r->s->locks, &id)
				   ? NFS4_OK
				   : NFS4ERR_BAD_STATEID;
	}
	nfs4_put_test_stateid_res(r->x, NFS4_OK, &res);
	return NFS4_OK;
}

static uint32_t do_change_op(struct run *r, const struct nfs4_args *a)
{
	struct nfs4_change_info ci = {.atomic = true};
	struct nfs4_create_res create = {.cinfo = ci};
	struct nfs4_change_res remove = {.cinfo = ci};
	struct nfs4_rename_res rename = {.from = ci, .to = ci};
	struct nfs4_change_res link = {.cinfo = ci};
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
		nfs4_put_change_res(r->x, OP_REMOVE, NFS4_OK, &remove);
		return NFS4_OK;
	case OP_RENAME:
		nfs4_put_rename_res(r->x, NFS4_OK, &rename);
		return NFS4_OK;
	case OP_LINK:
		nfs4_put_change_res(r->x, OP_LINK, NFS4_OK, &link);
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
		return mean_plain(r, a->op, NFS4_OK);
	case OP_SAVEFH:
		r->saved = r->cur;
		return mean_plain(r, a->op, NFS4_OK);
	case OP_RESTOREFH:
		r->cur = r->saved;
		return mean_plain(r, a->op, NFS4_OK);
	default:
		return mean_plain(r, a->op, NFS4ERR_NOTSUPP);
	}
}

uint32_t mean_file_op(struct run *r, const struct nfs4_args *a)
{
	struct mean_srv *s = r->s;
	struct nfs4_getfh_res fh = {.fh = r->cur};
	int i;

	switch (a->op) {
	case OP_PUTROOTFH:
		r->cur = fh_of("R");
		return mean_plain(r, a->op, NFS4_OK);
	case OP_PUTFH:
		r->cur = a->u.putfh.fh;
		return mean_plain(r, a->op, NFS4_OK);
	case OP_GETFH:
		nfs4_put_getfh_res(r->x, NFS4_OK, &fh);
		return NFS4_OK;
	case OP_LOOKUP:
		return do_lookup(r, &a->u.name);
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
		if (mean_deleg_is(&a->u.stateid.stateid))
			return mean_plain(
				r, a->op, mean_deleg_free(&s->delegs, &a->u.stateid.stateid));
		return mean_lock_free(&s->locks, r->x, &a->u.stateid.stateid);
	case OP_LOCK:
		i = a->u.lock.new_owner ? find_open(s, &a->u.lock.open_stateid) : -1;
		return mean_lock(&s->locks, r->x, &a->u.lock, i < 0 ? 0 : s->opens[i].id);
	case OP_LOCKU:
		return do_locku(r, &a->u.locku);
	case OP_LOCKT:
		return mean_lockt(&s->locks, r->x, &a->u.lockt);
	case OP_DELEGRETURN:
		if (mean_deleg_is(&a->u.stateid.stateid))
			return mean_plain(
				r, a->op, mean_deleg_return(&s->delegs, &a->u.stateid.stateid));
		if (!s->ndelegs)
			return mean_plain(r, a->op, NFS4ERR_BAD_STATEID);
		s->ndelegs--;
		return mean_plain(r, a->op, NFS4_OK);
	default:
		return do_change_op(r, a);
	}
}
