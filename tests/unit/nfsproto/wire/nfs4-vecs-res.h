/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-vecs-res: results of every operation and arm, as structures and as bytes written by hand
 * from RFC 5662, RFC 7863 and RFC 8276.
 */
#ifndef RNFS_TESTS_NFS4_VECS_RES_H
#define RNFS_TESTS_NFS4_VECS_RES_H

#include "tests/unit/nfsproto/wire/nfs4-vecs.h"

static char read_data[] = "hello";
static const uint32_t two_codes[2] = {NFS4_OK, NFS4ERR_BAD_STATEID};
static const uint8_t two_names[16] = {0, 0, 0, 1, 'a', 0, 0, 0, 0, 0, 0, 2, 'b', 'b', 0, 0};

struct res_vec {
	const char *hex;
	struct any_res res;
};

static const struct res_vec res_vecs[] = {
	{"00000003 00000000 0000003f 0000001f", {OP_ACCESS, 0, .u.access = {0x3f, 0x1f}}},
	{"00000003 00000046", {OP_ACCESS, NFS4ERR_STALE, .u = {{0}}}},
	{"00000004 00000000 " SID_HEX, {OP_CLOSE, 0, .u.stateid = {SID}}},
	{"00000005 00000000 " VERF_HEX, {OP_COMMIT, 0, .u.commit = {VERF}}},
	{"00000006 00000000 " CINFO_HEX "00000002 00000000 00000002",
		{OP_CREATE, 0, .u.create = {CINFO, {{0, 2, 0}, false}}}},
	{"00000008 00000000", {OP_DELEGRETURN, 0, .u = {{0}}}},
	{"00000009 00000000 " MODE_HEX, {OP_GETATTR, 0, .u.getattr = {MODE}}},
	{"0000000a 00000000 00000003 01020300", {OP_GETFH, 0, .u.getfh = {{3, {1, 2, 3}}}}},
	{"0000000b 00000000 " CINFO_HEX, {OP_LINK, 0, .u.change = {CINFO}}},
	{"0000000c 00000000 " SID_HEX, {OP_LOCK, 0, .u.lock = {.stateid = SID}}},
	{"0000000c 0000271a " DENY_HEX, {OP_LOCK, NFS4ERR_DENIED, .u.lock = {.denied = DENY}}},
	{"0000000c 00002720", {OP_LOCK, NFS4ERR_WRONGSEC, .u = {{0}}}},
	{"0000000d 00000000", {OP_LOCKT, 0, .u = {{0}}}},
	{"0000000d 0000271a " DENY_HEX, {OP_LOCKT, NFS4ERR_DENIED, .u.lockt = {DENY}}},
	{"0000000e 00000000 " SID_HEX, {OP_LOCKU, 0, .u.stateid = {SID}}},
	{"0000000f 00000002", {OP_LOOKUP, NFS4ERR_NOENT, .u = {{0}}}},
	/* OPEN: every delegation */
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000024 00000002 00000010 00000002 00000000",
		{OP_OPEN, 0, .u.open = {SID, CINFO, 0x24, {{16, 2, 0}, false}, {.type = 0}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000001 " SID_HEX
	 "00000001 " ACE_HEX,
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_READ,
					.stateid = SID,
					.recall = true,
					.permissions = ACE}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000002 " SID_HEX
	 "00000000 00000001 00000001 00000000 " ACE_HEX,
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_WRITE,
					.stateid = SID,
					.limit_by = NFS_LIMIT_SIZE,
					.limit_size = 1ull << 32,
					.permissions = ACE}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000002 " SID_HEX
	 "00000000 00000002 00000005 00001000 " ACE_HEX,
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_WRITE,
					.stateid = SID,
					.limit_by = NFS_LIMIT_BLOCKS,
					.limit_blocks = 5,
					.limit_block_size = 4096,
					.permissions = ACE}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000003 00000001 00000001",
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_NONE_EXT,
					.why = WND4_CONTENTION,
					.server_will = true}}}},
	{"00000012 00000000 " SID_HEX CINFO_HEX "00000004 00000000 00000003 00000008",
		{OP_OPEN, 0,
			.u.open = {SID, CINFO, 4, {{0}, false},
				{.type = OPEN_DELEGATE_NONE_EXT, .why = WND4_IS_DIR}}}},
	{"00000012 0000000d", {OP_OPEN, NFS4ERR_ACCESS, .u = {{0}}}},
	{"00000015 00000000 " SID_HEX, {OP_OPEN_DOWNGRADE, 0, .u.stateid = {SID}}},
	{"00000019 00000000 00000001 00000005 68656c6c 6f000000",
		{OP_READ, 0, .u.read = {true, SEG_LIST_MEM(read_data, 5)}}},
	{"00000019 00000000 00000000 00000000",
		{OP_READ, 0, .u.read = {false, SEG_LIST_MEM(read_data, 0)}}},
	{"00000019 00000005", {OP_READ, NFS4ERR_IO, .u = {{0}}}},
	{"0000001b 00000000 00000005 68656c6c 6f000000",
		{OP_READLINK, 0, .u.readlink = {{read_data, 5}, {0}}}},
	{"0000001c 00000000 " CINFO_HEX, {OP_REMOVE, 0, .u.change = {CINFO}}},
	{"0000001d 00000000 " CINFO_HEX "00000000 00000000 00000003 00000000 00000004",
		{OP_RENAME, 0, .u.rename = {CINFO, {false, 3, 4}}}},
	{"00000021 00000000 00000003 00000001 00000006 00000003 2a864800 00000000 00000002 "
	 "00000000",
		{OP_SECINFO, 0,
			.u.secinfo = {3,
				{{.flavor = 1}, {6, {(const uint8_t *)"\x2a\x86\x48", 3}, 0, 2},
					{.flavor = 0}}}}},
	{"00000034 00000000 00000001 00000001",
		{OP_SECINFO_NO_NAME, 0, .u.secinfo = {1, {{.flavor = 1}}}}},
	{"00000022 00000000 00000001 00000010",
		{OP_SETATTR, 0, .u.setattr = {{{16, 0, 0}, false}}}},
	{"00000022 0000001b 00000000", {OP_SETATTR, NFS4ERR_FBIG, .u = {{0}}}},
	{"00000026 00000000 00001000 00000002 " VERF_HEX,
		{OP_WRITE, 0, .u.write = {4096, FILE_SYNC4, VERF}}},
	{"00000028 00000000", {OP_BACKCHANNEL_CTL, 0, .u = {{0}}}},
	{"00000029 00000000 " SESS_HEX "00000003 00000000",
		{OP_BIND_CONN_TO_SESSION, 0, .u.bind_conn_to_session = {SESS, CDFS4_BOTH, false}}},
	{"0000002a 00000000 01020304 05060708 00000001 80010001 00000000 "
	 "00000000 00000009 00000002 736f0000 00000005 73636f70 65000000 00000000",
		{OP_EXCHANGE_ID, 0,
			.u.exchange_id = {.clientid = 0x0102030405060708,
				.sequenceid = 1,
				.flags = 0x80010001,
				.server_minor_id = 9,
				.server_major_id = {(const uint8_t *)"so", 2},
				.server_scope = {(const uint8_t *)"scope", 5}}}},
	{"0000002a 00000000 01020304 05060708 00000001 00010001 00000001 00000001 00000001 "
	 "00000000 "
	 "00000000 00000009 00000000 00000000 "
	 "00000001 00000001 64000000 00000001 6e000000 00000000 00000001 00000002",
		{OP_EXCHANGE_ID, 0,
			.u.exchange_id = {.clientid = 0x0102030405060708,
				.sequenceid = 1,
				.flags = 0x10001,
				.protect = SP4_MACH_CRED,
				.must_enforce = {{1, 0, 0}, false},
				.server_minor_id = 9,
				.impl = {true, {"d", 1}, {"n", 1}, {1, 2}}}}},
	{"0000002b 00000000 " SESS_HEX "00000001 00000002 " CHAN_HEX BACK_HEX,
		{OP_CREATE_SESSION, 0, .u.create_session = {SESS, 1, 2, CHAN, BACK}}},
	{"00000035 00000000 " SESS_HEX "0000002a 00000003 0000003f 0000003e 00000100",
		{OP_SEQUENCE, 0, .u.sequence = {SESS, 42, 3, 63, 62, 0x100}}},
	{"00000037 00000000 00000002 00000000 00002729",
		{OP_TEST_STATEID, 0, .u.test_stateid = {2, two_codes, NULL}}},
	/* NFSv4.2 */
	{"0000003b 0000001c", {OP_ALLOCATE, NFS4ERR_NOSPC, .u = {{0}}}},
	{"0000003e 00000000", {OP_DEALLOCATE, 0, .u = {{0}}}},
	{"0000003c 00000000 00000000 00000001 00000000 00000000 " VERF_HEX "00000001 00000001",
		{OP_COPY, 0,
			.u.copy = {{.count = 1ull << 32, .committed = UNSTABLE4, .verf = VERF},
				true, true}}},
	{"0000003c 00000000 00000001 " SID_HEX "00000000 00000000 00000002 " VERF_HEX
	 "00000001 00000000",
		{OP_COPY, 0, .u.copy = {{true, SID, 0, FILE_SYNC4, VERF}, true, false}}},
	{"0000003c 0000276e 00000000 00000001",
		{OP_COPY, NFS4ERR_OFFLOAD_NO_REQS, .u.copy = {.synchronous = true}}},
	{"0000003c 00002714", {OP_COPY, NFS4ERR_NOTSUPP, .u = {{0}}}},
	{"0000003f 00000000 00000001 00000004",
		{OP_IO_ADVISE, 0, .u.io_advise = {{{4, 0, 0}, false}}}},
	{"00000042 00002729", {OP_OFFLOAD_CANCEL, NFS4ERR_BAD_STATEID, .u = {{0}}}},
	{"00000043 00000000 00000000 00010000 00000000",
		{OP_OFFLOAD_STATUS, 0, .u.offload_status = {65536, false, 0}}},
	{"00000043 00000000 00000000 00010000 00000001 00000005",
		{OP_OFFLOAD_STATUS, 0, .u.offload_status = {65536, true, NFS4ERR_IO}}},
	{"00000044 00000000 00000001 00000002 00000000 00000000 00001000 00000005 68656c6c "
	 "6f000000 00000001 00000000 00001005 00000001 00000000",
		{OP_READ_PLUS, 0,
			.u.read_plus = {{true, 2},
				{{NFS4_CONTENT_DATA, 4096, 0, SEG_LIST_MEM(read_data, 5)},
					{NFS4_CONTENT_HOLE, 4101, 1ull << 32, {0}}}}}},
	{"00000044 00000000 00000001 00000000",
		{OP_READ_PLUS, 0, .u.read_plus = {.head = {true, 0}}}},
	{"00000044 00002714", {OP_READ_PLUS, NFS4ERR_NOTSUPP, .u = {{0}}}},
	{"00000045 00000000 00000001 00000002 00000000",
		{OP_SEEK, 0, .u.seek = {true, 1ull << 33}}},
	{"00000045 00000006", {OP_SEEK, NFS4ERR_NXIO, .u = {{0}}}},
	{"00000047 00000000", {OP_CLONE, 0, .u = {{0}}}},
	{"00000048 00000000 00000005 68656c6c 6f000000",
		{OP_GETXATTR, 0, .u.getxattr = {{(const uint8_t *)read_data, 5}}}},
	{"00000048 0000276f", {OP_GETXATTR, NFS4ERR_NOXATTR, .u = {{0}}}},
	{"00000049 00000000 " CINFO_HEX, {OP_SETXATTR, 0, .u.change = {CINFO}}},
	{"0000004a 00000000 00000001 00000002 00000002 00000001 61000000 00000002 62620000 "
	 "00000001",
		{OP_LISTXATTRS, 0,
			.u.listxattrs = {0x100000002, 2, {two_names, sizeof(two_names)}, true}}},
	{"0000004a 00002715", {OP_LISTXATTRS, NFS4ERR_TOOSMALL, .u = {{0}}}},
	{"0000004b 00000000 " CINFO_HEX, {OP_REMOVEXATTR, 0, .u.change = {CINFO}}},
};

#endif
