/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attr: reports and changes the attributes of objects (RFC 8881 section 5).
 *
 * The change attribute is the change time in nanoseconds plus the number of changes that went
 * through this server while the object was known. The reason for the number: a file system with a
 * coarse clock gives two changes in one tick the same time. A client that sees no difference would
 * keep stale data.
 */
#include "contrib/serve/ops/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/export/replicas.h"
#include "contrib/serve/ops/acl.h"
#include "contrib/serve/ops/names.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/ops/space.h"
#include "contrib/serve/ops/xattr.h"

/* fsid major of the exported file system, "rnfs"; fs/lookup/nested.c tests for the number */
#define FSID_ROOT 0x726e6673u

void attr_touch(struct obj *o)
{
	atomic_fetch_add_explicit(&o->bumps, 1, memory_order_relaxed);
}

bool attr_is_access(const struct nfs_sattr *set)
{
	return set->mask & ATTR_ACCESS;
}

uint64_t attr_change(const struct obj *o, const struct statx *st)
{
	return (uint64_t)st->stx_ctime.tv_sec * 1000000000u + st->stx_ctime.tv_nsec +
	       atomic_load_explicit(&o->bumps, memory_order_relaxed);
}

void cinfo_before(struct obj *dir, struct nfs4_change_info *ci)
{
	struct statx st;

	ci->atomic = false;
	ci->before = obj_stat(dir, &st) == 0 ? attr_change(dir, &st) : 0;
}

void cinfo_after(struct obj *dir, struct nfs4_change_info *ci)
{
	struct statx st;

	attr_touch(dir);
	ci->after = obj_stat(dir, &st) == 0 ? attr_change(dir, &st) : ci->before + 1;
}

/* The attributes that a minor version has here, and the subset that an exclusive create may set. */
struct offer {
	struct nfs4_bitmap supported, exclcreat;
};
static struct offer offers[3]; /* by minor version; set once */
static pthread_once_t offers_once = PTHREAD_ONCE_INIT;

static struct nfs4_bitmap find_supported(uint32_t minor)
{
	struct nfs4_bitmap want = nfs4_bits(FATTR4_SUPPORTED_ATTRS, FATTR4_TYPE,
		FATTR4_FH_EXPIRE_TYPE, FATTR4_CHANGE, FATTR4_SIZE, FATTR4_LINK_SUPPORT,
		FATTR4_SYMLINK_SUPPORT, FATTR4_NAMED_ATTR, FATTR4_FSID, FATTR4_UNIQUE_HANDLES,
		FATTR4_LEASE_TIME, FATTR4_RDATTR_ERROR, FATTR4_CANSETTIME, FATTR4_CASE_INSENSITIVE,
		FATTR4_CASE_PRESERVING, FATTR4_CHOWN_RESTRICTED, FATTR4_FILEHANDLE, FATTR4_FILEID,
		FATTR4_FILES_AVAIL, FATTR4_FILES_FREE, FATTR4_FILES_TOTAL, FATTR4_HOMOGENEOUS,
		FATTR4_MAXFILESIZE, FATTR4_MAXLINK, FATTR4_MAXNAME, FATTR4_MAXREAD, FATTR4_MAXWRITE,
		FATTR4_MODE, FATTR4_NO_TRUNC, FATTR4_NUMLINKS, FATTR4_OWNER, FATTR4_OWNER_GROUP,
		FATTR4_RAWDEV, FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE, FATTR4_SPACE_TOTAL,
		FATTR4_SPACE_USED, FATTR4_TIME_ACCESS, FATTR4_TIME_ACCESS_SET, FATTR4_TIME_CREATE,
		FATTR4_TIME_DELTA, FATTR4_TIME_METADATA, FATTR4_TIME_MODIFY, FATTR4_TIME_MODIFY_SET,
		FATTR4_MOUNTED_ON_FILEID, FATTR4_SUPPATTR_EXCLCREAT, -1);
	struct nfs4_bitmap acls = nfs4_bits(FATTR4_ACL, FATTR4_ACLSUPPORT, -1);
	struct nfs4_bitmap can = nfs4_bits_encodable(), set = nfs4_bits_settable();
	struct nfs4_bitmap more = nfs4_bits(FATTR4_CLONE_BLKSIZE, FATTR4_CHANGE_ATTR_TYPE,
		FATTR4_MODE_UMASK, FATTR4_XATTR_SUPPORT, -1);

