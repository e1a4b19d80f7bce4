/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * disk: the simulated disk. The disk has the paths below /sim, and in a run also /var/lib/rnfs and
 * the file of the machine's boot id, which are below /sim, too (/sim/var/lib/rnfs). The disk also
 * has paths relative to descriptors of its directories, and its descriptors in /proc/self/fd. The
 * calls of libc on such paths are files.c, names.c, attrs.c, xattrs.c, streams.c and watches.c. All
 * other paths go to the system.
 *
 * A power cut may undo changes that no sync has covered: changes of names and attributes (the size
 * of a file is one) from some moment on, all together, and each block of data by itself. fsync(2)
 * covers the file's data, its attributes and names, and all earlier changes of names and attributes
 * on the disk.
 */
#ifndef RNFS_SIMULATION_DISK_H
#define RNFS_SIMULATION_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define DISK_PREFIX  "/sim"
#define DISK_BOOT_ID "/proc/sys/kernel/random/boot_id"

/* --- the run's -------------------------------------------------------------------------------- */

/* An empty disk: /sim, /sim/var/lib, and a boot id that each power cut changes. */
void disk_new(void);
/* All is freed. No descriptor of the disk may be open. */
void disk_reset(void);

/* Cuts the power of the server's machine: the seed chooses which unsynced changes are lost. The
 * processes that use the disk must have been killed (sched_process_kill()). Their descriptors may
 * be closed before or after. */
void disk_power_cut(void);

/* The next n syncs fail with EIO. Data of a failed sync stays readable until a power cut, and later
 * syncs succeed without that data, as in Linux. */
void disk_fail_sync(unsigned n);
/* The next n writes fail with EIO, before they change anything. */
void disk_fail_writes(unsigned n);
/* So many bytes can still be allocated; UINT64_MAX: as many as at first. */
void disk_full(uint64_t bytes);
/* Reads and syncs take `factor` times as long. 0: no time at all; 1: as at first. */
void disk_slow(unsigned factor);

/* --- the judge's ------------------------------------------------------------------------------ */

/* The file as a process of root on the server sees the file: the state in memory. Not points. */

/* Bytes read into buf, or a negative errno. */
ssize_t disk_read(const char *path, void *buf, size_t size, off_t off);
/* The same of a file, without the data that no sync has covered. */
ssize_t disk_read_safe(const char *path, void *buf, size_t size, off_t off);
/* The length of the file, or of the symbolic link itself; or a negative errno. */
off_t disk_size(const char *path);
struct inode;
/* NULL: there is no such file. */
const struct inode *disk_inode(const char *path);
/* A change by a process of root on the server: the file (made if there is none) has these bytes at
 * off. 0 or a negative errno. */
int disk_write(const char *path, const void *buf, size_t size, off_t off);
/* A new directory, as by mkdir(1) with the mode, and durable. 0 or a negative errno. */
int disk_mkdir(const char *path, mode_t mode);
/* The mode with the type; 0: there is no such file. */
mode_t disk_mode(const char *path);
/* Calls fn for each name in the directory but "." and "..", in a fixed order. 0 or a negative
 * errno. fn must not change the directory. */
int disk_list(const char *path, void (*fn)(const char *name, mode_t mode, void *ctx), void *ctx);
/* How many times the power has been cut. */
unsigned disk_power_cuts(void);
/* Inodes, and those without a name (some descriptor or the journal still has each). */
unsigned disk_inodes(unsigned *unnamed);

/* --- the simulator's own ---------------------------------------------------------------------- */

/* The time for time stamps: the simulated one in ticks of 4 ms. */
struct timespec disk_now(void);
/* Time for a read or a sync passes, by chance. Other threads run. */
void disk_delay_read(void);
void disk_delay_sync(void);
/* Does this write or sync fail? 0 or -EIO. */
int disk_write_fault(void);
int disk_sync_fault(void);
#define DISK_BLOCKS 262144ull /* of the whole disk: 1 GiB */

#endif
