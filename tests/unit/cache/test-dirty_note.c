/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/dirty_note: the written data of a daemon that is killed at any step.
 *
 * A child process writes, sends and cuts at random, and kills itself at a random call of the
 * ledger; or is killed at a random moment. A successor reads the notes, and finishes the step that
 * was under way, as the kernel and the server do. The successor's data must then make the server's
 * file the file that the writers see, with and without a restart of the server.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cache/dirty.h"
#include "cache/dirty_note.h"

#define BASE	(DIRTY_RUN - 30000u) /* the written bytes lie about the end of a run */
#define SPAN	90000u
#define LIMIT	(256u << 10)
#define STEPS	1500u
#define FILE_ID 77u

enum step { NOTHING, WRITING, RESTARTING, BESIDE, CUTTING };

/* What the child leaves behind beside the ledger and the memory file: the file as the writers see
 * it, as the server has it, as a restart would leave it; and the step that is under way. */
struct world {
	uint8_t want[SPAN], server[SPAN], safe[SPAN];
	enum step step;
	uint32_t off, len; /* of the step */
	unsigned by;
	uint8_t with;
	uint64_t gen, time;
	/* a change of another kind that turns these bytes into 0xdd; len 0: none is in flight */
	uint32_t cut_off, cut_len;
	bool cut_works;
	uint64_t cut_since;
	unsigned steps; /* done */
};

static struct world *w;
static struct daemon {
	struct ledger *ledger;
	struct mem_pool *pool;
	struct dirty_file d;
	struct dirty_owner owner[2];
	struct dirty_cut cut;
	size_t used;
} * m;
static uint8_t data[SPAN];
static struct flight {
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	unsigned n;
} flight[4];
static unsigned nflights;

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

/* --- fixture -----------------------------------------------------------------------------------
 */

static struct mem_buf *get(void *ctx, size_t size)
{
	struct daemon *of = ctx;
	struct mem_buf *buf = of->used + size > LIMIT ? NULL : mem_buf_get(of->pool, size);

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

/* m becomes a daemon without data. pool: the daemon's from now on. */
static void begin(struct mem_pool *pool)
{
	struct dirty_memory *memory = calloc(1, sizeof(*memory));
	struct err e = {0};

	assert_non_null(pool);
	m = calloc(1, sizeof(*m));
	m->pool = pool;
	m->ledger = ledger_new(&e);
	assert_non_null(m->ledger);
	*memory = (struct dirty_memory){.get = get, .put = put, .ctx = m};
	dirty_init(&m->d, memory);
	m->d.ledger = m->ledger;
	m->d.id = FILE_ID;
	m->owner[0].number = 100;
	m->owner[1].number = 101;
	nflights = 0;
}

static void end(struct daemon *of)
{
	dirty_forget(&of->d, &of->owner[0]);
	dirty_forget(&of->d, &of->owner[1]);
	dirty_gave_up(&of->d);
	dirty_finish(&of->d);
	assert_int_equal(of->used, 0);
	ledger_free(of->ledger);
	mem_pool_free(of->pool);
	free((void *)of->d.memory);
	free(of);
}

static int setup(void **state)
{
	struct err e = {0};

	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(w != MAP_FAILED);
	kill_at = 0;
	begin(mem_pool_new_shared(8 << 20, &e));
	return 0;
}

static int teardown(void **state)
{
	end(m);
	munmap(w, sizeof(*w));
	return 0;
}

/* --- a successor -------------------------------------------------------------------------------
 */

/* Adds the extents that are NEW, or that are not, to d, whose pool has kept the blocks. */
static void take_extents(const struct former *f, bool new)
{
	struct dirty_extent x;
	struct dirty_noted n;
	struct dirty_mem *mem;
	struct mem_buf *buf;

	for (uint32_t i = 0; i < former_count(f, NOTE_EXTENT); i++) {
		assert_true(dirty_noted(f, i, &n));
		assert_int_equal(n.id, FILE_ID);
		assert_in_range(n.number, 100, 101);
		if ((n.state == NOTED_NEW) != new)
			continue;
		buf = mem_pool_kept(m->pool, &n.place);
		assert_non_null(buf);
		m->used += buf->size;
		mem = dirty_mem_begin(buf);
		x = (struct dirty_extent){.by = &m->owner[n.number - 100],
			.mem = mem,
			.at = n.at,
			.off = n.off,
			.len = n.len,
			.state = new ? DIRTY_NEW : DIRTY_UNSTABLE,
			.lost = n.state == NOTED_LOST,
			.sent = n.sent,
			.gen = n.gen,
			.got = n.got};
		assert_true(dirty_former(&m->d, &x));
		dirty_mem_end(&m->d, mem);
	}
}

/* m becomes a daemon that takes over from `of`, whose notes and memory stay. */
static void take_over(const struct daemon *of)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(of->ledger), &e);
	struct mem_place *place;
	struct dirty_noted n;
	uint32_t count;

	assert_non_null(f);
	count = former_count(f, NOTE_EXTENT);
	place = calloc(count + 1, sizeof(*place));
	for (uint32_t i = 0; i < count; i++) {
		assert_true(dirty_noted(f, i, &n));
		place[i] = n.place;
	}
	begin(mem_pool_take_over(8 << 20, mem_pool_fd(of->pool), place, count, &e));
	take_extents(f, true);
	take_extents(f, false);
	free(place);
	former_free(f);
}

