/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * connect: from the options to a mounted export, over the first transport that works.
 */
#ifndef RNFS_FS_CONNECT_H
#define RNFS_FS_CONNECT_H

#include "fs/option.h"
#include "nfsproto/nfs_client.h"

/* Blocks, bounded by the connection time-out for each transport tried. mountpoint: its real path,
 * by which a mount that was there before is known. up, ctx: who is told what. NULL with a sentence
 * in why; *passes then tells whether the same may end differently a while later, since the server
 * or its name was not there. */
struct nfs_client *connect_server(const struct options *o, const char *mountpoint,
	struct mem_pool *pool, const struct nfs_client_upcalls *up, void *ctx, bool *passes,
	char *why, size_t size);

#endif
