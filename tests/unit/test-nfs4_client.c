/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of the NFSv4.1 client (nfsproto/nfs4_client and its parts) against a server that keeps
 * the rules exactly, and breaks them as told.
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
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "mean-nfs4.h"
#include "transport/log.h"

struct fixture {
	struct mean_srv srv;
	struct mem_pool *pool;
	struct nfs_client *nfs;
	struct nfs_fh root;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct nfs_client *mount_at(struct fixture *f, const char *export, struct err *e)
{
	struct nfs_mount_params p = {
		.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.export = export,
		.minor_version = 1,
		.pool = f->pool,
		.connect_ms = 1000,
	};

	return nfs_client_new(&p, e);
}

static int setup_unmounted(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	mean_start(&f->srv);
	f->pool = mem_pool_new(0);
	*state = f;
	return 0;
}

static int setup(void **state)
{
	struct err e = {.kind = ERR_NONE};
	struct fixture *f;

	setup_unmounted(state);
	f = *state;
	f->nfs = mount_at(f, "/", &e);
	if (!f->nfs)
		print_error("mount: %s\n", e.msg);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	return 0;
}

/* Unmounts; the server must be left without any state of ours. */
static void unmount_clean(struct fixture *f)
{
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(f->srv.nopens, 0);
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nfs_client_free(f->nfs);
	mean_stop(&f->srv);
	mem_pool_free(f->pool);
	free(f);
	return 0;
}

static void op_done(struct nfs_op *op)
{
	sem_post(op->ctx);
}

static int run(struct fixture *f, struct nfs_op *op)
{
	sem_t sem;

	sem_init(&sem, 0, 0);
	op->done = op_done;
	op->ctx = &sem;
	nfs_submit(f->nfs, op);
	while (sem_wait(&sem) != 0)
		;
	sem_destroy(&sem);
	return op->error;
}

static int getattr(struct fixture *f)
{
	struct nfs_op op = {.type = NFS_GETATTR};

	op.u.getattr.fh = f->root;
	return run(f, &op);
}

static int lookup(struct fixture *f, const char *name)
{
	struct nfs_op op = {.type = NFS_LOOKUP};

	op.u.lookup.dir = f->root;
	op.u.lookup.name = (struct nfs_name){name, (uint32_t)strlen(name)};
	return run(f, &op);
}

static struct nfs_open *open_file(struct fixture *f, int flags, struct nfs_fh *fh)
{
	struct nfs_op op = {.type = NFS_OPEN};

	op.u.open.dir = f->root;
	op.u.open.name = (struct nfs_name){"file", 4};
	op.u.open.flags = flags;
	op.u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0640};
	assert_int_equal(run(f, &op), 0);
	assert_non_null(op.u.open.open);
	*fh = op.u.open.fh;
	return op.u.open.open;
}

static int close_file(struct fixture *f, struct nfs_open *open)
{
	struct nfs_op op = {.type = NFS_CLOSE};

	op.u.close.open = open;
	return run(f, &op);
}

static int read_file(struct fixture *f, struct nfs_open *open, const struct nfs_fh *fh,
	uint32_t want, uint32_t *got)
{
	struct mem_buf *buf = mem_buf_get(f->pool, want + 64);
	struct nfs_op op = {.type = NFS_READ};

	memset(buf->data, 0xee, want + 64);
	op.u.read.open = open;
	op.u.read.fh = *fh;
	op.u.read.to = (struct rpc_sink){mem_buf_sge(buf, 0, want), buf};
	run(f, &op);
	*got = op.u.read.count;
	for (uint32_t i = 0; i < 64; i++) /* nothing behind the sink is ever touched */
		assert_int_equal(buf->data[want + i], 0xee);
	if (op.error == 0)
		for (uint32_t i = 0; i < *got; i++)
			assert_int_equal(buf->data[i], (uint8_t)(i * 2654435761u >> 24));
	mem_buf_unref(buf);
	return op.error;
}

static int write_file(
	struct fixture *f, struct nfs_open *open, const struct nfs_fh *fh, enum nfs_stable stable)
{
	struct mem_buf *buf = mem_buf_get(f->pool, 5000);
	struct nfs_op op = {.type = NFS_WRITE};

