/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_xdr_layout: arguments and results of the operations of pNFS (RFC 8881 sections 12 and 18.40
 * to 18.44; LAYOUTERROR and LAYOUTSTATS: RFC 7862 15.6, 15.7). Conventions: nfs4_xdr.h, which is
 * the header to include.
 *
 * A layout type defines the body of a layout, a device address and a LAYOUTRETURN: nfs4_files.h,
 * nfs4_flexfiles.h. This file passes the bodies on as bytes. LAYOUTERROR and LAYOUTSTATS answer
 * with a status only.
 */
#ifndef RNFS_NFSPROTO_WIRE_NFS4_XDR_LAYOUT_H
#define RNFS_NFSPROTO_WIRE_NFS4_XDR_LAYOUT_H

#include "nfsproto/wire/nfs4_item.h"

#define NFS4_LAYOUT_BODY_MAX	65536 /* bytes accepted in a body */
#define NFS4_LAYOUTS_MAX	16    /* layouts accepted in a LAYOUTGET */
#define NFS4_DEVICE_ERRORS_MAX	256   /* errors accepted in a report */
#define NFS4_DEVICE_ERRORS_KEPT 8
#define NFS4_DEVICES_MAX	256 /* devices accepted in a CB_NOTIFY_DEVICEID */
#define NFS4_DEVICES_KEPT	16

struct nfs4_deviceid {
	uint8_t id[NFS4_DEVICEID_SIZE];
};
void nfs4_put_deviceid(struct xdr_out *x, const struct nfs4_deviceid *d);
int nfs4_get_deviceid(struct xdr_in *x, struct nfs4_deviceid *d);

struct nfs4_getdeviceinfo_args {
	struct nfs4_deviceid device;
	uint32_t type;		   /* layouttype4, not checked */
	uint32_t maxcount;	   /* bytes of GETDEVICEINFO4resok; 0: only the notifications */
	struct nfs4_bitmap notify; /* bits are NOTIFY_DEVICEID4_* */
};
struct nfs4_getdeviceinfo_res {
	/* NFS4_OK */
	uint32_t type;
	struct nfs4_opaque body; /* at most NFS4_LAYOUT_BODY_MAX */
	struct nfs4_bitmap notify;
	/* NFS4ERR_TOOSMALL */
	uint32_t mincount;
};
void nfs4_put_getdeviceinfo_args(struct xdr_out *x, const struct nfs4_getdeviceinfo_args *a);
int nfs4_get_getdeviceinfo_args(struct xdr_in *x, struct nfs4_getdeviceinfo_args *a);
void nfs4_put_getdeviceinfo_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_getdeviceinfo_res *r);
int nfs4_get_getdeviceinfo_res(struct xdr_in *x, uint32_t status, struct nfs4_getdeviceinfo_res *r);

struct nfs4_layoutcommit_args {
	uint64_t offset, length;
	bool reclaim;
	struct nfs4_stateid stateid;
	bool wrote; /* last is the offset of the last byte written */
	uint64_t last;
	bool modified; /* mtime is when the last byte was written */
	struct timespec mtime;
	uint32_t type;
	struct nfs4_opaque body; /* at most NFS4_LAYOUT_BODY_MAX */
};
struct nfs4_layoutcommit_res {
	bool resized;
	uint64_t size; /* resized: of the file */
};
void nfs4_put_layoutcommit_args(struct xdr_out *x, const struct nfs4_layoutcommit_args *a);
int nfs4_get_layoutcommit_args(struct xdr_in *x, struct nfs4_layoutcommit_args *a);
void nfs4_put_layoutcommit_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_layoutcommit_res *r);
int nfs4_get_layoutcommit_res(struct xdr_in *x, uint32_t status, struct nfs4_layoutcommit_res *r);

struct nfs4_layoutget_args {
	bool signal;	       /* tell with CB_RECALLABLE_OBJ_AVAIL */
	uint32_t type, iomode; /* layouttype4, layoutiomode4, not checked */
	uint64_t offset, length, minlength;
	struct nfs4_stateid stateid; /* of an open, a lock, a delegation or a layout */
	uint32_t maxcount;	     /* bytes of the layouts */
};
struct nfs4_layout {
	uint64_t offset, length;
	uint32_t iomode; /* LAYOUTIOMODE4_READ or LAYOUTIOMODE4_RW, checked */
	uint32_t type;
	struct nfs4_opaque body; /* at most NFS4_LAYOUT_BODY_MAX */
};
struct nfs4_layoutget_res {
	/* NFS4_OK */
	bool return_on_close;
	struct nfs4_stateid stateid;
	uint32_t n; /* at most NFS4_LAYOUTS_MAX; 0 decodes */
	struct nfs4_layout layout[NFS4_LAYOUTS_MAX];
	/* NFS4ERR_LAYOUTTRYLATER */
	bool will_signal;
};
void nfs4_put_layoutget_args(struct xdr_out *x, const struct nfs4_layoutget_args *a);
int nfs4_get_layoutget_args(struct xdr_in *x, struct nfs4_layoutget_args *a);
void nfs4_put_layoutget_res(struct xdr_out *x, uint32_t status, const struct nfs4_layoutget_res *r);
int nfs4_get_layoutget_res(struct xdr_in *x, uint32_t status, struct nfs4_layoutget_res *r);

