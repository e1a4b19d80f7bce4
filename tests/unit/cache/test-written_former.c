/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/written_former: a successor goes on with written data, over a server that the
 * test plays.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "cache/writeback_impl.h"
#include "tests/unit/fs/fake-nfs.h"
#include "transport/clock.h"

#define SPAN	  200000u
#define FILE_ID	  33u
#define WRITER	  500u
#define KILLS	  150u
#define CALLS_MAX 1500u /* of the ledger, before a child is killed */

/* The server, as seen and as a restart would leave it; what the programs have written; and the
 * write that is under way. Outlives a daemon. */
static struct world {
	uint8_t want[SPAN], server[SPAN], safe[SPAN];
	unsigned verf, writes, commits;
	int error; /* of WRITEs */
	uint32_t off, len;
	uint8_t with;
	bool writing;
	unsigned steps;
} * w;

static struct daemon {
	struct mem_pool *pool;
	struct ledger *ledger;
	struct nfs_client *client;
	struct writeback_ops ops;
	struct writeback *all;
	struct nfs_fh fh;
	struct filedata data;
	struct written f;
	struct rpc_cred cred;
	struct writer by;
	struct filedata_view view; /* of the writer */
	size_t used;
} * m;

/* --- the ledger kills --------------------------------------------------------------------------
 */

static unsigned kill_at; /* the process is killed before that call; 0: never */

static void call(void)
{
	if (kill_at && !--kill_at)
		raise(SIGKILL);
}

void __real_ledger_put(
	struct ledger *l, struct note *n, enum note_kind kind, const void *bytes, size_t len);
void __real_ledger_drop(struct ledger *l, struct note *n);
_Atomic uint64_t *__real_ledger_words(struct ledger *l, const struct note *n);
void __wrap_ledger_put(
	struct ledger *l, struct note *n, enum note_kind kind, const void *bytes, size_t len);
void __wrap_ledger_drop(struct ledger *l, struct note *n);
_Atomic uint64_t *__wrap_ledger_words(struct ledger *l, const struct note *n);

void __wrap_ledger_put(
	struct ledger *l, struct note *n, enum note_kind kind, const void *bytes, size_t len)
{
	call();
	__real_ledger_put(l, n, kind, bytes, len);
}

void __wrap_ledger_drop(struct ledger *l, struct note *n)
{
	call();
	__real_ledger_drop(l, n);
}

_Atomic uint64_t *__wrap_ledger_words(struct ledger *l, const struct note *n)
{
	call();
	return __real_ledger_words(l, n);
}

/* --- the server --------------------------------------------------------------------------------
 */

static void set_verf(uint8_t *verf)
{
	memset(verf, 0, NFS_VERF_SIZE);
	verf[0] = (uint8_t)w->verf;
}

static bool serve(struct nfs_op *op)
{
	op->error = 0;
	if (op->type == NFS_COMMIT) {
		w->commits++;
		memcpy(w->safe, w->server, SPAN);
		set_verf(op->u.commit.verf);
		op->u.commit.attr.have = false;
		return true;
	}
	if (op->type != NFS_WRITE)
		return false;
	w->writes++;
	op->error = w->error;
	op->u.write.attr.have = false;
	if (op->error)
		return true;
	seg_list_gather(&op->u.write.from, w->server + op->u.write.offset);
	op->u.write.count = op->u.write.from.len;
	op->u.write.committed = op->u.write.stable;
	if (op->u.write.stable == NFS_FILE_SYNC)
		memcpy(w->safe + op->u.write.offset, w->server + op->u.write.offset,
			op->u.write.count);
	set_verf(op->u.write.verf);
	return true;
}

static void restart_server(void)
{
	memcpy(w->server, w->safe, SPAN);
	w->verf++;
}

/* --- daemons -----------------------------------------------------------------------------------
 */

static struct mem_buf *get(void *ctx, size_t size)
{
	struct daemon *of = ctx;
	struct mem_buf *buf = mem_buf_get(of->pool, size);

	if (buf)
		of->used += buf->size;
	return buf;
}

static void put(void *ctx, struct mem_buf *buf)
{
	struct daemon *of = ctx;

	of->used -= buf->size;
	mem_buf_unref(buf);
}

