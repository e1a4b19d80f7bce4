/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_device: the lists of devices and data servers, alone and
 * in a mount.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nfsproto/v4/pnfs/nfs4_device.h"
#include "tests/unit/nfsproto/v4/mean-run.h"
#include "tests/unit/nfsproto/v4/pnfs/pnfs-fixture.h"

/* The device with that ID, at a data server with that number. It need not be new. */
static struct nfs4_device *add(struct nfs4_devices *d, unsigned id, unsigned server)
{
	struct nfs4_device_info i = {
		.id.id = {(uint8_t)id, (uint8_t)(id >> 8)},
		.type = LAYOUT4_FLEX_FILES,
		.rsize = 4096,
		.wsize = 4096,
		.nservers = 1,
		.nstripes = 1,
		.server[0] = {.nplaces = 1, .place[0] = {.len = sizeof(struct sockaddr_in)}},
	};
	struct sockaddr_in *in = (struct sockaddr_in *)&i.server[0].place[0].ss;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0x0a000000 + server);
	return nfs4_devices_add(d, &i);
}

static struct nfs4_device *find(struct nfs4_devices *d, unsigned id)
{
	const struct nfs4_deviceid at = {{(uint8_t)id, (uint8_t)(id >> 8)}};

	return nfs4_devices_find(d, &at);
}

static void replaced_devices_make_room(void **state)
{
	struct nfs4_devices d;

	nfs4_devices_init(&d);
	for (unsigned i = 0; i < 3 * NFS4_DEVICES_HELD; i++)
		assert_non_null(add(&d, 7, i));
	while (nfs4_devices_tidy(&d))
		;
	assert_int_equal(d.n, 1);
	assert_int_equal(d.nservers, 1);
	nfs4_devices_finish(&d);
}

static void the_device_that_was_found_the_longest_ago_makes_room(void **state)
{
	struct nfs4_devices d;

	nfs4_devices_init(&d);
	for (unsigned i = 0; i < NFS4_DEVICES_HELD; i++)
		assert_non_null(add(&d, i, 1));
	assert_non_null(find(&d, 0));
	assert_non_null(add(&d, NFS4_DEVICES_HELD, 1));
	assert_null(find(&d, 1));
	assert_non_null(find(&d, 0));
	assert_non_null(find(&d, 2));
	assert_int_equal(d.nservers, 1);
	nfs4_devices_finish(&d);
}

static void a_device_of_a_layout_stays(void **state)
{
	const struct nfs4_deviceid id = {{3}};
	struct nfs4_device *used, *replaced;
	struct nfs4_devices d;

	nfs4_devices_init(&d);
	used = add(&d, 2, 2);
	nfs4_device_use(used);
	replaced = add(&d, 3, 3);
	nfs4_device_use(replaced);
	nfs4_devices_delete(&d, &id);
	assert_null(find(&d, 3));
	for (unsigned i = 10; i < 3 * NFS4_DEVICES_HELD; i++)
		assert_non_null(add(&d, i, i));
	assert_ptr_equal(find(&d, 2), used);
	assert_ptr_equal(TAILQ_FIRST(&d.old), replaced);
	assert_true(nfs4_ds_is_used(used->server[0]) && nfs4_ds_is_used(replaced->server[0]));
	nfs4_device_leave(replaced);
	while (nfs4_devices_tidy(&d))
		;
	assert_true(TAILQ_EMPTY(&d.old));
	nfs4_device_leave(used);
	nfs4_devices_finish(&d);
}

static void without_room_a_device_is_of_no_use(void **state)
{
	struct nfs4_device *first, *dev;
	struct nfs4_devices d;

	nfs4_devices_init(&d);
	first = add(&d, 0, 0);
	nfs4_device_use(first);
	for (unsigned i = 1; i < NFS4_DEVICES_HELD; i++) {
		dev = add(&d, i, i % NFS4_DS_MAX);
		assert_non_null(dev);
		nfs4_device_use(dev);
	}
	assert_null(add(&d, NFS4_DEVICES_HELD, 0));
	assert_null(add(&d, NFS4_DEVICES_HELD, NFS4_DS_MAX));
	assert_null(add(&d, 1, NFS4_DS_MAX));
	assert_int_equal(d.n, NFS4_DEVICES_HELD);
	assert_int_equal(d.nservers, NFS4_DS_MAX);
	nfs4_device_leave(first);
	assert_non_null(add(&d, NFS4_DEVICES_HELD, 1));
	nfs4_devices_finish(&d);
}

