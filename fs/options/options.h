/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs.
 *
 * Names follow mount.nfs where the meaning is the same, and every option of nfs(5) is known, so
 * that lines of fstab(5) carry over. An option that matters for data or for security, and does not
 * work, is refused with a sentence that names the option and the remedy. Other options without use
 * here are ignored, and one line says so (options_tell()). Options that belong to mount(8) and have
 * no meaning for a file system (noauto, _netdev, x-...) are passed over.
 */
#ifndef RNFS_FS_OPTIONS_OPTIONS_H
#define RNFS_FS_OPTIONS_OPTIONS_H

#include <stdio.h>

#include "fs/options/option.h"

/* Fills *o from argv. 0, or -1 with *e set (ERR_USAGE, or ERR_INTERNAL when out of memory). The
 * caller calls options_finish() in either case. argv is not changed and not referred to
 * afterwards. */
int options_parse(struct options *o, int argc, char *const argv[], struct err *e);
void options_finish(struct options *o);

/* Logs a line for each option that does less than its name says, and one for all ignored
 * options. */
void options_tell(const struct options *o);

#endif
