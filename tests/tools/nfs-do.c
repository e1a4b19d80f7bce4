/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs-do: mounts an export with the client library and does one thing there, for tests without
 * FUSE.
 *
 *     nfs-do [OPTION]... HOST:/EXPORT COMMAND [ARGUMENT]...
 *
 * Options: -p tcp|iwarp|rdma, -P PORT, -m MINOR of NFSv4, -3 for NFSv3, -M PORT of MOUNT, -u: ask
 * MOUNT over UDP, -v for more messages.
 *
 * Commands: info, ls DIR, stat PATH, cat PATH, put PATH (from standard input), mkdir PATH, rm PATH,
 * rmdir PATH, mv FROM TO, ln FROM TO, symlink TARGET PATH, readlink PATH, chmod MODE PATH,
 * truncate SIZE PATH, df, sleep SECONDS. Several may be given, separated by "--".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsproto/nfs_client.h"
#include "transport/log.h"

static struct nfs_client *nfs;
static struct mem_pool *pool;
static struct rpc_cred cred;

struct wait {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void op_done(struct nfs_op *op)
{
	struct wait *w = op->ctx;

	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

static int run(struct nfs_op *op)
{
	struct wait w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

	op->cred = cred;
	op->done = op_done;
	op->ctx = &w;
	nfs_submit(nfs, op);
	pthread_mutex_lock(&w.lock);
	while (!w.done)
		pthread_cond_wait(&w.cond, &w.lock);
	pthread_mutex_unlock(&w.lock);
	return op->error;
}

/* Follows path from the root; up to the last name if last is not NULL. */
static int resolve(
	const char *path, struct nfs_fh *fh, struct nfs_attr *attr, struct nfs_name *last)
{
	nfs_client_root(nfs, fh, attr);
	while (*path == '/')
		path++;
	while (*path) {
		struct nfs_op op = {.type = NFS_LOOKUP};
		size_t n = strcspn(path, "/");
		const char *next = path + n + strspn(path + n, "/");
		int rc;

		if (last && !*next) {
			*last = (struct nfs_name){path, (uint32_t)n};
			return 0;
		}
		op.u.lookup.dir = *fh;
		op.u.lookup.name = (struct nfs_name){path, (uint32_t)n};
		rc = run(&op);
		if (rc)
			return rc;
		*fh = op.u.lookup.fh;
		*attr = op.u.lookup.attr;
		path = next;
	}
	return last ? -EINVAL : 0;
}

static void print_attr(const char *name, size_t len, const struct nfs_attr *a)
{
	static const char types[] = "?-dbclsp";

	printf("%c%04o %3u %5u %5u %10" PRIu64 " %lld.%09ld %" PRIu64 " %.*s\n", types[a->type & 7],
		a->mode, a->nlink, a->uid, a->gid, a->size, (long long)a->mtime.tv_sec,
		a->mtime.tv_nsec, a->fileid, (int)len, name);
}

static uint64_t last_cookie;

static bool ls_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	if (ent->have_attr)
		print_attr(ent->name, ent->namelen, &ent->attr);
	else
		printf("%.*s\n", (int)ent->namelen, ent->name);
	last_cookie = ent->cookie;
	return true;
}

static int do_ls(char **arg)
{
	struct nfs_op op = {.type = NFS_READDIR};
	struct nfs_attr attr;
	int rc = resolve(arg[0], &op.u.readdir.dir, &attr, NULL);

	last_cookie = 0;
	while (!rc) {
		op.u.readdir.cookie = last_cookie;
		op.u.readdir.max_bytes = 32768;
		op.u.readdir.plus = true;
		op.u.readdir.entry = ls_entry;
		rc = run(&op);
		if (op.u.readdir.eof)
			break;
	}
	return rc;
}

static int do_stat(char **arg)
{
	struct nfs_fh fh;
	struct nfs_attr attr;
	int rc = resolve(arg[0], &fh, &attr, NULL);

	if (!rc)
		print_attr(arg[0], strlen(arg[0]), &attr);
	return rc;
}

static int open_path(const char *path, int flags, struct nfs_fh *fh, struct nfs_open **open)
{
	struct nfs_op op = {.type = NFS_OPEN};
	struct nfs_attr attr;
	int rc = resolve(path, &op.u.open.dir, &attr, &op.u.open.name);

	op.u.open.flags = flags;
	op.u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0644};
	if (!rc)
		rc = run(&op);
	if (!rc) {
		*fh = op.u.open.fh;
		*open = op.u.open.open;
	}
	return rc;
}

