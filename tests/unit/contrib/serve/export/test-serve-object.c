/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/object: which objects are found, and that no object outside
 * the
 * export ever is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/obj_table.h"

static const uint8_t secret[HANDLE_KEY] = "a test's secret";

struct env {
	char top[64];
	char in[80]; /* the export; top/out lies beside the export */
	struct obj_table *t;
};

static void make_file(const char *dir, const char *name)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, name, strlen(name)), strlen(name));
	close(fd);
}

static void make_dir(const char *dir, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static struct obj_table *table(struct env *e, size_t max_fds)
{
	struct err err = {0};
	struct obj_table *t = obj_table_new(e->in, secret, max_fds, &err);

	if (!t)
		fail_msg("%s", err.msg);
	return t;
}

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	strcpy(e->top, "/tmp/rnfs-object-XXXXXX");
	assert_non_null(mkdtemp(e->top));
	snprintf(e->in, sizeof(e->in), "%s/in", e->top);
	make_dir(e->top, "in");
	make_dir(e->top, "out");
	make_file(e->top, "out/secret");
	make_file(e->in, "file");
	make_dir(e->in, "dir");
	make_file(e->in, "dir/inner");
	e->t = table(e, 0);
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
	nftw(e->top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(e);
	return 0;
}

static struct obj *must_lookup(struct obj_table *t, struct obj *dir, const char *name)
{
	struct obj *o;

	assert_int_equal(obj_lookup(t, dir, name, strlen(name), &o, NULL), 0);
	return o;
}

static void names_that_are_more_than_a_name_are_refused(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *o;
	static const struct {
		const char *s;
		size_t len;
	} names[] = {{"", 0}, {".", 1}, {"..", 2}, {"../out", 6}, {"dir/inner", 9}, {"/etc", 4},
		{"dir/", 4}, {"file\0x", 6}, {"\0", 1}};
	static char longname[OBJ_NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_false(obj_name_ok(names[i].s, names[i].len));
		assert_int_equal(
			obj_lookup(e->t, root, names[i].s, names[i].len, &o, NULL), -EINVAL);
	}
	memset(longname, 'x', sizeof(longname));
	assert_true(obj_name_ok(longname, OBJ_NAME_MAX));
	assert_false(obj_name_ok(longname, OBJ_NAME_MAX + 1));
	assert_true(obj_name_ok("...", 3));
	assert_true(obj_name_ok("..x", 3));
	obj_unref(e->t, root);
}

static void links_are_objects_and_lead_nowhere(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *link, *o;
	char path[160];

	snprintf(path, sizeof(path), "%s/escape", e->in);
	assert_int_equal(symlink("../out", path), 0);
	link = must_lookup(e->t, root, "escape");
	assert_true(S_ISLNK(link->type));
	assert_int_equal(obj_lookup(e->t, link, "secret", 6, &o, NULL), -ENOTDIR);
	assert_int_equal(obj_open(link, O_RDONLY), -EINVAL);
	obj_unref(e->t, link);
	obj_unref(e->t, root);
}

static void the_root_has_no_parent(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *dir = must_lookup(e->t, root, "dir"), *o;

	assert_int_equal(obj_parent(e->t, root, &o), -ENOENT);
	assert_int_equal(obj_parent(e->t, dir, &o), 0);
	assert_ptr_equal(o, root);
	obj_unref(e->t, o);
	obj_unref(e->t, dir);
	obj_unref(e->t, root);
}

static void a_directory_moved_outside_has_no_parent_to_show(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *dir = must_lookup(e->t, root, "dir"), *o;
	char from[160], to[160];

	snprintf(from, sizeof(from), "%s/dir", e->in);
	snprintf(to, sizeof(to), "%s/out/dir", e->top);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(obj_parent(e->t, dir, &o), -ESTALE);
	obj_unref(e->t, dir);
	obj_unref(e->t, root);
}

struct swapper {
	int dir;
	atomic_bool stop;
};

static void *swap_for_ever(void *arg)
{
	struct swapper *s = arg;

	while (!atomic_load(&s->stop))
		renameat2(s->dir, "swap", s->dir, "trap", RENAME_EXCHANGE);
	return NULL;
}

static void swapping_a_directory_for_a_link_does_not_help(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t);
	struct swapper s = {.stop = false};
	unsigned dirs = 0, links = 0;
	pthread_t thread;
	char path[160];

	make_dir(e->in, "swap");
	snprintf(path, sizeof(path), "%s/trap", e->in);
	assert_int_equal(symlink("../out", path), 0);
	s.dir = open(e->in, O_RDONLY | O_DIRECTORY);
	assert_int_equal(pthread_create(&thread, NULL, swap_for_ever, &s), 0);
	/* on a busy machine the other thread may be late */
	for (int i = 0; i < 20000 || (i < 5000000 && (!dirs || !links)); i++) {
		struct obj *o, *found;

		if (obj_lookup(e->t, root, "swap", 4, &o, NULL) < 0)
			continue;
		dirs += S_ISDIR(o->type) != 0;
		links += S_ISLNK(o->type) != 0;
		if (obj_lookup(e->t, o, "secret", 6, &found, NULL) == 0)
			fail_msg("the secret outside was reached");
		obj_unref(e->t, o);
	}
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	close(s.dir);
	assert_true(dirs > 0 && links > 0);
	obj_unref(e->t, root);
}

