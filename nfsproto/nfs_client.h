/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client: a mounted export, whatever the NFS version. The one interface between the protocol
 * back ends and the layers above: what is asked of the server is an operation (nfs_op.h).
 */
#ifndef RNFS_NFSPROTO_NFS_CLIENT_H
#define RNFS_NFSPROTO_NFS_CLIENT_H

#include "nfsproto/nfs_count.h"
#include "nfsproto/nfs_op.h"

/* --- what a mount tells its user unasked ----------------------------------------------------- */

enum nfs_lost {
	NFS_LOST_LOCK, /* a byte-range lock: I/O under it fails until it is unlocked */
	NFS_LOST_OPEN, /* an open file: I/O through it fails until it is closed */
	NFS_LOST_GAP,  /* an open file that has been opened anew: others may have come in between */
};

enum nfs_connection {
	NFS_CONNECTION_LOST,	/* what is under way is sent again over the next one */
	NFS_CONNECTION_BACK,	/* nothing has been sent over it yet */
	NFS_CONNECTION_SILENT,	/* the server does not answer; said once, until */
	NFS_CONNECTION_ANSWERS, /* it does again */
};

/* The mount's upcalls to its user. Any may be NULL. They come from nfs_client_new() on, before that
 * has returned, to nfs_client_free(), on a thread of the mount's that is named with each. What is
 * called only leaves word: it must neither wait nor call nfs_* functions, since calls to the server
 * end on these threads, and the callback service's lock may be held (NFSv4: recalled, connection).
 * fh and attr are valid during the call. */
struct nfs_client_upcalls {
	/* A delegation of fh (NFSv4) is not held any more: the server has recalled it, since
	 * somebody else wants to use the file, and it goes back; or it is lost, which the state
	 * manager's thread tells. Else the progress thread. */
	void (*recalled)(void *ctx, const struct nfs_fh *fh);
	/* A delegation of fh to write with that number is not held any more: what was written to
	 * the file is to be made safe, and then to be told by nfs_deleg_flushed(), which may be
	 * called at once. It goes back after that. False: no memory; it is asked again. The state
	 * manager's thread; nfs_submit() may be called. */
	bool (*flush)(void *ctx, const struct nfs_fh *fh, uint64_t id);
	/* Somebody asks what fh looks like, which this mount holds delegated to write: its size,
	 * with what the server does not have yet; the newest change attribute that the server has
	 * told; and is there anything that it does not have? False: that is not known for sure.
	 * The progress thread, with the callback service's lock held. */
	bool (*inquired)(void *ctx, const struct nfs_fh *fh, uint64_t *size, uint64_t *change,
		bool *modified);
	/* State of the open file fh is lost: the server has revoked or forgotten it. Once for each
	 * open or owner of locks. The state manager's thread (NFSv4), that of the locks (NFSv3). */
	void (*lost)(void *ctx, const struct nfs_fh *fh, enum nfs_lost what);
	/* Attributes of fh have come that no op of the user's brings: with a CLOSE whose user was
	 * cancelled or has not waited for it. The server was asked after `asked`, on clock_ns().
	 * Progress thread. */
	void (*attributes)(void *ctx, const struct nfs_fh *fh, const struct nfs_data_attr *attr,
		uint64_t asked);
	/* Of the connection that the mount's operations travel on. LOST and BACK alternate, as do
	 * SILENT and ANSWERS; without this upcall the latter two are said to the log. Progress
	 * thread. */
	void (*connection)(void *ctx, enum nfs_connection what);
};

/* Owners travel over NFSv4 as numbers or as names (user@domain). */
enum nfs_idmap {
	NFS_IDMAP_AUTO,	   /* understands both; sends numbers, or names to servers that want them */
	NFS_IDMAP_NUMERIC, /* a name is nobody */
	NFS_IDMAP_NAME,	   /* understands both, sends names */
};

/* What is asked for at OPEN (NFSv4). */
enum nfs_delegations { NFS_DELEGATIONS_NONE, NFS_DELEGATIONS_READ, NFS_DELEGATIONS_WRITE };

