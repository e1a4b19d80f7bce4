/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_pnfs: pNFS of a mount (RFC 8881 sections 12 and 13, RFC 8435): the pNFS thread.
 *
 * A metadata server gives out layouts, which tell where the data of a file is. READs and WRITEs of
 * open files then go straight to data servers. All else, and all in trouble, goes through the
 * metadata server. Large I/O waits for the pNFS thread to ask for a layout, and so does I/O that
 * has failed at a data server for the layout to be returned.
 *
 * The files of pnfs, from below. Each calls only files above it in this list:
 *
 *     nfs4_segment     one segment of a layout: which data server has which bytes
 *     nfs4_ds_io       a READ or WRITE at one data server
 *     nfs4_ds_v4       a data server with NFSv4
 *     nfs4_ds          a data server: its connection, READ and WRITE there
 *     nfs4_io_stats    the I/O of a layout, counted and timed
 *     nfs4_device      the devices that layouts name, each with a data server
 *     nfs4_layout_error  errors of data servers, of one kind each
 *     nfs4_layout      the layouts of a mount, and the work of the pNFS thread
 *     nfs4_layout_ask  the LAYOUTGETs under way
 *     nfs4_layout_devices  the devices that a new layout names
 *     nfs4_layout_report  LAYOUTERROR and LAYOUTSTATS under way
 *     nfs4_layout_io   a READ or WRITE that goes to data servers
 *     nfs4_pnfs        the pNFS thread
 *
 * The thread asks for layouts, up to NFS4_LAYOUT_ASKS at once. It asks for devices, connects data
 * servers and returns layouts, one thing after the other. The thread exists as long as the mount.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_PNFS_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_PNFS_H

#include "nfsproto/v4/pnfs/nfs4_device.h"
#include "nfsproto/v4/pnfs/nfs4_layout_ask.h"

struct nfs4_pnfs {
	struct nfs4_client *c;	      /* constant, as common is */
	struct nfs4_ds_common common; /* of all connections to data servers */
	struct nfs4_layouts layouts;
	struct nfs4_layout_asks asks; /* the thread's, as devices */
	struct nfs4_devices devices;
	int abort_fd; /* readable: no connection is wanted any more */
	pthread_t thread;
	bool ended; /* nfs4_pnfs_end() was called; the unmounting thread's */
};

/* Starts the thread of c, whose export is known. type: the layouttype4 to ask for. 0 or -errno. */
int nfs4_pnfs_begin(struct nfs4_client *c, uint32_t type);
/* No layout is used any more; I/O under way at data servers ends soon. For unmounting, as the next
 * two. c need not use pNFS. */
void nfs4_pnfs_stop(struct nfs4_client *c);
/* Ends the thread, the connections and the I/O under way there, then returns all layouts until
 * `until`, on clock_ns(); 0: the server is silent, nothing is returned. A second call does nothing.
 */
void nfs4_pnfs_end(struct nfs4_client *c, uint64_t until);
/* After nfs4_pnfs_end(); the server makes no upcalls any more. */
void nfs4_pnfs_free(struct nfs4_client *c);

/* --- for a mount that may use pNFS or not; any thread -------------------------------------- */

/* The layouttype4 of c's layouts. */
uint32_t nfs4_pnfs_type(struct nfs4_client *c);
/* nfs4_layout_io(). */
bool nfs4_pnfs_io(struct nfs4_client *c, struct nfs_op *op);
/* nfs4_layout_io_cancel(). */
void nfs4_pnfs_cancel(struct nfs4_client *c, struct nfs_op *op);
/* o is about to be closed. */
void nfs4_pnfs_closing(struct nfs4_client *c, const struct nfs_open *o);
/* The layout that goes back in the COMPOUND of the CLOSE of o, or NULL: nfs4_layouts_close_along().
 */
struct nfs4_layout_held *nfs4_pnfs_close_along(struct nfs4_client *c, const struct nfs_open *o);
/* nfs4_layouts_recall(). */
uint32_t nfs4_pnfs_recall(struct nfs4_client *c, const struct nfs4_cb_layoutrecall_args *a);
/* nfs4_layouts_rest(), for a second. */
bool nfs4_pnfs_settle(struct nfs4_client *c);
/* CB_NOTIFY_DEVICEID (RFC 8881 section 20.12): the devices are asked for again, and so are the
 * layouts that name them. */
void nfs4_pnfs_device_news(struct nfs4_client *c, const struct nfs4_cb_notify_deviceid_args *a);
/* The server has lost all state; or it has revoked some. */
void nfs4_pnfs_forget(struct nfs4_client *c);
void nfs4_pnfs_revoked(struct nfs4_client *c);

#endif
