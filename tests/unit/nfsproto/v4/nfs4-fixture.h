/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4-fixture: a mount of the server in mean-nfs4, and functions that run an op to its end.
 */
#ifndef RNFS_TESTS_NFS4_FIXTURE_H
#define RNFS_TESTS_NFS4_FIXTURE_H

#include <semaphore.h>

#include "tests/unit/nfsproto/v4/mean-nfs4.h"

#define PATIENCE_MS 60000u /* for an event that is certain to come */

struct fix {
	struct mean_srv srv;
	struct mem_pool *pool;
	struct nfs_client *nfs; /* NULL: not mounted */
	struct nfs_fh root;
	/* for later mounts: */
	unsigned connect_ms;
	enum nfs_delegations delegations;
	bool pnfs;
	unsigned minor; /* 0: 1; the server has its own */
	unsigned timeo_ms;
	unsigned nconnect;
	bool migration, replication;
	const struct nfs_client_upcalls *upcalls;
	void *upcalls_ctx;
};

/* cmocka's: with a mount of "/", or only with the server. */
int fix_setup(void **state);
int fix_setup_unmounted(void **state);
int fix_teardown(void **state);
#define ON_MOUNT(fn) cmocka_unit_test_setup_teardown(fn, fix_setup, fix_teardown)

/* The parameters of such mounts. */
struct nfs_mount_params fix_params(const struct fix *f, const char *export);
struct nfs_client *fix_mount(struct fix *f, const char *export, struct err *e);
struct nfs_client *fix_mount_version(
	struct fix *f, const char *export, unsigned minor, struct err *e);
/* Mounts "/" into f->nfs and f->root. */
void fix_mount_root(struct fix *f);
/* The same; a request ends after timeo_ms without an answer. */
void fix_mount_soft(struct fix *f, unsigned connect_ms, unsigned timeo_ms);
/* Unmounts; the server must be left without any state of ours. */
void fix_unmount_clean(struct fix *f);
uint64_t fix_now_ms(void);

/* fix_fails(): the server fails the next `times` of op. fix_quirk(): the server shows q once. */
void fix_fails(struct fix *f, uint32_t op, uint32_t status, unsigned times);
void fix_quirk(struct fix *f, enum quirk q);
/* The server knows no open file any more. */
void fix_forget_opens(struct fix *f);
/* SEQUENCE answers with flags (sr_status_flags) from now on. */
void fix_status_flags(struct fix *f, uint32_t flags);
/* How often the server has executed op. */
unsigned fix_count(struct fix *f, uint32_t op);

/* Submits op and waits. Returns op->error. */
int fix_run(struct fix *f, struct nfs_op *op);
/* Submits op; sem is posted at the end of op. */
void fix_start(struct fix *f, struct nfs_op *op, sem_t *sem);
bool fix_ends_within(sem_t *sem, unsigned ms);

int fix_getattr(struct fix *f); /* of the root */
int fix_lookup(struct fix *f, const char *name);
struct nfs_open *fix_open(struct fix *f, int flags, struct nfs_fh *fh);
int fix_close(struct fix *f, struct nfs_open *open);
/* Compares the data with the server's content, and checks that no byte behind the sink was
 * touched. */
int fix_read(struct fix *f, struct nfs_open *open, const struct nfs_fh *fh, uint32_t want,
	uint32_t *got);
int fix_write(
	struct fix *f, struct nfs_open *open, const struct nfs_fh *fh, enum nfs_stable stable);
int fix_readdir(struct fix *f, bool (*entry)(struct nfs_op *, const struct nfs_dirent *));

/* An op in the background. */
struct fix_op {
	struct nfs_op op;
	sem_t sem;
};

#define TOP UINT64_MAX /* the last byte of a lock to the end of the file */

/* A lock or unlock. fix_lock() runs the op to its end; fix_lock_wait() starts the op, which waits
 * for the lock. */
struct nfs_op fix_lock_op(struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner, int type,
	uint64_t start, uint64_t end);
int fix_lock(struct fix *f, struct nfs_open *o, const struct nfs_fh *fh, uint64_t owner, int type,
	uint64_t start, uint64_t end);
void fix_lock_wait(struct fix *f, struct fix_op *w, struct nfs_open *o, const struct nfs_fh *fh,
	uint64_t owner, int type, uint64_t start, uint64_t end);
/* A local process of the server takes a lock, or drops all. */
void fix_others_hold(struct fix *f, uint64_t first, uint64_t last, bool write);
void fix_others_go(struct fix *f);
/* The ranges that this mount has locked at the server. */
unsigned fix_locks_held(struct fix *f);
bool fix_has_lock(struct fix *f, uint64_t first, uint64_t last, bool write);
/* The server forgets all locks. */
void fix_forget_locks(struct fix *f);

#endif
