/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * doctor_server: the ways to a server, and the things that a mount meets there.
 */
#include "cli/doctor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/quote.h"
#include "transport/rpc/rpc_auth.h"

#define POOL_BYTES    (16u << 20)
#define CONNECT_MS    4000u
#define ANSWER_MS     4000u
#define TRIPS	      5
#define EXPORTS_SHOWN 20
#define CLOCK_CLOSE_S 2	 /* the answer is in whole seconds */
#define CLOCK_APART_S 30 /* programs such as make mind, and so do leases of names */
#define NOBODY	      65534
#define READDIR_BYTES 8192u

static void look_at_clock(struct doctor *d, const struct addrinfo *a)
{
	struct timespec now;
	long long theirs, apart;

	if (!doctor_server_time(a->ai_addr, a->ai_addrlen, &theirs)) {
		finding(&d->f, FINDING_NOTE, "clock",
			"the server's clock could not be asked for (no port mapper answers)");
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	apart = theirs - now.tv_sec;
	if (llabs(apart) <= CLOCK_CLOSE_S)
		finding(&d->f, FINDING_OK, "clock", "both machines have the same time");
	else
		finding(&d->f, llabs(apart) > CLOCK_APART_S ? FINDING_WARN : FINDING_NOTE, "clock",
			"the server's clock is %lld s %s: have both machines set theirs by NTP",
			llabs(apart), apart > 0 ? "ahead" : "behind");
}

/* Looks up the addresses of the name. NULL: none. */
static struct addrinfo *look_at_name(struct doctor *d)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *a;
	char text[400] = "", one[NI_MAXHOST];
	size_t len = 0;
	int error = getaddrinfo(d->host, NULL, &hints, &list);

	if (error) {
		finding(&d->f, FINDING_FAIL, "name",
			"%s cannot be resolved (%s): check the spelling, or give its address",
			QUOTE(d->host, strlen(d->host)), gai_strerror(error));
		return NULL;
	}
	for (a = list; a && len < sizeof(text) - 1; a = a->ai_next)
		if (!getnameinfo(
			    a->ai_addr, a->ai_addrlen, one, sizeof(one), NULL, 0, NI_NUMERICHOST))
			len += (size_t)snprintf(
				text + len, sizeof(text) - len, "%s%s", len ? ", " : "", one);
	finding(&d->f, FINDING_OK, "name", "%s is %s", QUOTE(d->host, strlen(d->host)), text);
	return list;
}

/* --- one way ---------------------------------------------------------------------------------- */

/* An operation, and the doctor that waits for the operation. */
struct question {
	struct nfs_op op;
	sem_t done;
	struct doctor *d; /* of READDIR */
	unsigned names;
};

static void answered(struct nfs_op *op)
{
	struct question *q = (struct question *)op->ctx;

	sem_post(&q->done);
}

/* Returns op's error. The client is soft, so the wait has an end. */
static int ask(struct nfs_client *c, struct question *q, enum nfs_op_type type)
{
	q->op.type = type;
	q->op.done = answered;
	q->op.ctx = q;
	rpc_cred_own(&q->op.cred);
	sem_init(&q->done, 0, 0);
	nfs_submit(c, &q->op);
	while (sem_wait(&q->done))
		;
	sem_destroy(&q->done);
	return q->op.error;
}

/* The shortest of some round trips, in microseconds; 0: none was answered. */
static unsigned trip_us(struct nfs_client *c, const struct nfs_fh *root)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIPS; i++) {
		struct question q = {.op.u.getattr.fh = *root};
		uint64_t began = clock_ns();

		if (!ask(c, &q, NFS_GETATTR) && clock_age(clock_ns(), began) < least)
			least = clock_age(clock_ns(), began);
	}
	return least == UINT64_MAX ? 0 : (unsigned)(least / 1000);
}

