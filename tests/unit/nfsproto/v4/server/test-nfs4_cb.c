/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_cb and nfs4_cb_run: the calls that a server may make, in
 * and out of order, sense and nonsense. No connection is needed; test-nfs4_cb_conn.c has tests over
 * connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/mount/nfs4_mount.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_cb_run.h"
#include "nfsproto/v4/server/nfs4_join.h"
#include "transport/log.h"

static const struct nfs4_sessionid session = {"the session"}, other_session = {"another"};
static const struct nfs4_stateid deleg = {.seqid = 1, .other = "deleg"};
static const struct nfs_fh file = {.len = 4, .data = "file"};

struct user {
	struct nfs4_user base;
	bool holds, takes_unseen; /* deleg */
	unsigned recalls, unseen, notifies, offloads;
};

struct peer {
	struct nfs4_server srv;
	struct user user[2];
	/* the CB_COMPOUND under construction, and the answer to it */
	struct xdr_out args;
	size_t nops_at;
	uint32_t nops;
	struct xdr_out out;
	struct xdr_in res;
	struct nfs4_compound_res head;
	uint8_t args_buf[16384], out_buf[4096];
};

static bool recall(struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_stateid *stateid,
	bool unseen)
{
	struct user *user = container_of(u, struct user, base);

	if (unseen)
		user->unseen++;
	else
		user->recalls++;
	return (unseen ? user->takes_unseen : user->holds) && nfs_fh_equal(fh, &file) &&
	       !memcmp(stateid->other, deleg.other, sizeof(deleg.other));
}

static void notify_lock(
	struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner)
{
	container_of(u, struct user, base)->notifies++;
}

static void offload(struct nfs4_user *u, const struct nfs4_cb_offload_args *a)
{
	container_of(u, struct user, base)->offloads++;
}

static const struct nfs4_upcalls upcalls = {
	.recall = recall, .notify_lock = notify_lock, .offload = offload};

static int setup(void **state)
{
	struct peer *p = calloc(1, sizeof(*p));

	p->srv.minor = 1;
	nfs4_server_init(&p->srv, nfs4_kinds);
	for (int i = 0; i < 2; i++) {
		p->user[i].base.up = &upcalls;
		nfs4_user_join(&p->srv, &p->user[i].base);
	}
	nfs4_cb_session(&p->srv.cb, &session);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct peer *p = *state;

	nfs4_server_finish(&p->srv);
	free(p);
	return 0;
}

static void begin_as(struct peer *p, const char *tag, uint32_t minor)
{
	xdr_out_init(&p->args, p->args_buf, sizeof(p->args_buf));
	p->nops_at = nfs4_put_cb_compound_args(&p->args, tag, minor, 0);
	p->nops = 0;
}

static void begin(struct peer *p)
{
	begin_as(p, "", 1);
}

static void sequence(struct peer *p, uint32_t slot, uint32_t seq)
{
	struct nfs4_cb_sequence_args a = {.session = session, .sequenceid = seq, .slotid = slot};

	nfs4_put_cb_sequence_args(&p->args, &a);
	p->nops++;
}

/* An operation without arguments, or with its arguments missing. */
static void bare(struct peer *p, uint32_t op)
{
	xdr_put_u32(&p->args, op);
	p->nops++;
}

static void recall_op(struct peer *p, const struct nfs4_stateid *id)
{
	struct nfs4_cb_recall_args a = {.stateid = *id, .fh = file};

	nfs4_put_cb_recall_args(&p->args, &a);
	p->nops++;
}

static void recall_any(struct peer *p)
{
	nfs4_put_cb_recall_any_args(&p->args, &(struct nfs4_cb_recall_any_args){.keep = 1});
	p->nops++;
}

/* Executes the CB_COMPOUND as one of nops operations. Returns the status of the whole. */
static uint32_t run_as(struct peer *p, uint32_t nops)
{
	struct xdr_in args;

	xdr_patch_u32(&p->args, p->nops_at, nops);
	assert_true(xdr_out_ok(&p->args));
	xdr_in_init(&args, p->args_buf, p->args.len);
	xdr_out_init(&p->out, p->out_buf, sizeof(p->out_buf));
	assert_int_equal(nfs4_cb_execute(&p->srv, &args, &p->out), 0);
	assert_true(xdr_out_ok(&p->out));
	xdr_in_init(&p->res, p->out_buf, p->out.len);
	assert_int_equal(nfs4_get_compound_res(&p->res, &p->head), 0);
	return p->head.status;
}

