/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount: the mount point, and the FUSE session on it.
 */
#ifndef RNFS_FS_PROGRAM_MOUNT_H
#define RNFS_FS_PROGRAM_MOUNT_H

#include <stdbool.h>

#include "fs/known/fs.h"

/* Can a file system be mounted at path (cli/mountpoint.h), and is /dev/fuse within reach? 0 and
 * *real, the absolute path (free() it), or -1 with *e set. "/dev/fd/N" (an open FUSE device) is
 * taken as given. Makes no connection: to be called before daemonising, and before there are
 * threads. */
int mount_check(const char *path, char **real, struct err *e);

/* Makes the session and mounts the file system. 0 with fs->se set, or -1 with *e set and nothing
 * mounted. Other threads must not write to standard error meanwhile: the output of fusermount3
 * there becomes *e. */
int mount_session(struct fs *fs, const char *mountpoint, struct err *e);

/* Makes the session of a mounted file system, whose open device is given, which becomes the
 * session's, as does its clone `row` (device.h; -1: none). fs->init is the talk of the former
 * daemon, which has answered INIT. As mount_session(). */
int mount_go_on(struct fs *fs, int device, int row, struct err *e);

/* The mount point as a reader of the log knows it; for a sidecar, the mounter's path. */
const char *mount_shown(const char *mountpoint);

/* Takes the mount point out of the name space; open files go on. False: detaching failed, or
 * mountpoint is /dev/fd/N, which another process has mounted. */
bool mount_detach(const char *mountpoint);

/* Has the kernel ended the session? Of a successor without a session yet: the former daemon's. */
bool mount_gone(struct fs *fs);

/* Notes when the file system was mounted and its device number, which identifies the mount to other
 * programs (fs->dev_major). Asks the daemon nothing. */
void mount_note(struct fs *fs);

/* Sets how far the kernel reads ahead. Needs root; a failure does no harm. */
void mount_set_readahead(const char *mountpoint, unsigned kb);

#endif
