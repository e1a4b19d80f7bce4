/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_error: errors of data servers, as the metadata server is told of them (RFC 7862
 * section 15.6, RFC 8435 section 9.1).
 *
 * Errors of one kind, with the same status and operation at one device, are one error. Its range
 * reaches from the first byte to the last. So a data server that dies under many WRITEs is one
 * error, and the few that a report has room for tell of all data servers.
 *
 * Pure.
 */
#ifndef RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_ERROR_H
#define RNFS_NFSPROTO_V4_PNFS_NFS4_LAYOUT_ERROR_H

#include "nfsproto/wire/nfs4_xdr.h"

#define NFS4_LAYOUT_ERRORS 4u /* kinds that are kept of a layout; further ones are left out */

struct nfs4_layout_error {
	uint64_t offset, length; /* in the file; length NFS4_LENGTH_EOF: to the end of the file */
	struct nfs4_device_error at;
};

/* Adds e to the *n errors of list, which has room for NFS4_LAYOUT_ERRORS. True: e is of a kind that
 * the list did not have. */
bool nfs4_layout_error_note(
	struct nfs4_layout_error *list, unsigned *n, const struct nfs4_layout_error *e);

#endif
