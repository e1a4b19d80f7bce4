/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * replicas: other servers with the exported file system (--replica, --copy; RFC 8881 section
 * 11.5.4).
 *
 * A replica serves the same directory, with the same key of file handles. So all classes of
 * fs_locations_info are equal: a client may go on at any replica. A copy is a file system of its
 * own, with the same handles, inode numbers and order of directories, as a snapshot is. A server
 * with --read-only tells in fs_status that the file system is fixed: then reading clients may go on
 * at a copy, too.
 */
#ifndef RNFS_SERVE_EXPORT_REPLICAS_H
#define RNFS_SERVE_EXPORT_REPLICAS_H

#include "nfsproto/wire/nfs4_attr.h"
#include "transport/err.h"

#define REPLICAS_MAX 8u

struct replicas;

struct replica_spec {
	const char *place; /* "SERVER:/EXPORT": place.h */
	bool copy;
};

/* n: 1 to REPLICAS_MAX. NULL with *e set. */
struct replicas *replicas_new(
	const struct replica_spec *specs, unsigned n, bool read_only, struct err *e);
/* Accepts NULL. */
void replicas_free(struct replicas *r);
/* Sets the attributes that tell of the replicas. Valid as long as r. */
void replicas_attrs(const struct replicas *r, struct nfs4_attrs *a);

#endif
