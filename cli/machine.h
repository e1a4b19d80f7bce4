/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * machine: facts about this machine that a mount depends on.
 *
 * The doctor reports these facts. A failed mount names the missing fact. Files are read below
 * `root`, which is "" but in tests. All functions may be called by any thread.
 */
#ifndef RNFS_CLI_MACHINE_H
#define RNFS_CLI_MACHINE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Why fusermount3 cannot mount for this user. */
enum machine_fusermount {
	FUSERMOUNT_WORKS,
	FUSERMOUNT_MISSING,    /* no fusermount3 in PATH, nor where packages put it */
	FUSERMOUNT_POWERLESS,  /* not set-user-ID root, or on a nosuid file system */
	FUSERMOUNT_RESTRICTED, /* this process has no_new_privs, so set-user-ID has no effect */
};

/* Finds fusermount3 for an ordinary user; root needs none. path (PATH_MAX bytes) gets the program
 * unless it is MISSING. */
enum machine_fusermount machine_fusermount(char *path);

/* A sentence with the remedy: a constant string; NULL for FUSERMOUNT_WORKS. */
const char *machine_fusermount_says(enum machine_fusermount is);

/* 0 if /dev/fuse is the FUSE device and can be opened to read and write, else an errno; ENODEV:
 * another file. */
int machine_fuse_device(const char *root);

/* Whether /etc/fuse.conf has the word, such as "user_allow_other", alone on a line. */
bool machine_fuse_conf(const char *root, const char *word);

/* Can this process have n more descriptors, at most 64? The limit may be low, or used up by
 * descriptors inherited from the parent process. */
bool machine_has_descriptors(unsigned n);

/* Reads a number from a file below root; -1: no such file, or no number in the file. */
long long machine_number(const char *root, const char *file);

#endif
