/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_sattr: attributes that are to be set (SETATTR, CREATE, OPEN), between struct nfs_sattr and
 * fattr4. Declared in nfs4_attr.h.
 *
 * Here the server's answer to a bad value matters (RFC 8881 5.5, 18.30.3), which is why this is not
 * the decoder of nfs4_attr.c.
 */
#include <string.h>

#include "nfsproto/wire/nfs4_attr.h"

#define SET_ATIME (NFS_SET_ATIME | NFS_SET_ATIME_NOW)
#define SET_MTIME (NFS_SET_MTIME | NFS_SET_MTIME_NOW)

struct nfs4_bitmap nfs4_bits_settable(void)
{
	struct nfs4_bitmap b = nfs4_sattr_bits(
		NFS_SET_MODE | NFS_SET_UID | NFS_SET_GID | NFS_SET_SIZE | SET_ATIME | SET_MTIME);

	nfs4_bit_set(&b, FATTR4_MODE_UMASK);
	return b;
}

struct nfs4_bitmap nfs4_sattr_bits(uint32_t set_mask)
{
	struct nfs4_bitmap b = {{0}, false};

	if (set_mask & NFS_SET_SIZE)
		nfs4_bit_set(&b, FATTR4_SIZE);
	if (set_mask & NFS_SET_MODE)
		nfs4_bit_set(&b, set_mask & NFS_SET_UMASK ? FATTR4_MODE_UMASK : FATTR4_MODE);
	if (set_mask & NFS_SET_UID)
		nfs4_bit_set(&b, FATTR4_OWNER);
	if (set_mask & NFS_SET_GID)
		nfs4_bit_set(&b, FATTR4_OWNER_GROUP);
	if (set_mask & SET_ATIME)
		nfs4_bit_set(&b, FATTR4_TIME_ACCESS_SET);
	if (set_mask & SET_MTIME)
		nfs4_bit_set(&b, FATTR4_TIME_MODIFY_SET);
	return b;
}

/* --- client --------------------------------------------------------------------------------- */

static void put_id(struct xdr_out *x, struct nfs4_owners *owners, uint32_t id, bool group)
{
	char s[NFS4_OWNER_MAX + 1];
	uint32_t n = nfs4_owner_format(owners, id, group, s);

	xdr_put_opaque(x, s, n);
}

static void put_settime(struct xdr_out *x, bool now, const struct timespec *t)
{
	xdr_put_u32(x, now ? SET_TO_SERVER_TIME4 : SET_TO_CLIENT_TIME4);
	if (!now)
		nfs4_put_time(x, t);
}

void nfs4_sattr_encode(const struct nfs_sattr *s, uint8_t buf[NFS4_SATTR_MAX], struct nfs4_fattr *f,
	struct nfs4_owners *owners)
{
	struct xdr_out x;

	f->mask = nfs4_sattr_bits(s->mask);
	xdr_out_init(&x, buf, NFS4_SATTR_MAX);
	if (s->mask & NFS_SET_SIZE)
		xdr_put_u64(&x, s->size);
	if ((s->mask & (NFS_SET_MODE | NFS_SET_UMASK)) == NFS_SET_MODE)
		xdr_put_u32(&x, s->mode & 07777);
	if (s->mask & NFS_SET_UID)
		put_id(&x, owners, s->uid, false);
	if (s->mask & NFS_SET_GID)
		put_id(&x, owners, s->gid, true);
	if (s->mask & SET_ATIME)
		put_settime(&x, s->mask & NFS_SET_ATIME_NOW, &s->atime);
	if (s->mask & SET_MTIME)
		put_settime(&x, s->mask & NFS_SET_MTIME_NOW, &s->mtime);
	if (nfs4_bit(&f->mask, FATTR4_MODE_UMASK)) {
		xdr_put_u32(&x, s->mode & 07777);
		xdr_put_u32(&x, s->umask & 0777);
	}
	f->vals.data = buf;
	f->vals.len = (uint32_t)x.len;
}

/* --- server --------------------------------------------------------------------------------- */

/* RFC 8881 tables 4 and 5: attributes that a client may set, but not here. Any other attribute that
 * is not settable is read-only. */
static bool settable_elsewhere(unsigned bit)
{
	switch (bit) {
	case FATTR4_ACL:
	case FATTR4_ARCHIVE:
	case FATTR4_HIDDEN:
	case FATTR4_MIMETYPE:
	case FATTR4_SYSTEM:
	case FATTR4_TIME_BACKUP:
	case FATTR4_TIME_CREATE:
	case FATTR4_DACL:
	case FATTR4_SACL:
	case FATTR4_LAYOUT_HINT:
	case FATTR4_RETENTION_SET:
	case FATTR4_RETENTEVT_SET:
	case FATTR4_RETENTION_HOLD:
	case FATTR4_MODE_SET_MASKED:
	case FATTR4_SEC_LABEL:
		return true;
	default:
		return bit > FATTR4_XATTR_SUPPORT; /* unknown */
	}
}