	memset(buf->data, 1, 5000);
	op.u.write.open = open;
	op.u.write.fh = *fh;
	op.u.write.stable = stable;
	op.u.write.from = mem_buf_sge(buf, 0, 5000);
	run(f, &op);
	if (op.error == 0)
		assert_int_equal(op.u.write.count, 5000);
	mem_buf_unref(buf);
	return op.error;
}

static void srv_fails(struct fixture *f, uint32_t op, uint32_t status, unsigned times)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.fail_op = op;
	f->srv.fail_status = status;
	f->srv.fail_times = times;
	pthread_mutex_unlock(&f->srv.lock);
}

static void quirk(struct fixture *f, enum quirk q)
{
	pthread_mutex_lock(&f->srv.lock);
	f->srv.quirk = q;
	f->srv.quirk_times = 1;
	pthread_mutex_unlock(&f->srv.lock);
}

/* --- good weather -------------------------------------------------------------------------- */

static unsigned entries;

static bool count_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	assert_true(ent->have_attr && ent->have_fh);
	assert_int_equal(ent->namelen, 1);
	assert_int_equal(ent->name[0], 'a' + (int)entries);
	entries++;
	return true;
}

static int readdir_all(struct fixture *f, bool (*entry)(struct nfs_op *, const struct nfs_dirent *))
{
	struct nfs_op op = {.type = NFS_READDIR};

	entries = 0;
	op.u.readdir.dir = f->root;
	op.u.readdir.max_bytes = 32768;
	op.u.readdir.plus = true;
	op.u.readdir.entry = entry;
	run(f, &op);
	if (op.error == 0)
		assert_true(op.u.readdir.eof);
	return op.error;
}

static void test_all_ops(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR | O_CREAT, &fh);
	struct nfs_name name = {"file", 4};
	struct nfs_op op;
	char buf[64];
	uint32_t n;

	assert_int_equal(getattr(f), 0);
	assert_int_equal(lookup(f, "file"), 0);
	assert_int_equal(lookup(f, "nope"), -ENOENT);
	assert_int_equal(read_file(f, open, &fh, 50000, &n), 0);
	assert_int_equal(n, 50000);
	assert_int_equal(read_file(f, NULL, &fh, 200000, &n), 0);
	assert_int_equal(n, 100000);
	assert_int_equal(write_file(f, open, &fh, NFS_UNSTABLE), 0);
	assert_int_equal(readdir_all(f, count_entry), 0);
	assert_int_equal(entries, 5);
	op = (struct nfs_op){.type = NFS_ACCESS, .u.access = {.fh = fh, .want = NFS_ACCESS_READ}};
	assert_int_equal(run(f, &op), 0);
	assert_int_equal(op.u.access.allowed, NFS_ACCESS_READ);
	op = (struct nfs_op){
		.type = NFS_READLINK, .u.readlink = {.fh = fh, .buf = buf, .size = sizeof(buf)}};
	assert_int_equal(run(f, &op), 0);
	assert_string_equal(buf, "target");
	op = (struct nfs_op){.type = NFS_READLINK, .u.readlink = {.fh = fh, .buf = buf, .size = 6}};
	assert_int_equal(run(f, &op), -ENAMETOOLONG);
	op = (struct nfs_op){
		.type = NFS_CREATE, .u.create = {.dir = f->root, .name = name, .type = NFS_DIR}};
	assert_int_equal(run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_REMOVE, .u.remove = {.dir = f->root, .name = name}};
	assert_int_equal(run(f, &op), 0);
	op.u.remove.is_dir = true;
	assert_int_equal(run(f, &op), -ENOTDIR);
	op = (struct nfs_op){.type = NFS_RENAME,
		.u.rename = {.from_dir = f->root, .to_dir = f->root, .from = name, .to = name}};
	assert_int_equal(run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_LINK, .u.link = {.fh = fh, .dir = f->root, .name = name}};
	assert_int_equal(run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_SETATTR,
		.u.setattr = {.fh = fh, .open = open, .set = {.mask = NFS_SET_SIZE, .size = 9}}};
	assert_int_equal(run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_COMMIT, .u.commit = {.fh = fh}};
	assert_int_equal(run(f, &op), 0);
	op = (struct nfs_op){.type = NFS_STATFS, .u.statfs = {.fh = fh}};
	assert_int_equal(run(f, &op), 0);
	assert_int_equal(op.u.statfs.st.name_max, 255);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static void test_unmount_closes(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;

	open_file(f, O_RDONLY, &fh);
	open_file(f, O_RDWR, &fh);
	assert_int_equal(f->srv.nopens, 2);
	unmount_clean(f);
	assert_int_equal(f->srv.count[OP_CLOSE], 2);
}