	want = nfs4_bits_or(&want, &acls);
	if (minor >= 2)
		want = nfs4_bits_or(&want, &more);
	can = nfs4_bits_or(&can, &set);
	return nfs4_bits_and(&want, &can);
}

static void make_offers(void)
{
	struct nfs4_bitmap times = nfs4_bits(FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET, -1);
	struct nfs4_bitmap settable = nfs4_bits_settable();

	for (uint32_t minor = 1; minor <= 2; minor++) {
		struct offer *f = &offers[minor];

		f->supported = find_supported(minor);
		for (int i = 0; i < NFS4_BITMAP_WORDS; i++)
			f->exclcreat.w[i] = settable.w[i] & f->supported.w[i] & ~times.w[i];
	}
}

static const struct offer *offer_of(uint32_t minor)
{
	pthread_once(&offers_once, make_offers);
	return &offers[minor];
}

struct nfs4_bitmap attr_supported(const struct serve *sv, uint32_t minor)
{
	struct nfs4_bitmap b = offer_of(minor)->supported;

	if (sv->devices)
		nfs4_bit_set(&b, FATTR4_FS_LAYOUT_TYPES);
	if (sv->replicas) {
		nfs4_bit_set(&b, FATTR4_FS_LOCATIONS);
		nfs4_bit_set(&b, FATTR4_FS_LOCATIONS_INFO);
		nfs4_bit_set(&b, FATTR4_FS_STATUS);
	}
	return b;
}

static enum nfs_type type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return NFS_DIR;
	case S_IFBLK:
		return NFS_BLK;
	case S_IFCHR:
		return NFS_CHR;
	case S_IFLNK:
		return NFS_LNK;
	case S_IFSOCK:
		return NFS_SOCK;
	case S_IFIFO:
		return NFS_FIFO;
	default:
		return NFS_REG;
	}
}

static struct timespec time_of(const struct statx_timestamp *t)
{
	return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec};
}

void attr_stat(const struct obj *o, const struct statx *st, struct nfs_attr *n)
{
	n->type = type_of(st->stx_mode);
	n->mode = st->stx_mode & 07777;
	n->nlink = st->stx_nlink;
	n->uid = st->stx_uid;
	n->gid = st->stx_gid;
	n->rdev_major = st->stx_rdev_major;
	n->rdev_minor = st->stx_rdev_minor;
	n->size = st->stx_size;
	n->used = st->stx_blocks * 512;
	if (o->id.dev == 0) {
		n->fsid_major = FSID_ROOT;
		n->fsid_minor = 0;
	} else {
		n->fsid_major = st->stx_dev_major;
		n->fsid_minor = st->stx_dev_minor;
	}
	n->fileid = st->stx_ino;
	n->change = attr_change(o, st);
	n->atime = time_of(&st->stx_atime);
	n->mtime = time_of(&st->stx_mtime);
	n->ctime = time_of(&st->stx_ctime);
}

int attr_fsstat(const struct obj *o, struct nfs_fsstat *fs)
{
	char path[OBJ_PATH_SIZE];
	struct statvfs v;

	if (statvfs(obj_path(o, path), &v) != 0)
		return -errno;
	fs->tbytes = (uint64_t)v.f_blocks * v.f_frsize;
	fs->fbytes = (uint64_t)v.f_bfree * v.f_frsize;
	fs->abytes = (uint64_t)v.f_bavail * v.f_frsize;
	fs->tfiles = v.f_files;
	fs->ffiles = v.f_ffree;
	fs->afiles = v.f_favail;
	return 0;
}

static bool wants_fs(const struct nfs4_bitmap *want)
{
	static const int bits[] = {FATTR4_FILES_AVAIL, FATTR4_FILES_FREE, FATTR4_FILES_TOTAL,
		FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE, FATTR4_SPACE_TOTAL};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (nfs4_bit(want, (unsigned)bits[i]))
			return true;
	return false;
}

