/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_client, against a scripted server: mounting, cancelling.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_backend.h"
#include "tests/unit/nfsproto/v3/nfs3-fixture.h"
#include "transport/rpc/rpc_paths.h"

static const struct nfs_name file = {"file", 4};

/* --- mounting ----------------------------------------------------------------------------------
 */

static void a_mount_takes_the_servers_limits(void **state)
{
	struct fix3 *f = *state;
	struct nfs_client_info i;
	struct nfs_op op = {.type = NFS_STATFS};

	nfs_client_info(f->nfs, &i);
	assert_true(i.vers_major == 3 && i.rsize == 65536 && i.wsize == 32768 && i.dtsize == 8192);
	assert_int_equal(i.maxfilesize, 1 << 30);
	assert_int_equal(i.features, NFS_HAS_LOCKS);
	op.u.statfs.fh = f->root;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.statfs.st.tbytes == 4711 && op.u.statfs.st.name_max == 200);
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(f->m.umounts, 1);
}

static void refusals_are_told_apart(void **state)
{
	static const struct {
		uint32_t mnt_status, flavor;
		bool no_v3;
		enum err_kind kind;
		const char *says;
	} bad[] = {
		{MOUNT3ERR_ACCES, 1, false, ERR_ACCESS, "MNT3ERR_ACCES"},
		{MOUNT3ERR_NOENT, 1, false, ERR_NO_EXPORT, "no export /x"},
		{MOUNT3ERR_SERVERFAULT, 1, false, ERR_PROTOCOL, "MNT3ERR_SERVERFAULT"},
		{MOUNT3_OK, 390003, false, ERR_ACCESS, "security flavour"},
		{MOUNT3_OK, 1, true, ERR_VERSION, "versions 4 to 4, not version 3"},
	};
	struct fix3 *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {.kind = ERR_NONE};

		f->m.mnt_status = bad[i].mnt_status;
		f->m.flavor = bad[i].flavor;
		f->m.no_v3 = bad[i].no_v3;
		assert_null(fix3_mount(f, "/x", false, &e));
		assert_int_equal(e.kind, bad[i].kind);
		assert_non_null(strstr(e.msg, bad[i].says));
	}
}

static void a_server_without_nfsv4_is_mounted_by_nfsv3(void **state)
{
	struct fix3 *f = *state;
	struct err e = {.kind = ERR_NONE};
	struct nfs_client_info i;

	f->nfs = fix3_mount_any(f, &e);
	assert_non_null(f->nfs);
	nfs_client_info(f->nfs, &i);
	assert_int_equal(i.vers_major, 3);
	f->nfs = nfs_client_free(f->nfs);
	f->m.no_v3 = true; /* and no 4.1: the reason of the first attempt is told */
	assert_null(fix3_mount_any(f, &e));
	assert_int_equal(e.kind, ERR_VERSION);
	assert_non_null(strstr(e.msg, "not version 4"));
}

/* --- cancelling ----------------------------------------------------------------------------------
 */

static void a_cancelled_op_ends(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR};
	sem_t sem;

	op.u.getattr.fh = f->root;
	f->m.silent[NFS3PROC_GETATTR] = true;
	fix3_start(f, &op, &sem);
	nfs_cancel(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);

	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_GETATTR] = false;
	f->m.fails[NFS3PROC_GETATTR].status = NFS3ERR_JUKEBOX;
	f->m.fails[NFS3PROC_GETATTR].times = UINT32_MAX;
	pthread_mutex_unlock(&f->m.lock);
	fix3_start(f, &op, &sem);
	nfs_cancel(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
}

static void wait_for_count(struct fix3 *f, uint32_t proc, unsigned n)
{
	bool enough;

	do {
		pthread_mutex_lock(&f->m.lock);
		enough = f->m.count[proc] >= n;
		pthread_mutex_unlock(&f->m.lock);
	} while (!enough);
}

/* The server has got a WRITE, or a request that cuts the file: the server may execute the request
 * later. */
