/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pnfs-fixture: a mount of mean-nfs4 that uses layouts, with data servers (mean-ds), and functions
 * that read and write bytes that tell their place.
 */
#ifndef RNFS_TESTS_PNFS_FIXTURE_H
#define RNFS_TESTS_PNFS_FIXTURE_H

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "tests/unit/nfsproto/v4/pnfs/mean-ds.h"

#define DS   2
#define UNIT 4096u

struct env {
	struct fix *f;
	struct mean_ds ds[DS];
	struct nfs_open *open;
	struct nfs_fh fh;
};

/* cmocka's: the servers run, and layouts have one mirror and one stripe; nothing is mounted. */
int pnfs_setup(void **state);
int pnfs_teardown(void **state);
#define WITH_DS(fn) cmocka_unit_test_setup_teardown(fn, pnfs_setup, pnfs_teardown)

/* The byte at i of the file at first; a write leaves the byte ^ 0x55. */
uint8_t pnfs_byte_at(uint64_t i);
/* Mounts and opens the file. */
void pnfs_open_file(struct env *e, int flags);
/* A WRITE from buf. */
struct nfs_op pnfs_write_op(struct env *e, struct mem_buf *buf, uint64_t at, uint32_t len);
/* Writes. Returns op.error. */
int pnfs_write_at(struct env *e, uint64_t at, uint32_t len);
/* Reads; *got bytes came, each the one that pnfs_write_at() has written, or (old) the first
 * content. */
int pnfs_read_at(struct env *e, uint64_t at, uint32_t len, bool old, uint32_t *got, bool *eof);
/* Starts a READ of the first 50000 bytes into buf; sem is posted at its end. */
void pnfs_start_read(struct env *e, struct nfs_op *op, struct mem_buf *buf, sem_t *sem);
/* The READs and WRITEs that came to data server i. */
unsigned pnfs_all_calls(struct env *e, unsigned i);
/* Reads until a READ has come to data server i; writes until a WRITE has come to the first. */
void pnfs_until_direct(struct env *e, unsigned i);
void pnfs_until_written(struct env *e);
/* Waits until LAYOUTGET has been answered, and for some I/O longer. */
void pnfs_until_asked(struct env *e);
/* A counter of the metadata server. */
unsigned pnfs_count(struct env *e, const unsigned *counter);
/* The next calls at d have this status. */
void pnfs_order(struct mean_ds *d, uint32_t status);

#endif
