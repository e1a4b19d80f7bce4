/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_device: devices of the file layout type, and a mount of
 * mean-nfs4 that gives such layouts at two other mean-nfs4.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/v4/pnfs/nfs4_device.h"
#include "tests/unit/nfsproto/v4/mean-run.h"
#include "tests/unit/nfsproto/v4/nfs4-fixture.h"

/* --- the bodies of devices ----------------------------------------------------------------- */

static uint8_t body[65536];

/* The device that has these stripe indices, and nservers data servers of two addresses each. netid:
 * of the first addresses. */
static struct nfs4_device_info *told(const uint32_t *stripe, unsigned nstripes, unsigned nservers,
	const char *netid, uint32_t cut)
{
	static uint8_t stripes[4 * NFS4_STRIPES_MAX], servers[256 * NFS4_SERVERS_MAX];
	struct nfs4_files_device d = {.nstripes = nstripes, .nservers = nservers};
	struct nfs4_device_info *i = calloc(1, sizeof(*i));
	struct nfs4_opaque bytes;
	struct xdr_out x;

	xdr_out_init(&x, stripes, sizeof(stripes));
	for (unsigned n = 0; n < nstripes; n++)
		xdr_put_u32(&x, stripe ? stripe[n] : 0);
	d.stripe = (struct nfs4_opaque){.data = stripes, .len = (uint32_t)x.len};
	xdr_out_init(&x, servers, sizeof(servers));
	for (unsigned n = 0; n < nservers; n++) {
		struct nfs4_multipath m = {.n = 2};
		char addr[2][32];

		for (unsigned a = 0; a < 2; a++) {
			int len = snprintf(addr[a], sizeof(addr[a]), "10.0.%u.%u.8.1", n, a + 1);

			m.addr[a] = (struct nfs4_netaddr){
				.netid = {a ? "tcp" : netid, a ? 3 : (uint32_t)strlen(netid)},
				.addr = {addr[a], (uint32_t)len}};
		}
		nfs4_put_multipath(&x, &m);
	}
	d.server = (struct nfs4_opaque){.data = servers, .len = (uint32_t)x.len};
	xdr_out_init(&x, body, sizeof(body));
	nfs4_put_files_device(&x, &d);
	assert_true(xdr_out_ok(&x));
	bytes = (struct nfs4_opaque){.data = body, .len = (uint32_t)x.len - cut};
	i->type = LAYOUT4_NFSV4_1_FILES;
	i->rdma = RPC_IWARP;
	i->files_minor = 2;
	nfs4_device_told(i, &bytes);
	return i;
}

static void a_device_has_several_servers_and_addresses(void **state)
{
	static const uint32_t stripe[] = {2, 0, 1, 0};
	struct nfs4_device_info *i = told(stripe, 4, 3, "tcp", 0);

	assert_int_equal(i->error, 0);
	assert_int_equal(i->nservers, 3);
	assert_int_equal(i->nstripes, 4);
	assert_int_equal(i->stripe[0], 2);
	assert_int_equal(i->minor, 2);
	assert_true(i->tight);
	assert_int_equal(i->server[2].nplaces, 2);
	assert_string_equal(i->server[2].place[1].name, "10.0.2.2:2049");
	free(i);
}

static void an_address_of_another_network_is_left_out(void **state)
{
	static const uint32_t stripe[] = {0};
	struct nfs4_device_info *i = told(stripe, 1, 1, "carrier", 0);

	assert_int_equal(i->error, 0);
	assert_int_equal(i->server[0].nplaces, 1);
	assert_string_equal(i->server[0].place[0].name, "10.0.0.2:2049");
	free(i);
}

static void refused(
	const uint32_t *stripe, unsigned nstripes, unsigned nservers, uint32_t cut, int error)
{
	struct nfs4_device_info *i = told(stripe, nstripes, nservers, "tcp", cut);

	assert_int_equal(i->error, error);
	free(i);
}

static void a_device_that_lies_is_refused(void **state)
{
	static const uint32_t stripe[] = {0, 3}, huge[] = {UINT32_MAX};

	refused(stripe, 2, 3, 0, -EBADMSG); /* an index out of range */
	refused(huge, 1, 3, 0, -EBADMSG);
	refused(stripe, 2, 0, 0, -EBADMSG);
	refused(stripe, 0, 3, 0, -EBADMSG);
	for (uint32_t cut = 4; cut < 100; cut += 4)
		refused(stripe, 1, 3, cut, -EBADMSG);
	refused(NULL, NFS4_STRIPES, NFS4_DS_MAX, 0, 0);
	refused(NULL, NFS4_STRIPES + 1, 1, 0, -E2BIG);
	refused(NULL, 4096, 1, 0, -E2BIG);
	refused(NULL, 1, NFS4_DS_MAX + 1, 0, -E2BIG);
}

