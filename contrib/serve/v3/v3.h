/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * v3: NFS version 3 (RFC 1813), a procedure under way.
 *
 * A procedure is a function from arguments to a status of NFSv4, like the functions that both
 * versions share. The dispatcher (v3.c) converts the status to one of NFSv3. The procedure fills in
 * c->res, and the attributes there also when it fails. The dispatcher sets the status there and
 * encodes c->res, unless the procedure has done so (c->put).
 *
 * Before the call, the handles have become objects, the caller's identity is assumed, and a change
 * of a read-only export has been refused.
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
	struct obj *o;	/* of the first handle; a directory if the procedure wants one */
	struct obj *o2; /* RENAME: the target directory; LINK: the new name's */
	struct nfs3_res res;
	bool put;	  /* the results are in req->res */
	struct obj *used; /* referenced: the object of v3_use(), or NULL */
	enum deleg_use use;
	/* the end */
	uint32_t status;	/* of NFSv3 */
	struct drc_entry *once; /* the entry for the answer; or NULL */
	struct stable_job last; /* objects that must be stable before the answer */
	void (*done)(struct v3_call *c);
};

/* A call of a known procedure. NULL without memory. */
struct v3_call *v3_new(struct serve *sv, struct rpc_req *req);
/* Carries out c. SERVE_DONE: v3_end() must follow; otherwise c is freed. */
enum serve_result v3_run(struct v3_call *c);
/* Makes the changes of c stable, and calls done, here or on another thread, with the answer in
 * req->res. c is freed afterwards. */
void v3_end(struct v3_call *c, void (*done)(struct v3_call *c));
/* rpc_service_fn's part for program 100003 version 3. */
void v3_request(const struct serve_port *port, struct rpc_req *req);

/* Converts a status of NFSv4 to one of NFSv3. */
uint32_t v3_status(uint32_t status);
/* Attributes of o as *st describes it. */
void v3_attr(const struct obj *o, const struct statx *st, struct nfs_attr *a);
/* The attributes of o now. */
void v3_post_op(const struct obj *o, struct nfs3_post_op *p);
/* The attributes of o before and after a change. o may be NULL. */
void v3_wcc_before(const struct obj *o, struct nfs3_wcc *w);
void v3_wcc_after(const struct obj *o, struct nfs3_wcc *w);

/* The procedure is about to use o, until it ends: NFS4_OK, or NFS4ERR_DELAY while a delegation of o
 * conflicts (deleg_use.h). Once in a call. */
uint32_t v3_use(struct v3_call *c, struct obj *o, enum deleg_use use);
/* Gets a descriptor to read or write o; fdcache_put() must follow. The owner of a file may always
 * do both, and the right to execute a file lets a caller read it. The reason:
 * programs go on using open files after a change of the mode, and NFSv3 does not tell the server
 * which files are open (RFC 1813 section 4.4). */
uint32_t v3_open(struct v3_call *c, struct obj *o, bool write, struct fdcache_use **use, int *fd);

typedef uint32_t v3_fn(struct v3_call *c, const struct nfs3_args *a);
v3_fn v3_getattr, v3_setattr, v3_access, v3_readlink, v3_fsstat, v3_fsinfo, v3_pathconf;
v3_fn v3_lookup, v3_create, v3_mkdir, v3_symlink, v3_mknod, v3_remove, v3_rmdir, v3_rename, v3_link;
v3_fn v3_read, v3_write, v3_commit;
v3_fn v3_readdir;

#endif
