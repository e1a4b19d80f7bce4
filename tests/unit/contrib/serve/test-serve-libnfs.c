/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * The bundled server on a TCP port, with independent clients: libnfs's for NFSv3 and MOUNT.
 * Also the answers of a server to calls of unknown programs, versions and procedures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nfs3.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "contrib/serve/main/dispatch.h"
#include "tests/unit/contrib/serve/serve-env.h"

#define BIG (3u << 20)

struct fixture {
	struct serve_env env;
	struct serve_port port;
	struct rpc_server *server;
	struct nfs_context *nfs;
};

static void server_up(struct fixture *f)
{
	struct sockaddr_in *sin;
	struct rpc_server_params p = {.proto = RPC_TCP,
		.addr_len = sizeof(*sin),
		.service = serve_request,
		.conn_down = serve_conn_down};
	struct err e = {0};

	env_init(&f->env);
	f->port.sv = &f->env.sv;
	p.pool = f->env.sv.pool;
	p.ctx = &f->port;
	sin = (struct sockaddr_in *)&p.addr;
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	f->server = rpc_server_new(&p, &e);
	assert_non_null(f->server);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[256], url[128];
	struct nfs_url *u;

	server_up(f);
	env_path(&f->env, "sub", path, sizeof(path));
	assert_int_equal(mkdir(path, 0777), 0);
	f->nfs = nfs_init_context();
	assert_non_null(f->nfs);
	snprintf(url, sizeof(url), "nfs://127.0.0.1/sub?nfsport=%u&mountport=%u",
		rpc_server_port(f->server), rpc_server_port(f->server));
	u = nfs_parse_url_dir(f->nfs, url);
	assert_non_null(u);
	if (nfs_mount(f->nfs, u->server, u->path) != 0)
		fail_msg("mount: %s", nfs_get_error(f->nfs));
	nfs_destroy_url(u);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nfs_destroy_context(f->nfs);
	rpc_server_free(f->server);
	env_finish(&f->env);
	free(f);
	return 0;
}

static void files_are_written_and_read(void **state)
{
	struct fixture *f = *state;
	char *out = malloc(BIG), *in = malloc(BIG), path[256];
	struct nfs_stat_64 st;
	struct nfsfh *fh;
	struct stat local;
	size_t done;
	int n;

	for (size_t i = 0; i < BIG; i++)
		out[i] = (char)(i * 7 ^ i >> 9);
	assert_int_equal(nfs_creat(f->nfs, "/file", 0640, &fh), 0);
	for (done = 0; done < BIG; done += (size_t)n) {
		n = nfs_pwrite(f->nfs, fh, done, BIG - done, out + done);
		assert_in_range(n, 1, BIG);
	}
	assert_int_equal(nfs_fsync(f->nfs, fh), 0);
	assert_int_equal(nfs_close(f->nfs, fh), 0);
	env_path(&f->env, "sub/file", path, sizeof(path));
	assert_int_equal(stat(path, &local), 0);
	assert_int_equal(local.st_size, BIG);
	assert_int_equal(nfs_open(f->nfs, "/file", O_RDONLY, &fh), 0);
	for (done = 0; done < BIG; done += (size_t)n) {
		n = nfs_pread(f->nfs, fh, done, BIG - done, in + done);
		assert_in_range(n, 1, BIG);
	}
	assert_memory_equal(in, out, BIG);
	assert_int_equal(nfs_fstat64(f->nfs, fh, &st), 0);
	assert_int_equal(st.nfs_size, BIG);
	assert_int_equal(st.nfs_mode & 07777, 0640);
	assert_int_equal(nfs_close(f->nfs, fh), 0);
	assert_int_equal(nfs_truncate(f->nfs, "/file", 5), 0);
	assert_int_equal(nfs_stat64(f->nfs, "/file", &st), 0);
	assert_int_equal(st.nfs_size, 5);
	free(in);
	free(out);
}

static void names_are_made_moved_and_removed(void **state)
{
	struct fixture *f = *state;
	struct nfs_stat_64 st;
	struct nfsfh *fh;
	char buf[64];

	assert_int_equal(nfs_mkdir2(f->nfs, "/d", 0750), 0);
	assert_int_equal(nfs_mkdir2(f->nfs, "/d", 0750), -EEXIST);
	assert_int_equal(nfs_symlink(f->nfs, "target", "/d/l"), 0);
	assert_int_equal(nfs_readlink(f->nfs, "/d/l", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "target");
	assert_int_equal(nfs_mknod(f->nfs, "/d/p", S_IFIFO | 0600, 0), 0);
	assert_int_equal(nfs_lstat64(f->nfs, "/d/p", &st), 0);
	assert_true(S_ISFIFO(st.nfs_mode));
	assert_int_equal(nfs_creat(f->nfs, "/d/f", 0644, &fh), 0);
	assert_int_equal(nfs_close(f->nfs, fh), 0);
	assert_int_equal(nfs_link(f->nfs, "/d/f", "/d/g"), 0);
	assert_int_equal(nfs_stat64(f->nfs, "/d/g", &st), 0);
	assert_int_equal(st.nfs_nlink, 2);
	assert_int_equal(nfs_chmod(f->nfs, "/d/g", 0600), 0);
	assert_int_equal(nfs_stat64(f->nfs, "/d/f", &st), 0);
	assert_int_equal(st.nfs_mode & 07777, 0600);
	assert_int_equal(nfs_rename(f->nfs, "/d/g", "/moved"), 0);
	assert_int_equal(nfs_stat64(f->nfs, "/d/g", &st), -ENOENT);
	assert_int_equal(nfs_rmdir(f->nfs, "/d"), -ENOTEMPTY);
	assert_int_equal(nfs_unlink(f->nfs, "/d/f"), 0);
	assert_int_equal(nfs_unlink(f->nfs, "/d/l"), 0);
	assert_int_equal(nfs_unlink(f->nfs, "/d/p"), 0);
	assert_int_equal(nfs_rmdir(f->nfs, "/d"), 0);
	assert_int_equal(nfs_access(f->nfs, "/moved", R_OK | W_OK), 0);
}

static void directories_are_listed(void **state)
{
	struct fixture *f = *state;
	struct nfsdirent *ent;
	struct nfsdir *dir;
	struct nfsfh *fh;
	struct statvfs vfs;
	char name[64];
	int n = 0;

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "/a-name-that-is-not-short-%d", i);
		assert_int_equal(nfs_creat(f->nfs, name, 0644, &fh), 0);
		assert_int_equal(nfs_close(f->nfs, fh), 0);
	}
	assert_int_equal(nfs_opendir(f->nfs, "/", &dir), 0);
	while ((ent = nfs_readdir(f->nfs, dir)) != NULL)
		n++;
	nfs_closedir(f->nfs, dir);
	assert_int_equal(n, 502);
	assert_int_equal(nfs_statvfs(f->nfs, "/", &vfs), 0);
	assert_true(vfs.f_blocks > 0);
}

