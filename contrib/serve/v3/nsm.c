/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nsm: SM_NOTIFY, both ways.
 *
 * Only the notifier's thread uses the list.
 */
#include "contrib/serve/v3/nsm.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "contrib/serve/state/grace.h"
#include "contrib/serve/v3/nlm.h"
#include "nfsproto/common/nfs3_aux.h"
#include "nfsproto/wire/nsm_xdr.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define RES_CAP	     64u
#define ASK_MS	     1500u /* for one answer */
#define PAUSE_MIN_MS 1000u /* between rounds, doubled each time */
#define PAUSE_MAX_MS 30000u

/* --- notices from hosts ----------------------------------------------------------------------- */

bool nsm_has(uint32_t proc)
{
	return proc == NSMPROC_NULL || proc == NSMPROC_NOTIFY;
}

enum serve_result nsm_run(struct serve *sv, struct rpc_req *req)
{
	struct xdr_in in = req->args;
	struct nsm_notify_args a;
	char host[NLM_ADDRESS_MAX];

	if (req->proc == NSMPROC_NULL)
		return xdr_in_done(&in) ? SERVE_DONE : SERVE_GARBAGE;
	if (nsm_get_notify_args(&in, &a) < 0 || !xdr_in_done(&in))
		return SERVE_GARBAGE;
	nlm_address(sv, req, host);
	log_ctrl("%s says that %s has restarted", host, QUOTE(a.name.s, a.name.len));
	nlm_host_restarted(sv, host, &a.name, a.state);
	return SERVE_DONE;
}

void nsm_request(const struct serve_port *port, struct rpc_req *req)
{
	if (nsm_has(req->proc))
		serve_call(port, req, RES_CAP, nsm_run);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
}

/* --- notices to hosts ------------------------------------------------------------------------- */

struct told {
	struct sockaddr_storage addr;
	socklen_t addr_len;
	char address[64];
	LIST_ENTRY(told) link;
};

struct nsm_notifier {
	struct grace *grace;
	pthread_t thread;
	char name[256]; /* our host's */
	uint32_t state; /* odd, different in each run */
	LIST_HEAD(, told) list;
	struct mutex lock;
	pthread_cond_t wake;
	bool stop GUARDED_BY(lock);
};

/* Adds the host of a record "ADDRESS NAME", once for each address. */
static void add(void *ctx, const uint8_t *owner, uint32_t len)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST};
	const uint8_t *space = memchr(owner, ' ', len);
	struct nsm_notifier *n = ctx;
	struct told *t = calloc(1, sizeof(*t)), *same;
	struct addrinfo *list = NULL;
	size_t size = space ? (size_t)(space - owner) : 0;

	if (size > 2 && owner[0] == '[' && owner[size - 1] == ']') { /* IPv6 */
		owner++;
		size -= 2;
	}
	if (!t || size >= sizeof(t->address)) {
		free(t);
		return;
	}
	memcpy(t->address, owner, size);
	LIST_FOREACH (same, &n->list, link)
		if (strcmp(same->address, t->address) == 0)
			break;
	if (same || size == 0 || getaddrinfo(t->address, NULL, &hints, &list) != 0) {
		free(t);
		return;
	}
	memcpy(&t->addr, list->ai_addr, list->ai_addrlen);
	t->addr_len = list->ai_addrlen;
	freeaddrinfo(list);
	LIST_INSERT_HEAD(&n->list, t, link);
}

static void put_notify(struct nfs3_sync *s, struct xdr_out *x)
{
	const struct nsm_notifier *n = s->put;

	nsm_put_notify_args(
		x, &(struct nsm_notify_args){{n->name, (uint32_t)strlen(n->name)}, n->state});
}

static int get_nothing(struct nfs3_sync *s, struct xdr_in *x)
{
	return 0;
}

/* True: the host knows now, or has no status monitor. */
static bool tell(struct nsm_notifier *n, const struct told *t)
{
	struct nfs3_sync s = {.put = n, .get = get_nothing};
	struct nfs3_aux a = {.udp = true, .cred = {.flavor = RPC_AUTH_NONE}};
	uint16_t port;
	int rc;

	a.rp.peer = t->addr;
	a.rp.peer_len = t->addr_len;
	a.rp.prog = NSM_PROGRAM;
	a.rp.vers = NSM_VERSION;
	rc = nfs3_aux_getport(&a, &port, ASK_MS);
	if (rc == 0 && port) {
		nfs3_aux_set_port(&a, port);
		rc = nfs3_aux_call(&a, &s, NSMPROC_NOTIFY, put_notify, 0, ASK_MS, NULL);
	} else if (rc == 0) {
		rc = -EPROTONOSUPPORT;
	}
	log_ctrl("%s is told that this server has restarted: %s", t->address,
		rc ? strerror(-rc) : "done");
	return rc != -ETIMEDOUT;
}

/* Waits; false: the notifier is to stop. */
static bool pause_ms(struct nsm_notifier *n, unsigned ms)
{
	struct timespec until = clock_timespec(clock_ns() + ms * NSEC_PER_MSEC);
	bool stop;
	int rc = 0;

	mutex_lock(&n->lock);
	while (!n->stop && rc == 0 && ms)
		rc = cond_timedwait(&n->wake, &n->lock, &until);
	stop = n->stop;
	mutex_unlock(&n->lock);
	return !stop;
}

static void *notifier_main(void *arg)
{
	struct nsm_notifier *n = arg;
	unsigned ms = PAUSE_MIN_MS;
	struct told *t, *next;

	while (!LIST_EMPTY(&n->list) && grace_phase(n->grace) == GRACE_ON) {
		for (t = LIST_FIRST(&n->list); t && pause_ms(n, 0); t = next) {
			next = LIST_NEXT(t, link);
			if (!tell(n, t))
				continue;
			LIST_REMOVE(t, link);
			free(t);
		}
		if (LIST_EMPTY(&n->list) || !pause_ms(n, ms))
			break;
		ms = ms * 2 < PAUSE_MAX_MS ? ms * 2 : PAUSE_MAX_MS;
	}
	return NULL;
}

static struct nsm_notifier *notifier_free(struct nsm_notifier *n)
{
	struct told *t;

	while ((t = LIST_FIRST(&n->list)) != NULL) {
		LIST_REMOVE(t, link);
		free(t);
	}
	pthread_cond_destroy(&n->wake);
	mutex_destroy(&n->lock);
	free(n);
	return NULL;
}

struct nsm_notifier *nsm_notifier_start(struct grace *g)
{
	struct nsm_notifier *n;
	struct timespec now;

	if (grace_phase(g) != GRACE_ON)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->grace = g;
	LIST_INIT(&n->list);
	gethostname(n->name, sizeof(n->name) - 1);
	clock_gettime(CLOCK_REALTIME, &now);
	n->state = (uint32_t)((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) | 1;
	mutex_init(&n->lock);
	clock_cond_init(&n->wake);
	if (!grace_each_host(g, add, n))
		log_always_warn(
			"not all hosts that held locks are told that this server has restarted: "
			"out of memory");
	if (LIST_EMPTY(&n->list))
		return notifier_free(n);
	if (pthread_create(&n->thread, NULL, notifier_main, n) != 0) {
		log_always_warn(
			"hosts that held locks are not told that this server has restarted: no "
			"thread");
		return notifier_free(n);
	}
	return n;
}

struct nsm_notifier *nsm_notifier_stop(struct nsm_notifier *n)
{
	if (!n)
		return NULL;
	mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_signal(&n->wake);
	mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	return notifier_free(n);
}