static void fill_server(struct serve *sv, const struct offer *f, struct nfs4_attrs *a)
{
	a->exclcreat = f->exclcreat;
	a->fs.name_max = OBJ_NAME_MAX;
	a->maxfilesize = INT64_MAX;
	a->maxread = a->maxwrite = SERVE_IO_MAX;
	a->time_delta = (struct timespec){.tv_nsec = 1};
	a->lease_time = sv->state.lease_s;
	a->maxlink = 32000;
	a->layout_types = sv->devices ? 1u << LAYOUT4_FLEX_FILES : 0;
	a->change_attr_type = NFS4_CHANGE_TYPE_IS_UNDEFINED;
	a->link_support = a->symlink_support = a->cansettime = true;
	a->unique_handles = obj_handles_unique(sv->objs);
	a->case_preserving = a->chown_restricted = a->homogeneous = a->no_trunc = true;
}

/* The replicas are those of the exported file system. One that is mounted below has none. */
static void fill_replicas(struct serve *sv, const struct obj *o, struct nfs4_attrs *a)
{
	if (!sv->replicas)
		return;
	replicas_attrs(sv->replicas, a);
	if (o->id.dev == 0)
		return;
	a->fs_locations = a->fs_locations_info = (struct nfs4_opaque){NULL, 0};
	a->fs_status.type = 0;
}

/* Support is a property of the file system: an object that cannot have user attributes reports the
 * root's value. */
static bool has_xattrs(struct serve *sv, struct obj *o)
{
	struct obj *root;
	bool yes;

	if (S_ISREG(o->type) || S_ISDIR(o->type))
		return xattr_supported(o);
	root = obj_root(sv->objs);
	yes = o->id.dev == root->id.dev && xattr_supported(root);
	obj_unref(sv->objs, root);
	return yes;
}

/* Fills in the ACL if wanted, and whether the object can have one. */
static void fill_acl(const struct obj *o, struct nfs4_attrs *a)
{
	bool wanted = nfs4_bit(&a->mask, FATTR4_ACL);

	if (!wanted && !nfs4_bit(&a->mask, FATTR4_ACLSUPPORT) &&
		!nfs4_bit(&a->mask, FATTR4_SUPPORTED_ATTRS))
		return;
	if (!acl_supported(o)) {
		nfs4_bit_clear(&a->mask, FATTR4_ACL);
		nfs4_bit_clear(&a->supported, FATTR4_ACL);
		return;
	}
	a->aclsupport = ACL4_SUPPORT_ALLOW_ACL | ACL4_SUPPORT_DENY_ACL;
	if (wanted && acl_get(o, &a->acl) != NFS4_OK)
		nfs4_bit_clear(&a->mask, FATTR4_ACL);
}

void attr_fill(struct serve *sv, uint32_t minor, struct obj *o, const struct statx *st,
	const struct nfs4_bitmap *want, struct nfs4_attrs *a)
{
	const struct offer *f = offer_of(minor);

	memset(a, 0, sizeof(*a));
	a->supported = attr_supported(sv, minor);
	a->mask = nfs4_bits_and(want, &a->supported);
	attr_stat(o, st, &a->attr);
	a->time_create = time_of(&st->stx_btime);
	a->mounted_on_fileid = st->stx_ino;
	fill_server(sv, f, a);
	fill_replicas(sv, o, a);
	/* An object that neither the kernel nor a search can find may be lost, but not while open.
	 * The handle of a lost object gets NFS4ERR_STALE: clients then look names up again, and few
	 * know FHEXPIRED. */
	a->fh_expire_type = obj_handle_lasts(sv->objs, o)
				    ? FH4_PERSISTENT
				    : FH4_NOEXPIRE_WITH_OPEN | FH4_VOLATILE_ANY;
	if (!(st->stx_mask & STATX_BTIME))
		nfs4_bit_clear(&a->mask, FATTR4_TIME_CREATE);
	if (wants_fs(&a->mask))
		attr_fsstat(o, &a->fs);
	fill_acl(o, a);
	if (nfs4_bit(&a->mask, FATTR4_XATTR_SUPPORT))
		a->xattr_support = has_xattrs(sv, o);
	if (nfs4_bit(&a->mask, FATTR4_CLONE_BLKSIZE))
		a->clone_blksize = space_clone_size(o);
	if (nfs4_bit(&a->mask, FATTR4_FILEHANDLE))
		a->fh.len = obj_handle(sv->objs, o, a->fh.data);
}