/* Devices are few, data servers are many. */
static void an_idle_data_server_makes_room(void **state)
{
	struct nfs4_device *dev[NFS4_DS_MAX];
	struct nfs4_devices d;

	nfs4_devices_init(&d);
	for (unsigned i = 0; i < NFS4_DS_MAX; i++) {
		dev[i] = add(&d, i, i);
		nfs4_device_use(dev[i]);
	}
	assert_non_null(add(&d, 99, 1)); /* not used, but its data server is */
	assert_null(add(&d, 100, NFS4_DS_MAX));
	assert_non_null(find(&d, 99)); /* would have made no room */
	nfs4_device_leave(dev[5]);
	assert_non_null(add(&d, 100, NFS4_DS_MAX));
	assert_null(find(&d, 5));
	assert_int_equal(d.nservers, NFS4_DS_MAX);
	nfs4_devices_finish(&d);
}

static void a_data_server_with_io_stays(void **state)
{
	struct nfs4_devices d;
	struct nfs4_ds *ds;

	nfs4_devices_init(&d);
	ds = add(&d, 0, 0)->server[0];
	nfs4_ds_use(ds);
	assert_non_null(add(&d, 0, 1));
	assert_false(nfs4_devices_tidy(&d));
	assert_int_equal(d.nservers, 2);
	nfs4_ds_leave(ds);
	assert_true(nfs4_devices_tidy(&d));
	assert_false(nfs4_devices_tidy(&d));
	assert_int_equal(d.nservers, 1);
	nfs4_devices_finish(&d);
}

/* --- in a mount ---------------------------------------------------------------------------- */

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

/* Writes until data server i gets a WRITE. */
static void until_written_at(struct env *e, unsigned i)
{
	uint64_t until = fix_now_ms() + PATIENCE_MS;
	unsigned before = mean_ds_count(&e->ds[i], &e->ds[i].writes);

	while (mean_ds_count(&e->ds[i], &e->ds[i].writes) == before) {
		assert_true(fix_now_ms() < until);
		assert_int_equal(pnfs_write_at(e, 0, 50000), 0);
	}
}

/* A restarted server may mean other data servers by the same device IDs (RFC 8881 section 12.7.4).
 */
static void a_restarted_server_may_have_other_devices(void **state)
{
	struct env *e = *state;
	unsigned writes;

	pnfs_open_file(e, O_RDWR);
	pnfs_until_written(e);
	writes = mean_ds_count(&e->ds[0], &e->ds[0].writes);
	swap_servers(e);
	mean_reboot(&e->f->srv);
	assert_int_equal(fix_getattr(e->f), 0);
	until_written_at(e, 1);
	assert_int_equal(mean_ds_count(&e->ds[0], &e->ds[0].writes), writes);
}

/* More often than a mount may have devices, the device is another, each time with I/O under way
 * there. */
static void a_device_may_change_for_ever(void **state)
{
	struct env *e = *state;
	struct mem_buf *buf;
	struct nfs_op op;
	sem_t sem;

	pnfs_open_file(e, O_RDWR);
	until_written_at(e, 0);
	buf = mem_buf_get(e->f->pool, 50000);
	for (unsigned i = 1; i <= NFS4_DEVICES_HELD + 10; i++) {
		struct nfs4_cb_notify_deviceid_args a = {
			.n = 1, .change[0] = {.type = LAYOUT4_FLEX_FILES, .deleted = i % 3 == 0}};

		pnfs_start_read(e, &op, buf, &sem);
		swap_servers(e);
		assert_int_equal(mean_notify_deviceid(&e->f->srv, i, &a), NFS4_OK);
		assert_true(fix_ends_within(&sem, PATIENCE_MS));
		assert_int_equal(op.error, 0);
		nfs_read_let_go(&op);
		until_written_at(e, i % 2);
	}
	mem_buf_unref(buf);
}

/* The news comes while the mount asks for the other device of the layout. */
static void a_device_may_change_while_another_is_asked_for(void **state)
{
	struct nfs4_cb_notify_deviceid_args a = {.n = 1, .change[0] = {.type = LAYOUT4_FLEX_FILES}};
	struct env *e = *state;
	struct mean_srv *s = &e->f->srv;
	struct mem_buf *buf = mem_buf_get(e->f->pool, 50000);
	struct nfs_op op;
	sem_t sem;

	s->layouts.nmirrors = 2;
	s->hold_op = OP_GETDEVICEINFO;
	pnfs_open_file(e, O_RDWR);
	pnfs_start_read(e, &op, buf, &sem);
	assert_true(mean_wait(s, &s->nheld, 1));
	mean_release_hold(s, OP_GETDEVICEINFO);
	assert_true(mean_wait(s, &s->nheld, 1));
	assert_int_equal(mean_notify_deviceid(s, 1, &a), NFS4_OK);
	mean_release(s);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, 0);
	nfs_read_let_go(&op);
	mem_buf_unref(buf);
	assert_true(mean_wait(s, &s->layouts.returns, 1));
	pnfs_until_written(e);
	assert_int_equal(pnfs_count(e, &s->layouts.devices), 3);
}

