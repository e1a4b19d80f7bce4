/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs.
 *
 * One table lists every -o name with the function that takes its value; parsing splits the list,
 * looks the name up and calls it. Repeated options: the last one counts, as with mount(8).
 */
#include "fs/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mem.h"

#define MIB	 (1024u * 1024u)
#define VERSIONS "4.2, 4.1, 4 or 3"

struct opt;
typedef int opt_fn(struct options *o, const struct opt *d, const char *value, struct err *e);

enum opt_arg { NO_ARG, NEED_ARG, MAYBE_ARG };

struct opt {
	const char *name;
	enum opt_arg arg;
	opt_fn *fn;
	size_t off;	   /* of the member, for the generic functions */
	uint64_t min, max; /* of numbers; a flag's value is min */
	uint64_t scale;	   /* member = number * scale */
	const char *want;  /* what a good value looks like */
};

int options_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t shift = 0;
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -1;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return -1;
	switch (toupper((unsigned char)*end)) {
	case 'K':
		shift = 10;
		end++;
		break;
	case 'M':
		shift = 20;
		end++;
		break;
	case 'G':
		shift = 30;
		end++;
		break;
	}
	if (*end || v > UINT64_MAX >> shift)
		return -1;
	v <<= shift;
	if (v < min || v > max)
		return -1;
	*out = v;
	return 0;
}

static int bad_value(const struct opt *d, const char *value, struct err *e)
{
	return err_set(
		e, ERR_USAGE, "option %s=%.60s is not valid: give %s", d->name, value, d->want);
}

static int set_flag(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	*(bool *)((char *)o + d->off) = d->min;
	return 0;
}

static int set_uint(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	*(unsigned *)((char *)o + d->off) = v * d->scale;
	return 0;
}

static int set_iosize(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	*(uint32_t *)((char *)o + d->off) = v & ~4095u;
	return 0;
}

static int set_port(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->port = v;
	return 0;
}

static int set_cache_size(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->cache_size = v;
	return 0;
}

static int set_mountport(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->mountport = v;
	return 0;
}

static int set_mountproto(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (strcmp(value, "udp") && strcmp(value, "tcp"))
		return bad_value(d, value, e);
	o->mount_udp = value[0] == 'u';
	return 0;
}

static int set_mounthost(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	free(o->mounthost);
	o->mounthost = strdup(value);
	return o->mounthost ? 0 : err_set(e, ERR_INTERNAL, "out of memory");
}

/* Version 3 of MOUNT is the one of NFSv3. */
static int set_mountvers(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return strcmp(value, "3") ? bad_value(d, value, e) : 0;
}

static int set_proto(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!value) /* mount.nfs: -o rdma, -o tcp */
		value = d->name;
	if (!strcmp(value, "auto"))
		o->proto = PROTO_AUTO;
	else if (!strcmp(value, "rdma"))
		o->proto = PROTO_RDMA;
	else if (!strcmp(value, "iwarp"))
		o->proto = PROTO_IWARP;
	else if (!strcmp(value, "tcp"))
		o->proto = PROTO_TCP;
	else
		return bad_value(d, value, e);
	return 0;
}

static int set_vers(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	static const struct {
		const char *name;
		unsigned major, minor;
	} known[] = {{"3", 3, 0}, {"4", 4, 0}, {"4.1", 4, 1}, {"4.2", 4, 2}};

	if (!value) /* mount.nfs: -o v3, -o v4.1 */
		value = d->name + 1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(value, known[i].name))
			continue;
		o->vers_major = known[i].major;
		o->vers_minor = known[i].minor;
		return 0;
	}
	if (!strcmp(value, "4.0") || !strcmp(value, "2"))
		return err_set(e, ERR_USAGE,
			"NFS version %s is too old to be spoken here: use vers=4.2, 4.1 or 3, or "
			"leave the option out for the newest that the server has",
			value);
	return bad_value(d, value, e);
}

