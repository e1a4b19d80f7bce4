/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_cb over connections that end.
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
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"

static const struct nfs4_stateid deleg = {.seqid = 1, .other = "deleg"};
static const struct nfs_fh file = {.len = 4, .data = "file"};

/* A call to the client. */
struct ring {
	struct rpc_call call;
	sem_t sem;
	int error;
	uint32_t status; /* of the COMPOUND, or UINT32_MAX */
};

static void ring_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct ring *r = call->ctx;
	struct nfs4_compound_res head;

	r->error = error;
	if (!error && call->proc == NFS4_CB_COMPOUND && !nfs4_get_compound_res(res, &head))
		r->status = head.status;
	rpc_call_finish(call);
	sem_post(&r->sem);
}

/* Returns 0, or -errno: there is no client to call. */
static int ring_init(
	struct ring *r, struct mean_srv *s, uint32_t prog, uint32_t vers, uint32_t proc)
{
	int rc;

	memset(r, 0, sizeof(*r));
	sem_init(&r->sem, 0, 0);
	r->status = UINT32_MAX;
	pthread_mutex_lock(&s->lock);
	rc = rpc_cb_init(&r->call, s->xprt, prog, vers, 1024);
	pthread_mutex_unlock(&s->lock);
	r->call.proc = proc;
	r->call.done = ring_done;
	r->call.ctx = r;
	r->call.reply_max = 512;
	return rc;
}

static int ring_go(struct ring *r)
{
	int rc = rpc_cb_submit(&r->call);

	if (rc)
		rpc_call_finish(&r->call);
	return rc;
}

static void ring_end(struct ring *r)
{
	assert_true(fix_ends_within(&r->sem, 60000));
	sem_destroy(&r->sem);
}

/* CB_SEQUENCE and CB_RECALL of a delegation that no user has. */
static int ring_recall(struct ring *r, struct mean_srv *s, uint32_t seq)
{
	struct nfs4_cb_sequence_args a = {.sequenceid = seq};
	struct nfs4_cb_recall_args recall = {.stateid = deleg, .fh = file};
	int rc = ring_init(r, s, NFS4_CB_PROGRAM, 1, NFS4_CB_COMPOUND);
	size_t at;

	if (rc)
		return rc;
	pthread_mutex_lock(&s->lock);
	mean_session_id(s, &a.session);
	pthread_mutex_unlock(&s->lock);
	at = nfs4_put_cb_compound_args(&r->call.args, "", 1, 0);
	nfs4_put_cb_sequence_args(&r->call.args, &a);
	nfs4_put_cb_recall_args(&r->call.args, &recall);
	xdr_patch_u32(&r->call.args, at, 2);
	return ring_go(r);
}

static void other_programs_and_procedures_are_refused(void **state)
{
	static const struct {
		uint32_t prog, vers, proc;
		int error;
		enum rpc_stat stat;
	} cases[] = {
		{NFS4_CB_PROGRAM, 1, NFS4_CB_NULL, 0, RPC_OK},
		/* the version that some servers use */
		{NFS4_CB_PROGRAM, 4, NFS4_CB_NULL, 0, RPC_OK},
		{NFS4_CB_PROGRAM, 2, NFS4_CB_NULL, -EPROTO, RPC_PROG_MISMATCH},
		{NFS4_CB_PROGRAM + 1, 1, NFS4_CB_NULL, -EPROTO, RPC_PROG_UNAVAIL},
		{NFS4_CB_PROGRAM, 1, 2, -EPROTO, RPC_PROC_UNAVAIL},
		{NFS4_CB_PROGRAM, 1, NFS4_CB_COMPOUND, -EPROTO, RPC_GARBAGE_ARGS}, /* empty */
	};
	struct fix *f = *state;
	struct ring r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			ring_init(&r, &f->srv, cases[i].prog, cases[i].vers, cases[i].proc), 0);
		assert_int_equal(ring_go(&r), 0);
		ring_end(&r);
		assert_int_equal(r.error, cases[i].error);
		assert_int_equal(r.call.rpc_stat, cases[i].stat);
	}
	assert_int_equal(fix_getattr(f), 0); /* the connection still works */
	fix_unmount_clean(f);
}

/* The answer is lost with the connection. The server asks again on the next connection. */
static void a_callback_outlives_its_connection(void **state)
{
	struct fix *f = *state;
	struct ring r;

	assert_int_equal(mean_recall(&f->srv, 1, &file, &deleg), NFS4_OK);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(ring_recall(&r, &f->srv, i + 1), 0);
		atomic_store(&f->srv.cut, true);
		assert_int_equal(fix_getattr(f), 0); /* over another connection, in the end */
		ring_end(&r);
		assert_true(r.error ? r.error == -ENOTCONN : r.status == NFS4_OK);
		assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], i));
		assert_int_equal(mean_recall(&f->srv, i + 1, &file, &deleg), NFS4_OK);
	}
	fix_unmount_clean(f);
}

struct caller {
	struct mean_srv *srv;
	atomic_uint answered;
};

/* Calls the client again and again until the client is gone. */
static void *keep_calling(void *arg)
{
	struct caller *c = arg;
	struct ring r;

	for (uint32_t seq = 1;; seq++) {
		if (ring_recall(&r, c->srv, seq))
			return NULL;
		ring_end(&r);
		if (r.error)
			return NULL;
		atomic_fetch_add(&c->answered, 1);
	}
}

static void callbacks_come_while_it_is_unmounted(void **state)
{
	struct fix *f = *state;
	struct caller c = {.srv = &f->srv};
	struct nfs_fh fh;
	pthread_t t;

	fix_open(f, O_RDWR, &fh);
	assert_int_equal(pthread_create(&t, NULL, keep_calling, &c), 0);
	while (atomic_load(&c.answered) < 5)
		sched_yield();
	fix_unmount_clean(f);
	pthread_join(t, NULL);
	assert_true(atomic_load(&c.answered) >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(other_programs_and_procedures_are_refused),
		ON_MOUNT(a_callback_outlives_its_connection),
		ON_MOUNT(callbacks_come_while_it_is_unmounted),
	};

	log_init("test-nfs4_cb_conn", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
