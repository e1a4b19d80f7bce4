/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve: the members that the parts of the server share, and the way in which a program carries out
 * a request.
 */
#ifndef RNFS_SERVE_SERVE_H
#define RNFS_SERVE_SERVE_H

#include "contrib/serve/export/object.h"
#include "contrib/serve/state/state.h"
#include "transport/rpc/rpc.h"

#define SERVE_RES_CAP (63u << 10) /* bytes of results without payload that one reply can have */
#define SERVE_IO_MAX  (1u << 20)  /* bytes of a READ or WRITE */

struct admit;
struct answers;
struct devices;
struct dir_cache;
struct drc;
struct fault;
struct fdcache;
struct idmap;
struct making;
struct mount_list;
struct referrals;
struct replicas;
struct stable;

struct serve {
	struct obj_table *objs;
	struct state state;
	struct dir_cache *dirs;
	struct fdcache *fds;	 /* NFSv3's */
	struct drc *drc;	 /* NFSv3's */
	struct answers *answers; /* NULL: no answers are kept for the next run */
	struct mount_list *mounts;
	struct fault *fault;	       /* NULL: none */
	const struct admit *admit;     /* NULL: all peers, all users */
	const struct devices *devices; /* of --pnfs; NULL: there are no layouts */
	struct mem_pool *pool;
	struct idmap *idmap; /* names.h */
	bool read_only;
	bool data_server; /* carries out only what clients with a layout send (fence.h) */
	struct referrals *referrals; /* NULL: none */
	struct replicas *replicas;   /* NULL: none */
	struct stable *stable;
	struct making *making; /* NULL: nothing is noted */
	char owner[64];	       /* server owner's major id and scope */
};

/* One address that the server listens on: the ctx of the functions given to rpc_server_new(). */
struct serve_port {
	struct serve *sv;
	bool keep_ident; /* the connection's thread must not change its identity (ident_call()) */
};

/* How a call has ended. */
enum serve_result {
	SERVE_DONE,    /* results are in req->res */
	SERVE_GARBAGE, /* the arguments do not parse */
	SERVE_DROP,    /* the call must not be answered */
};
typedef enum serve_result serve_fn(struct serve *sv, struct rpc_req *req);
/* Calls run to carry out req, with room for res_cap bytes of results, as its caller (ident_call()).
 * Then answers req. */
void serve_call(const struct serve_port *port, struct rpc_req *req, size_t res_cap, serve_fn *run);

/* The holder (share.h) with req in its share. */
struct share_key serve_key(const struct rpc_req *req);

#endif