static int set_minorversion(
	struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (!strcmp(value, "0"))
		return set_vers(o, d, "4.0", e);
	if (options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->minorversion = v;
	return 0;
}

static int set_sec(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!strcmp(value, "sys"))
		return 0;
	if (!strncmp(value, "krb5", 4))
		return err_set(e, ERR_USAGE,
			"option sec=%s: Kerberos is not supported yet; use sec=sys", value);
	return bad_value(d, value, e);
}

static int set_idmap(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!strcmp(value, "auto"))
		o->idmap = NFS_IDMAP_AUTO;
	else if (!strcmp(value, "numeric"))
		o->idmap = NFS_IDMAP_NUMERIC;
	else if (!strcmp(value, "name"))
		o->idmap = NFS_IDMAP_NAME;
	else
		return bad_value(d, value, e);
	return 0;
}

static int set_idmap_domain(
	struct options *o, const struct opt *d, const char *value, struct err *e)
{
	size_t n = strlen(value);

	if (n == 0 || n > 200 || strpbrk(value, "@ \t"))
		return bad_value(d, value, e);
	free(o->idmap_domain);
	o->idmap_domain = strdup(value);
	return o->idmap_domain ? 0 : err_set(e, ERR_INTERNAL, "out of memory");
}

static int set_nconnect(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (options_size(value, 1, 16, &v))
		return bad_value(d, value, e);
	if (v != 1)
		return err_set(e, ERR_USAGE,
			"option nconnect=%s: several connections are not supported yet; use "
			"nconnect=1",
			value);
	return 0;
}

static int set_rdma_version(
	struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!strcmp(value, "auto") || !strcmp(value, "1"))
		return 0;
	if (!strcmp(value, "2") || !strcmp(value, "2-2016") || !strcmp(value, "1-legacy"))
		return err_set(e, ERR_USAGE,
			"option rdma_version=%s: not supported yet; use rdma_version=1", value);
	return bad_value(d, value, e);
}

static int set_timeouts(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v = 0;

	if (value && options_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->acregmin = o->acregmax = o->acdirmin = o->acdirmax = v;
	return 0;
}

/* "pos" is what "all" does: that there is no such name is never cached. */
static int set_lookupcache(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!strcmp(value, "all") || !strcmp(value, "pos") || !strcmp(value, "positive"))
		o->cache_names = true;
	else if (!strcmp(value, "none"))
		o->cache_names = false;
	else
		return bad_value(d, value, e);
	return 0;
}

static int set_local_lock(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!value)
		value = strcmp(d->name, "nolock") ? "none" : "all";
	if (strcmp(value, "all") && strcmp(value, "flock") && strcmp(value, "posix") &&
		strcmp(value, "none"))
		return bad_value(d, value, e);
	o->local_flock = value[0] == 'a' || value[0] == 'f';
	o->local_posix = value[0] == 'a' || value[0] == 'p';
	return 0;
}

static int set_debug(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	o->debug = true;
	if (!value)
		return 0;
	if (!strcmp(value, "data"))
		o->debug_data = true;
	else if (!strcmp(value, "fuse"))
		o->debug_fuse = true;
	else if (strcmp(value, "ctrl"))
		return bad_value(d, value, e);
	return 0;
}

static int append(char **list, const char *name, const char *value, struct err *e)
{
	size_t have = *list ? strlen(*list) : 0;
	size_t more = strlen(name) + (value ? strlen(value) + 1 : 0) + 2;
	char *s = realloc(*list, have + more);

	if (!s)
		return err_set(e, ERR_INTERNAL, "out of memory");
	*list = s;
	snprintf(s + have, more, "%s%s%s%s", have ? "," : "", name, value ? "=" : "",
		value ? value : "");
	return 0;
}

/* For libfuse or mount(2) as it stands. */
static int pass(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return append(&o->fuse_opts, d->name, value, e);
}

static int pass_ro(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	o->read_only = d->min;
	return pass(o, d, NULL, e);
}

static int ignore(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return 0;
}

#define AT(member) offsetof(struct options, member)
#define FLAG(n, m, v)                                                                              \
	{                                                                                          \
		.name = n, .fn = set_flag, .off = AT(m), .min = v                                  \
	}
#define PASS(n)                                                                                    \
	{                                                                                          \
		.name = n, .fn = pass                                                              \
	}
