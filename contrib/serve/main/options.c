/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs-serve.
 */
#include "contrib/serve/main/options.h"

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/admit.h"
#include "contrib/serve/main/register.h"

#define DEFAULT_AT "127.0.0.1:20049"

enum {
	OPT_LISTEN = 256,
	OPT_PROTO,
	OPT_READ_ONLY,
	OPT_ASYNC,
	OPT_FAULT,
	OPT_READY_FD,
	OPT_LEASE,
	OPT_INLINE,
	OPT_VERSIONS,
	OPT_CRC,
	OPT_NO_SQUASH,
	OPT_KEY,
	OPT_REFER,
	OPT_TAKES_OVER,
	OPT_REPLICA,
	OPT_COPY,
	OPT_REGISTER,
	OPT_DOMAIN,
	OPT_USERS,
	OPT_CLIENTS,
	OPT_PORTS,
	OPT_DELEGATIONS,
	OPT_PNFS,
	OPT_DATA_SERVER,
	OPT_STRIPE,
	OPT_STATS,
	OPT_LOG,
	OPT_LOG_FORMAT,
};

static const struct option longopts[] = {
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"proto", required_argument, NULL, OPT_PROTO},
	{"read-only", no_argument, NULL, OPT_READ_ONLY},
	{"async", no_argument, NULL, OPT_ASYNC},
	{"fault", required_argument, NULL, OPT_FAULT},
	{"ready-fd", required_argument, NULL, OPT_READY_FD},
	{"lease", required_argument, NULL, OPT_LEASE},
	{"inline-size", required_argument, NULL, OPT_INLINE},
	{"rdma-versions", required_argument, NULL, OPT_VERSIONS},
	{"mpa-crc", no_argument, NULL, OPT_CRC},
	{"no-root-squash", no_argument, NULL, OPT_NO_SQUASH},
	{"handle-key", required_argument, NULL, OPT_KEY},
	{"refer", required_argument, NULL, OPT_REFER},
	{"takes-over", required_argument, NULL, OPT_TAKES_OVER},
	{"replica", required_argument, NULL, OPT_REPLICA},
	{"copy", required_argument, NULL, OPT_COPY},
	{"register", no_argument, NULL, OPT_REGISTER},
	{"idmap_domain", required_argument, NULL, OPT_DOMAIN},
	{"allow-users", required_argument, NULL, OPT_USERS},
	{"clients", required_argument, NULL, OPT_CLIENTS},
	{"privileged-ports", no_argument, NULL, OPT_PORTS},
	{"delegations", required_argument, NULL, OPT_DELEGATIONS},
	{"pnfs", required_argument, NULL, OPT_PNFS},
	{"data-server", no_argument, NULL, OPT_DATA_SERVER},
	{"pnfs-stripe", required_argument, NULL, OPT_STRIPE},
	{"pnfs-stats", required_argument, NULL, OPT_STATS},
	{"log", required_argument, NULL, OPT_LOG},
	{"log-format", required_argument, NULL, OPT_LOG_FORMAT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

unsigned listen_port(const struct listen_at *l)
{
	return ntohs(l->addr.ss_family == AF_INET6
			     ? ((const struct sockaddr_in6 *)&l->addr)->sin6_port
			     : ((const struct sockaddr_in *)&l->addr)->sin_port);
}

void serve_options_usage(void)
{
	printf("Usage: rnfs-serve [options] DIRECTORY\n"
	       "Serves DIRECTORY over NFSv4.1, NFSv4.2 and NFSv3.\n"
	       "\n"
	       "  --listen ADDR:PORT   where to listen (default " DEFAULT_AT ");\n"
	       "                       [ADDR]:PORT for IPv6; port 0 chooses one; may be repeated\n"
	       "  --proto LIST         iwarp (default), rdma, tcp; the first is for the first\n"
	       "                       --listen, and so on\n"
	       "  --read-only          refuse every change\n"
	       "  --allow-users LIST   users of this machine, or all, to be trusted as the "
	       "server's own\n"
	       "  --clients LIST       serve only these networks, ADDRESS/LENGTH[,...]\n"
	       "  --delegations MODE   none, read (files are delegated to clients that read "
	       "them)\n"
	       "                       or write (also to those that write them); write\n"
	       "  --pnfs LIST          have clients read and write at these data servers,\n"
	       "                       PROTO:HOST:PORT[/VERSION][,...]\n"
	       "  --pnfs-stripe BYTES  spread each file over them, in pieces of this size\n"
	       "  --pnfs-stats SECONDS have clients report their counts there this often\n"
	       "  --data-server        be a data server of a server with --pnfs, with the same\n"
	       "                       DIRECTORY and --handle-key\n"
	       "  --privileged-ports   serve only clients that call from a port below 1024\n"
	       "  --async              answer changes of names and attributes before they are on\n"
	       "                       disk: faster, and a power cut loses what was answered\n"
	       "  --no-root-squash     let uid 0 of a client be root here (if the server is)\n"
	       "  --lease SECONDS      lease time, 1 to 3600 (default 90)\n"
	       "  --inline-size BYTES  size of RPC-over-RDMA messages, 1024 to 65536 (default "
	       "4096)\n"
	       "  --rdma-versions LIST versions of RPC-over-RDMA to speak, of 1, 1-legacy,\n"
	       "                       2, 2-rtr, 2-2016 and 2-2016-rtr (default: 1,2)\n"
	       "  --mpa-crc            iwarp: protect each frame by a CRC\n"
	       "  --handle-key FILE    keep the key of file handles in FILE\n"
	       "  --register           tell rpcbind of the first address of transport tcp\n"
	       "  --idmap_domain NAME  the domain of owners that clients name (user@NAME)\n"
	       "  --refer /PATH=SERVER:/EXPORT\n"
	       "                       send NFSv4 clients of the directory PATH to another server\n"
	       "  --replica SERVER:/EXPORT\n"
	       "                       name a server of the same directory, at which clients may "
	       "go "
	       "on\n"
	       "  --copy SERVER:/EXPORT\n"
	       "                       the same for a copy that is never changed, for reading\n"
	       "  --takes-over ADDR:PORT\n"
	       "                       let the clients of a former server there reclaim their "
	       "state\n"
	       "  --fault SPEC         make mistakes on purpose, see rnfs-serve(8)\n"
	       "  --ready-fd N         write each ADDR:PORT to descriptor N when ready, then close "
	       "it\n"
	       "  --log TARGET         stderr (default), syslog, journal or a file's absolute "
	       "path\n"
	       "  --log-format FORMAT  text (default) or json: each line is an object\n"
	       "  -d                   log what clients do; twice: every operation\n"
	       "  -h, --help           this text\n"
	       "  -V, --version        the version\n");
}

static int parse_u32(
	const char *opt, const char *s, uint32_t min, uint32_t max, uint32_t *out, struct err *e)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || end == s || *end || *s == '-' || v < min || v > max)
		return err_set(
			e, ERR_USAGE, "%s %s: a number from %u to %u is wanted", opt, s, min, max);
	*out = (uint32_t)v;
	return 0;
}

