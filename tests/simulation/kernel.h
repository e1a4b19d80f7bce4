/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel: the kernel's side of one mount, by the model of vfs.h: Linux 6.1 or 6.12, by the seed.
 * Any thread of the run.
 */
#ifndef RNFS_SIMULATION_KERNEL_H
#define RNFS_SIMULATION_KERNEL_H

#include <stdint.h>
#include <sys/types.h>

struct kernel;
struct process;

/* A device that no daemon has read yet. */
struct kernel *kernel_new(void);
/* The device as a new simulated descriptor, for the daemon. Once. */
int kernel_device(struct kernel *k);
/* The kernel forgets all names and pages that are not in use, and tells the daemon. */
void kernel_forget(struct kernel *k);
/* umount(8): nothing may be open. Names are forgotten, then the daemon reads ENODEV. */
void kernel_unmount(struct kernel *k);
/* The daemon has gone. Accepts NULL, returns NULL. */
struct kernel *kernel_free(struct kernel *k);

/* A new process of root on the mount. Sometimes the kernel's memory gets short before, or pages are
 * written back. */
struct process *kernel_process(struct kernel *k);
/* The same, of a user. The user's group has the same number. */
struct process *kernel_process_of(struct kernel *k, uid_t user);

#endif