/* --- a mount ------------------------------------------------------------------------------- */

#define DS   2
#define UNIT 4096u

struct env {
	struct fix *f;
	struct mean_srv ds[DS];
	struct nfs_open *open;
	struct nfs_fh fh;
};

static int setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));
	struct mean_layouts *l;

	fix_setup_unmounted((void **)&e->f);
	e->f->pnfs = true;
	l = &e->f->srv.layouts;
	for (unsigned i = 0; i < DS; i++) {
		mean_start(&e->ds[i]);
		e->ds[i].knows_all = true;
		e->ds[i].name = i ? "second" : "first";
		l->port[i] = rpc_server_port(e->ds[i].server);
	}
	l->gives = l->files = true;
	l->unit = UNIT;
	l->nstripes = l->nservers = DS;
	l->nfh = 1;
	l->data_size = FILE_SIZE;
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	struct env *e = *state;

	fix_teardown((void **)&e->f);
	for (unsigned i = 0; i < DS; i++)
		mean_stop(&e->ds[i]);
	free(e);
	return 0;
}

#define WITH_DS(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static unsigned ds_count(struct env *e, unsigned i, uint32_t op)
{
	unsigned n;

	pthread_mutex_lock(&e->ds[i].lock);
	n = e->ds[i].count[op];
	pthread_mutex_unlock(&e->ds[i].lock);
	return n;
}

static void open_file(struct env *e)
{
	fix_mount_root(e->f);
	e->open = fix_open(e->f, O_RDWR, &e->fh);
}

static int write_at(struct env *e, uint64_t at, uint32_t len)
{
	struct mem_buf *buf = mem_buf_get(e->f->pool, len);
	struct nfs_op op = {.type = NFS_WRITE};

	memset(buf->data, 'x', len);
	op.u.write.open = e->open;
	op.u.write.fh = e->fh;
	op.u.write.offset = at;
	op.u.write.from = seg_list_of_buf(buf, 0, len);
	fix_run(e->f, &op);
	mem_buf_unref(buf);
	return op.error;
}

/* Writes both stripes until both data servers get theirs. */
static void until_written(struct env *e)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	unsigned first = ds_count(e, 0, OP_WRITE), second = ds_count(e, 1, OP_WRITE);

	while (ds_count(e, 0, OP_WRITE) == first || ds_count(e, 1, OP_WRITE) == second) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(write_at(e, 0, 2 * UNIT), 0);
		usleep(5000);
	}
}

static void stripes_go_to_their_data_servers(void **state)
{
	struct env *e = *state;
	unsigned writes, reads, before[DS];
	uint32_t got;

	open_file(e);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	reads = fix_count(e->f, OP_READ);
	for (unsigned i = 0; i < DS; i++)
		before[i] = ds_count(e, i, OP_WRITE);
	assert_int_equal(write_at(e, 100, 4 * UNIT), 0);
	assert_int_equal(ds_count(e, 0, OP_WRITE), before[0] + 3);
	assert_int_equal(ds_count(e, 1, OP_WRITE), before[1] + 2);
	assert_int_equal(e->ds[0].write_at, 4 * UNIT);
	assert_int_equal(e->ds[1].write_at, 3 * UNIT);
	assert_int_equal(fix_read(e->f, e->open, &e->fh, 3 * UNIT, &got), 0);
	assert_int_equal(got, 3 * UNIT);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes);
	assert_int_equal(fix_count(e->f, OP_READ), reads);
	/* the data was FILE_SYNC: no offset is told */
	assert_true(e->f->srv.layouts.commits > 0);
	assert_int_equal(e->f->srv.layouts.offsets, 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	for (unsigned i = 0; i < DS; i++) {
		assert_int_equal(e->ds[i].nsessions, 0);
		assert_int_equal(e->ds[i].nclients, 0);
	}
}

/* Section 13.1: data servers know the client by the same name, and the open by its stateid. */
static void data_servers_know_client_and_stateid(void **state)
{
	struct env *e = *state;
	struct nfs4_stateid zero = {.seqid = 0};

	open_file(e);
	until_written(e);
	for (unsigned i = 0; i < DS; i++) {
		const struct mean_srv *d = &e->ds[i], *m = &e->f->srv;

		assert_int_equal(d->roles_asked, EXCHGID4_FLAG_USE_PNFS_DS);
		assert_int_equal(d->client_owner_len, m->client_owner_len);
		assert_memory_equal(d->client_owner, m->client_owner, m->client_owner_len);
		assert_memory_equal(d->client_verf, m->client_verf, sizeof(m->client_verf));
		assert_int_equal(d->io_stateid.seqid, 0);
		assert_memory_equal(d->io_stateid.other, &m->opens[0].id, sizeof(m->opens[0].id));
		assert_memory_not_equal(d->io_stateid.other, zero.other, sizeof(zero.other));
		assert_int_equal(d->uid[OP_WRITE], m->uid[OP_OPEN]);
	}
}

