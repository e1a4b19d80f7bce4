/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_mount: the parameters of a mount, its upcalls to its user, and its properties, of any NFS
 * version.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_MOUNT_H
#define RNFS_NFSPROTO_COMMON_NFS_MOUNT_H

#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/rpc.h"

struct former;
struct ledger;
struct nfs_mount_params;
struct nfs_place;
struct nfs_places;
struct nfs_record; /* nfs_record.h */
struct nfs_submounts;

/* --- unasked news from a mount to its user --------------------------------------------------- */

enum nfs_lost {
	NFS_LOST_LOCK, /* a byte-range lock: I/O under the lock fails until it is unlocked */
	NFS_LOST_OPEN, /* an open file: I/O through the open fails until it is closed */
	NFS_LOST_GAP,  /* an open file was opened again: other clients may have changed the file in
			  between */
};

enum nfs_connection {
	NFS_CONNECTION_LOST,	/* operations under way are sent again over the next connection */
	NFS_CONNECTION_MOVED,	/* operations of one connection are sent again over another, which
				 * was up all the time */
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
	 * and ANSWERS. MOVED: only of a mount with several connections. Without this upcall SILENT
	 * and ANSWERS go to the log. Progress thread. */
	void (*connection)(void *ctx, enum nfs_connection what);
	/* A directory of the mount is on another server, at `place`. The user makes a mount of the
	 * place by nfs_client_new() with the parameters of this mount, and with the members of *as
	 * that concern a submount. NULL with *e set. A thread of its own, which may wait. Without
	 * this upcall referrals are not followed. */
	struct nfs_client *(*follow)(void *ctx, const struct nfs_place *place,
		const struct nfs_mount_params *as, struct err *e);
};

/* NFSv4 sends owners as numbers or as names (user@domain). */
enum nfs_idmap {
	NFS_IDMAP_AUTO,	   /* accepts both; sends numbers, or names to servers that want names */
	NFS_IDMAP_NUMERIC, /* numbers only: a name becomes the user nobody */
	NFS_IDMAP_NAME,	   /* accepts both; sends names */
};

/* Delegations to ask for at OPEN (NFSv4). */
enum nfs_delegations { NFS_DELEGATIONS_NONE, NFS_DELEGATIONS_READ, NFS_DELEGATIONS_WRITE };

/* The place of an export that another server has. */
struct nfs_referral {
	struct nfs_places *places; /* free(); NULL: the server has told none */
	char rest[NFS_PATH_MAX];   /* behind the path of a place: names, or "" */
};

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
	bool pnfs;	/* v4: data straight from and to data servers, if there are any */
	uint32_t rsize, wsize; /* 0: the largest that both sides accept, at most 1 MiB */
	/* the mount goes on where a former daemon has left off; NULL: a new mount */
	struct nfs_record *record;
	/* for notes of the mount's state, which a successor needs if this daemon is killed; NULL:
	 * none. former: the notes of a daemon that was killed, whose mount goes on; NULL: none */
	struct ledger *ledger;
	const struct former *former;
	struct rpc_cred cred; /* for the mount itself and for state without a user */
	const struct nfs_client_upcalls *upcalls; /* constant; NULL: none */
	void *upcalls_ctx;
	struct mem_pool *pool;
	enum nfs_delegations delegations;
	enum nfs_idmap idmap;	  /* v4 */
	const char *idmap_domain; /* NULL: from /etc/idmapd.conf, or else the host's domain */
	unsigned connect_ms, timeo_ms, retrans;
	/* connections, and addresses of the server (NFSv4) that they go to, at most RPC_PATHS_MAX;
	 * 0:
	 * 1 */
	unsigned nconnect, max_connect;
	/* NFSv4: ask the server for further addresses of its own, within max_connect */
	bool trunk_discovery;
	bool migration; /* v4: the mount moves with its file system to another server */
	/* v4: the mount goes on at another server with the file system when this one is silent */
	bool replication;
	bool read_only; /* programs change nothing through the mount */
	bool soft;
	unsigned rdma_versions; /* RPC_RDMA_V1, ..., 0: all */
	uint32_t inline_size, credits;
	bool crc;
	/* of a submount, for upcalls->follow() to pass on (nfs_submount.h); otherwise 0 */
	struct nfs_submounts *submounts;
	uint16_t submount;
	uint64_t fsid_mix;
	int abort_fd; /* readable: the submount is not wanted any more */
	/* out, with ERR_MOVED: where the export is; all zeros before; NULL: not wanted */
	struct nfs_referral *referral;
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
	struct rpc_client_info rpc; /* of the first connection; credits and under_way: of all */
	unsigned connections;
	unsigned vers_major, vers_minor;
	uint32_t rsize, wsize; /* bytes in use */
	uint32_t dtsize;       /* preferred size of a READDIR reply */
	uint64_t maxfilesize;
	uint32_t lease_s;
	uint32_t slots;		/* of the fore channel, as negotiated; 0: v3 */
	uint32_t features;	/* NFS_HAS_* */
	char server_owner[128]; /* printable */
};

#endif