static void a_change_of_data_that_is_cancelled_ends_with_its_answer(void **state)
{
	static const uint32_t proc[] = {NFS3PROC_WRITE, NFS3PROC_SETATTR, NFS3PROC_SETATTR};
	struct nfs_op op[3] = {{.type = NFS_WRITE}, {.type = NFS_SETATTR}, {.type = NFS_OPEN}};
	struct fix3 *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 4096);
	sem_t sem;

	op[0].u.write.fh = op[1].u.setattr.fh = op[2].u.open.dir = f->file;
	op[0].u.write.from = seg_list_of_buf(buf, 0, 10);
	op[1].u.setattr.set.mask = NFS_SET_SIZE;
	op[2].u.open.flags = O_WRONLY | O_TRUNC;
	for (unsigned i = 0; i < 3; i++) {
		unsigned before = f->m.count[proc[i]];

		pthread_mutex_lock(&f->m.lock);
		f->m.silent[proc[i]] = true;
		pthread_mutex_unlock(&f->m.lock);
		fix3_start(f, &op[i], &sem);
		wait_for_count(f, proc[i], before + 1);
		nfs_cancel(&op[i]);
		nfs_cancel(&op[i]);
		assert_int_equal(fix3_getattr(f), 0);
		assert_int_equal(sem_trywait(&sem), -1);
		/* the request is sent again after a lost connection */
		pthread_mutex_lock(&f->m.lock);
		f->m.silent[proc[i]] = false;
		f->m.cut = NFS3PROC_GETATTR;
		pthread_mutex_unlock(&f->m.lock);
		assert_int_equal(fix3_getattr(f), 0);
		fix3_wait(&sem);
		assert_int_equal(op[i].error, 0);
		assert_int_equal(f->m.count[proc[i]], before + 2);
	}
	op[0] = (struct nfs_op){.type = NFS_CLOSE, .u.close.open = op[2].u.open.open};
	assert_int_equal(fix3_run(f, &op[0]), 0);
	mem_buf_unref(buf);
}

/* The requests before the truncation change nothing; and a CREATE does not truncate. */
static void an_open_that_is_cancelled_truncates_nothing_later(void **state)
{
	struct nfs_op op = {.type = NFS_OPEN};
	struct fix3 *f = *state;
	sem_t sem;

	op.u.open.dir = f->file;
	op.u.open.flags = O_WRONLY | O_TRUNC;
	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_ACCESS] = true;
	pthread_mutex_unlock(&f->m.lock);
	fix3_start(f, &op, &sem);
	wait_for_count(f, NFS3PROC_ACCESS, 1);
	nfs_cancel(&op);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_ACCESS] = false;
	f->m.fails[NFS3PROC_CREATE].status = NFS3ERR_EXIST;
	f->m.fails[NFS3PROC_CREATE].times = 1;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_open(f, &file, O_WRONLY | O_CREAT | O_TRUNC), 0);
	assert_int_equal(f->m.count[NFS3PROC_SETATTR], 0);
}

/* A server may close idle connections again and again. A connection without a single answer is
 * still one of a server that answers. */
static void a_connection_without_an_answer_is_lost_often(void **state)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	struct fix3 *f = *state;
	struct err e;

	f->nconnect = 2;
	f->nfs = fix3_mount(f, "/", false, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	assert_int_equal(f->nfs->nrpcs, 2);
	rpc_client_hold_back(f->nfs->rpcs[0], true); /* calls take the second */
	for (int i = 0; i < 8; i++) {
		while (!rpc_client_is_up(f->nfs->rpcs[1]))
			nanosleep(&pause, NULL);
		pthread_mutex_lock(&f->m.lock);
		f->m.cut = NFS3PROC_GETATTR;
		pthread_mutex_unlock(&f->m.lock);
		assert_int_equal(fix3_getattr(f), 0);
	}
}

static atomic_uint connects; /* calls of connect(2) so far that have begun a TCP connection */
static atomic_uint admitted = UINT_MAX; /* later calls fail */

int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);

/* A call that found its port in use does not count: the client tries the next port. Nor does one of
 * netlink: the server asks the kernel about each connection. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	int r;

	if (to->sa_family != AF_INET)
		return __real_connect(fd, to, len);
	if (atomic_load(&connects) >= atomic_load(&admitted)) {
		errno = ECONNREFUSED;
		return -1;
	}
	r = __real_connect(fd, to, len);
	if (!r || errno == EINPROGRESS)
		atomic_fetch_add(&connects, 1);
	return r;
}

/* The mount does without connections that cannot be made, and has them later. */
static void connections_that_fail_are_made_later(void **state)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	struct rpc_client_stats st;
	struct fix3 *f = *state;
	unsigned enough;
	struct err e;

	f->nconnect = 2;
	atomic_store(&connects, 0);
	f->nfs = fix3_mount(f, "/", true, &e);
	assert_non_null(f->nfs);
	enough = atomic_load(&connects);
	nfs_client_free(f->nfs);
	f->nconnect = 4;
	atomic_store(&connects, 0);
	atomic_store(&admitted, enough);
	f->nfs = fix3_mount(f, "/", true, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	assert_int_equal(f->nfs->nrpcs, 4);
	assert_true(rpc_client_is_up(f->nfs->rpcs[1]));
	assert_false(rpc_client_is_up(f->nfs->rpcs[2]) || rpc_client_is_up(f->nfs->rpcs[3]));
	assert_int_equal(fix3_getattr(f), 0);
	atomic_store(&admitted, UINT_MAX);
	for (int i = 0; i < 4; i++)
		while (!rpc_client_is_up(f->nfs->rpcs[i]))
			nanosleep(&pause, NULL);
	for (int i = 0; i < 3; i++)
		rpc_client_hold_back(f->nfs->rpcs[i], true);
	assert_int_equal(fix3_getattr(f), 0);
	rpc_client_stats(f->nfs->rpcs[3], &st);
	assert_int_equal(st.calls, 2); /* NULL and GETATTR */
}

