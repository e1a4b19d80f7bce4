/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * handle: the contents of the server's file handles, and the seal.
 *
 * A handle names an object by the identity that the file system gives: the inode number and, to
 * tell a re-used inode number, the kernel's own file handle or the time of birth. A keyed checksum
 * (SipHash 2-4) ends the handle. The server refuses bytes not issued for this directory before any
 * look-up.
 *
 * Some handles cannot be given to the kernel, because the server lacks the privilege or the file
 * system has no handles. Such a handle also has a trail, which says where the object was: 16 bits
 * of the inode number of each directory above the object, downwards from the exported directory,
 * which is left out. A later run looks for the object along the trail (seek.h), which is no part of
 * the identity. The trail has no names, so that renaming a directory does not change it. An
 * object's handle keeps the trail under which the object was first seen.
 *
 * Layout (little endian): magic 4, kernel handle type 2, kernel handle length 1, steps of the trail
 * 1, device 8 (0: that of the exported directory, so that a handle survives a new device number),
 * inode 8, birth 8, kernel handle 0..HANDLE_KH_MAX padded to 4, 2 for each step padded to 4,
 * checksum 8.
 */
#ifndef RNFS_SERVE_EXPORT_HANDLE_H
#define RNFS_SERVE_EXPORT_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDLE_KH_MAX 24 /* bytes of a kernel handle; longer kernel handles are not used */
#define HANDLE_MAX    64 /* NFS3_FHSIZE, RFC 1813 section 2.4; NFSv4 would allow 128 */
#define HANDLE_KEY    16
#define HANDLE_TRAIL  8 /* most steps */
#define HANDLE_KH_FIT 8 /* a kernel handle of at most so many bytes leaves room for all steps */

/* The identity of an object. Compare with handle_id_equal(). */
struct handle_id {
	uint64_t dev; /* 0: the export's own file system */
	uint64_t ino;
	uint64_t birth; /* ns since the epoch; 0: the file system does not tell */
	uint16_t kh_type;
	uint8_t kh_len; /* 0: none */
	uint8_t kh[HANDLE_KH_MAX];
};

struct handle_trail {
	uint8_t n; /* HANDLE_TRAIL: the way may go on, without a record of the rest */
	uint16_t step[HANDLE_TRAIL];
};

/* The step for the directory with inode number ino. */
uint16_t handle_step(uint64_t ino);
/* Appends the directory ino if there is room. */
void handle_trail_add(struct handle_trail *t, uint64_t ino);

/* Does id differ from that of a later object with the same inode number? */
bool handle_id_lasts(const struct handle_id *id);
/* Are dev and ino the same, and the kernel handle? The time of birth decides if neither has a
 * kernel handle. */
int handle_id_equal(const struct handle_id *a, const struct handle_id *b);

/* Writes a handle into buf (HANDLE_MAX bytes) and returns its length. trail NULL: no trail. A long
 * trail is cut to the room. */
uint32_t handle_seal(uint8_t *buf, const struct handle_id *id, const struct handle_trail *trail,
	const uint8_t key[HANDLE_KEY]);
/* Reads the device and inode number from a handle, without a check of the seal. False: the bytes
 * are no handle. */
bool handle_names(const uint8_t *buf, size_t len, uint64_t *dev, uint64_t *ino);
/* Are the n bytes at a and b the same? Takes the same time for either answer. */
bool handle_same(const uint8_t *a, const uint8_t *b, size_t n);
/* Checks the seal and reads a handle. 0; -EBADMSG: the bytes were not sealed with key. Any bytes
 * may be given. */
int handle_open(struct handle_id *id, struct handle_trail *trail, const uint8_t *buf, size_t len,
	const uint8_t key[HANDLE_KEY]);

/* SipHash 2-4 of n bytes. */
uint64_t handle_siphash(const uint8_t key[HANDLE_KEY], const void *data, size_t n);

#endif
