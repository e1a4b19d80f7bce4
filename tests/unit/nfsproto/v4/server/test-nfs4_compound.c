/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_compound: the place in a COMPOUND of a sink's operation,
 * and the operations that may have a payload.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/v4/server/nfs4_compound.h"

static void a_sink_is_for_its_read(void **state)
{
	const struct nfs4_read_args a = {.stateid = nfs4_stateid_current, .count = 100};
	const struct nfs_fh fh = {.len = 5};
	struct seg_list to = {.len = 100};
	static uint8_t buf[1024];
	struct rpc_call call = {0};
	struct nfs4_args got;
	struct nfs4_comp k;
	struct xdr_in in;

	xdr_out_init(&call.args, buf, sizeof(buf));
	nfs4_comp_begin(&k, &call.args, 1);
	nfs4_comp_putfh(&k, &fh);
	nfs4_comp_access(&k, 1);
	nfs4_comp_read(&k, &a, &call, &to);
	nfs4_comp_op(&k, OP_SAVEFH);
	nfs4_comp_end(&k);
	assert_true(xdr_out_ok(&call.args));
	assert_int_equal(k.nops, 4);
	assert_int_equal(call.nsinks, 1);
	assert_int_equal(call.sink[0].len, 100);
	/* READ, the whole of it, and nothing else */
	xdr_in_init(
		&in, buf + call.sink_for[0].begin, call.sink_for[0].end - call.sink_for[0].begin);
	assert_int_equal(nfs4_get_args(&in, &got), 0);
	assert_int_equal(got.op, OP_READ);
	assert_int_equal(got.u.read.count, 100);
	assert_true(xdr_in_done(&in));
}

/* Puts op with a payload, in a process of its own. Returns whether that process lived. */
static bool takes_payload(uint32_t op)
{
	static uint8_t buf[64], data[16];
	const struct mem_sge sge = {.addr = data, .len = sizeof(data)};
	struct nfs4_comp k;
	struct xdr_out x;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		xdr_out_init(&x, buf, sizeof(buf));
		nfs4_comp_begin(&k, &x, 1);
		xdr_put_payload(&x, &sge);
		nfs4_comp_count(&k, op, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status);
}

static void only_an_eligible_argument_is_a_payload(void **state)
{
#ifdef NDEBUG
	skip(); /* an assertion holds this */
#endif
	assert_true(takes_payload(OP_WRITE));
	assert_true(takes_payload(OP_CREATE));
	assert_false(takes_payload(OP_SETXATTR));
	assert_false(takes_payload(OP_LOOKUP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sink_is_for_its_read),
		cmocka_unit_test(only_an_eligible_argument_is_a_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