struct nfs4_layoutreturn_args {
	bool reclaim;
	uint32_t type, iomode; /* not checked */
	uint32_t what;	       /* layoutreturn_type4, checked */
	/* LAYOUTRETURN4_FILE */
	uint64_t offset, length;
	struct nfs4_stateid stateid;
	struct nfs4_opaque body; /* at most NFS4_LAYOUT_BODY_MAX */
};
struct nfs4_layoutreturn_res {
	bool left; /* layouts of the file are left, with stateid */
	struct nfs4_stateid stateid;
};
void nfs4_put_layoutreturn_args(struct xdr_out *x, const struct nfs4_layoutreturn_args *a);
int nfs4_get_layoutreturn_args(struct xdr_in *x, struct nfs4_layoutreturn_args *a);
void nfs4_put_layoutreturn_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_layoutreturn_res *r);
int nfs4_get_layoutreturn_res(struct xdr_in *x, uint32_t status, struct nfs4_layoutreturn_res *r);

struct nfs4_device_error {
	struct nfs4_deviceid device;
	uint32_t status; /* nfsstat4 */
	uint32_t op;	 /* nfs_opnum4, not checked */
};
struct nfs4_layouterror_args { /* flexfiles' ff_ioerr4 has the same form */
	uint64_t offset, length;
	struct nfs4_stateid stateid;
	/* At most NFS4_DEVICE_ERRORS_KEPT; get: more (at most NFS4_DEVICE_ERRORS_MAX) are checked
	 * and not kept. */
	uint32_t n;
	struct nfs4_device_error error[NFS4_DEVICE_ERRORS_KEPT];
	bool more; /* get: some were not kept */
};
void nfs4_put_layouterror_args(struct xdr_out *x, const struct nfs4_layouterror_args *a);
int nfs4_get_layouterror_args(struct xdr_in *x, struct nfs4_layouterror_args *a);
/* Without the operation's number; get is the same for both. */
void nfs4_put_ioerr(struct xdr_out *x, const struct nfs4_layouterror_args *a);

struct nfs4_io_info {
	uint64_t count, bytes;
};
struct nfs4_layoutstats_args {
	uint64_t offset, length;
	struct nfs4_stateid stateid;
	struct nfs4_io_info read, write;
	struct nfs4_deviceid device;
	uint32_t type;
	struct nfs4_opaque body; /* at most NFS4_LAYOUT_BODY_MAX */
};
void nfs4_put_layoutstats_args(struct xdr_out *x, const struct nfs4_layoutstats_args *a);
int nfs4_get_layoutstats_args(struct xdr_in *x, struct nfs4_layoutstats_args *a);
void nfs4_put_io_info(struct xdr_out *x, const struct nfs4_io_info *i);
int nfs4_get_io_info(struct xdr_in *x, struct nfs4_io_info *i);

struct nfs4_device_change {
	bool deleted; /* NOTIFY_DEVICEID4_DELETE; else NOTIFY_DEVICEID4_CHANGE */
	uint32_t type;
	struct nfs4_deviceid device;
	bool immediate; /* not deleted: I/O must not go on with the old addresses */
};
struct nfs4_cb_notify_deviceid_args {
	/* At most NFS4_DEVICES_KEPT; get: more (at most NFS4_DEVICES_MAX) are checked and not kept,
	 * and `more` is set. */
	uint32_t n;
	bool more;
	struct nfs4_device_change change[NFS4_DEVICES_KEPT];
};
void nfs4_put_cb_notify_deviceid_args(
	struct xdr_out *x, const struct nfs4_cb_notify_deviceid_args *a);
/* A notification of another kind is malformed. */
int nfs4_get_cb_notify_deviceid_args(struct xdr_in *x, struct nfs4_cb_notify_deviceid_args *a);

/* netaddr4: an address as RFC 5665 writes it */
struct nfs4_netaddr {
	struct nfs_name netid; /* "tcp", "tcp6", "rdma", "rdma6", or another one */
	struct nfs_name addr;  /* the universal address */
};
/* multipath_list4: the addresses of one data server, each as good as the others. */
#define NFS4_MULTIPATH_MAX  256 /* addresses accepted */
#define NFS4_MULTIPATH_KEPT 16
struct nfs4_multipath {
	/* At most NFS4_MULTIPATH_KEPT; get: at least 1, more are checked and not kept. */
	uint32_t n;
	struct nfs4_netaddr addr[NFS4_MULTIPATH_KEPT];
};
void nfs4_put_multipath(struct xdr_out *x, const struct nfs4_multipath *m);
int nfs4_get_multipath(struct xdr_in *x, struct nfs4_multipath *m);

#endif
