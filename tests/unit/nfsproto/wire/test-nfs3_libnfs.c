/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Compares nfsproto/wire/nfs3_xdr, mount3 and nlm4_xdr with the coders of libnfs: libnfs must
 * understand each message that we encode, and encode the message to the same bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/wire/libnfs3-codec.h"
#include "tests/unit/nfsproto/wire/nfs3-vecs.h"
#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static void libnfs_understands_our_arguments(void **state)
{
	uint8_t buf[4096], ours[4096], theirs[4096];
	unsigned compared = 0;

	for (size_t i = 0; i < N_OF(args3_vecs); i++) {
		const struct nfs3_args *a = &args3_vecs[i].args;
		struct xdr_out x;
		size_t n;

		if (a->proc == NFS3PROC_NULL)
			continue;
		xdr_out_init(&x, buf, sizeof(buf));
		nfs3_put_args(&x, a);
		n = splice3(&x, ours);
		assert_false(vec_differ(nfs3_proc_name(a->proc), theirs,
			libnfs3_args_again(a->proc, ours, n, theirs, sizeof(theirs)), ours, n));
		compared++;
	}
	assert_true(compared > 20);
}

static void libnfs_understands_our_results(void **state)
{
	uint8_t buf[4096], ours[4096], theirs[4096];
	unsigned compared = 0;

	for (size_t i = 0; i < N_OF(res3_vecs); i++) {
		const struct nfs3_res *r = &res3_vecs[i].res;
		struct xdr_out x;
		size_t n;

		xdr_out_init(&x, buf, sizeof(buf));
		nfs3_put_res(&x, r);
		if (r->proc == NFS3PROC_READDIR || r->proc == NFS3PROC_READDIRPLUS) {
			if (r->u.status != NFS3_OK)
				continue;
			xdr_put_bool(&x, false);
			xdr_put_bool(&x, true);
		}
		n = splice3(&x, ours);
		assert_false(vec_differ(nfs3_proc_name(r->proc), theirs,
			libnfs3_res_again(r->proc, ours, n, theirs, sizeof(theirs)), ours, n));
		compared++;
	}
	assert_true(compared > 28);
}

static void libnfs_understands_our_entries(void **state)
{
	static const struct nfs3_post_op dir = POST;
	static const struct nfs3_entry ent = {7, 1, NAME, POST, true, FH};
	static const uint8_t verf[8] = VERF;

	for (int plus = 0; plus < 2; plus++) {
		uint8_t ours[1024], theirs[1024];
		struct nfs3_entries e;
		struct xdr_out x;

		xdr_out_init(&x, ours, sizeof(ours));
		nfs3_entries_begin(&e, &x, plus, &dir, verf, 4096);
		assert_true(nfs3_entries_add(&e, &ent));
		assert_true(nfs3_entries_add(&e, &ent));
		assert_int_equal(nfs3_entries_end(&e, &dir, false), NFS3_OK);
		assert_false(vec_differ("entries", theirs,
			libnfs3_res_again(plus ? NFS3PROC_READDIRPLUS : NFS3PROC_READDIR, ours,
				x.len, theirs, sizeof(theirs)),
			ours, x.len));
	}
}

static void libnfs_understands_our_mounts(void **state)
{
	static const struct mount3_mnt_res mnt = {MOUNT3_OK, FH, 2, {1, 390003}};
	static const struct nfs_name name = NAME;
	uint8_t ours[256], theirs[256];
	struct xdr_out x;

	xdr_out_init(&x, ours, sizeof(ours));
	mount3_put_mnt_res(&x, &mnt);
	assert_false(vec_differ("MNT", theirs,
		libnfs3_mnt_again(ours, x.len, theirs, sizeof(theirs)), ours, x.len));

	xdr_out_init(&x, ours, sizeof(ours));
	mount3_put_export(&x, &name);
	mount3_put_group(&x, &name);
	mount3_put_end(&x);
	mount3_put_export(&x, &name);
	mount3_put_end(&x);
	mount3_put_end(&x);
	assert_false(vec_differ("EXPORT", theirs,
		libnfs3_exports_again(ours, x.len, theirs, sizeof(theirs)), ours, x.len));
}

static void libnfs_understands_our_locks(void **state)
{
	static const struct nlm4_lock_args lock = {{(const uint8_t *)"cook", 4}, true, false,
		{NAME, {(const uint8_t *)"handle", 6}, {(const uint8_t *)"owner", 5}, 7, 8, 9},
		true, 3};
	static const struct nlm4_test_res denied = {{(const uint8_t *)"cook", 4}, NLM4_DENIED,
		{true, 5, {(const uint8_t *)"owner", 5}, 8, 9}};
	uint8_t ours[256], theirs[256];
	struct xdr_out x;

	xdr_out_init(&x, ours, sizeof(ours));
	nlm4_put_lock_args(&x, &lock);
	assert_false(vec_differ("LOCK", theirs,
		libnfs3_nlm_lock_again(ours, x.len, theirs, sizeof(theirs)), ours, x.len));
	xdr_out_init(&x, ours, sizeof(ours));
	nlm4_put_test_res(&x, &denied);
	assert_false(vec_differ("TEST", theirs,
		libnfs3_nlm_test_res_again(ours, x.len, theirs, sizeof(theirs)), ours, x.len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libnfs_understands_our_arguments),
		cmocka_unit_test(libnfs_understands_our_results),
		cmocka_unit_test(libnfs_understands_our_entries),
		cmocka_unit_test(libnfs_understands_our_mounts),
		cmocka_unit_test(libnfs_understands_our_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
