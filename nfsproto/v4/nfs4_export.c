/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_export: the steps of a mount once there is a server: the walk to the export and its limits;
 * and a sentence for each way that a step can fail. The calls: nfs4_walk.c. If the server loses the
 * session meanwhile, the state manager makes another, and the step is taken again.
 */
#include "nfsproto/v4/nfs4_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/v4/server/nfs4_session.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_trunk.h"
#include "transport/clock.h"
#include "transport/log.h"

#define WALK_NAMES    4u /* with the other operations around LOOKUPs, fewer than OPS_NEEDED */
#define DTSIZE_MAX    (128u << 10)
#define IO_SERVER_MIN 1024u /* a smaller limit of a server is not believed */
#define IO_OVERHEAD   512u  /* RPC header and results around the data of READ, arguments of WRITE */
#define READ_PLUS_MAX (512u << 10) /* the descriptions of the pieces must fit, too */
#define LEASE_MIN     1u
#define LEASE_MAX     3600u

/* Runs step until the server gives another answer than "not now", at most connect_ms. */
static int step_run(struct nfs4_client *c, struct nfs4_sync *s,
	int (*fn)(struct nfs4_client *c, struct nfs4_sync *s, unsigned ms))
{
	uint64_t until = clock_ns() + c->connect_ms * NFS4_MSEC;
	unsigned pause_ms = 0;

	for (;;) {
		uint64_t now = clock_ns();
		int rc;

		if (now >= until)
			return -ETIMEDOUT;
		rc = fn(c, s, (unsigned)((until - now) / NFS4_MSEC) + 1);
		if (rc == 0 || (!nfs4_status_passes(s->status) &&
				       !nfs4_state_doubt(nfs4_server_conn(c->srv), s->status)))
			return rc;
		nfs4_server_step_pause(&pause_ms);
	}
}

/* --- the walk to the export ---------------------------------------------------------------- */

struct walk {
	const struct nfs_mount_params *p;
	char *names;	  /* of the step under way */
	const char *path; /* behind them */
};

/* Copies up to WALK_NAMES names of *path to buf, separated by one slash, and moves *path behind
 * these names. "." is left out. Returns how many; -1 for "..". */
static int next_names(const char **path, char *buf, size_t *offs)
{
	unsigned n = 0;
	size_t len = 0;

	while (**path && n < WALK_NAMES) {
		size_t one = strcspn(*path, "/");

		if (one == 2 && memcmp(*path, "..", 2) == 0)
			return -1;
		if (one > 0 && !(one == 1 && **path == '.')) {
			if (len)
				buf[len++] = '/';
			offs[n++] = len;
			memcpy(buf + len, *path, one);
			len += one;
		}
		*path += one;
		*path += strspn(*path, "/");
	}
	buf[len] = '\0';
	return (int)n;
}

static int run_walk(struct nfs4_client *c, struct nfs4_sync *s, unsigned ms)
{
	return nfs4_mount_run(c, s, NFS4_K_WALK, ms);
}

/* The LOOKUP of name failed. */
static void walk_error(struct nfs4_client *c, const struct nfs4_sync *s, const char *export,
	const char *name, struct err *e)
{
	int len = (int)strcspn(name, "/");

	switch (s->status) {
	case NFS4ERR_NOENT:
	case NFS4ERR_NAMETOOLONG:
	case NFS4ERR_BADNAME:
	case NFS4ERR_BADCHAR:
	case NFS4ERR_INVAL:
		err_set(e, ERR_NO_EXPORT, "%s has no export %s: there is no \"%.*s\" in it",
			c->srv->name, export, len, name);
		break;
	case NFS4ERR_NOTDIR:
	case NFS4ERR_SYMLINK:
		err_set(e, ERR_NO_EXPORT,
			"%s has no export %s: what \"%.*s\" should be in is not a directory",
			c->srv->name, export, len, name);
		break;
	case NFS4ERR_ACCESS:
	case NFS4ERR_PERM:
		err_set(e, ERR_ACCESS,
			"%s denies access to %s at \"%.*s\": check the export's list of clients",
			c->srv->name, export, len, name);
		break;
	default:
		nfs4_server_step_error(c->srv, s, "LOOKUP", e);
	}
}

static int run_locations(struct nfs4_client *c, struct nfs4_sync *s, unsigned ms)
{
	return nfs4_mount_run(c, s, NFS4_K_LOCATIONS, ms);
}

/* The walk of *w came to a referral. names, n of them beginning at offs, and more behind them. */
static void walk_referred(struct nfs4_client *c, struct nfs4_sync *s, struct walk *w,
	const size_t *offs, unsigned n, struct err *e)
{
	unsigned got = s->walked - 2; /* behind SEQUENCE and PUTFH */
	struct nfs_referral *to = w->p->referral;
	char where[NFS4_WHERE_MAX];
	int rc;

	if (to &&
		snprintf(to->rest, sizeof(to->rest), "%s%s%s", got < n ? w->names + offs[got] : "",
			got < n && *w->path ? "/" : "", w->path) >= (int)sizeof(to->rest))
		to = NULL;
	if (got < n)
		w->names[offs[got]] = '\0';
	s->u.walk.places = NULL;
	rc = step_run(c, s, run_locations);
	if (rc || !s->u.walk.places) {
		err_set(e, ERR_MOVED,
			"%s refers to another server for %s, but does not say to which",
			c->srv->name, w->p->export);
		return;
	}
	nfs_places_text(s->u.walk.places, where, sizeof(where));
	err_set(e, ERR_MOVED, "%s refers to another server for %s: mount it from there, %s",
		c->srv->name, w->p->export, where);
	if (to)
		to->places = s->u.walk.places;
	else
		free(s->u.walk.places);
}

