/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve: the server as its parts see it, and a COMPOUND under way.
 *
 * A request runs from beginning to end on its connection's thread. Operations are functions from
 * arguments to a status; one table (compound.c) says which, and what each needs. On NFS4_OK the
 * operation has put its whole result into c->out; on an error the dispatcher takes back what it put
 * and answers the bare status, unless the operation set c->put (results that carry more).
 */
#ifndef RNFS_SERVE_SERVE_H
#define RNFS_SERVE_SERVE_H

#include "contrib/serve/dir.h"
#include "contrib/serve/fault.h"
#include "contrib/serve/object.h"
#include "contrib/serve/state.h"
#include "nfsproto/nfs4.h"
#include "nfsproto/nfs4_attr.h"
#include "nfsproto/nfs4_xdr.h"
#include "transport/rpc.h"

#define SERVE_RES_CAP (63u << 10) /* bytes of results without payload that one reply can have */
#define SERVE_IO_MAX  (1u << 20)  /* bytes of a READ or WRITE */
#define SERVE_MSG_MAX (SERVE_IO_MAX + (16u << 10))

struct drc;
struct fdcache;
struct mount_list;

struct serve {
	struct obj_table *objs;
	struct state state;
	struct dir_cache *dirs;
	struct fdcache *fds; /* NFSv3's */
	struct drc *drc;     /* NFSv3's */
	struct mount_list *mounts;
	struct fault *fault; /* NULL: none */
	struct mem_pool *pool;
	struct idmap *idmap; /* names.h */
	bool read_only;
	uint8_t write_verf[NFS4_VERIFIER_SIZE]; /* of this run */
	char owner[64];				/* server owner's major id and scope */
};

/* One address that the server listens on: the ctx of the functions given to rpc_server_new(). */
struct serve_port {
	struct serve *sv;
	bool keep_ident; /* the connection's thread must not change its identity (ident_call()) */
};

struct compound {
	struct serve *sv;
	struct rpc_req *req;
	struct xdr_out *out;
	struct obj *cur, *saved;		/* referenced or NULL */
	struct nfs4_stateid cur_sid, saved_sid; /* seqid 0, zeros: none */
	uint32_t minor;				/* 1 or 2 */
	uint32_t nops, index;
	const struct obj *seen; /* not referenced: only compared with cur. NULL: none */
	struct statx seen_st; /* what seen looked like when an operation just before came upon it */
	bool put;	      /* the operation put its result although it failed */
	size_t res_max;	      /* most bytes of c->out */
	bool sink_passed;     /* a READ left its Write chunk empty */
	uint32_t inline_max;  /* most bytes of results with payload that goes inline */
	/* after SEQUENCE */
	struct session *session; /* referenced */
	struct client *client;	 /* the session's */
	uint32_t slotid;
	bool cachethis;
	uint64_t print; /* of the caller and the first printed operations behind SEQUENCE */
	uint32_t printed;
	bool replayed; /* out holds the answer of an earlier run */
	struct session
		*probe; /* its backchannel is to be tried once the reply is out; referenced */
};

/* Carries out the COMPOUND in req->args; req->res is ready. False: the arguments are not even a
 * COMPOUND (garbage). What is left to do after the reply is c's probe: cb_probe() it. */
bool compound_run(struct serve *sv, struct rpc_req *req, struct session **probe);
/* rpc_service_fn's part for program 100003 version 4. */
void compound_request(const struct serve_port *port, struct rpc_req *req);

/* What has become of a call. */
enum serve_result {
	SERVE_DONE,    /* its results are in req->res */
	SERVE_GARBAGE, /* its arguments do not parse */
	SERVE_DROP,    /* it must not be answered */
};
typedef enum serve_result serve_fn(struct serve *sv, struct rpc_req *req);
/* Has run carry out req, with room for res_cap bytes of results, as its caller (ident_call()), and
 * answers it. */
void serve_call(const struct serve_port *port, struct rpc_req *req, size_t res_cap, serve_fn *run);

/* dispatch.c: rpc_service_fn and rpc_fault_fn of every port; ctx is a struct serve_port. */
void serve_request(void *ctx, struct rpc_req *req);
void serve_conn_down(void *ctx, struct rpc_xprt *x);
enum rpc_fault serve_fault(void *ctx, const struct rpc_req *req, bool reply, unsigned *delay_ms);

/* Adds the operation that in, from byte from on, has just been decoded from to c's print. What a
 * requester may send one time inline and another time by a chunk is left out. */
void print_op(struct compound *c, const struct xdr_in *in, size_t from, const struct nfs4_args *a);
void set_current(struct compound *c, struct obj *o); /* takes over the reference */
/* *st is what o, now the current object, looks like: a GETATTR that follows need not ask again. */
void remember_stat(struct compound *c, const struct obj *o, const struct statx *st);
void current_stateid(struct compound *c, struct nfs4_stateid *sid);

