/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Compares nfsproto/wire/nfs4_xdr with the NFSv4.0 coders of libnfs, for operations that 4.0
 * and 4.1 have in common: libnfs must understand each message that we encode, and encode the
 * message
 * to the same bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/wire/libnfs-codec.h"
#include "tests/unit/nfsproto/wire/nfs4-vecs-args.h"
#include "tests/unit/nfsproto/wire/nfs4-vecs-res.h"
#include "nfsproto/wire/nfs4_attr.h"
#include "tests/unit/nfsproto/wire/xdr-vec.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* libnfs has no coder for the other operations, or 4.0 has no such operation */
static bool in_common(uint32_t op)
{
	return op <= OP_WRITE && op != OP_SECINFO;
}

static bool args_in_common(const struct nfs4_args *a)
{
	if (a->op == OP_OPEN && (a->u.open.claim > CLAIM_DELEGATE_PREV ||
					(a->u.open.create && a->u.open.mode == EXCLUSIVE4_1)))
		return false;
	return in_common(a->op);
}

static bool res_in_common(const struct any_res *r)
{
	if (r->op == OP_OPEN && r->u.open.deleg.type == OPEN_DELEGATE_NONE_EXT)
		return false;
	return in_common(r->op);
}

/* A COMPOUND of one operation in its inline form. Returns the length. */
static size_t encode_args(const struct nfs4_args *a, uint8_t *out)
{
	uint8_t buf[8192];
	struct xdr_out x;
	size_t at;

	xdr_out_init(&x, buf, sizeof(buf));
	at = nfs4_put_compound_args(&x, "tag", 0);
	any_put_args(&x, a);
	xdr_patch_u32(&x, at, 1);
	assert_true(xdr_out_ok(&x));
	return any_splice(&x, out);
}

static size_t encode_res(const struct any_res *r, uint8_t *out)
{
	static const struct nfs4_opaque tag = {(const uint8_t *)"tag", 3};
	uint8_t buf[8192];
	struct xdr_out x;
	size_t at;

	xdr_out_init(&x, buf, sizeof(buf));
	at = nfs4_begin_compound_res(&x, &tag);
	any_put_res(&x, r);
	nfs4_end_compound_res(&x, at, r->status, 1);
	assert_true(xdr_out_ok(&x));
	return any_splice(&x, out);
}

static void libnfs_understands_our_arguments(void **state)
{
	uint8_t ours[8192], theirs[8192];
	unsigned n = 0;

	for (size_t i = 0; i < N_OF(args_vecs); i++) {
		const struct nfs4_args *a = &args_vecs[i].args;
		size_t len;

		if (!args_in_common(a))
			continue;
		len = encode_args(a, ours);
		assert_false(vec_differ(nfs4_op_name(a->op), theirs,
			libnfs_args_again(ours, len, theirs, sizeof(theirs)), ours, len));
		n++;
	}
	assert_true(n >= 30);
}

static void libnfs_understands_our_results(void **state)
{
	uint8_t ours[8192], theirs[8192];
	unsigned n = 0;

	for (size_t i = 0; i < N_OF(res_vecs); i++) {
		const struct any_res *r = &res_vecs[i].res;
		size_t len;

		if (!res_in_common(r))
			continue;
		len = encode_res(r, ours);
		assert_false(vec_differ(nfs4_op_name(r->op), theirs,
			libnfs_res_again(ours, len, theirs, sizeof(theirs)), ours, len));
		n++;
	}
	assert_true(n >= 25);
}