#define PASS_VALUE(n)                                                                              \
	{                                                                                          \
		.name = n, .arg = NEED_ARG, .fn = pass                                             \
	}
#define IGNORE(n)                                                                                  \
	{                                                                                          \
		.name = n, .arg = MAYBE_ARG, .fn = ignore                                          \
	}
#define UINT(n, m, lo, hi, sc, w)                                                                  \
	{                                                                                          \
		.name = n, .arg = NEED_ARG, .fn = set_uint, .off = AT(m), .min = lo, .max = hi,    \
		.scale = sc, .want = w                                                             \
	}

/* clang-format off */
static const struct opt opts[] = {
	{.name = "proto", .arg = NEED_ARG, .fn = set_proto, .want = "auto, rdma, iwarp or tcp"},
	{.name = "rdma", .arg = NO_ARG, .fn = set_proto},
	{.name = "iwarp", .arg = NO_ARG, .fn = set_proto},
	{.name = "tcp", .arg = NO_ARG, .fn = set_proto},
	{.name = "port", .arg = NEED_ARG, .fn = set_port, .min = 1, .max = 65535, .want = "a port number from 1 to 65535"},
	{.name = "vers", .arg = NEED_ARG, .fn = set_vers, .want = VERSIONS},
	{.name = "nfsvers", .arg = NEED_ARG, .fn = set_vers, .want = VERSIONS},
	{.name = "minorversion", .arg = NEED_ARG, .fn = set_minorversion, .min = 1, .max = 2, .want = "1 or 2"},
	{.name = "v3", .arg = NO_ARG, .fn = set_vers},
	{.name = "v4", .arg = NO_ARG, .fn = set_vers},
	{.name = "v4.0", .arg = NO_ARG, .fn = set_vers},
	{.name = "v4.1", .arg = NO_ARG, .fn = set_vers},
	{.name = "v4.2", .arg = NO_ARG, .fn = set_vers},
	{.name = "mountport", .arg = NEED_ARG, .fn = set_mountport, .min = 1, .max = 65535, .want = "a port number from 1 to 65535"},
	{.name = "mountproto", .arg = NEED_ARG, .fn = set_mountproto, .want = "tcp or udp"},
	{.name = "mounthost", .arg = NEED_ARG, .fn = set_mounthost},
	{.name = "mountaddr", .arg = NEED_ARG, .fn = set_mounthost},
	{.name = "mountvers", .arg = NEED_ARG, .fn = set_mountvers, .want = "3"},
	FLAG("read_plus", read_plus, true),
	{.name = "rsize", .arg = NEED_ARG, .fn = set_iosize, .off = AT(rsize), .min = 4096, .max = MIB,
		.want = "4096 to 1048576 bytes, such as 1M"},
	{.name = "wsize", .arg = NEED_ARG, .fn = set_iosize, .off = AT(wsize), .min = 4096, .max = MIB,
		.want = "4096 to 1048576 bytes, such as 1M"},
	{.name = "sec", .arg = NEED_ARG, .fn = set_sec, .want = "sys"},
	FLAG("hard", soft, false),
	FLAG("soft", soft, true),
	UINT("timeo", timeo_ms, 1, 36000, 100, "tenths of a second from 1 to 36000, such as 600"),
	UINT("retrans", retrans, 0, 100, 1, "a count from 0 to 100"),
	UINT("connect_timeout", connect_ms, 1, 3600, 1000, "seconds from 1 to 3600"),
	{.name = "idmap", .arg = NEED_ARG, .fn = set_idmap, .want = "auto, numeric or name"},
	{.name = "idmap_domain", .arg = NEED_ARG, .fn = set_idmap_domain, .want = "a domain such as example.net"},
	{.name = "nconnect", .arg = NEED_ARG, .fn = set_nconnect, .want = "1"},
	{.name = "cache_size", .arg = NEED_ARG, .fn = set_cache_size, .min = 16 * MIB, .max = 1ull << 40,
		.want = "16M or more, such as 256M or 2G"},
	UINT("credits", credits, 2, 4096, 1, "a count from 2 to 4096"),
	UINT("inline_size", inline_size, 1024, 65536, 1, "1024 to 65536 bytes, such as 4K"),
	FLAG("mpa_crc", mpa_crc, true),
	FLAG("nompa_crc", mpa_crc, false),
	{.name = "rdma_version", .arg = NEED_ARG, .fn = set_rdma_version, .want = "auto or 1"},
	{.name = "actimeo", .arg = NEED_ARG, .fn = set_timeouts, .max = 86400, .want = "seconds from 0 to 86400"},
	{.name = "noac", .arg = NO_ARG, .fn = set_timeouts},
	UINT("acregmin", acregmin, 0, 86400, 1, "seconds from 0 to 86400"),
	UINT("acregmax", acregmax, 0, 86400, 1, "seconds from 0 to 86400"),
	UINT("acdirmin", acdirmin, 0, 86400, 1, "seconds from 0 to 86400"),
	UINT("acdirmax", acdirmax, 0, 86400, 1, "seconds from 0 to 86400"),
	{.name = "lookupcache", .arg = NEED_ARG, .fn = set_lookupcache, .want = "all, pos or none"},
	UINT("workers", workers, 1, 64, 1, "a count from 1 to 64"),
	UINT("readahead", readahead_kb, 0, 1024 * 1024, 1, "kilobytes, 0 to leave the kernel's choice"),
	{.name = "debug", .arg = MAYBE_ARG, .fn = set_debug, .want = "ctrl, data or fuse"},
	{.name = "nolock", .arg = NO_ARG, .fn = set_local_lock},
	{.name = "lock", .arg = NO_ARG, .fn = set_local_lock},
	{.name = "local_lock", .arg = NEED_ARG, .fn = set_local_lock, .want = "all, flock, posix or none"},

	FLAG("default_permissions", default_permissions, true),
	FLAG("allow_other", allow_other, true),
	FLAG("allow_root", allow_root, true),
	PASS("auto_unmount"),
	PASS_VALUE("fsname"),
	{.name = "ro", .arg = NO_ARG, .fn = pass_ro, .min = true},
	{.name = "rw", .arg = NO_ARG, .fn = pass_ro, .min = false},
	PASS("suid"), PASS("nosuid"), PASS("dev"), PASS("nodev"), PASS("exec"), PASS("noexec"),
	PASS("async"), PASS("sync"), PASS("dirsync"), PASS("atime"), PASS("noatime"),
	PASS_VALUE("context"), PASS_VALUE("fscontext"), PASS_VALUE("defcontext"),
	PASS_VALUE("rootcontext"),
	IGNORE("defaults"), IGNORE("auto"), IGNORE("noauto"), IGNORE("user"), IGNORE("nouser"),
	IGNORE("users"), IGNORE("owner"), IGNORE("group"), IGNORE("_netdev"), IGNORE("nofail"),
	IGNORE("relatime"), IGNORE("norelatime"), IGNORE("strictatime"), IGNORE("nostrictatime"),
	IGNORE("lazytime"), IGNORE("nolazytime"), IGNORE("diratime"), IGNORE("nodiratime"),
	IGNORE("comment"),
};
/* clang-format on */