/* A data server that no device names any more is disconnected, and its calls still count. */
static void a_data_server_that_is_not_needed_is_left(void **state)
{
	struct nfs4_cb_notify_deviceid_args a = {.n = 1, .change[0] = {.type = LAYOUT4_FLEX_FILES}};
	struct rpc_client_stats stats, gone, all;
	struct rpc_client_info info;
	struct env *e = *state;
	uint64_t until = fix_now_ms() + PATIENCE_MS;

	pnfs_open_file(e, O_RDWR);
	until_written_at(e, 0);
	assert_true(nfs_client_path(e->f->nfs, 1, &info, &gone));
	swap_servers(e);
	assert_int_equal(mean_notify_deviceid(&e->f->srv, 1, &a), NFS4_OK);
	until_written_at(e, 1);
	while (nfs_client_path(e->f->nfs, 2, &info, &stats)) {
		assert_true(fix_now_ms() < until);
		usleep(1000);
	}
	assert_true(nfs_client_path(e->f->nfs, 1, &info, &stats));
	nfs_client_path(e->f->nfs, 0, &info, &stats);
	nfs_client_stats(e->f->nfs, &all);
	assert_true(all.calls > stats.calls + gone.calls);
}

/* Reads the file with that number until the data server gets a READ. */
static void read_directly(struct env *e, unsigned no)
{
	unsigned before = mean_ds_count(&e->ds[0], &e->ds[0].reads);
	struct mem_buf *buf = mem_buf_get(e->f->pool, 50000);
	struct nfs_op o = {.type = NFS_OPEN};
	uint64_t until = fix_now_ms() + PATIENCE_MS;

	o.u.open.dir = (struct nfs_fh){.len = 2, .data = "F"};
	o.u.open.dir.data[1] = (uint8_t)no;
	o.u.open.flags = O_RDONLY;
	assert_int_equal(fix_run(e->f, &o), 0);
	while (mean_ds_count(&e->ds[0], &e->ds[0].reads) == before) {
		struct nfs_op op = {.type = NFS_READ};

		op.u.read.open = o.u.open.open;
		op.u.read.fh = o.u.open.fh;
		op.u.read.to = seg_list_of_buf(buf, 0, 50000);
		assert_true(fix_now_ms() < until);
		assert_int_equal(fix_run(e->f, &op), 0);
		usleep(1000);
	}
	assert_int_equal(fix_close(e->f, o.u.open.open), 0);
	mem_buf_unref(buf);
}

/* Layouts of closed files stay, each with a device of its own, until other layouts need the room.
 */
static void idle_layouts_make_room_for_devices(void **state)
{
	struct mean_layouts *l = &((struct env *)*state)->f->srv.layouts;
	struct env *e = *state;

	for (unsigned i = 1; i < MEAN_DEVICES; i++)
		l->port[i] = l->port[0];
	fix_mount_root(e->f);
	for (unsigned i = 0; i < NFS4_DEVICES_HELD + 20; i++) {
		pthread_mutex_lock(&e->f->srv.lock);
		l->device = (uint16_t)i;
		pthread_mutex_unlock(&e->f->srv.lock);
		read_directly(e, i + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_devices_make_room),
		cmocka_unit_test(the_device_that_was_found_the_longest_ago_makes_room),
		cmocka_unit_test(a_device_of_a_layout_stays),
		cmocka_unit_test(without_room_a_device_is_of_no_use),
		cmocka_unit_test(an_idle_data_server_makes_room),
		cmocka_unit_test(a_data_server_with_io_stays),
		WITH_DS(a_restarted_server_may_have_other_devices),
		WITH_DS(a_device_may_change_for_ever),
		WITH_DS(a_device_may_change_while_another_is_asked_for),
		WITH_DS(a_data_server_that_is_not_needed_is_left),
		WITH_DS(idle_layouts_make_room_for_devices),
	};

	return cmocka_run_group_tests_name("nfs4_devices", tests, NULL, NULL);
}
