/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/ops/nfs4_locations.
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-answer.h"
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/ops/nfs4_locations.h"
#include "transport/log.h"

static void put_names(struct xdr_out *x, const char *const *names, uint32_t n)
{
	xdr_put_u32(x, n);
	for (uint32_t i = 0; i < n; i++)
		xdr_put_opaque(x, names[i], (uint32_t)strlen(names[i]));
}

static const char *const two[] = {"a.example", "b.example"};
static const char *const path[] = {"vol", "data\n1"};

static size_t encode(void *buf, size_t size)
{
	struct xdr_out x;

	xdr_out_init(&x, buf, size);
	put_names(&x, path, 1);
	xdr_put_u32(&x, 2);
	put_names(&x, two, 2);
	put_names(&x, path, 2);
	put_names(&x, two + 1, 1);
	put_names(&x, path, 0);
	assert_true(xdr_out_ok(&x));
	return x.len;
}

static void each_server_of_a_location_is_a_place(void **state)
{
	uint32_t buf[64];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct nfs_places *p;

	raw.len = (uint32_t)encode(buf, sizeof(buf));
	assert_int_equal(nfs4_locations_get(&raw, NULL, &p), 3);
	assert_int_equal(p->n, 3);
	assert_string_equal(p->place[0].server, "a.example");
	assert_string_equal(p->place[0].path, "/vol/data\n1");
	assert_string_equal(p->place[1].server, "b.example");
	assert_ptr_equal(p->place[1].path, p->place[0].path);
	assert_string_equal(p->place[2].server, "b.example");
	assert_string_equal(p->place[2].path, "/");
	free(p);
}

static void what_is_cut_off_or_too_long_is_refused(void **state)
{
	uint32_t buf[64], all;
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct nfs_places *p;

	all = (uint32_t)encode(buf, sizeof(buf));
	for (raw.len = 0; raw.len < all; raw.len += 4) {
		assert_int_equal(nfs4_locations_get(&raw, NULL, &p), -EBADMSG);
		assert_null(p);
	}
	raw.len = all + 4;
	assert_int_equal(nfs4_locations_get(&raw, NULL, &p), -EBADMSG);
	buf[0] = 0xffffffff; /* a number of names that is impossible */
	raw.len = all;
	assert_int_equal(nfs4_locations_get(&raw, NULL, &p), -EBADMSG);
	memset(buf, 0, sizeof(buf));
	raw.len = 8; /* a path without names, no location */
	assert_int_equal(nfs4_locations_get(&raw, NULL, &p), 0);
	assert_null(p);
}

/* The rest of the places is still good. */
static void names_that_are_none_are_left_out(void **state)
{
	static const char *const servers[] = {"a b", "", "good", "x\n"};
	static const char *const dots[] = {"vol", ".."}, *const slash[] = {"a/b"};
	uint32_t buf[128];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct nfs_places *p;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	put_names(&x, dots, 2);
	xdr_put_u32(&x, 3);
	put_names(&x, two, 2);
	put_names(&x, dots, 2);
	put_names(&x, servers, 4);
	put_names(&x, path, 1);
	put_names(&x, two, 1);
	put_names(&x, slash, 1);
	raw.len = (uint32_t)x.len;
	assert_int_equal(nfs4_locations_get(&raw, NULL, &p), 1);
	assert_string_equal(p->place[0].server, "good");
	assert_string_equal(p->place[0].path, "/vol");
	free(p);
}

/* RFC 8881 section 11.16: an empty name is the server that tells. */
static void an_empty_name_is_the_server_that_tells(void **state)
{
	static const char *const servers[] = {"", "", "b.example"};
	const char *here = "2001:db8::1.78.81"; /* longer than the XDR of all that it replaces */
	uint32_t buf[64];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct nfs_places *p;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	put_names(&x, path, 0);
	xdr_put_u32(&x, 1);
	put_names(&x, servers, 3);
	put_names(&x, path, 1);
	raw.len = (uint32_t)x.len;
	assert_int_equal(nfs4_locations_get(&raw, here, &p), 3);
	assert_string_equal(p->place[0].server, here);
	assert_string_equal(p->place[1].server, here);
	assert_string_equal(p->place[2].server, "b.example");
	assert_string_equal(p->place[0].path, "/vol");
	free(p);
	assert_int_equal(nfs4_locations_get(&raw, "", &p), 1);
	free(p);
}

