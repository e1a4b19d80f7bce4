/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-nfs4: an NFSv4.1 server for tests of the client, over TCP in the same process. The server
 * keeps just enough state (client IDs, sessions with exact slots, opens) to hold a client to the
 * rules, serves one directory with a few files, and misbehaves as told.
 */
#ifndef RNFS_TESTS_MEAN_NFS4_H
#define RNFS_TESTS_MEAN_NFS4_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tests/unit/nfsproto/v4/mean-deleg.h"
#include "tests/unit/nfsproto/v4/mean-lock.h"
#include "tests/unit/nfsproto/v4/pnfs/mean-layout.h"
#include "nfsproto/wire/nfs4_attr.h"
#include "nfsproto/nfs_client.h"
#include "transport/rpc/rpc.h"

#define MEAN_SLOTS 16
#define MEAN_HELD  64
#define MEAN_OPENS 256
#define MEAN_BOUND 4

enum quirk {
	Q_NONE,
	Q_SHORT_REPLY,	   /* one result fewer than the count needs, status OK */
	Q_FEWER_RESULTS,   /* the count says fewer than there were operations, status OK */
	Q_WRONG_OP,	   /* another operation number in the last result */
	Q_TRAILING,	   /* bytes after the last result */
	Q_STATUS_MISMATCH, /* the last result fails, the COMPOUND does not */
	Q_WRONG_SLOT,	   /* SEQUENCE's result names another slot */
	Q_READ_LONG,	   /* more data than asked for */
	Q_READ_NOTHING,	   /* no data, not the end */
	Q_WRITE_LONG,	   /* more bytes written than sent */
	Q_WRITE_UNSTABLE,  /* less stable than asked for */
	Q_NO_ATTRS,	   /* GETATTR gives an empty fattr4 */
	Q_DIR_LOOP,	   /* a cookie that does not advance */
	Q_DIR_NOTHING,	   /* no entries, not the end */
	Q_DIR_NAME,	   /* an entry with the name mean_srv.bad_name */
	Q_DELEGATION,	   /* OPEN gives a delegation without a request for one */
	Q_DROP,		   /* no reply at all */
	Q_CUT,		   /* a WRITE is carried out, then the connection is closed */
	Q_NEVER_SAME,	   /* VERIFY finds the size another than GETATTR says */
	Q_BUSY,		   /* an OPEN is carried out, but the answer is DELAY */
	Q_CUT_OPEN,	   /* an OPEN is carried out, then the connection is closed */
	Q_CUT_REBOOT,	   /* as Q_CUT, and the server restarts */
	Q_CUT_UNLOCK,	   /* a LOCKU is carried out, and the server restarts without an answer */
};

struct mean_srv {
	struct mem_pool *pool;
	struct rpc_server *server;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t cond;  /* an event was counted, or a COMPOUND held */

	/* orders of the test: */
	uint32_t fail_op;     /* this operation fails ... */
	uint32_t fail_status; /* ... with this status ... */
	unsigned fail_times;  /* ... so often */
	enum quirk quirk;
	unsigned quirk_times;
	const char *bad_name;
	uint32_t bad_name_len;
	uint32_t hold_op; /* a COMPOUND with this operation is answered at mean_release() */
	uint32_t status_flags;
	atomic_uint reply_ms; /* each reply is held back for this long */
	unsigned slots;
	unsigned target;     /* slots that SEQUENCE says may be used; 0: all */
	uint32_t cached_max; /* ca_maxresponsesize_cached granted; 0: as the client asks */
	/* other limits that CREATE_SESSION grants; 0: as the client asks */
	uint32_t ops_max, request_max, response_max;
	uint32_t protect;	/* spr_how of EXCHANGE_ID */
	bool no_back;		/* CREATE_SESSION takes no backchannel */
	uint32_t wrong_session; /* this operation names another session in its result */
	bool strict;		/* SEQUENCE only where the connection is bound to the session */
	uint32_t cut_op;	/* a COMPOUND with this operation is carried out, then the ... */
	unsigned cut_times;	/* ... connection is closed, this often */
	uint32_t cut_status; /* not 0: then the session is lost, and the next cut_op fails with this
				status */
	unsigned uncached;   /* COMPOUNDs with fail_op came with sa_cachethis false */
	uint64_t io_max;     /* maxread and maxwrite */
	unsigned minor;	     /* the only one served; default 1 */
	unsigned lease_s;
	const char *elsewhere;	   /* a server that fs_locations names; NULL: the attribute does not
				      exist */
	const char *elsewhere_too; /* the next one; NULL: "b.example" */
	uint64_t root_fileid;	   /* 0: as usual */
	uint8_t info[256];	   /* fs_locations_info: mean_name_replica() */
	uint32_t info_len;	   /* 0: the attribute does not exist */
	unsigned asked;		   /* how often it was asked for */
	const char *trunk[4]; /* fs_locations of "/" names these servers of "/", up to a NULL */
	const char *owner;    /* of everything, a name; NULL: number 0 */
	const char *name;     /* the server owner of EXCHANGE_ID; NULL: "mean" */
	/* how often, and by how many bytes, another client appends just before VERIFY looks at the
	 * size */
	unsigned others_times, others_append;
	uint32_t write_max;  /* bytes that a WRITE takes; 0: all */
	uint32_t open_seqid; /* the seqid of a new open's stateid; 0: 1 */
	bool exclusive; /* an exclusive create must not find the file: no file exists at first */
	bool verf_in_times;   /* of an exclusive create */
	uint32_t change_type; /* change_attr_type4; of NFSv4.2 */