static void dense_units_are_packed(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.dense = true;
	e->f->srv.layouts.nfh = DS;
	e->f->srv.layouts.first_stripe = 1;
	open_file(e);
	until_written(e);
	assert_int_equal(write_at(e, 4 * UNIT + 7, 2 * UNIT - 7), 0);
	assert_int_equal(e->ds[1].write_at, 2 * UNIT + 7);
	assert_int_equal(e->ds[0].write_at, 2 * UNIT);
}

/* A data server at the metadata server's address has the metadata server's session. */
static void a_metadata_server_may_be_its_own_data_server(void **state)
{
	struct env *e = *state;
	struct mean_srv *m = &e->f->srv;
	unsigned before, layout_writes;
	uint32_t got;

	m->layouts.port[0] = rpc_server_port(m->server);
	m->layouts.nstripes = m->layouts.nservers = 1;
	open_file(e);
	before = fix_count(e->f, OP_EXCHANGE_ID);
	/* each WRITE there is followed by a LAYOUTCOMMIT */
	do {
		layout_writes = fix_count(e->f, OP_LAYOUTCOMMIT);
		assert_int_equal(write_at(e, 0, 50000), 0);
		usleep(5000);
	} while (fix_count(e->f, OP_LAYOUTCOMMIT) == layout_writes);
	assert_int_equal(fix_read(e->f, e->open, &e->fh, 50000, &got), 0);
	assert_int_equal(fix_count(e->f, OP_EXCHANGE_ID), before);
	assert_int_equal(m->nsessions, 1);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
}

/* The metadata server does not see that the file has grown. */
static void data_that_the_metadata_server_does_not_see_is_written_again(void **state)
{
	struct env *e = *state;
	unsigned writes;

	open_file(e);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	assert_int_equal(write_at(e, FILE_SIZE + 100, 50), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_int_equal(e->f->srv.write_at, FILE_SIZE + 100);
}

static void an_error_at_a_data_server_is_survived(void **state)
{
	struct env *e = *state;
	unsigned writes;

	open_file(e);
	until_written(e);
	writes = fix_count(e->f, OP_WRITE);
	pthread_mutex_lock(&e->ds[1].lock);
	e->ds[1].fail_op = OP_WRITE;
	e->ds[1].fail_status = NFS4ERR_PNFS_IO_HOLE;
	e->ds[1].fail_times = 1;
	pthread_mutex_unlock(&e->ds[1].lock);
	assert_int_equal(write_at(e, 100, 2 * UNIT), 0);
	assert_int_equal(fix_count(e->f, OP_WRITE), writes + 1);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	until_written(e);
}

/* --- news of devices ----------------------------------------------------------------------- */

static unsigned devices_asked(struct env *e)
{
	unsigned n;

	pthread_mutex_lock(&e->f->srv.lock);
	n = e->f->srv.layouts.devices;
	pthread_mutex_unlock(&e->f->srv.lock);
	return n;
}

/* The data servers change places. */
static void swap_servers(struct env *e)
{
	struct mean_layouts *l = &e->f->srv.layouts;
	uint16_t port;

	pthread_mutex_lock(&e->f->srv.lock);
	port = l->port[0];
	l->port[0] = l->port[1];
	l->port[1] = port;
	pthread_mutex_unlock(&e->f->srv.lock);
}

static void a_changed_device_is_asked_for_again(struct env *e, bool deleted)
{
	struct nfs4_cb_notify_deviceid_args a = {
		.n = 1, .change[0] = {.deleted = deleted, .type = LAYOUT4_NFSV4_1_FILES}};
	unsigned before;

	open_file(e);
	until_written(e);
	before = devices_asked(e);
	swap_servers(e);
	assert_int_equal(mean_notify_deviceid(&e->f->srv, 1, &a), NFS4_OK);
	assert_true(mean_wait(&e->f->srv, &e->f->srv.layouts.returns, 1));
	until_written(e);
	assert_int_equal(devices_asked(e), before + 1);
	assert_int_equal(write_at(e, 4 * UNIT, 10), 0);
	assert_int_equal(e->ds[1].write_at, 4 * UNIT); /* the first stripe */
}

static void a_device_may_change(void **state)
{
	a_changed_device_is_asked_for_again(*state, false);
}

static void a_device_may_be_deleted(void **state)
{
	a_changed_device_is_asked_for_again(*state, true);
}

static void news_of_other_devices_change_nothing(void **state)
{
	struct env *e = *state;
	struct nfs4_cb_notify_deviceid_args a = {
		.n = 1, .change[0] = {.type = LAYOUT4_NFSV4_1_FILES, .device.id[0] = 9}};
	unsigned gets;

	open_file(e);
	until_written(e);
	gets = fix_count(e->f, OP_LAYOUTGET);
	assert_int_equal(mean_notify_deviceid(&e->f->srv, 1, &a), NFS4_OK);
	a.change[0] = (struct nfs4_device_change){.type = LAYOUT4_FLEX_FILES};
	assert_int_equal(mean_notify_deviceid(&e->f->srv, 2, &a), NFS4_OK);
	usleep(50000);
	until_written(e);
	assert_int_equal(fix_count(e->f, OP_LAYOUTGET), gets);
	assert_int_equal(e->f->srv.layouts.returns, 0);
}

/* --- hostile layouts ----------------------------------------------------------------------- */

/* All data goes through the metadata server. */
static void stays_away(struct env *e)
{
	uint32_t got;

	open_file(e);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(write_at(e, 0, 40000), 0);
		assert_int_equal(fix_read(e->f, e->open, &e->fh, 40000, &got), 0);
		usleep(5000);
	}
	assert_true(fix_count(e->f, OP_LAYOUTGET) > 0);
	for (unsigned i = 0; i < DS; i++)
		assert_int_equal(ds_count(e, i, OP_WRITE) + ds_count(e, i, OP_READ), 0);
	assert_int_equal(fix_close(e->f, e->open), 0);
	fix_unmount_clean(e->f);
	assert_false(e->f->srv.layouts.held);
}

