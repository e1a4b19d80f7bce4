/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/nfs4_client: mounting, every op in good weather, many at once,
 * unmounting.
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
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/ops/nfs4_ops_copy.h"
#include "transport/log.h"

static unsigned entries;

static bool count_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	assert_true(ent->have_attr && ent->have_fh);
	assert_int_equal(ent->namelen, 1);
	assert_int_equal(ent->name[0], 'a' + (int)entries);
	entries++;
	return true;
}

static void test_all_ops(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = fix_open(f, O_RDWR | O_CREAT, &fh);
	struct nfs_name name = {"file", 4};
	struct nfs_op op;
	char buf[64];
	uint32_t n;

	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(fix_lookup(f, "file"), 0);
	assert_int_equal(fix_lookup(f, "nope"), -ENOENT);
	assert_int_equal(fix_read(f, open, &fh, 50000, &n), 0);
	assert_int_equal(n, 50000);
	assert_int_equal(fix_read(f, NULL, &fh, 200000, &n), 0);
	assert_int_equal(n, 100000);
	assert_int_equal(fix_write(f, open, &fh, NFS_UNSTABLE), 0);
	entries = 0;
	assert_int_equal(fix_readdir(f, count_entry), 0);
	assert_int_equal(entries, 5);
	op = (struct nfs_op){.type = NFS_ACCESS, .u.access = {.fh = fh, .want = NFS_ACCESS_READ}};
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.access.allowed, NFS_ACCESS_READ);
	op = (struct nfs_op){
		.type = NFS_READLINK, .u.readlink = {.fh = fh, .buf = buf, .size = sizeof(buf)}};
	assert_int_equal(fix_run(f, &op), 0);
	assert_string_equal(buf, "target");
	op = (struct nfs_op){.type = NFS_READLINK, .u.readlink = {.fh = fh, .buf = buf, .size = 6}};
	assert_int_equal(fix_run(f, &op), -ENAMETOOLONG);
	op = (struct nfs_op){
		.type = NFS_CREATE, .u.create = {.dir = f->root, .name = name, .type = NFS_DIR}};
	assert_int_equal(fix_run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_REMOVE, .u.remove = {.dir = f->root, .name = name}};
	assert_int_equal(fix_run(f, &op), 0);
	op.u.remove.is_dir = true;
	assert_int_equal(fix_run(f, &op), -ENOTDIR);
	op = (struct nfs_op){.type = NFS_RENAME,
		.u.rename = {.from_dir = f->root, .to_dir = f->root, .from = name, .to = name}};
	assert_int_equal(fix_run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_LINK, .u.link = {.fh = fh, .dir = f->root, .name = name}};
	assert_int_equal(fix_run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_SETATTR,
		.u.setattr = {.fh = fh, .open = open, .set = {.mask = NFS_SET_SIZE, .size = 9}}};
	assert_int_equal(fix_run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_COMMIT, .u.commit = {.fh = fh}};
	assert_int_equal(fix_run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_STATFS, .u.statfs = {.fh = fh}};
	assert_int_equal(fix_run(f, &op), 0);
	assert_int_equal(op.u.statfs.st.name_max, 255);
	assert_int_equal(fix_close(f, open), 0);
	fix_unmount_clean(f);
}

/* A session that could not keep the reply to an OPEN is refused at the mount. Nothing of the
 * session is left. */
static void test_small_cache(void **state)
{
	struct fix *f = *state;
	struct err e = {.kind = ERR_NONE};

	f->srv.cached_max = 300;
	assert_null(fix_mount(f, "/", &e));
	assert_int_equal(e.kind, ERR_PROTOCOL);
	assert_non_null(strstr(e.msg, "300 bytes"));
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
	f->srv.cached_max = 1024;
	f->nfs = fix_mount(f, "/", &e);
	assert_non_null(f->nfs);
	fix_unmount_clean(f);
}

static void test_unmount_closes(void **state)
{
	struct fix *f = *state;
	struct nfs_fh fh;

	fix_open(f, O_RDONLY, &fh);
	fix_open(f, O_RDWR, &fh);
	assert_int_equal(f->srv.nopens, 2);
	fix_unmount_clean(f);
	assert_int_equal(f->srv.count[OP_CLOSE], 2);
}

