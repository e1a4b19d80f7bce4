/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_attr: the values of NFSv4's attributes (RFC 8881 section 5), to and from fattr4.
 *
 * One table gives each attribute its wire type and its place in struct nfs4_attrs; encoder, decoder
 * and size bound all follow the table. Values stand on the wire in ascending order of their bit
 * numbers, without lengths of their own. So the decoder cannot step over an attribute that is not
 * in the table, and refuses a mask with such an attribute.
 */
#include "nfsproto/wire/nfs4_attr.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define N_OF(a)	    (sizeof(a) / sizeof((a)[0]))
#define LAYOUTS_MAX 64u
#define MODE_BITS   07777u

enum kind {
	K_NONE, /* not known here */
	K_U32,
	K_U64,
	K_BOOL,
	K_TIME,
	K_BITMAP,
	K_TYPE,
	K_MODE,
	K_TWO_U64, /* fsid: major, minor next to each other */
	K_TWO_U32, /* rawdev: likewise */
	K_FH,
	K_USER,
	K_GROUP,
	K_ACL,
	K_LOCATIONS,
	K_LOCATIONS_INFO,
	K_FS_STATUS,
	K_LAYOUTS,
};

struct desc {
	enum kind kind;
	uint16_t off; /* in struct nfs4_attrs */
};

#define D(kind, member)                                                                            \
	{                                                                                          \
		kind, offsetof(struct nfs4_attrs, member)                                          \
	}

static const struct desc descs[] = {
	[FATTR4_SUPPORTED_ATTRS] = D(K_BITMAP, supported),
	[FATTR4_TYPE] = D(K_TYPE, attr.type),
	[FATTR4_FH_EXPIRE_TYPE] = D(K_U32, fh_expire_type),
	[FATTR4_CHANGE] = D(K_U64, attr.change),
	[FATTR4_SIZE] = D(K_U64, attr.size),
	[FATTR4_LINK_SUPPORT] = D(K_BOOL, link_support),
	[FATTR4_SYMLINK_SUPPORT] = D(K_BOOL, symlink_support),
	[FATTR4_NAMED_ATTR] = D(K_BOOL, named_attr),
	[FATTR4_FSID] = D(K_TWO_U64, attr.fsid_major),
	[FATTR4_UNIQUE_HANDLES] = D(K_BOOL, unique_handles),
	[FATTR4_LEASE_TIME] = D(K_U32, lease_time),
	[FATTR4_RDATTR_ERROR] = D(K_U32, rdattr_error),
	[FATTR4_ACL] = D(K_ACL, acl),
	[FATTR4_ACLSUPPORT] = D(K_U32, aclsupport),
	[FATTR4_ARCHIVE] = D(K_BOOL, archive),
	[FATTR4_CANSETTIME] = D(K_BOOL, cansettime),
	[FATTR4_CASE_INSENSITIVE] = D(K_BOOL, case_insensitive),
	[FATTR4_CASE_PRESERVING] = D(K_BOOL, case_preserving),
	[FATTR4_CHOWN_RESTRICTED] = D(K_BOOL, chown_restricted),
	[FATTR4_FILEHANDLE] = D(K_FH, fh),
	[FATTR4_FILEID] = D(K_U64, attr.fileid),
	[FATTR4_FILES_AVAIL] = D(K_U64, fs.afiles),
	[FATTR4_FILES_FREE] = D(K_U64, fs.ffiles),
	[FATTR4_FILES_TOTAL] = D(K_U64, fs.tfiles),
	[FATTR4_FS_LOCATIONS] = D(K_LOCATIONS, fs_locations),
	[FATTR4_HIDDEN] = D(K_BOOL, hidden),
	[FATTR4_HOMOGENEOUS] = D(K_BOOL, homogeneous),
	[FATTR4_MAXFILESIZE] = D(K_U64, maxfilesize),
	[FATTR4_MAXLINK] = D(K_U32, maxlink),
	[FATTR4_MAXNAME] = D(K_U32, fs.name_max),
	[FATTR4_MAXREAD] = D(K_U64, maxread),
	[FATTR4_MAXWRITE] = D(K_U64, maxwrite),
	[FATTR4_MODE] = D(K_MODE, attr.mode),
	[FATTR4_NO_TRUNC] = D(K_BOOL, no_trunc),
	[FATTR4_NUMLINKS] = D(K_U32, attr.nlink),
	[FATTR4_OWNER] = D(K_USER, attr.uid),
	[FATTR4_OWNER_GROUP] = D(K_GROUP, attr.gid),
	[FATTR4_QUOTA_AVAIL_HARD] = D(K_U64, quota_avail_hard),
	[FATTR4_QUOTA_AVAIL_SOFT] = D(K_U64, quota_avail_soft),
	[FATTR4_QUOTA_USED] = D(K_U64, quota_used),
	[FATTR4_RAWDEV] = D(K_TWO_U32, attr.rdev_major),
	[FATTR4_SPACE_AVAIL] = D(K_U64, fs.abytes),
	[FATTR4_SPACE_FREE] = D(K_U64, fs.fbytes),
	[FATTR4_SPACE_TOTAL] = D(K_U64, fs.tbytes),
	[FATTR4_SPACE_USED] = D(K_U64, attr.used),
	[FATTR4_SYSTEM] = D(K_BOOL, system),
	[FATTR4_TIME_ACCESS] = D(K_TIME, attr.atime),
	[FATTR4_TIME_BACKUP] = D(K_TIME, time_backup),
	[FATTR4_TIME_CREATE] = D(K_TIME, time_create),
	[FATTR4_TIME_DELTA] = D(K_TIME, time_delta),
	[FATTR4_TIME_METADATA] = D(K_TIME, attr.ctime),
	[FATTR4_TIME_MODIFY] = D(K_TIME, attr.mtime),
	[FATTR4_MOUNTED_ON_FILEID] = D(K_U64, mounted_on_fileid),
	[FATTR4_FS_STATUS] = D(K_FS_STATUS, fs_status),
	[FATTR4_FS_LAYOUT_TYPES] = D(K_LAYOUTS, layout_types),
	[FATTR4_LAYOUT_BLKSIZE] = D(K_U32, layout_blksize),
	[FATTR4_LAYOUT_ALIGNMENT] = D(K_U32, layout_alignment),
	[FATTR4_FS_LOCATIONS_INFO] = D(K_LOCATIONS_INFO, fs_locations_info),
	[FATTR4_SUPPATTR_EXCLCREAT] = D(K_BITMAP, exclcreat),
	[FATTR4_FS_CHARSET_CAP] = D(K_U32, fs_charset_cap),
	[FATTR4_CLONE_BLKSIZE] = D(K_U32, clone_blksize),
	[FATTR4_CHANGE_ATTR_TYPE] = D(K_U32, change_attr_type),
	[FATTR4_XATTR_SUPPORT] = D(K_BOOL, xattr_support),
};