static uint32_t check_mask(const struct nfs4_bitmap *mask, bool acl)
{
	struct nfs4_bitmap ok = nfs4_bits_settable();
	uint32_t status = NFS4_OK;

	if (acl)
		nfs4_bit_set(&ok, FATTR4_ACL);
	if (mask->more)
		return NFS4ERR_ATTRNOTSUPP;
	NFS4_FOREACH_BIT (bit, mask) {
		if (nfs4_bit(&ok, bit))
			continue;
		if (settable_elsewhere(bit))
			return NFS4ERR_ATTRNOTSUPP;
		status = NFS4ERR_INVAL;
	}
	return status;
}

static uint32_t get_id(struct xdr_in *x, struct nfs4_owners *owners, bool group, uint32_t *id)
{
	uint32_t len;
	const char *s = (const char *)xdr_get_opaque(x, NFS4_OWNER_ACCEPT, &len);

	return nfs4_owner_parse(owners, s, len, group, id) ? NFS4_OK : NFS4ERR_BADOWNER;
}

/* settime4: sets the bit of the clock in use */
static uint32_t get_settime(
	struct xdr_in *x, struct timespec *t, uint32_t *mask, uint32_t client, uint32_t now)
{
	uint32_t ns;

	if (nfs4_get_enum(x, SET_TO_SERVER_TIME4, SET_TO_CLIENT_TIME4) == SET_TO_SERVER_TIME4) {
		*mask |= now;
		return NFS4_OK;
	}
	*mask |= client;
	t->tv_sec = (time_t)xdr_get_u64(x);
	ns = xdr_get_u32(x);
	t->tv_nsec = ns <= 999999999 ? (long)ns : 0;
	return ns <= 999999999 ? NFS4_OK : NFS4ERR_INVAL;
}

static void first_error(uint32_t *status, uint32_t s)
{
	if (*status == NFS4_OK)
		*status = s;
}

static void get_acl(struct xdr_in *x, struct nfs4_opaque *acl)
{
	size_t start = x->pos;

	if (nfs4_get_acl(x) >= 0)
		*acl = (struct nfs4_opaque){x->base + start, (uint32_t)(x->pos - start)};
}

uint32_t nfs4_sattr_decode(const struct nfs4_fattr *f, struct nfs_sattr *s, struct nfs4_opaque *acl,
	struct nfs4_owners *owners)
{
	uint32_t status = check_mask(&f->mask, acl);
	struct xdr_in x;

	memset(s, 0, sizeof(*s));
	if (status != NFS4_OK)
		return status;
	xdr_in_init(&x, f->vals.data, f->vals.len);
	if (nfs4_bit(&f->mask, FATTR4_SIZE)) {
		s->mask |= NFS_SET_SIZE;
		s->size = xdr_get_u64(&x);
	}
	if (acl)
		*acl = (struct nfs4_opaque){NULL, 0};
	if (nfs4_bit(&f->mask, FATTR4_ACL))
		get_acl(&x, acl);
	if (nfs4_bit(&f->mask, FATTR4_MODE)) {
		s->mask |= NFS_SET_MODE;
		s->mode = xdr_get_u32(&x);
		if (s->mode & ~07777u)
			first_error(&status, NFS4ERR_INVAL);
	}
	if (nfs4_bit(&f->mask, FATTR4_OWNER)) {
		s->mask |= NFS_SET_UID;
		first_error(&status, get_id(&x, owners, false, &s->uid));
	}
	if (nfs4_bit(&f->mask, FATTR4_OWNER_GROUP)) {
		s->mask |= NFS_SET_GID;
		first_error(&status, get_id(&x, owners, true, &s->gid));
	}
	if (nfs4_bit(&f->mask, FATTR4_TIME_ACCESS_SET))
		first_error(&status,
			get_settime(&x, &s->atime, &s->mask, NFS_SET_ATIME, NFS_SET_ATIME_NOW));
	if (nfs4_bit(&f->mask, FATTR4_TIME_MODIFY_SET))
		first_error(&status,
			get_settime(&x, &s->mtime, &s->mask, NFS_SET_MTIME, NFS_SET_MTIME_NOW));
	if (nfs4_bit(&f->mask, FATTR4_MODE_UMASK)) {
		if (s->mask & NFS_SET_MODE) /* RFC 8275 section 5 */
			first_error(&status, NFS4ERR_INVAL);
		s->mask |= NFS_SET_MODE | NFS_SET_UMASK;
		s->mode = xdr_get_u32(&x);
		s->umask = xdr_get_u32(&x);
		if (s->mode & ~07777u || s->umask & ~0777u)
			first_error(&status, NFS4ERR_INVAL);
	}
	return xdr_in_done(&x) ? status : NFS4ERR_BADXDR;
}