static void test_bad_arguments(void **state)
{
	struct fixture *f = *state;
	static char longname[300];
	struct nfs_op op = {.type = NFS_LOOKUP};
	unsigned before = f->srv.count[OP_SEQUENCE];

	memset(longname, 'x', sizeof(longname));
	op.u.lookup.dir = f->root;
	op.u.lookup.name = (struct nfs_name){longname, 256};
	assert_int_equal(run(f, &op), -ENAMETOOLONG);
	op.u.lookup.name = (struct nfs_name){"", 0};
	assert_int_equal(run(f, &op), -EINVAL);
	op.u.lookup.name = (struct nfs_name){"a/b", 3};
	assert_int_equal(run(f, &op), -EINVAL);
	op.u.lookup.name = (struct nfs_name){"a", 1};
	op.u.lookup.dir.len = NFS_FH_MAX + 1;
	assert_int_equal(run(f, &op), -ESTALE);
	op = (struct nfs_op){.type = NFS_REMOVE,
		.u.remove = {.dir = f->root, .name = {"..", 2}, .is_dir = true}};
	assert_int_equal(run(f, &op), -ENOTEMPTY);
	op = (struct nfs_op){.type = NFS_CREATE,
		.u.create = {.dir = f->root, .name = {"b", 1}, .type = NFS_REG}};
	assert_int_equal(run(f, &op), -EINVAL);
	assert_int_equal(f->srv.count[OP_SEQUENCE], before);
	op = (struct nfs_op){
		.type = NFS_LOOKUP, .u.lookup = {.dir = f->root, .name = {longname, 255}}};
	assert_int_equal(run(f, &op), 0);
}

/* --- mounting ------------------------------------------------------------------------------ */

static void mount_fails(struct fixture *f, const char *export, enum err_kind kind, const char *word)
{
	struct err e = {.kind = ERR_NONE};

	assert_null(mount_at(f, export, &e));
	assert_int_equal(e.kind, kind);
	if (!strstr(e.msg, word))
		print_error("\"%s\" does not say \"%s\"\n", e.msg, word);
	assert_non_null(strstr(e.msg, word));
	assert_int_equal(f->srv.nsessions, 0);
}

static void test_mount_errors(void **state)
{
	struct fixture *f = *state;
	struct err e = {.kind = ERR_NONE};
	uint64_t start;

	mount_fails(f, "/dir/nope/x", ERR_NO_EXPORT, "\"nope\"");
	mount_fails(f, "/dir/dir/dir/dir/dir/dir/dir/dir/dir/nope", ERR_NO_EXPORT, "\"nope\"");
	mount_fails(f, "/file", ERR_NO_EXPORT, "not a directory");
	mount_fails(f, "/dir/../dir", ERR_USAGE, "..");
	srv_fails(f, OP_LOOKUP, NFS4ERR_ACCESS, 1);
	mount_fails(f, "/dir", ERR_ACCESS, "denies");
	srv_fails(f, OP_PUTROOTFH, NFS4ERR_WRONGSEC, 1);
	mount_fails(f, "/dir", ERR_ACCESS, "security");
	srv_fails(f, OP_LOOKUP, NFS4ERR_MOVED, 1);
	mount_fails(f, "/dir", ERR_NO_EXPORT, "another server");
	srv_fails(f, OP_CREATE_SESSION, NFS4ERR_INVAL, 1);
	mount_fails(f, "/", ERR_PROTOCOL, "CREATE_SESSION");
	quirk(f, Q_NO_ATTRS);
	mount_fails(f, "/", ERR_PROTOCOL, "LOOKUP");
	f->srv.minor = 0;
	mount_fails(f, "/", ERR_VERSION, "NFSv4.1");
	f->srv.minor = 1;
	quirk(f, Q_DROP);
	start = now_ms();
	mount_fails(f, "/", ERR_UNREACHABLE, "does not answer");
	assert_true(now_ms() - start < 4000);
	srv_fails(f, OP_PUTROOTFH, NFS4ERR_BADSESSION, 1); /* a restart in the middle */
	f->nfs = mount_at(f, "/", &e);
	assert_non_null(f->nfs);
	unmount_clean(f);
	srv_fails(f, OP_EXCHANGE_ID, NFS4ERR_DELAY, 2);
	f->nfs = mount_at(f, "//dir/./dir/", &e);
	assert_non_null(f->nfs);
	unmount_clean(f);
}