struct nfs_mount_params {
	enum rpc_proto proto;
	const char *host;   /* name or address, [..] around IPv6 already removed */
	int family;	    /* AF_INET6: no other address will do; AF_UNSPEC, 0: any will */
	uint16_t port;	    /* 0: 20049 for iwarp and rdma, 2049 for tcp */
	const char *export; /* absolute path; "/" is the server's pseudo-root */
	/* 4.2, 4.1, 3.0; 4.0: the newest minor version the server has; 0.0: that, else 3 */
	unsigned vers_major, vers_minor;
	uint16_t mountport;    /* v3: of the MOUNT service; 0: ask the portmapper */
	const char *mounthost; /* v3: where MOUNT is, NULL: host */
	bool mount_udp;	       /* v3: ask MOUNT and the portmapper over UDP, else TCP */
	bool nolock;	       /* v3: no NLM */
	/* v3: where what outlives the mount is remembered (nfs3_nsm.h), NULL: nowhere; and where it
	 * is mounted, which tells it from others, or NULL */
	const char *state_dir, *mountpoint;
	bool read_plus; /* v4.2: READ_PLUS instead of READ: holes are not transferred, but data is
			 * not placed directly either */
	uint32_t rsize, wsize; /* 0: the largest both sides like, at most 1 MiB */
	struct rpc_cred cred;  /* for the mount itself and for state that belongs to no user */
	const struct nfs_client_upcalls *upcalls; /* constant; NULL: none */
	void *upcalls_ctx;
	struct mem_pool *pool;
	enum nfs_delegations delegations;
	enum nfs_idmap idmap;	  /* v4 */
	const char *idmap_domain; /* NULL: as /etc/idmapd.conf says, else the host's */
	unsigned connect_ms, timeo_ms, retrans;
	bool soft;
	unsigned rdma_versions; /* RPC_RDMA_V1, ..., 0: all */
	uint32_t inline_size, credits;
	bool crc;
};

/* What a mount can do: nfs_client_info.features. An op that it cannot do is -EOPNOTSUPP. */
#define NFS_HAS_LOCKS (1u << 0)
#define NFS_HAS_XATTR (1u << 1)
#define NFS_HAS_ACL   (1u << 2)
#define NFS_HAS_UMASK (1u << 3) /* NFS_SET_UMASK may be used */
/* What it is like: names that differ in case alone are one name, or the server does not say. */
#define NFS_FOLDS_CASE (1u << 4)

struct nfs_client_info {
	struct rpc_client_info rpc;
	unsigned vers_major, vers_minor;
	uint32_t rsize, wsize; /* bytes, as used */
	uint32_t dtsize;       /* preferred readdir reply */
	uint64_t maxfilesize;
	uint32_t lease_s;
	uint32_t slots;		/* fore channel, as negotiated; 0: v3 */
	uint32_t features;	/* NFS_HAS_* */
	char server_owner[128]; /* printable */
};

/* Connects, establishes the session and walks to the export. Blocks (bounded by the time-outs in
 * p). Everything in p is copied but pool and upcalls. NULL with *e set: kinds RESOLVE, UNREACHABLE,
 * REFUSED, NOT_RDMA, VERSION, NO_EXPORT, MOVED, ACCESS, NO_DEVICE, PROTOCOL; the sentence names
 * server, step and remedy. */
struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e);
/* Root of the mount; valid as long as the client. */
void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr);
void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out);
void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out);
/* The ops of that type that have ended. Any thread; takes no lock. */
void nfs_client_count(struct nfs_client *c, enum nfs_op_type t, struct nfs_count *out);
/* Returns delegations, closes what is open, destroys session and client ID on the server (each
 * bounded by a short time-out if the server is silent), disconnects. Ops under way end with
 * -ENOTCONN. Not from done. Accepts NULL, returns NULL. */
struct nfs_client *nfs_client_free(struct nfs_client *c);
/* nfs_client_free() is not to wait for the server beyond this time, on clock_ns(); 0, as at the
 * beginning: as long as it usually does. Before nfs_client_free(), by its thread. */
void nfs_client_leave_by(struct nfs_client *c, uint64_t ns);

/* A delegation of fh with that number, which an OPEN has brought (open.deleg). Any thread; these do
 * not wait. */

/* Is it held, now? Then nobody else has changed the file since then. */
bool nfs_deleg_holds(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
/* The file is opened under it with flags (O_RDONLY, or any where it is one to write) for cred, of
 * whom the caller knows that he may, without asking the server. NFS_CLOSE ends it like any other.
 * NULL: it is not held any more, or no memory. */
struct nfs_open *nfs_deleg_open(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred);
/* It is not wanted any more: it goes back to the server. */
void nfs_deleg_give_back(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
/* What the upcall `flush` asked for has been done. */
void nfs_deleg_flushed(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);

/* May the server have lost locks that were asked for through o, as far as is known without asking
 * it? What relies on them should wait for its answer then. Any thread; does not wait. */
bool nfs_locks_doubtful(struct nfs_client *c, const struct nfs_open *o);

/* Starts op. done is called exactly once whatever happens. Any thread. */
void nfs_submit(struct nfs_client *c, struct nfs_op *op);
/* Drops the reference on u.read.moved of a READ that has ended, with an error or without, and was
 * allowed to leave its data anywhere; it is empty then. */
static inline void nfs_read_let_go(struct nfs_op *op)
{
	seg_list_unref(&op->u.read.moved);
	op->u.read.moved = (struct seg_list){0};
}
/* Asks that op end soon with -EINTR (a signal to the caller). No effect on an op that is ending.
 * Open state and locks that the server may have granted in the meantime are given back; a CLOSE and
 * an unlock go on without their caller. An op that changes the data of a file
 * (nfs_op_changes_data()) and that the server may have got goes on until the server has answered or
 * can execute it no more: its caller must have patience. It is not begun anew then. */
void nfs_cancel(struct nfs_op *op);

#endif
