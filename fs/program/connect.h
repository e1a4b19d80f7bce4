/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * connect: from the options to a mounted export, over the first transport that works.
 */
#ifndef RNFS_FS_PROGRAM_CONNECT_H
#define RNFS_FS_PROGRAM_CONNECT_H

#include "fs/known/fs.h"
#include "nfsproto/nfs_client.h"

/* Connects to the server that fs->opt names. Blocks; the connection time-out bounds each transport
 * tried. up: the upcalls, whose ctx is fs. NULL with a sentence in why. *passes then tells whether
 * a later try may succeed, because the server or the server's name was not there. If the server
 * refers to another one, mounts from there.
 *
 * A successor (fs->record) connects to the address that the former daemon had, over the same
 * transport. */
struct nfs_client *connect_server(
	struct fs *fs, const struct nfs_client_upcalls *up, bool *passes, char *why, size_t size);

/* nfs_client_upcalls.follow(): mounts a directory of fs that is on another server. */
struct nfs_client *connect_submount(struct fs *fs, const struct nfs_client_upcalls *up,
	const struct nfs_place *place, const struct nfs_mount_params *as, struct err *e);

#endif
