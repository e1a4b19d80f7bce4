/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/fault.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "contrib/serve/fault/fault.h"
#include "nfsproto/wire/nfs4.h"

static struct fault *parsed(const char *spec)
{
	struct err e = {0};
	struct fault *f = fault_new(spec, &e);

	if (!f)
		fail_msg("%s: %s", spec, e.msg);
	return f;
}

static enum fault_kind reply_to(struct fault *f, uint32_t op, unsigned *delay)
{
	struct fault_ops ops = {{0, 0}};

	*delay = 0;
	fault_ops_add(&ops, op);
	return fault_message(f, &ops, true, delay);
}

static void the_nth_is_hit_once(void **state)
{
	struct fault *f = parsed("drop:reply:op=WRITE:nth=3");
	unsigned delay;

	for (int i = 1; i <= 6; i++) {
		assert_int_equal(reply_to(f, OP_READ, &delay), FAULT_NONE);
		assert_int_equal(reply_to(f, OP_WRITE, &delay), i == 3 ? FAULT_DROP : FAULT_NONE);
	}
	fault_free(f);
}

static void every_after_and_count_combine(void **state)
{
	struct fault *f = parsed("error=NFS4ERR_DELAY:op=OPEN:after=1:every=2:count=2");
	static const bool hit[] = {false, false, true, false, true, false, false, false};

	assert_int_equal(fault_status(f, OP_CLOSE), NFS4_OK);
	for (size_t i = 0; i < sizeof(hit) / sizeof(hit[0]); i++)
		assert_int_equal(fault_status(f, OP_OPEN), hit[i] ? NFS4ERR_DELAY : NFS4_OK);
	assert_int_equal(fault_status(NULL, OP_OPEN), NFS4_OK);
	fault_free(f);
}

static void stages_are_kept_apart(void **state)
{
	struct fault *f = parsed("delay=1500ms:request,close-mid:op=READ+READDIR");
	struct fault_ops ops = {{0, 0}};
	unsigned delay = 0;

	fault_ops_add(&ops, OP_READDIR);
	assert_int_equal(fault_message(f, &ops, false, &delay), FAULT_NONE);
	assert_int_equal(delay, 1500);
	assert_int_equal(reply_to(f, OP_READDIR, &delay), FAULT_CLOSE_MID);
	assert_int_equal(delay, 0);
	assert_int_equal(reply_to(f, OP_LOOKUP, &delay), FAULT_NONE);
	fault_free(f);
}

static void the_null_procedure_is_named(void **state)
{
	struct fault *f = parsed("wrong-xid:op=NULL,corrupt");
	unsigned delay;

	assert_int_equal(reply_to(f, 0, &delay), FAULT_WRONG_XID);
	assert_int_equal(reply_to(f, OP_GETATTR, &delay), FAULT_CORRUPT);
	fault_free(f);
}

static void chance_is_repeatable(void **state)
{
	struct fault *a = parsed("drop:prob=30%:seed=7"), *b = parsed("drop:prob=30:seed=7");
	unsigned delay, hits = 0;

	for (int i = 0; i < 1000; i++) {
		enum fault_kind fa = reply_to(a, OP_READ, &delay);

		assert_int_equal(fa, reply_to(b, OP_READ, &delay));
		hits += fa == FAULT_DROP;
	}
	assert_in_range(hits, 200, 400);
	fault_free(a);
	fault_free(b);
}

static void every_action_is_parsed(void **state)
{
	static const char *const specs[] = {"drop", "drop:request", "corrupt", "truncate", "close",
		"close:request", "close-mid", "wrong-xid", "no-credit", "err-chunk", "err-vers",
		"err-htype:request", "err-flag", "err-reads:request:op=WRITE", "err-writes",
		"err-segments", "err-write-room", "err-reply-room", "err-system", "long-chunk",
		"delay=2s", "error=10008", "error=NFS4ERR_NOSPC:op=WRITE:count=1"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		fault_free(parsed(specs[i]));
}

static void nonsense_is_refused(void **state)
{
	static const char *const specs[] = {"", ",", ":", "drop:drop", "drop:close", "op=READ",
		"drop:op=READE", "drop:op=", "delay=3", "delay=-1ms", "delay=99999s",
		"error=NFS4ERR_X", "error=0", "error=", "drop:nth=0", "drop:nth=x",
		"drop:every=", "drop:prob=101", "drop:prob=0", "error=NFS4ERR_IO:request",
		"corrupt:request", "fly", "drop:count=-1", "drop:seed", "nth=1"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct err e = {0};

		if (fault_new(specs[i], &e))
			fail_msg("\"%s\" was accepted", specs[i]);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_true(e.msg[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nth_is_hit_once),
		cmocka_unit_test(every_after_and_count_combine),
		cmocka_unit_test(stages_are_kept_apart),
		cmocka_unit_test(the_null_procedure_is_named),
		cmocka_unit_test(chance_is_repeatable),
		cmocka_unit_test(every_action_is_parsed),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