/* --- steps -------------------------------------------------------------------------------------
 */

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

static uint64_t guard_now(const struct dirty_owner *by, uint64_t off, uint64_t len)
{
	return 0;
}

static void take_off(void)
{
	struct flight *f = &flight[nflights];
	uint64_t from = BASE + below(SPAN);

	if (nflights == 4)
		return;
	f->n = dirty_run(&m->d, &from, f->run);
	if (!f->n)
		return;
	dirty_writing(&m->d, f->run, f->n, ++w->time, 0);
	nflights++;
}

/* The server has got a WRITE: on stable storage or not. */
static void land(bool unstable)
{
	struct flight *f;
	unsigned i;

	if (!nflights)
		return;
	i = below(nflights);
	f = &flight[i];
	for (unsigned k = 0; k < f->n; k++) {
		const struct dirty_extent *x = f->run[k];
		const uint8_t *from = x->mem->buf->data + x->at;

		memcpy(w->server + (x->off - BASE), from, x->len);
		if (!unstable)
			memcpy(w->safe + (x->off - BASE), from, x->len);
	}
	dirty_wrote(&m->d, f->run, f->n, unstable, w->gen + 1, ++w->time);
	w->gen++;
	*f = flight[--nflights];
}

static void land_all(void)
{
	while (nflights)
		land(below(4));
}

static void commit(void)
{
	land_all();
	memcpy(w->safe, w->server, SPAN);
	dirty_committed(&m->d, w->gen);
}

static void send_all(void)
{
	for (unsigned n = nflights + 1; n != nflights;) {
		n = nflights;
		take_off();
	}
	land_all();
}

static void cut_answered(void)
{
	if (!w->cut_len)
		return;
	dirty_cut_end(&m->d, &m->cut, BASE + w->cut_off, w->cut_works ? w->cut_len : 0);
	assert_int_equal(m->d.lost, 0);
	w->cut_len = 0;
}

/* The write of the step. */
static void do_write(void)
{
	uint32_t took;

	memset(data, w->with, w->len);
	for (uint32_t done = 0;; done += took) {
		switch (dirty_put(&m->d, &m->owner[w->by], BASE + w->off + done, data,
			w->len - done, &took)) {
		case DIRTY_DONE:
			memset(w->want + w->off, w->with, w->len);
			return;
		case DIRTY_BUSY:
			send_all();
			break;
		case DIRTY_FULL:
			send_all();
			cut_answered(); /* lost extents take memory until then */
			commit();
			break;
		}
	}
}

/* A large write, whose block is kept. */
static bool do_take(void)
{
	struct mem_buf *buf = get(m, w->len + 100);

	if (!buf)
		return false;
	memset(buf->data + 100, w->with, w->len);
	if (dirty_take(&m->d, &m->owner[w->by], BASE + w->off, buf, 100, w->len) != DIRTY_DONE) {
		put(m, buf);
		return false;
	}
	memset(w->want + w->off, w->with, w->len);
	return true;
}

static void do_restart(void)
{
	memcpy(w->server, w->safe, SPAN);
	dirty_redo(&m->d, 0, guard_now);
}

/* Another client writes, after the writes of this mount. */
static void do_beside(void)
{
	memset(w->want + w->off, w->with, w->len);
	memset(w->server + w->off, w->with, w->len);
	memset(w->safe + w->off, w->with, w->len);
	dirty_cut(&m->d, BASE + w->off, w->len, UINT64_MAX);
}

