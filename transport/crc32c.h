/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crc32c: the Castagnoli CRC that MPA puts behind each FPDU (RFC 5044 section 4.4, RFC 3720
 * section 12.1).
 *
 * The value is the usual reflected one: crc32c(0, "123456789", 9) is 0xe3069283. On the wire MPA
 * carries it with its least significant byte first.
 */
#ifndef RNFS_TRANSPORT_CRC32C_H
#define RNFS_TRANSPORT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of len more bytes; crc is the CRC of the bytes before them (0 at the start). Any
 * thread. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* The same by table, on any processor: for tests and for comparison. */
uint32_t crc32c_table(uint32_t crc, const void *data, size_t len);

/* Which one crc32c() uses: "sse4.2", "armv8" or "table". */
const char *crc32c_impl(void);

#endif
