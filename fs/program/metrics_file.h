/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * metrics_file: the counters as a file for Prometheus's node_exporter (option metrics_file).
 *
 * A thread of its own writes the file every METRICS_FILE_S seconds under another name, and then
 * renames the file: so a reader finds a whole file. The file may be on a file system that does not
 * answer; then only this thread waits. At the end of the mount the file is removed.
 */
#ifndef RNFS_FS_PROGRAM_METRICS_FILE_H
#define RNFS_FS_PROGRAM_METRICS_FILE_H

#include "fs/known/fs.h"
#include "transport/err.h"

#define METRICS_FILE_S 15

struct metrics_file;

/* Makes fs->metrics_file, which writes fs->opt->metrics_file from now on; nothing if the option is
 * not set. The mount must be usable. 0, or -1 with *e set: then no file is written. */
int metrics_file_start(struct fs *fs, struct err *e);
/* Stops writing and removes the file; before setup_end(). Waits for a moment only. Accepts NULL,
 * returns NULL. */
struct metrics_file *metrics_file_free(struct metrics_file *m);

#endif
