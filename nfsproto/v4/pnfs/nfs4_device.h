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
 * the same first address and version share a data server.
 *
 *     current --another answer to GETDEVICEINFO; the server deletes it--> replaced
 *        |                                                                    |
 *        '--room is needed, and no layout names it--> freed <--no layout names it
 *
 * The number of devices and of data servers is bounded. At the bound, the current device that no
 * layout names and that was found the longest ago makes room. A data server goes when no device
 * names it and no I/O is under way there.
 *
 * One thread owns all lists, and it alone frees. A device that has been found is constant, so any
 * thread may follow a pointer of a layout to the device, and of the device to a data server, under
 * the lock of the layouts. I/O under way has a count of its own in each data server. Reports of I/O
 * (nfs4_layout_report.h) have copies.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_DEVICE_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_DEVICE_H

#include "nfsproto/common/nfs_more.h"
#include "nfsproto/v4/pnfs/nfs4_ds.h"
#include "nfsproto/v4/pnfs/nfs4_segment.h"

#define NFS4_DEVICES_HELD 128 /* devices of a mount; layouts with further ones are not used */
#define NFS4_DS_MAX	  64  /* data servers of a mount */

struct nfs4_device {
	TAILQ_ENTRY(nfs4_device) link; /* the owner's */
	bool stale;		       /* the owner's: to be asked for again */
	atomic_uint users;	       /* targets of layouts */
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

TAILQ_HEAD(nfs4_device_list, nfs4_device);

struct nfs4_devices {
	struct nfs4_device_list list; /* current, the last found first */
	struct nfs4_device_list old;  /* replaced; layouts may point there */
	LIST_HEAD(, nfs4_ds) servers;
	unsigned n, nservers;
	struct nfs_more shown; /* the owner adds connections to data servers */
};

/* Takes the body of a device address of i->type into i. Pure. */
void nfs4_device_told(struct nfs4_device_info *i, const struct nfs4_opaque *body);

void nfs4_devices_init(struct nfs4_devices *d);
/* Ends all connections. Layouts may still name devices. */
void nfs4_devices_close(struct nfs4_devices *d);
/* No layout names a device. */
void nfs4_devices_finish(struct nfs4_devices *d);
/* The device, if it is known and not stale; else NULL. */
struct nfs4_device *nfs4_devices_find(struct nfs4_devices *d, const struct nfs4_deviceid *id);
/* Notes i, whose error is 0. At the bound, devices and data servers that are not used make room:
 * the end of a data server may block for some seconds. NULL: no memory, or too many devices or
 * data servers are used. */
struct nfs4_device *nfs4_devices_add(struct nfs4_devices *d, const struct nfs4_device_info *i);
/* I/O at the device has failed, or the device has changed: it is asked for again. id NULL: all are.
 */
void nfs4_devices_doubt(struct nfs4_devices *d, const struct nfs4_deviceid *id);
/* The server has deleted the device: it goes when no layout names it any more. */
void nfs4_devices_delete(struct nfs4_devices *d, const struct nfs4_deviceid *id);
/* Frees the replaced devices that no layout names, and one data server that nothing needs. That may
 * block for some seconds. False: there was no such data server. No lock held. */
bool nfs4_devices_tidy(struct nfs4_devices *d);
/* A target of a layout is about to name dev. The owner. */
static inline void nfs4_device_use(struct nfs4_device *dev)
{
	atomic_fetch_add_explicit(&dev->users, 1, memory_order_relaxed);
}
/* A target that has named dev has gone. Accepts NULL. Any thread. */
static inline void nfs4_device_leave(struct nfs4_device *dev)
{
	if (dev) /* release: the last access through the target comes before */
		atomic_fetch_sub_explicit(&dev->users, 1, memory_order_release);
}
static inline bool nfs4_device_is_used(const struct nfs4_device *dev)
{
	return atomic_load_explicit(&dev->users, memory_order_acquire) != 0;
}

#endif
