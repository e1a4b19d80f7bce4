/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/seek: handles lead back to files in a later run of a server
 * that may not open by handle, and nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "contrib/serve/export/object.h"
#include "transport/clock.h"

#define DEEP 12 /* more directories than a trail has steps */
#define MANY 300

static uint64_t later_ns; /* added to the real time */

uint64_t __real_clock_coarse_ns(void);
uint64_t __wrap_clock_coarse_ns(void);

uint64_t __wrap_clock_coarse_ns(void)
{
	return __real_clock_coarse_ns() + later_ns;
}

static const uint8_t secret[HANDLE_KEY] = "a test's secret";

struct env {
	char top[64];
	char in[80]; /* the export; top/out lies beside the export */
	struct obj_table *t;
};

struct fh {
	uint8_t bytes[HANDLE_MAX];
	uint32_t len;
};

/* The privilege that open_by_handle_at() asks for. */
static int give_up_privilege(void **state)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) != 0)
		return -1;
	d[0].effective &= ~(1u << CAP_DAC_READ_SEARCH);
	return (int)syscall(SYS_capset, &h, d);
}

static void path_of(const struct env *e, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", e->top, name);
}

static void make_file(const struct env *e, const char *name)
{
	char path[512];
	int fd;

	path_of(e, name, path, sizeof(path));
	fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0644);
	assert_true(fd >= 0);
	close(fd);
}

static void make_dir(const struct env *e, const char *name)
{
	char path[512];

	path_of(e, name, path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
}

static void move(const struct env *e, const char *from, const char *to)
{
	char a[512], b[512];

	path_of(e, from, a, sizeof(a));
	path_of(e, to, b, sizeof(b));
	assert_int_equal(rename(a, b), 0);
}

static void begin(struct env *e)
{
	struct err err = {0};

	e->t = obj_table_new(e->in, secret, 0, &err);
	if (!e->t)
		fail_msg("%s", err.msg);
}

static void restart(struct env *e)
{
	obj_table_free(e->t);
	begin(e);
}

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	strcpy(e->top, "/tmp/rnfs-seek-XXXXXX");
	assert_non_null(mkdtemp(e->top));
	path_of(e, "in", e->in, sizeof(e->in));
	make_dir(e, "in");
	make_dir(e, "out");
	make_dir(e, "in/dir");
	make_dir(e, "in/other");
	make_file(e, "in/dir/file");
	make_file(e, "in/dir/file2");
	begin(e);
	*state = e;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	struct env *e = *state;

	obj_table_free(e->t);
	nftw(e->top, remove_one, 64, FTW_DEPTH | FTW_PHYS);
	free(e);
	return 0;
}

/* The object of a path below the export; a reference. */
static struct obj *walk_to(struct env *e, const char *path)
{
	struct obj *o = obj_root(e->t), *next;

	for (const char *end; *path; path = *end ? end + 1 : end) {
		end = path + strcspn(path, "/");
		assert_int_equal(obj_lookup(e->t, o, path, (size_t)(end - path), &next, NULL), 0);
		obj_unref(e->t, o);
		o = next;
	}
	return o;
}

static struct fh handle_of(struct env *e, const char *path)
{
	struct obj *o = walk_to(e, path);
	struct fh fh;

	assert_true(obj_handle_lasts(e->t, o));
	fh.len = obj_handle(e->t, o, fh.bytes);
	obj_unref(e->t, o);
	return fh;
}

static ino_t number_of(const struct env *e, const char *name)
{
	char path[512];
	struct stat st;

	path_of(e, name, path, sizeof(path));
	assert_int_equal(lstat(path, &st), 0);
	return st.st_ino;
}

/* The object that the handle leads to in the end. *tries: how often the caller had to come
 * again. */
static int find(struct env *e, const struct fh *fh, struct obj **o, unsigned *tries)
{
	int r;

	for (*tries = 0; (r = obj_by_handle(e->t, fh->bytes, fh->len, o)) == -EAGAIN; ++*tries)
		usleep(1000);
	return r;
}