/* --- statuses that mean "again" ------------------------------------------------------------ */

static void test_delay(void **state)
{
	struct fixture *f = *state;
	unsigned before = f->srv.count[OP_GETATTR];

	srv_fails(f, OP_GETATTR, NFS4ERR_DELAY, 3);
	assert_int_equal(getattr(f), 0);
	assert_int_equal(f->srv.count[OP_GETATTR] - before, 4);
	srv_fails(f, OP_SEQUENCE, NFS4ERR_DELAY, 2);
	assert_int_equal(getattr(f), 0);
	assert_int_equal(f->srv.misordered, 0);
	unmount_clean(f);
}

/* What was made must not be made twice when only the question after it was answered DELAY. */
static void test_delay_after_change(void **state)
{
	struct fixture *f = *state;
	struct nfs_op op = {.type = NFS_CREATE,
		.u.create = {.dir = f->root, .name = {"d", 1}, .type = NFS_DIR}};
	struct nfs_fh fh;
	struct nfs_open *open;

	srv_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1);
	assert_int_equal(run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_CREATE], 1);
	srv_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1);
	open = open_file(f, O_RDWR, &fh);
	assert_int_equal(f->srv.count[OP_OPEN], 1);
	srv_fails(f, OP_GETATTR, NFS4ERR_DELAY, 2);
	op = (struct nfs_op){.type = NFS_SETATTR,
		.u.setattr = {.fh = fh, .set = {.mask = NFS_SET_MODE, .mode = 1}}};
	assert_int_equal(run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	srv_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1);
	op = (struct nfs_op){
		.type = NFS_LINK, .u.link = {.fh = fh, .dir = f->root, .name = {"l", 1}}};
	assert_int_equal(run(f, &op), 0);
	assert_int_equal(f->srv.count[OP_LINK], 1);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static void test_exclusive_create(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR | O_CREAT | O_EXCL, &fh);

	/* the server said that the mode was not set */
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static void test_truncating_open(void **state)
{
	struct fixture *f = *state;
	struct nfs_op op = {.type = NFS_OPEN,
		.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_WRONLY | O_TRUNC}};
	struct nfs_fh fh;

	close_file(f, open_file(f, O_WRONLY | O_TRUNC, &fh));
	assert_int_equal(f->srv.count[OP_SETATTR], 1);
	/* refused: the open that came with it is given back */
	srv_fails(f, OP_SETATTR, NFS4ERR_ROFS, 1);
	assert_int_equal(run(f, &op), -EROFS);
	assert_int_equal(f->srv.nopens, 0);
	/* later: the truncation alone is repeated */
	srv_fails(f, OP_SETATTR, NFS4ERR_DELAY, 1);
	assert_int_equal(run(f, &op), 0);
	assert_int_equal(f->srv.nopens, 1);
	assert_int_equal(close_file(f, op.u.open.open), 0);
	unmount_clean(f);
}

/* --- lost sessions and state --------------------------------------------------------------- */