static uint32_t run(struct peer *p)
{
	return run_as(p, p->nops);
}

/* The next result is op's. Returns the status. */
static uint32_t result(struct peer *p, uint32_t op)
{
	struct nfs4_cb_sequence_res res;
	uint32_t status = UINT32_MAX;

	assert_int_equal(nfs4_get_op_res(&p->res, op, &status), 0);
	if (op == OP_CB_SEQUENCE && status == NFS4_OK) {
		assert_int_equal(nfs4_get_cb_sequence_res(&p->res, status, &res), 0);
		assert_memory_equal(&res.session, &session, sizeof(session));
	}
	return status;
}

/* The results are CB_SEQUENCE with success, and op with status, and no more. */
static void ends_with(struct peer *p, uint32_t op, uint32_t status)
{
	assert_int_equal(p->head.nops, 2);
	assert_int_equal(result(p, OP_CB_SEQUENCE), NFS4_OK);
	assert_int_equal(result(p, op), status);
	assert_true(xdr_in_done(&p->res));
}

static uint32_t sequence_alone(struct peer *p, uint32_t slot, uint32_t seq)
{
	begin(p);
	sequence(p, slot, seq);
	return run(p);
}

static uint32_t recall_with(struct peer *p, uint32_t slot, uint32_t seq)
{
	begin(p);
	sequence(p, slot, seq);
	recall_op(p, &deleg);
	return run(p);
}

static void sequence_comes_first_and_once(void **state)
{
	struct peer *p = *state;

	begin(p);
	recall_op(p, &deleg);
	assert_int_equal(run(p), NFS4ERR_OP_NOT_IN_SESSION);
	assert_int_equal(p->head.nops, 1);
	assert_int_equal(result(p, OP_CB_RECALL), NFS4ERR_OP_NOT_IN_SESSION);
	assert_int_equal(p->user[0].recalls, 0);
	begin(p);
	sequence(p, 0, 1);
	sequence(p, 1, 1);
	recall_op(p, &deleg);
	assert_int_equal(run(p), NFS4ERR_SEQUENCE_POS);
	ends_with(p, OP_CB_SEQUENCE, NFS4ERR_SEQUENCE_POS);
	assert_int_equal(p->user[0].recalls, 0);
	assert_int_equal(sequence_alone(p, 1, 1), NFS4_OK); /* slot 1 was not touched */
}

static void session_and_slot_are_checked(void **state)
{
	struct peer *p = *state;
	struct nfs4_cb_sequence_args a = {.session = other_session, .sequenceid = 1};

	begin(p);
	nfs4_put_cb_sequence_args(&p->args, &a);
	assert_int_equal(run_as(p, 1), NFS4ERR_BADSESSION);
	a.session = session;
	a.slotid = NFS4_CB_SLOTS;
	begin(p);
	nfs4_put_cb_sequence_args(&p->args, &a);
	assert_int_equal(run_as(p, 1), NFS4ERR_BADSLOT);
	a.slotid = NFS4_CB_SLOTS - 1;
	a.highest_slotid = NFS4_CB_SLOTS;
	begin(p);
	nfs4_put_cb_sequence_args(&p->args, &a);
	assert_int_equal(run_as(p, 1), NFS4ERR_BAD_HIGH_SLOT);
	a.highest_slotid = NFS4_CB_SLOTS - 1;
	begin(p);
	nfs4_put_cb_sequence_args(&p->args, &a);
	assert_int_equal(run_as(p, 1), NFS4_OK); /* the earlier calls were not counted */
}

static void before_a_session_there_is_nothing_to_call(void **state)
{
	struct peer *p = *state;
	static const struct nfs4_sessionid zero;
	struct nfs4_cb_sequence_args a = {.session = zero, .sequenceid = 1};

	nfs4_cb_finish(&p->srv.cb);
	nfs4_cb_init(&p->srv.cb);
	begin(p);
	nfs4_put_cb_sequence_args(&p->args, &a);
	assert_int_equal(run_as(p, 1), NFS4ERR_BADSESSION);
}