/* The handle leads to name (below top), and is still that object's handle. */
static unsigned leads_to(struct env *e, const struct fh *fh, const char *name)
{
	uint8_t bytes[HANDLE_MAX];
	unsigned tries;
	struct obj *o;

	assert_int_equal(find(e, fh, &o, &tries), 0);
	assert_int_equal(o->id.ino, number_of(e, name));
	assert_int_equal(obj_handle(e->t, o, bytes), fh->len);
	assert_memory_equal(bytes, fh->bytes, fh->len);
	obj_unref(e->t, o);
	return tries;
}

static void is_stale(struct env *e, const struct fh *fh)
{
	unsigned tries;
	struct obj *o;

	assert_int_equal(find(e, fh, &o, &tries), -ESTALE);
	/* and the server remembers that */
	assert_int_equal(obj_by_handle(e->t, fh->bytes, fh->len, &o), -ESTALE);
}

static void a_handle_is_good_in_the_next_run(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file"), dir = handle_of(e, "dir"),
		  root = handle_of(e, "");

	restart(e);
	assert_int_equal(leads_to(e, &file, "in/dir/file"), 0); /* at once, without a sweep */
	assert_int_equal(leads_to(e, &dir, "in/dir"), 0);
	assert_int_equal(leads_to(e, &root, "in"), 0);
	restart(e);
	move(e, "in/dir", "in/dir2"); /* the directories on the way have other names */
	move(e, "in/dir2/file", "in/dir2/renamed");
	assert_int_equal(leads_to(e, &file, "in/dir2/renamed"), 0);
}

/* A name that is looked up has the same handle as in the run before. */
static void handles_keep_their_bytes(void **state)
{
	struct env *e = *state;
	struct fh before = handle_of(e, "dir/file"), after;
	struct obj *dir, *up;

	restart(e);
	after = handle_of(e, "dir/file");
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.bytes, after.bytes, before.len);
	/* also a directory that is reached from below */
	make_dir(e, "in/dir/sub");
	make_dir(e, "in/dir/sub/subsub");
	before = handle_of(e, "dir/sub");
	after = handle_of(e, "dir/sub/subsub");
	restart(e);
	assert_int_equal(leads_to(e, &after, "in/dir/sub/subsub"), 0);
	restart(e);
	assert_int_equal(obj_by_handle(e->t, after.bytes, after.len, &dir), 0);
	assert_int_equal(obj_parent(e->t, dir, &up), 0);
	after.len = obj_handle(e->t, up, after.bytes);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.bytes, after.bytes, before.len);
	obj_unref(e->t, up);
	obj_unref(e->t, dir);
}

static void what_was_moved_is_looked_for(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file"), dir = handle_of(e, "dir");

	restart(e);
	move(e, "in/dir/file", "in/other/file");
	move(e, "in/dir", "in/other/dir");
	leads_to(e, &file, "in/other/file");
	leads_to(e, &dir, "in/other/dir");
}

static void another_name_of_it_does(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file");
	char from[512], to[512];

	path_of(e, "in/dir/file", from, sizeof(from));
	path_of(e, "in/other/link", to, sizeof(to));
	assert_int_equal(link(from, to), 0);
	assert_int_equal(unlink(from), 0);
	restart(e);
	leads_to(e, &file, "in/other/link");
}

