/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * bench-libnfs: a shape (shape.h) by libnfs, which speaks NFSv3 over TCP: a program's speed today
 * without a mount.
 *
 *     bench-libnfs [OPTION]... SHAPE HOST NAME
 *
 * NAME is a file in the export's root, or the beginning of the names of the files that are made
 * there.
 * Options beside those of shape.h: -P PORT of NFS and MOUNT. DEPTH blocks are under way by libnfs's
 * asynchronous calls, or, with -S, one by its synchronous ones. Creates and unlinks go one after
 * the
 * other.
 */
#include "shape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

static struct shape shape;
static struct nfs_context *nfs;
static struct nfsfh *file;
static const char *base_name;
static double until;
static uint64_t ops, next, seed;
static unsigned busy;
static bool synchronous;
static uint8_t *buf; /* one block: each read overwrites the last one */

static void die(const char *what)
{
	fprintf(stderr, "bench-libnfs: %s: %s\n", what, nfs_get_error(nfs));
	exit(1);
}

static void submit(void);

static void done(int status, struct nfs_context *ctx, void *data, void *private)
{
	if (status != (int)shape.block)
		die("READ or WRITE");
	if (shape.kind != SHAPE_WRITE)
		memcpy(buf, data, shape.block); /* libnfs has the data in its own buffer */
	ops++;
	busy--;
	submit();
}

static void submit(void)
{
	uint64_t n = shape.size / shape.block, at;
	int rc;

	if (next >= n || (next > 0 && shape_now() >= until))
		return;
	at = shape_block(&shape, next++, n, seed) * shape.block;
	rc = shape.kind == SHAPE_WRITE
		     ? nfs_pwrite_async(nfs, file, at, shape.block, buf, done, NULL)
		     : nfs_pread_async(nfs, file, at, shape.block, done, NULL);
	if (rc)
		die("submit");
	busy++;
}

static void several(void)
{
	for (unsigned i = 0; i < shape.depth; i++)
		submit();
	while (busy > 0) {
		struct pollfd p = {.fd = nfs_get_fd(nfs), .events = (short)nfs_which_events(nfs)};

		if (poll(&p, 1, 1000) < 0 || nfs_service(nfs, p.revents) < 0)
			die("the connection");
	}
}

static void one_by_one(void)
{
	uint64_t n = shape.size / shape.block, at;

	for (uint64_t i = 0; i < n && (i == 0 || shape_now() < until); i++, ops++) {
		at = shape_block(&shape, i, n, seed) * shape.block;
		if ((shape.kind == SHAPE_WRITE ? nfs_pwrite(nfs, file, at, shape.block, buf)
					       : nfs_pread(nfs, file, at, shape.block, buf)) !=
			(int)shape.block)
			die("READ or WRITE");
	}
}

static void pass(void)
{
	int flags = shape.kind == SHAPE_WRITE ? O_WRONLY | O_CREAT : O_RDONLY;

	if (nfs_open(nfs, base_name, flags, &file))
		die(base_name);
	next = 0;
	if (synchronous)
		one_by_one();
	else
		several();
	if ((shape.kind == SHAPE_WRITE && nfs_fsync(nfs, file)) || nfs_close(nfs, file))
		die("fsync or close");
	seed++;
}

static const char *name_of(unsigned i)
{
	static char name[512];

	snprintf(name, sizeof(name), "%.200s-%u", base_name, i);
	return name;
}

static void create(unsigned i)
{
	struct nfsfh *fh;

	if (nfs_creat(nfs, name_of(i), 0644, &fh) || nfs_close(nfs, fh))
		die("create");
}

static void files(void)
{
	for (unsigned i = 0; i < shape.files && (i == 0 || shape_now() < until); i++, ops++)
		if (shape.kind == SHAPE_CREATE)
			create(i);
		else if (nfs_unlink(nfs, name_of(i)))
			die("unlink");
}

static struct shape_result run(void)
{
	double began;

	for (unsigned i = 0; shape.kind == SHAPE_UNLINK && i < shape.files; i++)
		create(i);
	began = shape_now();
	until = began + shape.seconds;
	if (!shape_has_data(&shape))
		files();
	else
		do
			pass();
		while (shape_now() < until);
	return (struct shape_result){
		ops, shape_has_data(&shape) ? ops * shape.block : 0, shape_now() - began};
}

static void mount_export(const char *host, const char *port)
{
	struct nfs_url *url;
	char text[512];

	nfs = nfs_init_context();
	snprintf(text, sizeof(text), "nfs://%s/?nfsport=%s&mountport=%s", host, port, port);
	url = nfs ? nfs_parse_url_dir(nfs, text) : NULL;
	if (!url || nfs_mount(nfs, url->server, url->path))
		die("mount");
	nfs_destroy_url(url);
}

int main(int argc, char **argv)
{
	const char *port = "2049";
	struct shape_result r;
	bool ok = true;
	int opt;

	shape_init(&shape);
	while ((opt = getopt(argc, argv, SHAPE_OPTIONS "P:S")) != -1) {
		if (opt == 'P')
			port = optarg;
		else if (opt == 'S')
			synchronous = true;
		else
			ok &= shape_option(&shape, opt, optarg);
	}
	if (!ok || argc - optind != 3 || !shape_set(&shape, argv[optind]) || shape.jobs != 1) {
		fprintf(stderr,
			"usage: bench-libnfs [-P PORT] [-S] [-b BYTES] [-s BYTES] [-q DEPTH] "
			"[-t SECONDS] "
			"[-n FILES] read|write|rand|create|unlink HOST NAME\n");
		return 2;
	}
	base_name = argv[optind + 2];
	seed = (uint64_t)getpid();
	buf = calloc(1, shape.block);
	if (!buf)
		return 1;
	mount_export(argv[optind + 1], port);
	r = run();
	shape_print(&shape, &r);
	for (unsigned i = 0; i < shape.files && !shape_has_data(&shape); i++)
		nfs_unlink(nfs, name_of(i));
	nfs_destroy_context(nfs);
	free(buf);
	return 0;
}
