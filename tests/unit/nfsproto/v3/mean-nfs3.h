/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-nfs3: an NFSv3 server with MOUNT and NLM on one port that misbehaves as told. The server has
 * one directory with one file, "file" of MEAN3_SIZE bytes; "nope" does not exist.
 */
#ifndef RNFS_TESTS_MEAN_NFS3_H
#define RNFS_TESTS_MEAN_NFS3_H

#include <pthread.h>

#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nfs3_xdr.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "transport/rpc/rpc.h"

#define MEAN3_SIZE 5000u

struct mean3 {
	struct rpc_server *server;
	struct mem_pool *pool;
	struct mem_buf *data;
	pthread_mutex_t lock;
	/* lock: the faults of the server */
	struct {
		uint32_t status;
		unsigned times;
	} fails[NFS3_PROCS]; /* how often, before the procedure works */
	bool silent[NFS3_PROCS];
	bool bare;	     /* no optional attributes or handles */
	bool no_v3;	     /* only version 4 */
	bool no_nlm;	     /* no such program */
	bool nlm_comes;	     /* NLM is there from the next NULL of NFS on */
	uint32_t cut;	     /* the next reply to this procedure closes the connection instead */
	bool cut_null;	     /* then the next reply to NULL does */
	bool cut_nlm;	     /* the next reply to a LOCK does */
	uint32_t cut_status; /* not 0: the next call of that procedure fails with this status */
	enum nfs_type made;  /* not 0: LOOKUP finds a file of this type, last read at made_atime */
	struct timespec made_atime;
	bool read_lies;	       /* READ's count differs from the length of the data */
	unsigned write_parts;  /* this many WRITEs take 7 bytes less */
	uint64_t size;	       /* of everything; MEAN3_SIZE at first */
	long writes;	       /* number of WRITEs: the nanoseconds of the ctime */
	unsigned others_times; /* how often another client appends a byte before a WRITE */
	uint32_t mnt_status, flavor;
	uint32_t access; /* rights that ACCESS grants */
	struct nfs3_entry entries[4];
	unsigned nentries, per_reply; /* of READDIR */
	uint32_t nlm_status;	      /* how often, before GRANTED */
	unsigned nlm_times;
	unsigned nlm_mute;     /* this many LOCKs are never answered */
	unsigned nlm_mute_un;  /* and this many UNLOCKs */
	unsigned nlm_graces;   /* how often an UNLOCK comes too early */
	unsigned nlm_delay_ms; /* of the other answers */
	bool nlm_anonymous;    /* TEST does not tell the owner */
	bool nlm_restarts;     /* in place of the answer to the next TEST */
	/* lock: the calls of the client */
	unsigned count[NFS3_PROCS], nlm_count[NLM4PROC_FREE_ALL + 1], umounts, reclaims;
	struct nfs3_args last[NFS3_PROCS]; /* names in these arguments are gone */
	struct nlm4_lock_args last_lock;   /* likewise */
	bool nlm_held; /* the last lock granted, until the client unlocks it or a test takes it away
			*/
	uint32_t nlm_svid;
	uint8_t nlm_oh[64];
	uint32_t nlm_oh_len;
	struct mean3_owner { /* of the last LOCK and UNLOCK */
		char caller[256], oh[64];
		uint32_t svid;
		uint64_t offset, len;
	} locker, unlocker;
};

void mean3_start(struct mean3 *m);
void mean3_stop(struct mean3 *m);

#endif
