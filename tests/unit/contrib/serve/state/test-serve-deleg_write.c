/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/deleg and deleg_use: delegations to write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/state/session.h"
#include "contrib/serve/v4/cb.h"
#include "tests/unit/contrib/serve/state/serve-two.h"
#include "transport/clock.h"

#define ANY OPEN4_SHARE_ACCESS_WANT_ANY_DELEG

static int setup(void **state)
{
	int r = two_setup(state);
	struct two *f = *state;

	f->e.sv.state.delegs->mode = DELEG_WRITE;
	return r;
}

/* Leases are used, and their signal stays pending. */
static int setup_leases(void **state)
{
	int r = setup(state);
	struct two *f = *state;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	deleg_use_leases(f->e.sv.state.delegs, SIGRTMIN);
	return r;
}

/* Does the signal of a broken lease come? */
static bool signalled(unsigned seconds)
{
	struct timespec wait = {.tv_sec = seconds};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	return sigtimedwait(&set, NULL, &wait) == SIGRTMIN;
}

/* The holder opens f to write and gets a delegation; f->open stays. */
static struct nfs4_stateid delegated(struct two *f)
{
	two_be(f, false);
	assert_int_equal(two_open(f, RW, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_WRITE);
	assert_false(f->d.recall);
	assert_int_equal(f->d.permissions.access_mask, 0);
	return f->d.stateid;
}

static uint32_t set_size(struct two *f, const struct nfs4_stateid *sid, uint64_t size)
{
	struct nfs4_bitmap mask = nfs4_bits(FATTR4_SIZE, -1);
	struct nfs4_attrs set = {.attr.size = size};
	struct xdr_out *x = env_begin(&f->e, true);

	env_put_fh(&f->e, &f->fh);
	nfs4_put_op(x, OP_SETATTR);
	nfs4_put_stateid(x, sid);
	nfs4_put_attrs(x, &mask, &set);
	return env_run(&f->e, 3);
}

static uint32_t read_by(struct two *f, const struct nfs4_stateid *sid)
{
	const uint8_t *data;
	uint32_t len;
	bool eof;

	return env_read(&f->e, &f->fh, sid, 0, 100, &data, &len, &eof);
}

static uint32_t write_by(struct two *f, const struct nfs4_stateid *sid)
{
	return env_write(&f->e, &f->fh, sid, 0, (char[]){"x"}, 1);
}

static uint32_t get_attr(struct two *f, int which)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits(which, -1)};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_getattr_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

/* --- giving ----------------------------------------------------------------------------------- */