static int close_open(struct nfs_open *open)
{
	struct nfs_op op = {.type = NFS_CLOSE};

	op.u.close.open = open;
	return run(&op);
}

static int do_cat(char **arg)
{
	struct nfs_client_info info;
	struct mem_buf *buf;
	struct nfs_open *open;
	struct nfs_fh fh;
	uint64_t off = 0;
	bool eof = false;
	int rc = open_path(arg[0], O_RDONLY, &fh, &open), rc2;

	if (rc)
		return rc;
	nfs_client_info(nfs, &info);
	buf = mem_buf_get(pool, info.rsize);
	while (!rc && !eof) {
		struct nfs_op op = {.type = NFS_READ};

		op.u.read.open = open;
		op.u.read.fh = fh;
		op.u.read.offset = off;
		op.u.read.to = seg_list_of_buf(buf, 0, info.rsize);
		rc = run(&op);
		if (!rc && fwrite(buf->data, 1, op.u.read.count, stdout) != op.u.read.count)
			rc = -errno;
		off += op.u.read.count;
		eof = op.u.read.eof;
	}
	mem_buf_unref(buf);
	rc2 = close_open(open);
	return rc ? rc : rc2;
}

/* The beginning of a file and the caller's rights, as they come with the OPEN; not by NFSv3. */
static int do_head(char **arg)
{
	struct nfs_op op = {.type = NFS_OPEN};
	struct mem_buf *buf = mem_buf_get(pool, 65536);
	struct nfs_attr attr;
	int rc = resolve(arg[0], &op.u.open.dir, &attr, &op.u.open.name), rc2;

	op.u.open.want = NFS_ACCESS_READ;
	op.u.open.to = seg_list_of_buf(buf, 0, 65536);
	if (!rc)
		rc = run(&op);
	if (rc) {
		mem_buf_unref(buf);
		return rc;
	}
	if (!op.u.open.have_data || !(op.u.open.have_access && op.u.open.allowed))
		rc = -ENODATA;
	else if (fwrite(buf->data, 1, op.u.open.count, stdout) != op.u.open.count)
		rc = -errno;
	mem_buf_unref(buf);
	rc2 = close_open(op.u.open.open);
	return rc ? rc : rc2;
}

static int truncate_open(struct nfs_open *open, const struct nfs_fh *fh)
{
	struct nfs_op op = {.type = NFS_SETATTR};

	op.u.setattr.fh = *fh;
	op.u.setattr.open = open;
	op.u.setattr.set.mask = NFS_SET_SIZE;
	return run(&op);
}

static int do_put(char **arg)
{
	struct nfs_client_info info;
	struct mem_buf *buf;
	struct nfs_open *open;
	struct nfs_fh fh;
	uint64_t off = 0;
	size_t have;
	int rc = open_path(arg[0], O_WRONLY | O_CREAT | O_TRUNC, &fh, &open), rc2;

	if (rc)
		return rc;
	rc = truncate_open(open, &fh);
	nfs_client_info(nfs, &info);
	buf = mem_buf_get(pool, info.wsize);
	while (!rc && (have = fread(buf->data, 1, info.wsize, stdin)) > 0) {
		uint32_t done = 0;

		while (!rc && done < have) {
			struct nfs_op op = {.type = NFS_WRITE};

			op.u.write.open = open;
			op.u.write.fh = fh;
			op.u.write.offset = off;
			op.u.write.from = seg_list_of_buf(buf, done, (uint32_t)have - done);
			rc = run(&op);
			done += op.u.write.count;
			off += op.u.write.count;
		}
	}
	if (!rc) {
		struct nfs_op op = {.type = NFS_COMMIT};

		op.u.commit.fh = fh;
		rc = run(&op);
	}
	mem_buf_unref(buf);
	rc2 = close_open(open);
	return rc ? rc : rc2;
}