_Static_assert(offsetof(struct nfs_attr, fsid_minor) == offsetof(struct nfs_attr, fsid_major) + 8,
	"K_TWO_U64");
_Static_assert(offsetof(struct nfs_attr, rdev_minor) == offsetof(struct nfs_attr, rdev_major) + 4,
	"K_TWO_U32");
_Static_assert(N_OF(descs) <= 32 * NFS4_BITMAP_WORDS, "every attribute has its bit");

/* --- bit sets ------------------------------------------------------------------------------- */

struct nfs4_bitmap nfs4_bits(int first, ...)
{
	struct nfs4_bitmap b = {{0}, false};
	va_list ap;

	va_start(ap, first);
	for (int n = first; n >= 0; n = va_arg(ap, int))
		nfs4_bit_set(&b, (unsigned)n);
	va_end(ap);
	return b;
}

struct nfs4_bitmap nfs4_bits_and(const struct nfs4_bitmap *a, const struct nfs4_bitmap *b)
{
	struct nfs4_bitmap r = {{0}, false};

	for (unsigned i = 0; i < NFS4_BITMAP_WORDS; i++)
		r.w[i] = a->w[i] & b->w[i];
	return r;
}

struct nfs4_bitmap nfs4_bits_or(const struct nfs4_bitmap *a, const struct nfs4_bitmap *b)
{
	struct nfs4_bitmap r = {{0}, a->more || b->more};

	for (unsigned i = 0; i < NFS4_BITMAP_WORDS; i++)
		r.w[i] = a->w[i] | b->w[i];
	return r;
}

bool nfs4_bits_none(const struct nfs4_bitmap *b)
{
	for (unsigned i = 0; i < NFS4_BITMAP_WORDS; i++)
		if (b->w[i])
			return false;
	return !b->more;
}

struct nfs4_bitmap nfs4_bits_stat(void)
{
	return nfs4_bits(FATTR4_TYPE, FATTR4_CHANGE, FATTR4_SIZE, FATTR4_FSID, FATTR4_FILEID,
		FATTR4_MODE, FATTR4_NUMLINKS, FATTR4_OWNER, FATTR4_OWNER_GROUP, FATTR4_RAWDEV,
		FATTR4_SPACE_USED, FATTR4_TIME_ACCESS, FATTR4_TIME_METADATA, FATTR4_TIME_MODIFY,
		-1);
}

