/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/mem_kept and transport/mem_file: pools that a successor takes over.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "transport/mem.h"
#include "transport/mem_file.h"

#define KIB    1024u
#define MIB    (1024u * 1024)
#define BLOCKS 40u

static struct mem_pool *new_shared(size_t limit)
{
	struct err e = {0};
	struct mem_pool *pool = mem_pool_new_shared(limit, &e);

	assert_non_null(pool);
	assert_true(mem_pool_fd(pool) >= 0);
	return pool;
}

static struct mem_pool *take_over(size_t limit, int fd, const struct mem_place *kept, uint32_t n)
{
	struct err e = {0};
	struct mem_pool *pool = mem_pool_take_over(limit, fd, kept, n, &e);

	assert_non_null(pool);
	return pool;
}

static struct mem_place place_of(const struct mem_buf *b)
{
	struct mem_place p;

	assert_true(mem_buf_place(b, &p));
	return p;
}

static uint64_t file_bytes(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static size_t used(struct mem_pool *pool)
{
	struct mem_stats st;

	mem_pool_stats(pool, &st);
	return st.used_bytes;
}

static void a_block_lies_at_its_place_in_the_file(void **state)
{
	static const uint32_t sizes[] = {4 * KIB, 80 * KIB, MIB, MEM_MAX_SIZE};
	struct mem_pool *pool = new_shared(0), *other = mem_pool_new(0);
	struct mem_place p;
	struct mem_buf *b;

	for (unsigned i = 0; i < 4; i++) {
		struct mem_buf *first = mem_buf_get(pool, sizes[i]);
		char got[5] = {0};

		b = mem_buf_get(pool, sizes[i]);
		memcpy(b->data, "here", 4);
		p = place_of(b);
		assert_int_equal(p.size, b->size);
		assert_true(p.index < p.blocks);
		assert_int_equal(pread(mem_pool_fd(pool), got, 4,
					 (off_t)(p.slab + (uint64_t)p.index * p.size)),
			4);
		assert_string_equal(got, "here");
		mem_buf_unref(first);
		mem_buf_unref(b);
	}
	b = mem_buf_get(other, 1);
	assert_false(mem_buf_place(b, &p));
	assert_int_equal(mem_pool_fd(other), -1);
	mem_buf_unref(b);
	mem_pool_free(other);
	mem_pool_free(pool);
}

static bool is_resident(const struct mem_buf *b)
{
	unsigned char vec[MEM_MAX_SIZE / 4096];

	assert_int_equal(mincore(b->data, b->size, vec), 0);
	for (uint32_t i = 0; i < b->size / 4096; i++)
		if (!(vec[i] & 1))
			return false;
	return true;
}

static void blocks_are_present_when_they_are_taken(void **state)
{
	struct mem_pool *pool = new_shared(0);
	struct mem_buf *held = mem_buf_get(pool, 64 * KIB), *b = mem_buf_get(pool, 64 * KIB);
	uint8_t *data = b->data;

	assert_true(is_resident(held));
	assert_true(is_resident(b));
	memset(held->data, 7, held->size);
	mem_buf_unref(b);
	mem_pool_trim(pool);
	assert_false(is_resident(b));
	assert_true(is_resident(held));
	b = mem_buf_get(pool, 64 * KIB);
	assert_ptr_equal(b->data, data);
	assert_true(is_resident(b));
	assert_int_equal(held->data[64 * KIB - 1], 7);
	mem_buf_unref(b);
	mem_buf_unref(held);
	mem_pool_trim(pool);
	assert_int_equal(file_bytes(mem_pool_fd(pool)), 0);
	mem_pool_free(pool);
}

/* Takes blocks of several sizes, and fills each with its number. */
static void fill(struct mem_pool *pool, struct mem_buf *b[], struct mem_place p[])
{
	static const uint32_t sizes[] = {4 * KIB, 64 * KIB, 5 * KIB, 300 * KIB, MEM_MAX_SIZE};

	for (unsigned i = 0; i < BLOCKS; i++) {
		b[i] = mem_buf_get(pool, sizes[i % 5]);
		if (!b[i])
			_exit(1); /* also in a child */
		memset(b[i]->data, (int)i + 1, b[i]->size);
		if (!mem_buf_place(b[i], &p[i]))
			_exit(1);
	}
}

static void check(const struct mem_buf *b, unsigned i)
{
	for (uint32_t at = 0; at < b->size; at += 511)
		assert_int_equal(b->data[at], i + 1);
	assert_int_equal(b->data[b->size - 1], i + 1);
}

/* A daemon that is killed: the places of its blocks. */
static void be_killed(struct mem_pool *pool, struct mem_place p[])
{
	struct mem_buf *b[BLOCKS];
	int fds[2], status;
	size_t bytes = BLOCKS * sizeof(*p);
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		fill(pool, b, p);
		if (write(fds[1], p, bytes) != (ssize_t)bytes)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	for (size_t got = 0; got < bytes;) {
		ssize_t n = read(fds[0], (char *)p + got, bytes - got);

		assert_true(n > 0);
		got += (size_t)n;
	}
	close(fds[0]);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static void a_successor_keeps_the_bytes_of_a_killed_daemon(void **state)
{
	struct mem_pool *former = new_shared(0), *pool;
	struct mem_place p[BLOCKS], kept[BLOCKS], none;
	struct mem_buf *b[BLOCKS], *more[BLOCKS];
	unsigned n = 0;

	be_killed(former, p);
	/* two of three, backwards, the last one twice */
	for (unsigned i = BLOCKS; i-- > 0;)
		if (i % 3)
			kept[n++] = p[i];
	kept[n] = kept[n - 1];
	pool = take_over(0, mem_pool_fd(former), kept, n + 1);
	for (unsigned i = 0; i < BLOCKS; i++) {
		b[i] = mem_pool_kept(pool, &p[i]);
		assert_int_equal(b[i] != NULL, i % 3 != 0);
		if (b[i])
			check(b[i], i);
	}
	none = p[1];
	none.blocks++;
	assert_null(mem_pool_kept(pool, &none));
	/* blocks that are taken now are others */
	for (unsigned i = 0; i < BLOCKS; i++) {
		more[i] = mem_buf_get(pool, p[i].size);
		memset(more[i]->data, 0xff, more[i]->size);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		if (b[i])
			check(b[i], i);
	mem_pool_kept_end(pool);
	for (unsigned i = 0; i < BLOCKS; i++) {
		if (b[i])
			check(b[i], i);
		mem_buf_unref(b[i]);
		mem_buf_unref(more[i]);
	}
	assert_int_equal(used(pool), 0);
	mem_pool_trim(pool);
	assert_int_equal(file_bytes(mem_pool_fd(pool)), 0);
	mem_pool_free(pool);
	mem_pool_free(former);
}

static void another_successor_finds_the_same_bytes(void **state)
{
	struct mem_pool *former = new_shared(64 * MIB), *first, *second;
	struct mem_place p[BLOCKS];
	struct mem_buf *b, *other;
	struct err e = {0};

	be_killed(former, p);
	first = take_over(64 * MIB, mem_pool_fd(former), p, BLOCKS);
	for (unsigned i = 0; i < 8; i++) {
		other = mem_buf_get(first, MIB);
		memset(other->data, 0xee, other->size);
		mem_buf_unref(other);
	}
	mem_pool_trim(first);
	/* a successor that fails, and one that is not ready when it ends */
	p[0].size++;
	assert_null(mem_pool_take_over(64 * MIB, mem_pool_fd(former), p, BLOCKS, &e));
	p[0].size--;
	mem_pool_free(first);
	second = take_over(64 * MIB, mem_pool_fd(former), p, BLOCKS);
	for (unsigned i = 0; i < BLOCKS; i++) {
		b = mem_pool_kept(second, &p[i]);
		check(b, i);
		mem_buf_unref(b);
	}
	assert_true(used(second) > 0);
	mem_pool_kept_end(second);
	assert_int_equal(used(second), 0);
	mem_pool_free(second);
	mem_pool_free(former);
}

static void what_no_pool_can_have_is_refused(void **state)
{
	struct mem_pool *former = new_shared(16 * MIB);
	struct mem_place good = {.slab = 0, .size = 64 * KIB, .blocks = 16, .index = 3}, p[2];
	int fd = mem_pool_fd(former), fds[2];
	struct err e;

#define REFUSED(...)                                                                               \
	do {                                                                                       \
		e = (struct err){0};                                                               \
		p[0] = good;                                                                       \
		p[1] = (struct mem_place){__VA_ARGS__};                                            \
		assert_null(mem_pool_take_over(16 * MIB, fd, p, 2, &e));                           \
		assert_non_null(strstr(e.msg, "damaged"));                                         \
	} while (0)
	REFUSED(.slab = 0, .size = 64 * KIB, .blocks = 15, .index = 3);
	REFUSED(.slab = 0, .size = 64 * KIB, .blocks = 16, .index = 16);
	REFUSED(.slab = 0, .size = 128 * KIB, .blocks = 8, .index = 5);
	REFUSED(.slab = MIB - 4096, .size = 64 * KIB, .blocks = 16, .index = 5); /* overlaps */
	REFUSED(.slab = 2 * MIB, .size = 63 * KIB, .blocks = 16, .index = 5);
	REFUSED(.slab = 2 * MIB, .size = 0, .blocks = 16, .index = 0);
	REFUSED(.slab = 2 * MIB, .size = 64 * KIB, .blocks = 0, .index = 0);
	REFUSED(.slab = 2 * MIB + 100, .size = 64 * KIB, .blocks = 16, .index = 5);
	REFUSED(.slab = (uint64_t)1 << 40, .size = 64 * KIB, .blocks = 16, .index = 5);
	REFUSED(.slab = UINT64_MAX - 4095, .size = 64 * KIB, .blocks = 16, .index = 5);
	REFUSED(.slab = 2 * MIB, .size = MIB, .blocks = UINT32_MAX, .index = 5);
	REFUSED(.slab = 2 * MIB, .size = MIB, .blocks = 9, .index = 5); /* larger than slabs are */
	mem_pool_free(take_over(16 * MIB, fd, &good, 1));
	assert_int_equal(pipe(fds), 0);
	assert_null(mem_pool_take_over(16 * MIB, fds[0], &good, 1, &e));
	close(fds[0]);
	close(fds[1]);
	mem_pool_free(former);
}

/* A successor needs memory of its own beside the kept blocks. */
static void a_full_pool_leaves_room(void **state)
{
	static const size_t limits[] = {8 * MIB, 2 * MIB};
	struct mem_pool *former = new_shared(8 * MIB), *pool;
	struct mem_buf *b[2049], *own[16];
	struct mem_place p[2049];
	uint32_t n = 0;

	while (n < 2049 && (b[n] = mem_buf_get(former, 4096)) != NULL) {
		p[n] = place_of(b[n]);
		n++;
	}
	assert_true(n > 1000);
	for (unsigned l = 0; l < 2; l++) {
		pool = take_over(limits[l], mem_pool_fd(former), p, n);
		for (unsigned i = 0; i < 16; i++) {
			own[i] = mem_buf_get(pool, i % 2 ? 4096 : 64 * KIB);
			assert_non_null(own[i]);
		}
		for (unsigned i = 0; i < 16; i++)
			mem_buf_unref(own[i]);
		mem_pool_free(pool);
	}
	while (n)
		mem_buf_unref(b[--n]);
	mem_pool_free(former);
}

static bool denies; /* the system has no memory */

int __real_madvise(void *p, size_t len, int advice);
int __wrap_madvise(void *p, size_t len, int advice);

int __wrap_madvise(void *p, size_t len, int advice)
{
	if (!denies)
		return __real_madvise(p, len, advice);
	errno = ENOMEM;
	return -1;
}

/* A successor that has no memory is followed by another one. */
static void a_failure_leaves_the_bytes(void **state)
{
	struct mem_pool *former = new_shared(0), *pool;
	struct mem_buf *b = mem_buf_get(former, 64 * KIB), *kept;
	struct mem_place p = place_of(b);
	struct err e = {0};

	memset(b->data, 1, b->size);
	denies = true;
	assert_null(mem_pool_take_over(0, mem_pool_fd(former), &p, 1, &e));
	denies = false;
	pool = take_over(0, mem_pool_fd(former), &p, 1);
	kept = mem_pool_kept(pool, &p);
	check(kept, 0);
	mem_buf_unref(kept);
	mem_pool_free(pool);
	mem_buf_unref(b);
	mem_pool_free(former);
}

static void a_range_that_is_let_go_keeps_its_bytes(void **state)
{
	struct err e = {0};
	struct mem_file *f = mem_file_new(MIB, -1, &e),
			*next = mem_file_new(MIB, mem_file_fd(f), &e);
	uint8_t *a = mem_file_take(f, 4096), *b = mem_file_keep(next, 0, 4096);

	*a = 5;
	mem_file_let_go(next, b);
	assert_ptr_equal(mem_file_keep(next, 0, 4096), b);
	assert_int_equal(*b, 5);
	mem_file_give(next, b);
	assert_int_equal(*a, 0);
	mem_file_free(next);
	mem_file_free(f);
}

static void memory_from_elsewhere_becomes_present(void **state)
{
	uint8_t *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char vec[MIB / 4096];

	assert_true(p != MAP_FAILED);
	p[5000] = 9;
	assert_true(mem_present(p + 100, MIB - 200));
	assert_int_equal(mincore(p, MIB, vec), 0);
	for (unsigned i = 0; i < MIB / 4096; i++)
		assert_true(vec[i] & 1);
	assert_int_equal(p[5000], 9);
	munmap(p, MIB);
}

static void ranges_do_not_overlap(void **state)
{
	struct err e = {0};
	struct mem_file *f = mem_file_new(4 * MIB, -1, &e);
	uint8_t *a = mem_file_take(f, MIB), *b = mem_file_take(f, MIB - 100),
		*c = mem_file_take(f, 4096), *d;

	assert_int_equal(mem_file_offset(f, a), 0);
	assert_int_equal(mem_file_offset(f, b), MIB);
	assert_int_equal(mem_file_offset(f, c), 2 * MIB);
	mem_file_give(f, b);
	assert_null(mem_file_take(f, 3 * MIB));
	assert_null(mem_file_keep(f, MIB - 4096, 8192));
	assert_null(mem_file_keep(f, 2 * MIB - 4096, 8192));
	assert_null(mem_file_keep(f, 4 * MIB, 4096));
	d = mem_file_keep(f, MIB + 4096, 4096);
	assert_ptr_equal(d, a + MIB + 4096);
	assert_ptr_equal(mem_file_take(f, 4096), a + MIB);
	assert_ptr_equal(mem_file_take(f, 8192), a + MIB + 8192);
	mem_file_give(f, a);
	assert_ptr_equal(mem_file_take(f, MIB), a);
	mem_file_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_lies_at_its_place_in_the_file),
		cmocka_unit_test(blocks_are_present_when_they_are_taken),
		cmocka_unit_test(a_successor_keeps_the_bytes_of_a_killed_daemon),
		cmocka_unit_test(another_successor_finds_the_same_bytes),
		cmocka_unit_test(what_no_pool_can_have_is_refused),
		cmocka_unit_test(a_full_pool_leaves_room),
		cmocka_unit_test(a_failure_leaves_the_bytes),
		cmocka_unit_test(a_range_that_is_let_go_keeps_its_bytes),
		cmocka_unit_test(memory_from_elsewhere_becomes_present),
		cmocka_unit_test(ranges_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