/* attr.c: what the server says about objects */
uint64_t attr_change(const struct obj *o, const struct statx *st);
/* Facts for want about o as *st describes it, of those that minor version 1 or 2 has. */
void attr_fill(struct serve *sv, uint32_t minor, struct obj *o, const struct statx *st,
	const struct nfs4_bitmap *want, struct nfs4_attrs *a);
struct nfs4_bitmap attr_supported(uint32_t minor);
/* Lets go what attr_fill() got. */
void attr_fill_done(struct nfs4_attrs *a);
/* What the client wants to be set of something that is there already, or (acl NULL) is being made.
 * *acl: the XDR of an ACL, or NULL. */
uint32_t attr_decode(const struct compound *c, const struct nfs4_fattr *f, struct nfs_sattr *set,
	struct nfs4_opaque *acl);
/* Something is about to be made in dir: takes set's umask from its mode, unless dir has a default
 * ACL, which then has its say instead (RFC 8275 section 5). */
void attr_settle_mode(const struct obj *dir, struct nfs_sattr *set);
/* Applies set to o; fd >= 0 is a descriptor open for writing. *done receives the NFS_SET_* that
 * were applied. A status. */
uint32_t attr_apply(struct obj *o, int fd, const struct nfs_sattr *set, uint32_t *done);
/* The same for an object just made with the mode of set; it then looked like *st, whose stx_mask is
 * 0 afterwards if that has changed. */
uint32_t attr_after_create(
	struct obj *o, int fd, struct statx *st, const struct nfs_sattr *set, uint32_t *done);
/* The attributes that every version has, of o as *st describes it. */
void attr_stat(const struct obj *o, const struct statx *st, struct nfs_attr *n);
/* The space of o's file system (not fs->name_max). 0 or -errno. */
int attr_fsstat(const struct obj *o, struct nfs_fsstat *fs);
/* Would the kernel let the caller do mode (R_OK, ...)? */
bool attr_allowed(const struct obj *o, int mode);
/* Those of want (NFS_ACCESS_*, ACCESS4_XA*) that the caller may do; *supported: those that can be
 * told. */
uint32_t attr_access(const struct obj *o, bool read_only, uint32_t want, uint32_t *supported);
/* A change to o went through this server. */
void attr_touch(struct obj *o);
/* Around a change of a directory. */
void cinfo_before(struct obj *dir, struct nfs4_change_info *ci);
void cinfo_after(struct obj *dir, struct nfs4_change_info *ci);

/* ops_io.c: a descriptor for I/O under a stateid */
struct io {
	struct st *st; /* fd is its */
	int fd;
	bool own; /* fd is ours to close */
};
/* Gets one for o, a regular file, under sid, which is not that of "current". io_end() in any case.
 */
uint32_t io_begin(struct compound *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct io *io);
void io_end(struct compound *c, struct io *io);
/* Can the next payload be named and held? Else its data goes into the reply itself. */
bool io_payload_ok(const struct compound *c);
/* Bytes of data that still fit inline behind head more bytes of results, a multiple of 4. */
uint32_t io_inline_room(const struct compound *c, size_t head);
/* Bytes of the Write chunk that the next payload goes into; 0: it goes inline. */
uint32_t io_next_sink(const struct compound *c);

/* cb.c: the backchannel. Consumes the reference to ses; no lock held. */
void cb_probe(struct serve *sv, struct session *ses);
/* Sends CB_NOTIFY_LOCK to all who are owed one (waiter.h). Not on a thread of ident_call(). */
void cb_notify_all(struct serve *sv);

/* operations */
typedef uint32_t op_fn(struct compound *c, const struct nfs4_args *a);
op_fn op_access, op_getattr, op_setattr, op_verify, op_nverify;
op_fn op_putfh, op_putrootfh, op_savefh, op_restorefh, op_getfh, op_lookup, op_lookupp;
op_fn op_secinfo, op_secinfo_no_name, op_readlink;
op_fn op_create, op_remove, op_rename, op_link, op_readdir;
op_fn op_open, op_close, op_open_downgrade, op_delegreturn;
op_fn op_read, op_write, op_commit;
op_fn op_lock, op_lockt, op_locku;
op_fn op_exchange_id, op_create_session, op_destroy_session, op_destroy_clientid, op_sequence;
op_fn op_bind_conn_to_session, op_backchannel_ctl, op_reclaim_complete;
op_fn op_test_stateid, op_free_stateid;
/* of minor version 2 */
op_fn op_allocate, op_deallocate, op_clone, op_copy, op_io_advise, op_offload, op_seek,
	op_read_plus;
op_fn op_getxattr, op_setxattr, op_listxattrs, op_removexattr;

#endif
