/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs.
 *
 * What each -o name means is in option.c. Repeated options: the last one counts, as with mount(8).
 */
#include "fs/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/source.h"
#include "fs/effect.h"
#include "transport/log.h"

/* As the kernel's client has them, nfs(5). */
#define RETRY_BG_MIN 10000u
#define ACREGMIN_S   3u
#define ACREGMAX_S   60u
#define ACDIRMIN_S   30u
#define ACDIRMAX_S   60u

static int option_list(struct options *o, const char *list, struct err *e)
{
	char *copy = strdup(list), *rest = copy, *item;
	int res = 0;

	if (!copy)
		return err_set(e, ERR_INTERNAL, "out of memory");
	while (!res && (item = strsep(&rest, ",")))
		if (*item)
			res = option_set(o, item, e);
	free(copy);
	return res;
}

/* A link of nfs+rdma:// leaves the choice between the transports for RDMA. */
static int take_scheme(struct options *o, const struct source *s, struct err *e)
{
	if (!s->rdma || o->proto == PROTO_RDMA || o->proto == PROTO_IWARP)
		return 0;
	if (o->proto == PROTO_TCP)
		return err_set(e, ERR_USAGE,
			"nfs+rdma:// and proto=tcp contradict each other: write nfs://, or leave "
			"the option out");
	o->proto = PROTO_AUTO_RDMA;
	return 0;
}

/* list: the -o options, which count for more than what a URL says. */
static int take_source(struct options *o, const char *text, const char *list, struct err *e)
{
	struct source s;
	int res = source_parse(&s, text, SOURCE_EXPORT, e);

	if (!res && s.ignored)
		res = option_unused(o, s.ignored, e);
	if (!res && s.options)
		res = option_list(o, s.options, e);
	if (!res)
		res = option_list(o, list, e);
	if (!res)
		res = take_scheme(o, &s, e);
	o->source = strdup(text);
	o->host = s.host;
	o->export = s.export;
	s.host = s.export = NULL;
	source_finish(&s);
	return res || o->source ? res : err_set(e, ERR_INTERNAL, "out of memory");
}

static void set_defaults(struct options *o)
{
	*o = (struct options){
		.timeo_ms = 60000,
		.retrans = 3,
		.connect_ms = 10000,
		.retry_min = OPTION_UNSET,
		.cache_size = 256u << 20,
		.acregmin = OPTION_UNSET,
		.acregmax = OPTION_UNSET,
		.acdirmin = OPTION_UNSET,
		.acdirmax = OPTION_UNSET,
		.cache_names = true,
		.cache_absent = true,
		.delegations = NFS_DELEGATIONS_READ,
		.workers = 2,
		.readahead_kb = 16384,
		.gather = true,
	};
}

/* The list of all -o options goes to *list, in the order of the command line. */
static int parse_flags(struct options *o, int argc, char *const argv[], FILE *list, struct err *e)
{
	static const struct option longs[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{"foreground", no_argument, NULL, 'f'},
		{"debug", no_argument, NULL, 'd'},
		{"metrics-file", required_argument, NULL, 'm'},
		{0},
	};
	int c;

	optind = 0; /* start over: tests parse many command lines */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":hVfdo:nrswv", longs, NULL)) != -1) {
		switch (c) {
		case 'h':
			o->action = OPTIONS_HELP;
			return 0;
		case 'V':
			o->action = OPTIONS_VERSION;
			return 0;
		case 'd':
			o->debug = true;
			/* fallthrough */
		case 'f':
			o->foreground = true;
			break;
		case 'o':
			fprintf(list, "%s,", optarg);
			break;
		case 'r':
		case 'w': /* mount(8) passes these to helpers */
			fputs(c == 'r' ? "ro," : "rw,", list);
			break;
		case 's':
			o->sloppy = true;
			break;
		case 'm':
			fprintf(list, "metrics_file=%s,", optarg);
			break;
		case 'n':
		case 'v':
			break;
		case ':':
			return err_set(e, ERR_USAGE,
				"option %.60s needs a value: rnfs -h shows how", argv[optind - 1]);
		default:
			if (optopt)
				return err_set(e, ERR_USAGE,
					"unknown option -%c: rnfs -h lists those there are",
					optopt);
			return err_set(e, ERR_USAGE,
				"unknown option %.60s: rnfs -h lists those there are",
				argv[optind - 1]);
		}
	}
	return 0;
}

