/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * life: a server from its options to its end.
 *
 *     life_begin -> life_tick, once a second -> life_end
 *
 * Requests run on the connections' threads. These functions are for the main thread.
 */
#ifndef RNFS_SERVE_MAIN_LIFE_H
#define RNFS_SERVE_MAIN_LIFE_H

#include <limits.h>

#include "contrib/serve/export/key.h"
#include "contrib/serve/main/options.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/v3/nsm.h"

/* The key and directory of the data that outlives the run. */
struct life_memory {
	uint8_t key[HANDLE_KEY];
	char dir[PATH_MAX]; /* "": nowhere */
};

struct life {
	const struct options *o;
	struct serve sv;
	struct life_memory memory;
	unsigned n;
	struct serve_port ports[OPTIONS_MAX_LISTEN];
	struct rpc_server *servers[OPTIONS_MAX_LISTEN]; /* n servers */
	struct nsm_notifier *notifier;
};

/* Opens the directory, listens at all addresses, and takes up the records of an earlier run. o is
 * the caller's until life_end(). 0, or -1 with *e set, and then nothing is left. */
int life_begin(struct life *l, const struct options *o, struct err *e);
/* Lets go of clients, descriptors and directory streams that are idle. Also after a signal that a
 * lease is broken. */
void life_tick(struct life *l);
/* Ends all connections, and brings to stable storage all that has been promised. */
void life_end(struct life *l);

#endif
