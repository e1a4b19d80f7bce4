/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client: a mounted export of any NFS version. This is the one interface between the protocol
 * back ends and the layers above. Every request to the server is an operation (nfs_op.h).
 */
#ifndef RNFS_NFSPROTO_NFS_CLIENT_H
#define RNFS_NFSPROTO_NFS_CLIENT_H

#include "nfsproto/common/nfs_count.h"
#include "nfsproto/common/nfs_op.h"

/* --- unasked news from a mount to its user --------------------------------------------------- */

enum nfs_lost {
	NFS_LOST_LOCK, /* a byte-range lock: I/O under the lock fails until it is unlocked */
	NFS_LOST_OPEN, /* an open file: I/O through the open fails until it is closed */
	NFS_LOST_GAP,  /* an open file was opened again: other clients may have changed the file in
			  between */
};

enum nfs_connection {
	NFS_CONNECTION_LOST,	/* operations under way are sent again over the next connection */
	NFS_CONNECTION_BACK,	/* no operation was sent over the new connection yet */
	NFS_CONNECTION_SILENT,	/* the server does not answer; reported once, until */
	NFS_CONNECTION_ANSWERS, /* the server answers again */
};

/* The mount's upcalls to its user. Any may be NULL. The mount calls them from within
 * nfs_client_new() until nfs_client_free(), on the thread named with each. An upcall must only take
 * note. It must neither wait nor call nfs_* functions: calls to the server end on these threads,
 * and the callback service's lock may be held (NFSv4: recalled, connection). fh and attr are valid
 * during the call. */
struct nfs_client_upcalls {
	/* A delegation of fh (NFSv4) is not held any more. Either the server has recalled the
	 * delegation for another client, and the delegation goes back (the progress thread); or the
	 * delegation is lost (the state manager's thread). */
	void (*recalled)(void *ctx, const struct nfs_fh *fh);
	/* A write delegation of fh with that number is about to go back. The user must make the
	 * data of the file safe and then call nfs_deleg_flushed(), which may happen at once. Then
	 * the delegation goes back. False: no memory; the upcall comes again. The state manager's
	 * thread; nfs_submit() may be called. */
	bool (*flush)(void *ctx, const struct nfs_fh *fh, uint64_t id);
	/* Another client asks for the attributes of fh while this mount holds a write delegation.
	 * size: with the data that the server does not have yet. change: the newest change
	 * attribute from the server. The last result: is there data that the server does not have?
	 * False: the answer is not sure. The progress thread, with the callback service's lock
	 * held. */
	bool (*inquired)(void *ctx, const struct nfs_fh *fh, uint64_t *size, uint64_t *change,
		bool *modified);
	/* State of the open file fh is lost: the server has revoked or forgotten it. Called once
	 * for each open or lock owner. The state manager's thread (NFSv4) or the locks' thread
	 * (NFSv3). */
	void (*lost)(void *ctx, const struct nfs_fh *fh, enum nfs_lost what);
	/* Attributes of fh have come that belong to no op of the user: with a CLOSE that was
	 * cancelled or has no waiting user. asked: the server was asked after this time, on
	 * clock_ns(). Progress thread. */
	void (*attributes)(void *ctx, const struct nfs_fh *fh, const struct nfs_data_attr *attr,
		uint64_t asked);
	/* News of the connection for the mount's operations. LOST and BACK alternate, as do SILENT
	 * and ANSWERS. Without this upcall SILENT and ANSWERS go to the log. Progress thread. */
	void (*connection)(void *ctx, enum nfs_connection what);
};

/* NFSv4 sends owners as numbers or as names (user@domain). */
enum nfs_idmap {
	NFS_IDMAP_AUTO,	   /* accepts both; sends numbers, or names to servers that want names */
	NFS_IDMAP_NUMERIC, /* numbers only: a name becomes the user nobody */
	NFS_IDMAP_NAME,	   /* accepts both; sends names */
};

/* Delegations to ask for at OPEN (NFSv4). */
enum nfs_delegations { NFS_DELEGATIONS_NONE, NFS_DELEGATIONS_READ, NFS_DELEGATIONS_WRITE };

struct nfs_mount_params {
	enum rpc_proto proto;
	const char *host;   /* name or address, [..] around IPv6 already removed */
	int family;	    /* AF_INET6: only such an address; AF_UNSPEC, 0: any */
	uint16_t port;	    /* 0: 20049 for iwarp and rdma, 2049 for tcp */
	const char *export; /* absolute path; "/" is the server's pseudo-root */
	/* 4.2, 4.1, 3.0; 4.0: the newest minor version of the server; 0.0: the same, or 3 */
	unsigned vers_major, vers_minor;
	uint16_t mountport;    /* v3: port of the MOUNT service; 0: ask the portmapper */
	const char *mounthost; /* v3: host of the MOUNT service; NULL: host */
	bool mount_udp;	       /* v3: ask MOUNT and the portmapper over UDP, else TCP */
	bool nolock;	       /* v3: no NLM */
	/* v3: the directory for state that outlives the mount (nfs3_nsm.h), or NULL; and the mount
	 * point, which tells mounts apart, or NULL */
	const char *state_dir, *mountpoint;
	bool read_plus; /* v4.2: READ_PLUS instead of READ: holes are not sent, but data is not
			   placed directly either */
	uint32_t rsize, wsize; /* 0: the largest that both sides accept, at most 1 MiB */
	struct rpc_cred cred;  /* for the mount itself and for state without a user */
	const struct nfs_client_upcalls *upcalls; /* constant; NULL: none */
	void *upcalls_ctx;
	struct mem_pool *pool;
	enum nfs_delegations delegations;
	enum nfs_idmap idmap;	  /* v4 */
	const char *idmap_domain; /* NULL: from /etc/idmapd.conf, or else the host's domain */
	unsigned connect_ms, timeo_ms, retrans;
	bool soft;
	unsigned rdma_versions; /* RPC_RDMA_V1, ..., 0: all */
	uint32_t inline_size, credits;
	bool crc;
};