static void kept(void *ctx, struct mem_buf *buf)
{
	struct daemon *of = ctx;

	of->used += buf->size;
}

static void held(struct written *f)
{
}

static void write_begins(struct writer *by)
{
}

static void write_ended(struct writer *by, const struct nfs_op *op)
{
}

static void commit_ended(
	void *ctx, struct written *f, const struct nfs_op *op, uint64_t asked, bool again)
{
}

/* m becomes a daemon with one file that one writer has open. */
static void begin(struct mem_pool *pool)
{
	struct err e = {0};

	assert_non_null(pool);
	m = calloc(1, sizeof(*m));
	m->pool = pool;
	m->ledger = ledger_new(&e);
	assert_non_null(m->ledger);
	m->client = fake_client_new();
	m->ops = (struct writeback_ops){.get = get,
		.put = put,
		.kept = kept,
		.hold = held,
		.release = held,
		.write_begin = write_begins,
		.write_end = write_ended,
		.commit_end = commit_ended,
		.ctx = m};
	m->all = writeback_new(&m->ops, 64 << 20);
	writeback_start(m->all, m->client, 64 << 10);
	m->fh.len = 4;
	m->cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = 5, .ngids = 2, .gids = {6, 7}};
	filedata_init(&m->data);
	written_init(&m->f, &m->fh, &m->data);
	written_note(&m->f, m->ledger, FILE_ID);
	filedata_open(&m->data, &m->view);
	writer_init(&m->by, &m->f, NULL, &m->cred);
	writer_note(&m->by, WRITER);
}

static void end(struct daemon *of)
{
	assert_true(writeback_close(&of->by));
	assert_int_equal(of->used, 0);
	written_finish(&of->f);
	filedata_finish(&of->data);
	writeback_free(of->all);
	nfs_client_free(of->client);
	ledger_free(of->ledger);
	mem_pool_free(of->pool);
	free(of);
}

static bool knows_file, knows_writer;

static struct written *find_written(void *ctx, uint64_t id)
{
	return knows_file && id == FILE_ID ? &m->f : NULL;
}

static struct writer *find_writer(void *ctx, uint64_t number)
{
	return knows_writer && number == WRITER ? &m->by : NULL;
}

static const struct written_find find = {.written = find_written, .writer = find_writer};

/* m becomes the successor of `of`, whose notes and memory stay. */
static void take_over(const struct daemon *of)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(of->ledger), &e);
	struct filedata_view view = of->view;

	assert_non_null(f);
	begin(written_former_pool(64 << 20, mem_pool_fd(of->pool), f, &e));
	m->view = view; /* as from the note of the open file */
	assert_true(written_former(m->all, m->pool, f, &find, &e));
	former_free(f);
}

static int setup(void **state)
{
	struct err e = {0};

	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(w != MAP_FAILED);
	w->verf = 1;
	fake_knobs = (struct fake_knobs){0};
	fake_knobs.sync = true;
	fake_knobs.script = serve;
	kill_at = 0;
	knows_file = knows_writer = true;
	begin(mem_pool_new_shared(64 << 20, &e));
	return 0;
}

static int teardown(void **state)
{
	end(m);
	munmap(w, sizeof(*w));
	return 0;
}

static void ready(struct writeback_wait *wait)
{
}

/* Brings all data to that level. False: the wait has not ended. */
static bool reach(enum written_level level)
{
	static struct writeback_wait wait;

	wait = (struct writeback_wait){.ready = ready, .cred = &m->cred};
	writeback_wait(m->all, &m->f, &wait, level);
	return !writeback_unwait(&m->f, &wait);
}

static void do_write(void)
{
	static uint8_t data[SPAN];
	uint32_t took;

	memset(data, w->with, w->len);
	for (uint32_t done = 0;; done += took) {
		enum dirty_put r =
			writeback_put(m->all, &m->by, w->off + done, data, w->len - done, &took);

		if (r == DIRTY_DONE)
			break;
		assert_int_equal(
			r, DIRTY_BUSY); /* and was sent, over a server that answers at once */
	}
	memset(w->want + w->off, w->with, w->len);
}

