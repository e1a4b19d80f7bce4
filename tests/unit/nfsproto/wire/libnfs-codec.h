/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * libnfs-codec: NFSv4.0 COMPOUNDs through the coders of libnfs, an independent implementation. In a
 * separate file, because the header of libnfs and ours give the same names to the protocol's
 * numbers.
 */
#ifndef RNFS_TESTS_LIBNFS_CODEC_H
#define RNFS_TESTS_LIBNFS_CODEC_H

#include <stddef.h>
#include <stdint.h>

/* Decodes a COMPOUND's arguments (results) and encodes them to out. Returns the bytes written, 0 if
 * libnfs refuses or does not read all of in. */
size_t libnfs_args_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap);
size_t libnfs_res_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap);

/* The first operation of a COMPOUND as libnfs understands it ... */
struct libnfs_open { /* an OPEN: UNCHECKED, by name */
	uint32_t share_access, share_deny, name_len;
	uint64_t clientid;
	char name[32];
};
struct libnfs_read { /* a READ */
	uint32_t seqid, count;
	uint64_t offset;
};
struct libnfs_write_res { /* the result of a WRITE */
	uint32_t count, committed;
	uint8_t verf[8];
};
int libnfs_get_open(const uint8_t *in, size_t n, struct libnfs_open *o);
int libnfs_get_read(const uint8_t *in, size_t n, struct libnfs_read *r);
int libnfs_get_write_res(const uint8_t *in, size_t n, struct libnfs_write_res *w);

#endif