static int walk(struct nfs4_client *c, const struct nfs_mount_params *p, struct err *e)
{
	const char *export = p->export;
	struct walk w = {.p = p, .path = export + strspn(export, "/")};
	struct nfs4_sync s;
	size_t offs[WALK_NAMES];

	w.names = malloc(strlen(w.path) + 1);
	if (!w.names)
		return err_set(e, ERR_INTERNAL, "out of memory");
	s.u.walk.from_len = 0;
	do {
		int n = next_names(&w.path, w.names, offs);

		if (n < 0) {
			free(w.names);
			return err_set(e, ERR_USAGE, "the export path %s has \"..\" in it", export);
		}
		s.u.walk.path = w.names;
		if (step_run(c, &s, run_walk)) {
			/* walked counts SEQUENCE and PUTFH first */
			if (s.status == NFS4ERR_MOVED && s.walked >= 2)
				walk_referred(c, &s, &w, offs, (unsigned)n, e);
			else if (s.status && s.walked >= 2 && s.walked < 2 + (uint32_t)n)
				walk_error(c, &s, export, w.names + offs[s.walked - 2], e);
			else
				nfs4_server_step_error(c->srv, &s, "LOOKUP of the export", e);
			free(w.names);
			return -1;
		}
		s.u.walk.from_len = s.u.walk.fh.len;
	} while (*w.path);
	free(w.names);
	c->base.root = s.u.walk.fh;
	c->base.root_attr = s.u.walk.attr;
	if (s.u.walk.attr.type != NFS_DIR)
		return err_set(e, ERR_NO_EXPORT, "%s: %s is not a directory", c->srv->name, export);
	return 0;
}

/* --- limits -------------------------------------------------------------------------------- */

static int run_fsinfo(struct nfs4_client *c, struct nfs4_sync *s, unsigned ms)
{
	s->u.fsinfo.mask = nfs4_bits_info();
	if (c->srv->roles_given & EXCHGID4_FLAG_USE_PNFS_MDS)
		nfs4_bit_set(&s->u.fsinfo.mask, FATTR4_FS_LAYOUT_TYPES);
	return nfs4_mount_run(c, s, NFS4_K_FSINFO, ms);
}

/* Attributes that not every server knows. Asks only for attributes in c->supported. */
static int run_fsinfo_more(struct nfs4_client *c, struct nfs4_sync *s, unsigned ms)
{
	const struct nfs4_bitmap more =
		nfs4_bits(FATTR4_CLONE_BLKSIZE, FATTR4_CHANGE_ATTR_TYPE, -1);

	s->u.fsinfo.mask = nfs4_bits_and(&more, &c->supported);
	return nfs4_mount_run(c, s, NFS4_K_FSINFO, ms);
}

static uint32_t io_size(uint32_t want, uint64_t server, uint32_t session)
{
	uint64_t n = want;

	if (server && server < n)
		n = server < IO_SERVER_MIN ? IO_SERVER_MIN : server;
	if (session - IO_OVERHEAD < n)
		n = session - IO_OVERHEAD;
	if (n >= 8192)
		n &= ~UINT64_C(4095);
	return (uint32_t)n;
}

/* Features beyond the minimum: of the export's file system, and of the server for file systems
 * below. */
static void features(struct nfs4_client *c, const struct nfs4_attrs *a)
{
	bool denies =
		nfs4_bit(&a->mask, FATTR4_ACLSUPPORT) && !(a->aclsupport & ACL4_SUPPORT_ALLOW_ACL);

	c->base.info.features = NFS_HAS_LOCKS;
	if (!nfs4_bit(&a->mask, FATTR4_CASE_INSENSITIVE) || a->case_insensitive)
		c->base.info.features |= NFS_FOLDS_CASE;
	/* file systems mounted below the root on the server may have xattrs even if the root has
	 * none */
	if (c->srv->minor >= 2 && nfs4_bit(&c->supported, FATTR4_XATTR_SUPPORT))
		c->base.info.features |= NFS_HAS_XATTR;
	if (c->srv->minor >= 2 && nfs4_bit(&c->supported, FATTR4_MODE_UMASK))
		c->base.info.features |= NFS_HAS_UMASK;
	c->exclcreat = a->exclcreat;
	if (!nfs4_bit(&a->mask, FATTR4_SUPPATTR_EXCLCREAT)) /* unknown: as in NFSv4.1 */
		c->exclcreat =
			nfs4_sattr_bits(NFS_SET_MODE | NFS_SET_UID | NFS_SET_GID | NFS_SET_SIZE);
	if (nfs4_bit(&c->supported, FATTR4_ACL) && !denies)
		c->base.info.features |= NFS_HAS_ACL;
	if (c->read_plus && c->srv->minor >= 2 && c->base.info.rsize > READ_PLUS_MAX)
		c->base.info.rsize = READ_PLUS_MAX;
}

