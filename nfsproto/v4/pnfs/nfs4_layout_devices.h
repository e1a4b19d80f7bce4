/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_devices: the devices that a new layout names, asked of the server if need be
 * (GETDEVICEINFO, RFC 8881 section 18.40).
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_DEVICES_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_DEVICES_H

#include "nfsproto/v4/pnfs/nfs4_device.h"
#include "nfsproto/v4/pnfs/nfs4_layout.h"

/* Gives each target of g, which has succeeded, its device and data server, if there is one of use.
 * As long as the server answers: each call may last ten seconds. A layout that does not fit its
 * device, or whose stripes overlap there, has g->error set (-EBADMSG). So has a layout without a
 * data server (-ENOBUFS), if there was no room for a device. False: there was none. The owner of
 * `devices`, no lock held. */
bool nfs4_layout_devices(
	struct nfs4_client *c, struct nfs4_devices *devices, struct nfs4_layoutget *g);

#endif
