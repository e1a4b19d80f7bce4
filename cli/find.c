/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * find: `rnfs find`, the NFS servers on the local network, or the exports of one server.
 *
 * NFSv3 has a list of exports (MOUNT). NFSv4 has no list, but the root directory shows all exports.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/neighbours.h"
#include "cli/source.h"
#include "nfsproto/nfs_client.h"
#include "nfsproto/v3/nfs3_exports.h"
#include "transport/log.h"
#include "transport/quote.h"

#define POOL_BYTES (16u << 20)
#define MOUNT_MS   1500u /* for each of two steps */
#define CONNECT_MS 1500u
#define ADDRESSES  2 /* addresses of a name at which MOUNT is asked */

struct find {
	struct mem_pool *pool;
	struct json json;
	bool as_json;
	const char *host;
	uint16_t port;	/* 0: the usual ones */
	unsigned shown; /* exports of the host */
	/* the host's exports, as text, until the list is complete */
	struct found {
		char *path, *clients; /* clients: one a line */
	} * of;
	unsigned n;
	bool no_memory;
};

/* --- the exports in MOUNT's list -------------------------------------------------------------- */

static char *joined(const struct nfs_name *clients, unsigned n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (unsigned i = 0; f && i < n; i++)
		fprintf(f, "%.*s\n", (int)strnlen(clients[i].s, clients[i].len), clients[i].s);
	if (f && fclose(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

static void keep(void *ctx, const struct nfs_name *path, const struct nfs_name *clients, unsigned n)
{
	struct find *f = ctx;
	struct found one = {strndup(path->s, path->len), joined(clients, n)};
	struct found *more = realloc(f->of, (f->n + 1) * sizeof(*f->of));

	if (more)
		f->of = more;
	if (more && one.path && one.clients) {
		f->of[f->n++] = one;
		return;
	}
	f->no_memory = true;
	free(one.path);
	free(one.clients);
}

static void drop_all(struct find *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		free(f->of[i].path);
		free(f->of[i].clients);
	}
	free(f->of);
	f->of = NULL;
	f->n = 0;
}

/* --- printing --------------------------------------------------------------------------------- */

/* clients: NULL: not known. */
static void show(struct find *f, const char *path, char *clients)
{
	const char *open = strchr(f->host, ':') ? "[" : "", *close = *open ? "]" : "";
	static char source[NI_MAXHOST + 3 * 1024 + 32], line[sizeof(source)];
	char *client;

	f->shown++;
	if (f->port)
		snprintf(source, sizeof(source), "nfs://%s%s%s:%u%s", open, f->host, close, f->port,
			path);
	else
		snprintf(source, sizeof(source), "%s%s%s:%s", open, f->host, close, path);
	if (!f->as_json) {
		quote_line(line, sizeof(line), source);
		puts(line);
		return;
	}
	json_begin(&f->json, NULL, '{');
	json_text(&f->json, "source", source);
	json_text(&f->json, "server", f->host);
	json_text(&f->json, "export", path);
	if (clients) {
		json_begin(&f->json, "clients", '[');
		while ((client = strsep(&clients, "\n")))
			if (*client)
				json_text(&f->json, NULL, client);
		json_end(&f->json, ']');
	}
	json_end(&f->json, '}');
}

/* --- one server ------------------------------------------------------------------------------- */

/* The exports by MOUNT, into f->of. 0, or -1 with *e set. */
static int ask_mount(struct find *f, const struct addrinfo *list, struct err *e)
{
	unsigned tries = 0;

	for (const struct addrinfo *a = list; a && tries < ADDRESSES; a = a->ai_next, tries++) {
		drop_all(f);
		*e = (struct err){0};
		if (nfs3_exports(a->ai_addr, a->ai_addrlen, f->pool, MOUNT_MS, keep, f, e))
			continue;
		if (f->no_memory)
			return err_set(e, ERR_INTERNAL, "out of memory");
		return f->n ? 0 : err_set(e, ERR_NO_EXPORT, "its MOUNT service has no exports");
	}
	return -1;
}

/* Does the server speak NFSv4? A client can mount the root of any NFSv4 server. */
static bool has_root(struct find *f)
{
	static const enum rpc_proto all[] = {RPC_TCP, RPC_IWARP, RPC_RDMA};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct nfs_mount_params p = {
			.host = f->host,
			.port = f->port,
			.export = "/",
			.proto = all[i],
			.vers_major = 4,
			.pool = f->pool,
			.connect_ms = CONNECT_MS,
			.timeo_ms = CONNECT_MS,
			.retrans = 1,
			.soft = true,
			.nolock = true,
		};
		struct err e = {0};
		struct nfs_client *c;

		rpc_cred_own(&p.cred);
		c = nfs_client_new(&p, &e);
		nfs_client_free(c);
		if (c)
			return true;
	}
	return false;
}

/* Shows the exports of f->host. 0, or -1 with *e set: no way to the exports is known. */
static int look_at(struct find *f, struct err *e)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list;
	struct err why = {0};
	char last[8];
	int error = getaddrinfo(f->host, NULL, &hints, &list);
	bool root = false;

	if (error)
		return err_set(e, ERR_RESOLVE,
			"%s cannot be resolved (%s): check the spelling, or give its address",
			QUOTE(f->host, strlen(f->host)), gai_strerror(error));
	f->shown = 0;
	log_hold();
	if (f->port)
		err_set(&why, ERR_NO_EXPORT, "MOUNT is not asked where a port is given");
	if (f->port || ask_mount(f, list, &why))
		root = has_root(f);
	else
		for (unsigned i = 0; i < f->n; i++)
			show(f, f->of[i].path, f->of[i].clients);
	log_release(last, sizeof(last));
	freeaddrinfo(list);
	drop_all(f);
	if (f->shown)
		return 0;
	if (!root && f->port)
		return err_set(e, ERR_UNREACHABLE,
			"no NFSv4 answers at port %u of %s: rnfs doctor says more", f->port,
			QUOTE(f->host, strlen(f->host)));
	if (!root)
		return err_set(e, ERR_UNREACHABLE,
			"%s tells nothing: %s, and no NFSv4 answers at its usual ports: rnfs "
			"doctor says more",
			QUOTE(f->host, strlen(f->host)), why.msg);
	show(f, "/", NULL);
	fprintf(stderr, "rnfs: %s lists no exports (%s): / shows all that it exports by NFSv4\n",
		QUOTE(f->host, strlen(f->host)), why.msg);
	return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int look_around(struct find *f, struct err *e)
{
	struct neighbours all;
	char address[INET_ADDRSTRLEN];

	if (neighbours_find(&all, e))
		return -1;
	if (!all.n)
		return err_set(e, ERR_UNREACHABLE,
			"no server answers on the local network: many have no portmapper, which "
			"NFSv4 does without; give the server's name, rnfs find SERVER");
	f->host = address;
	for (unsigned i = 0; i < all.n; i++) {
		struct err why = {0};

		inet_ntop(AF_INET, &all.at[i], address, sizeof(address));
		if (look_at(f, &why))
			fprintf(stderr, "rnfs: %s\n", why.msg);
	}
	f->host = NULL;
	return 0;
}

static int run(const char *server, bool as_json, struct err *e)
{
	struct find f = {.pool = mem_pool_new(POOL_BYTES), .json.out = stdout, .as_json = as_json};
	struct source source = {0};
	int res;

	if (!f.pool)
		return err_set(e, ERR_INTERNAL, "out of memory");
	if (as_json)
		json_begin(&f.json, NULL, '[');
	if (!server) {
		res = look_around(&f, e);
	} else {
		res = source_parse(&source, server, SOURCE_MAY_BE_SERVER, e);
		f.host = source.host;
		f.port = source_port(&source);
		if (!res)
			res = look_at(&f, e);
		source_finish(&source);
	}
	if (as_json) {
		json_end(&f.json, ']');
		putchar('\n');
	}
	mem_pool_free(f.pool);
	return res;
}

int find_main(int argc, char **argv)
{
	bool as_json = argc > 1 && !strcmp(argv[1], "--json");
	const char *server = argv[1 + as_json]; /* or NULL */
	struct err e = {0};

	if (argc - as_json > 2 || (server && server[0] == '-')) {
		fprintf(stderr, "rnfs: the command line is rnfs find [--json] [SERVER]\n");
		return 2;
	}
	log_init("rnfs", LOG_L_ERROR);
	if (run(server, as_json, &e)) {
		fprintf(stderr, "rnfs: %s\n", e.msg);
		return e.kind == ERR_USAGE ? 2 : 1;
	}
	return fflush(stdout) ? 1 : 0;
}