static void write_at(uint32_t off, uint32_t len, uint8_t with)
{
	w->off = off;
	w->len = len;
	w->with = with;
	w->writing = true;
	do_write();
	w->writing = false;
}

static uint64_t bytes(enum dirty_state state)
{
	return dirty_bytes(&m->f.dirty, state);
}

static uint32_t notes(enum note_kind kind)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(m->ledger), &e);
	uint32_t n;

	assert_non_null(f);
	n = former_count(f, kind);
	former_free(f);
	return n;
}

/* --- cases -------------------------------------------------------------------------------------
 */

static void new_data_is_sent_by_the_successor(void **state)
{
	struct daemon *former = m;

	write_at(0, 5000, 1);
	write_at(3000, 90000, 2);
	write_at(150000, 10, 3);
	take_over(former);
	assert_int_equal(bytes(DIRTY_NEW), 93010);
	assert_true(writeback_bytes(m->all) >= 93010);
	written_former_end(m->all, m->pool);
	assert_true(notes(NOTE_EXTENT) > 0);
	assert_true(reach(STABLE));
	assert_memory_equal(w->safe, w->want, SPAN);
	assert_int_equal(notes(NOTE_EXTENT) + notes(NOTE_LOSS), 0);
	assert_int_equal(writeback_bytes(m->all), 0);
	end(former);
}

static void unstable_data_waits_for_its_commit(void **state)
{
	struct daemon *former = m;

	write_at(0, 90000, 1);
	assert_true(reach(WRITTEN));
	assert_int_equal(bytes(DIRTY_UNSTABLE), 90000);
	w->writes = 0;
	take_over(former);
	assert_int_equal(bytes(DIRTY_NEW), 0);
	assert_int_equal(bytes(DIRTY_UNSTABLE), 90000);
	assert_true(written_may_be_lost(&m->f, 0, 100));
	assert_true(reach(STABLE));
	assert_int_equal(w->writes, 0);
	assert_int_equal(w->commits, 1);
	assert_int_equal(bytes(DIRTY_UNSTABLE), 0);
	assert_memory_equal(w->safe, w->want, SPAN);
	written_former_end(m->all, m->pool);
	end(former);
}

static void a_restart_is_noticed_by_the_verifier(void **state)
{
	struct daemon *former = m;

	write_at(0, 70000, 1);
	assert_true(reach(WRITTEN));
	restart_server();
	take_over(former);
	/* the former daemon may have cut the file: the data is not written again yet */
	w->writes = 0;
	assert_false(reach(STABLE));
	assert_int_equal(w->writes, 0);
	written_former_end(m->all, m->pool);
	assert_true(reach(STABLE));
	assert_memory_equal(w->safe, w->want, SPAN);
	assert_int_equal(filedata_fsync(&m->data, &m->view), 0);
	end(former);
}

static void a_request_that_never_ends_holds_up_no_data(void **state)
{
	struct daemon *former = m;

	write_at(0, 70000, 1);
	assert_true(reach(WRITTEN));
	restart_server();
	take_over(former);
	assert_false(reach(STABLE));
	writeback_tick(m->all);
	assert_false(reach(STABLE));
	m->f.former.dirty.since -= 30 * NSEC_PER_SEC;
	writeback_tick(m->all);
	assert_true(reach(STABLE));
	assert_memory_equal(w->safe, w->want, SPAN);
	written_former_end(m->all, m->pool);
	end(former);
}

/* Killed between an answer with another verifier and the rewriting. */
static void a_restart_that_was_noticed_before_is_not_forgotten(void **state)
{
	struct daemon *former = m;
	uint8_t verf[NFS_VERF_SIZE];

	write_at(0, 70000, 1);
	assert_true(reach(WRITTEN));
	restart_server();
	set_verf(verf);
	assert_int_equal(
		filedata_wrote(&m->data, &m->cred, NFS_UNSTABLE, verf, true), FILEDATA_OTHER);
	take_over(former);
	written_former_end(m->all, m->pool);
	assert_true(reach(STABLE));
	assert_memory_equal(w->safe, w->want, SPAN);
	end(former);
}