static void test_bad_arguments(void **state)
{
	struct fix *f = *state;
	static char longname[300];
	struct nfs_op op = {.type = NFS_LOOKUP};
	unsigned before = f->srv.count[OP_SEQUENCE];

	memset(longname, 'x', sizeof(longname));
	op.u.lookup.dir = f->root;
	op.u.lookup.name = (struct nfs_name){longname, 256};
	assert_int_equal(fix_run(f, &op), -ENAMETOOLONG);
	op.u.lookup.name = (struct nfs_name){"", 0};
	assert_int_equal(fix_run(f, &op), -EINVAL);
	op.u.lookup.name = (struct nfs_name){"a/b", 3};
	assert_int_equal(fix_run(f, &op), -EINVAL);
	op.u.lookup.name = (struct nfs_name){"a", 1};
	op.u.lookup.dir.len = NFS_FH_MAX + 1;
	assert_int_equal(fix_run(f, &op), -ESTALE);
	op = (struct nfs_op){.type = NFS_REMOVE,
		.u.remove = {.dir = f->root, .name = {"..", 2}, .is_dir = true}};
	assert_int_equal(fix_run(f, &op), -ENOTEMPTY);
	op = (struct nfs_op){.type = NFS_CREATE,
		.u.create = {.dir = f->root, .name = {"b", 1}, .type = NFS_REG}};
	assert_int_equal(fix_run(f, &op), -EINVAL);
	assert_int_equal(f->srv.count[OP_SEQUENCE], before);
	op = (struct nfs_op){
		.type = NFS_LOOKUP, .u.lookup = {.dir = f->root, .name = {longname, 255}}};
	assert_int_equal(fix_run(f, &op), 0);
}

static void mount_fails(struct fix *f, const char *export, enum err_kind kind, const char *word)
{
	struct err e = {.kind = ERR_NONE};

	assert_null(fix_mount(f, export, &e));
	assert_int_equal(e.kind, kind);
	if (!strstr(e.msg, word))
		print_error("\"%s\" does not say \"%s\"\n", e.msg, word);
	assert_non_null(strstr(e.msg, word));
	assert_int_equal(f->srv.nsessions, 0);
}

static void test_mount_errors(void **state)
{
	struct fix *f = *state;
	struct err e = {.kind = ERR_NONE};
	uint64_t start;

	mount_fails(f, "/dir/nope/x", ERR_NO_EXPORT, "\"nope\"");
	mount_fails(f, "/dir/dir/dir/dir/dir/dir/dir/dir/dir/nope", ERR_NO_EXPORT, "\"nope\"");
	mount_fails(f, "/file", ERR_NO_EXPORT, "not a directory");
	mount_fails(f, "/dir/../dir", ERR_USAGE, "..");
	fix_fails(f, OP_LOOKUP, NFS4ERR_ACCESS, 1);
	mount_fails(f, "/dir", ERR_ACCESS, "denies");
	fix_fails(f, OP_PUTROOTFH, NFS4ERR_WRONGSEC, 1);
	mount_fails(f, "/dir", ERR_ACCESS, "security");
	fix_fails(f, OP_LOOKUP, NFS4ERR_MOVED, 1);
	mount_fails(f, "/dir", ERR_MOVED, "does not say");
	f->srv.elsewhere = "a.example";
	fix_fails(f, OP_LOOKUP, NFS4ERR_MOVED, 1);
	mount_fails(f, "/dir", ERR_MOVED, "from there, a.example:/new or b.example:/new");
	fix_fails(f, OP_GETFH, NFS4ERR_MOVED, 1);
	mount_fails(f, "/dir/dir/dir/dir/dir", ERR_MOVED, "a.example:/new");
	f->srv.elsewhere = NULL;
	fix_fails(f, OP_CREATE_SESSION, NFS4ERR_INVAL, 1);
	mount_fails(f, "/", ERR_PROTOCOL, "CREATE_SESSION");
	fix_quirk(f, Q_NO_ATTRS);
	mount_fails(f, "/", ERR_PROTOCOL, "LOOKUP");
	f->srv.minor = 0;
	mount_fails(f, "/", ERR_VERSION, "NFSv4.1");
	f->srv.minor = 1;
	fix_quirk(f, Q_DROP);
	f->connect_ms = 1000;
	start = fix_now_ms();
	mount_fails(f, "/", ERR_UNREACHABLE, "does not answer");
	assert_true(fix_now_ms() - start < 8000);
	f->connect_ms = 10000;
	fix_fails(f, OP_PUTROOTFH, NFS4ERR_BADSESSION, 1); /* a restart in the middle */
	f->nfs = fix_mount(f, "/", &e);
	assert_non_null(f->nfs);
	fix_unmount_clean(f);
	fix_fails(f, OP_EXCHANGE_ID, NFS4ERR_DELAY, 2);
	f->nfs = fix_mount(f, "//dir/./dir/", &e);
	assert_non_null(f->nfs);
	fix_unmount_clean(f);
}

