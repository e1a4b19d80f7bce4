/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_device: the devices that layouts name, and the data servers behind them (flexible files: RFC
 * 8435 section 4; files: RFC 8881 section 13.2).
 *
 * A device of flexible files is one data server. A device of the file layout type is a list of data
 * servers, and a list of stripe indices, which are numbers of data servers. Each data server may
 * have several addresses, which are tried in their order (section 13.5).
 *
 * A device is asked for once (GETDEVICEINFO), and again after I/O there has failed. Devices with
 * the same first address and version share a data server. Devices and data servers stay until the
 * end of the mount, and their number is bounded.
 *
 * One thread owns all lists. A device that has been found is constant, so any thread may follow a
 * pointer to it.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_DEVICE_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_DEVICE_H

#include "nfsproto/v4/pnfs/nfs4_ds.h"
#include "nfsproto/v4/pnfs/nfs4_segment.h"

#define NFS4_DEVICES_HELD 128 /* devices of a mount; layouts with further ones are not used */
#define NFS4_DS_MAX	  64  /* data servers of a mount */

struct nfs4_device {
	LIST_ENTRY(nfs4_device) link; /* the owner's */
	bool stale;		      /* the owner's: to be asked for again */
	/* constant */
	struct nfs4_deviceid id;
	unsigned nservers;
	struct nfs4_ds *server[NFS4_DS_MAX]; /* NULL: of no use */
	unsigned nstripes;
	uint8_t stripe[NFS4_STRIPES]; /* numbers of data servers */
	unsigned version;	      /* the number of its version, and so of its handles */
	uint32_t rsize, wsize;
	bool tight; /* the data server knows the stateids and users of the metadata server */
};

/* The addresses of one data server. */
struct nfs4_device_server {
	unsigned nplaces; /* 0: none is of use */
	struct nfs4_ds_place place[NFS4_DS_PLACES];
};

/* What a GETDEVICEINFO has told. */
struct nfs4_device_info {
	struct nfs4_deviceid id; /* in */
	uint32_t type;		 /* in: layouttype4 */
	enum rpc_proto rdma;	 /* in: as for nfs4_ds_place() */
	unsigned files_minor;	 /* in: the minor version for data servers of file layouts */
	/* out */
	int error; /* 0, -EBADMSG (malformed), -EOPNOTSUPP (no address or no version of use), -E2BIG
		    */
	unsigned version, minor; /* minor: of NFSv4; 0: NFSv3 */
	uint32_t rsize, wsize;
	bool tight;
	unsigned nservers, nstripes;
	struct nfs4_device_server server[NFS4_DS_MAX];
	uint8_t stripe[NFS4_STRIPES];
};

struct nfs4_devices {
	LIST_HEAD(, nfs4_device) list, old; /* old: replaced; layouts may point there */
	LIST_HEAD(, nfs4_ds) servers;
	unsigned n, nservers;
};

/* Takes the body of a device address of i->type into i. Pure. */
void nfs4_device_told(struct nfs4_device_info *i, const struct nfs4_opaque *body);

void nfs4_devices_init(struct nfs4_devices *d);
/* Ends all connections. */
void nfs4_devices_finish(struct nfs4_devices *d);
/* The device, if it is known and not stale; else NULL. */
struct nfs4_device *nfs4_devices_find(struct nfs4_devices *d, const struct nfs4_deviceid *id);
/* Notes i, whose error is 0. NULL: no memory, or too many devices or data servers. */
struct nfs4_device *nfs4_devices_add(struct nfs4_devices *d, const struct nfs4_device_info *i);
/* I/O at the device has failed, or the device has changed: it is asked for again. id NULL: all are.
 */
void nfs4_devices_doubt(struct nfs4_devices *d, const struct nfs4_deviceid *id);

#endif