static void what_was_removed_is_stale(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file"), file2 = handle_of(e, "dir/file2");
	struct obj *o, *dir;
	char path[512];

	restart(e);
	path_of(e, "in/dir/file", path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	make_file(e, "in/dir/file"); /* probably with the same number */
	is_stale(e, &file);
	/* a removal through the server is known without a search */
	dir = walk_to(e, "dir");
	o = walk_to(e, "dir/file2");
	assert_int_equal(unlinkat(dir->fd, "file2", 0), 0);
	obj_removed(e->t, o);
	obj_unref(e->t, o);
	obj_unref(e->t, dir);
	assert_int_equal(obj_by_handle(e->t, file2.bytes, file2.len, &o), -ESTALE);
}

static void what_has_left_is_stale(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file"), file2 = handle_of(e, "dir/file2");
	char path[512];

	restart(e);
	move(e, "in/dir/file", "out/file");
	path_of(e, "in/dir/link", path, sizeof(path));
	assert_int_equal(symlink("../../out", path), 0);
	is_stale(e, &file);
	move(e, "in/dir", "out/dir");
	path_of(e, "in/dir", path, sizeof(path));
	assert_int_equal(symlink("../out/dir", path), 0);
	is_stale(e, &file2);
}

/* The sweep did not find a file that exists: as if a program had renamed the file meanwhile. */
static void what_a_sweep_has_missed_is_looked_for_later(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file");

	restart(e);
	move(e, "in/dir/file", "out/file");
	is_stale(e, &file);
	move(e, "out/file", "in/other/file");
	is_stale(e, &file);
	later_ns += 601 * NSEC_PER_SEC;
	leads_to(e, &file, "in/other/file");
}

static void what_cannot_be_looked_for_is_not_stale(void **state)
{
	struct env *e = *state;
	struct fh file = handle_of(e, "dir/file");
	struct rlimit all, few;
	struct obj *o;
	int fd;

	restart(e);
	move(e, "in/dir/file", "in/other/file");
	fd = open("/dev/null", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	few.rlim_cur = (rlim_t)fd + 1; /* for the exported directory alone */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < 100; i++) {
		int r = obj_by_handle(e->t, file.bytes, file.len, &o);

		if (r != -EAGAIN)
			setrlimit(RLIMIT_NOFILE, &all);
		assert_int_equal(r, -EAGAIN);
		usleep(1000);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	leads_to(e, &file, "in/other/file");
}

static void deep_ones_are_found(void **state)
{
	struct env *e = *state;
	char path[512] = "in/dir";
	struct fh fh;

	for (int i = 0; i < DEEP; i++) {
		strcat(path, "/deeper");
		make_dir(e, path);
	}
	strcat(path, "/f");
	make_file(e, path);
	fh = handle_of(e, path + 3);
	assert_true(fh.len <= HANDLE_MAX);
	restart(e);
	assert_int_equal(leads_to(e, &fh, path), 0);
}

static void many_are_looked_for_at_once(void **state)
{
	struct env *e = *state;
	static struct fh fh[MANY];
	char from[64], to[64];
	struct obj *o;

	for (int i = 0; i < MANY; i++) {
		snprintf(from, sizeof(from), "in/dir/f%d", i);
		make_file(e, from);
		fh[i] = handle_of(e, from + 3);
	}
	restart(e);
	for (int i = 0; i < MANY; i++) {
		snprintf(from, sizeof(from), "in/dir/f%d", i);
		snprintf(to, sizeof(to), "in/other/f%d", i);
		move(e, from, to);
	}
	for (int i = 0; i < MANY; i++) {
		int r = obj_by_handle(e->t, fh[i].bytes, fh[i].len, &o);

		assert_true(r == 0 || r == -EAGAIN);
		if (r == 0)
			obj_unref(e->t, o);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(to, sizeof(to), "in/other/f%d", i);
		leads_to(e, &fh[i], to);
	}
}

static void the_end_does_not_wait_for_what_is_looked_for(void **state)
{
	struct env *e = *state;
	struct fh fh = handle_of(e, "dir/file");
	struct obj *o;

	restart(e);
	move(e, "in/dir/file", "in/other/file");
	assert_int_equal(obj_by_handle(e->t, fh.bytes, fh.len, &o), -EAGAIN);
	restart(e);
	leads_to(e, &fh, "in/other/file");
}

static void a_trail_cannot_be_forged(void **state)
{
	struct env *e = *state;
	struct fh fh = handle_of(e, "dir/file"), bad;
	struct obj *o;

	for (uint32_t bit = 0; bit < fh.len * 8; bit++) {
		bad = fh;
		bad.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(obj_by_handle(e->t, bad.bytes, bad.len, &o), -EBADMSG);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_handle_is_good_in_the_next_run),
		TEST(handles_keep_their_bytes),
		TEST(what_was_moved_is_looked_for),
		TEST(another_name_of_it_does),
		TEST(what_was_removed_is_stale),
		TEST(what_has_left_is_stale),
		TEST(what_a_sweep_has_missed_is_looked_for_later),
		TEST(what_cannot_be_looked_for_is_not_stale),
		TEST(deep_ones_are_found),
		TEST(many_are_looked_for_at_once),
		TEST(the_end_does_not_wait_for_what_is_looked_for),
		TEST(a_trail_cannot_be_forged),
	};

	return cmocka_run_group_tests_name("serve-seek", tests, give_up_privilege, NULL);
}