static void a_stripe_index_out_of_range_is_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.first_stripe = DS;
	stays_away(e);
}

static void a_wrong_number_of_handles_is_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.nfh = DS + 1;
	stays_away(e);
}

static void thousands_of_stripes_are_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.nstripes = 2000;
	stays_away(e);
}

static void a_malformed_layout_is_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.malformed = true;
	stays_away(e);
}

static void segments_that_overlap_are_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.second = 30000;
	e->f->srv.layouts.overlaps = true;
	stays_away(e);
}

/* Packed stripes in one file of one data server would overwrite each other. */
static void stripes_that_overlap_are_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.dense = true;
	e->f->srv.layouts.nfh = DS; /* all are the same */
	e->f->srv.layouts.nservers = 1;
	stays_away(e);
}

static void data_servers_that_are_one_do_not_hide_that(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.dense = true;
	e->f->srv.layouts.nfh = DS;
	e->f->srv.layouts.port[1] = e->f->srv.layouts.port[0];
	stays_away(e);
}

static void a_malformed_device_is_refused(void **state)
{
	struct env *e = *state;

	e->f->srv.layouts.bad_device = true;
	stays_away(e);
}

static void a_server_that_is_no_data_server_is_refused(void **state)
{
	struct env *e = *state;

	for (unsigned i = 0; i < DS; i++)
		e->ds[i].no_data_server = true;
	stays_away(e);
	assert_true(e->ds[0].roles_asked || e->ds[1].roles_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_several_servers_and_addresses),
		cmocka_unit_test(an_address_of_another_network_is_left_out),
		cmocka_unit_test(a_device_that_lies_is_refused),
		WITH_DS(stripes_go_to_their_data_servers),
		WITH_DS(data_servers_know_client_and_stateid),
		WITH_DS(dense_units_are_packed),
		WITH_DS(a_metadata_server_may_be_its_own_data_server),
		WITH_DS(data_that_the_metadata_server_does_not_see_is_written_again),
		WITH_DS(an_error_at_a_data_server_is_survived),
		WITH_DS(a_device_may_change),
		WITH_DS(a_device_may_be_deleted),
		WITH_DS(news_of_other_devices_change_nothing),
		WITH_DS(a_stripe_index_out_of_range_is_refused),
		WITH_DS(a_wrong_number_of_handles_is_refused),
		WITH_DS(thousands_of_stripes_are_refused),
		WITH_DS(a_malformed_layout_is_refused),
		WITH_DS(segments_that_overlap_are_refused),
		WITH_DS(stripes_that_overlap_are_refused),
		WITH_DS(data_servers_that_are_one_do_not_hide_that),
		WITH_DS(a_malformed_device_is_refused),
		WITH_DS(a_server_that_is_no_data_server_is_refused),
	};

	return cmocka_run_group_tests_name("nfs4_device", tests, NULL, NULL);
}
