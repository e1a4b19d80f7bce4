/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/deleg: how delegations come to an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/v4/cb.h"
#include "tests/unit/contrib/serve/state/serve-two.h"
#include "transport/clock.h"

static void after_a_conflict_there_is_none_for_a_while(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);

	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4_OK);
	two_be(f, false);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	two_later_ns += 60 * NSEC_PER_SEC;
	two_delegated(f);
}

/* A client that has not seen the answer to its OPEN yet, or has no time. */
static void a_refused_recall_is_repeated(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);

	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4ERR_BAD_STATEID);
	two_later_ns += NSEC_PER_SEC;
	deleg_tick(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4ERR_DELAY);
	two_later_ns += NSEC_PER_SEC;
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(two_ncalls, 3);
	two_be(f, false);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
}

static void a_recall_that_does_not_arrive_is_repeated(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);
	struct rpc_call *call;

	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	call = two_out;
	two_out = NULL;
	call->done(call, -ETIMEDOUT, &(struct xdr_in){0});
	two_be(f, false);
	assert_int_equal(two_status_flags(f), SEQ4_STATUS_CB_PATH_DOWN);
	two_later_ns += 10 * NSEC_PER_SEC;
	deleg_tick(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(two_status_flags(f), 0);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
}

static void what_does_not_come_back_is_revoked(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f);
	const uint8_t *data;
	uint32_t len;
	bool eof;

	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4_OK);
	two_be(f, false);
	for (unsigned i = 0; i < 10; i++) { /* the client lives, but keeps the delegation */
		assert_int_equal(two_status_flags(f), 0);
		two_later_ns += 10 * NSEC_PER_SEC;
		deleg_tick(&f->e.sv.state);
		cb_notify_all(&f->e.sv);
		if (two_out)
			two_answer_recall(f, &sid, NFS4_OK);
	}
	assert_int_equal(two_status_flags(f), SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	two_be(f, false);
	assert_int_equal(
		env_read(&f->e, &f->fh, &sid, 0, 10, &data, &len, &eof), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(two_test_sid(f, &sid), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(two_give(f, &sid), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(two_free_sid(f, &sid), NFS4_OK);
	assert_int_equal(two_free_sid(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_status_flags(f), 0);
	/* and the client gets no more */
	two_later_ns += 60 * NSEC_PER_SEC;
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
}

/* A client that has vanished altogether loses all state, at once. */
static void an_expired_client_is_not_waited_for(void **state)
{
	struct two *f = *state;

	two_delegated(f);
	two_be(f, true);
	two_later_ns += 100 * NSEC_PER_SEC;
	assert_int_equal(two_set_mode(f), NFS4_OK);
	assert_int_equal(f->e.sv.state.delegs->n, 0);
}

static void foreign_stateids_are_not_taken(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = two_delegated(f), open;

	two_be(f, true);
	assert_int_equal(two_give(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_free_sid(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_test_sid(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	open = f->open;
	assert_int_equal(two_give(f, &open), NFS4ERR_BAD_STATEID); /* an open */
	two_be(f, false);
	assert_int_equal(env_close(&f->e, &f->fh, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(two_test_sid(f, &sid), NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
}

static void a_client_that_ends_gives_all_back(void **state)
{
	struct two *f = *state;
	struct state *s = &f->e.sv.state;
	struct client *c;

	two_delegated(f);
	mutex_lock(&s->lock);
	c = client_find_locked(s, f->e.clientid);
	client_remove_locked(s, c);
	mutex_unlock(&s->lock);
	client_dispose(s, c);
	client_unref(s, c);
	assert_int_equal(s->delegs->n, 0);
	two_be(f, true);
	assert_int_equal(two_set_mode(f), NFS4_OK);
}

/* --- local programs --------------------------------------------------------------------------- */

static void a_local_writer_is_noticed(void **state)
{
	struct two *f = *state;
	struct timespec wait = {.tv_sec = 20};
	struct nfs4_stateid sid;
	sigset_t set;
	char path[128];
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigdelset(&set, SIGIO);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	deleg_use_leases(f->e.sv.state.delegs, SIGRTMIN);
	sid = two_delegated(f);
	env_path(&f->e, "f", path, sizeof(path));
	fd = open(path, O_WRONLY | O_NONBLOCK);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EWOULDBLOCK);
	assert_int_equal(sigtimedwait(&set, NULL, &wait), SIGRTMIN);
	deleg_leases_broken(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	two_be(f, false);
	two_answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	fd = open(path, O_WRONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	/* while a local program has the file open to write, no client gets one */
	two_later_ns += 60 * NSEC_PER_SEC;
	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	close(fd);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	sid = two_delegated(f);
	/* the holder itself is not kept waiting by its own lease */
	assert_int_equal(two_open_write(f), NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	cb_notify_all(&f->e.sv);
	two_be(f, false);
	two_answer_recall(f, &sid, NFS4ERR_BAD_STATEID);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, two_setup, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(after_a_conflict_there_is_none_for_a_while),
		TEST(a_refused_recall_is_repeated),
		TEST(a_recall_that_does_not_arrive_is_repeated),
		TEST(what_does_not_come_back_is_revoked),
		TEST(an_expired_client_is_not_waited_for),
		TEST(foreign_stateids_are_not_taken),
		TEST(a_client_that_ends_gives_all_back),
		TEST(a_local_writer_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
