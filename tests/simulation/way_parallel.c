/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * way_parallel: several threads carry out the requests of a connection, as in Linux and Ganesha.
 * Two requests that are under way at once take effect, and are answered, in any order.
 *
 * The thread of the connection only puts a request into a queue. A thread of the crew takes any
 * request of the queue, and may sleep before the request is carried out and before the answer
 * leaves. A session still keeps the requests of a slot in order. Requests of NLM are carried out in
 * order, since Linux's lock manager has one thread.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "contrib/serve/main/dispatch.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "transport/rpc/rpc.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

#define SHORT_US 300
#define LONG_US	 40000

/* A request in the queue, or under way. */
struct job {
	TAILQ_ENTRY(job) link;
	void *ctx;
	struct rpc_req *req;
	const struct rpc_xprt *x;
	bool taken;
	bool locks; /* for the lock manager */
};

/* The threads of one server. A killed server leaves the crew in the memory that is lost. */
struct crew {
	TAILQ_HEAD(, job) jobs;
	unsigned queued;
	bool ends;
	pthread_t thread[WAYS_CREW];
};

static struct crew *crew;
static _Thread_local bool in_crew;

void __real_serve_request(void *ctx, struct rpc_req *req);
void __real_serve_conn_down(void *ctx, struct rpc_xprt *x);
void __real_rpc_req_reply(struct rpc_req *req, enum rpc_accept stat);

static void put_off(void)
{
	if (sched_once_in(ways.late_one_in))
		usleep(sched_choose(sched_once_in(4) ? LONG_US : SHORT_US));
}

/* Is the request not behind another one of the lock manager, which has one thread in Linux? */
static bool is_ready(const struct crew *c, const struct job *j)
{
	const struct job *k;

	if (j->taken || !j->locks)
		return !j->taken;
	TAILQ_FOREACH (k, &c->jobs, link)
		if (k == j || k->locks)
			break;
	return k == j;
}

/* Any request of the queue that is ready, or NULL. */
static struct job *take(struct crew *c)
{
	unsigned n = 0;
	struct job *j;

	TAILQ_FOREACH (j, &c->jobs, link)
		n += is_ready(c, j);
	if (!n)
		return NULL;
	n = sched_choose(n);
	TAILQ_FOREACH (j, &c->jobs, link)
		if (is_ready(c, j) && !n--)
			break;
	j->taken = true;
	c->queued--;
	return j;
}

static void *work(void *ctx)
{
	struct crew *c = ctx;

	sched_name("crew");
	in_crew = true;
	while (!c->ends || c->queued) {
		struct job *j = take(c);

		if (!j) {
			sched_wait(c, SCHED_NEVER, "for a request");
			continue;
		}
		put_off();
		__real_serve_request(j->ctx, j->req);
		TAILQ_REMOVE(&c->jobs, j, link);
		free(j);
		sched_wake_all(c);
	}
	return NULL;
}

void way_crew_begin(void)
{
	crew = NULL;
	if (!ways.parallel)
		return;
	crew = calloc(1, sizeof(*crew));
	if (!crew)
		abort();
	TAILQ_INIT(&crew->jobs);
	for (unsigned i = 0; i < ways.parallel; i++)
		pthread_create(&crew->thread[i], NULL, work, crew);
}

void way_crew_end(void)
{
	if (!crew)
		return;
	crew->ends = true;
	sched_wake_all(crew);
	for (unsigned i = 0; i < ways.parallel; i++)
		pthread_join(crew->thread[i], NULL);
	free(crew);
	crew = NULL;
}

void __wrap_serve_request(void *ctx, struct rpc_req *req)
{
	struct job *j;

	if (!crew) {
		__real_serve_request(ctx, req);
		return;
	}
	j = malloc(sizeof(*j));
	if (!j)
		abort();
	*j = (struct job){
		.ctx = ctx, .req = req, .x = req->xprt, .locks = req->prog == NLM4_PROGRAM};
	TAILQ_INSERT_TAIL(&crew->jobs, j, link);
	crew->queued++;
	sched_wake_all(crew);
}

static bool has_jobs(const struct rpc_xprt *x)
{
	struct job *j;

	TAILQ_FOREACH (j, &crew->jobs, link)
		if (j->x == x)
			return true;
	return false;
}

/* The server expects no request of a connection that is gone. */
void __wrap_serve_conn_down(void *ctx, struct rpc_xprt *x)
{
	while (crew && has_jobs(x))
		sched_wait(crew, SCHED_NEVER, "for the requests of a connection");
	__real_serve_conn_down(ctx, x);
}

void __wrap_rpc_req_reply(struct rpc_req *req, enum rpc_accept stat)
{
	if (in_crew)
		put_off();
	__real_rpc_req_reply(req, stat);
}
