/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_msg.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "transport/rpc/rpc_msg.h"

/* NULL procedure of NFS version 4 (program 100003), AUTH_NONE: RFC 5531 section 9 by hand. */
static const uint8_t null_call[] = {0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86,
	0xa3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/* COMPOUND as uid 1000, gid 100 with groups 4 and 24 from "box". */
static const uint8_t sys_call[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0x86, 0xa3, 0, 0, 0, 4,
	0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 3, 'b', 'o', 'x', 0, 0, 0, 0x03,
	0xe8, 0, 0, 0, 100, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0};

static const uint8_t ok_reply[] = {
	0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

static void calls_go_both_ways(void **state)
{
	static const struct rpc_opaque_auth empty = {.flavor = RPC_AUTH_NONE};
	struct rpc_call_hdr h;
	enum rpc_deny deny;
	struct xdr_out out;
	struct xdr_in x;
	uint8_t buf[64];

	xdr_out_init(&out, buf, sizeof(buf));
	rpc_msg_put_call(&out, 0x12345678, 100003, 4, 0);
	assert_int_equal(out.len, RPC_MSG_CALL_HEAD);
	rpc_msg_put_auth(&out, &empty);
	rpc_msg_put_auth(&out, &empty);
	assert_int_equal(out.len, sizeof(null_call));
	assert_memory_equal(buf, null_call, sizeof(null_call));

	xdr_in_init(&x, sys_call, sizeof(sys_call));
	assert_int_equal(rpc_msg_get_call(&x, &h, &deny), 0);
	assert_int_equal(deny, RPC_DENY_NOT);
	assert_true(xdr_in_done(&x));
	assert_int_equal(h.prog, 100003);
	assert_int_equal(h.vers, 4);
	assert_int_equal(h.proc, 1);
	assert_int_equal(h.cred.flavor, RPC_AUTH_SYS);
	assert_int_equal(h.cred.len, 32);
	assert_ptr_equal(h.cred.body, sys_call + 32);
	assert_int_equal(h.verf.flavor, RPC_AUTH_NONE);
	assert_int_equal(h.verf.len, 0);
}

static int verdict(size_t at, uint32_t word, size_t len)
{
	uint8_t buf[sizeof(sys_call)];
	struct rpc_call_hdr h;
	enum rpc_deny deny;
	struct xdr_in x;

	memcpy(buf, sys_call, sizeof(buf));
	buf[at] = word >> 24;
	buf[at + 1] = word >> 16;
	buf[at + 2] = word >> 8;
	buf[at + 3] = word;
	xdr_in_init(&x, buf, len);
	if (rpc_msg_get_call(&x, &h, &deny) < 0)
		return (enum rpc_deny) - 1;
	assert_int_equal(h.xid, 1);
	return deny;
}

static void bad_calls_are_denied(void **state)
{
	size_t all = sizeof(sys_call);

	assert_int_equal(verdict(4, 1, all), -1); /* a reply */
	assert_int_equal(verdict(4, 2, all), -1);
	assert_int_equal(verdict(0, 1, 7), -1);
	assert_int_equal(verdict(8, 3, all), RPC_DENY_VERSION);
	assert_int_equal(verdict(24, 6, all), RPC_DENY_NOT); /* the program accepts any flavor */
	assert_int_equal(verdict(28, 401, all), RPC_DENY_BADCRED);
	assert_int_equal(verdict(68, 401, all), RPC_DENY_BADVERF);
	for (size_t n = 8; n < all; n++)
		assert_int_equal(verdict(0, 1, n), RPC_DENY_GARBAGE);
}

static void replies_go_both_ways(void **state)
{
	const struct rpc_opaque_auth verf = {6, 5, (const uint8_t *)"proof"};
	uint8_t buf[64];
	struct rpc_reply_hdr h;
	struct xdr_in x;
	uint32_t off;

	off = rpc_msg_put_accepted(buf, sizeof(buf), 0x12345678, NULL, RPC_ACCEPT_SUCCESS);
	assert_int_equal(sizeof(buf) - off, sizeof(ok_reply));
	assert_memory_equal(buf + off, ok_reply, sizeof(ok_reply));
	xdr_in_init(&x, buf + off, sizeof(buf) - off);
	assert_int_equal(rpc_msg_get_reply(&x, &h), 0);
	assert_int_equal(h.xid, 0x12345678);
	assert_int_equal(h.stat, RPC_OK);
	for (int s = RPC_ACCEPT_PROG_UNAVAIL; s <= RPC_ACCEPT_SYSTEM_ERR; s++) {
		off = rpc_msg_put_accepted(buf, 56, 5, &verf, s);
		memcpy(buf + 56, "\0\0\0\3\0\0\0\4", 8);
		xdr_in_init(&x, buf + off, sizeof(buf) - off);
		assert_int_equal(rpc_msg_get_reply(&x, &h), -EPROTO);
		assert_int_equal(h.stat, (int)RPC_OK + s);
		assert_true(h.accepted);
		assert_int_equal(h.verf.flavor, 6);
		assert_int_equal(h.verf.len, 5);
		assert_memory_equal(h.verf.body, "proof", 5);
		if (s == RPC_ACCEPT_PROG_MISMATCH) {
			assert_int_equal(h.mismatch_low, 3);
			assert_int_equal(h.mismatch_high, 4);
		}
	}
}

static void denials_go_both_ways(void **state)
{
	static const uint8_t badcred[] = {
		0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
	uint8_t buf[64];
	struct rpc_reply_hdr h;
	struct xdr_in x;
	uint32_t off;

	off = rpc_msg_put_auth_error(buf, sizeof(buf), 5, RPC_AUTH_BADCRED);
	assert_int_equal(sizeof(buf) - off, sizeof(badcred));
	assert_memory_equal(buf + off, badcred, sizeof(badcred));
	xdr_in_init(&x, buf + off, sizeof(buf) - off);
	assert_int_equal(rpc_msg_get_reply(&x, &h), -EACCES);
	assert_int_equal(h.auth_stat, RPC_AUTH_BADCRED);
	off = rpc_msg_put_mismatch(buf, sizeof(buf), 5);
	xdr_in_init(&x, buf + off, sizeof(buf) - off);
	assert_int_equal(rpc_msg_get_reply(&x, &h), -EPROTO);
	assert_int_equal(h.stat, RPC_VERS_MISMATCH);
	assert_int_equal(h.mismatch_low, 2);
	assert_int_equal(h.mismatch_high, 2);
}

static void bad_replies_are_noticed(void **state)
{
	uint8_t buf[sizeof(ok_reply)];
	struct rpc_reply_hdr h;
	struct xdr_in x;

	for (size_t n = 0; n < sizeof(ok_reply); n++) {
		xdr_in_init(&x, ok_reply, n);
		assert_int_equal(rpc_msg_get_reply(&x, &h), -EPROTO);
		assert_int_equal(h.stat, RPC_BAD_REPLY);
	}
	for (size_t at = 4; at < sizeof(buf); at += 4) {
		if (at == 12)
			continue; /* the verifier's flavor may be anything */
		memcpy(buf, ok_reply, sizeof(buf));
		memset(buf + at, 0x7f, 4);
		xdr_in_init(&x, buf, sizeof(buf));
		assert_int_equal(rpc_msg_get_reply(&x, &h), -EPROTO);
		assert_int_equal(h.stat, RPC_BAD_REPLY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_go_both_ways),
		cmocka_unit_test(bad_calls_are_denied),
		cmocka_unit_test(replies_go_both_ways),
		cmocka_unit_test(denials_go_both_ways),
		cmocka_unit_test(bad_replies_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