struct nfs4_bitmap nfs4_bits_data(void)
{
	return nfs4_bits(FATTR4_CHANGE, FATTR4_SIZE, FATTR4_SPACE_USED, FATTR4_TIME_ACCESS,
		FATTR4_TIME_METADATA, FATTR4_TIME_MODIFY, -1);
}

struct nfs4_bitmap nfs4_bits_fs(void)
{
	return nfs4_bits(FATTR4_FILES_AVAIL, FATTR4_FILES_FREE, FATTR4_FILES_TOTAL, FATTR4_MAXNAME,
		FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE, FATTR4_SPACE_TOTAL, -1);
}

struct nfs4_bitmap nfs4_bits_info(void)
{
	return nfs4_bits(FATTR4_SUPPORTED_ATTRS, FATTR4_FH_EXPIRE_TYPE, FATTR4_LINK_SUPPORT,
		FATTR4_SYMLINK_SUPPORT, FATTR4_UNIQUE_HANDLES, FATTR4_LEASE_TIME, FATTR4_ACLSUPPORT,
		FATTR4_CANSETTIME, FATTR4_CASE_INSENSITIVE, FATTR4_CASE_PRESERVING,
		FATTR4_CHOWN_RESTRICTED, FATTR4_HOMOGENEOUS, FATTR4_MAXFILESIZE, FATTR4_MAXLINK,
		FATTR4_MAXNAME, FATTR4_MAXREAD, FATTR4_MAXWRITE, FATTR4_NO_TRUNC, FATTR4_TIME_DELTA,
		FATTR4_SUPPATTR_EXCLCREAT, -1);
}

static bool encodable(unsigned bit)
{
	enum kind k = bit < N_OF(descs) ? descs[bit].kind : K_NONE;

	return k != K_NONE && k != K_LOCATIONS && k != K_LOCATIONS_INFO && k != K_FS_STATUS;
}

/* Is the attribute, one that not every server has, set in a? */
static bool is_set(unsigned bit, const struct nfs4_attrs *a)
{
	switch (bit) {
	case FATTR4_FS_LOCATIONS:
		return a->fs_locations.data;
	case FATTR4_FS_LOCATIONS_INFO:
		return a->fs_locations_info.data;
	case FATTR4_FS_STATUS:
		return a->fs_status.type;
	default:
		return false;
	}
}

struct nfs4_bitmap nfs4_bits_encodable(void)
{
	struct nfs4_bitmap b = {{0}, false};

	for (unsigned bit = 0; bit < N_OF(descs); bit++)
		if (encodable(bit))
			nfs4_bit_set(&b, bit);
	return b;
}

size_t nfs4_attr_max(unsigned bit)
{
	switch (bit < N_OF(descs) ? descs[bit].kind : K_NONE) {
	case K_U32:
	case K_BOOL:
	case K_TYPE:
	case K_MODE:
		return 4;
	case K_U64:
	case K_TWO_U32:
		return 8;
	case K_TIME:
		return 12;
	case K_TWO_U64:
		return 16;
	case K_BITMAP:
		return 4 + 4 * NFS4_BITMAP_WIRE;
	case K_FH:
		return 4 + NFS4_FHSIZE;
	case K_USER:
	case K_GROUP:
		return 4 + NFS4_OWNER_EXPECT;
	case K_LAYOUTS:
		return 4 + 4 * LAYOUTS_MAX;
	case K_NONE:
	case K_ACL:
	case K_LOCATIONS:
	case K_LOCATIONS_INFO:
	case K_FS_STATUS:
		break;
	}
	return 0;
}

/* --- owners --------------------------------------------------------------------------------- */

uint32_t nfs4_owner_format(
	struct nfs4_owners *owners, uint32_t id, bool group, char buf[NFS4_OWNER_MAX + 1])
{
	uint32_t n = owners && owners->to_name ? owners->to_name(owners, id, group, buf) : 0;

	return n ? n : (uint32_t)snprintf(buf, NFS4_OWNER_MAX + 1, "%u", id);
}

