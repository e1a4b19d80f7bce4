/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_former: a mount that goes on where a killed daemon has left off (nfs_mount_params.former), by
 * the notes that the daemon kept (nfs_mount_params.ledger).
 *
 * An op of a request of the kernel has the request's number in nfs_op.noted. Each call of the op
 * that changes the file system is noted before the call is sent, and the reply before the slot is
 * given back. The notes stay until the user calls nfs_client_answered().
 *
 * The successor's user processes the requests again that the kernel sends again. An op with the
 * same number, type, file and name then finds the notes, in the order in which the calls were made.
 * A noted reply is decoded, and no call is made. A call without a noted reply goes to the server
 * again, in the same slot and with the same sequence id: the server executes the call once.
 *
 *     nfs_client_new()          the session goes on; calls of the former daemon that are not noted
 *                               have ended, or will never be executed
 *     nfs_client_former_open()  for each open file
 *     nfs_client_former_end()   when all open files have theirs
 *     ... ops of requests that the kernel sends again, and other ops ...
 *     nfs_client_replays_end()  when the kernel will send no more of them
 *     nfs_client_former_deleg() for each file
 *
 * NFSv4.1 and later only: otherwise no notes are made, and there is nothing to find.
 */
#ifndef RNFS_NFSPROTO_NFS_FORMER_H
#define RNFS_NFSPROTO_NFS_FORMER_H

#include <stdbool.h>
#include <stdint.h>

struct nfs_client;
struct nfs_fh;
struct nfs_open;

/* The answer to the request of the kernel with that number is noted, or was never needed: drops the
 * notes of the request's calls. Any thread, with no lock of nfsproto held; does not wait. Cheap
 * without notes. */
void nfs_client_answered(struct nfs_client *c, uint64_t request);
/* Are there notes of the former daemon about calls of that request? If the request has no noted
 * answer, the kernel knows no result of the request. Any thread. */
bool nfs_client_has_changes(struct nfs_client *c, uint64_t request);
/* The kernel sends no request of the former daemon's any more, as far as the caller knows. The
 * slots of noted calls that no op has found are free for other calls. An op that finds such a call
 * later is executed anew, as an unsure op. Any thread. */
void nfs_client_replays_end(struct nfs_client *c);

/* A number by which a successor finds the open, never 0; the same in each successor. 0: the open
 * cannot be found (NFSv3). */
uint64_t nfs_open_note_number(const struct nfs_open *o);
/* The open of the former daemon with that number. The caller owns the open as after NFS_OPEN. NULL:
 * there is none (its CLOSE has ended), or the open is taken. Between nfs_client_new() and
 * nfs_client_former_end(). */
struct nfs_open *nfs_client_former_open(struct nfs_client *c, uint64_t number);
/* The delegation of fh that the former daemon held, and that the mount holds again, or 0; and
 * whether it is a write delegation (nfs_client.h). Any thread. */
uint64_t nfs_client_former_deleg(struct nfs_client *c, const struct nfs_fh *fh, bool *writes);
/* Begins to close the opens that the caller has not taken. Those of a request with
 * nfs_client_has_changes() are forgotten instead: the request opens the file again. From now on the
 * upcalls tell of files, and delegations go back. */
void nfs_client_former_end(struct nfs_client *c);
/* Ends an open of nfs_client_former_open() without CLOSE, because the request that made the open
 * comes again. Before nfs_client_former_end(). Its locks are forgotten too. */
void nfs_open_discard(struct nfs_open *o);

#endif