/* The server carries the change out at once, or refuses it, and answers later. */
static void do_cut(void)
{
	if (!w->cut_works)
		return;
	memset(w->want + w->cut_off, 0xdd, w->cut_len);
	memset(w->server + w->cut_off, 0xdd, w->cut_len);
	memset(w->safe + w->cut_off, 0xdd, w->cut_len);
}

static void write_somewhere(void)
{
	w->off = below(SPAN);
	w->len = 1 + below(below(3) ? 3000 : 50000);
	w->len = w->len > SPAN - w->off ? SPAN - w->off : w->len;
	w->by = !below(8);
	w->with = (uint8_t)rand();
	w->step = WRITING;
	if (below(3) || !do_take())
		do_write();
}

static void restart(void)
{
	land_all();
	w->step = RESTARTING;
	do_restart();
}

static void write_beside(void)
{
	w->off = below(SPAN);
	w->len = 1 + below(SPAN - w->off);
	w->with = 0xee;
	if (dirty_overlaps(&m->d, BASE + w->off, w->len))
		return;
	w->step = BESIDE;
	do_beside();
}

static void cut_begins(void)
{
	uint32_t off = below(SPAN), len = 1 + below(SPAN - off);

	if (w->cut_len || dirty_overlaps(&m->d, BASE + off, len))
		return;
	w->step = CUTTING;
	w->cut_off = off;
	w->cut_works = below(3);
	w->cut_since = ++w->time;
	dirty_cut_begin(&m->d, &m->cut, w->cut_since);
	w->cut_len = len;
	do_cut();
}

static void step(void)
{
	switch (below(14)) {
	case 0:
	case 1:
		take_off();
		break;
	case 2:
		land(below(4));
		break;
	case 3:
		if (!below(6))
			restart();
		break;
	case 4:
		if (!below(4))
			commit();
		break;
	case 5:
		if (!below(3))
			write_beside();
		break;
	case 6:
		cut_begins();
		break;
	case 7:
		cut_answered();
		break;
	default:
		write_somewhere();
	}
	w->step = NOTHING;
	w->steps++;
}

/* --- checks ------------------------------------------------------------------------------------
 */

/* Compares x with its note. */
static void check_note(const struct former *f, const struct dirty_extent *x)
{
	bool unstable = x->state == DIRTY_UNSTABLE;
	struct dirty_noted noted;
	struct mem_place place;
	uint32_t i = 0;

	do {
		assert_in_range(i, 0, former_count(f, NOTE_EXTENT) - 1);
		assert_true(dirty_noted(f, i++, &noted));
	} while (noted.off != x->off);
	assert_int_equal(noted.len, x->len);
	assert_int_equal(noted.at, x->at);
	assert_int_equal(noted.number, x->by->number);
	assert_int_equal(noted.state, !unstable ? NOTED_NEW
				      : x->lost ? NOTED_LOST
						: NOTED_UNSTABLE);
	if (unstable) {
		assert_int_equal(noted.gen, x->gen);
		assert_int_equal(noted.sent, x->sent);
		assert_int_equal(noted.got, x->got);
	}
	assert_true(mem_buf_place(x->mem->buf, &place));
	assert_int_equal(place.slab, noted.place.slab);
	assert_int_equal(place.index, noted.place.index);
}

/* Compares the extents below x with their notes. Returns how many these are. */
static uint32_t check_below(const struct former *f, const struct dirty_extent *x)
{
	if (!x)
		return 0;
	check_note(f, x);
	return 1 + check_below(f, RB_LEFT(x, node)) + check_below(f, RB_RIGHT(x, node));
}

/* The notes are those of the extents, and of no others. */
static void check_notes(void)
{
	struct err e = {0};
	struct former *f = former_read(ledger_fd(m->ledger), &e);

	assert_non_null(f);
	assert_int_equal(check_below(f, RB_ROOT(&m->d.tree)), former_count(f, NOTE_EXTENT));
	former_free(f);
}

static void the_notes_are_those_of_the_extents(void **state)
{
	srand(1);
	for (unsigned i = 0; i < 3 * STEPS; i++) {
		step();
		if (i % 20 == 0)
			check_notes();
	}
	cut_answered();
	land_all();
	check_notes();
	assert_true(ledger_is_whole(m->ledger));
}