/* The newest version of the server, found over one connection. */
static void test_versions(void **state)
{
	struct fix *f = *state;
	struct nfs_client_info info;
	struct err e = {.kind = ERR_NONE};

	for (unsigned minor = 1; minor <= 2; minor++) {
		f->srv.minor = minor;
		for (unsigned any = 0; any <= 1; any++) {
			f->nfs = fix_mount_version(f, "/", any ? 0 : minor, &e);
			assert_non_null(f->nfs);
			nfs_client_info(f->nfs, &info);
			assert_int_equal(info.vers_major, 4);
			assert_int_equal(info.vers_minor, minor);
			fix_unmount_clean(f);
		}
	}
	f->srv.minor = 1;
	assert_null(fix_mount_version(f, "/", 2, &e));
	assert_int_equal(e.kind, ERR_VERSION);
	assert_non_null(strstr(e.msg, "not NFSv4.2"));
	f->srv.minor = 0;
	e = (struct err){.kind = ERR_NONE};
	assert_null(fix_mount_version(f, "/", 0, &e));
	assert_int_equal(e.kind, ERR_VERSION);
	assert_non_null(strstr(e.msg, "not NFSv4.1 or later"));
}

static void test_unmount_from_silent_server(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
	struct nfs_fh fh;
	uint64_t begun;
	sem_t sem;

	fix_open(f, O_RDONLY, &fh);
	f->srv.hold_op = OP_SEQUENCE;
	fix_start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	begun = fix_now_ms();
	f->nfs = nfs_client_free(f->nfs);
	assert_true(fix_now_ms() - begun < 8000);
	assert_true(fix_ends_within(&sem, 0));
	assert_int_equal(op.error, -ENOTCONN);
}

static void *many(void *arg)
{
	struct fix *f = arg;
	struct nfs_fh fh = {.len = 2, .data = "F0"};

	for (int i = 0; i < 60; i++) {
		uint32_t n;

		assert_int_equal(fix_getattr(f), 0);
		assert_int_equal(fix_read(f, NULL, &fh, 20000, &n), 0);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct fix *f = *state;
	pthread_t t[6];

	for (int i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many, f), 0);
	usleep(5000);
	mean_lose_session(&f->srv);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(f->srv.misordered, 0);
	fix_unmount_clean(f);
}

