/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3-fixture: a mount of the server in mean-nfs3, and functions that run an op to its end.
 */
#ifndef RNFS_TESTS_NFS3_FIXTURE_H
#define RNFS_TESTS_NFS3_FIXTURE_H

#include <semaphore.h>

#include "tests/unit/nfsproto/v3/mean-nfs3.h"
#include "nfsproto/nfs_client.h"

struct fix3 {
	struct mean3 m;
	struct mem_pool *pool;
	struct nfs_client *nfs; /* NULL: not mounted */
	struct nfs_fh root, file;
	/* for later mounts: */
	const char *state_dir; /* or NULL */
	const struct nfs_client_upcalls *upcalls;
	void *upcalls_ctx;
	unsigned nconnect;
	struct nfs_record *record;
	struct nfs_attr attr; /* results of fix3_open() */
};

/* cmocka's: with a mount of "/", or only with the server. */
int fix3_setup(void **state);
int fix3_setup_unmounted(void **state);
int fix3_teardown(void **state);
#define ON_MOUNT3(fn) cmocka_unit_test_setup_teardown(fn, fix3_setup, fix3_teardown)

/* Without a version: any version that the server has. */
struct nfs_client *fix3_mount_any(struct fix3 *f, struct err *e);
struct nfs_client *fix3_mount(struct fix3 *f, const char *export, bool nolock, struct err *e);
/* Mounts "/" into f->nfs, f->root and f->file. */
void fix3_mount_root(struct fix3 *f);
/* Submits op and waits. Returns op->error. */
int fix3_run(struct fix3 *f, struct nfs_op *op);
/* Submits op; fix3_wait() waits for the end of op. */
void fix3_start(struct fix3 *f, struct nfs_op *op, sem_t *sem);
void fix3_wait(sem_t *sem);

int fix3_getattr(struct fix3 *f); /* of the root */
/* Opens the file `name` in the root and closes the file. */
int fix3_open(struct fix3 *f, const struct nfs_name *name, int flags);

/* An NFS_LOCK of the file. */
struct nfs_op fix3_lock_op(
	struct fix3 *f, uint64_t owner, int type, uint64_t start, uint64_t end, bool wait);
/* Opens and closes the file. */
struct nfs_open *fix3_open_file(struct fix3 *f);
void fix3_close_file(struct fix3 *f, struct nfs_open *o);
/* Through an open file: owner 1 locks or unlocks bytes 10 to 19; 100 bytes are written. */
int fix3_lock_through(struct fix3 *f, struct nfs_open *o, int type);
struct nfs_op fix3_write_op(struct fix3 *f, struct nfs_open *o);
int fix3_write_through(struct fix3 *f, struct nfs_open *o);

/* The calls that the server has seen. */
struct fix3_seen {
	unsigned locks, reclaims, tests, writes;
};

struct fix3_seen fix3_seen(struct fix3 *f);

#endif