static int parse_args(struct options *o, int argc, char *const argv[], struct err *e)
{
	char *list = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&list, &size);
	int res = -1;

	if (f)
		res = parse_flags(o, argc, argv, f, e);
	if (!f || fclose(f))
		res = err_set(e, ERR_INTERNAL, "out of memory");
	if (!res && o->action == OPTIONS_MOUNT && argc - optind != 2)
		res = err_set(e, ERR_USAGE,
			"%s: the command line is rnfs [options] SERVER:/EXPORT MOUNTPOINT",
			argc - optind > 2 ? "too many arguments"
			: argc - optind	  ? "no mount point is given"
					  : "no export and no mount point are given");
	if (!res && o->action == OPTIONS_MOUNT) {
		res = take_source(o, argv[optind], list, e);
		o->mountpoint = strdup(argv[optind + 1]);
		if (!o->mountpoint)
			res = err_set(e, ERR_INTERNAL, "out of memory");
	}
	free(list);
	return res;
}

static int settle_unknown(struct options *o, struct err *e)
{
	const char *near;

	if (!o->unknown)
		return 0;
	if (o->sloppy)
		return option_note(o, e, "unknown options are ignored: %.200s", o->unknown);
	o->unknown[strcspn(o->unknown, ",")] = 0;
	near = option_nearest(o->unknown);
	if (near)
		return err_set(e, ERR_USAGE, "unknown option \"%.60s\": did you mean %s?",
			o->unknown, near);
	return err_set(e, ERR_USAGE, "unknown option \"%.60s\": rnfs -h lists those there are",
		o->unknown);
}

/* minorversion= says the second half of vers=4. */
static int settle_version(struct options *o, struct err *e)
{
	if (!o->minorversion)
		return 0;
	if (o->vers_major == 3 || (o->vers_minor && o->vers_minor != o->minorversion))
		return err_set(e, ERR_USAGE,
			"option minorversion=%u contradicts the option vers: leave one of them out",
			o->minorversion);
	o->vers_major = 4;
	o->vers_minor = o->minorversion;
	return 0;
}

/* As nfs(5): local_lock counts for less. */
static void settle_locks(struct options *o)
{
	if (o->nolock || option_given(o, "lock"))
		o->local_posix = o->local_flock = o->nolock;
}

/* The shortest and the longest time, as given; what was not gives way to what was. */
static void settle_times(unsigned *min, unsigned *max, unsigned usual_min, unsigned usual_max)
{
	if (*min == OPTION_UNSET)
		*min = *max < usual_min ? *max : usual_min;
	if (*max == OPTION_UNSET)
		*max = usual_max;
	if (*max < *min)
		*max = *min;
}

static void settle_timeouts(struct options *o)
{
	if (o->noac) {
		o->acregmin = o->acregmax = o->acdirmin = o->acdirmax = 0;
		o->gather = false;
	}
	settle_times(&o->acregmin, &o->acregmax, ACREGMIN_S, ACREGMAX_S);
	settle_times(&o->acdirmin, &o->acdirmax, ACDIRMIN_S, ACDIRMAX_S);
}

int options_parse(struct options *o, int argc, char *const argv[], struct err *e)
{
	set_defaults(o);
	if (parse_args(o, argc, argv, e))
		return -1;
	if (o->action != OPTIONS_MOUNT)
		return 0;
	if (settle_unknown(o, e) || settle_version(o, e) || effect_check(o, e))
		return -1;
	settle_locks(o);
	if (o->retry_min == OPTION_UNSET)
		o->retry_min = o->bg ? RETRY_BG_MIN : 0;
	settle_timeouts(o);
	if (o->allow_root && option_pass(o, "allow_root", NULL, e))
		return -1;
	if (o->allow_other && option_pass(o, "allow_other", NULL, e))
		return -1;
	if (o->default_permissions && option_pass(o, "default_permissions", NULL, e))
		return -1;
	if (!o->fuse_opts && !(o->fuse_opts = strdup("")))
		return err_set(e, ERR_INTERNAL, "out of memory");
	return 0;
}

void options_tell(const struct options *o)
{
	for (const char *line = o->notes; line && *line;) {
		size_t len = strcspn(line, "\n");

		log_always_warn("%.*s", (int)len, line);
		line += len + (line[len] != 0);
	}
	if (o->unused)
		log_always_warn("ignored, rnfs has no use for: %s", o->unused);
}

void options_finish(struct options *o)
{
	free(o->source);
	free(o->host);
	free(o->export);
	free(o->mountpoint);
	free(o->mounthost);
	free(o->metrics_file);
	free(o->fuse_opts);
	free(o->idmap_domain);
	free(o->unknown);
	free(o->unused);
	free(o->notes);
	memset(o, 0, sizeof(*o));
}