void attr_fill_done(struct nfs4_attrs *a)
{
	free((void *)(uintptr_t)a->acl.data);
	a->acl = (struct nfs4_opaque){NULL, 0};
}

uint32_t attr_decode(struct idmap *names, uint32_t minor, const struct obj *o,
	const struct nfs4_fattr *f, struct nfs_sattr *set, struct nfs4_opaque *acl)
{
	if (nfs4_bit(&f->mask, FATTR4_MODE_UMASK) && (minor < 2 || acl))
		return minor < 2 ? NFS4ERR_ATTRNOTSUPP : NFS4ERR_INVAL;
	if (acl && !(nfs4_bit(&f->mask, FATTR4_ACL) && acl_supported(o)))
		acl = NULL;
	return names_sattr_decode(names, f, set, acl);
}

/* The kernel applies a umask, but threads share theirs unless they call unshare(). */
static bool has_own_umask(void)
{
	static _Thread_local enum { ASK, OWN, SHARED } mine;

	if (mine == ASK) {
		mine = unshare(CLONE_FS) == 0 ? OWN : SHARED;
		if (mine == OWN)
			umask(0);
	}
	return mine == OWN;
}

bool attr_umask_begin(const struct obj *dir, struct nfs_sattr *set)
{
	char path[OBJ_PATH_SIZE];

	if (!(set->mask & NFS_SET_UMASK))
		return false;
	if (has_own_umask()) {
		umask(set->umask);
		return true;
	}
	if (getxattr(obj_path(dir, path), "system.posix_acl_default", NULL, 0) < 0)
		set->mode &= ~set->umask;
	return false;
}

void attr_umask_end(bool begun)
{
	if (begun)
		umask(0);
}

static int apply_size(struct obj *o, int fd, uint64_t size)
{
	int own = -1, r;

	if (S_ISDIR(o->type))
		return -EISDIR;
	if (!S_ISREG(o->type))
		return -EINVAL;
	if (size > INT64_MAX)
		return -EFBIG;
	if (fd < 0) /* not by truncate(2), which would wait for the holder of a lease */
		fd = own = obj_open(o, O_WRONLY);
	if (fd < 0)
		return fd;
	r = ftruncate(fd, (off_t)size) == 0 ? 0 : -errno;
	if (own >= 0)
		close(own);
	return r;
}

