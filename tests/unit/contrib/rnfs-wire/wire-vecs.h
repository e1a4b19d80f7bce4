/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Messages of every dialect of RPC-over-RDMA in words of 32 bits, from the XDR of the drafts, and
 * the words of rnfs-wire about each message.
 */
#ifndef RNFS_TESTS_UNIT_WIRE_VECS_H
#define RNFS_TESTS_UNIT_WIRE_VECS_H

#include "contrib/rnfs-wire/header.h"

struct wire_vec {
	enum header_dialect dialect;
	enum header_verdict verdict;
	const uint32_t *words;
	unsigned n;
	const char *says;
	size_t whole_at;   /* length of a beginning that is a whole message itself */
	const char *found; /* the name if the dialect is not given; NULL: the same */
	bool guessed;	   /* ... and the dialect cannot be known */
};

#define XID 0x11223344
#define WORDS(...)                                                                                 \
	.words = (const uint32_t[]){__VA_ARGS__},                                                  \
	.n = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
/* The beginning of an RPC message, whole enough for a transport. */
#define CALL   XID, 0, 2, 100003, 4, 1, 0, 0, 0, 0
#define CALL3  XID, 0, 2, 100003, 3, 7, 0, 0, 0, 0
#define REPLY  XID, 1, 0, 0, 0, 0
#define DENIED XID, 1, 1, 0, 2, 2