/* The step that was under way when the daemon was killed: the server and the kernel go on. */
static void finish_step(void)
{
	if (w->cut_len)
		dirty_cut_begin(&m->d, &m->cut, w->cut_since);
	switch (w->step) {
	case NOTHING:
		break;
	case WRITING:
		do_write();
		break;
	case RESTARTING:
		do_restart();
		break;
	case BESIDE:
		do_beside();
		break;
	case CUTTING:
		if (w->cut_len)
			do_cut();
		break;
	}
	w->step = NOTHING;
}

/* All data goes to the server. */
static void check_file(bool restarts)
{
	bool cut_first = below(2);

	if (cut_first)
		cut_answered();
	if (restarts)
		do_restart();
	cut_answered();
	while (dirty_bytes(&m->d, DIRTY_NEW) || nflights) {
		take_off();
		land(false);
	}
	assert_memory_equal(w->server, w->want, SPAN);
}

/* The child never returns. */
static void be_killed(unsigned seed, bool at_call)
{
	srand(seed);
	kill_at = at_call ? 1 + below(4 * STEPS) : 0;
	for (;;)
		step();
}

static void run(unsigned seed, bool at_call, unsigned *steps)
{
	struct daemon *killed, *between = NULL;
	struct err e = {0};
	pid_t child;
	int status;

	begin(mem_pool_new_shared(8 << 20, &e));
	killed = m;
	memset(w, 0, sizeof(*w));
	child = fork();
	if (!child)
		be_killed(seed, at_call);
	srand(seed + 1000000);
	if (!at_call) {
		nanosleep(&(struct timespec){.tv_nsec = below(5000000)}, NULL);
		kill(child, SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	*steps += w->steps;
	take_over(killed);
	check_notes();
	if (!below(4)) {
		/* the successor is killed, too: its notes are as good, and so are the former ones
		 */
		between = m;
		take_over(below(2) ? between : killed);
	}
	finish_step();
	check_file(seed & 1);
	end(m);
	if (between)
		end(between);
	end(killed);
}

static void a_daemon_may_be_killed_at_any_step(void **state)
{
	struct daemon *first = m;
	unsigned steps = 0;

	for (unsigned seed = 0; seed < 150; seed++)
		run(seed, true, &steps);
	m = first;
	assert_true(steps > 10000);
}

static void a_daemon_may_be_killed_at_any_moment(void **state)
{
	struct daemon *first = m;
	unsigned steps = 0;

	for (unsigned seed = 0; seed < 60; seed++)
		run(seed, false, &steps);
	m = first;
	assert_true(steps > 0);
}

/* --- damage ------------------------------------------------------------------------------------
 */

static void damaged_notes_are_refused(void **state)
{
	struct err e = {0};
	struct note note = {0};
	struct dirty_noted n;
	struct former *f;
	uint32_t took, len;
	uint64_t words[11];
	const void *noted;

	assert_int_equal(dirty_put(&m->d, &m->owner[0], 5, data, 1000, &took), DIRTY_DONE);
	f = former_read(ledger_fd(m->ledger), &e);
	noted = former_note(f, NOTE_EXTENT, 0, &len);
	assert_int_equal(len, sizeof(words));
	memcpy(words, noted, len);
	assert_true(dirty_noted(f, 0, &n));
	former_free(f);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t bad[11];

		memcpy(bad, words, sizeof(bad));
		if (i == 0)
			bad[0] = 0; /* len */
		else if (i == 1)
			bad[0] = 4097;
		else if (i == 2)
			bad[0] |= UINT64_C(1) << 32;
		else if (i == 3)
			bad[1] = 3; /* state */
		else
			bad[7] = INT64_MAX; /* off */
		ledger_put(m->ledger, &note, NOTE_EXTENT, bad, len);
		f = former_read(ledger_fd(m->ledger), &e);
		assert_false(dirty_noted(f, 1, &n));
		former_free(f);
	}
	ledger_put(m->ledger, &note, NOTE_EXTENT, words, len - 8);
	f = former_read(ledger_fd(m->ledger), &e);
	assert_false(dirty_noted(f, 1, &n));
	former_free(f);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_notes_are_those_of_the_extents),
		TEST(a_daemon_may_be_killed_at_any_step),
		TEST(a_daemon_may_be_killed_at_any_moment),
		TEST(damaged_notes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
