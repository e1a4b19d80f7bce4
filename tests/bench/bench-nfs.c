/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bench-nfs: a shape (shape.h) as operations of nfsproto, without FUSE: the speed of a mount if the
 * kernel, the way through the kernel and all caches cost nothing.
 *
 *     bench-nfs [OPTION]... SHAPE HOST NAME
 *
 * NAME is a file in the export's root, or the beginning of the names of the files that are made
 * there.
 * Options beside those of shape.h: -p tcp|iwarp|rdma, -P PORT, -v 3|4.1|4.2, -r
 * RDMA_VERSION.
 *
 * DEPTH slots each have one operation under way. The thread that has seen the last operation of a
 * slot
 * end submits the next one, so that no operation is handed from thread to thread. A pass of data is
 * OPEN, READ or WRITE (unstable) of each block, COMMIT after writes, CLOSE; making a file is OPEN
 * and
 * CLOSE, removing a file is REMOVE. Only the control thread waits.
 */
#include "shape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsproto/nfs_client.h"
#include "transport/log.h"

static struct shape shape;
static struct nfs_client *nfs;
static struct mem_pool *pool;
static struct rpc_cred cred;
static struct nfs_fh root;
static const char *base_name;
static double until;
static uint64_t seed;

struct slot {
	struct nfs_op op;
	struct mem_buf *buf;
	char name[NFS_NAME_MAX + 1];
};

static struct slot slots[SHAPE_MAX_DEPTH];
static struct nfs_op file; /* the OPEN of the file of data, after the end of the OPEN */
static _Atomic uint64_t next, ops;
static _Atomic unsigned busy;
static uint64_t limit; /* of next */
static sem_t all_ended;

static void die(const char *what, int error)
{
	fprintf(stderr, "bench-nfs: %s: %s\n", what, strerror(-error));
	_exit(1);
}

/* --- one operation, with a wait for its end -------------------------------------------------- */

static void wake(struct nfs_op *op)
{
	sem_post(op->ctx);
}

static int wait_for(struct nfs_op *op)
{
	sem_t end;

	sem_init(&end, 0, 0);
	op->cred = cred;
	op->done = wake;
	op->ctx = &end;
	nfs_submit(nfs, op);
	while (sem_wait(&end))
		;
	sem_destroy(&end);
	return op->error;
}

static void fill_open(struct nfs_op *op, const char *name, int flags)
{
	*op = (struct nfs_op){.type = NFS_OPEN};
	op->u.open.dir = root;
	op->u.open.name = (struct nfs_name){name, (uint32_t)strlen(name)};
	op->u.open.flags = flags;
	op->u.open.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0644};
}

static void fill_close(struct nfs_op *op, struct nfs_open *open)
{
	*op = (struct nfs_op){.type = NFS_CLOSE};
	op->u.close.open = open;
}

static void fill_remove(struct nfs_op *op, const char *name)
{
	*op = (struct nfs_op){.type = NFS_REMOVE};
	op->u.remove.dir = root;
	op->u.remove.name = (struct nfs_name){name, (uint32_t)strlen(name)};
}

static void open_file(void)
{
	int flags = shape.kind == SHAPE_WRITE ? O_WRONLY | O_CREAT : O_RDONLY, error;

	fill_open(&file, base_name, flags);
	error = wait_for(&file);
	if (error)
		die(base_name, error);
	if (shape.kind != SHAPE_WRITE && file.u.open.attr.size < shape.size)
		die("the file is too short", -ENODATA);
}

static void close_file(void)
{
	struct nfs_op op;
	int error;

	if (shape.kind == SHAPE_WRITE) {
		op = (struct nfs_op){.type = NFS_COMMIT};
		op.u.commit.fh = file.u.open.fh;
		error = wait_for(&op);
		if (error)
			die("COMMIT", error);
	}
	fill_close(&op, file.u.open.open);
	error = wait_for(&op);
	if (error)
		die("CLOSE", error);
}

/* --- slots ------------------------------------------------------------------------------------ */

static void slot_done(struct nfs_op *op);

static void submit(struct slot *s)
{
	s->op.cred = cred;
	s->op.done = slot_done;
	s->op.ctx = s;
	nfs_submit(nfs, &s->op);
}

static void fill_data(struct slot *s, uint64_t i)
{
	uint64_t at = shape_block(&shape, i, shape.size / shape.block, seed) * shape.block;
	struct nfs_op *op = &s->op;

	if (shape.kind == SHAPE_WRITE) {
		*op = (struct nfs_op){.type = NFS_WRITE};
		op->u.write.open = file.u.open.open;
		op->u.write.fh = file.u.open.fh;
		op->u.write.offset = at;
		op->u.write.from = seg_list_of_buf(s->buf, 0, shape.block);
	} else {
		*op = (struct nfs_op){.type = NFS_READ};
		op->u.read.open = file.u.open.open;
		op->u.read.fh = file.u.open.fh;
		op->u.read.offset = at;
		op->u.read.to = seg_list_of_buf(s->buf, 0, shape.block);
	}
}

/* The slot's next operation, or its end. */
static void go_on(struct slot *s)
{
	uint64_t i = atomic_fetch_add(&next, 1);

	if (i >= limit || (i > 0 && shape_now() >= until)) {
		if (atomic_fetch_sub(&busy, 1) == 1)
			sem_post(&all_ended);
		return;
	}
	snprintf(s->name, sizeof(s->name), "%.200s-%" PRIu64, base_name, i);
	if (shape_has_data(&shape))
		fill_data(s, i);
	else if (shape.kind == SHAPE_CREATE)
		fill_open(&s->op, s->name, O_WRONLY | O_CREAT | O_EXCL);
	else
		fill_remove(&s->op, s->name);
	submit(s);
}

