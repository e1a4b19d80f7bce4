/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * handle: what a file handle of this server says, and its seal.
 *
 * A handle names an object by the identity that the file system gives it: inode number and, to tell
 * a re-used inode number, the kernel's own file handle or the time of birth. A keyed checksum
 * (SipHash 2-4) closes it: bytes that this server did not issue, for this directory, are refused
 * before anything is looked up.
 *
 * A handle that nobody may hand to the kernel, for lack of privilege or because the file system has
 * none, also says where the object was: a trail of the directories above it, 16 bits of the number
 * of each, from the exported one (which is left out) downwards. The trail tells a later run where
 * to look (seek.h); it is no part of the identity. It carries no names, so that renaming a
 * directory does not change it, and what an object was first seen under stays in its handle.
 *
 * Layout (little endian): magic 4, kernel handle type 2, its length 1, steps of the trail 1, device
 * 8 (0: that of the exported directory, so that a handle survives a new device number), inode 8,
 * birth 8, kernel handle 0..HANDLE_KH_MAX padded to 4, 2 for each step padded to 4, checksum 8.
 */
#ifndef RNFS_SERVE_EXPORT_HANDLE_H
#define RNFS_SERVE_EXPORT_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDLE_KH_MAX 24 /* bytes of a kernel handle that we carry; longer ones are not used */
#define HANDLE_MAX    64 /* NFS3_FHSIZE, RFC 1813 section 2.4; NFSv4 would allow 128 */
#define HANDLE_KEY    16
#define HANDLE_TRAIL  8 /* steps at most */
#define HANDLE_KH_FIT 8 /* a kernel handle of so many bytes leaves room for all steps */

/* The identity of an object. Compare with handle_id_equal(). */
struct handle_id {
	uint64_t dev; /* 0: the export's own file system */
	uint64_t ino;
	uint64_t birth; /* ns since the epoch, 0 when the file system does not know it */
	uint16_t kh_type;
	uint8_t kh_len; /* 0: none */
	uint8_t kh[HANDLE_KH_MAX];
};

struct handle_trail {
	uint8_t n; /* HANDLE_TRAIL: the rest of the way, if any, is not told */
	uint16_t step[HANDLE_TRAIL];
};

/* What a directory's number counts for in a trail. */
uint16_t handle_step(uint64_t ino);
/* Appends the directory ino, if there is room. */
void handle_trail_add(struct handle_trail *t, uint64_t ino);

/* Does it tell the object from a later one of the same inode number? */
bool handle_id_lasts(const struct handle_id *id);
/* Same dev, ino, and generation as far as both know it. */
int handle_id_equal(const struct handle_id *a, const struct handle_id *b);

/* Writes a handle into buf (HANDLE_MAX bytes) and returns its length. trail NULL: without one. Of a
 * trail there is as much as fits. */
uint32_t handle_seal(uint8_t *buf, const struct handle_id *id, const struct handle_trail *trail,
	const uint8_t key[HANDLE_KEY]);
/* Whose handle these bytes are, if they are one: that is not looked at. False: they are none. */
bool handle_names(const uint8_t *buf, size_t len, uint64_t *dev, uint64_t *ino);
/* Are these the same n bytes? It takes as long whether they are or not. */
bool handle_same(const uint8_t *a, const uint8_t *b, size_t n);
/* 0; -EBADMSG when the bytes were not sealed with key. Any bytes may be given. */
int handle_open(struct handle_id *id, struct handle_trail *trail, const uint8_t *buf, size_t len,
	const uint8_t key[HANDLE_KEY]);

/* SipHash 2-4 of n bytes. */
uint64_t handle_siphash(const uint8_t key[HANDLE_KEY], const void *data, size_t n);

#endif