static void test_lost_session(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR, &fh);
	uint32_t n;

	mean_lose_session(&f->srv);
	assert_int_equal(read_file(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.session_no, 2);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 1);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static void test_reboot(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR, &fh);
	uint32_t n;

	mean_reboot(&f->srv);
	assert_int_equal(read_file(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reclaims, 1);
	assert_int_equal(f->srv.reopens, 0);
	assert_int_equal(f->srv.count[OP_RECLAIM_COMPLETE], 2);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

/* The server came back, but takes no reclaims (any more). */
static void test_reboot_no_grace(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR, &fh);
	uint32_t n;

	mean_reboot(&f->srv);
	f->srv.reclaiming = false;
	assert_int_equal(read_file(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reopens, 1);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static void test_bad_stateid(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR, &fh);
	uint32_t n;

	pthread_mutex_lock(&f->srv.lock);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(read_file(f, open, &fh, 1000, &n), 0);
	assert_int_equal(f->srv.reopens, 1);
	/* and once more, now refused: the file is lost, but not the client */
	pthread_mutex_lock(&f->srv.lock);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	pthread_mutex_unlock(&f->srv.lock);
	srv_fails(f, OP_OPEN, NFS4ERR_ACCESS, 1);
	assert_int_equal(read_file(f, open, &fh, 1000, &n), -EIO);
	assert_int_equal(write_file(f, open, &fh, NFS_UNSTABLE), -EIO);
	assert_int_equal(close_file(f, open), 0);
	assert_int_equal(getattr(f), 0);
	unmount_clean(f);
}

static void test_revoked_flag(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR, &fh);
	uint32_t n;

	pthread_mutex_lock(&f->srv.lock);
	memset(f->srv.opens, 0, sizeof(f->srv.opens));
	f->srv.nopens = 0;
	f->srv.status_flags = SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED;
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_FREE_STATEID], 1));
	assert_true(mean_wait(&f->srv, &f->srv.reopens, 1));
	f->srv.status_flags = 0;
	assert_int_equal(read_file(f, open, &fh, 1000, &n), 0);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static void test_misordered(void **state)
{
	struct fixture *f = *state;

	pthread_mutex_lock(&f->srv.lock);
	f->srv.seq[0]++; /* the server counted one that we never sent */
	pthread_mutex_unlock(&f->srv.lock);
	assert_int_equal(getattr(f), 0);
	assert_int_equal(getattr(f), 0);
	pthread_mutex_lock(&f->srv.lock);
	f->srv.seq[0] += 7; /* hopelessly apart: only a new session helps */
	f->srv.seq[1] += 7;
	pthread_mutex_unlock(&f->srv.lock);
	for (int i = 0; i < 10; i++)
		assert_int_equal(getattr(f), 0);
	unmount_clean(f);
}

static void test_cb_path_down(void **state)
{
	struct fixture *f = *state;

	f->srv.status_flags = SEQ4_STATUS_CB_PATH_DOWN;
	for (int i = 0; i < 20; i++)
		assert_int_equal(getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], 1));
	assert_int_equal(f->srv.count[OP_BIND_CONN_TO_SESSION], 1); /* not at every reply */
	unmount_clean(f);
}

/* --- replies that make no sense ------------------------------------------------------------ */

static void test_senseless_replies(void **state)
{
	static const enum quirk any[] = {Q_SHORT_REPLY, Q_FEWER_RESULTS, Q_WRONG_OP, Q_TRAILING,
		Q_STATUS_MISMATCH, Q_WRONG_SLOT, Q_NO_ATTRS};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		quirk(f, any[i]);
		if (getattr(f) != -EREMOTEIO)
			fail_msg("quirk %d was not noticed", any[i]);
		assert_int_equal(getattr(f), 0);
	}
	unmount_clean(f);
}

static void test_senseless_data(void **state)
{
	struct fixture *f = *state;
	struct nfs_fh fh;
	struct nfs_open *open = open_file(f, O_RDWR, &fh);
	uint32_t n;

	quirk(f, Q_READ_LONG);
	assert_int_not_equal(read_file(f, open, &fh, 5000, &n), 0);
	quirk(f, Q_READ_NOTHING);
	assert_int_equal(read_file(f, open, &fh, 5000, &n), -EREMOTEIO);
	quirk(f, Q_WRITE_LONG);
	assert_int_equal(write_file(f, open, &fh, NFS_UNSTABLE), -EREMOTEIO);
	quirk(f, Q_WRITE_UNSTABLE);
	assert_int_equal(write_file(f, open, &fh, NFS_FILE_SYNC), -EREMOTEIO);
	assert_int_equal(read_file(f, open, &fh, 5000, &n), 0);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

static bool any_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	for (uint32_t i = 0; i < ent->namelen; i++)
		assert_true(ent->name[i] != '/' && ent->name[i] != '\0');
	entries++;
	return true;
}

static void test_senseless_directories(void **state)
{
	static const struct nfs_name names[] = {
		{"", 0}, {".", 1}, {"..", 2}, {"a/b", 3}, {"/", 1}, {"a\0b", 3}};
	static char longname[256];
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		f->srv.bad_name = names[i].s;
		f->srv.bad_name_len = names[i].len;
		quirk(f, Q_DIR_NAME);
		assert_int_equal(readdir_all(f, any_entry), -EREMOTEIO);
		assert_int_equal(entries, 3);
	}
	memset(longname, 'n', sizeof(longname));
	f->srv.bad_name = longname;
	f->srv.bad_name_len = 256;
	quirk(f, Q_DIR_NAME);
	assert_int_equal(readdir_all(f, any_entry), -EREMOTEIO);
	quirk(f, Q_DIR_LOOP);
	assert_int_equal(readdir_all(f, any_entry), -EREMOTEIO);
	quirk(f, Q_DIR_NOTHING);
	assert_int_equal(readdir_all(f, any_entry), -EREMOTEIO);
	assert_int_equal(readdir_all(f, any_entry), 0);
	unmount_clean(f);
}