static void slot_done(struct nfs_op *op)
{
	struct slot *s = op->ctx;

	if (op->error)
		die(nfs_op_name(op->type), op->error);
	if ((op->type == NFS_READ && op->u.read.count != shape.block) ||
		(op->type == NFS_WRITE && op->u.write.count != shape.block))
		die("a short READ or WRITE", -EIO);
	if (op->type == NFS_OPEN) {
		fill_close(op, op->u.open.open);
		submit(s);
		return;
	}
	atomic_fetch_add_explicit(&ops, 1, memory_order_relaxed);
	go_on(s);
}

/* Operations 0 to n - 1, depth of them under way. */
static void pass(uint64_t n)
{
	atomic_store(&next, 0);
	limit = n;
	busy = shape.depth;
	for (unsigned i = 0; i < shape.depth; i++)
		go_on(&slots[i]);
	while (sem_wait(&all_ended))
		;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void all_files(bool make)
{
	struct nfs_op op;
	char name[NFS_NAME_MAX + 1];
	int error;

	for (unsigned i = 0; i < shape.files; i++) {
		snprintf(name, sizeof(name), "%.200s-%u", base_name, i);
		if (make) {
			fill_open(&op, name, O_WRONLY | O_CREAT);
			error = wait_for(&op);
			if (error)
				die(name, error);
			fill_close(&op, op.u.open.open);
		} else {
			fill_remove(&op, name);
		}
		error = wait_for(&op);
		if (error && error != -ENOENT)
			die(name, error);
	}
}

static struct shape_result run(void)
{
	double began;
	uint64_t n;

	if (shape.kind == SHAPE_UNLINK)
		all_files(true);
	began = shape_now();
	until = began + shape.seconds;
	if (!shape_has_data(&shape))
		pass(shape.files);
	else
		do {
			open_file();
			pass(shape.size / shape.block);
			close_file();
			seed++;
		} while (shape_now() < until);
	n = ops;
	return (struct shape_result){
		n, shape_has_data(&shape) ? n * shape.block : 0, shape_now() - began};
}

static void bench(void)
{
	struct rpc_client_stats stats;
	struct nfs_client_info info;
	struct shape_result r;

	nfs_client_root(nfs, &root, NULL);
	nfs_client_info(nfs, &info);
	if (shape_has_data(&shape) &&
		shape.block > (shape.kind == SHAPE_WRITE ? info.wsize : info.rsize))
		die("blocks larger than the server takes", -EINVAL);
	sem_init(&all_ended, 0, 0);
	for (unsigned i = 0; i < shape.depth; i++) {
		slots[i].buf = mem_buf_get(pool, shape.block);
		if (!slots[i].buf)
			die("memory", -ENOMEM);
		memset(slots[i].buf->data, 1, shape.block);
	}
	r = run();
	shape_print(&shape, &r);
	nfs_client_stats(nfs, &stats);
	if (stats.timeouts || stats.reconnects)
		fprintf(stderr, "bench-nfs: %" PRIu64 " time-outs, %" PRIu64 " reconnects\n",
			(uint64_t)stats.timeouts, (uint64_t)stats.reconnects);
	if (!shape_has_data(&shape))
		all_files(false);
	for (unsigned i = 0; i < shape.depth; i++)
		mem_buf_unref(slots[i].buf);
}

static bool version(struct nfs_mount_params *p, const char *text)
{
	return sscanf(text, "%u.%u", &p->vers_major, &p->vers_minor) >= 1;
}

static bool proto(struct nfs_mount_params *p, const char *text)
{
	static const enum rpc_proto all[] = {RPC_TCP, RPC_IWARP, RPC_RDMA};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(rpc_proto_name(all[i]), text)) {
			p->proto = all[i];
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	struct nfs_mount_params p = {.proto = RPC_IWARP, .connect_ms = 10000};
	struct err e = {.kind = ERR_NONE};
	bool ok = true;
	int opt;

	shape_init(&shape);
	while ((opt = getopt(argc, argv, SHAPE_OPTIONS "p:P:r:v:")) != -1) {
		if (opt == 'p')
			ok &= proto(&p, optarg);
		else if (opt == 'P')
			p.port = p.mountport = (uint16_t)atoi(optarg);
		else if (opt == 'r')
			ok &= rpc_rdma_versions_parse(optarg, &p.rdma_versions);
		else if (opt == 'v')
			ok &= version(&p, optarg);
		else
			ok &= shape_option(&shape, opt, optarg);
	}
	if (!ok || argc - optind != 3 || !shape_set(&shape, argv[optind]) || shape.jobs != 1) {
		fprintf(stderr,
			"usage: bench-nfs [-p PROTO] [-P PORT] [-v VERSION] [-r RDMA_VERSION] "
			"[-b BYTES] [-s BYTES] [-q DEPTH] [-t SECONDS] [-n FILES] "
			"read|write|rand|create|unlink "
			"HOST NAME\n");
		return 2;
	}
	log_init("bench-nfs", LOG_L_WARN);
	p.host = argv[optind + 1];
	p.export = "/";
	base_name = argv[optind + 2];
	seed = (uint64_t)getpid();
	cred = (struct rpc_cred){.flavor = RPC_AUTH_SYS, .uid = getuid(), .gid = getgid()};
	p.cred = cred;
	p.pool = pool = mem_pool_new(0);
	nfs = nfs_client_new(&p, &e);
	if (!nfs) {
		fprintf(stderr, "bench-nfs: %s\n", e.msg);
		return 1;
	}
	bench();
	nfs_client_free(nfs);
	mem_pool_free(pool);
	return 0;
}