/* Features of a mount: nfs_client_info.features. An op without its feature ends with
 * -EOPNOTSUPP. */
#define NFS_HAS_LOCKS (1u << 0)
#define NFS_HAS_XATTR (1u << 1)
#define NFS_HAS_ACL   (1u << 2)
#define NFS_HAS_UMASK (1u << 3) /* NFS_SET_UMASK may be used */
/* Names that differ in case alone are one name, or the server does not tell. */
#define NFS_FOLDS_CASE (1u << 4)

struct nfs_client_info {
	struct rpc_client_info rpc;
	unsigned vers_major, vers_minor;
	uint32_t rsize, wsize; /* bytes in use */
	uint32_t dtsize;       /* preferred size of a READDIR reply */
	uint64_t maxfilesize;
	uint32_t lease_s;
	uint32_t slots;		/* of the fore channel, as negotiated; 0: v3 */
	uint32_t features;	/* NFS_HAS_* */
	char server_owner[128]; /* printable */
};

/* Connects, establishes the session and walks to the export. Blocks (bounded by the time-outs in
 * p). Copies everything in p but pool and upcalls. NULL with *e set: kinds RESOLVE, UNREACHABLE,
 * REFUSED, NOT_RDMA, VERSION, NO_EXPORT, MOVED, ACCESS, NO_DEVICE, PROTOCOL. The sentence names
 * server, step and remedy. */
struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e);
/* Root of the mount; valid as long as the client. */
void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr);
void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out);
void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out);
/* The ops of type t that have ended. Any thread; takes no lock. */
void nfs_client_count(struct nfs_client *c, enum nfs_op_type t, struct nfs_count *out);
/* Returns delegations, closes open files, destroys session and client ID on the server, and
 * disconnects. Each step has a short time-out in case the server is silent. Ops under way end with
 * -ENOTCONN. Not from done. Accepts NULL, returns NULL. */
struct nfs_client *nfs_client_free(struct nfs_client *c);
/* nfs_client_free() must not wait for the server beyond this time, on clock_ns(); 0, the initial
 * value: as long as usual. Call before nfs_client_free(), on the same thread. */
void nfs_client_leave_by(struct nfs_client *c, uint64_t ns);

/* A delegation of fh with that number, which an OPEN has brought (open.deleg). Any thread; these
 * functions do not wait. */

/* Is the delegation held now? If so, no other client has changed the file since the OPEN. */
bool nfs_deleg_holds(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
/* Opens the file under the delegation for cred, without asking the server. flags: O_RDONLY, or any
 * with a write delegation. The caller knows that cred may open the file so. NFS_CLOSE ends the open
 * as usual. NULL: the delegation is not held any more, or no memory. */
struct nfs_open *nfs_deleg_open(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred);
/* Gives an unwanted delegation back to the server. */
void nfs_deleg_give_back(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);
/* The user has made the data safe, after the upcall `flush`. */
void nfs_deleg_flushed(struct nfs_client *c, const struct nfs_fh *fh, uint64_t id);

/* May the server have lost locks that were requested through o, as far as the mount knows without
 * asking? If so, I/O that relies on such locks should wait for the server's answer. Any thread;
 * does not wait. */
bool nfs_locks_doubtful(struct nfs_client *c, const struct nfs_open *o);

/* The number of one exclusive lock of bytes first..last, on which changes of the file through o
 * rely; 0: there is none, or the NFS version cannot tell. Two calls return the same number only if
 * the lock was held from the first call to the second, or the server has disowned the lock in
 * between, and the client still claims or tests it. So no other client may have changed those
 * bytes, except one that ignores locks. If the lock turns out to be lost, I/O through o fails. Any
 * thread; does not wait. */
uint64_t nfs_lock_guard(
	struct nfs_client *c, const struct nfs_open *o, uint64_t first, uint64_t last);

/* Starts op. done is called exactly once in any case. Any thread. */
void nfs_submit(struct nfs_client *c, struct nfs_op *op);
/* Drops the reference on u.read.moved of a READ that has ended, with or without an error, and was
 * allowed to leave its data elsewhere. moved is empty afterwards. */
static inline void nfs_read_let_go(struct nfs_op *op)
{
	seg_list_unref(&op->u.read.moved);
	op->u.read.moved = (struct seg_list){0};
}
/* Asks that op end soon with -EINTR (a signal to the caller). No effect on an op that is ending.
 * Open state and locks that the server may have granted meanwhile are given back. A CLOSE and an
 * unlock go on without their caller. An op that changes a file's data (nfs_op_changes_data()) and
 * may have reached the server goes on until the server has answered or can execute it no more. Its
 * caller must wait for that; the op is not begun anew. */
void nfs_cancel(struct nfs_op *op);

#endif
