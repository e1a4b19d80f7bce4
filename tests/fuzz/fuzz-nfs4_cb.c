/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Callbacks from a server to its client: one CB_COMPOUND after the other on the slots of one
 * session. For each the input gives the slot, the distance of the sequence ID from the last one,
 * and
 * the part behind CB_SEQUENCE: operations by their numbers, with any bytes for arguments. Every
 * answer must parse.
 */
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/nfs4_client_upcalls.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_cb_run.h"
#include "nfsproto/v4/server/nfs4_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nfs4_server srv;
static struct nfs4_client c;

static void start(void)
{
	nfs4_server_init(&srv, nfs4_kinds);
	TAILQ_INIT(&c.opens);
	nfs4_deleg_init(&c, false);
	srv.minor = 2;
	nfs4_lock_init(&c.locks);
	c.srv = &srv;
	c.user.up = &nfs4_client_upcalls;
	nfs4_user_join(&srv, &c.user);
}

/* There must be as many results as the head says, each of an operation that was sent. */
static void answer(const struct xdr_out *out)
{
	struct nfs4_compound_res head;
	struct xdr_in x;
	uint32_t status = NFS4_OK;

	xdr_in_init(&x, out->base, out->len);
	if (!xdr_out_ok(out) || nfs4_get_compound_res(&x, &head) || head.nops > NFS4_CB_OPS + 1)
		abort();
	for (uint32_t i = 0; i < head.nops; i++) {
		struct nfs4_cb_sequence_res res;
		uint32_t op = xdr_get_u32(&x);

		if (status != NFS4_OK) /* no operation follows a failure */
			abort();
		status = xdr_get_u32(&x);
		if (op == OP_CB_SEQUENCE && status == NFS4_OK &&
			nfs4_get_cb_sequence_res(&x, status, &res))
			abort();
	}
	if (!xdr_in_done(&x) || (head.nops && status != head.status))
		abort();
}

/* Puts one operation. Returns how much of the input was used. */
static size_t operation(struct xdr_out *args, const uint8_t *data, size_t size)
{
	size_t len = data[1] % 64 < size - 2 ? data[1] % 64 : size - 2;

	xdr_put_u32(args, data[0] % (OP_CB_OFFLOAD + 3));
	xdr_put_fixed(args, data + 2, (uint32_t)len);
	return len + 2;
}

static void call(const uint8_t *data, size_t size)
{
	static uint8_t buf[2048]; /* the largest answer of a callback */
	static uint8_t args_buf[1024];
	uint32_t slot = data[0] % (NFS4_CB_SLOTS + 1);
	struct nfs4_cb_sequence_args seq = {.session = srv.session,
		.slotid = slot,
		.sequenceid = srv.cb.slot[slot % NFS4_CB_SLOTS].seq + 1 - data[1] / 100};
	struct xdr_out args, out;
	struct xdr_in in;
	uint32_t nops = 1;
	size_t at, pos = 2;

	xdr_out_init(&args, args_buf, sizeof(args_buf));
	at = nfs4_put_cb_compound_args(&args, "", srv.minor, 0);
	nfs4_put_cb_sequence_args(&args, &seq);
	for (; pos + 2 <= size; nops++)
		pos += operation(&args, data + pos, size - pos);
	xdr_patch_u32(&args, at, nops);
	xdr_in_init(&in, args_buf, args.len);
	xdr_out_init(&out, buf, sizeof(buf));
	if (xdr_out_ok(&args) && nfs4_cb_execute(&srv, &in, &out) == 0)
		answer(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!srv.minor)
		start();
	nfs4_cb_session(&srv.cb, &srv.session);
	while (size >= 3) {
		size_t len = data[0] % 128 < size - 1 ? data[0] % 128 : size - 1;

		if (len >= 2)
			call(data + 1, len);
		data += 1 + len;
		size -= 1 + len;
	}
	return 0;
}