static int one_option(struct options *o, char *item, struct err *e)
{
	char *value = strchr(item, '=');

	if (value)
		*value++ = 0;
	if (!strncmp(item, "x-", 2) || !strncmp(item, "X-", 2))
		return 0; /* mount(8): for others to read */
	for (size_t i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		const struct opt *d = &opts[i];

		if (strcmp(d->name, item))
			continue;
		if (value && d->arg == NO_ARG)
			return err_set(e, ERR_USAGE,
				"option %s takes no value: leave out \"=%.60s\"", item, value);
		if (!value && d->arg == NEED_ARG)
			return err_set(e, ERR_USAGE, "option %s needs a value: give %s=%s", item,
				item, d->want ? d->want : "...");
		return d->fn(o, d, value, e);
	}
	return err_set(
		e, ERR_USAGE, "unknown option \"%.60s\": rnfs -h lists those there are", item);
}

static int option_list(struct options *o, const char *list, struct err *e)
{
	char *copy = strdup(list), *rest = copy, *item;
	int res = 0;

	if (!copy)
		return err_set(e, ERR_INTERNAL, "out of memory");
	while (!res && (item = strsep(&rest, ",")))
		if (*item)
			res = one_option(o, item, e);
	free(copy);
	return res;
}

/* SERVER:/EXPORT, an IPv6 address in brackets. */
static int split_source(struct options *o, const char *s, struct err *e)
{
	const char *colon, *host = s;
	size_t len;

	if (s[0] == '[') {
		const char *close = strchr(s, ']');

		if (!close || close[1] != ':')
			return err_set(e, ERR_USAGE,
				"\"%.100s\" has no \"]:\" after the IPv6 address: write "
				"[ADDRESS]:/EXPORT",
				s);
		host = s + 1;
		len = close - host;
		colon = close + 1;
	} else {
		colon = strstr(s, ":/");
		if (!colon)
			return err_set(e, ERR_USAGE,
				"\"%.100s\" is not SERVER:/EXPORT: the export is an absolute path "
				"after a colon",
				s);
		len = colon - s;
		if (memchr(s, ':', len))
			return err_set(e, ERR_USAGE,
				"\"%.100s\" looks like an IPv6 address: write it in brackets, "
				"[%.*s]:%.60s",
				s, (int)(len < 60 ? len : 60), s, colon + 1);
	}
	if (!len)
		return err_set(e, ERR_USAGE, "\"%.100s\" names no server: write SERVER:/EXPORT", s);
	if (colon[1] != '/')
		return err_set(e, ERR_USAGE,
			"\"%.100s\": the export must be an absolute path, beginning with \"/\"", s);
	o->source = strdup(s);
	o->host = strndup(host, len);
	o->export = strdup(colon + 1);
	if (!o->source || !o->host || !o->export)
		return err_set(e, ERR_INTERNAL, "out of memory");
	return 0;
}