static void a_request_is_carried_out_once(void **state)
{
	struct peer *p = *state;
	uint8_t first[4096];
	size_t len;

	p->user[0].holds = true;
	assert_int_equal(recall_with(p, 0, 1), NFS4_OK);
	ends_with(p, OP_CB_RECALL, NFS4_OK);
	len = p->out.len;
	memcpy(first, p->out_buf, len);
	p->user[0].holds = false;
	assert_int_equal(recall_with(p, 0, 1), NFS4_OK); /* the same answer as before */
	assert_int_equal(p->out.len, len);
	assert_memory_equal(p->out_buf, first, len);
	assert_int_equal(p->user[0].recalls, 1);
	assert_int_equal(recall_with(p, 0, 2), NFS4ERR_BAD_STATEID);
	/* an answer with a failure, too */
	assert_int_equal(recall_with(p, 0, 2), NFS4ERR_BAD_STATEID);
	assert_int_equal(p->user[0].recalls, 2);
}

static void what_is_out_of_order_changes_nothing(void **state)
{
	struct peer *p = *state;

	/* the first sequence ID is 1 */
	assert_int_equal(recall_with(p, 0, 2), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(p->head.nops, 1);
	assert_int_equal(recall_with(p, 0, 0), NFS4ERR_SEQ_MISORDERED); /* RFC 8881 18.36.4 */
	assert_int_equal(sequence_alone(p, 0, 1), NFS4_OK);
	assert_int_equal(recall_with(p, 0, 3), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(recall_with(p, 0, 0), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(recall_with(p, 1, 2), NFS4ERR_SEQ_MISORDERED); /* each slot alone */
	assert_int_equal(p->user[0].recalls, 0);
	assert_int_equal(sequence_alone(p, 0, 2), NFS4_OK);
	assert_int_equal(sequence_alone(p, 1, 1), NFS4_OK);
}

static void sequence_ids_wrap_around(void **state)
{
	struct peer *p = *state;

	assert_int_equal(sequence_alone(p, 0, 1), NFS4_OK);
	p->srv.cb.slot[0].seq = UINT32_MAX - 1;
	assert_int_equal(recall_with(p, 0, UINT32_MAX), NFS4ERR_BAD_STATEID);
	assert_int_equal(recall_with(p, 0, 0), NFS4ERR_BAD_STATEID);
	assert_int_equal(p->user[0].recalls, 2);
	assert_int_equal(recall_with(p, 0, 0), NFS4ERR_BAD_STATEID); /* a retry */
	assert_int_equal(p->user[0].recalls, 2);
	assert_int_equal(recall_with(p, 0, UINT32_MAX), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(recall_with(p, 0, 1), NFS4ERR_BAD_STATEID);
	assert_int_equal(p->user[0].recalls, 3);
}

static void a_new_session_counts_from_the_start(void **state)
{
	struct peer *p = *state;

	assert_int_equal(sequence_alone(p, 0, 1), NFS4_OK);
	assert_int_equal(sequence_alone(p, 0, 2), NFS4_OK);
	nfs4_cb_session(&p->srv.cb, &other_session);
	assert_int_equal(sequence_alone(p, 0, 3), NFS4ERR_BADSESSION);
	nfs4_cb_session(&p->srv.cb, &session);
	assert_int_equal(sequence_alone(p, 0, 2), NFS4ERR_SEQ_MISORDERED);
	assert_int_equal(recall_with(p, 0, 1), NFS4ERR_BAD_STATEID);
}

/* The results hold the server's tag, of up to 1 KiB: too much to keep. */
static void an_answer_too_long_to_keep_is_not_made_up(void **state)
{
	char tag[NFS4_CB_CACHED + 1];
	struct peer *p = *state;

	memset(tag, 't', sizeof(tag) - 1);
	tag[sizeof(tag) - 1] = 0;
	for (int i = 0; i < 2; i++) {
		begin_as(p, tag, 1);
		sequence(p, 0, 1);
		recall_op(p, &deleg);
		assert_int_equal(run(p), i ? NFS4ERR_RETRY_UNCACHED_REP : NFS4ERR_BAD_STATEID);
		assert_int_equal(p->head.tag.len, NFS4_CB_CACHED);
	}
	assert_int_equal(p->user[0].recalls, 1);
	assert_int_equal(sequence_alone(p, 0, 2), NFS4_OK);
}

/* --- recalls ------------------------------------------------------------------------------- */

static void every_user_is_asked_for_what_is_recalled(void **state)
{
	static const struct nfs4_stateid unknown = {.seqid = 1, .other = "unknown"};
	struct peer *p = *state;

	p->user[1].holds = true;
	assert_int_equal(recall_with(p, 0, 1), NFS4_OK);
	assert_int_equal(p->user[0].recalls, 1);
	assert_int_equal(p->user[1].recalls, 1);
	begin(p);
	sequence(p, 0, 2);
	recall_op(p, &unknown);
	recall_any(p); /* not reached */
	assert_int_equal(run(p), NFS4ERR_BAD_STATEID);
	ends_with(p, OP_CB_RECALL, NFS4ERR_BAD_STATEID);
}

/* The answer with the delegation is lost. While users reclaim state, the answer may still come. */
static void a_recall_of_what_no_user_knows_is_taken_by_one(void **state)
{
	struct peer *p = *state;

	p->user[1].takes_unseen = true;
	p->srv.state = NFS4_S_RECLAIM;
	assert_int_equal(recall_with(p, 0, 1), NFS4ERR_DELAY);
	assert_int_equal(p->user[0].unseen + p->user[1].unseen, 0);
	p->srv.state = NFS4_S_RUNNING;
	assert_int_equal(recall_with(p, 0, 2), NFS4_OK);
	assert_true(p->user[0].unseen == 1 && p->user[1].unseen == 1);
	p->user[0].takes_unseen = true;
	assert_int_equal(recall_with(p, 0, 3), NFS4_OK);
	assert_true(p->user[0].unseen == 2 && p->user[1].unseen == 1);
	p->user[1].holds = true;
	assert_int_equal(recall_with(p, 0, 4), NFS4_OK);
	assert_true(p->user[0].unseen == 2 && p->user[1].unseen == 1);
}

/* CB_RECALL that refers to calls of this client. */
static uint32_t recall_after(
	struct peer *p, uint32_t seq, const struct nfs4_referring_call *ref, uint32_t nrefs)
{
	struct nfs4_cb_sequence_args a = {.session = session, .sequenceid = seq, .nrefs = nrefs};

	memcpy(a.ref, ref, nrefs * sizeof(*ref));
	begin(p);
	nfs4_put_cb_sequence_args(&p->args, &a);
	p->nops++;
	recall_op(p, &deleg);
	return run(p);
}

/* The delegation may come with an answer that is still in flight: section 2.10.6.3. */
static void what_may_be_on_its_way_is_put_off(void **state)
{
	struct peer *p = *state;
	struct nfs4_slots *s = &p->srv.slots;
	struct nfs4_referring_call refs[2] = {{session, 1, 0}, {session, 1, 1}};
	struct nfs4_referring_call bad[] = {{other_session, 1, 1}, {session, 2, 1}, {session, 1, 2},
		{session, 1, NFS4_MAX_SLOTS}, {session, 1, UINT32_MAX}};
	struct nfs4_slot *slot[2];
	uint32_t seq = 1;

	mutex_lock(&s->lock);
	nfs4_slots_reset_locked(s, 4);
	nfs4_slots_open_locked(s);
	for (int i = 0; i < 2; i++)
		slot[i] = nfs4_slots_take_locked(s, false);
	mutex_unlock(&s->lock);
	assert_int_equal(recall_after(p, seq++, refs, 2), NFS4ERR_DELAY);
	mutex_lock(&s->lock); /* the first call is answered */
	nfs4_slots_put_locked(s, slot[0], NFS4_SLOT_USED);
	mutex_unlock(&s->lock);
	assert_int_equal(recall_after(p, seq++, refs, 2), NFS4ERR_DELAY);
	assert_int_equal(recall_after(p, seq++, refs, 1), NFS4ERR_BAD_STATEID);
	/* the client has made no such calls */
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(recall_after(p, seq++, &bad[i], 1), NFS4ERR_BAD_STATEID);
	p->user[0].holds = true; /* the delegation is here: no need to wait */
	assert_int_equal(recall_after(p, seq++, refs, 2), NFS4_OK);
	p->user[0].holds = false;
	mutex_lock(&s->lock);
	nfs4_slots_put_locked(s, slot[1], NFS4_SLOT_USED);
	mutex_unlock(&s->lock);
	assert_int_equal(recall_after(p, seq++, refs, 2), NFS4ERR_BAD_STATEID);
}

/* --- the other operations ------------------------------------------------------------------ */

static void what_concerns_all_is_told_to_all(void **state)
{
	struct nfs4_cb_notify_lock_args lock = {
		.fh = file, .owner = {.owner = {(const uint8_t *)"owner", 5}}};
	struct nfs4_cb_offload_args copy = {.fh = file, .stateid = deleg};
	struct peer *p = *state;

	begin(p);
	sequence(p, 0, 1);
	nfs4_put_cb_notify_lock_args(&p->args, &lock);
	nfs4_put_cb_offload_args(&p->args, &copy);
	assert_int_equal(run_as(p, 3), NFS4_OK);
	assert_int_equal(p->head.nops, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(p->user[i].notifies, 1);
		assert_int_equal(p->user[i].offloads, 1);
	}
}

static void slots_are_taken_away_but_one(void **state)
{
	static const struct {
		uint32_t target, limit;
	} steps[] = {{UINT32_MAX, 8}, {9, 8}, {5, 6}, {7, 6}, {0, 1}, {3, 1}};
	struct peer *p = *state;

	mutex_lock(&p->srv.slots.lock);
	nfs4_slots_reset_locked(&p->srv.slots, 8);
	mutex_unlock(&p->srv.slots.lock);
	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct nfs4_cb_recall_slot_args a = {steps[i].target};

		begin(p);
		sequence(p, 0, i + 1);
		nfs4_put_cb_recall_slot_args(&p->args, &a);
		assert_int_equal(run_as(p, 2), NFS4_OK);
		assert_int_equal(p->srv.slots.limit, steps[i].limit);
	}
}

/* Operations that a client without layouts need not know; and a file unknown to the client. */
static void what_is_not_supported_is_told_apart_from_nonsense(void **state)
{
	static const struct {
		uint32_t op, answer, status;
	} cases[] = {
		{OP_CB_NOTIFY, OP_CB_NOTIFY, NFS4ERR_NOTSUPP},
		{OP_CB_PUSH_DELEG, OP_CB_PUSH_DELEG, NFS4ERR_NOTSUPP},
		{OP_CB_WANTS_CANCELLED, OP_CB_WANTS_CANCELLED, NFS4ERR_NOTSUPP},
		{0, OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL},
		{2, OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL},
		{16, OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL},
		{OP_CB_ILLEGAL, OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL},
		{UINT32_MAX, OP_CB_ILLEGAL, NFS4ERR_OP_ILLEGAL},
	};
	const struct nfs4_cb_layoutrecall_args layout = {
		.type = 1, .iomode = 3, .recall = LAYOUTRECALL4_ALL};
	const struct nfs4_cb_notify_deviceid_args device = {.n = 1};
	const struct nfs4_cb_getattr_args getattr = {.fh = file};
	struct peer *p = *state;
	uint32_t seq = 1;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(p);
		sequence(p, 0, seq++);
		bare(p, cases[i].op);
		recall_any(p); /* not reached, and unknown */
		assert_int_equal(run(p), cases[i].status);
		ends_with(p, cases[i].answer, cases[i].status);
	}
	begin(p);
	sequence(p, 0, seq++);
	nfs4_put_cb_layoutrecall_args(&p->args, &layout);
	assert_int_equal(run_as(p, 2), NFS4ERR_NOTSUPP);
	ends_with(p, OP_CB_LAYOUTRECALL, NFS4ERR_NOTSUPP);
	begin(p);
	sequence(p, 0, seq++);
	nfs4_put_cb_notify_deviceid_args(&p->args, &device);
	assert_int_equal(run_as(p, 2), NFS4ERR_NOTSUPP);
	ends_with(p, OP_CB_NOTIFY_DEVICEID, NFS4ERR_NOTSUPP);
	begin(p);
	sequence(p, 0, seq++);
	nfs4_put_cb_getattr_args(&p->args, &getattr);
	assert_int_equal(run_as(p, 2), NFS4ERR_BADHANDLE);
	ends_with(p, OP_CB_GETATTR, NFS4ERR_BADHANDLE);
	begin(p); /* without CB_SEQUENCE there is no session */
	bare(p, OP_CB_NOTIFY);
	assert_int_equal(run(p), NFS4ERR_OP_NOT_IN_SESSION);
}

static void what_ends_in_the_middle_is_no_operation(void **state)
{
	struct peer *p = *state;
	struct nfs4_cb_recall_args a = {.stateid = deleg, .fh = file};
	size_t start, end;

	begin(p);
	sequence(p, 0, 1);
	start = p->args.len;
	nfs4_put_cb_recall_args(&p->args, &a);
	end = p->args.len;
	for (uint32_t seq = 1; start < end; end -= 4) {
		begin(p);
		sequence(p, 0, seq++);
		nfs4_put_cb_recall_args(&p->args, &a);
		p->args.len = end - 4;
		assert_int_equal(run_as(p, 2), NFS4ERR_BADXDR);
		assert_int_equal(p->head.nops, 2);
	}
	assert_int_equal(p->user[0].recalls, 0);
}

static void operations_are_counted(void **state)
{
	struct peer *p = *state;
	struct xdr_in args;

	begin(p);
	sequence(p, 0, 1);
	while (p->nops < NFS4_CB_OPS)
		recall_any(p);
	assert_int_equal(run(p), NFS4_OK);
	assert_int_equal(p->head.nops, NFS4_CB_OPS);
	begin(p);
	sequence(p, 0, 2);
	while (p->nops < NFS4_CB_OPS + 2)
		recall_any(p);
	assert_int_equal(run(p), NFS4ERR_TOO_MANY_OPS);
	assert_int_equal(p->head.nops, NFS4_CB_OPS + 1);
	begin(p); /* more operations than there are */
	sequence(p, 0, 3);
	recall_any(p);
	assert_int_equal(run_as(p, 3), NFS4ERR_BADXDR);
	assert_int_equal(p->head.nops, 3);
	/* more operations than possible */
	xdr_patch_u32(&p->args, p->nops_at, UINT32_MAX);
	xdr_in_init(&args, p->args_buf, p->args.len);
	assert_int_equal(nfs4_cb_execute(&p->srv, &args, &p->out), -EBADMSG);
	begin(p);
	assert_int_equal(run(p), NFS4_OK); /* none */
	assert_int_equal(p->head.nops, 0);
}

static void another_minor_version_is_refused_as_a_whole(void **state)
{
	struct peer *p = *state;

	for (uint32_t minor = 0; minor < 4; minor += 2) {
		begin_as(p, "", minor);
		sequence(p, 0, 1);
		assert_int_equal(run(p), NFS4ERR_MINOR_VERS_MISMATCH);
		assert_int_equal(p->head.nops, 0);
	}
	assert_int_equal(sequence_alone(p, 0, 1), NFS4_OK); /* the refused call was not counted */
}

static void a_head_that_is_none_has_no_answer(void **state)
{
	struct peer *p = *state;
	struct xdr_in args;

	begin_as(p, "tag", 1);
	for (size_t len = 0; len < p->args.len; len += 4) {
		xdr_in_init(&args, p->args_buf, len);
		xdr_out_init(&p->out, p->out_buf, sizeof(p->out_buf));
		assert_int_equal(nfs4_cb_execute(&p->srv, &args, &p->out), -EBADMSG);
		assert_int_equal(p->out.len, 0);
	}
}

/* The session of a former daemon that was killed: each slot goes on at any sequence id, once. */
static void a_successor_takes_any_first_call(void **state)
{
	static const struct {
		uint32_t slot, seq, status;
	} calls[] = {
		{3, 4711, NFS4_OK},
		{3, 4713, NFS4ERR_SEQ_MISORDERED},
		{3, 4712, NFS4_OK},
		{2, 1, NFS4_OK},
	};
	struct peer *p = *state;

	nfs4_cb_resume(&p->srv.cb, &session);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		begin(p);
		sequence(p, calls[i].slot, calls[i].seq);
		recall_any(p);
		assert_int_equal(run(p), calls[i].status);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sequence_comes_first_and_once),
		TEST(session_and_slot_are_checked),
		TEST(before_a_session_there_is_nothing_to_call),
		TEST(a_request_is_carried_out_once),
		TEST(what_is_out_of_order_changes_nothing),
		TEST(sequence_ids_wrap_around),
		TEST(a_new_session_counts_from_the_start),
		TEST(a_successor_takes_any_first_call),
		TEST(an_answer_too_long_to_keep_is_not_made_up),
		TEST(every_user_is_asked_for_what_is_recalled),
		TEST(a_recall_of_what_no_user_knows_is_taken_by_one),
		TEST(what_may_be_on_its_way_is_put_off),
		TEST(what_concerns_all_is_told_to_all),
		TEST(slots_are_taken_away_but_one),
		TEST(what_is_not_supported_is_told_apart_from_nonsense),
		TEST(what_ends_in_the_middle_is_no_operation),
		TEST(operations_are_counted),
		TEST(another_minor_version_is_refused_as_a_whole),
		TEST(a_head_that_is_none_has_no_answer),
	};

	log_init("test-nfs4_cb", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