void options_help(FILE *out)
{
	fputs("usage: rnfs [options] SERVER:/EXPORT MOUNTPOINT\n"
	      "       rnfs [options] nfs://SERVER[:PORT]/EXPORT MOUNTPOINT   or nfs+rdma://...\n"
	      "\n"
	      "Mounts an NFS export over RDMA, software iWARP or TCP. Unmount: umount "
	      "MOUNTPOINT\n"
	      "\n"
	      "  -f                      stay in the foreground, log to standard error\n"
	      "  -d                      the same, with debugging messages\n"
	      "  --fd-from SOCKET        serve what rnfs-mountfd(8) gives there: no SERVER, no "
	      "MOUNTPOINT\n"
	      "  -o OPTION[,OPTION...]   see below\n"
	      "  -s                      ignore unknown options, with a line for each\n"
	      "  -h, -V                  this help; the version\n"
	      "\n"
	      "Connection\n"
	      "  proto=auto|rdma|iwarp|tcp  default auto: the first of rdma, iwarp, tcp that "
	      "works;\n"
	      "              rdma6|tcp6  by IPv6 only\n"
	      "  port=N                  default 20049 (rdma, iwarp), 2049 (tcp)\n"
	      "  vers=4.2|4.1|4|3        NFS version, default the newest that the server has\n"
	      "  mountport=N, mountproto=tcp|udp, mounthost=HOST  where NFSv3 asks for the export\n"
	      "  read_plus               NFSv4.2: holes of files are not transferred\n"
	      "  sec=sys, xprtsec=none   security flavour, encryption\n"
	      "  idmap=auto|numeric|name owners as names are understood, and sent if need be "
	      "(auto) or always\n"
	      "  idmap_domain=DOMAIN     of such names, default as /etc/idmapd.conf says\n"
	      "  rsize=N, wsize=N        bytes per READ and WRITE, at most 1M, default as the "
	      "server likes\n"
	      "  hard | soft, softerr    wait for a silent server for ever (default) | give up\n"
	      "  timeo=N                 tenths of a second before a call counts as lost, default "
	      "600\n"
	      "  retrans=N               soft: time-outs before an error, default 3\n"
	      "  patience=N              seconds that a program waits while the server is silent\n"
	      "  notify                  tell the desktop of a server that is silent, and is "
	      "back\n"
	      "  desktop                 timeo=50,patience=1,notify\n"
	      "  connect_timeout=N       seconds for connecting, default 10\n"
	      "  retry=N                 minutes to wait for a server that is away, default 0\n"
	      "  bg, fg                  do that in the background, for 10000 minutes; or not\n"
	      "  delay_connect           mount at once, programs wait until the server answers\n"
	      "  nconnect=N              one connection is used\n"
	      "  credits=N, inline_size=N, mpa_crc, "
	      "rdma_version=auto|1|1-legacy|2|2-2016|2-rtr|2-2016-rtr\n"
	      "                          RPC-over-RDMA details\n"
	      "Caching\n"
	      "  cache_size=N            memory for data, default 256M\n"
	      "  actimeo=N, noac         seconds that names and attributes may be believed; 0\n"
	      "  acregmin=N, acregmax=N, acdirmin=N, acdirmax=N   the same for files and "
	      "directories,\n"
	      "                          from min to max the longer they stay unchanged; default "
	      "3, 60, 30, 60\n"
	      "  lookupcache=all|positive|none   believe what names stand for, and that there is "
	      "none;\n"
	      "              complete    or of known directories that there is no other name\n"
	      "  delegations=read|write|none   NFSv4: ask to be told before others change a file "
	      "that is\n"
	      "                          read, or also one that is written; default read\n"
	      "  readahead=N             kilobytes to read ahead of a reader at most, default "
	      "16384\n"
	      "  nowriteback             each write waits for the server's answer; also "
	      "write=lazy|eager|wait\n"
	      "Locks\n"
	      "  local_lock=all|flock|posix|none  kinds of locks that others do not see, default "
	      "none\n"
	      "  nolock                  the same as local_lock=all\n"
	      "Log\n"
	      "  log=stderr|syslog|journal|FILE   default standard error with -f, else syslog, or "
	      "what there is\n"
	      "  log_format=text|json    json: each line is an object\n"
	      "  metrics_file=FILE       counters for Prometheus's node_exporter, also "
	      "--metrics-file FILE\n"
	      "File system\n"
	      "  ro, rw                  read-only, read-write\n"
	      "  allow_other             let other users in\n"
	      "  default_permissions     the kernel checks mode bits as well as the server\n"
	      "  allow_root, auto_unmount, fsname=NAME, workers=N, debug=ctrl|data|fuse\n"
	      "  sloppy                  unknown options are ignored\n"
	      "  and the options of mount(8): nosuid, nodev, noexec, noatime, _netdev, noauto, "
	      "user, ...\n",
		out);
}