/* Killed between the answer to a COMMIT and the end of the extents. */
static void committed_data_is_not_written_again(void **state)
{
	struct daemon *former = m;
	struct rpc_cred by;
	uint8_t verf[NFS_VERF_SIZE];

	write_at(0, 70000, 1);
	assert_true(reach(WRITTEN));
	memcpy(w->safe, w->server, SPAN);
	set_verf(verf);
	filedata_committed(&m->data, filedata_commit(&m->data, &by), verf);
	assert_int_equal(notes(NOTE_LOSS), 0);
	assert_true(notes(NOTE_EXTENT) > 0);
	take_over(former);
	assert_int_equal(bytes(DIRTY_NEW) + bytes(DIRTY_UNSTABLE), 0);
	assert_int_equal(notes(NOTE_EXTENT), 0);
	written_former_end(m->all, m->pool);
	end(former);
}

static void a_loss_is_told_once_to_each_opener(void **state)
{
	struct filedata_view told, later;
	struct daemon *former = m;

	filedata_open(&m->data, &told);
	write_at(0, 100, 1);
	w->error = -ENOSPC;
	assert_true(reach(WRITTEN));
	assert_int_equal(filedata_fsync(&m->data, &told), -ENOSPC);
	take_over(former);
	assert_int_equal(filedata_fsync(&m->data, &told), 0);
	assert_int_equal(filedata_flush(&m->data, &m->view), -ENOSPC);
	assert_int_equal(filedata_fsync(&m->data, &m->view), -ENOSPC);
	assert_int_equal(filedata_fsync(&m->data, &m->view), 0);
	filedata_open(&m->data, &later);
	assert_int_equal(filedata_fsync(&m->data, &later), 0);
	assert_int_equal(notes(NOTE_LOSS), 1);
	written_former_end(m->all, m->pool);
	end(former);
}

static void data_without_a_copy_is_still_at_risk(void **state)
{
	struct daemon *former = m;
	uint8_t verf[NFS_VERF_SIZE];

	set_verf(verf);
	filedata_wrote(&m->data, &m->cred, NFS_UNSTABLE, verf, false);
	take_over(former);
	assert_true(filedata_at_risk(&m->data));
	assert_true(rpc_same_cred(&m->data.by, &m->cred));
	written_former_end(m->all, m->pool);
	restart_server();
	assert_true(reach(STABLE));
	assert_int_equal(filedata_fsync(&m->data, &m->view), -EIO);
	end(former);
}

static void what_another_client_has_replaced_is_not_written_over(void **state)
{
	struct daemon *former = m;

	write_at(0, 70000, 1);
	assert_true(reach(WRITTEN));
	atomic_store(&m->data.change.replaced, UINT64_MAX);
	m->f.committing = true; /* the COMMIT that is sent at once has no answer yet */
	writeback_commit(&m->f);
	m->f.committing = false;
	restart_server();
	take_over(former);
	written_former_end(m->all, m->pool);
	w->writes = 0;
	assert_true(reach(STABLE));
	assert_int_equal(w->writes, 0);
	assert_int_equal(filedata_fsync(&m->data, &m->view), -EIO);
	assert_int_equal(notes(NOTE_EXTENT), 0);
	end(former);
}

static void data_of_an_unknown_file_is_dropped(void **state)
{
	struct daemon *former = m;

	write_at(0, 70000, 1);
	assert_true(reach(WRITTEN));
	write_at(1000, 10, 2);
	knows_writer = false;
	take_over(former);
	assert_int_equal(notes(NOTE_EXTENT), 0);
	assert_int_equal(filedata_fsync(&m->data, &m->view), -EIO);
	end(m);
	knows_file = false;
	take_over(former);
	assert_int_equal(notes(NOTE_EXTENT) + notes(NOTE_LOSS), 0);
	written_former_end(m->all, m->pool);
	end(former);
}

static void a_writer_of_another_file_is_damage(void **state)
{
	struct daemon *former = m;
	struct written other = {0};
	struct err e = {0};
	struct former *f;

	write_at(0, 7000, 1);
	f = former_read(ledger_fd(m->ledger), &e);
	begin(written_former_pool(64 << 20, mem_pool_fd(former->pool), f, &e));
	m->by.to = &other;
	assert_false(written_former(m->all, m->pool, f, &find, &e));
	assert_non_null(strstr(e.msg, "another file open"));
	m->by.to = &m->f;
	former_free(f);
	end(former);
}

