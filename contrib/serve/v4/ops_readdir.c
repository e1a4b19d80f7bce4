/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_readdir: READDIR (RFC 8881 section 18.23).
 *
 * Cookies are the file system's own positions (dir.h), and are valid as long as the directory
 * exists. So the cookie verifier is a constant.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "contrib/serve/export/referral.h"
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/dir.h"
#include "contrib/serve/ops/entry.h"
#include "contrib/serve/v4/ops.h"

#define TAIL_RESERVE 512 /* bytes left for operations behind READDIR */

static const uint8_t cookie_verf[NFS4_VERIFIER_SIZE] = {'r', 'n', 'f', 's', 'd', 'i', 'r', '1'};

/* Does the directory itself have all wanted attributes of its entries? */
static bool is_cheap(const struct compound *c, const struct nfs4_bitmap *want)
{
	struct nfs4_bitmap cheap =
		nfs4_bits(FATTR4_RDATTR_ERROR, FATTR4_MOUNTED_ON_FILEID, FATTR4_FILEID, -1);
	struct nfs4_bitmap supported = attr_supported(c->sv, c->minor);

	for (int i = 0; i < NFS4_BITMAP_WORDS; i++)
		if (want->w[i] & supported.w[i] & ~cheap.w[i])
			return false;
	return true;
}

/* The entry's attributes are unknown: status is the reason. */
static void no_attrs(const struct dir_entry *ent, uint32_t status, struct nfs4_attrs *attrs)
{
	memset(attrs, 0, sizeof(*attrs));
	attrs->mask = nfs4_bits(FATTR4_RDATTR_ERROR, FATTR4_MOUNTED_ON_FILEID, -1);
	attrs->rdattr_error = status;
	attrs->mounted_on_fileid = ent->ino;
}

/* Gets an entry's attributes. NFS4_OK; NFS4ERR_NOENT: the entry has gone, and is skipped; or
 * another status on a failure. */
static uint32_t entry_attrs(struct compound *c, const struct dir_entry *ent,
	const struct nfs4_bitmap *want, bool cheap, struct nfs4_attrs *attrs)
{
	bool may_fail = nfs4_bit(want, FATTR4_RDATTR_ERROR);
	struct statx st;
	struct obj *o;
	int r;

	if (cheap) {
		memset(attrs, 0, sizeof(*attrs));
		attrs->mask = *want;
		attrs->attr.fileid = attrs->mounted_on_fileid = ent->ino;
		return NFS4_OK;
	}
	r = obj_lookup(c->sv->objs, c->cur, ent->name, ent->namelen, &o, &st);
	if (r == 0 && o->referral) { /* RFC 8881 section 11.4.2 */
		referral_attrs(o, want, attrs);
		obj_unref(c->sv->objs, o);
		return may_fail || nfs4_bit(want, FATTR4_FS_LOCATIONS) ? NFS4_OK : NFS4ERR_MOVED;
	}
	if (r == 0 && may_fail && deleg_hides(&c->sv->state, o, c->client)) {
		no_attrs(ent, NFS4ERR_DELAY, attrs);
		obj_unref(c->sv->objs, o);
	} else if (r == 0) {
		attr_fill(c->sv, c->minor, o, &st, want, attrs);
		attrs->mounted_on_fileid = ent->ino;
		obj_unref(c->sv->objs, o);
	} else if (r == -ENOENT || !may_fail) {
		return nfs4_errno_status(r);
	} else {
		no_attrs(ent, nfs4_errno_status(r), attrs);
	}
	return NFS4_OK;
}

/* Puts entries until there are no more (*eof), they do not fit, or an error. */
static uint32_t put_entries(struct compound *c, const struct nfs4_readdir_args *a,
	struct dir_stream *ds, struct nfs4_entries *list, bool *eof)
{
	bool cheap = is_cheap(c, &a->want);
	struct nfs4_attrs attrs;
	struct dir_entry ent;
	uint32_t status, names = 0;
	int r;

	*eof = false;
	for (;;) {
		struct nfs_name name;

		r = dir_next(ds, &ent);
		if (r <= 0)
			break;
		status = entry_attrs(c, &ent, &a->want, cheap, &attrs);
		if (status == NFS4ERR_NOENT)
			continue;
		if (status != NFS4_OK)
			return status;
		name.s = ent.name;
		name.len = ent.namelen;
		/* dircount bounds names and cookies alone; the first entry always goes */
		names += 8 + 4 + ent.namelen + xdr_pad(ent.namelen);
		if (a->dircount && names > a->dircount && list->n > 0) {
			dir_back(ds);
			return NFS4_OK;
		}
		nfs4_entries_start(list, ent.cookie, &name);
		nfs4_put_attrs(c->out, &a->want, &attrs);
		attr_fill_done(&attrs);
		if (!nfs4_entries_commit(list)) {
			dir_back(ds);
			return NFS4_OK;
		}
	}
	if (r < 0)
		return nfs4_errno_status(r);
	*eof = true;
	return NFS4_OK;
}

uint32_t op_readdir(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_readdir_args *a = &args->u.readdir;
	size_t reserve = c->out->cap - c->res_max;
	struct nfs4_entries list;
	struct dir_stream *ds;
	uint32_t status = need_dir(c->cur);
	bool eof;
	int r;

	if (status != NFS4_OK)
		return status;
	if (a->cookie == 1 || a->cookie == 2)
		return NFS4ERR_BAD_COOKIE;
	if (a->cookie && memcmp(a->verf, cookie_verf, sizeof(cookie_verf)) != 0)
		return NFS4ERR_NOT_SAME;
	if (nfs4_bit(&a->want, FATTR4_TIME_ACCESS_SET) ||
		nfs4_bit(&a->want, FATTR4_TIME_MODIFY_SET))
		return NFS4ERR_INVAL;
	r = dir_open(c->sv->dirs, c->cur, a->cookie, &ds);
	if (r < 0)
		return r == -EINVAL ? NFS4ERR_BAD_COOKIE : nfs4_errno_status(r);
	if (c->index + 1 < c->nops && c->out->len + reserve + 2 * TAIL_RESERVE < c->out->cap)
		reserve += TAIL_RESERVE;
	nfs4_entries_begin(&list, c->out, cookie_verf, a->maxcount, reserve);
	status = put_entries(c, a, ds, &list, &eof);
	dir_close(c->sv->dirs, ds, status == NFS4_OK && !eof && list.n > 0);
	if (status != NFS4_OK)
		return status;
	return nfs4_entries_end(&list, eof);
}