/* Those of locations that are left out take no memory of the others. */
static void empty_names_are_bounded(void **state)
{
	static const char *const dots[] = {".."};
	static uint32_t buf[4096];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct nfs_places *p;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	put_names(&x, path, 0);
	xdr_put_u32(&x, 60);
	for (int i = 0; i < 60; i++) {
		xdr_put_u32(&x, 32);
		for (int k = 0; k < 32; k++)
			xdr_put_u32(&x, 0);
		put_names(&x, i < 59 ? dots : path, 1);
	}
	assert_true(xdr_out_ok(&x));
	raw.len = (uint32_t)x.len;
	assert_int_equal(nfs4_locations_get(&raw, two[0], &p), NFS_PLACES_MAX);
	for (unsigned i = 0; i < p->n; i++) {
		assert_string_equal(p->place[i].server, two[0]);
		assert_string_equal(p->place[i].path, "/vol");
	}
	assert_true(p->place[p->n - 1].path + sizeof("/vol") <=
		    (char *)(p + 1) + raw.len + NFS_PLACES_MAX * strlen(two[0]) + 2);
	free(p);
}

static void places_are_bounded(void **state)
{
	static uint32_t buf[4096];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct nfs_places *p;
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	put_names(&x, path, 0);
	xdr_put_u32(&x, 200);
	for (int i = 0; i < 200; i++) {
		put_names(&x, two, 2);
		put_names(&x, path, 0);
	}
	assert_true(xdr_out_ok(&x));
	raw.len = (uint32_t)x.len;
	assert_int_equal(nfs4_locations_get(&raw, NULL, &p), NFS_PLACES_MAX);
	free(p);
}

static void put_server(struct xdr_out *x, const char *name, uint8_t flags, uint8_t class,
	uint8_t rank, uint8_t order)
{
	struct nfs4_replica r = {.ninfo = FSLI4BX_KNOWN, .server = {name, (uint32_t)strlen(name)}};

	r.info[FSLI4BX_GFLAGS] = flags;
	r.info[FSLI4BX_CLREADDIR] = class;
	r.info[FSLI4BX_WRITERANK] = rank;
	r.info[FSLI4BX_WRITEORDER] = order;
	nfs4_put_replica(x, &r);
}

/* Two items: this server and five others; a server behind a path with a variable. */
static void put_info(struct xdr_out *x, uint32_t flags)
{
	static const char *const variable[] = {"${ietf.org:OS_TYPE}"};

	xdr_put_u32(x, flags);
	xdr_put_u32(x, 77);
	put_names(x, path, 1);
	xdr_put_u32(x, 2);
	xdr_put_u32(x, 6);
	put_server(x, "", FSLI4GF_WRITABLE | FSLI4GF_CUR_REQ, 3, 0, 0);
	put_server(x, "last", FSLI4GF_WRITABLE, 3, 2, 0);
	put_server(x, "third", FSLI4GF_WRITABLE, 3, 1, 9);
	put_server(x, "going", FSLI4GF_WRITABLE | FSLI4GF_GOING, 3, 0, 0);
	put_server(x, "other", FSLI4GF_WRITABLE, 4, 0, 0);
	put_server(x, "reads", 0, 3, 0, 0);
	put_names(x, path, 1);
	xdr_put_u32(x, 1);
	put_server(x, "second", FSLI4GF_WRITABLE, 3, 1, 5);
	put_names(x, variable, 1);
	assert_true(xdr_out_ok(x));
}

static void replicas_have_an_order(void **state)
{
	unsigned order[NFS_PLACES_MAX];
	struct nfs4_replicas *r;
	uint32_t buf[256];
	struct xdr_out x;

	for (uint32_t flags = 0; flags <= FSLI4IF_VAR_SUB; flags++) {
		struct nfs4_opaque raw = {.data = (uint8_t *)buf};
		unsigned n = flags ? 2 : 3, i = 0;

		xdr_out_init(&x, buf, sizeof(buf));
		put_info(&x, flags);
		raw.len = (uint32_t)x.len;
		assert_int_equal(nfs4_replicas_get(&raw, &r), 0);
		assert_int_equal(r->valid_s, 77);
		assert_true(r->have_here);
		assert_int_equal(nfs4_replicas_order(r, false, order), n);
		if (!flags) /* its path has no variable then */
			assert_string_equal(r->of[order[i++]].at.server, "second");
		assert_string_equal(r->of[order[i++]].at.server, "third");
		assert_string_equal(r->of[order[i]].at.server, "last");
		assert_int_equal(nfs4_replicas_order(r, true, order), n + 1); /* and "reads" */
		r->status = STATUS4_FIXED;
		assert_int_equal(nfs4_replicas_order(r, true, order), n + 1);
		r->have_here = false;
		assert_int_equal(nfs4_replicas_order(r, true, order), 0);
		free(r);
	}
}