/* The same with a single slot: all ops but one wait all the time. */
static void test_one_slot(void **state)
{
	struct fix *f = *state;
	struct err e = {.kind = ERR_NONE};

	f->srv.slots = 1;
	f->nfs = fix_mount(f, "/", &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	test_threads(state);
}

/* A server's limit for READ and WRITE of one byte would make a million parts of one request. */
static void test_tiny_io(void **state)
{
	struct fix *f = *state;
	struct err e = {.kind = ERR_NONE};
	struct nfs_client_info info;

	f->srv.io_max = 1;
	f->nfs = fix_mount(f, "/", &e);
	assert_non_null(f->nfs);
	nfs_client_info(f->nfs, &info);
	assert_int_equal(info.rsize, 1024);
	assert_int_equal(info.wsize, 1024);
}

/* After a restart of the server, the end of a copy is not taken for the end of another copy. */
static void test_offload_reboot(void **state)
{
	struct fix *f = *state;
	struct nfs4_client *c = nfs4_client(f->nfs);
	const struct nfs4_cb_offload_args end = {.fh = {.len = 1}, .stateid = {.other = "copy"}};

	nfs4_offload_called(c, &end);
	assert_true(c->offload[0].set);
	mean_lose_session(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_true(c->offload[0].set); /* the server still knows the copy */
	mean_reboot(&f->srv);
	assert_int_equal(fix_getattr(f), 0);
	assert_false(c->offload[0].set);
	fix_unmount_clean(f);
}

/* On a soft mount a server that answers too late leaves no open file behind. */
static void test_soft_open_and_close(void **state)
{
	struct fix *f = *state;
	struct nfs_op op = {.type = NFS_OPEN};
	struct nfs_open *open;
	struct nfs_fh fh;

	fix_mount_soft(f, 10000, 1500);
	op.u.open.dir = f->root;
	op.u.open.name = (struct nfs_name){"file", 4};
	op.u.open.flags = O_RDWR | O_CREAT | O_TRUNC;
	f->srv.hold_op = OP_OPEN;
	assert_int_equal(fix_run(f, &op), -ETIMEDOUT);
	assert_null(op.u.open.open);
	mean_release(&f->srv); /* the server opens the file now, and no caller gets the answer */
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.nopens, 0);
	open = fix_open(f, O_RDONLY, &fh);
	f->srv.hold_op = OP_CLOSE;
	assert_int_equal(fix_close(f, open), -ETIMEDOUT);
	pthread_mutex_lock(&f->srv.lock);
	f->srv.hold_op = 0; /* held answers are lost with the connection */
	for (unsigned i = 0; i < f->srv.nheld; i++)
		rpc_req_drop(f->srv.held[i]);
	f->srv.nheld = 0;
	pthread_mutex_unlock(&f->srv.lock);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 2));
	assert_int_equal(f->srv.nopens, 0);
	fix_unmount_clean(f);
}

static void *mount_main(void *arg)
{
	struct err e = {.kind = ERR_NONE};

	return nfs_client_new(arg, &e);
}

/* As a submount while the mount ends. */
static void test_unwanted(void **state)
{
	struct fix *f = *state;
	struct nfs_mount_params p = fix_params(f, "/");
	pthread_t thread;
	void *made;

	for (unsigned i = 0; i < 2; i++) {
		const uint32_t op = i ? OP_LOOKUP : OP_EXCHANGE_ID;

		p.export = "/d";
		p.connect_ms = 24 * 3600 * 1000;
		p.abort_fd = eventfd(0, EFD_CLOEXEC);
		assert_true(p.abort_fd > 0);
		mean_release_hold(&f->srv, op);
		pthread_create(&thread, NULL, mount_main, &p);
		assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
		assert_int_equal(eventfd_write(p.abort_fd, 1), 0);
		pthread_join(thread, &made);
		assert_null(made);
		mean_release(&f->srv);
		close(p.abort_fd);
	}
	assert_int_equal(f->srv.nsessions, 0); /* a silent server is left after a goodbye, too */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_offload_reboot),
		ON_MOUNT(test_all_ops),
		ON_MOUNT(test_unmount_closes),
		ON_MOUNT(test_bad_arguments),
		cmocka_unit_test_setup_teardown(
			test_mount_errors, fix_setup_unmounted, fix_teardown),
		cmocka_unit_test_setup_teardown(test_unwanted, fix_setup_unmounted, fix_teardown),
		cmocka_unit_test_setup_teardown(test_versions, fix_setup_unmounted, fix_teardown),
		ON_MOUNT(test_unmount_from_silent_server),
		ON_MOUNT(test_threads),
		cmocka_unit_test_setup_teardown(
			test_soft_open_and_close, fix_setup_unmounted, fix_teardown),
		cmocka_unit_test_setup_teardown(test_one_slot, fix_setup_unmounted, fix_teardown),
		cmocka_unit_test_setup_teardown(
			test_small_cache, fix_setup_unmounted, fix_teardown),
		cmocka_unit_test_setup_teardown(test_tiny_io, fix_setup_unmounted, fix_teardown),
	};

	log_init("test-nfs4_client", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
