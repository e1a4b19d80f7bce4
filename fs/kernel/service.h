/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * service: the mount as a service of systemd: ready, its state in words, and proof of life.
 *
 * In the foreground only: in the background the process that was started tells by its exit. All
 * functions are for the main thread.
 */
#ifndef RNFS_FS_KERNEL_SERVICE_H
#define RNFS_FS_KERNEL_SERVICE_H

#include "fs/known/fs.h"

struct service {
	bool on;
	const char *mountpoint;
	unsigned watchdog_ms; /* 0: none */
	uint64_t told;	      /* when the last proof of life was given, on clock_ns() */
	uint64_t looked;      /* when the threads were last looked at */
	bool silent, stuck;   /* as systemd was last told */
};

/* The daemon begins to connect; sd_notify_init() has been called. mountpoint stays the caller's. */
void service_begin(struct service *s, const struct fs *fs, const char *mountpoint);
/* The file system is mounted, and the server is still away (delay_connect). */
void service_delayed(struct service *s, const struct fs *fs);
/* The mount is usable. */
void service_ready(struct service *s, const struct fs *fs);
/* Tells whether the server answers. To be called whenever the main thread has woken. */
void service_tell(struct service *s, const struct fs *fs);
/* Tells that this daemon is alive, unless a thread is stuck. To be called once a second, or more
 * often. */
void service_tick(struct service *s);
/* The daemon begins to end. */
void service_end(struct service *s);

#endif
