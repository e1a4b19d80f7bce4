/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs-serve.
 */
#ifndef RNFS_SERVE_MAIN_OPTIONS_H
#define RNFS_SERVE_MAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "contrib/serve/admit.h"
#include "contrib/serve/export/referral.h"
#include "contrib/serve/export/replicas.h"
#include "contrib/serve/state/deleg.h"
#include "contrib/serve/state/devices.h"
#include "transport/err.h"
#include "transport/log_target.h"
#include "transport/rpc/rpc.h"

#define OPTIONS_MAX_LISTEN 8
#define OPTIONS_DOMAIN_MAX 200 /* bytes of --idmap_domain */

struct listen_at {
	enum rpc_proto proto;
	struct sockaddr_storage addr;
	socklen_t addr_len;
	char host[80]; /* as given, for messages; [..] around IPv6 */
};

struct options {
	const char *dir;
	unsigned nlisten;
	struct listen_at listen[OPTIONS_MAX_LISTEN];
	const char *fault;	  /* NULL: none */
	const char *key;	  /* --handle-key; NULL: the default place */
	const char *idmap_domain; /* NULL: the machine's */
	bool read_only, data_server, async, no_root_squash, crc;
	int registered;	  /* --register: the index in listen of the address for rpcbind; -1: none */
	unsigned nformer; /* --takes-over: the addresses of the former server */
	struct listen_at former[OPTIONS_MAX_LISTEN];
	unsigned nrefer; /* --refer */
	const char *refer[REFERRALS_MAX];
	unsigned nreplicas; /* --replica, --copy */
	struct replica_spec replica[REPLICAS_MAX];
	struct log_choice log;
	unsigned debug; /* times -d was given */
	int ready_fd;	/* -1: none */
	uint32_t lease_s, inline_size;
	unsigned rdma_versions; /* RPC_RDMA_V1, ..., 0: all */
	enum deleg_mode delegations;
	struct devices devices; /* --pnfs, --pnfs-stripe, --pnfs-stats */
	struct admit admit;	/* --allow-users, --clients, --privileged-ports */
	bool help, version;
};

/* The port that the option names. */
unsigned listen_port(const struct listen_at *l);
/* 0; or -1 with *e set (ERR_USAGE, ERR_RESOLVE). Pointers in *o point into argv. */
int serve_options_parse(struct options *o, int argc, char **argv, struct err *e);
void serve_options_usage(void);

#endif