static int make(enum nfs_type type, const char *path, const char *target)
{
	struct nfs_op op = {.type = NFS_CREATE};
	struct nfs_attr attr;
	int rc = resolve(path, &op.u.create.dir, &attr, &op.u.create.name);

	op.u.create.type = type;
	op.u.create.target = target;
	op.u.create.target_len = target ? (uint32_t)strlen(target) : 0;
	op.u.create.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0755};
	return rc ? rc : run(&op);
}

static int do_mkdir(char **arg)
{
	return make(NFS_DIR, arg[0], NULL);
}

static int do_symlink(char **arg)
{
	return make(NFS_LNK, arg[1], arg[0]);
}

static int remove_path(const char *path, bool is_dir)
{
	struct nfs_op op = {.type = NFS_REMOVE};
	struct nfs_attr attr;
	int rc = resolve(path, &op.u.remove.dir, &attr, &op.u.remove.name);

	op.u.remove.is_dir = is_dir;
	return rc ? rc : run(&op);
}

static int do_rm(char **arg)
{
	return remove_path(arg[0], false);
}

static int do_rmdir(char **arg)
{
	return remove_path(arg[0], true);
}

static int do_mv(char **arg)
{
	struct nfs_op op = {.type = NFS_RENAME};
	struct nfs_attr attr;
	int rc = resolve(arg[0], &op.u.rename.from_dir, &attr, &op.u.rename.from);

	if (!rc)
		rc = resolve(arg[1], &op.u.rename.to_dir, &attr, &op.u.rename.to);
	return rc ? rc : run(&op);
}

static int do_ln(char **arg)
{
	struct nfs_op op = {.type = NFS_LINK};
	struct nfs_attr attr;
	int rc = resolve(arg[0], &op.u.link.fh, &attr, NULL);

	if (!rc)
		rc = resolve(arg[1], &op.u.link.dir, &attr, &op.u.link.name);
	return rc ? rc : run(&op);
}

static int do_readlink(char **arg)
{
	struct nfs_op op = {.type = NFS_READLINK};
	struct nfs_attr attr;
	char buf[NFS_PATH_MAX];
	int rc = resolve(arg[0], &op.u.readlink.fh, &attr, NULL);

	op.u.readlink.buf = buf;
	op.u.readlink.size = sizeof(buf);
	if (!rc)
		rc = run(&op);
	if (!rc)
		puts(buf);
	return rc;
}

static int set_path(const char *path, const struct nfs_sattr *set)
{
	struct nfs_op op = {.type = NFS_SETATTR};
	struct nfs_attr attr;
	int rc = resolve(path, &op.u.setattr.fh, &attr, NULL);

	op.u.setattr.set = *set;
	return rc ? rc : run(&op);
}

static int do_chmod(char **arg)
{
	struct nfs_sattr set = {.mask = NFS_SET_MODE, .mode = (uint32_t)strtoul(arg[0], NULL, 8)};

	return set_path(arg[1], &set);
}

static int do_truncate(char **arg)
{
	struct nfs_sattr set = {.mask = NFS_SET_SIZE, .size = strtoull(arg[0], NULL, 0)};

	return set_path(arg[1], &set);
}

static int do_df(char **arg)
{
	struct nfs_op op = {.type = NFS_STATFS};
	int rc;

	nfs_client_root(nfs, &op.u.statfs.fh, NULL);
	rc = run(&op);
	if (!rc)
		printf("bytes %" PRIu64 " free %" PRIu64 " avail %" PRIu64 " files %" PRIu64
		       " free %" PRIu64 " name_max %u\n",
			op.u.statfs.st.tbytes, op.u.statfs.st.fbytes, op.u.statfs.st.abytes,
			op.u.statfs.st.tfiles, op.u.statfs.st.ffiles, op.u.statfs.st.name_max);
	return rc;
}