static void tell_way(struct doctor *d, const char *way, struct nfs_client *c)
{
	struct nfs_client_info i;
	struct nfs_attr attr;
	struct nfs_fh root;
	char rdma[80] = "";

	nfs_client_info(c, &i);
	nfs_client_root(c, &root, &attr);
	if (i.rpc.rdma_dialect)
		snprintf(rdma, sizeof(rdma), ", RPC-over-RDMA version %s", i.rpc.rdma_dialect);
	finding(&d->f, FINDING_OK, way,
		"NFS %u.%u%s; READ and WRITE of %u and %u KiB; a round trip takes %u us",
		i.vers_major, i.vers_minor, rdma, i.rsize >> 10, i.wsize >> 10, trip_us(c, &root));
}

static struct nfs_client *go(struct doctor *d, struct mem_pool *pool, enum rpc_proto proto,
	unsigned major, unsigned minor, struct err *e)
{
	struct nfs_mount_params p = {
		.host = d->host,
		.port = d->port,
		.export = d->export ? d->export : "/",
		.proto = proto,
		.vers_major = major,
		.vers_minor = minor,
		.pool = pool,
		.connect_ms = CONNECT_MS,
		.timeo_ms = ANSWER_MS,
		.retrans = 1,
		.soft = true,
		.nolock = true,
	};
	struct nfs_client *c;
	char detail[256];
	size_t len;

	rpc_cred_own(&p.cred);
	log_hold();
	c = nfs_client_new(&p, e);
	log_release(detail, sizeof(detail));
	len = strlen(e->msg);
	if (!c && detail[0])
		snprintf(e->msg + len, sizeof(e->msg) - len, " (%s)", detail);
	return c;
}

/* --- the exports ------------------------------------------------------------------------------ */

static bool show_name(struct nfs_op *op, const struct nfs_dirent *e)
{
	struct question *q = (struct question *)op->ctx;

	if (q->names++ < EXPORTS_SHOWN)
		finding(&q->d->f, FINDING_NOTE, "export", "%s:/%s",
			QUOTE(q->d->host, strlen(q->d->host)), QUOTE(e->name, e->namelen));
	return q->names <= EXPORTS_SHOWN;
}

/* The root of an NFSv4 server has a name for each export, or for the first word of the export's
 * path. */
static void list_exports(struct doctor *d, struct nfs_client *c, const struct nfs_fh *root)
{
	struct question q = {.d = d,
		.op.u.readdir = {.dir = *root, .max_bytes = READDIR_BYTES, .entry = show_name}};
	int error = ask(c, &q, NFS_READDIR);

	if (error)
		finding(&d->f, FINDING_NOTE, "exports", "/ of the server cannot be listed (%s)",
			strerror(-error));
	else if (!q.names)
		finding(&d->f, FINDING_WARN, "exports",
			"/ of the server is empty: export a directory there");
	else if (q.names > EXPORTS_SHOWN)
		finding(&d->f, FINDING_NOTE, "exports", "and more names in / of the server");
}

static void look_at_owner(struct doctor *d, const struct nfs_attr *attr)
{
	if (attr->uid == NOBODY || attr->gid == NOBODY)
		finding(&d->f, FINDING_WARN, "owners",
			"the directory belongs to nobody: if it should not, the two machines "
			"disagree on the domain of users: give idmap_domain= as the server has it "
			"in /etc/idmapd.conf");
	else
		finding(&d->f, FINDING_OK, "owners", "the directory belongs to user %u, group %u",
			attr->uid, attr->gid);
}

static void look_at_rights(struct doctor *d, struct nfs_client *c, const struct nfs_fh *root)
{
	struct question q = {.op.u.access = {.fh = *root,
				     .want = NFS_ACCESS_READ | NFS_ACCESS_LOOKUP |
					     NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND}};
	int error = ask(c, &q, NFS_ACCESS);
	uint32_t may = q.op.u.access.allowed;

	if (error)
		finding(&d->f, FINDING_FAIL, "rights",
			"the server does not say what user %u may do (%s): check the export's "
			"options and permissions",
			(unsigned)geteuid(), strerror(-error));
	else if (!(may & NFS_ACCESS_LOOKUP) || !(may & NFS_ACCESS_READ))
		finding(&d->f, FINDING_FAIL, "rights",
			"user %u may not %s the directory: change its mode or its owner on the "
			"server; a server that squashes root treats root as nobody",
			(unsigned)geteuid(), may & NFS_ACCESS_LOOKUP ? "list" : "search");
	else
		finding(&d->f, FINDING_OK, "rights", "user %u may list and search, and %s",
			(unsigned)geteuid(),
			may & NFS_ACCESS_MODIFY ? "make files" : "not make files, there");
}

