/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs_record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_record.h"

static const struct nfs_fh fh = {.len = 5, .data = "abcde", .server = 9};
static const struct rpc_cred cred = {
	.flavor = RPC_AUTH_SYS, .uid = 1, .gid = 2, .ngids = 2, .gids = {3, 4}};
static const struct nfs_attr attr = {.type = NFS_LNK,
	.mode = 0777,
	.nlink = 1,
	.size = 7,
	.fileid = UINT64_MAX,
	.change = 9,
	.mtime = {.tv_sec = -5, .tv_nsec = 999999999}};

static void put(struct xdr_out *x, uint8_t *buf, size_t size)
{
	xdr_out_init(x, buf, size);
	nfs_record_put_fh(x, &fh);
	nfs_record_put_cred(x, &cred);
	nfs_record_put_attr(x, &attr);
	nfs_record_put_text(x, "text");
}

static bool get(const uint8_t *buf, size_t len)
{
	struct nfs_fh f;
	struct nfs_attr a;
	struct rpc_cred c;
	struct xdr_in x;
	char text[5];

	xdr_in_init(&x, buf, len);
	nfs_record_get_fh(&x, &f);
	nfs_record_get_cred(&x, &c);
	nfs_record_get_attr(&x, &a);
	nfs_record_get_text(&x, text, sizeof(text));
	if (!xdr_in_done(&x))
		return false;
	return nfs_fh_same(&f, &fh) && rpc_same_cred(&c, &cred) && c.gids[1] == 4 &&
	       !strcmp(text, "text") && a.type == NFS_LNK && a.fileid == UINT64_MAX &&
	       a.mtime.tv_sec == -5 && a.mtime.tv_nsec == 999999999 && a.change == 9;
}

static void items_go_through(void **state)
{
	uint8_t buf[400];
	struct xdr_out x;

	put(&x, buf, sizeof(buf));
	assert_true(xdr_out_ok(&x));
	assert_true(get(buf, x.len));
}

static void a_short_record_is_refused(void **state)
{
	uint8_t buf[400];
	struct xdr_out x;

	put(&x, buf, sizeof(buf));
	for (size_t len = 0; len < x.len; len += 4)
		assert_false(get(buf, len));
}

/* Begins a stream with a word, and room behind it. */
static struct xdr_in of_word(uint8_t buf[400], uint32_t word)
{
	struct xdr_out o;
	struct xdr_in x;

	memset(buf, 0x55, 400);
	xdr_out_init(&o, buf, 400);
	xdr_put_u32(&o, word);
	xdr_in_init(&x, buf, 400);
	return x;
}

static void lengths_are_checked(void **state)
{
	uint8_t buf[400];
	struct rpc_cred c;
	struct nfs_attr a;
	struct nfs_fh f;
	struct xdr_out o;
	struct xdr_in x;
	char text[8];

	x = of_word(buf, 0);
	nfs_record_get_fh(&x, &f);
	assert_false(xdr_in_ok(&x));
	x = of_word(buf, NFS_FH_MAX + 1);
	nfs_record_get_fh(&x, &f);
	assert_false(xdr_in_ok(&x));
	x = of_word(buf, 7);
	nfs_record_get_text(&x, text, sizeof(text));
	assert_true(xdr_in_ok(&x) && strlen(text) == 7);
	x = of_word(buf, 8);
	nfs_record_get_text(&x, text, sizeof(text));
	assert_false(xdr_in_ok(&x));
	x = of_word(buf, 7);
	buf[6] = 0; /* a NUL inside */
	nfs_record_get_text(&x, text, sizeof(text));
	assert_false(xdr_in_ok(&x));
	x = of_word(buf, 99); /* no flavour */
	nfs_record_get_cred(&x, &c);
	assert_false(xdr_in_ok(&x));
	x = of_word(buf, RPC_AUTH_SYS); /* 0x55555555 groups */
	nfs_record_get_cred(&x, &c);
	assert_false(xdr_in_ok(&x));
	assert_true(c.ngids <= RPC_MAX_GIDS);
	xdr_out_init(&o, buf, sizeof(buf));
	xdr_put_u64(&o, 1); /* the type, and no more */
	xdr_put_u64(&o, NFS_FIFO + 1);
	xdr_in_init(&x, buf, o.len);
	nfs_record_get_attr(&x, &a);
	assert_false(xdr_in_ok(&x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_go_through),
		cmocka_unit_test(a_short_record_is_refused),
		cmocka_unit_test(lengths_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
