/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-vecs: words that make up the vectors of NFSv4 arguments and results: X_HEX is the wire form
 * of X.
 */
#ifndef RNFS_TESTS_NFS4_VECS_H
#define RNFS_TESTS_NFS4_VECS_H

#include "tests/unit/nfsproto/wire/nfs4-any.h"

static const uint8_t mode_val[4] = {0, 0, 1, 0xa4};

/* clang-format off */
#define SID_HEX	  "00000007 a0a1a2a3 a4a5a6a7 a8a9aaab "
#define SID	  {7, {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab}}
#define SID2_HEX  "00000008 b0b1b2b3 b4b5b6b7 b8b9babb "
#define SID2	  {8, {0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb}}
#define SESS_HEX  "10111213 14151617 18191a1b 1c1d1e1f "
#define SESS	  {{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, \
		    0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f}}
#define VERF_HEX  "c0c1c2c3 c4c5c6c7 "
#define VERF	  {0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7}
#define OWN_HEX	  "01020304 05060708 00000005 6f776e65 72000000 "
#define OWN	  {0x0102030405060708, {(const uint8_t *)"owner", 5}}
#define MODE_HEX  "00000002 00000000 00000002 00000004 000001a4 "
#define MODE	  {{{0, 2, 0}, false}, {mode_val, 4}}
#define NONE_HEX  "00000000 00000000 " /* a fattr4 of nothing */
#define NAME_HEX  "00000004 6e616d65 "
#define NAME	  {"name", 4}
#define FH_HEX	  "00000005 01020304 05000000 "
#define FH	  {.len = 5, .data = {1, 2, 3, 4, 5}}
#define CINFO_HEX "00000001 00000000 00000001 00000000 00000002 "
#define CINFO	  {true, 1, 2}
#define ACE_HEX	  "00000000 00000001 00000003 00000006 4f574e45 52400000 "
#define ACE	  {0, 1, 3, {"OWNER@", 6}}
#define DENY_HEX  "00000000 00000064 00000000 0000000a 00000002 " OWN_HEX
#define DENY	  {100, 10, WRITE_LT, OWN}
#define CHAN_HEX  "00000000 00100400 00100800 00001000 00000008 00000040 00000001 00000010 "
#define CHAN	  {0, 0x100400, 0x100800, 0x1000, 8, 64, true, 16}
#define BACK_HEX  "00000000 00000fe4 00000fe4 00000000 00000002 00000001 00000000 "
#define BACK	  {0, 0xfe4, 0xfe4, 0, 2, 1, false, 0}
#define DEV_HEX	  "d0d1d2d3 d4d5d6d7 d8d9dadb dcdddedf "
#define DEV	  {{0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, \
		    0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf}}
#define BODY_HEX  "00000006 626f6479 21210000 "
#define BODY	  {(const uint8_t *)"body!!", 6}
/* clang-format on */

#endif
