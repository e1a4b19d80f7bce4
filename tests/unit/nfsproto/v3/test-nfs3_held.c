/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_held: the owners of locks in a mount's file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_held.h"
#include "nfsproto/v3/nfs3_nsm.h"

#define SEAL 4711u

static int setup(void **state)
{
	char path[] = "/tmp/rnfs-held-XXXXXX";
	int *fd = malloc(sizeof(*fd));

	*fd = mkstemp(path);
	unlink(path);
	*state = fd;
	return *fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	close(*(int *)*state);
	free(*state);
	return 0;
}

static struct nfs3_held_owner owner(uint32_t svid)
{
	struct nfs3_held_owner o = {.svid = NFS3_HELD_SVID + svid};

	o.fh = (struct nfs_fh){.len = 3, .data = {1, 2, (uint8_t)svid}};
	o.cred = (struct rpc_cred){RPC_AUTH_SYS, 1000, 100, 2, {100, 7}};
	return o;
}

static unsigned count_left(const struct nfs3_held *h)
{
	struct nfs3_held_owner o;
	unsigned n = 0;

	for (uint32_t i = 0; (i = nfs3_held_next_left(h, i, &o)) != 0;)
		n++;
	assert_int_equal(n, h->left);
	return n;
}

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void who_comes_next_finds_what_was_not_struck_out(void **state)
{
	int fd = *(int *)*state;
	struct nfs3_held_owner a = owner(1), b = owner(2), c = owner(3), found;
	struct nfs3_held h;
	uint32_t nb, i;

	nfs3_held_open(&h, fd, SEAL, false);
	assert_true(nfs3_held_note(&h, &a));
	nb = nfs3_held_note(&h, &b);
	assert_true(nfs3_held_note(&h, &c));
	nfs3_held_strike(&h, nb);
	assert_int_equal(count_left(&h), 0);
	nfs3_held_close(&h);

	nfs3_held_open(&h, fd, SEAL, true);
	assert_int_equal(count_left(&h), 2);
	i = nfs3_held_next_left(&h, 0, &found);
	assert_memory_equal(&found.cred, &a.cred, sizeof(a.cred));
	assert_true(found.svid == a.svid && found.fh.len == 3 && found.fh.data[2] == 1);
	assert_true(nfs3_held_is_left(&h, a.svid) && nfs3_held_is_left(&h, c.svid));
	assert_false(nfs3_held_is_left(&h, b.svid));
	nfs3_held_strike(&h, i);
	nfs3_held_close(&h);

	nfs3_held_open(&h, fd, SEAL, true);
	assert_int_equal(count_left(&h), 1);
	assert_true(nfs3_held_next_left(&h, 0, &found) && found.svid == c.svid);
	nfs3_held_close(&h);
}

static void slots_are_used_again(void **state)
{
	int fd = *(int *)*state;
	struct nfs3_held_owner o = owner(1);
	struct nfs3_held h;
	off_t size;

	nfs3_held_open(&h, fd, SEAL, false);
	nfs3_held_strike(&h, nfs3_held_note(&h, &o));
	size = size_of(fd);
	for (unsigned i = 0; i < 1000; i++)
		nfs3_held_strike(&h, nfs3_held_note(&h, &o));
	assert_int_equal(size_of(fd), size);
	nfs3_held_close(&h);
}

static void there_is_an_end_to_them(void **state)
{
	int fd = *(int *)*state;
	struct nfs3_held_owner o = owner(1);
	struct nfs3_held h;
	off_t size;

	nfs3_held_open(&h, fd, SEAL, false);
	for (unsigned i = 0; i < NFS3_HELD_MAX; i++)
		assert_true(nfs3_held_note(&h, &o));
	size = size_of(fd);
	assert_int_equal(nfs3_held_note(&h, &o), 0);
	nfs3_held_strike(&h, 0);
	nfs3_held_leave(&h, 0);
	assert_int_equal(size_of(fd), size);
	nfs3_held_close(&h);
	assert_int_equal(ftruncate(fd, 2 * size), 0); /* larger than any daemon's file */
	nfs3_held_open(&h, fd, SEAL, true);
	assert_int_equal(count_left(&h), NFS3_HELD_MAX);
	nfs3_held_close(&h);
}

/* One record of o, with the byte at that offset changed. Returns the number of records left. */
static unsigned left_of_damaged(int fd, const struct nfs3_held_owner *o, off_t at)
{
	struct nfs3_held h;
	unsigned left;
	uint8_t byte;

	nfs3_held_open(&h, fd, SEAL, false);
	assert_true(nfs3_held_note(&h, o));
	nfs3_held_close(&h);
	assert_int_equal(pread(fd, &byte, 1, NFS3_NSM_LINE + at), 1);
	byte ^= 0xff;
	assert_int_equal(pwrite(fd, &byte, 1, NFS3_NSM_LINE + at), 1);
	nfs3_held_open(&h, fd, SEAL, true);
	left = count_left(&h);
	nfs3_held_close(&h);
	return left;
}

