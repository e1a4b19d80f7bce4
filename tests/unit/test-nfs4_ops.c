/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs4_ops and its parts: replies that make no sense.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfs4-fixture.h"
#include "transport/log.h"

static unsigned entries;

static void test_senseless_replies(void **state)
{
	static const enum quirk any[] = {Q_SHORT_REPLY, Q_FEWER_RESULTS, Q_WRONG_OP, Q_TRAILING,
		Q_STATUS_MISMATCH, Q_WRONG_SLOT, Q_NO_ATTRS};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		fix_quirk(f, any[i]);
		if (fix_getattr(f) != -EREMOTEIO)
			fail_msg("quirk %d was not noticed", any[i]);
		assert_int_equal(fix_getattr(f), 0);
	}
	fix_unmount_clean(f);
}

static void test_senseless_data(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR, &fh);
	uint32_t n;

	fix_quirk(f, Q_READ_LONG);
	assert_int_not_equal(fix_read(f, open, &fh, 5000, &n), 0);
	fix_quirk(f, Q_READ_NOTHING);
	assert_int_equal(fix_read(f, open, &fh, 5000, &n), -EREMOTEIO);
	fix_quirk(f, Q_WRITE_LONG);
	assert_int_equal(fix_write(f, open, &fh, NFS_UNSTABLE), -EREMOTEIO);
	fix_quirk(f, Q_WRITE_UNSTABLE);
	assert_int_equal(fix_write(f, open, &fh, NFS_FILE_SYNC), -EREMOTEIO);
	assert_int_equal(fix_read(f, open, &fh, 5000, &n), 0);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

static bool any_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	for (uint32_t i = 0; i < ent->namelen; i++)
		assert_true(ent->name[i] != '/' && ent->name[i] != '\0');
	entries++;
	return true;
}

static void test_senseless_directories(void **state)
{
	static const struct nfs_name names[] = {
		{"", 0}, {".", 1}, {"..", 2}, {"a/b", 3}, {"/", 1}, {"a\0b", 3}};
	static char longname[256];
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		f->srv.bad_name = names[i].s;
		f->srv.bad_name_len = names[i].len;
		fix_quirk(f, Q_DIR_NAME);
		entries = 0;
		assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
		assert_int_equal(entries, 3);
	}
	memset(longname, 'n', sizeof(longname));
	f->srv.bad_name = longname;
	f->srv.bad_name_len = 256;
	fix_quirk(f, Q_DIR_NAME);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
	fix_quirk(f, Q_DIR_LOOP);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
	fix_quirk(f, Q_DIR_NOTHING);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), -EREMOTEIO);
	entries = 0;
	assert_int_equal(fix_readdir(f, any_entry), 0);
	fix_unmount_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_senseless_replies),
		ON_MOUNT(test_senseless_data),
		ON_MOUNT(test_senseless_directories),
	};

	log_init("test-nfs4_ops", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