/* --- cancelling ---------------------------------------------------------------------------- */

static void start(struct fixture *f, struct nfs_op *op, sem_t *sem)
{
	sem_init(sem, 0, 0);
	op->done = op_done;
	op->ctx = sem;
	nfs_submit(f->nfs, op);
}

static bool ends_within(sem_t *sem, unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return sem_timedwait(sem, &t) == 0;
}

static void test_cancel_sent(void **state)
{
	struct fixture *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
	sem_t sem;

	f->srv.hold_op = OP_GETATTR;
	start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_true(ends_within(&sem, 2000));
	assert_int_equal(op.error, -EINTR);
	mean_release(&f->srv);
	for (int i = 0; i < 5; i++)
		assert_int_equal(getattr(f), 0);
	unmount_clean(f);
}

static void test_cancel_waiting(void **state)
{
	struct fixture *f = *state;
	struct nfs_op op[MEAN_SLOTS + 3];
	sem_t sem[MEAN_SLOTS + 3];

	f->srv.hold_op = OP_GETATTR;
	for (int i = 0; i < MEAN_SLOTS + 3; i++) {
		op[i] = (struct nfs_op){.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
		start(f, &op[i], &sem[i]);
	}
	assert_true(mean_wait(&f->srv, &f->srv.nheld, MEAN_SLOTS));
	nfs_cancel(&op[MEAN_SLOTS + 1]); /* queued for a slot */
	assert_true(ends_within(&sem[MEAN_SLOTS + 1], 2000));
	assert_int_equal(op[MEAN_SLOTS + 1].error, -EINTR);
	mean_release(&f->srv);
	for (int i = 0; i < MEAN_SLOTS + 3; i++) {
		if (i == MEAN_SLOTS + 1)
			continue;
		assert_true(ends_within(&sem[i], 2000));
		assert_int_equal(op[i].error, 0);
	}
	srv_fails(f, OP_GETATTR, NFS4ERR_DELAY, 1000);
	start(f, &op[0], &sem[0]);
	usleep(100000);
	nfs_cancel(&op[0]); /* waiting for its time */
	assert_true(ends_within(&sem[0], 2000));
	assert_int_equal(op[0].error, -EINTR);
	unmount_clean(f);
}

/* What the server has opened for a user who is gone is closed again. */
static void test_cancel_open(void **state)
{
	struct fixture *f = *state;
	struct nfs_op op = {.type = NFS_OPEN,
		.u.open = {.dir = f->root, .name = {"file", 4}, .flags = O_RDONLY}};
	sem_t sem;

	f->srv.hold_op = OP_OPEN;
	start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	nfs_cancel(&op);
	assert_true(ends_within(&sem, 2000));
	assert_int_equal(op.error, -EINTR);
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CLOSE], 1));
	assert_int_equal(f->srv.nopens, 0);
	unmount_clean(f);
}

static void test_unmount_from_silent_server(void **state)
{
	struct fixture *f = *state;
	struct nfs_op op = {.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
	struct nfs_fh fh;
	uint64_t begun = now_ms();
	sem_t sem;

	open_file(f, O_RDONLY, &fh);
	f->srv.hold_op = OP_SEQUENCE;
	start(f, &op, &sem);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	f->nfs = nfs_client_free(f->nfs);
	assert_true(now_ms() - begun < 8000);
	assert_true(ends_within(&sem, 0));
	assert_int_equal(op.error, -ENOTCONN);
}

/* --- callbacks ----------------------------------------------------------------------------- */

static void test_recall(void **state)
{
	static const struct nfs4_stateid id = {.seqid = 1, .other = "deleg"};
	struct fixture *f = *state;
	struct nfs_open *open;
	struct nfs_fh fh;

	assert_int_equal(mean_recall(&f->srv, 1, &f->root, &id), NFS4ERR_BAD_STATEID);
	assert_int_equal(mean_recall(&f->srv, 1, &f->root, &id), NFS4ERR_BAD_STATEID); /* again */
	assert_int_equal(mean_recall(&f->srv, 3, &f->root, &id), NFS4ERR_SEQ_MISORDERED);
	f->srv.hold_op = OP_DELEGRETURN;
	quirk(f, Q_DELEGATION);
	open = open_file(f, O_RDONLY, &fh);
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 1));
	assert_int_equal(mean_recall(&f->srv, 2, &fh, &id), NFS4_OK); /* it is on its way back */
	mean_release(&f->srv);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_DELEGRETURN], 1));
	assert_int_equal(f->srv.ndelegs, 0);
	assert_int_equal(close_file(f, open), 0);
	unmount_clean(f);
}

