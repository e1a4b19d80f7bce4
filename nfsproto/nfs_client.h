/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client: a mounted export of any NFS version. This is the one interface between the protocol
 * back ends and the layers above. Every request to the server is an operation (nfs_op.h).
 */
#ifndef RNFS_NFSPROTO_NFS_CLIENT_H
#define RNFS_NFSPROTO_NFS_CLIENT_H

#include "nfsproto/common/nfs_count.h"
#include "nfsproto/common/nfs_mount.h"
#include "nfsproto/common/nfs_op.h"
#include "nfsproto/common/nfs_record.h"
#include "nfsproto/nfs_former.h"

/* Connects, establishes the session and walks to the export. Blocks (bounded by the time-outs in
 * p). Copies everything in p but pool and upcalls. NULL with *e set: kinds RESOLVE, UNREACHABLE,
 * REFUSED, NOT_RDMA, VERSION, NO_EXPORT, MOVED, ACCESS, NO_DEVICE, PROTOCOL. The sentence names
 * server, step and remedy. */
struct nfs_client *nfs_client_new(const struct nfs_mount_params *p, struct err *e);
/* Root of the mount; valid as long as the client. */
void nfs_client_root(struct nfs_client *c, struct nfs_fh *fh, struct nfs_attr *attr);
void nfs_client_info(struct nfs_client *c, struct nfs_client_info *out);
/* The counters of all connections together. */
void nfs_client_stats(struct nfs_client *c, struct rpc_client_stats *out);
/* One of the mount's connections; false: there is none of that number. Data servers come last, and
 * do not count in info.connections. Any thread. */
bool nfs_client_path(struct nfs_client *c, unsigned i, struct rpc_client_info *info,
	struct rpc_client_stats *stats);
/* The ops of type t that have ended. Any thread; takes no lock. */
void nfs_client_count(struct nfs_client *c, enum nfs_op_type t, struct nfs_count *out);
/* Returns delegations, closes open files, destroys session and client ID on the server, and
 * disconnects. Each step has a short time-out in case the server is silent. Ops under way end with
 * -ENOTCONN. Not from done. Accepts NULL, returns NULL. */
struct nfs_client *nfs_client_free(struct nfs_client *c);
/* nfs_client_free() must not wait for the server beyond this time, on clock_ns(); 0, the initial
 * value: as long as usual. Call before nfs_client_free(), on the same thread. */
void nfs_client_leave_by(struct nfs_client *c, uint64_t ns);

/* A successor takes the mount over: in the same process by a record (nfs_mount_params.record), or
 * by the notes of a mount with a ledger. No op is submitted from nfs_client_settle() on, until the
 * caller goes on without a successor. One thread. */

/* Begins to give delegations back that have no notes, and looks for work under way; does not wait.
 * NULL: the mount is settled, and the successor may follow, by nfs_client_record() without a
 * ledger. Otherwise the reason, for the sentence "waiting for %s": the caller asks again in a
 * moment. State without a way to a successor is a reason, too. */
const char *nfs_client_settle(struct nfs_client *c);
/* The address of the server; *len is its length. */
const struct sockaddr_storage *nfs_client_peer(struct nfs_client *c, socklen_t *len);
/* Writes the state for a successor. open: the n open files of the user. Changes nothing: the mount
 * can go on. */
void nfs_client_record(
	struct nfs_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x);

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
/* As nfs_cancel(), but an op that asks for a lock ends with the server's answer if the server may
 * be executing the call. So the caller gets a lock that is granted, and after -EINTR the server
 * grants none. A later nfs_cancel() of the op ends that wait. */
void nfs_interrupt(struct nfs_op *op);

#endif
