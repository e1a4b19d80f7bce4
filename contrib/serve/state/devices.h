/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * devices: the data servers of --pnfs (RFC 8435 sections 4 and 5).
 *
 * Each data server (--data-server) serves the same directory as this server, and seals file handles
 * with the same key. So a file has one handle at all of them, and every data server is a way to the
 * same bytes. This server names data servers to clients, and never calls one.
 *
 * A struct devices does not change once the server runs.
 */
#ifndef RNFS_SERVE_STATE_DEVICES_H
#define RNFS_SERVE_STATE_DEVICES_H

#include <sys/socket.h>

#include "nfsproto/wire/nfs4_flexfiles.h"
#include "transport/err.h"

#define DEVICES_MAX	  16
#define DEVICES_ADDRS_MAX 4 /* of one data server */
#define DEVICES_NAME	  64

struct device {
	struct nfs4_deviceid id; /* depends on the words of --pnfs alone: the same in later runs */
	uint32_t version, minor; /* of NFS: 3 and 0, 4 and 1, or 4 and 2 */
	unsigned naddrs;
	struct device_addr {
		struct sockaddr_storage sa;
		bool rdma;
	} addr[DEVICES_ADDRS_MAX];
	char name[DEVICES_NAME]; /* as given, cut, for messages */
};

struct devices {
	unsigned n;
	struct device d[DEVICES_MAX];
	uint64_t stripe;  /* bytes; 0: each file is at one data server */
	uint32_t stats_s; /* seconds between two LAYOUTSTATS; 0: as the client likes */
};

/* Adds the data servers of list, which is cut into words: SERVER[,SERVER...], SERVER is
 * PROTO:HOST:PORT[+PROTO:HOST:PORT...][/VERSION], PROTO tcp, rdma or iwarp, VERSION 3 (default),
 * 4.1 or 4.2. Asks the machine's name service, which may block. 0; or -1 with *e set. */
int devices_add(struct devices *ds, char *list, struct err *e);
/* The number of the data server, or -1. */
int devices_find(const struct devices *ds, const struct nfs4_deviceid *id);
/* Puts the ff_device_addr4 of d. */
void devices_put(struct xdr_out *x, const struct device *d);
/* Puts the ff_layout4 of a file: handle fh, inode number ino, for the users named. Data servers
 * whose bit is set in `avoid` are left out. False: none is left. */
bool devices_put_layout(struct xdr_out *x, const struct devices *ds, uint32_t avoid, uint64_t ino,
	const struct nfs_fh *fh, uint32_t uid, uint32_t gid);

#endif