static void a_damaged_or_foreign_record_is_none(void **state)
{
	int fd = *(int *)*state;
	struct nfs3_held_owner o = owner(1);
	struct nfs3_held h;
	off_t size;

	nfs3_held_open(&h, fd, SEAL, false);
	assert_true(nfs3_held_note(&h, &o));
	size = size_of(fd) - NFS3_NSM_LINE;
	nfs3_held_close(&h);
	nfs3_held_open(&h, fd, SEAL + 1, true); /* another name's */
	assert_int_equal(count_left(&h), 0);
	nfs3_held_close(&h);
	for (off_t at = 0; at < size; at++)
		assert_int_equal(left_of_damaged(fd, &o, at), 0);
	nfs3_held_open(
		&h, fd, SEAL, false); /* the file of a mount without a former daemon is emptied */
	assert_int_equal(size_of(fd), NFS3_NSM_LINE);
	assert_true(nfs3_held_note(&h, &o));
	nfs3_held_close(&h);
	assert_int_equal(ftruncate(fd, NFS3_NSM_LINE + size - 1), 0);
	nfs3_held_open(&h, fd, SEAL, true);
	assert_int_equal(count_left(&h), 0);
	assert_int_equal(nfs3_held_note(&h, &o), 1);
	nfs3_held_close(&h);
}

/* As left_of_damaged(), with a good seal: the forger knows the name. */
static unsigned left_of_forged(
	int fd, const struct nfs3_held_owner *o, unsigned word, uint32_t value)
{
	uint64_t v = (UINT64_C(0xcbf29ce484222325) ^ SEAL) + 1;
	uint8_t r[160];
	struct nfs3_held h;
	unsigned left;

	nfs3_held_open(&h, fd, SEAL, false);
	assert_true(nfs3_held_note(&h, o));
	nfs3_held_close(&h);
	assert_int_equal(pread(fd, r, sizeof(r), NFS3_NSM_LINE), sizeof(r));
	memcpy(r + 8 + 4 * word, &value, 4);
	for (size_t i = 8; i < sizeof(r); i++)
		v = (v ^ r[i]) * UINT64_C(0x100000001b3);
	memcpy(r, &v, sizeof(v));
	assert_int_equal(pwrite(fd, r, sizeof(r), NFS3_NSM_LINE), sizeof(r));
	nfs3_held_open(&h, fd, SEAL, true);
	left = count_left(&h);
	nfs3_held_close(&h);
	return left;
}

static void what_was_never_written_is_not_believed(void **state)
{
	enum { SVID, FLAVOR, UID, GID, NGIDS, FH_LEN };
	struct nfs3_held_owner o = owner(1);
	int fd = *(int *)*state;

	assert_int_equal(left_of_forged(fd, &o, UID, 5), 1);
	/* as the numbers of the kernel's own owners */
	assert_int_equal(left_of_forged(fd, &o, SVID, 17), 0);
	assert_int_equal(left_of_forged(fd, &o, SVID, 0x80000000u), 0);
	assert_int_equal(left_of_forged(fd, &o, FLAVOR, 6), 0);
	assert_int_equal(left_of_forged(fd, &o, NGIDS, RPC_MAX_GIDS + 1), 0);
	assert_int_equal(left_of_forged(fd, &o, NGIDS, UINT32_MAX), 0);
	assert_int_equal(left_of_forged(fd, &o, FH_LEN, 0), 0);
	assert_int_equal(left_of_forged(fd, &o, FH_LEN, 65), 0);
	assert_int_equal(left_of_forged(fd, &o, FH_LEN, UINT32_MAX), 0);
}

static void without_a_file_they_are_in_memory(void **state)
{
	struct nfs3_held_owner o = owner(1), found;
	struct nfs3_held h;
	uint32_t i;

	nfs3_held_open(&h, -1, SEAL, false);
	i = nfs3_held_note(&h, &o);
	nfs3_held_leave(&h, i);
	assert_int_equal(nfs3_held_next_left(&h, 0, &found), i);
	nfs3_held_strike(&h, i);
	assert_int_equal(count_left(&h), 0);
	nfs3_held_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(who_comes_next_finds_what_was_not_struck_out),
		T(slots_are_used_again),
		T(there_is_an_end_to_them),
		T(a_damaged_or_foreign_record_is_none),
		T(what_was_never_written_is_not_believed),
		T(without_a_file_they_are_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