static void damaged_notes_of_files_are_refused(void **state)
{
	static const uint8_t none[600];
	struct daemon *former = m;
	struct err e = {0};
	struct note note = {0};
	struct former *f;
	uint8_t good[600];
	const void *data;
	uint32_t len;

	write_at(0, 7000, 1);
	assert_true(reach(WRITTEN));
	f = former_read(ledger_fd(m->ledger), &e);
	data = former_note(f, NOTE_LOSS, 0, &len);
	assert_in_range(len, 8, sizeof(good) - 8);
	memcpy(good, data, len);
	former_free(f);
	/* cut short, with bytes behind, and all zero */
	for (uint32_t n = 0; n <= len + 5; n += 4) {
		if (n == len)
			continue;
		ledger_drop(former->ledger, &former->data.note);
		ledger_put(former->ledger, &note, NOTE_LOSS, n == len + 4 ? none : good, n);
		f = former_read(ledger_fd(former->ledger), &e);
		begin(written_former_pool(64 << 20, mem_pool_fd(former->pool), f, &e));
		knows_file = true;
		assert_false(n != len + 4 && written_former(m->all, m->pool, f, &find, &e));
		former_free(f);
		end(m);
	}
	m = former;
}

/* --- random steps ------------------------------------------------------------------------------
 */

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

static void step(void)
{
	uint32_t off = below(SPAN), len = 1 + below(below(3) ? 3000 : 60000);

	switch (below(10)) {
	case 0:
	case 1:
		reach(WRITTEN);
		break;
	case 2:
		if (!below(2))
			restart_server();
		break;
	case 3:
		if (!below(3))
			reach(STABLE);
		else if (!below(3))
			writeback_commit(&m->f);
		break;
	default:
		write_at(off, len > SPAN - off ? SPAN - off : len, (uint8_t)rand());
	}
	w->steps++;
}

static void run(unsigned seed)
{
	struct daemon *killed, *between = NULL;
	struct err e = {0};
	pid_t child;
	int status;

	begin(mem_pool_new_shared(64 << 20, &e));
	killed = m;
	memset(w, 0, sizeof(*w));
	w->verf = 1;
	child = fake_fork(m->client);
	if (!child) {
		srand(seed);
		kill_at = 1 + below(CALLS_MAX);
		for (;;)
			step();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	srand(seed);
	take_over(killed);
	if (!below(4)) {
		between = m;
		take_over(below(2) ? between : killed);
	}
	if (seed & 1)
		restart_server();
	if (seed & 2)
		written_former_end(m->all, m->pool);
	if (w->writing)
		do_write();
	reach(WRITTEN);
	if (!(seed & 2))
		written_former_end(m->all, m->pool);
	assert_true(reach(STABLE));
	assert_memory_equal(w->server, w->want, SPAN);
	restart_server();
	assert_memory_equal(w->server, w->want, SPAN);
	assert_int_equal(filedata_fsync(&m->data, &m->view), 0);
	end(m);
	if (between)
		end(between);
	end(killed);
}

static void a_daemon_may_be_killed_at_any_step(void **state)
{
	struct daemon *first = m;
	unsigned steps = 0;

	for (unsigned seed = 0; seed < KILLS; seed++) {
		run(seed);
		steps += w->steps;
	}
	assert_true(steps > 1000);
	m = first;
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(new_data_is_sent_by_the_successor),
		TEST(unstable_data_waits_for_its_commit),
		TEST(a_restart_is_noticed_by_the_verifier),
		TEST(a_request_that_never_ends_holds_up_no_data),
		TEST(a_restart_that_was_noticed_before_is_not_forgotten),
		TEST(committed_data_is_not_written_again),
		TEST(a_loss_is_told_once_to_each_opener),
		TEST(data_without_a_copy_is_still_at_risk),
		TEST(what_another_client_has_replaced_is_not_written_over),
		TEST(data_of_an_unknown_file_is_dropped),
		TEST(a_writer_of_another_file_is_damage),
		TEST(damaged_notes_of_files_are_refused),
		TEST(a_daemon_may_be_killed_at_any_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
