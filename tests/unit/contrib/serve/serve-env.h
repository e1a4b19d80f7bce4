/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve-env: a server on a temporary directory. COMPOUNDs reach the server without a transport.
 */
#ifndef RNFS_TESTS_SERVE_ENV_H
#define RNFS_TESTS_SERVE_ENV_H

#include "contrib/serve/ops/stable.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/v4/v4.h"
#include "nfsproto/wire/nfs4_attr.h"

struct serve_env {
	char dir[64];
	struct serve sv;
	struct nfs4_sessionid session;
	uint64_t clientid;
	uint32_t slot_seq; /* of slot 0 */
	bool cachethis;
	uint32_t minor;	   /* of COMPOUNDs; 1 */
	uint32_t uid, gid; /* the caller's */
	uint32_t xid;	   /* of the call */
	uint32_t res_max;  /* bytes of results that the caller takes; 0: as many as fit */
	unsigned nsinks;   /* Write chunks of the call */
	uint32_t sink[XDR_MAX_PAYLOADS];
	/* The sinks are places, each for the operations that begin in a range of the call. */
	bool places;
	uint32_t sink_begin[XDR_MAX_PAYLOADS], sink_end[XDR_MAX_PAYLOADS];
	/* the call under construction, and the answer to the last one */
	uint8_t call[128 << 10], reply[128 << 10];
	struct xdr_out args;
	size_t count_at;
	uint32_t nops;
	struct rpc_req req;
	bool waits;  /* the answer is not there yet */
	bool probes; /* the server would have probed the backchannel behind the COMPOUND */
	struct xdr_in res;
	struct nfs4_compound_res head;
};

void env_init(struct serve_env *e);
void env_init_in(struct serve_env *e, const char *where); /* else in /tmp */
void env_finish(struct serve_env *e);
/* The write verifier of a file without a failed sync. */
void env_verf(const struct serve_env *e, uint8_t verf[STABLE_VERF]);
/* Everything below the directory's path. */
void env_path(const struct serve_env *e, const char *name, char *buf, size_t size);

/* Starts a COMPOUND; with_sequence: on slot 0, with the slot's next sequence number. */
struct xdr_out *env_begin(struct serve_env *e, bool with_sequence);
/* Runs the COMPOUND (count is set from nops, SEQUENCE included) and returns the status; e->res
 * stands behind the result of SEQUENCE if there was one. ENV_WAITS: no result has come yet. */
#define ENV_WAITS UINT32_MAX
uint32_t env_run(struct serve_env *e, uint32_t nops);
/* The same for a COMPOUND that has waited. */
uint32_t env_result(struct serve_env *e);
/* The same bytes once more. */
uint32_t env_again(struct serve_env *e);
/* Expects the next result to be op's, with this status. */
void env_expect(struct serve_env *e, uint32_t op, uint32_t status);

/* The channel that a client asks for: four slots. */
extern const struct nfs4_channel_attrs env_channel;
/* EXCHANGE_ID, CREATE_SESSION with env_channel. */
void env_meet(struct serve_env *e, const char *owner);
/* The same, and RECLAIM_COMPLETE. */
void env_mount(struct serve_env *e, const char *owner);
void env_put_lookup(struct serve_env *e, const char *name);
/* OPEN (created if create). Gives the stateid in *sid. */
uint32_t env_open(struct serve_env *e, const char *name, bool create, uint32_t access,
	uint32_t deny, const char *owner, struct nfs4_stateid *sid, struct nfs_fh *fh);

void env_put_mkdir(struct serve_env *e, const char *name); /* in the root */
void env_put_fh(struct serve_env *e, const struct nfs_fh *fh);
/* A COMPOUND with one of these operations on fh. Returns the status. */
uint32_t env_close(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid);
uint32_t env_write(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, void *data, uint32_t len); /* FILE_SYNC4 */
uint32_t env_read(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, uint32_t count, const uint8_t **data, uint32_t *len, bool *eof);
uint32_t env_commit(struct serve_env *e, const struct nfs_fh *fh);
/* By a new lock owner under an open; *r also with NFS4ERR_DENIED. */
uint32_t env_lock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *open,
	const char *owner, uint32_t type, uint64_t offset, uint64_t length,
	struct nfs4_lock_res *r);
/* For any seqid of sid. */
uint32_t env_unlock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, uint64_t length);

/* Fixture: *state is a serve_env with one mount. */
int env_setup(void **state);
int env_teardown(void **state);

#endif