static void handles_lead_back_and_forged_ones_do_not(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *file = must_lookup(e->t, root, "file"), *o;
	uint8_t fh[HANDLE_MAX], bad[HANDLE_MAX];
	uint32_t len = obj_handle(e->t, file, fh);

	assert_int_equal(obj_by_handle(e->t, fh, len, &o), 0);
	assert_ptr_equal(o, file);
	obj_unref(e->t, o);
	for (uint32_t bit = 0; bit < len * 8; bit++) {
		memcpy(bad, fh, len);
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(obj_by_handle(e->t, bad, len, &o), -EBADMSG);
	}
	for (uint32_t n = 0; n < len; n++)
		assert_int_equal(obj_by_handle(e->t, fh, n, &o), -EBADMSG);
	obj_unref(e->t, file);
	obj_unref(e->t, root);
}

static void a_handle_of_another_directory_is_refused(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *file = must_lookup(e->t, root, "file"), *o;
	struct err err = {0};
	struct obj_table *other;
	uint8_t fh[HANDLE_MAX];
	uint32_t len = obj_handle(e->t, file, fh);
	char path[160];

	snprintf(path, sizeof(path), "%s/out", e->top);
	other = obj_table_new(path, secret, 0, &err);
	assert_non_null(other);
	assert_int_equal(obj_by_handle(other, fh, len, &o), -EBADMSG);
	obj_table_free(other);
	obj_unref(e->t, file);
	obj_unref(e->t, root);
}

static void a_removed_file_is_stale(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *file = must_lookup(e->t, root, "file"), *o;
	uint8_t fh[HANDLE_MAX];
	uint32_t len = obj_handle(e->t, file, fh);

	assert_int_equal(unlinkat(root->fd, "file", 0), 0);
	obj_removed(e->t, file);
	/* the object is there as long as it has a user */
	assert_int_equal(obj_by_handle(e->t, fh, len, &o), 0);
	obj_unref(e->t, o);
	obj_unref(e->t, file);
	assert_int_equal(obj_by_handle(e->t, fh, len, &o), -ESTALE);
	obj_unref(e->t, root);
}

static void evicted_objects_come_back(void **state)
{
	struct env *e = *state;
	struct obj_table *t = table(e, 16);
	struct obj *root = obj_root(t), *dir = must_lookup(t, root, "dir"), *o;
	uint8_t fh[100][HANDLE_MAX];
	uint32_t len[100];
	size_t warm = 0;
	char name[16];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		snprintf(name, sizeof(name), "dir/f%d", i);
		make_file(e->in, name);
		o = must_lookup(t, dir, name + 4);
		len[i] = obj_handle(t, o, fh[i]);
		obj_unref(t, o);
	}
	obj_unref(t, dir);
	for (int i = 0; i < OBJ_SHARDS; i++)
		warm += t->shard[i].nwarm;
	assert_true(warm <= 32);
	for (int i = 0; i < 100; i++) {
		struct statx st;

		assert_int_equal(obj_by_handle(t, fh[i], len[i], &o), 0);
		assert_int_equal(obj_stat(o, &st), 0);
		obj_unref(t, o);
	}
	obj_unref(t, root);
	obj_table_free(t);
}

/* Without the privilege to open by handle the server may look for the file first. */
static int by_handle(struct obj_table *t, const uint8_t *fh, uint32_t len, struct obj **o)
{
	int r;

	while ((r = obj_by_handle(t, fh, len, o)) == -EAGAIN)
		usleep(1000);
	return r;
}

static void evicted_and_replaced_is_stale(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *file = must_lookup(e->t, root, "file"), *o;
	uint8_t fh[HANDLE_MAX];
	uint32_t len = obj_handle(e->t, file, fh);

	obj_unref(e->t, file);
	usleep(10000); /* the clock that idle times are taken from is coarse */
	obj_table_age(e->t, 1);
	assert_int_equal(unlinkat(root->fd, "file", 0), 0);
	make_file(e->in, "file");
	assert_int_equal(by_handle(e->t, fh, len, &o), -ESTALE);
	obj_unref(e->t, root);
}

static void special_files_are_not_opened(void **state)
{
	struct env *e = *state;
	struct obj *root = obj_root(e->t), *o;

	assert_int_equal(mkfifoat(root->fd, "fifo", 0644), 0);
	o = must_lookup(e->t, root, "fifo");
	assert_int_equal(obj_open(o, O_RDONLY), -EINVAL);
	obj_unref(e->t, o);
	obj_unref(e->t, root);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_that_are_more_than_a_name_are_refused),
		TEST(links_are_objects_and_lead_nowhere),
		TEST(the_root_has_no_parent),
		TEST(a_directory_moved_outside_has_no_parent_to_show),
		TEST(swapping_a_directory_for_a_link_does_not_help),
		TEST(handles_lead_back_and_forged_ones_do_not),
		TEST(a_handle_of_another_directory_is_refused),
		TEST(a_removed_file_is_stale),
		TEST(evicted_objects_come_back),
		TEST(evicted_and_replaced_is_stale),
		TEST(special_files_are_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
