/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/ops/file: exclusive creates. This file wraps futimens(), where the
 * file
 * gets the verifier: at that moment no file of the name may exist yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/ops/file.h"
#include "tests/unit/contrib/serve/serve-env.h"

static struct serve_env env;
static bool has_unnamed; /* the file system has files without a name */
static bool rival;	 /* a rival makes the file while ours gets its verifier */
static bool was_there;	 /* at a futimens() */
static unsigned stamped;

int __real_futimens(int fd, const struct timespec ts[2]);
int __wrap_futimens(int fd, const struct timespec ts[2]);
int __real_openat64(int dir, const char *name, int flags, ...);
int __wrap_openat64(int dir, const char *name, int flags, ...);

int __wrap_futimens(int fd, const struct timespec ts[2])
{
	char path[128];

	env_path(&env, "f", path, sizeof(path));
	was_there |= access(path, F_OK) == 0;
	stamped++;
	if (rival)
		close(open(path, O_CREAT | O_WRONLY, 0644));
	return __real_futimens(fd, ts);
}

int __wrap_openat64(int dir, const char *name, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if ((flags & O_TMPFILE) == O_TMPFILE && !has_unnamed) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_openat64(dir, name, flags, mode);
}

static int setup(void **state)
{
	env_init_in(&env, "/dev/shm");
	rival = was_there = false;
	has_unnamed = true;
	stamped = 0;
	return 0;
}

static int teardown(void **state)
{
	env_finish(&env);
	return 0;
}

static uint32_t make(const char *verf)
{
	struct file_open f = {.how = FILE_EXCLUSIVE, .set = {.mask = NFS_SET_MODE, .mode = 0440}};
	struct obj *root = obj_root(env.sv.objs);
	struct nfs_name name = {"f", 1};
	uint32_t status;

	memcpy(f.verf, verf, sizeof(f.verf));
	status = file_open_name(&env.sv, root, &name, &f);
	if (f.created)
		assert_true(f.fd >= 0 && f.dir_changed && f.changed);
	if (f.fd >= 0)
		close(f.fd);
	obj_unref(env.sv.objs, f.o);
	obj_unref(env.sv.objs, root);
	return status;
}

static unsigned entries(void)
{
	DIR *d = opendir(env.dir);
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void check_made(void)
{
	char path[128];
	struct stat st;

	assert_int_equal(make("verifier"), NFS4_OK);
	assert_int_equal(stamped, 1);
	assert_false(was_there);
	env_path(&env, "f", path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0440);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(entries(), 1);
	/* once more is the same; another creator is refused */
	assert_int_equal(make("verifier"), NFS4_OK);
	assert_int_equal(make("Verifies"), NFS4ERR_EXIST);
	assert_int_equal(stamped, 1);
}

static void the_verifier_comes_before_the_name(void **state)
{
	check_made();
}

static void also_where_all_files_have_names(void **state)
{
	has_unnamed = false;
	check_made();
}

static void a_rival_wins(void **state)
{
	for (int i = 0; i < 2; i++) {
		char path[128];

		has_unnamed = i == 0;
		rival = true;
		assert_int_equal(make("verifier"), NFS4ERR_EXIST);
		assert_int_equal(entries(), 1);
		env_path(&env, "f", path, sizeof(path));
		assert_int_equal(unlink(path), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_verifier_comes_before_the_name, setup, teardown),
		cmocka_unit_test_setup_teardown(also_where_all_files_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rival_wins, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