	bool no_data_server; /* EXCHANGE_ID says so */
	bool knows_all;	     /* a data server, for which each stateid is good */

	/* record of the calls: */
	/* of the last EXCHANGE_ID */
	uint32_t roles_asked, client_owner_len;
	uint8_t client_verf[NFS4_VERIFIER_SIZE], client_owner[160];
	struct nfs4_stateid io_stateid; /* of the last READ or WRITE */
	unsigned count[80];		/* operations executed */
	uint32_t uid[80];		/* user of the last such operation */
	unsigned nclients, nsessions, nopens, ndelegs;
	unsigned reclaims, reopens, replays, misordered;
	unsigned early; /* OPENs other than reclaims, before RECLAIM_COMPLETE */
	struct {
		uint32_t claim, access, mode;
		bool create;
		uint8_t owner[16], verf[NFS4_VERIFIER_SIZE];
	} opened;			/* arguments of the last OPEN */
	uint64_t write_at;		/* the last WRITE's offset */
	unsigned mixups;		/* the result kept by Q_BUSY was for another COMPOUND */
	unsigned nbound;		/* connections bound to the session */
	unsigned sequences[MEAN_BOUND]; /* on each session */
	uint32_t bind_dir;		/* of the last BIND_CONN_TO_SESSION */
	unsigned nheld;
	struct rpc_req *held[MEAN_HELD];

	/* state of the server */
	uint64_t size;	 /* of the files */
	uint64_t change; /* of everything; each WRITE adds one */
	atomic_bool cut; /* the connection of the next reply */
	uint64_t clientid;
	bool reclaiming;
	uint32_t session_no;
	uint32_t create_seq; /* of the last CREATE_SESSION of the client ID */
	uint32_t seq[MEAN_SLOTS];
	struct {
		uint32_t slot, seq, nops;
		size_t len;	   /* 0: no answer is kept */
		unsigned delays;   /* DELAYs in front of the answer, */
		unsigned refusals; /* and then GARBAGE_ARGS, */
		unsigned strays;   /* and then BADSESSION, as another server says */
		uint8_t reply[4096];
	} kept; /* by Q_BUSY and cut_op */
	uint32_t open_no;
	struct {
		bool used;
		uint32_t id, seqid, access;
		uint8_t owner[16];
	} opens[MEAN_OPENS];
	bool made; /* exclusively, with this verifier */
	uint8_t made_verf[NFS4_VERIFIER_SIZE];
	struct mean_locks locks;
	struct mean_delegs delegs;
	struct mean_layouts layouts;
	struct rpc_xprt *xprt; /* the backchannel: the connection bound to it last */
	struct rpc_xprt *bound[MEAN_BOUND];
};

void mean_start(struct mean_srv *s);
/* s serves at another IPv4 address, too, until rpc_server_free(). */
struct rpc_server *mean_listen(struct mean_srv *s, uint32_t addr, uint16_t port);
void mean_stop(struct mean_srv *s);
/* Answers the held COMPOUNDs, in the order of arrival, and holds no more. */
/* fs_locations_info names the server `at`, of the same classes or not. */
void mean_name_replica(struct mean_srv *s, const char *at, bool same);
void mean_release(struct mean_srv *s);
/* The same, but the server holds op from then on. */
void mean_release_hold(struct mean_srv *s, uint32_t op);
/* Waits until *counter is at least n; false after 60 s. */
bool mean_wait(struct mean_srv *s, const unsigned *counter, unsigned n);
/* As after a restart: the server forgets clients, sessions and opens; opens may be reclaimed. */
void mean_reboot(struct mean_srv *s);
void mean_reboot_locked(struct mean_srv *s); /* lock held */
/* Forgets the session only. */
void mean_lose_session(struct mean_srv *s);
/* The ID of the present session; lock held. */
void mean_session_id(const struct mean_srv *s, struct nfs4_sessionid *id);
/* Sends CB_SEQUENCE and CB_RECALL on slot 0 with sequence ID seq. Returns the COMPOUND's status. */
uint32_t mean_recall(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, const struct nfs4_stateid *id);

/* The same with CB_GETATTR of change and size. */
uint32_t mean_cb_getattr(struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh,
	uint64_t *change, uint64_t *size);

/* The same with CB_LAYOUTRECALL. */
uint32_t mean_layoutrecall(
	struct mean_srv *s, uint32_t seq, const struct nfs4_cb_layoutrecall_args *a);

/* The same with CB_NOTIFY_DEVICEID. */
uint32_t mean_notify_deviceid(
	struct mean_srv *s, uint32_t seq, const struct nfs4_cb_notify_deviceid_args *a);

/* The same with CB_NOTIFY_LOCK. */
uint32_t mean_notify_lock(
	struct mean_srv *s, uint32_t seq, const struct nfs_fh *fh, const struct nfs4_opaque *owner);

#endif