static void who_writes_alone_gets_one(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = delegated(f);

	assert_int_equal(f->d.limit_by, NFS_LIMIT_SIZE);
	assert_true(f->d.limit_size >= 4);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	/* the delegation outlives the open, and allows reads, writes and cuts */
	assert_int_equal(write_by(f, &sid), NFS4_OK);
	assert_int_equal(read_by(f, &sid), NFS4_OK);
	assert_int_equal(set_size(f, &sid, 2), NFS4_OK);
	assert_int_equal(env_commit(&f->e, &f->fh), NFS4_OK);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	assert_int_equal(write_by(f, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(f->e.sv.state.delegs->n, 0);
	assert_int_equal(f->e.sv.state.delegs->nwrite, 0);
}

static void a_new_file_is_delegated_at_once(void **state)
{
	struct two *f = *state;
	struct nfs4_open_args a = {
		.share_access = RW | ANY, .create = true, .mode = UNCHECKED4, .claim = CLAIM_NULL};

	assert_int_equal(two_open_with(f, "new", &a), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_WRITE);
	assert_false(signalled(0));
}

static void the_kind_is_as_wanted(void **state)
{
	static const struct {
		enum deleg_mode mode;
		uint32_t access;
		enum open_delegation_type4 type;
	} ask[] = {
		{DELEG_WRITE, RW | ANY, OPEN_DELEGATE_WRITE},
		{DELEG_WRITE, WR | OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG, OPEN_DELEGATE_WRITE},
		{DELEG_WRITE, RW | OPEN4_SHARE_ACCESS_WANT_READ_DELEG, OPEN_DELEGATE_NONE_EXT},
		{DELEG_WRITE, RW | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, OPEN_DELEGATE_NONE_EXT},
		{DELEG_WRITE, RD | OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG, OPEN_DELEGATE_NONE_EXT},
		{DELEG_WRITE, RD | ANY, OPEN_DELEGATE_READ},
		{DELEG_READ, RW | ANY, OPEN_DELEGATE_NONE_EXT},
		{DELEG_READ, RD | ANY, OPEN_DELEGATE_READ},
		{DELEG_NONE, RW | ANY, OPEN_DELEGATE_NONE_EXT},
	};
	struct two *f = *state;

	for (unsigned i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		f->e.sv.state.delegs->mode = ask[i].mode;
		assert_int_equal(two_open(f, ask[i].access, 0), NFS4_OK);
		assert_int_equal(f->d.type, ask[i].type);
		if (f->d.type != OPEN_DELEGATE_NONE_EXT)
			assert_int_equal(two_give(f, &f->d.stateid), NFS4_OK);
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	}
}

static void who_is_not_alone_gets_none(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid held;

	two_be(f, true);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK);
	held = f->open;
	two_be(f, false);
	assert_int_equal(two_open(f, RW | ANY, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(f->d.why, WND4_CONTENTION);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	two_be(f, true);
	assert_int_equal(env_close(&f->e, &f->fh, &held), NFS4_OK);
	delegated(f);
}

/* --- conflicts ------------------------------------------------------------------------------ */

static uint32_t open_read(struct two *f)
{
	return two_open(f, RD, 0);
}

static uint32_t read_anonymous(struct two *f)
{
	return read_by(f, &nfs4_stateid_anonymous);
}

static uint32_t write_anonymous(struct two *f)
{
	return write_by(f, &nfs4_stateid_anonymous);
}

static uint32_t test_lock(struct two *f)
{
	struct nfs4_lockt_args a = {.type = READ_LT,
		.length = NFS4_LENGTH_EOF,
		.owner = {f->e.clientid, {(const uint8_t *)"o", 1}}};

	env_begin(&f->e, true);
	env_put_fh(&f->e, &f->fh);
	nfs4_put_lockt_args(&f->e.args, &a);
	return env_run(&f->e, 3);
}

static uint32_t rename_it(struct two *f)
{
	return two_rename(f, "f", "g");
}

static uint32_t (*const conflicts[])(struct two *f) = {open_read, two_open_write, read_anonymous,
	write_anonymous, test_lock, two_set_mode, rename_it, two_link, two_remove};

static void all_others_wait(void **state)
{
	for (unsigned i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		struct nfs4_stateid sid;
		struct two *f;

		if (i > 0)
			assert_int_equal(setup(state), 0);
		f = *state;
		sid = delegated(f);
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
		two_be(f, true);
		assert_int_equal(get_attr(f, FATTR4_MODE), NFS4_OK);
		assert_int_equal(conflicts[i](f), NFS4ERR_DELAY);
		cb_notify_all(&f->e.sv);
		two_answer_recall(f, &sid, NFS4_OK);
		/* the delegation is not back yet */
		assert_int_equal(conflicts[i](f), NFS4ERR_DELAY);
		/* the holder writes its changed data */
		two_be(f, false);
		assert_int_equal(write_by(f, &sid), NFS4_OK);
		assert_int_equal(two_give(f, &sid), NFS4_OK);
		two_be(f, true);
		assert_int_equal(conflicts[i](f), NFS4_OK);
		assert_int_equal(f->e.sv.state.delegs->n, 0);
		assert_int_equal(f->e.sv.state.delegs->nwrite, 0);
		if (i + 1 < sizeof(conflicts) / sizeof(conflicts[0]))
			assert_int_equal(two_teardown(state), 0);
	}
}

/* The holder's own operations use the descriptor with the lease. */
static void its_holder_is_not_in_its_own_way(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = delegated(f), first = f->open;
	struct nfs4_open_args cut = {
		.share_access = RD, .create = true, .mode = UNCHECKED4, .claim = CLAIM_NULL};
	struct nfs4_bitmap mask = nfs4_bits(FATTR4_SIZE, -1);
	uint8_t vals[8] = {0};

	cut.attrs = (struct nfs4_fattr){.mask = mask, .vals = {vals, sizeof(vals)}};
	assert_int_equal(env_close(&f->e, &f->fh, &first), NFS4_OK);
	for (uint32_t access = RD; access <= RW; access++) {
		assert_int_equal(two_open(f, access, 0), NFS4_OK);
		assert_int_equal(f->d.type, OPEN_DELEGATE_NONE);
		if (access & WR)
			assert_int_equal(write_by(f, &f->open), NFS4_OK);
		else
			assert_int_equal(write_by(f, &f->open), NFS4ERR_OPENMODE);
		assert_int_equal(read_by(f, &f->open), NFS4_OK);
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	}
	assert_int_equal(two_open_with(f, "f", &cut), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(set_size(f, &nfs4_stateid_anonymous, 8), NFS4_OK);
	assert_int_equal(write_anonymous(f), NFS4_OK);
	assert_int_equal(read_anonymous(f), NFS4_OK);
	assert_int_equal(env_commit(&f->e, &f->fh), NFS4_OK);
	assert_int_equal(get_attr(f, FATTR4_SIZE), NFS4_OK);
	assert_int_equal(test_lock(f), NFS4_OK);
	assert_int_equal(two_set_mode(f), NFS4_OK);
	assert_int_equal(two_link(f), NFS4_OK);
	assert_int_equal(rename_it(f), NFS4_OK);
	assert_false(signalled(0));
	assert_false(deleg_disturbed(&f->e.sv.state));
	deleg_leases_broken(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	assert_int_equal(two_ncalls, 0);
	assert_int_equal(two_give(f, &sid), NFS4_OK);
}

static void a_local_reader_is_noticed(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid;
	char path[128];
	int fd;

	sid = delegated(f); /* and open to write */
	env_path(&f->e, "f", path, sizeof(path));
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EWOULDBLOCK);
	assert_true(signalled(20));
	deleg_leases_broken(&f->e.sv.state);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4_OK);
	assert_int_equal(write_by(f, &sid), NFS4_OK);
	assert_int_equal(two_open(f, RD, 0), NFS4_OK); /* while the lease is being broken */
	assert_int_equal(two_give(f, &sid), NFS4_OK);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	/* while a local program has the file open, no client gets a write delegation */
	two_later_ns += 60 * NSEC_PER_SEC;
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	assert_int_equal(two_open(f, RW | ANY, 0), NFS4_OK);
	assert_int_equal(f->d.type, OPEN_DELEGATE_NONE_EXT);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	close(fd);
	delegated(f);
}

/* Changes that break no lease, before and after the holder has changed the file. */
static void what_local_programs_change_is_noticed(void **state)
{
	struct two *f = *state;
	struct timespec wait = {.tv_sec = 20};
	char path[128], other[128];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	env_path(&f->e, "f", path, sizeof(path));
	env_path(&f->e, "other", other, sizeof(other));
	for (unsigned i = 0; i < 4; i++) {
		struct nfs4_stateid sid = delegated(f);

		if (i == 1) {
			assert_int_equal(two_set_mode(f), NFS4_OK);
			assert_false(deleg_disturbed(&f->e.sv.state));
		}
		assert_int_equal(i == 3 ? rename(path, other) : chmod(path, 0600 + i), 0);
		if (i == 2)
			assert_int_equal(two_set_mode(f), NFS4_OK);
		assert_int_equal(sigtimedwait(&set, NULL, &wait), SIGIO);
		assert_true(deleg_disturbed(&f->e.sv.state));
		cb_notify_all(&f->e.sv);
		two_be(f, false);
		two_answer_recall(f, &sid, NFS4_OK);
		assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
		assert_int_equal(two_give(f, &sid), NFS4_OK);
		two_later_ns += 60 * NSEC_PER_SEC;
	}
}

static void one_with_data_can_be_written_back_until_it_is_revoked(void **state)
{
	struct two *f = *state;
	struct nfs4_stateid sid = delegated(f), open = f->open;

	two_be(f, true);
	assert_int_equal(open_read(f), NFS4ERR_DELAY);
	cb_notify_all(&f->e.sv);
	two_answer_recall(f, &sid, NFS4_OK);
	two_be(f, false);
	for (unsigned i = 0; i < 10; i++) { /* the client lives, but keeps the delegation */
		two_status_flags(f);
		two_later_ns += 10 * NSEC_PER_SEC;
		deleg_tick(&f->e.sv.state);
		cb_notify_all(&f->e.sv);
		if (two_out)
			two_answer_recall(f, &sid, NFS4_OK);
	}
	assert_int_equal(two_status_flags(f), SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
	assert_int_equal(write_by(f, &sid), NFS4ERR_DELEG_REVOKED);
	assert_int_equal(write_by(f, &open), NFS4_OK); /* the client's open is not affected */
	assert_int_equal(f->e.sv.state.delegs->nwrite, 0);
	two_be(f, true);
	assert_int_equal(open_read(f), NFS4_OK);
	two_be(f, false);
	assert_int_equal(two_free_sid(f, &sid), NFS4_OK);
}

/* After a restart: an open to read has no descriptor that allows a lease. */
static void a_reclaimed_one_is_given_at_any_rate(void **state)
{
	struct two *f = *state;
	struct state *s = &f->e.sv.state;
	struct session *ses = session_get(s, &f->e.session);
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = f->e.uid};
	struct deleg_ask ask = {.access = RD, .reclaim = true, .claimed = OPEN_DELEGATE_WRITE};
	struct nfs4_delegation d;
	struct obj *o;

	assert_int_equal(two_open(f, RD | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, 0), NFS4_OK);
	assert_int_equal(obj_by_handle(f->e.sv.objs, f->fh.data, f->fh.len, &o), 0);
	deleg_grant(s, ses, &cred, o, &f->open, &ask, &d);
	assert_int_equal(d.type, OPEN_DELEGATE_WRITE);
	assert_true(d.recall);
	assert_int_equal(write_by(f, &d.stateid), NFS4_OK);
	cb_notify_all(&f->e.sv);
	two_be(f, false); /* f->holder is saved */
	two_answer_recall(f, &d.stateid, NFS4_OK);
	assert_int_equal(two_give(f, &d.stateid), NFS4_OK);
	assert_int_equal(env_close(&f->e, &f->fh, &f->open), NFS4_OK);
	/* an open to write has one */
	assert_int_equal(two_open(f, RW | OPEN4_SHARE_ACCESS_WANT_NO_DELEG, 0), NFS4_OK);
	deleg_grant(s, ses, &cred, o, &f->open, &ask, &d);
	assert_int_equal(d.type, OPEN_DELEGATE_WRITE);
	assert_false(d.recall);
	assert_int_equal(two_give(f, &d.stateid), NFS4_OK);
	s->delegs->mode = DELEG_READ;
	deleg_grant(s, ses, &cred, o, &f->open, &ask, &d);
	assert_int_equal(d.type, OPEN_DELEGATE_NONE);
	obj_unref(f->e.sv.objs, o);
	session_put(s, ses);
}

int main(void)
{
#define TEST(f)	       cmocka_unit_test_setup_teardown(f, setup, two_teardown)
#define TEST_LEASES(f) cmocka_unit_test_setup_teardown(f, setup_leases, two_teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_writes_alone_gets_one),
		TEST_LEASES(a_new_file_is_delegated_at_once),
		TEST_LEASES(the_kind_is_as_wanted),
		TEST(who_is_not_alone_gets_none),
		TEST(all_others_wait),
		TEST_LEASES(its_holder_is_not_in_its_own_way),
		TEST_LEASES(a_local_reader_is_noticed),
		TEST_LEASES(what_local_programs_change_is_noticed),
		TEST(one_with_data_can_be_written_back_until_it_is_revoked),
		TEST_LEASES(a_reclaimed_one_is_given_at_any_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