/* --- many at once -------------------------------------------------------------------------- */

static void *many(void *arg)
{
	struct fixture *f = arg;
	struct nfs_fh fh = {.len = 2, .data = "F0"};

	for (int i = 0; i < 60; i++) {
		uint32_t n;

		assert_int_equal(getattr(f), 0);
		assert_int_equal(read_file(f, NULL, &fh, 20000, &n), 0);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	pthread_t t[6];

	for (int i = 0; i < 6; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many, f), 0);
	usleep(5000);
	mean_lose_session(&f->srv);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(f->srv.misordered, 0);
	unmount_clean(f);
}

/* The same with a single slot, all but one waiting all the time. */
static void test_one_slot(void **state)
{
	struct fixture *f = *state;
	struct err e = {.kind = ERR_NONE};

	f->srv.slots = 1;
	f->nfs = mount_at(f, "/", &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	test_threads(state);
}

/* Cancelling at any moment: each op ends once, nothing stays open, no slot is lost. */
static void test_cancel_any_time(void **state)
{
	enum { ROUND = 24, ROUNDS = 60 };
	struct fixture *f = *state;
	static struct nfs_op op[ROUND];
	static sem_t sem[ROUND];
	unsigned seed = 1, ended[2] = {0};

	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < ROUND; i++) {
			op[i] = (struct nfs_op){.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
			if (i % 3 == 0)
				op[i] = (struct nfs_op){.type = NFS_OPEN,
					.u.open = {.dir = f->root,
						.name = {"file", 4},
						.flags = O_RDONLY}};
			start(f, &op[i], &sem[i]);
			if (rand_r(&seed) % 2)
				nfs_cancel(&op[rand_r(&seed) % (unsigned)(i + 1)]);
		}
		for (int i = 0; i < ROUND; i++) {
			assert_true(ends_within(&sem[i], 5000));
			assert_true(op[i].error == 0 || op[i].error == -EINTR);
			ended[op[i].error != 0]++;
			assert_int_not_equal(sem_trywait(&sem[i]), 0);
			if (op[i].type == NFS_OPEN && op[i].error == 0)
				assert_int_equal(close_file(f, op[i].u.open.open), 0);
		}
	}
	assert_true(ended[0] > 0 && ended[1] > 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(getattr(f), 0);
	unmount_clean(f);
}

#define ON_MOUNT(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT(test_all_ops),
		ON_MOUNT(test_unmount_closes),
		ON_MOUNT(test_bad_arguments),
		cmocka_unit_test_setup_teardown(test_mount_errors, setup_unmounted, teardown),
		ON_MOUNT(test_delay),
		ON_MOUNT(test_delay_after_change),
		ON_MOUNT(test_exclusive_create),
		ON_MOUNT(test_truncating_open),
		ON_MOUNT(test_lost_session),
		ON_MOUNT(test_reboot),
		ON_MOUNT(test_reboot_no_grace),
		ON_MOUNT(test_bad_stateid),
		ON_MOUNT(test_revoked_flag),
		ON_MOUNT(test_misordered),
		ON_MOUNT(test_cb_path_down),
		ON_MOUNT(test_senseless_replies),
		ON_MOUNT(test_senseless_data),
		ON_MOUNT(test_senseless_directories),
		ON_MOUNT(test_cancel_sent),
		ON_MOUNT(test_cancel_waiting),
		ON_MOUNT(test_cancel_open),
		ON_MOUNT(test_cancel_any_time),
		ON_MOUNT(test_unmount_from_silent_server),
		ON_MOUNT(test_recall),
		ON_MOUNT(test_threads),
		cmocka_unit_test_setup_teardown(test_one_slot, setup_unmounted, teardown),
	};

	log_init("test-nfs4_client", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