static void look_inside(struct doctor *d, struct nfs_client *c)
{
	struct nfs_attr attr;
	struct nfs_fh root;

	nfs_client_root(c, &root, &attr);
	if (!d->export)
		list_exports(d, c, &root);
	look_at_owner(d, &attr);
	look_at_rights(d, c, &root);
}

/* --- all ways --------------------------------------------------------------------------------- */

/* The state of the doctor while the doctor tries one way after the other. */
struct search {
	struct mem_pool *pool;
	struct nfs_client *first; /* the first that worked, or NULL */
	unsigned failed;
	struct {
		char way[32];
		struct err e;
	} at[6];
};

/* Does the same hold for the other version? */
static bool ends_the_way(enum err_kind kind)
{
	return kind == ERR_UNREACHABLE || kind == ERR_REFUSED || kind == ERR_NOT_RDMA ||
	       kind == ERR_NO_DEVICE || kind == ERR_RESOLVE;
}

/* False: the transport does not lead there. */
static bool try(
	struct doctor *d, struct search *s, enum rpc_proto proto, unsigned major, unsigned minor)
{
	struct err e = {0};
	struct nfs_client *c = go(d, s->pool, proto, major, minor, &e);
	char way[32];

	snprintf(way, sizeof(way), "%s, NFS %u", rpc_proto_name(proto), major);
	if (c) {
		tell_way(d, way, c);
		if (s->first)
			nfs_client_free(c);
		else
			s->first = c;
		return true;
	}
	snprintf(s->at[s->failed].way, sizeof(s->at[0].way), "%s", way);
	s->at[s->failed++].e = e;
	return !ends_the_way(e.kind);
}

static void try_transport(struct doctor *d, struct search *s, enum rpc_proto proto)
{
	if (d->vers_major) {
		try(d, s, proto, d->vers_major, d->vers_minor);
		return;
	}
	/* NFSv3 has no root of all exports */
	if (try(d, s, proto, 4, 0) && d->export)
		try(d, s, proto, 3, 0);
}

/* A failed way matters only if all ways to the server have failed. */
static void tell_failures(struct doctor *d, const struct search *s)
{
	bool arrived = s->first;

	for (unsigned i = 0; i < s->failed; i++)
		arrived |= s->at[i].e.kind == ERR_NO_EXPORT || s->at[i].e.kind == ERR_MOVED;
	for (unsigned i = 0; i < s->failed; i++) {
		enum err_kind kind = s->at[i].e.kind;
		bool matters =
			!s->first && (!arrived || kind == ERR_NO_EXPORT || kind == ERR_MOVED);

		finding(&d->f, matters ? FINDING_FAIL : FINDING_NOTE, s->at[i].way, "%s",
			s->at[i].e.msg[0] ? s->at[i].e.msg : "no reason was given");
	}
}

void doctor_server(struct doctor *d)
{
	static const enum rpc_proto all[] = {RPC_RDMA, RPC_IWARP, RPC_TCP};
	struct search s = {.pool = mem_pool_new(POOL_BYTES)};
	struct addrinfo *addresses = look_at_name(d);

	if (addresses && !s.pool)
		finding(&d->f, FINDING_FAIL, "memory", "the system has none left");
	for (unsigned i = 0; addresses && s.pool && i < 3; i++)
		if (d->proto < 0 || d->proto == (int)all[i])
			try_transport(d, &s, all[i]);
	tell_failures(d, &s);
	if (s.first)
		look_inside(d, s.first);
	nfs_client_free(s.first);
	if (addresses) {
		look_at_clock(d, addresses);
		freeaddrinfo(addresses);
	}
	mem_pool_free(s.pool);
}
