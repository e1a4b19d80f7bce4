/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_former: the open files of a daemon that was killed, from their notes (file_note.h).
 *
 * The kernel may not know the last files, and sends their CREATE or OPEN again. Such a file is left
 * out, and so is its open at the server: the noted answer makes both anew. If the request was about
 * to be answered, its way to open the file is not noted any more (open_note.h): then the file is
 * closed when the OPEN comes.
 */
#ifndef RNFS_FS_FILE_FILE_FORMER_H
#define RNFS_FS_FILE_FILE_FORMER_H

#include "fs/kernel/request.h"
#include "fs/known/fs.h"
#include "transport/err.h"

/* fs has the inodes and the answers of the former daemon, and fs->handle_numbers have room. 0, or
 * -1 with *e set: a note is damaged, or no memory. Before requests are served. */
int files_former(struct fs *fs, const struct former *former, struct err *e);
/* Closes the files that the kernel had released when the former daemon was killed, and for which it
 * sends no RELEASE again (before Linux 6.9). After fs_former_restore(), before requests are served.
 */
void files_former_close(struct fs *fs);
/* r, an OPEN, begins: if the kernel sends r again, closes the file that r has opened before. */
void file_former_drop(struct request *r);

#endif