/* clang-format off */
static const struct wire_vec wire_vecs[] = {
	{HEADER_V1, HEADER_OK, /* RFC 8166: RDMA_MSG */
		WORDS(XID, 1, 32, 0, 0, 0, 0, CALL),
		.says = "version 1, RDMA_MSG, call, xid 0x11223344, 68 bytes\n"
			"    credits: 32\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"},
	{HEADER_V1, HEADER_OK,
		WORDS(XID, 1, 32, 0, 0, 0, 0, REPLY),
		.says = "version 1, RDMA_MSG, reply, xid 0x11223344, 52 bytes\n"
			"    credits: 32\n"
			"    RPC reply, 24 bytes: accepted, SUCCESS (0)\n"},
	{HEADER_V1, HEADER_OK,
		WORDS(XID, 1, 32, 0, 0, 0, 0, DENIED),
		.says = "version 1, RDMA_MSG, reply, xid 0x11223344, 52 bytes\n"
			"    credits: 32\n"
			"    RPC reply, 24 bytes: denied (0)\n"},
	{HEADER_V1, HEADER_OK, /* all lists */
		WORDS(XID, 1, 32, 0, 1, 148, 2748, 4096, 1, 8192, 1, 148, 2749, 100, 0, 0, 0, 1, 2,
			1, 2, 0, 3, 4, 5, 0, 6, 1, 0, 0, 1, 1, 7, 8, 0, 9, CALL3),
		.says = "version 1, RDMA_MSG, call, xid 0x11223344, 184 bytes\n"
			"    credits: 32\n"
			"    Read, position 148: handle 0x00000abc, 4096 bytes at 0x100002000\n"
			"    Read, position 148: handle 0x00000abd, 100 bytes at 0x0\n"
			"    Write chunk 1:\n"
			"        segment: handle 0x00000001, 2 bytes at 0x3\n"
			"        segment: handle 0x00000004, 5 bytes at 0x6\n"
			"    Write chunk 2:\n"
			"        empty\n"
			"    Reply chunk:\n"
			"        segment: handle 0x00000007, 8 bytes at 0x9\n"
			"    RPC call, 40 bytes: NFS (100003) version 3, WRITE (7)\n"},
	{HEADER_V1, HEADER_OK, /* RDMA_NOMSG: a long call */
		WORDS(XID, 1, 32, 1, 1, 0, 2748, 9000, 0, 0, 0, 0, 0),
		.says = "version 1, RDMA_NOMSG, xid 0x11223344, 52 bytes\n"
			"    credits: 32\n"
			"    Read, position 0: handle 0x00000abc, 9000 bytes at 0x0\n"},
	{HEADER_V1, HEADER_OK, /* a long reply */
		WORDS(XID, 1, 32, 1, 0, 0, 1, 1, 2748, 9000, 0, 0),
		.says = "version 1, RDMA_NOMSG, xid 0x11223344, 48 bytes\n"
			"    credits: 32\n"
			"    Reply chunk:\n"
			"        segment: handle 0x00000abc, 9000 bytes at 0x0\n"},
	{HEADER_V1, HEADER_OK, /* RDMA_ERROR */
		WORDS(XID, 1, 32, 4, 1, 1, 2),
		.says = "version 1, RDMA_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    credits: 32\n"
			"    ERR_VERS: versions 1 to 2 are spoken\n"},
	{HEADER_V1, HEADER_OK,
		WORDS(XID, 1, 32, 4, 2),
		.says = "version 1, RDMA_ERROR, reply, xid 0x11223344, 20 bytes\n"
			"    credits: 32\n"
			"    ERR_CHUNK: the header could not be used\n"},
	{HEADER_V1, HEADER_UNKNOWN,
		WORDS(XID, 1, 32, 4, 9),
		.says = "version 1, RDMA_ERROR, reply, xid 0x11223344, 20 bytes\n"
			"    credits: 32\n"
			"    error 9, which is not known\n"},
	{HEADER_V1, HEADER_UNKNOWN,
		WORDS(XID, 1, 32, 6, 0),
		.says = "version 1, unknown type 6, xid 0x11223344, 20 bytes\n"
			"    credits: 32\n"},
	{HEADER_V1, HEADER_WRONG, /* an invalid list */
		WORDS(XID, 1, 32, 0, 2, 0, 0, CALL),
		.says = "version 1, RDMA_MSG, xid 0x11223344, 68 bytes\n"
			"    credits: 32\n"
			"    wrong: the Read list: the word that says whether an item is there is neither 0 nor 1\n"},
	{HEADER_V1, HEADER_WRONG, /* more segments than there are */
		WORDS(XID, 1, 32, 0, 0, 1, 0x10000000, 0, 0, CALL),
		.says = "version 1, RDMA_MSG, xid 0x11223344, 76 bytes\n"
			"    credits: 32\n"
			"    Write chunk 1:\n"
			"    wrong: the Write list: there are more elements than have room in it\n"},
	{HEADER_V1_LEGACY, HEADER_OK, /* 2005: RDMA_MSGP */
		WORDS(XID, 1, 32, 2, 4096, 512, 0, 0, 0, CALL),
		.says = "version 1 of 2005, RDMA_MSGP, call, xid 0x11223344, 76 bytes\n"
			"    credits: 32\n"
			"    data of more than 512 bytes is padded to a multiple of 4096\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"},
	{HEADER_V1_LEGACY, HEADER_OK, /* RDMA_DONE */
		WORDS(XID, 1, 32, 3),
		.says = "version 1 of 2005, RDMA_DONE, xid 0x11223344, 16 bytes\n"
			"    credits: 32\n"
			"    the Read chunks of the reply have been read\n"},
	{HEADER_V1_LEGACY, HEADER_OK, /* RDMA_ERROR */
		WORDS(XID, 1, 32, 4, 2, 0, 5, 0, 0, 0, 0, 0, 0),
		.says = "version 1 of 2005, RDMA_ERROR, reply, xid 0x11223344, 52 bytes\n"
			"    credits: 32\n"
			"    ERR_CHUNK: the header could not be used\n"
			"    rdma_extra[1]: 0x00000005\n"},
	{HEADER_V1_LEGACY, HEADER_OK,
		WORDS(XID, 1, 32, 4, 1, 1, 1),
		.says = "version 1 of 2005, RDMA_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    credits: 32\n"
			"    ERR_VERS: versions 1 to 1 are spoken\n",
		.found = "version 1"},
	{HEADER_V1_LEGACY, HEADER_OK, /* a reply with Read chunks */
		WORDS(XID, 1, 32, 1, 1, 0, 2748, 9000, 0, 0, 0, 0, 0),
		.says = "version 1 of 2005, RDMA_NOMSG, xid 0x11223344, 52 bytes\n"
			"    credits: 32\n"
			"    Read, position 0: handle 0x00000abc, 9000 bytes at 0x0\n",
		.found = "version 1"},
	{HEADER_V2, HEADER_OK, /* November 2019: RDMA2_MSG */
		WORDS(XID, 2, 0x400020, 0, 0, 0, 0, 0, 0, CALL),
		.says = "version 2, RDMA2_MSG, call, xid 0x11223344, 76 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"},
	{HEADER_V2, HEADER_OK, /* a reply that invalidates, with chunks */
		WORDS(XID, 2, 0x400020, 0, 1, 0xbeef, 0, 1, 1, 1, 2, 0, 3, 0, 0, REPLY),
		.says = "version 2, RDMA2_MSG, reply, xid 0x11223344, 84 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    remote invalidation: handle 0x0000beef\n"
			"    Write chunk 1:\n"
			"        segment: handle 0x00000001, 2 bytes at 0x3\n"
			"    RPC reply, 24 bytes: accepted, SUCCESS (0)\n"},
	{HEADER_V2, HEADER_OK, /* all lists */
		WORDS(XID, 2, 0x400020, 0, 0, 119, 1, 148, 2748, 4096, 1, 8192, 0, 1, 2, 1, 2, 0,
			3, 4, 5, 0, 6, 0, 1, 1, 7, 8, 0, 9, CALL),
		.says = "version 2, RDMA2_MSG, call, xid 0x11223344, 160 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    remote invalidation: handle 0x00000077\n"
			"    Read, position 148: handle 0x00000abc, 4096 bytes at 0x100002000\n"
			"    Write chunk 1:\n"
			"        segment: handle 0x00000001, 2 bytes at 0x3\n"
			"        segment: handle 0x00000004, 5 bytes at 0x6\n"
			"    Reply chunk:\n"
			"        segment: handle 0x00000007, 8 bytes at 0x9\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"},
	{HEADER_V2, HEADER_OK, /* the first of a continued message */
		WORDS(XID, 2, 0x400020, 0, 2, 0, 0, 0, 0, CALL),
		.says = "version 2, RDMA2_MSG, call, xid 0x11223344, 76 bytes\n"
			"    flags: MORE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"},
	{HEADER_V2, HEADER_OK, /* without the right to have chunks */
		WORDS(XID, 2, 0x400020, 0, 2, 0, 1, 148, 1, 2, 0, 3, 0, 0, 0, CALL),
		.says = "version 2, RDMA2_MSG, call, xid 0x11223344, 100 bytes\n"
			"    flags: MORE\n"
			"    credits: 32 granted, 64 at most\n"
			"    Read, position 148: handle 0x00000001, 2 bytes at 0x3\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"
			"    rnfs refuses this: INVAL_FLAG\n"},
	{HEADER_V2, HEADER_OK, /* RDMA2_NOMSG */
		WORDS(XID, 2, 0x400020, 1, 0, 119, 1, 0, 2748, 9000, 0, 0, 0, 0, 0),
		.says = "version 2, RDMA2_NOMSG, call, xid 0x11223344, 60 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    remote invalidation: handle 0x00000077\n"
			"    Read, position 0: handle 0x00000abc, 9000 bytes at 0x0\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 1, 1, 0, 0, 0, 1, 1, 2748, 9000, 0, 0),
		.says = "version 2, RDMA2_NOMSG, reply, xid 0x11223344, 56 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    Reply chunk:\n"
			"        segment: handle 0x00000abc, 9000 bytes at 0x0\n"},
	{HEADER_V2, HEADER_OK, /* an asynchronous grant */
		WORDS(0, 2, 0x400010, 1, 0, 0, 0, 0, 0),
		.says = "version 2, RDMA2_NOMSG, xid 0x00000000, 36 bytes\n"
			"    flags: none\n"
			"    credits: 16 granted, 64 at most\n"},
	{HEADER_V2, HEADER_OK, /* RDMA2_ERROR, every code */
		WORDS(XID, 2, 0x400020, 4, 1, 1, 1, 2),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 32 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_VERS: versions 1 to 2 are spoken\n",
		.whole_at = 28},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 2),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 24 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_BAD_XDR: the header could not be parsed\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 3),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 24 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_INVAL_HTYPE: the header type or its flags are not known\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 4),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 24 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_INVAL_FLAG: the flags may not be set here\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 5, 3),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_READ_CHUNKS: too many Read chunks; at most 3\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 6, 4),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_WRITE_CHUNKS: too many Write chunks; at most 4\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 7, 16),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_SEGMENTS: too many segments; at most 16\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 8, 2, 65536),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 32 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_WRITE_RESOURCE: Write chunk 2 is too short; bytes needed: 65536\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 9, 8192),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_REPLY_RESOURCE: the Reply chunk is too short; bytes needed: 8192\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 4, 1, 10),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 24 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    RDMA2_ERR_SYSTEM: a problem of another kind\n"},
	{HEADER_V2, HEADER_UNKNOWN,
		WORDS(XID, 2, 0x400020, 4, 1, 11),
		.says = "version 2, RDMA2_ERROR, reply, xid 0x11223344, 24 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    error 11, which is not known\n"},
	{HEADER_V2, HEADER_OK, /* of all versions */
		WORDS(XID, 2, 32, 4, 1, 1, 1),
		.says = "version 2, RDMA_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    credits: 32\n"
			"    ERR_VERS: versions 1 to 1 are spoken\n"},
	{HEADER_V2, HEADER_OK, /* RDMA2_CONNPROP, every property */
		WORDS(XID, 2, 0x400020, 5, 0, 8, 1, 4, 4096, 2, 4, 65536, 3, 4, 1048576, 4, 4, 16,
			5, 4, 2, 6, 12, 6, 0x61626364, 0x65660000, 7, 0, 5, 0),
		.says = "version 2, RDMA2_CONNPROP, xid 0x11223344, 120 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    properties: 8\n"
			"    Maximum Send Size: 4096\n"
			"    Receive Buffer Size: 65536\n"
			"    Maximum RDMA Segment Size: 1048576\n"
			"    Maximum RDMA Segment Count: 16\n"
			"    Reverse Request Support: general (2)\n"
			"    Host Authentication Message: 6 bytes\n"
			"    property 0x00000007 (unknown): 0 bytes\n"
			"    Reverse Request Support: the default\n"},
	{HEADER_V2, HEADER_WRONG, /* a property of the wrong length */
		WORDS(XID, 2, 0x400020, 5, 0, 1, 1, 8, 0, 0),
		.says = "version 2, RDMA2_CONNPROP, xid 0x11223344, 40 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    properties: 1\n"
			"    wrong: the properties: a number is not 4 bytes long\n"},
	{HEADER_V2, HEADER_WRONG, /* a property that is no opaque */
		WORDS(XID, 2, 0x400020, 5, 0, 1, 6, 4, 1),
		.says = "version 2, RDMA2_CONNPROP, xid 0x11223344, 36 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    properties: 1\n"
			"    wrong: the properties: the Host Authentication Message is no opaque\n"},
	{HEADER_V2, HEADER_WRONG, /* more words behind */
		WORDS(XID, 2, 0x400020, 5, 0, 0, 0),
		.says = "version 2, RDMA2_CONNPROP, xid 0x11223344, 28 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    properties: 0\n"
			"    wrong: the properties: something is left over behind them\n"},
	{HEADER_V2, HEADER_OK, /* unknown flags */
		WORDS(XID, 2, 0x400020, 0, 8, 0, 0, 0, 0, CALL),
		.says = "version 2, RDMA2_MSG, call, xid 0x11223344, 76 bytes\n"
			"    flags: unknown 0x00000008\n"
			"    credits: 32 granted, 64 at most\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"
			"    rnfs refuses this: INVAL_HTYPE\n"},
	{HEADER_V2, HEADER_UNKNOWN, /* an unknown type */
		WORDS(XID, 2, 0x400020, 6, 0),
		.says = "version 2, unknown type 6, xid 0x11223344, 20 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"},
	{HEADER_V2, HEADER_UNKNOWN, /* another version */
		WORDS(XID, 3, 32, 0, 0),
		.says = "unknown version, unknown type 0, xid 0x11223344, 20 bytes\n"
			"    no dialect has version number 3\n"},
	{HEADER_V2, HEADER_OK, /* the extension: properties */
		WORDS(XID, 2, 0x400020, 5, 0, 2, 0x52540001, 40, 69632, 2, 1, 4096, 0, 0, 16, 4096,
			4096, 1, 0x52540001, 0),
		.says = "version 2, RDMA2_CONNPROP, xid 0x11223344, 80 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    properties: 2\n"
			"    Receive Buffer Structure: 69632 bytes\n"
			"        1 segments of 4096 bytes, aligned to 0\n"
			"        16 segments of 4096 bytes, aligned to 4096, a target of placement\n"
			"    Receive Buffer Structure: the default\n"},
	{HEADER_V2, HEADER_WRONG, /* a Receive Buffer Structure that is too short */
		WORDS(XID, 2, 0x400020, 5, 0, 1, 0x52540001, 8, 4096, 1),
		.says = "version 2, RDMA2_CONNPROP, xid 0x11223344, 40 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    properties: 1\n"
			"    wrong: the properties: there are more elements than have room in it\n"},
	{HEADER_V2, HEADER_OK, /* Transmit Request */
		WORDS(XID, 2, 0x400020, 0x52540005, 0, 2, 148, 8192, 1, 1, 2748, 8192, 0, 0, 300,
			4096, 2, 0, 1, 1, 1, 0, 500, 5, 4096, 1, 1, 1, 2, 0, 3, 0, 2, 512, 3, 1, 4,
			5, 0, 6, 1, 4, 2048, 1, 7, 8, 0, 9, 1, 4, 100, 0, 2, 1, 40, CALL, 0,
			0x61616161),
		.says = "version 2, Transmit Request, call, xid 0x11223344, 268 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    8192 bytes of data, position 148:\n"
			"        by explicit RDMA (EXRW):\n"
			"            segment: handle 0x00000abc, 8192 bytes at 0x0\n"
			"    4096 bytes of data, position 300:\n"
			"        from byte 0 of target buffer segments (TBSN):\n"
			"            buffer segment 1\n"
			"    response to positions 0 to 500:\n"
			"        4096 bytes or more: by explicit RDMA (EXRW)\n"
			"            segment: handle 0x00000001, 2 bytes at 0x3\n"
			"        0 bytes or more: in target buffer segments (TBSN)\n"
			"        512 bytes or more: either way (CHOICE)\n"
			"            segment: handle 0x00000004, 5 bytes at 0x6\n"
			"        1 bytes or more: by its size (BYSIZE), 2048:\n"
			"            segment: handle 0x00000007, 8 bytes at 0x9\n"
			"        1 bytes or more: by its size (BYSIZE), 100:\n"
			"            empty\n"
			"    transmissions of the group: 2\n"
			"    transmissions that the response may take: 1\n"
			"    payload stream: 40 bytes in this Send\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"
			"    8 bytes behind it, padding and placed data\n"},
	{HEADER_V2, HEADER_OK, /* Transmit Response */
		WORDS(XID, 2, 0x400020, 0x52540006, 1, 4, 100, 4096, 2, 16, 2, 3, 4, 200, 0, 5,
			300, 0, 6, 400, 10, 1, 0, 1, 24, REPLY),
		.says = "version 2, Transmit Response, reply, xid 0x11223344, 124 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    4096 bytes of data, position 100:\n"
			"        from byte 16 of target buffer segments (TBSN):\n"
			"            buffer segment 3\n"
			"            buffer segment 4\n"
			"    0 bytes of data, position 200:\n"
			"        in the message, too short to be placed (TOOSHORT)\n"
			"    0 bytes of data, position 300:\n"
			"        there is no such item (NOITEM)\n"
			"    10 bytes of data, position 400:\n"
			"        by explicit RDMA (EXRW):\n"
			"            empty\n"
			"    transmissions of the group: 1\n"
			"    payload stream: 24 bytes in this Send\n"
			"    RPC reply, 24 bytes: accepted, SUCCESS (0)\n"},
	{HEADER_V2, HEADER_OK, /* Transmit Continue */
		WORDS(XID, 2, 0x400020, 0x52540007, 0, 1, 5, 8, 0x61616161, 0x62626262),
		.says = "version 2, Transmit Continue, continued, xid 0x11223344, 40 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    transmission 1 of a group that began with a Transmit Request (5)\n"
			"    payload stream: 8 bytes in this Send\n"
			"    8 bytes more of the message\n"},
	{HEADER_V2, HEADER_OK, /* Report Error, every code */
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 0, 1, 0, 5),
		.says = "version 2, Report Error, reply, xid 0x11223344, 48 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    OPTRERR_BADHMT, header type: 0x0 was expected, 0x5 is there\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 2, 7, 5),
		.says = "version 2, Report Error, reply, xid 0x11223344, 60 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADOMT, operation: 0x7 was expected, 0x5 is there\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 3),
		.says = "version 2, Report Error, reply, xid 0x11223344, 52 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADCONT: nothing was to be continued\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 4, 1, 2),
		.says = "version 2, Report Error, reply, xid 0x11223344, 60 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADSEQ, transmission: 0x1 was expected, 0x2 is there\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 5, XID, XID + 1),
		.says = "version 2, Report Error, reply, xid 0x11223344, 60 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADXID, xid: 0x11223344 was expected, 0x11223345 is there\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 6, 5000, 0, 4095),
		.says = "version 2, Report Error, reply, xid 0x11223344, 64 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADOFF, offset: 5000 is not valid of 0 to 4095\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 7, 9, 0, 7),
		.says = "version 2, Report Error, reply, xid 0x11223344, 64 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADTBSN, buffer segment: 9 is not valid of 0 to 7\n"},
	{HEADER_V2, HEADER_OK,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 8, 5000, 0, 4000),
		.says = "version 2, Report Error, reply, xid 0x11223344, 64 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADPL, length of the payload stream: 5000 is not valid of 0 to 4000\n"},
	{HEADER_V2, HEADER_WRONG,
		WORDS(XID, 2, 0x400020, 0x52540008, 1, XID, 0, 2, 1, XID, 1, 0, 9),
		.says = "version 2, Report Error, reply, xid 0x11223344, 52 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    wrong: the report of an error: no such error\n"},
	{HEADER_V2, HEADER_WRONG, /* an invalid place */
		WORDS(XID, 2, 0x400020, 0x52540006, 1, 1, 0, 0, 3, 0, 1, 0),
		.says = "version 2, Transmit Response, reply, xid 0x11223344, 48 bytes\n"
			"    flags: RESPONSE\n"
			"    credits: 32 granted, 64 at most\n"
			"    0 bytes of data, position 0:\n"
			"    wrong: where its data is: no such type of a place in a message\n"},
	{HEADER_V2, HEADER_WRONG, /* an invalid direction */
		WORDS(XID, 2, 0x400020, 0x52540005, 0, 0, 1, 0, 0, 1, 0, 5),
		.says = "version 2, Transmit Request, xid 0x11223344, 48 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    response to positions 0 to 0:\n"
			"    wrong: the directions for the response: no such direction for a response\n"},
	{HEADER_V2, HEADER_WRONG, /* a stream that is longer than the message */
		WORDS(XID, 2, 0x400020, 0x52540007, 0, 1, 5, 8),
		.says = "version 2, Transmit Continue, continued, xid 0x11223344, 32 bytes\n"
			"    flags: none\n"
			"    credits: 32 granted, 64 at most\n"
			"    transmission 1 of a group that began with a Transmit Request (5)\n"
			"    payload stream: 8 bytes in this Send\n"
			"    wrong: the payload stream: it is longer than the message\n"},
	{HEADER_V2_2016, HEADER_OK, /* 2016: RDMA2_MSG */
		WORDS(XID, 2, 32, 0, 0, 0, 0, 0, CALL),
		.says = "version 2 of 2016, RDMA2_MSG, call, xid 0x11223344, 72 bytes\n"
			"    credits: 32\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 0, 1, 0, 1, 1, 1, 2, 0, 3, 0, 0, REPLY),
		.says = "version 2 of 2016, RDMA2_MSG, reply, xid 0x11223344, 80 bytes\n"
			"    credits: 32\n"
			"    Write chunk 1:\n"
			"        segment: handle 0x00000001, 2 bytes at 0x3\n"
			"    RPC reply, 24 bytes: accepted, SUCCESS (0)\n"},
	{HEADER_V2_2016, HEADER_OK, /* RDMA2_NOMSG */
		WORDS(XID, 2, 32, 1, 0, 1, 0, 2748, 9000, 0, 0, 0, 0, 0),
		.says = "version 2 of 2016, RDMA2_NOMSG, call, xid 0x11223344, 56 bytes\n"
			"    credits: 32\n"
			"    Read, position 0: handle 0x00000abc, 9000 bytes at 0x0\n"},
	{HEADER_V2_2016, HEADER_OK, /* RDMA2_ERROR */
		WORDS(XID, 2, 32, 4, 1, 1, 2),
		.says = "version 2 of 2016, RDMA_ERROR, reply, xid 0x11223344, 28 bytes\n"
			"    credits: 32\n"
			"    ERR_VERS: versions 1 to 2 are spoken\n",
		.found = "version 2"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 4, 2),
		.says = "version 2 of 2016, RDMA2_ERROR, reply, xid 0x11223344, 20 bytes\n"
			"    credits: 32\n"
			"    RDMA2_ERR_BAD_HEADER: the header could not be used\n"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 4, 3),
		.says = "version 2 of 2016, RDMA2_ERROR, reply, xid 0x11223344, 20 bytes\n"
			"    credits: 32\n"
			"    RDMA2_ERR_INVAL_OPTION: the operation is not known\n"},
	{HEADER_V2_2016, HEADER_UNKNOWN,
		WORDS(XID, 2, 32, 4, 4),
		.says = "version 2 of 2016, RDMA2_ERROR, reply, xid 0x11223344, 20 bytes\n"
			"    credits: 32\n"
			"    error 4, which is not known\n"},
	{HEADER_V2_2016, HEADER_WRONG, /* an invalid direction */
		WORDS(XID, 2, 32, 0, 2, 0, 0, 0, CALL),
		.says = "version 2 of 2016, RDMA2_MSG, xid 0x11223344, 72 bytes\n"
			"    credits: 32\n"
			"    wrong: the direction: it is neither CALL (0) nor REPLY (1)\n"},
	{HEADER_V2_2016, HEADER_OK, /* RDMA2_OPTIONAL */
		WORDS(XID, 2, 32, 5, 0, 5, 200, 2, 148, 8192, 1, 1, 2748, 8192, 0, 0, 300, 4096, 2,
			0, 1, 1, 1, 0, 500, 5, 4096, 1, 1, 1, 2, 0, 3, 0, 2, 512, 3, 1, 4, 5, 0, 6,
			1, 4, 2048, 1, 7, 8, 0, 9, 1, 4, 100, 0, 2, 1, 40, CALL, 0, 0x61616161),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, call, xid 0x11223344, 276 bytes\n"
			"    credits: 32\n"
			"    operation 5 (Transmit Request), which says 200 bytes\n"
			"    8192 bytes of data, position 148:\n"
			"        by explicit RDMA (EXRW):\n"
			"            segment: handle 0x00000abc, 8192 bytes at 0x0\n"
			"    4096 bytes of data, position 300:\n"
			"        from byte 0 of target buffer segments (TBSN):\n"
			"            buffer segment 1\n"
			"    response to positions 0 to 500:\n"
			"        4096 bytes or more: by explicit RDMA (EXRW)\n"
			"            segment: handle 0x00000001, 2 bytes at 0x3\n"
			"        0 bytes or more: in target buffer segments (TBSN)\n"
			"        512 bytes or more: either way (CHOICE)\n"
			"            segment: handle 0x00000004, 5 bytes at 0x6\n"
			"        1 bytes or more: by its size (BYSIZE), 2048:\n"
			"            segment: handle 0x00000007, 8 bytes at 0x9\n"
			"        1 bytes or more: by its size (BYSIZE), 100:\n"
			"            empty\n"
			"    transmissions of the group: 2\n"
			"    transmissions that the response may take: 1\n"
			"    payload stream: 40 bytes in this Send\n"
			"    RPC call, 40 bytes: NFS (100003) version 4, COMPOUND (1)\n"
			"    8 bytes behind it, padding and placed data\n"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 5, 1, 6, 80, 4, 100, 4096, 2, 16, 2, 3, 4, 200, 0, 5, 300, 0, 6,
			400, 10, 1, 0, 1, 24, REPLY),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, reply, xid 0x11223344, 132 bytes\n"
			"    credits: 32\n"
			"    operation 6 (Transmit Response), which says 80 bytes\n"
			"    4096 bytes of data, position 100:\n"
			"        from byte 16 of target buffer segments (TBSN):\n"
			"            buffer segment 3\n"
			"            buffer segment 4\n"
			"    0 bytes of data, position 200:\n"
			"        in the message, too short to be placed (TOOSHORT)\n"
			"    0 bytes of data, position 300:\n"
			"        there is no such item (NOITEM)\n"
			"    10 bytes of data, position 400:\n"
			"        by explicit RDMA (EXRW):\n"
			"            empty\n"
			"    transmissions of the group: 1\n"
			"    payload stream: 24 bytes in this Send\n"
			"    RPC reply, 24 bytes: accepted, SUCCESS (0)\n"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 5, 1, 7, 12, 1, 6, 8, 0x61616161, 0x62626262),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, continued, xid 0x11223344, 48 bytes\n"
			"    credits: 32\n"
			"    operation 7 (Transmit Continue), which says 12 bytes\n"
			"    transmission 1 of a group that began with a Transmit Response (6)\n"
			"    payload stream: 8 bytes in this Send\n"
			"    8 bytes more of the message\n"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 5, 1, 8, 28, XID, 0, 2, 0, 5, XID, XID + 1),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, reply, xid 0x11223344, 56 bytes\n"
			"    credits: 32\n"
			"    operation 8 (Report Error), which says 28 bytes\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    OPTRERR_BADXID, xid: 0x11223344 was expected, 0x11223345 is there\n"},
	{HEADER_V2_2016, HEADER_OK,
		WORDS(XID, 2, 32, 5, 1, 8, 44, XID, 0, 2, 1, XID, 1, 0, 6, 5000, 0, 4095),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, reply, xid 0x11223344, 72 bytes\n"
			"    credits: 32\n"
			"    operation 8 (Report Error), which says 44 bytes\n"
			"    found in: xid 0x11223344, call, transmission 2\n"
			"    after: xid 0x11223344, reply, transmission 0\n"
			"    OPTRERR_BADOFF, offset: 5000 is not valid of 0 to 4095\n"},
	{HEADER_V2_2016, HEADER_OK, /* properties of the extension */
		WORDS(XID, 2, 32, 5, 0, 1, 112, 6, 1, 4, 65536, 2, 4, 1, 3, 4, 7, 4, 40, 69632, 2,
			1, 4096, 0, 0, 16, 4096, 4096, 1, 5, 4, 8, 6, 4, 9),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, xid 0x11223344, 140 bytes\n"
			"    credits: 32\n"
			"    operation 1 (properties), which says 112 bytes\n"
			"    properties: 6\n"
			"    Receive Buffer Size: 65536\n"
			"    Reverse Request Support: inline (1)\n"
			"    RTR Support: Transmit Request Transmit Response Transmit Continue\n"
			"    Receive Buffer Structure: 69632 bytes\n"
			"        1 segments of 4096 bytes, aligned to 0\n"
			"        16 segments of 4096 bytes, aligned to 4096, a target of placement\n"
			"    Request Transmission Receive Limit: 8\n"
			"    Response Transmission Send Limit: 9\n"},
	{HEADER_V2_2016, HEADER_OK, /* other operations of properties */
		WORDS(XID, 2, 32, 5, 0, 3, 4, 0),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, xid 0x11223344, 32 bytes\n"
			"    credits: 32\n"
			"    operation 3 (of properties), which says 4 bytes\n"},
	{HEADER_V2_2016, HEADER_UNKNOWN, /* an unknown operation */
		WORDS(XID, 2, 32, 5, 0, 9, 4, 0),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, xid 0x11223344, 32 bytes\n"
			"    credits: 32\n"
			"    operation 9 (unknown), which says 4 bytes\n"
			"    an operation that is not known\n"},
	{HEADER_V2_2016, HEADER_WRONG, /* more words behind the operation */
		WORDS(XID, 2, 32, 5, 0, 7, 16, 1, 6, 8, 9, 0x61616161, 0x62626262),
		.says = "version 2 of 2016, RDMA2_OPTIONAL, xid 0x11223344, 52 bytes\n"
			"    credits: 32\n"
			"    operation 7 (Transmit Continue), which says 16 bytes\n"
			"    transmission 1 of a group that began with a Transmit Response (6)\n"
			"    payload stream: 8 bytes in this Send\n"
			"    wrong: the continuation: something is left over in it\n"},
	{.words = NULL},
};
/* clang-format on */

#endif
