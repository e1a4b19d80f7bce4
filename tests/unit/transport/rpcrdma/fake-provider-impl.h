/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-provider: declarations that its files share. fake-provider.c has the connections,
 * fake-provider-io.c
 * the traffic over the connections: requests, doors, completions.
 */
#ifndef RNFS_TEST_FAKE_PROVIDER_IMPL_H
#define RNFS_TEST_FAKE_PROVIDER_IMPL_H

#include <pthread.h>
#include <sys/queue.h>

#include "tests/unit/transport/rpcrdma/fake-provider.h"

#define MAX_DOORS 512
#define CLOSE_LAG 2 /* polls until a door is closed (async) */

struct item { /* a request on its way, or a receive, or a completion */
	STAILQ_ENTRY(item) link;
	struct prov_wr wr;
	struct prov_wc wc;
	struct mem_sge sge; /* receive */
	uint32_t sum;	    /* of the data at the time of the post */
	uint32_t len;
	bool down;
	unsigned lag;
};
STAILQ_HEAD(items, item);

struct door {
	bool open, remote_closed;
	uint32_t stag;
	unsigned access;
	struct mem_sge sge;
	bool ghost;
};

struct fake_conn {
	struct prov_conn prov; /* first */
	struct fake_conn *peer;
	struct prov_params params;
	uint8_t priv[PROV_MAX_PRIV];
	bool async, established, down, down_told, freed;
	int wake; /* eventfd */
	struct items in, recvs, done, closing;
	unsigned nrecvs, nsends; /* posted and not ended */
	bool has_user, has_chain, waiting;
	pthread_t user, chain;
	struct door door[MAX_DOORS];
	unsigned refs; /* of the pair: freed together */
};

extern pthread_mutex_t fake_lock; /* everything */
extern unsigned fake_ndoors;	  /* open ones */

static inline struct fake_conn *fake_of(struct prov_conn *pc)
{
	return (struct fake_conn *)pc;
}

/* fake-provider.c; all with the lock held */
__attribute__((format(printf, 1, 2))) void fake_violation(const char *fmt, ...);
void fake_wake(struct fake_conn *c);
void fake_check_user(struct fake_conn *c, const char *what);
/* Sum of the data that wr names; *len is the length of the data. */
uint32_t fake_sum_of(const struct prov_wr *wr, uint32_t *len);
void fake_break_locked(struct fake_conn *c, const char *why);
void fake_drop_items(struct fake_conn *c, struct items *list);

/* fake-provider-io.c: operations of the provider */
int fake_post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge);
int fake_post(struct prov_conn *pc, const struct prov_wr *wr);
int fake_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door);
int fake_withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie);
void fake_flush(struct prov_conn *pc);
int fake_poll(struct prov_conn *pc, struct prov_wc *wc, int n);
void fake_wait(struct prov_conn *pc, int kick_fd, int timeout_ms);

#endif