static int parse_protos(char *list, enum rpc_proto *protos, unsigned *n, struct err *e)
{
	char *save, *word;

	for (word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		enum rpc_proto p;

		if (strcmp(word, "iwarp") == 0)
			p = RPC_IWARP;
		else if (strcmp(word, "rdma") == 0)
			p = RPC_RDMA;
		else if (strcmp(word, "tcp") == 0)
			p = RPC_TCP;
		else
			return err_set(
				e, ERR_USAGE, "--proto %s: iwarp, rdma or tcp is wanted", word);
		if (*n == OPTIONS_MAX_LISTEN)
			return err_set(e, ERR_USAGE, "--proto: more than %d transports",
				OPTIONS_MAX_LISTEN);
		protos[(*n)++] = p;
	}
	return 0;
}

static int parse_delegations(const char *s, enum deleg_mode *out, struct err *e)
{
	if (strcmp(s, "none") == 0)
		*out = DELEG_NONE;
	else if (strcmp(s, "read") == 0)
		*out = DELEG_READ;
	else if (strcmp(s, "write") == 0)
		*out = DELEG_WRITE;
	else
		return err_set(e, ERR_USAGE, "--delegations %s: none, read or write is wanted", s);
	return 0;
}

/* option: its name, for messages. */
static int resolve(struct listen_at *l, const char *option, const char *spec, struct err *e)
{
	struct addrinfo hints = {
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	const char *colon = strrchr(spec, ':');
	struct addrinfo *ai;
	char host[80];
	uint32_t port;
	size_t n;
	int r;

	if (!colon || colon == spec || (size_t)(colon - spec) >= sizeof(host))
		return err_set(e, ERR_USAGE, "%s %s: ADDR:PORT is wanted", option, spec);
	if (parse_u32("the port", colon + 1, 0, 65535, &port, e) < 0)
		return -1;
	n = (size_t)(colon - spec);
	snprintf(l->host, sizeof(l->host), "%.*s", (int)n, spec);
	if (spec[0] == '[' && spec[n - 1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, spec + 1);
	else if (memchr(spec, ':', n))
		return err_set(e, ERR_USAGE, "%s %s: IPv6 addresses need brackets, [::1]:PORT",
			option, spec);
	else
		snprintf(host, sizeof(host), "%.*s", (int)n, spec);
	r = getaddrinfo(host, colon + 1, &hints, &ai);
	if (r != 0)
		return err_set(e, ERR_RESOLVE, "%s %s: %s", option, spec, gai_strerror(r));
	memcpy(&l->addr, ai->ai_addr, ai->ai_addrlen);
	l->addr_len = ai->ai_addrlen;
	freeaddrinfo(ai);
	return 0;
}

/* The address for the registration with rpcbind. */
static int find_registered(struct options *o, struct err *e)
{
	if (!register_can())
		return err_set(e, ERR_USAGE, "--register: this rnfs-serve was built without it");
	for (unsigned i = 0; i < o->nlisten; i++) {
		if (o->listen[i].proto == RPC_TCP) {
			o->registered = (int)i;
			return 0;
		}
	}
	return err_set(e, ERR_USAGE,
		"--register: rpcbind is for TCP, and no address is of transport tcp; see --proto");
}

static int finish(struct options *o, const char **at, const enum rpc_proto *protos,
	unsigned nprotos, struct err *e)
{
	if (o->devices.stripe && !o->devices.n)
		return err_set(e, ERR_USAGE, "--pnfs-stripe: --pnfs names no data servers");
	if (o->devices.stats_s && !o->devices.n)
		return err_set(e, ERR_USAGE, "--pnfs-stats: --pnfs names no data servers");
	if (o->data_server && o->devices.n)
		return err_set(e, ERR_USAGE,
			"--data-server: a server with --pnfs is none; start another rnfs-serve");
	if (o->nlisten == 0)
		at[o->nlisten++] = DEFAULT_AT;
	if (nprotos > o->nlisten)
		return err_set(e, ERR_USAGE, "%u transports need %u times --listen, there %s %u",
			nprotos, nprotos, o->nlisten == 1 ? "is" : "are", o->nlisten);
	for (unsigned i = 0; i < o->nlisten; i++) {
		o->listen[i].proto =
			nprotos == 0 ? RPC_IWARP : protos[i < nprotos ? i : nprotos - 1];
		if (resolve(&o->listen[i], "--listen", at[i], e) < 0)
			return -1;
		if (o->admit.privileged && o->listen[i].proto == RPC_RDMA)
			return err_set(e, ERR_USAGE,
				"--privileged-ports: clients of transport rdma have no such ports; "
				"--clients names those to be served");
	}
	return o->registered < 0 ? 0 : find_registered(o, e);
}

/* The option without a value that opt is, or NULL. */
static bool *flag(struct options *o, int opt)
{
	switch (opt) {
	case OPT_READ_ONLY:
		return &o->read_only;
	case OPT_ASYNC:
		return &o->async;
	case OPT_CRC:
		return &o->crc;
	case OPT_NO_SQUASH:
		return &o->no_root_squash;
	case OPT_PORTS:
		return &o->admit.privileged;
	case OPT_DATA_SERVER:
		return &o->data_server;
	default:
		return NULL;
	}
}

/* 0 if there is room for one more value of the option `name`. */
static int check_room(unsigned n, unsigned max, const char *name, struct err *e)
{
	return n < max ? 0 : err_set(e, ERR_USAGE, "%s: at most %u are possible", name, max);
}

/* An option that names an address or a server, and may be repeated. */
static int take_place(struct options *o, int opt, char *arg, const char **at, struct err *e)
{
	switch (opt) {
	case OPT_LISTEN:
		if (check_room(o->nlisten, OPTIONS_MAX_LISTEN, "--listen", e))
			return -1;
		at[o->nlisten++] = arg;
		return 0;
	case OPT_REFER:
		if (check_room(o->nrefer, REFERRALS_MAX, "--refer", e))
			return -1;
		o->refer[o->nrefer++] = arg;
		return 0;
	case OPT_TAKES_OVER:
		if (check_room(o->nformer, OPTIONS_MAX_LISTEN, "--takes-over", e))
			return -1;
		return resolve(&o->former[o->nformer++], "--takes-over", arg, e);
	default: /* OPT_REPLICA, OPT_COPY */
		if (check_room(o->nreplicas, REPLICAS_MAX, "--replica and --copy", e))
			return -1;
		o->replica[o->nreplicas++] =
			(struct replica_spec){.place = arg, .copy = opt == OPT_COPY};
		return 0;
	}
}

static int take_number(struct options *o, int opt, const char *arg, struct err *e)
{
	uint32_t v = 0;

	switch (opt) {
	case OPT_READY_FD:
		if (parse_u32("--ready-fd", arg, 0, 65535, &v, e) < 0)
			return -1;
		o->ready_fd = (int)v;
		return 0;
	case OPT_LEASE:
		return parse_u32("--lease", arg, 1, 3600, &o->lease_s, e);
	case OPT_INLINE:
		return parse_u32("--inline-size", arg, 1024, 65536, &o->inline_size, e);
	case OPT_STRIPE:
		if (parse_u32("--pnfs-stripe", arg, 4096, 1u << 30, &v, e) < 0)
			return -1;
		o->devices.stripe = v;
		return 0;
	default: /* OPT_STATS */
		return parse_u32("--pnfs-stats", arg, 1, 3600, &o->devices.stats_s, e);
	}
}

static int parse_domain(struct options *o, const char *arg, struct err *e)
{
	if (!*arg || strlen(arg) > OPTIONS_DOMAIN_MAX)
		return err_set(e, ERR_USAGE,
			"--idmap_domain %s: a domain of 1 to %d bytes is wanted", arg,
			OPTIONS_DOMAIN_MAX);
	o->idmap_domain = arg;
	return 0;
}

static int take(struct options *o, int opt, char *arg, const char **at, enum rpc_proto *protos,
	unsigned *nprotos, struct err *e)
{
	switch (opt) {
	case OPT_LISTEN:
	case OPT_REFER:
	case OPT_TAKES_OVER:
	case OPT_REPLICA:
	case OPT_COPY:
		return take_place(o, opt, arg, at, e);
	case OPT_READY_FD:
	case OPT_LEASE:
	case OPT_INLINE:
	case OPT_STRIPE:
	case OPT_STATS:
		return take_number(o, opt, arg, e);
	case OPT_PROTO:
		return parse_protos(arg, protos, nprotos, e);
	case OPT_FAULT:
		o->fault = arg;
		return 0;
	case OPT_KEY:
		o->key = arg;
		return 0;
	case OPT_REGISTER:
		o->registered = 0;
		return 0;
	case OPT_VERSIONS:
		return rpc_rdma_versions_parse(arg, &o->rdma_versions)
			       ? 0
			       : err_set(e, ERR_USAGE,
					 "--rdma-versions %s: a list is wanted of 1, 1-legacy, 2, "
					 "2-rtr, 2-2016 and 2-2016-rtr, with one version 2",
					 arg);
	case OPT_USERS:
		return admit_add_users(&o->admit, arg, e);
	case OPT_CLIENTS:
		return admit_add_clients(&o->admit, arg, e);
	case OPT_DELEGATIONS:
		return parse_delegations(arg, &o->delegations, e);
	case OPT_PNFS:
		return devices_add(&o->devices, arg, e);
	case OPT_LOG:
		return log_choice_target(&o->log, arg)
			       ? 0
			       : err_set(e, ERR_USAGE,
					 "--log %.100s: " LOG_TARGET_WORDS " is wanted", arg);
	case OPT_LOG_FORMAT:
		return log_choice_form(&o->log, arg)
			       ? 0
			       : err_set(e, ERR_USAGE,
					 "--log-format %.100s: " LOG_FORM_WORDS " is wanted", arg);
	case OPT_DOMAIN:
		return parse_domain(o, arg, e);
	default:
		return err_set(e, ERR_USAGE, "unknown option, or its value is missing; see --help");
	}
}

int serve_options_parse(struct options *o, int argc, char **argv, struct err *e)
{
	const char *at[OPTIONS_MAX_LISTEN];
	enum rpc_proto protos[OPTIONS_MAX_LISTEN];
	unsigned nprotos = 0;
	int opt;

	*o = (struct options){.ready_fd = -1,
		.registered = -1,
		.lease_s = 90,
		.inline_size = 4096,
		.delegations = DELEG_WRITE};
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "dhV", longopts, NULL)) != -1) {
		if (opt == 'h')
			o->help = true;
		else if (opt == 'V')
			o->version = true;
		else if (opt == 'd')
			o->debug++;
		else if (flag(o, opt))
			*flag(o, opt) = true;
		else if (take(o, opt, optarg, at, protos, &nprotos, e) < 0)
			return -1;
	}
	if (o->help || o->version)
		return 0;
	if (optind != argc - 1)
		return err_set(e, ERR_USAGE, "%s; see --help",
			optind == argc ? "a DIRECTORY is needed"
				       : "only one DIRECTORY can be served");
	o->dir = argv[optind];
	return finish(o, at, protos, nprotos, e);
}
