/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-vecs-args: arguments of every operation and arm, as structures and as bytes written by hand
 * from RFC 5662.
 */
#ifndef RNFS_TESTS_NFS4_VECS_ARGS_H
#define RNFS_TESTS_NFS4_VECS_ARGS_H

#include "nfs4-vecs.h"

static const struct nfs4_stateid two_ids[2] = {SID, SID2};
static char write_data[] = "hello";

struct args_vec {
	const char *hex;
	struct nfs4_args args;
};

static const struct args_vec args_vecs[] = {
	{"00000003 0000001f", {OP_ACCESS, .u.access = {0x1f}}},
	{"00000004 00000009 " SID_HEX, {OP_CLOSE, .u.close = {9, SID}}},
	{"00000005 00000001 00000000 00002000", {OP_COMMIT, .u.commit = {1ull << 32, 0x2000}}},
	{"00000006 00000002 " NAME_HEX MODE_HEX,
		{OP_CREATE, .u.create = {.type = NF4DIR, .name = NAME, .attrs = MODE}}},
	{"00000006 00000005 00000006 74617267 65740000 " NAME_HEX NONE_HEX,
		{OP_CREATE, .u.create = {NF4LNK, .target = {"target", 6}, .name = NAME}}},
	{"00000006 00000004 00000008 00000101 " NAME_HEX MODE_HEX,
		{OP_CREATE, .u.create = {NF4CHR, .rdev_major = 8, .rdev_minor = 257, .name = NAME,
				    .attrs = MODE}}},
	{"00000008 " SID_HEX, {OP_DELEGRETURN, .u.delegreturn = {SID}}},
	{"00000009 00000002 0010011a 00b0a23a",
		{OP_GETATTR, .u.getattr = {{{0x0010011a, 0x00b0a23a, 0}, false}}}},
	{"00000009 00000000", {OP_GETATTR, .u.getattr = {{{0}, false}}}},
	{"0000000a", {OP_GETFH, .u = {{0}}}},
	{"0000000b " NAME_HEX, {OP_LINK, .u.link = {NAME}}},
	{"0000000c 00000002 00000000 00000000 00000064 ffffffff ffffffff 00000001 00000003 " SID_HEX
	 "00000004 " OWN_HEX,
		{OP_LOCK, .u.lock = {WRITE_LT, false, 100, NFS4_LENGTH_EOF, true, .open_seqid = 3,
				  .open_stateid = SID, .lock_seqid = 4, .owner = OWN}}},
	{"0000000c 00000001 00000001 00000000 00000000 00000000 00000001 00000000 " SID2_HEX
	 "00000004",
		{OP_LOCK, .u.lock = {READ_LT, true, 0, 1, false, .lock_stateid = SID2,
				  .lock_seqid = 4}}},
	{"0000000d 00000001 00000000 00000002 00000000 00000003 " OWN_HEX,
		{OP_LOCKT, .u.lockt = {READ_LT, 2, 3, OWN}}},
	{"0000000e 00000002 00000005 " SID_HEX "00000000 00000002 00000000 00000003",
		{OP_LOCKU, .u.locku = {WRITE_LT, 5, SID, 2, 3}}},
	{"0000000f " NAME_HEX, {OP_LOOKUP, .u.lookup = {NAME}}},
	{"00000010", {OP_LOOKUPP, .u = {{0}}}},
	{"00000011 " MODE_HEX, {OP_NVERIFY, .u.verify = {MODE}}},
	/* OPEN: every claim, every way to create */
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000000 " NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 1,
				  .owner = OWN,
				  .claim = CLAIM_NULL,
				  .name = NAME}}},
	{"00000012 00000000 00000002 00000003 " OWN_HEX "00000001 00000000 " MODE_HEX
	 "00000000 " NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 2,
				  .share_deny = 3,
				  .owner = OWN,
				  .create = true,
				  .mode = UNCHECKED4,
				  .attrs = MODE,
				  .name = NAME}}},
	{"00000012 00000000 00000003 00000000 " OWN_HEX "00000001 00000001 " NONE_HEX
	 "00000001 00000002",
		{OP_OPEN, .u.open = {.share_access = 3,
				  .owner = OWN,
				  .create = true,
				  .mode = GUARDED4,
				  .claim = CLAIM_PREVIOUS,
				  .deleg_type = OPEN_DELEGATE_WRITE}}},
	{"00000012 00000000 00000003 00000000 " OWN_HEX "00000001 00000002 " VERF_HEX
	 "00000002 " SID_HEX NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 3,
				  .owner = OWN,
				  .create = true,
				  .mode = EXCLUSIVE4,
				  .verf = VERF,
				  .claim = CLAIM_DELEGATE_CUR,
				  .deleg = SID,
				  .name = NAME}}},
	{"00000012 00000000 00000103 00000000 " OWN_HEX "00000001 00000003 " VERF_HEX MODE_HEX
	 "00000003 " NAME_HEX,
		{OP_OPEN, .u.open = {.share_access = 0x103,
				  .owner = OWN,
				  .create = true,
				  .mode = EXCLUSIVE4_1,
				  .verf = VERF,
				  .attrs = MODE,
				  .claim = CLAIM_DELEGATE_PREV,
				  .name = NAME}}},
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000004",
		{OP_OPEN, .u.open = {.share_access = 1, .owner = OWN, .claim = CLAIM_FH}}},
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000005 " SID2_HEX,
		{OP_OPEN, .u.open = {.share_access = 1,
				  .owner = OWN,
				  .claim = CLAIM_DELEG_CUR_FH,
				  .deleg = SID2}}},
	{"00000012 00000000 00000001 00000000 " OWN_HEX "00000000 00000006",
		{OP_OPEN,
			.u.open = {.share_access = 1, .owner = OWN, .claim = CLAIM_DELEG_PREV_FH}}},
	{"00000015 " SID_HEX "00000002 00000001 00000000",
		{OP_OPEN_DOWNGRADE, .u.open_downgrade = {SID, 2, 1, 0}}},
	{"00000016 " FH_HEX, {OP_PUTFH, .u.putfh = {FH}}},
	{"00000017", {OP_PUTPUBFH, .u = {{0}}}},
	{"00000018", {OP_PUTROOTFH, .u = {{0}}}},
	{"00000019 " SID_HEX "00000000 00001000 00100000",
		{OP_READ, .u.read = {SID, 4096, 1u << 20}}},
	{"0000001a 00000000 00000003 " VERF_HEX "00000100 00008000 00000001 00000802",
		{OP_READDIR, .u.readdir = {3, VERF, 256, 32768, {{0x802, 0, 0}, false}}}},
	{"0000001b", {OP_READLINK, .u = {{0}}}},
	{"0000001c " NAME_HEX, {OP_REMOVE, .u.remove = {NAME}}},
	{"0000001d 00000003 6f6c6400 00000005 6e65772e 32000000",
		{OP_RENAME, .u.rename = {{"old", 3}, {"new.2", 5}}}},
	{"0000001f", {OP_RESTOREFH, .u = {{0}}}},
	{"00000020", {OP_SAVEFH, .u = {{0}}}},
	{"00000021 " NAME_HEX, {OP_SECINFO, .u.secinfo = {NAME}}},
	{"00000022 " SID_HEX MODE_HEX, {OP_SETATTR, .u.setattr = {SID, MODE}}},
	{"00000025 " MODE_HEX, {OP_VERIFY, .u.verify = {MODE}}},
	{"00000026 " SID_HEX "00000000 00001000 00000002 00000005 68656c6c 6f000000",
		{OP_WRITE, .u.write = {SID, 4096, FILE_SYNC4, {write_data, 5, NULL}}}},
	{"00000028 40000000 00000002 00000000 00000001 00000000 00000004 686f7374 000003e8 "
	 "00000064 "
	 "00000002 00000064 00000065",
		{OP_BACKCHANNEL_CTL, .u.backchannel_ctl = {0x40000000, 2,
					     {{.flavor = NFS4_AUTH_NONE},
						     {.flavor = NFS4_AUTH_SYS,
							     .machine = {"host", 4},
							     .sys = {RPC_AUTH_SYS, 1000, 100, 2,
								     {100, 101}}}}}}},
	{"00000029 " SESS_HEX "00000007 00000001",
		{OP_BIND_CONN_TO_SESSION,
			.u.bind_conn_to_session = {SESS, CDFC4_BACK_OR_BOTH, true}}},
	{"0000002a " VERF_HEX "00000003 69643100 00000103 00000000 00000000",
		{OP_EXCHANGE_ID, .u.exchange_id = {.verf = VERF,
					 .ownerid = {(const uint8_t *)"id1", 3},
					 .flags = 0x103}}},
	{"0000002a " VERF_HEX "00000003 69643100 00000103 "
	 "00000001 00000002 00000000 00000001 00000001 00000010 "
	 "00000001 00000003 6f726700 00000004 6e616d65 00000000 5f5e1000 0000000a",
		{OP_EXCHANGE_ID, .u.exchange_id = {.verf = VERF,
					 .ownerid = {(const uint8_t *)"id1", 3},
					 .flags = 0x103,
					 .protect = SP4_MACH_CRED,
					 .must_enforce = {{0, 1, 0}, false},
					 .must_allow = {{16, 0, 0}, false},
					 .impl = {true, {"org", 3}, NAME, {0x5f5e1000, 10}}}}},
	{"0000002b 01020304 05060708 00000001 00000003 " CHAN_HEX BACK_HEX
	 "40000000 00000001 00000006 00000001 00000002 61620000 00000003 63646500",
		{OP_CREATE_SESSION,
			.u.create_session = {0x0102030405060708, 1, 3, CHAN, BACK, 0x40000000, 1,
				{{.flavor = NFS4_RPCSEC_GSS,
					.gss_service = 1,
					.gss_from_server = {(const uint8_t *)"ab", 2},
					.gss_from_client = {(const uint8_t *)"cde", 3}}}}}},
	{"0000002c " SESS_HEX, {OP_DESTROY_SESSION, .u.destroy_session = {SESS}}},
	{"0000002d " SID_HEX, {OP_FREE_STATEID, .u.free_stateid = {SID}}},
	{"00000034 00000001", {OP_SECINFO_NO_NAME, .u.secinfo_no_name = {SECINFO_STYLE4_PARENT}}},
	{"00000035 " SESS_HEX "0000002a 00000003 0000003f 00000001",
		{OP_SEQUENCE, .u.sequence = {SESS, 42, 3, 63, true}}},
	{"00000037 00000002 " SID_HEX SID2_HEX,
		{OP_TEST_STATEID, .u.test_stateid = {2, two_ids, NULL}}},
	{"00000039 01020304 05060708",
		{OP_DESTROY_CLIENTID, .u.destroy_clientid = {0x0102030405060708}}},
	{"0000003a 00000001", {OP_RECLAIM_COMPLETE, .u.reclaim_complete = {true}}},
};

#endif
