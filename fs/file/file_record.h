/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_record: the open files of a mount for a successor (record.h), with the owners that may hold
 * locks through them.
 */
#ifndef RNFS_FS_FILE_FILE_RECORD_H
#define RNFS_FS_FILE_FILE_RECORD_H

#include "fs/known/file.h"
#include "transport/rpc/xdr.h"

/* The open files, in the order of files_put_record(): an array from malloc() of *n. NULL when out
 * of memory. No request is under way. */
struct file **files_list(struct fs *fs, uint32_t *n);
void files_put_record(struct fs *fs, struct file *const file[], uint32_t n, struct xdr_out *x);
/* fs has the inodes of the record, and fs->handle_numbers have room. open: the n open files at the
 * server, in that order. On failure x is bad; false: no memory. */
bool files_get_record(struct fs *fs, struct nfs_open *const open[], uint32_t n, struct xdr_in *x);

#endif