static void replicas_that_are_cut_off_are_refused(void **state)
{
	struct nfs4_replicas *r;
	uint32_t buf[256];
	struct nfs4_opaque raw = {.data = (uint8_t *)buf};
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	put_info(&x, 0);
	for (; raw.len < x.len; raw.len += 4) {
		assert_int_equal(nfs4_replicas_get(&raw, &r), -EBADMSG);
		assert_null(r);
	}
}

/* A look-up into a referral, and a file of a file system that has moved away: EREMOTE, after one
 * question. */
static void what_is_elsewhere_is_remote(void **state)
{
	struct fix *f = *state;
	unsigned before;

	f->srv.elsewhere = "a.example";
	fix_fails(f, OP_GETFH, NFS4ERR_MOVED, 1);
	before = f->srv.count[OP_GETATTR];
	assert_int_equal(fix_lookup(f, "file"), -EREMOTE);
	assert_int_equal(f->srv.count[OP_GETATTR], before + 1);
	fix_fails(f, OP_GETATTR, NFS4ERR_MOVED, 1);
	assert_int_equal(fix_getattr(f), -EREMOTE);
	fix_fails(f, OP_PUTFH, NFS4ERR_MOVED, 100); /* and the new place is unknown */
	assert_int_equal(fix_getattr(f), -EREMOTE);
	assert_int_equal(fix_lookup(f, "file"), -EREMOTE);
	fix_fails(f, OP_PUTFH, NFS4_OK, 0);
	assert_int_equal(fix_lookup(f, "file"), 0);
	fix_unmount_clean(f);
}

/* fattr4: the directory is "/vol" of the server that tells. */
static void put_referral(struct xdr_out *x)
{
	const struct nfs4_bitmap mask = nfs4_bits(FATTR4_FS_LOCATIONS, -1);
	static const char *const here[] = {""};
	size_t len_at, start;

	nfs4_put_op_res(x, OP_GETATTR, NFS4_OK);
	nfs4_put_bitmap(x, &mask);
	len_at = xdr_skip_u32(x);
	start = x->len;
	put_names(x, path, 1);
	xdr_put_u32(x, 1);
	put_names(x, here, 1);
	put_names(x, path, 1);
	xdr_patch_u32(x, len_at, (uint32_t)(x->len - start));
}

/* A mount with connections to two addresses of its server. */
static void a_referral_is_the_same_on_each_connection(void **state)
{
	static struct nfs4_server srv;
	static struct nfs4_client c = {.srv = &srv};
	static struct answer a;

	c.base.submounts = (struct nfs_submounts *)&c; /* the mount has some */
	mutex_init(&srv.slots.lock);
	mutex_init(&c.lock);
	srv.nconns = 2;
	for (unsigned i = 0; i < 2; i++) {
		struct sockaddr_in *in = (struct sockaddr_in *)&srv.conn[i].to;

		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(0xc0000201 + i);
		in->sin_port = htons(2049);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct nfs_op op = {.type = NFS_LOOKUP, .u.lookup.name = {"vol", 3}};

		op.be.v4.kind = NFS4_K_LOCATIONS;
		op.be.v4.conn = &srv.conn[i];
		answer_begin(&a);
		answer_ok(&a, OP_PUTFH);
		answer_ok(&a, OP_LOOKUP);
		put_referral(&a.x);
		answer_add(&a);
		assert_int_equal(answer_read(&a, &c, &op, NFS4_OK), -EREMOTE);
		assert_non_null(op.places);
		assert_string_equal(op.places->place[0].server, "192.0.2.1.8.1");
		free(op.places);
	}
	mutex_destroy(&c.lock);
	mutex_destroy(&srv.slots.lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_server_of_a_location_is_a_place),
		cmocka_unit_test(what_is_cut_off_or_too_long_is_refused),
		cmocka_unit_test(names_that_are_none_are_left_out),
		cmocka_unit_test(an_empty_name_is_the_server_that_tells),
		cmocka_unit_test(empty_names_are_bounded),
		cmocka_unit_test(places_are_bounded),
		cmocka_unit_test(replicas_have_an_order),
		cmocka_unit_test(replicas_that_are_cut_off_are_refused),
		cmocka_unit_test(a_referral_is_the_same_on_each_connection),
		ON_MOUNT(what_is_elsewhere_is_remote),
	};

	log_init("test-nfs4_locations", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