/* RFC 8881 5.9: decimal, no leading zeros. The largest value stands for no id in system calls. */
static bool parse_id(const char *s, uint32_t len, uint32_t *id)
{
	uint64_t v = 0;

	if (len == 0 || len > 10 || (len > 1 && s[0] == '0'))
		return false;
	for (uint32_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	if (v >= UINT32_MAX)
		return false;
	*id = (uint32_t)v;
	return true;
}

bool nfs4_owner_parse(
	struct nfs4_owners *owners, const char *s, uint32_t len, bool group, uint32_t *id)
{
	if (parse_id(s, len, id))
		return true;
	if (owners && owners->to_id && len && owners->to_id(owners, s, len, group, id))
		return true;
	*id = NFS4_NOBODY;
	return false;
}

static void put_owner_id(struct xdr_out *x, uint32_t id)
{
	char s[10];
	unsigned at = sizeof(s);

	do /* snprintf() would take longer than all the rest */
		s[--at] = (char)('0' + id % 10);
	while (id /= 10);
	xdr_put_opaque(x, s + at, (uint32_t)sizeof(s) - at);
}

/* --- encoding ------------------------------------------------------------------------------- */

static void put_layouts(struct xdr_out *x, uint32_t types)
{
	xdr_put_u32(x, (uint32_t)__builtin_popcount(types));
	for (uint32_t type = 0; type < 32; type++)
		if (types >> type & 1)
			xdr_put_u32(x, type);
}

static void put_acl(struct xdr_out *x, const struct nfs4_opaque *acl)
{
	if (acl->data)
		xdr_put_fixed(x, acl->data, acl->len);
	else
		xdr_put_u32(x, 0);
}

static void put_value(struct xdr_out *x, const struct desc *d, const void *v)
{
	const uint32_t *u32 = v;
	const uint64_t *u64 = v;

	switch (d->kind) {
	case K_U32:
	case K_TYPE:
		xdr_put_u32(x, *u32);
		break;
	case K_MODE:
		xdr_put_u32(x, *u32 & MODE_BITS);
		break;
	case K_U64:
		xdr_put_u64(x, *u64);
		break;
	case K_BOOL:
		xdr_put_bool(x, *(const bool *)v);
		break;
	case K_TIME:
		nfs4_put_time(x, v);
		break;
	case K_BITMAP:
		nfs4_put_bitmap(x, v);
		break;
	case K_TWO_U64:
		xdr_put_u64(x, u64[0]);
		xdr_put_u64(x, u64[1]);
		break;
	case K_TWO_U32:
		xdr_put_u32(x, u32[0]);
		xdr_put_u32(x, u32[1]);
		break;
	case K_FH:
		nfs4_put_fh(x, v);
		break;
	case K_USER:
	case K_GROUP:
		put_owner_id(x, *u32);
		break;
	case K_LAYOUTS:
		put_layouts(x, *u32);
		break;
	case K_ACL:
		put_acl(x, v);
		break;
	case K_FS_STATUS:
		nfs4_put_fs_status(x, v);
		break;
	case K_LOCATIONS:
	case K_LOCATIONS_INFO:
		xdr_put_fixed(x, ((const struct nfs4_opaque *)v)->data,
			((const struct nfs4_opaque *)v)->len);
		break;
	case K_NONE:
		break; /* not encodable */
	}
}

void nfs4_put_attrs(struct xdr_out *x, const struct nfs4_bitmap *want, const struct nfs4_attrs *a)
{
	struct nfs4_bitmap mask = nfs4_bits_and(want, &a->mask);
	size_t len_at, start;

	NFS4_FOREACH_BIT (bit, &mask)
		if (!encodable(bit) && !is_set(bit, a))
			nfs4_bit_clear(&mask, bit);
	nfs4_put_bitmap(x, &mask);
	len_at = xdr_skip_u32(x);
	start = x->len;
	NFS4_FOREACH_BIT (bit, &mask)
		put_value(x, &descs[bit], (const char *)a + descs[bit].off);
	xdr_patch_u32(x, len_at, (uint32_t)(x->len - start));
}

/* --- decoding ------------------------------------------------------------------------------- */

/* Bytes of the stream from start to the cursor, for values kept in wire form. */
static struct nfs4_opaque since(const struct xdr_in *x, size_t start)
{
	struct nfs4_opaque o = {NULL, 0};

	if (xdr_in_ok(x)) {
		o.data = x->base + start;
		o.len = (uint32_t)(x->pos - start);
	}
	return o;
}

static struct nfs4_opaque get_acl(struct xdr_in *x)
{
	size_t start = x->pos;

	nfs4_get_acl(x);
	return since(x, start);
}

static struct nfs4_opaque get_locations(struct xdr_in *x, bool info)
{
	size_t start = x->pos;

	if (info)
		nfs4_scan_locations_info(x);
	else
		nfs4_scan_locations(x);
	return since(x, start);
}

static uint32_t get_layouts(struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, LAYOUTS_MAX, 4), types = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = xdr_get_u32(x);

		if (type < 32)
			types |= 1u << type;
	}
	return types;
}