static void libnfs_understands_our_directories(void **state)
{
	static const struct nfs4_opaque tag = {(const uint8_t *)"", 0};
	static const uint8_t verf[8] = VERF;
	struct nfs4_bitmap want = nfs4_bits_stat();
	struct nfs4_attrs a = {.mask = want, .attr = {.type = NFS_DIR, .uid = 1000}};
	uint8_t ours[4096], theirs[4096];
	struct nfs_name name = NAME;
	struct nfs4_entries e;
	struct xdr_out x;
	size_t at;

	for (unsigned n = 0; n < 4; n++) {
		xdr_out_init(&x, ours, sizeof(ours));
		at = nfs4_begin_compound_res(&x, &tag);
		nfs4_entries_begin(&e, &x, verf, 4000, 0);
		for (unsigned i = 0; i < n; i++) {
			nfs4_entries_start(&e, 3 + i, &name);
			nfs4_put_attrs(&x, &want, &a);
			assert_true(nfs4_entries_commit(&e));
		}
		assert_int_equal(nfs4_entries_end(&e, true), NFS4_OK);
		nfs4_end_compound_res(&x, at, NFS4_OK, 1);
		assert_false(vec_differ("READDIR", theirs,
			libnfs_res_again(ours, x.len, theirs, sizeof(theirs)), ours, x.len));
	}
}

/* Random words in our vectors: libnfs accepts all arguments that we accept and so could send. */
static void libnfs_understands_random_arguments(void **state)
{
	uint8_t in[1024], ours[8192], theirs[8192];
	uint64_t seed = 4;
	unsigned compared = 0;

	for (unsigned round = 0; round < 10000; round++) {
		const struct args_vec *v = &args_vecs[vec_random(&seed) % N_OF(args_vecs)];
		size_t n = vec_bytes(v->hex, in, sizeof(in)), len;
		uint32_t r = vec_random(&seed) << (vec_random(&seed) % 32);
		struct nfs4_args a;
		struct xdr_in x;

		if (n > 4)
			memcpy(in + 4 + 4 * (vec_random(&seed) % (n / 4 - 1)), &r, 4);
		xdr_in_init(&x, in, n);
		if (nfs4_get_args(&x, &a) || !args_in_common(&a))
			continue;
		len = encode_args(&a, ours);
		assert_false(vec_differ(nfs4_op_name(a.op), theirs,
			libnfs_args_again(ours, len, theirs, sizeof(theirs)), ours, len));
		compared++;
	}
	assert_true(compared > 1000);
}

/* Equal bytes could still mean different values: libnfs must read the values that we put in. */
static void libnfs_reads_the_same_values(void **state)
{
	struct nfs4_args open = {OP_OPEN, .u.open = {.share_access = 2,
						  .share_deny = 1,
						  .owner = OWN,
						  .create = true,
						  .mode = UNCHECKED4,
						  .attrs = MODE,
						  .name = NAME}};
	struct nfs4_args read = {OP_READ, .u.read = {SID, 1ull << 40, 4711}};
	struct any_res write = {OP_WRITE, NFS4_OK, .u.write = {4711, DATA_SYNC4, VERF}};
	uint8_t buf[8192];
	struct libnfs_write_res w;
	struct libnfs_open o;
	struct libnfs_read r;

	assert_true(libnfs_get_open(buf, encode_args(&open, buf), &o));
	assert_true(o.share_access == 2 && o.share_deny == 1 && o.clientid == 0x0102030405060708);
	assert_true(o.name_len == 4 && memcmp(o.name, "name", 4) == 0);
	assert_true(libnfs_get_read(buf, encode_args(&read, buf), &r));
	assert_true(r.seqid == 7 && r.offset == 1ull << 40 && r.count == 4711);
	assert_true(libnfs_get_write_res(buf, encode_res(&write, buf), &w));
	assert_true(w.count == 4711 && w.committed == DATA_SYNC4);
	assert_memory_equal(w.verf, write.u.write.verf, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libnfs_understands_our_arguments),
		cmocka_unit_test(libnfs_understands_our_results),
		cmocka_unit_test(libnfs_understands_our_directories),
		cmocka_unit_test(libnfs_understands_random_arguments),
		cmocka_unit_test(libnfs_reads_the_same_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