static int apply_times(struct obj *o, const struct nfs_sattr *set)
{
	struct timespec ts[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
	char path[OBJ_PATH_SIZE];

	if (set->mask & NFS_SET_ATIME_NOW)
		ts[0].tv_nsec = UTIME_NOW;
	else if (set->mask & NFS_SET_ATIME)
		ts[0] = set->atime;
	if (set->mask & NFS_SET_MTIME_NOW)
		ts[1].tv_nsec = UTIME_NOW;
	else if (set->mask & NFS_SET_MTIME)
		ts[1] = set->mtime;
	if (utimensat(o->fd, "", ts, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOENT)
		return -errno;
	return utimensat(AT_FDCWD, obj_path(o, path), ts, 0) == 0 ? 0 : -errno;
}

static int apply_mode(struct obj *o, uint32_t mode)
{
	char path[OBJ_PATH_SIZE];

	if (S_ISLNK(o->type))
		return 0; /* Linux has no modes of links: nothing to be done, as elsewhere */
	return chmod(obj_path(o, path), mode & 07777) == 0 ? 0 : -errno;
}

uint32_t attr_apply(struct obj *o, int fd, const struct nfs_sattr *set, uint32_t *done)
{
	const uint32_t owner = NFS_SET_UID | NFS_SET_GID;
	const uint32_t times =
		NFS_SET_ATIME | NFS_SET_MTIME | NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW;
	int r = 0;

	*done = 0;
	/* owner before mode: chown clears the setuid bits that the mode may ask for */
	if (set->mask & owner) {
		uid_t uid = set->mask & NFS_SET_UID ? set->uid : (uid_t)-1;
		gid_t gid = set->mask & NFS_SET_GID ? set->gid : (gid_t)-1;

		if (fchownat(o->fd, "", uid, gid, AT_EMPTY_PATH) != 0)
			r = -errno;
		else
			*done |= set->mask & owner;
	}
	if (r == 0 && set->mask & NFS_SET_SIZE) {
		r = apply_size(o, fd, set->size);
		*done |= r == 0 ? NFS_SET_SIZE : 0;
	}
	if (r == 0 && set->mask & NFS_SET_MODE) {
		r = apply_mode(o, set->mode);
		*done |= r == 0 ? NFS_SET_MODE : 0;
	}
	if (r == 0 && set->mask & times) {
		r = apply_times(o, set);
		*done |= r == 0 ? set->mask & times : 0;
	}
	if (*done)
		attr_touch(o);
	return r == 0 ? (uint32_t)NFS4_OK : nfs4_errno_status(r);
}

uint32_t attr_after_create(
	struct obj *o, int fd, struct statx *st, const struct nfs_sattr *set, uint32_t *done)
{
	const mode_t special = S_ISUID | S_ISGID | S_ISVTX;
	struct nfs_sattr rest = *set;
	uint32_t status;

	/* The object was made with the mode, and the file system may have added to it (setgid
	 * directories, default ACLs). So only bits that creation leaves out are set again. */
	rest.mask &= ~NFS_SET_MODE;
	if (set->mask & NFS_SET_MODE && !S_ISLNK(o->type) &&
		(set->mode & special & ~st->stx_mode)) {
		rest.mask |= NFS_SET_MODE;
		rest.mode = (st->stx_mode & 07777) | (set->mode & special);
	}
	status = attr_apply(o, fd, &rest, done);
	if (*done)
		st->stx_mask = 0;
	*done |= set->mask & (NFS_SET_MODE | NFS_SET_UMASK);
	return status;
}

/* User attributes need the permission for data (RFC 8276 section 8.5), as in the kernel. */
static uint32_t xattr_access(
	const struct obj *o, bool read_only, uint32_t want, uint32_t *supported)
{
	const uint32_t look = ACCESS4_XAREAD | ACCESS4_XALIST;
	uint32_t can = want & (look | ACCESS4_XAWRITE), access = 0;

	if (!can || !xattr_supported(o))
		return 0;
	if (can & look && obj_allowed(o, R_OK))
		access |= can & look;
	if (!read_only && can & ACCESS4_XAWRITE && obj_allowed(o, W_OK))
		access |= ACCESS4_XAWRITE;
	*supported |= can;
	return access;
}

uint32_t attr_access(const struct obj *o, bool read_only, uint32_t want, uint32_t *supported)
{
	bool dir = S_ISDIR(o->type);
	uint32_t can = want, access = 0;

	can &= dir ? NFS_ACCESS_READ | NFS_ACCESS_LOOKUP | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND |
			       NFS_ACCESS_DELETE
		   : NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_EXECUTE;
	if (can & NFS_ACCESS_READ && obj_allowed(o, R_OK))
		access |= NFS_ACCESS_READ;
	if (can & (NFS_ACCESS_LOOKUP | NFS_ACCESS_EXECUTE) && obj_allowed(o, X_OK))
		access |= can & (NFS_ACCESS_LOOKUP | NFS_ACCESS_EXECUTE);
	/* entries of a directory change only with permission to search it too */
	if (!read_only && can & (NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_DELETE) &&
		obj_allowed(o, dir ? W_OK | X_OK : W_OK))
		access |= can & (NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND | NFS_ACCESS_DELETE);
	*supported = can;
	return access | xattr_access(o, read_only, want, supported);
}
