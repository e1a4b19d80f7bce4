/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs. option.c has the meaning of each -o name.
 *
 * Repeated options: the last one counts, as with mount(8).
 */
#include "fs/options/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/source.h"
#include "fs/options/effect.h"
#include "transport/log.h"

/* The defaults of the kernel's client, nfs(5). */
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

/* list: the -o options, which override options in a URL. */
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
		.grace_s = 8,
		.cache_size = 256u << 20,
		.acregmin = OPTION_UNSET,
		.acregmax = OPTION_UNSET,
		.acdirmin = OPTION_UNSET,
		.acdirmax = OPTION_UNSET,
		.cache_names = true,
		.cache_absent = true,
		.delegations = NFS_DELEGATIONS_READ,
		.referrals = true,
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
					"unknown option -%c: rnfs help options lists those there "
					"are",
					optopt);
			return err_set(e, ERR_USAGE,
				"unknown option %.60s: rnfs help options lists those there are",
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
	return err_set(e, ERR_USAGE,
		"unknown option \"%.60s\": rnfs help options lists those there are", o->unknown);
}

/* minorversion= gives the second half of vers=4. */
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

/* As nfs(5): lock and nolock override local_lock. */
static void settle_locks(struct options *o)
{
	if (o->nolock || option_given(o, "lock"))
		o->local_posix = o->local_flock = o->nolock;
}

/* The shortest and the longest time, as given; a time that was not given gives way to one that
 * was. */
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
