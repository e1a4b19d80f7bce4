/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3: NFS version 3 (RFC 1813), a procedure under way.
 *
 * A procedure is a function from arguments to a status of NFSv4, like the functions it shares with
 * that version; the dispatcher (v3.c) turns it into one of NFSv3. It fills in c->res, attributes
 * also where it fails; the dispatcher sets the status there and puts the whole, unless the
 * procedure has (c->put).
 *
 * Before it is called the handles have become objects, the caller's identity is assumed, and a
 * change of a read-only export has been refused.
 */
#ifndef RNFS_SERVE_V3_V3_H
#define RNFS_SERVE_V3_V3_H

#include "contrib/serve/ops/stable.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/state/deleg_use.h"
#include "nfsproto/wire/nfs3_xdr.h"
#include "nfsproto/wire/nfs4.h"

struct drc_entry;
struct fdcache_use;

struct v3_call {
	struct serve *sv;
	struct rpc_req *req;
	struct obj *o;	/* of the first handle; a directory where the procedure wants one */
	struct obj *o2; /* RENAME: the directory it goes to; LINK: the new name's */
	struct nfs3_res res;
	bool put;	  /* the results are in req->res */
	struct obj *used; /* referenced: what v3_use() was called for, or NULL */
	enum deleg_use use;
	/* the end */
	uint32_t status;	/* of NFSv3 */
	struct drc_entry *once; /* the answer is to be kept there; or NULL */
	struct stable_job last; /* what must be stable before the answer */
	void (*done)(struct v3_call *c);
};

/* A call of a procedure that there is; NULL without memory. */
struct v3_call *v3_new(struct serve *sv, struct rpc_req *req);
/* Carries it out. SERVE_DONE: v3_end() it; else c is gone. */
enum serve_result v3_run(struct v3_call *c);
/* Sees to it that what c has changed is stable, and calls done, here or on another thread: the
 * answer is in req->res. c is gone afterwards. */
void v3_end(struct v3_call *c, void (*done)(struct v3_call *c));
/* rpc_service_fn's part for program 100003 version 3. */
void v3_request(const struct serve_port *port, struct rpc_req *req);

/* A status of NFSv4 as one that NFSv3 has. */
uint32_t v3_status(uint32_t status);
/* Attributes of o, which looks like *st. */
void v3_attr(const struct obj *o, const struct statx *st, struct nfs_attr *a);
/* What o looks like now. */
void v3_post_op(const struct obj *o, struct nfs3_post_op *p);
/* What o looks like before and after it is changed. o may be NULL. */
void v3_wcc_before(const struct obj *o, struct nfs3_wcc *w);
void v3_wcc_after(const struct obj *o, struct nfs3_wcc *w);

/* o is about to be used, until the procedure ends: NFS4_OK, or NFS4ERR_DELAY while it is delegated
 * (deleg_use.h). Once in a call. */
uint32_t v3_use(struct v3_call *c, struct obj *o, enum deleg_use use);
/* A descriptor to read or write o with, to be given back to fdcache_put(). The owner of a file may
 * always do both, who may execute it may read it: programs go on using what they have open after
 * its mode has changed, and NFSv3 does not tell the server what is open (RFC 1813 section 4.4). */
uint32_t v3_open(struct v3_call *c, struct obj *o, bool write, struct fdcache_use **use, int *fd);

typedef uint32_t v3_fn(struct v3_call *c, const struct nfs3_args *a);
v3_fn v3_getattr, v3_setattr, v3_access, v3_readlink, v3_fsstat, v3_fsinfo, v3_pathconf;
v3_fn v3_lookup, v3_create, v3_mkdir, v3_symlink, v3_mknod, v3_remove, v3_rmdir, v3_rename, v3_link;
v3_fn v3_read, v3_write, v3_commit;
v3_fn v3_readdir;

#endif