/* The block size of clones, and the type of the change attribute. */
static int limits_more(struct nfs4_client *c, struct err *e)
{
	struct nfs4_sync s;

	if (c->srv->minor < 2 || (!nfs4_bit(&c->supported, FATTR4_CLONE_BLKSIZE) &&
					 !nfs4_bit(&c->supported, FATTR4_CHANGE_ATTR_TYPE)))
		return 0;
	if (step_run(c, &s, run_fsinfo_more)) {
		nfs4_server_step_error(c->srv, &s, "GETATTR of the export", e);
		return -1;
	}
	if (!(s.u.fsinfo.clone_blksize & (s.u.fsinfo.clone_blksize - 1)))
		c->clone_blksize = s.u.fsinfo.clone_blksize;
	if (nfs4_bit(&s.u.fsinfo.mask, FATTR4_CHANGE_ATTR_TYPE) &&
		nfs4_change_counts(s.u.fsinfo.change_attr_type))
		nfs4_bit_set(&c->data_want, FATTR4_CHANGE_ATTR_TYPE);
	return 0;
}

static int limits(struct nfs4_client *c, const struct nfs_mount_params *p, struct err *e)
{
	struct nfs_client_info *info = &c->base.info;
	struct nfs4_sync s;
	uint32_t max = c->srv->response_max - IO_OVERHEAD;

	if (step_run(c, &s, run_fsinfo)) {
		nfs4_server_step_error(c->srv, &s, "GETATTR of the export", e);
		return -1;
	}
	c->stat_want = nfs4_bits_stat();
	c->data_want = nfs4_bits_data();
	c->supported = nfs4_bit(&s.u.fsinfo.mask, FATTR4_SUPPORTED_ATTRS) ? s.u.fsinfo.supported
									  : c->stat_want;
	info->vers_major = 4;
	info->vers_minor = c->srv->minor;
	info->rsize = io_size(p->rsize, s.u.fsinfo.maxread, c->srv->response_max);
	info->wsize = io_size(p->wsize, s.u.fsinfo.maxwrite, c->srv->request_max);
	info->dtsize = max < DTSIZE_MAX ? max : DTSIZE_MAX;
	info->maxfilesize = s.u.fsinfo.maxfilesize ? s.u.fsinfo.maxfilesize : INT64_MAX;
	info->lease_s = s.u.fsinfo.lease_time;
	if (info->lease_s < LEASE_MIN || info->lease_s > LEASE_MAX) {
		log_info("%s: a lease of %u s is taken as %u s", c->srv->name, info->lease_s,
			info->lease_s < LEASE_MIN ? LEASE_MIN : LEASE_MAX);
		info->lease_s = info->lease_s < LEASE_MIN ? LEASE_MIN : LEASE_MAX;
	}
	nfs4_server_lease(c->srv, info->lease_s);
	memcpy(info->server_owner, c->srv->major_id, sizeof(info->server_owner));
	mutex_lock(&c->srv->slots.lock);
	info->slots = c->srv->slots.max;
	mutex_unlock(&c->srv->slots.lock);
	/* RFC 8881 4.2.3: this client does not keep the names with which to look up new handles */
	if (nfs4_bit(&s.u.fsinfo.mask, FATTR4_FH_EXPIRE_TYPE) &&
		s.u.fsinfo.fh_expire_type != FH4_PERSISTENT)
		log_info("%s: file handles of this server may expire (type 0x%x): what is in use "
			 "then "
			 "becomes stale, and is found again by its name when it is next opened",
			c->srv->name, s.u.fsinfo.fh_expire_type);
	c->layout_types =
		nfs4_bit(&s.u.fsinfo.mask, FATTR4_FS_LAYOUT_TYPES) ? s.u.fsinfo.layout_types : 0;
	features(c, &s.u.fsinfo);
	return limits_more(c, e);
}

void nfs4_export_trunk(struct nfs4_client *c, const struct nfs_mount_params *p)
{
	struct nfs4_sync s;

	s.u.walk.fh = c->base.root;
	s.u.walk.from_len = c->base.root.len;
	s.u.walk.path = "";
	s.u.walk.places = NULL;
	if (step_run(c, &s, run_locations) || !s.u.walk.places) {
		log_info("%s: the server tells no further address of its own", c->srv->name);
		return;
	}
	nfs4_trunk_told(c->srv, p, s.u.walk.places);
	free(s.u.walk.places);
	c->base.nrpcs = c->srv->nconns;
}

int nfs4_export_walk(struct nfs4_client *c, const struct nfs_mount_params *p, struct err *e)
{
	return walk(c, p, e) || limits(c, p, e) ? -1 : 0;
}
