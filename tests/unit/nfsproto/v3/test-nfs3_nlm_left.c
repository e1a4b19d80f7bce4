/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_nlm_left: locks of a dead mount, at a server without a status
 * monitor. In place of a killed daemon, a mount ends and the test puts the mount's file back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"

struct kept { /* the file of a mount */
	char path[512];
	uint8_t data[4096];
	size_t len;
};

static int setup(void **state)
{
	char *dir = strdup("/tmp/rnfs-left-XXXXXX");
	struct fix3 *f;

	if (!mkdtemp(dir) || fix3_setup_unmounted(state))
		return -1;
	f = *state;
	f->state_dir = dir;
	f->file = (struct nfs_fh){.len = 1, .data = {2}};
	return 0;
}

static int teardown(void **state)
{
	char *dir = (char *)((struct fix3 *)*state)->state_dir;
	int rc = fix3_teardown(state) || rmdir(dir); /* a clean end has left no file */

	free(dir);
	return rc;
}

static void mount(struct fix3 *f)
{
	struct err e = {.kind = ERR_NONE};

	f->nfs = fix3_mount(f, "/", false, &e);
	assert_non_null(f->nfs);
}

static void unmount(struct fix3 *f)
{
	nfs_client_free(f->nfs);
	f->nfs = NULL;
}

static int lock(struct fix3 *f, uint64_t owner, int type, uint64_t start, uint64_t end)
{
	struct nfs_op op = {.type = NFS_LOCK};

	op.u.lock.fh = f->file;
	op.u.lock.owner = owner;
	op.u.lock.type = type;
	op.u.lock.start = start;
	op.u.lock.end = end;
	return fix3_run(f, &op);
}

static void keep(struct fix3 *f, struct kept *k)
{
	DIR *d = opendir(f->state_dir);
	struct dirent *de;
	int fd;

	assert_non_null(d);
	while ((de = readdir(d)) && de->d_name[0] == '.')
		;
	assert_non_null(de);
	snprintf(k->path, sizeof(k->path), "%s/%s", f->state_dir, de->d_name);
	closedir(d);
	fd = open(k->path, O_RDONLY);
	assert_true(fd >= 0);
	k->len = (size_t)read(fd, k->data, sizeof(k->data));
	close(fd);
}

static void put_back(const struct kept *k)
{
	int fd = open(k->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0 && write(fd, k->data, k->len) == (ssize_t)k->len);
	close(fd);
}

/* The daemon is killed: the file is as in k, and the server still holds the daemon's locks. */
static void die(struct fix3 *f, const struct kept *k)
{
	unmount(f);
	put_back(k);
	f->m.nlm_held = true;
	memset(&f->m.unlocker, 0, sizeof(f->m.unlocker));
	memset(f->m.nlm_count, 0, sizeof(f->m.nlm_count));
}

static unsigned unlocks(struct fix3 *f)
{
	unsigned n;

	pthread_mutex_lock(&f->m.lock);
	n = f->m.nlm_count[NLM4PROC_UNLOCK];
	pthread_mutex_unlock(&f->m.lock);
	return n;
}

static void wait_for_unlocks(struct fix3 *f, unsigned n)
{
	for (unsigned i = 0; i < 6000 && unlocks(f) < n; i++)
		usleep(10000);
	assert_int_equal(unlocks(f), n);
}

static void who_comes_next_unlocks_what_a_killed_one_held(void **state)
{
	struct fix3 *f = *state;
	struct mean3_owner held;
	struct kept k;

	mount(f);
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19), 0);
	held = f->m.locker;
	keep(f, &k);
	die(f, &k);
	mount(f);
	wait_for_unlocks(f, 1);
	assert_string_equal(f->m.unlocker.caller, held.caller);
	assert_string_equal(f->m.unlocker.oh, held.oh);
	assert_int_equal(f->m.unlocker.svid, held.svid);
	assert_true(f->m.unlocker.offset == 0 && f->m.unlocker.len == 0);
	/* before the first lock of the new mount, which has another number */
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19), 0);
	assert_int_not_equal(f->m.locker.svid, held.svid);
	unmount(f);
	mount(f); /* and no record of the dead mount is left */
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19), 0);
	assert_int_equal(unlocks(f), 2);
	unmount(f);
}

static void what_was_unlocked_or_denied_is_not_unlocked_again(void **state)
{
	struct fix3 *f = *state;
	struct mean3_owner held;
	struct kept k;

	mount(f);
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19), 0);
	assert_int_equal(lock(f, 1, F_UNLCK, 0, UINT64_MAX), 0);
	assert_int_equal(lock(f, 2, F_WRLCK, 0, 29), 0);
	held = f->m.locker;
	assert_int_equal(lock(f, 2, F_UNLCK, 10, 19), 0);
	f->m.nlm_status = NLM4_DENIED;
	f->m.nlm_times = 1;
	assert_int_not_equal(lock(f, 3, F_WRLCK, 0, 9), 0);
	assert_int_equal(lock(f, 4, F_UNLCK, 0, 9), 0); /* the earlier unlocks have gone through */
	keep(f, &k);
	die(f, &k);
	mount(f);
	assert_int_equal(lock(f, 1, F_WRLCK, 40, 49), 0);
	assert_int_equal(unlocks(f), 1);
	assert_int_equal(f->m.unlocker.svid, held.svid);
	unmount(f);
}

static void grace_period_and_cut_short_it_is_tried_again(void **state)
{
	struct fix3 *f = *state;
	struct kept k;

	mount(f);
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19), 0);
	keep(f, &k);
	die(f, &k);
	f->m.nlm_graces = 2;
	mount(f);
	wait_for_unlocks(f, 1);
	unmount(f); /* too early: the next mount unlocks */
	mount(f);
	wait_for_unlocks(f, 3);
	assert_int_equal(lock(f, 1, F_WRLCK, 10, 19), 0);
	assert_int_equal(unlocks(f), 3);
	unmount(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(who_comes_next_unlocks_what_a_killed_one_held),
		T(what_was_unlocked_or_denied_is_not_unlocked_again),
		T(grace_period_and_cut_short_it_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
