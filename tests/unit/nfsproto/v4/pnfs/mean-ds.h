/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-ds: a data server with NFSv3 over TCP, for tests of pNFS. It has one file in memory, and
 * misbehaves as told.
 */
#ifndef RNFS_TESTS_MEAN_DS_H
#define RNFS_TESTS_MEAN_DS_H

#include <pthread.h>

#include "nfsproto/wire/nfs3_xdr.h"
#include "transport/rpc/rpc.h"

#define MEAN_DS_SIZE (4u << 20)

struct mean_ds {
	struct mem_pool *pool;
	struct rpc_server *server; /* NULL: down */
	uint16_t port;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t cond;  /* a call came */
	/* orders of the test */
	uint32_t status;    /* of the next calls; 0: they succeed */
	bool silent;	    /* calls are not answered */
	bool unstable;	    /* WRITEs are answered UNSTABLE */
	uint32_t write_max; /* bytes that a WRITE takes; 0: all */
	bool read_lies;	    /* READ's count differs from the length of the data */
	uint32_t uid, gid;  /* another credential is refused */
	struct nfs_fh fh;   /* another handle is stale */
	/* record of the calls */
	unsigned reads, writes, refused, silenced;
	/* the file */
	uint64_t size;
	uint8_t data[MEAN_DS_SIZE];
};

void mean_ds_start(struct mean_ds *d);
void mean_ds_stop(struct mean_ds *d);
/* Closes the port and all connections; and listens on the same port again. */
void mean_ds_kill(struct mean_ds *d);
void mean_ds_revive(struct mean_ds *d);
/* Waits until *counter is at least n; false after 60 s. */
bool mean_ds_wait(struct mean_ds *d, const unsigned *counter, unsigned n);
unsigned mean_ds_count(struct mean_ds *d, const unsigned *counter);

#endif