static int do_info(char **arg)
{
	struct nfs_client_info i;

	nfs_client_info(nfs, &i);
	printf("NFSv%u.%u over %s (%s), rsize %u, wsize %u, readdir %u, %u slots, lease %u s, "
	       "server owner \"%s\"\n",
		i.vers_major, i.vers_minor, rpc_proto_name(i.rpc.proto), i.rpc.provider, i.rsize,
		i.wsize, i.dtsize, i.slots, i.lease_s, i.server_owner);
	return 0;
}

static int do_sleep(char **arg)
{
	sleep((unsigned)atoi(arg[0]));
	return 0;
}

static const struct command {
	const char *name;
	int nargs;
	int (*run)(char **arg);
} commands[] = {
	{"info", 0, do_info},
	{"ls", 1, do_ls},
	{"stat", 1, do_stat},
	{"cat", 1, do_cat},
	{"head", 1, do_head},
	{"put", 1, do_put},
	{"mkdir", 1, do_mkdir},
	{"rm", 1, do_rm},
	{"rmdir", 1, do_rmdir},
	{"mv", 2, do_mv},
	{"ln", 2, do_ln},
	{"symlink", 2, do_symlink},
	{"readlink", 1, do_readlink},
	{"chmod", 2, do_chmod},
	{"truncate", 2, do_truncate},
	{"df", 0, do_df},
	{"sleep", 1, do_sleep},
};

static int run_commands(int n, char **arg)
{
	while (n > 0) {
		const struct command *cmd = NULL;
		int rc;

		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (!strcmp(arg[0], commands[i].name))
				cmd = &commands[i];
		if (!cmd || n < 1 + cmd->nargs) {
			fprintf(stderr, "nfs-do: %s: unknown, or too few arguments\n", arg[0]);
			return 2;
		}
		rc = cmd->run(arg + 1);
		if (rc) {
			fprintf(stderr, "nfs-do: %s %s: %s\n", arg[0], cmd->nargs ? arg[1] : "",
				strerror(-rc));
			return 1;
		}
		arg += 1 + cmd->nargs;
		n -= 1 + cmd->nargs;
		if (n > 0 && !strcmp(arg[0], "--")) {
			arg++;
			n--;
		}
	}
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct nfs_mount_params p = {
		.vers_major = 4, .vers_minor = 1, .proto = RPC_TCP, .connect_ms = 10000};
	struct err e = {.kind = ERR_NONE};
	enum log_level level = LOG_L_WARN;
	char *colon;
	int opt, rc;

	while ((opt = getopt(argc, argv, "+p:P:m:3M:uv")) != -1) {
		switch (opt) {
		case 'p':
			p.proto = !strcmp(optarg, "iwarp")  ? RPC_IWARP
				  : !strcmp(optarg, "rdma") ? RPC_RDMA
							    : RPC_TCP;
			break;
		case 'P':
			p.port = (uint16_t)atoi(optarg);
			break;
		case 'm':
			p.vers_minor = (unsigned)atoi(optarg);
			break;
		case '3':
			p.vers_major = 3;
			p.vers_minor = 0;
			break;
		case 'M':
			p.mountport = (uint16_t)atoi(optarg);
			break;
		case 'u':
			p.mount_udp = true;
			break;
		case 'v':
			level = LOG_L_CTRL;
			break;
		default:
			return 2;
		}
	}
	colon = optind < argc ? strstr(argv[optind], ":/") : NULL;
	if (!colon) {
		fprintf(stderr, "usage: nfs-do [options] HOST:/EXPORT COMMAND [ARGUMENT]...\n");
		return 2;
	}
	log_init("nfs-do", level);
	*colon = '\0';
	p.host = argv[optind];
	p.export = colon + 1;
	pool = mem_pool_new(0);
	cred.flavor = RPC_AUTH_SYS;
	cred.uid = getuid();
	cred.gid = getgid();
	p.cred = cred;
	p.pool = pool;
	nfs = nfs_client_new(&p, &e);
	if (!nfs) {
		fprintf(stderr, "nfs-do: %s (%s)\n", e.msg, err_kind_name(e.kind));
		return 1;
	}
	rc = run_commands(argc - optind - 1, argv + optind + 1);
	nfs_client_free(nfs);
	mem_pool_free(pool);
	return rc;
}