/* --- unknown calls --------------------------------------------------------------------------- */

struct answer {
	sem_t there;
	int error;
	enum rpc_stat stat;
	uint32_t low, high;
};

static void answered(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct answer *a = call->ctx;

	a->error = error;
	a->stat = call->rpc_stat;
	a->low = call->mismatch_low;
	a->high = call->mismatch_high;
	sem_post(&a->there);
}

/* Calls a procedure with a word of arguments. */
static struct answer ask(struct fixture *f, uint32_t prog, uint32_t vers, uint32_t proc)
{
	struct sockaddr_in *sin;
	struct rpc_client_params p = {.proto = RPC_TCP,
		.peer_len = sizeof(*sin),
		.peer_name = "test",
		.prog = prog,
		.vers = vers,
		.pool = f->env.sv.pool,
		.connect_ms = 5000,
		.timeo_ms = 5000,
		.soft = true};
	struct answer a = {0};
	struct rpc_call call = {0};
	struct rpc_client *c;
	struct err e = {0};

	sin = (struct sockaddr_in *)&p.peer;
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sin->sin_port = htons(rpc_server_port(f->server));
	c = rpc_client_new(&p, &e);
	assert_non_null(c);
	sem_init(&a.there, 0, 0);
	assert_int_equal(rpc_call_init(&call, c, 64), 0);
	call.proc = proc;
	call.cred.flavor = RPC_AUTH_SYS;
	call.reply_max = 256;
	call.done = answered;
	call.ctx = &a;
	xdr_put_u32(&call.args, 77);
	assert_int_equal(rpc_call_submit(&call), 0);
	sem_wait(&a.there);
	rpc_call_finish(&call);
	rpc_client_free(c);
	sem_destroy(&a.there);
	return a;
}

static void what_there_is_not_is_told(void **state)
{
	struct fixture f = {0};
	struct answer a;

	server_up(&f);
	a = ask(&f, NFS3_PROGRAM, 2, 0);
	assert_int_equal(a.stat, RPC_PROG_MISMATCH);
	assert_int_equal(a.low, 3);
	assert_int_equal(a.high, 4);
	a = ask(&f, MOUNT3_PROGRAM, 1, 0);
	assert_int_equal(a.stat, RPC_PROG_MISMATCH);
	assert_int_equal(a.low, 3);
	assert_int_equal(a.high, 3);
	assert_int_equal(ask(&f, 100000, 2, 0).stat, RPC_PROG_UNAVAIL);
	assert_int_equal(ask(&f, NFS3_PROGRAM, 3, 22).stat, RPC_PROC_UNAVAIL);
	assert_int_equal(ask(&f, NFS3_PROGRAM, 4, 2).stat, RPC_PROC_UNAVAIL);
	assert_int_equal(ask(&f, MOUNT3_PROGRAM, 3, 6).stat, RPC_PROC_UNAVAIL);
	assert_int_equal(ask(&f, NFS3_PROGRAM, 3, 1).stat, RPC_GARBAGE_ARGS);
	assert_int_equal(ask(&f, MOUNT3_PROGRAM, 3, 1).stat, RPC_GARBAGE_ARGS);
	assert_int_equal(ask(&f, NFS3_PROGRAM, 3, 0).stat, RPC_GARBAGE_ARGS);
	assert_int_equal(ask(&f, NFS3_PROGRAM, 4, 0).error, 0); /* lenient, as ever */
	assert_int_equal(ask(&f, NLM4_PROGRAM, 4, 5).stat, RPC_PROC_UNAVAIL);
	assert_int_equal(ask(&f, NLM4_PROGRAM, 4, 7).stat, RPC_PROC_UNAVAIL);
	assert_int_equal(ask(&f, NLM4_PROGRAM, 3, 0).stat, RPC_PROG_MISMATCH);
	rpc_server_free(f.server);
	env_finish(&f.env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(files_are_written_and_read),
		T(names_are_made_moved_and_removed),
		T(directories_are_listed),
		cmocka_unit_test(what_there_is_not_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