static void set_defaults(struct options *o)
{
	*o = (struct options){
		.timeo_ms = 60000,
		.retrans = 3,
		.connect_ms = 10000,
		.cache_size = 256u * MIB,
		.acregmin = 1,
		.acregmax = 1,
		.acdirmin = 1,
		.acdirmax = 1,
		.cache_names = true,
		.workers = 2,
		.readahead_kb = 4096,
	};
}

static int parse_args(struct options *o, int argc, char *const argv[], struct err *e)
{
	static const struct option longs[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{"foreground", no_argument, NULL, 'f'},
		{"debug", no_argument, NULL, 'd'},
		{0},
	};
	int c;

	optind = 0; /* start over: tests parse many command lines */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":hVfdo:nrwv", longs, NULL)) != -1) {
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
			if (option_list(o, optarg, e))
				return -1;
			break;
		case 'r':
		case 'w': /* mount(8) passes these to helpers */
			if (option_list(o, c == 'r' ? "ro" : "rw", e))
				return -1;
			break;
		case 'n':
		case 'v':
			break;
		case ':':
			return err_set(e, ERR_USAGE, "option -%c needs a value: rnfs -h shows how",
				optopt);
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
	if (argc - optind != 2)
		return err_set(e, ERR_USAGE,
			"%s: the command line is rnfs [options] SERVER:/EXPORT MOUNTPOINT",
			argc - optind > 2 ? "too many arguments"
			: argc - optind	  ? "no mount point is given"
					  : "no export and no mount point are given");
	if (split_source(o, argv[optind], e))
		return -1;
	o->mountpoint = strdup(argv[optind + 1]);
	if (!o->mountpoint)
		return err_set(e, ERR_INTERNAL, "out of memory");
	return 0;
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

static void settle_timeouts(struct options *o)
{
	if (o->acregmax < o->acregmin)
		o->acregmax = o->acregmin;
	if (o->acdirmax < o->acdirmin)
		o->acdirmax = o->acdirmin;
	o->attr_timeout = o->acregmin < o->acdirmin ? o->acregmin : o->acdirmin;
	o->entry_timeout = o->cache_names ? o->acdirmin : 0;
}

int options_parse(struct options *o, int argc, char *const argv[], struct err *e)
{
	set_defaults(o);
	if (parse_args(o, argc, argv, e) || settle_version(o, e))
		return -1;
	settle_timeouts(o);
	if (o->allow_root && append(&o->fuse_opts, "allow_root", NULL, e))
		return -1;
	if (o->allow_other && append(&o->fuse_opts, "allow_other", NULL, e))
		return -1;
	if (o->default_permissions && append(&o->fuse_opts, "default_permissions", NULL, e))
		return -1;
	if (!o->fuse_opts && !(o->fuse_opts = strdup("")))
		return err_set(e, ERR_INTERNAL, "out of memory");
	return 0;
}

void options_finish(struct options *o)
{
	free(o->source);
	free(o->host);
	free(o->export);
	free(o->mountpoint);
	free(o->mounthost);
	free(o->fuse_opts);
	free(o->idmap_domain);
	memset(o, 0, sizeof(*o));
}

void options_help(FILE *out)
{
	fputs("usage: rnfs [options] SERVER:/EXPORT MOUNTPOINT\n"
	      "\n"
	      "Mounts an NFS export over RDMA, software iWARP or TCP. Unmount: fusermount3 -u "
	      "MOUNTPOINT\n"
	      "\n"
	      "  -f                      stay in the foreground, log to standard error\n"
	      "  -d                      the same, with debugging messages\n"
	      "  -o OPTION[,OPTION...]   see below\n"
	      "  -h, -V                  this help; the version\n"
	      "\n"
	      "Connection\n"
	      "  proto=auto|rdma|iwarp|tcp  default auto: the first of rdma, iwarp, tcp that "
	      "works\n"
	      "  port=N                  default 20049 (rdma, iwarp), 2049 (tcp)\n"
	      "  vers=4.2|4.1|4|3        NFS version, default the newest that the server has\n"
	      "  mountport=N, mountproto=tcp|udp, mounthost=HOST  where NFSv3 asks for the export\n"
	      "  read_plus               NFSv4.2: holes of files are not transferred\n"
	      "  sec=sys                 security flavour\n"
	      "  idmap=auto|numeric|name owners as names are understood, and sent if need be "
	      "(auto) or always\n"
	      "  idmap_domain=DOMAIN     of such names, default as /etc/idmapd.conf says\n"
	      "  rsize=N, wsize=N        bytes per READ and WRITE, at most 1M, default as the "
	      "server likes\n"
	      "  hard | soft             wait for a silent server for ever (default) | give up\n"
	      "  timeo=N                 tenths of a second before a call counts as lost, default "
	      "600\n"
	      "  retrans=N               soft: time-outs before an error, default 3\n"
	      "  connect_timeout=N       seconds for connecting, default 10\n"
	      "  nconnect=1              connections\n"
	      "  credits=N, inline_size=N, rdma_version=auto|1, mpa_crc   RPC-over-RDMA details\n"
	      "Caching\n"
	      "  cache_size=N            memory for data under way, default 256M\n"
	      "  actimeo=N, noac         seconds that names and attributes may be believed, "
	      "default 1; 0\n"
	      "  acregmin=N, acregmax=N, acdirmin=N, acdirmax=N   the same for files and "
	      "directories;\n"
	      "                          from min to max the longer they stay unchanged\n"
	      "  lookupcache=all|none    whether names may be believed at all\n"
	      "  readahead=N             kilobytes the kernel reads ahead (set when root), default "
	      "4096\n"
	      "Locks\n"
	      "  local_lock=all|flock|posix|none  kinds of locks that others do not see, default "
	      "none\n"
	      "  nolock                  the same as local_lock=all\n"
	      "File system\n"
	      "  ro, rw                  read-only, read-write\n"
	      "  allow_other             let other users in\n"
	      "  default_permissions     the kernel checks mode bits as well as the server\n"
	      "  allow_root, auto_unmount, fsname=NAME, workers=N, debug=ctrl|data|fuse\n"
	      "  and the options of mount(8): nosuid, nodev, noexec, noatime, _netdev, noauto, "
	      "user, ...\n",
		out);
}
