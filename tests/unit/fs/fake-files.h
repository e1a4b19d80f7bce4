/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-files: files in memory, and the effect of operations on the files, as the knobs of fake-nfs
 * say.
 *
 * A removed file lives as long as the others: a test need not give memory back, and a handle to the
 * file then answers as an open file would. The caller serialises all calls.
 */
#ifndef RNFS_TESTS_FAKE_FILES_H
#define RNFS_TESTS_FAKE_FILES_H

#include "nfsproto/common/nfs_op.h"

struct fake_entry {
	TAILQ_ENTRY(fake_entry) link;
	uint64_t cookie;
	uint32_t id;
	char name[NFS_NAME_MAX + 1];
};

struct fake_file {
	struct nfs_attr attr;
	uint8_t *data;
	size_t cap;
	char *target;
	TAILQ_HEAD(, fake_entry) entries;
	uint64_t next_cookie;
	uint64_t deleg; /* the number of the file's delegation; 0: none */
	bool deleg_writes;
};

struct nfs_open {
	LIST_ENTRY(nfs_open) link;
	uint32_t id;
};

struct fake_files {
	struct fake_file **nodes; /* by number; 0: the root */
	uint32_t nnodes;
	uint64_t clock, delegs;
	LIST_HEAD(, nfs_open) opens;
};

/* Makes the root, which belongs to the caller. */
void fake_files_init(struct fake_files *f);
void fake_files_finish(struct fake_files *f);

/* The number in a handle, and the handle with a number. */
uint32_t fake_file_id(const struct nfs_fh *fh);
void fake_file_fh(uint32_t id, struct nfs_fh *fh);
struct nfs_open *fake_file_open(struct fake_files *f, uint32_t id);

/* Carries op out. Returns 0, or the negative errno with which op ends. */
int fake_files_run(struct fake_files *f, struct nfs_op *op);

#endif