/* The server says that the change was not executed. The client does not ask again. */
static void a_cancelled_change_that_is_put_off_ends(void **state)
{
	struct nfs_op op = {.type = NFS_SETATTR};
	struct fix3 *f = *state;
	sem_t sem;

	op.u.setattr.fh = f->root;
	op.u.setattr.set.mask = NFS_SET_SIZE;
	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_SETATTR] = true;
	pthread_mutex_unlock(&f->m.lock);
	fix3_start(f, &op, &sem);
	wait_for_count(f, NFS3PROC_SETATTR, 1);
	nfs_cancel(&op);
	pthread_mutex_lock(&f->m.lock);
	f->m.silent[NFS3PROC_SETATTR] = false;
	f->m.fails[NFS3PROC_SETATTR].status = NFS3ERR_JUKEBOX;
	f->m.fails[NFS3PROC_SETATTR].times = 1;
	f->m.cut = NFS3PROC_GETATTR;
	pthread_mutex_unlock(&f->m.lock);
	assert_int_equal(fix3_getattr(f), 0);
	fix3_wait(&sem);
	assert_int_equal(op.error, -EINTR);
	assert_int_equal(f->m.count[NFS3PROC_SETATTR], 2);
}

static void a_cancelled_change_ends_with_the_mount(void **state)
{
	struct nfs_op op = {.type = NFS_SETATTR};
	struct fix3 *f = *state;
	sem_t sem;

	op.u.setattr.fh = f->root;
	op.u.setattr.set.mask = NFS_SET_SIZE;
	f->m.silent[NFS3PROC_SETATTR] = true;
	fix3_start(f, &op, &sem);
	wait_for_count(f, NFS3PROC_SETATTR, 1);
	nfs_cancel(&op);
	f->nfs = nfs_client_free(f->nfs);
	fix3_wait(&sem);
	assert_int_equal(op.error, -ENOTCONN);
}

static void ops_under_way_end_with_the_mount(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op silent = {.type = NFS_ACCESS}, later = {.type = NFS_GETATTR};
	sem_t a, b;

	silent.u.access.fh = later.u.getattr.fh = f->root;
	f->m.silent[NFS3PROC_ACCESS] = true;
	f->m.fails[NFS3PROC_GETATTR].status = NFS3ERR_JUKEBOX;
	f->m.fails[NFS3PROC_GETATTR].times = UINT32_MAX;
	fix3_start(f, &silent, &a);
	fix3_start(f, &later, &b);
	f->nfs = nfs_client_free(f->nfs);
	fix3_wait(&a);
	fix3_wait(&b);
	assert_int_equal(silent.error, -ENOTCONN);
	assert_int_equal(later.error, -ENOTCONN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT3(a_mount_takes_the_servers_limits),
		cmocka_unit_test_setup_teardown(
			refusals_are_told_apart, fix3_setup_unmounted, fix3_teardown),
		cmocka_unit_test_setup_teardown(a_server_without_nfsv4_is_mounted_by_nfsv3,
			fix3_setup_unmounted, fix3_teardown),
		ON_MOUNT3(a_cancelled_op_ends),
		ON_MOUNT3(a_change_of_data_that_is_cancelled_ends_with_its_answer),
		ON_MOUNT3(an_open_that_is_cancelled_truncates_nothing_later),
		cmocka_unit_test_setup_teardown(a_connection_without_an_answer_is_lost_often,
			fix3_setup_unmounted, fix3_teardown),
		cmocka_unit_test_setup_teardown(
			connections_that_fail_are_made_later, fix3_setup_unmounted, fix3_teardown),
		ON_MOUNT3(a_cancelled_change_that_is_put_off_ends),
		ON_MOUNT3(a_cancelled_change_ends_with_the_mount),
		ON_MOUNT3(ops_under_way_end_with_the_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
