/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/nfs_client_record: records as a mount with a submount writes them, and
 * records that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/common/nfs_places.h"
#include "nfsproto/nfs_client_record.h"
#include "transport/rpc/rpc.h"

#define ROOM 4000u

static uint8_t buf[ROOM];
static struct xdr_out x;

/* --- records that are made by hand ---------------------------------------------------------- */

static void put_data(const char *text)
{
	xdr_put_opaque(&x, text, (uint32_t)strlen(text));
}

/* The part of a submount that a test makes wrong. */
struct lies {
	uint32_t number, depth, place, places, proto, peer;
	const char *path;
	uint16_t server;
};

static const struct lies none = {.number = 3,
	.depth = 1,
	.place = 1,
	.places = 2,
	.proto = RPC_TCP,
	.peer = 16,
	.path = "/p"};

static void put_submount(const struct lies *l)
{
	const struct nfs_fh dir = {.len = 3, .data = "dir", .server = l->server};

	xdr_put_u32(&x, l->number);
	xdr_put_u32(&x, l->depth);
	nfs_record_put_fh(&x, &dir);
	put_data("name");
	xdr_put_u32(&x, l->places);
	for (uint32_t i = 0; i < l->places && i < 3; i++) {
		put_data("server");
		put_data(l->path);
	}
	xdr_put_u32(&x, l->place);
	xdr_put_u32(&x, l->proto);
	xdr_put_opaque(&x, "\2\0peerpeerpeerpe", l->peer);
	put_data("sub data");
}

/* A record of a mount with one submount; the open files are of the clients `of`. */
static struct nfs_client_parts *read_one(
	const struct lies *l, const uint32_t *of, uint32_t n, struct err *e)
{
	struct nfs_record rec = {.nopens = n, .peer_len = 16};

	*e = (struct err){0};
	xdr_out_init(&x, buf, sizeof(buf));
	put_data("top data");
	xdr_put_u32(&x, 1);
	put_submount(l);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_u32(&x, of[i]);
	assert_true(xdr_out_ok(&x));
	rec.data = buf;
	rec.len = x.len;
	return nfs_client_get_parts(&rec, e);
}

static void parts_are_read(void **state)
{
	static const uint32_t of[] = {3, 0, 3};
	struct nfs_open *open[3];
	struct nfs_record rec = {.nopens = 3, .open = open};
	struct err e;
	struct nfs_client_parts *p = read_one(&none, of, 3, &e);

	assert_non_null(p);
	assert_int_equal(p->n, 1);
	assert_int_equal(p->own.len, 8);
	assert_memory_equal(p->own.data, "top data", 8);
	assert_int_equal(p->own.nopens, 1);
	assert_int_equal(p->sub[0].number, 3);
	assert_int_equal(p->sub[0].nfs.nopens, 2);
	assert_memory_equal(p->sub[0].nfs.data, "sub data", 8);
	assert_int_equal(p->sub[0].namelen, 4);
	assert_int_equal(p->sub[0].places->n, 2);
	assert_string_equal(p->sub[0].places->place[1].server, "server");
	assert_string_equal(p->sub[0].places->place[1].path, "/p");
	p->own.open[0] = (struct nfs_open *)buf;
	p->sub[0].nfs.open[0] = (struct nfs_open *)(buf + 1);
	p->sub[0].nfs.open[1] = (struct nfs_open *)(buf + 2);
	nfs_client_join_parts(p, &rec);
	assert_ptr_equal(open[0], buf + 1);
	assert_ptr_equal(open[1], buf);
	assert_ptr_equal(open[2], buf + 2);
	nfs_client_free_parts(p);
}

static void refused(const struct lies *l, const uint32_t *of, uint32_t n)
{
	struct err e;

	assert_null(read_one(l, of, n, &e));
	assert_non_null(strstr(e.msg, "damaged"));
}

static void lies_are_refused(void **state)
{
	static const uint32_t stranger = 4;
	struct lies l;

#define WITH(member, value) (l = none, l.member = (value), &l)
	refused(WITH(number, 0), NULL, 0);
	refused(WITH(number, NFS_SUBMOUNTS_MAX + 1), NULL, 0);
	refused(WITH(depth, 0), NULL, 0);
	refused(WITH(depth, NFS_SUBMOUNT_DEEP + 1), NULL, 0);
	refused(WITH(place, 2), NULL, 0);
	refused(WITH(places, 0), NULL, 0);
	refused(WITH(places, NFS_PLACES_MAX + 1), NULL, 0);
	refused(WITH(places, 3), &stranger, 1);
	refused(WITH(proto, RPC_RDMA + 1), NULL, 0);
	refused(WITH(peer, 1), NULL, 0);
	refused(WITH(path, "p"), NULL, 0);
	refused(WITH(server, NFS_SUBMOUNTS_MAX + 1), NULL, 0);
	refused(&none, &stranger, 1); /* an open file of no client */
}

static void cut_records_are_refused(void **state)
{
	static const uint32_t of[] = {0, 3};
	struct nfs_record rec = {.nopens = 2};
	struct err e;
	size_t len;

	nfs_client_free_parts(read_one(&none, of, 2, &e));
	len = x.len;
	rec.data = buf;
	for (rec.len = 0; rec.len < len; rec.len++) {
		e = (struct err){0};
		assert_null(nfs_client_get_parts(&rec, &e));
		assert_true(e.msg[0]);
	}
	rec.len = len + 4; /* and one that goes on */
	assert_null(nfs_client_get_parts(&rec, &e));
}

static void a_mount_alone_is_read(void **state)
{
	struct nfs_record rec = {.data = buf};
	struct nfs_client_parts *p;
	struct err e = {0};

	xdr_out_init(&x, buf, sizeof(buf));
	put_data("top data");
	xdr_put_u32(&x, 0);
	rec.len = x.len;
	p = nfs_client_get_parts(&rec, &e);
	assert_non_null(p);
	assert_int_equal(p->n, 0);
	nfs_client_free_parts(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_read),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(cut_records_are_refused),
		cmocka_unit_test(a_mount_alone_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
