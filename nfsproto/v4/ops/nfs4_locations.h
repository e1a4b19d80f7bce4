/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locations: the other places of a file system (fs_locations, RFC 8881 section 11.10.1), and
 * the consequences of NFS4ERR_MOVED: the op asks the server where the file system is, and ends with
 * EREMOTE. A LOOKUP of a mount that follows referrals brings the places along
 * (nfs_submount.h). Otherwise the log gets a sentence. Also the replicas of a file system
 * (fs_locations_info, section 11.17), for nfs4_replication.h.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_LOCATIONS_H

#include <stddef.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/v4/ops/nfs4_coder.h"
#include "nfsproto/wire/nfs4_replica.h"

/* Reads the XDR of an fs_locations4. An empty name of a server means the server that tells, whose
 * name is here (RFC 8881 section 11.16; NULL or "": left out). A name with spaces or control
 * characters is left out, and so is a path that is none. Returns how many places there are; then
 * *out has them (free()). 0, -EBADMSG or -ENOMEM: *out is NULL. */
int nfs4_locations_get(const struct nfs4_opaque *raw, const char *here, struct nfs_places **out);

/* The replicas of a file system, as one of its servers tells them. One block of memory: free(). */
struct nfs4_replicas {
	uint32_t valid_s; /* seconds until the server wants to be asked again; 0: any time */
	uint32_t status;  /* enum fs4_status_type of the server that tells; 0: not told */
	bool have_here;	  /* here is set */
	/* FSLI4BX_* of the server that tells */
	uint8_t here[FSLI4BX_KNOWN];
	unsigned n; /* other servers, at most NFS_PLACES_MAX */
	struct {
		struct nfs_place at;
		uint8_t info[FSLI4BX_KNOWN];
	} of[NFS_PLACES_MAX];
};

/* Reads the XDR of an fs_locations_info4 (RFC 8881 section 11.17). Leaves out servers that are
 * absent or about to go, and servers that do not tell all of their classes. Leaves out names that
 * nfs4_locations_get() refuses, and paths that are empty or depend on variables (11.17.3). 0; with
 * -EBADMSG or -ENOMEM *out is NULL. */
int nfs4_replicas_get(const struct nfs4_opaque *raw, struct nfs4_replicas **out);
/* May a mount of the file system go on at replica i? All classes must be those of the server that
 * tells, and the replica be writable. read_only: nothing is written through the mount; then a copy
 * that is never changed need only have the same handles, fileids and cookies of directories. */
bool nfs4_replica_suits(const struct nfs4_replicas *r, unsigned i, bool read_only);
/* Lists the replicas that suit in `order`, the most preferred first. Returns how many. */
unsigned nfs4_replicas_order(
	const struct nfs4_replicas *r, bool read_only, unsigned order[NFS_PLACES_MAX]);

/* op, which is not under way, was answered NFS4ERR_MOVED. True: start op again; op now asks for the
 * new place, and then ends with -EREMOTE. False: the function has written to the log. */
bool nfs4_moved_ask(struct nfs4_client *c, struct nfs_op *op);

#endif