static enum nfs_type get_type(struct xdr_in *x)
{
	uint32_t t = nfs4_get_enum(x, NF4REG, NF4NAMEDATTR);

	if (t == NF4ATTRDIR)
		return NFS_DIR;
	if (t == NF4NAMEDATTR)
		return NFS_REG;
	return (enum nfs_type)t;
}

static void get_owner_id(struct xdr_in *x, struct nfs4_owners *owners, bool group, uint32_t *id)
{
	uint32_t len;
	const char *s = (const char *)xdr_get_opaque(x, NFS4_OWNER_ACCEPT, &len);

	nfs4_owner_parse(owners, s, len, group, id);
}

static void get_value(struct xdr_in *x, const struct desc *d, void *v, struct nfs4_owners *owners)
{
	uint32_t *u32 = v;
	uint64_t *u64 = v;

	switch (d->kind) {
	case K_U32:
		*u32 = xdr_get_u32(x);
		break;
	case K_MODE:
		*u32 = xdr_get_u32(x) & MODE_BITS;
		break;
	case K_TYPE:
		*(enum nfs_type *)v = get_type(x);
		break;
	case K_U64:
		*u64 = xdr_get_u64(x);
		break;
	case K_BOOL:
		*(bool *)v = xdr_get_bool(x);
		break;
	case K_TIME:
		nfs4_get_time(x, v);
		break;
	case K_BITMAP:
		nfs4_get_bitmap(x, v);
		break;
	case K_TWO_U64:
		u64[0] = xdr_get_u64(x);
		u64[1] = xdr_get_u64(x);
		break;
	case K_TWO_U32:
		u32[0] = xdr_get_u32(x);
		u32[1] = xdr_get_u32(x);
		break;
	case K_FH:
		nfs4_get_fh(x, v);
		break;
	case K_USER:
	case K_GROUP:
		get_owner_id(x, owners, d->kind == K_GROUP, u32);
		break;
	case K_ACL:
		*(struct nfs4_opaque *)v = get_acl(x);
		break;
	case K_LOCATIONS:
	case K_LOCATIONS_INFO:
		*(struct nfs4_opaque *)v = get_locations(x, d->kind == K_LOCATIONS_INFO);
		break;
	case K_FS_STATUS:
		nfs4_get_fs_status(x, v);
		break;
	case K_LAYOUTS:
		*u32 = get_layouts(x);
		break;
	case K_NONE:
		xdr_in_fail(x);
		break;
	}
}

int nfs4_attrs_decode(const struct nfs4_fattr *f, struct nfs4_attrs *a, struct nfs4_owners *owners)
{
	struct xdr_in x;

	memset(a, 0, sizeof(*a));
	a->attr.type = NFS_REG;
	a->attr.nlink = 1;
	a->attr.uid = NFS4_NOBODY;
	a->attr.gid = NFS4_NOBODY;
	a->mask = f->mask;
	xdr_in_init(&x, f->vals.data, f->vals.len);
	if (f->mask.more)
		xdr_in_fail(&x);
	NFS4_FOREACH_BIT (bit, &f->mask) {
		if (!xdr_in_ok(&x))
			break;
		if (bit < N_OF(descs))
			get_value(&x, &descs[bit], (char *)a + descs[bit].off, owners);
		else
			xdr_in_fail(&x);
	}
	return xdr_in_done(&x) ? 0 : -EBADMSG;
}

int nfs4_get_attrs(struct xdr_in *x, struct nfs4_attrs *a, struct nfs4_owners *owners)
{
	struct nfs4_fattr f;

	if (nfs4_get_fattr(x, &f) == 0 && nfs4_attrs_decode(&f, a, owners) == 0)
		return 0;
	return xdr_in_fail(x);
}

bool nfs4_attrs_complete(const struct nfs4_attrs *a)
{
	return nfs4_bit(&a->mask, FATTR4_TYPE) && nfs4_bit(&a->mask, FATTR4_CHANGE) &&
	       nfs4_bit(&a->mask, FATTR4_SIZE) && nfs4_bit(&a->mask, FATTR4_FSID) &&
	       nfs4_bit(&a->mask, FATTR4_FILEID);
}
