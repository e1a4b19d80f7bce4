/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * option: what can be asked for when mounting. One table lists every -o name with the function that
 * takes its value.
 */
#include "fs/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB		   (1024u * 1024u)
#define DESKTOP_TIMEO_MS   5000
#define DESKTOP_PATIENCE_S 1
#define VERSIONS	   "4.2, 4.1, 4 or 3"

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

int option_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
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

	if (option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	*(unsigned *)((char *)o + d->off) = v * d->scale;
	return 0;
}

static int set_iosize(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	*(uint32_t *)((char *)o + d->off) = v & ~4095u;
	return 0;
}

static int set_port(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->port = v;
	return 0;
}

static int set_cache_size(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->cache_size = v;
	return 0;
}

static int set_mountport(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, d->min, d->max, &v))
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
	if (option_size(value, d->min, d->max, &v))
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

static int set_delegations(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!strcmp(value, "none"))
		o->delegations = NFS_DELEGATIONS_NONE;
	else if (!strcmp(value, "read"))
		o->delegations = NFS_DELEGATIONS_READ;
	else if (!strcmp(value, "write"))
		o->delegations = NFS_DELEGATIONS_WRITE;
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

	if (option_size(value, 1, 16, &v))
		return bad_value(d, value, e);
	if (v != 1)
		return err_set(e, ERR_USAGE,
			"option nconnect=%s: several connections are not supported yet; use "
			"nconnect=1",
			value);
	return 0;
}

/* What someone at a desktop wants: no program waits for a server that is away, and nothing is lost.
 */
static int set_desktop(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	o->timeo_ms = DESKTOP_TIMEO_MS;
	o->patience_s = DESKTOP_PATIENCE_S;
	o->notify = true;
	return 0;
}

static int set_rdma_version(
	struct options *o, const struct opt *d, const char *value, struct err *e)
{
	o->rdma_versions = 0;
	if (!strcmp(value, "auto") || rpc_rdma_versions_parse(value, &o->rdma_versions))
		return 0;
	return bad_value(d, value, e);
}

static int set_timeouts(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v = 0;

	if (value && option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->acregmin = o->acregmax = o->acdirmin = o->acdirmax = v;
	if (!value) /* noac */
		o->gather = false;
	return 0;
}

static int set_lookupcache(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	bool complete = !strcmp(value, "complete"), all = complete || !strcmp(value, "all");

	if (!all && strcmp(value, "pos") && strcmp(value, "positive") && strcmp(value, "none"))
		return bad_value(d, value, e);
	o->cache_names = value[0] != 'n';
	o->cache_absent = all;
	o->cache_complete = complete;
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

static int set_log(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return log_choice_target(&o->log, value) ? 0 : bad_value(d, value, e);
}

static int set_log_format(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return log_choice_form(&o->log, value) ? 0 : bad_value(d, value, e);
}

int option_pass(struct options *o, const char *name, const char *value, struct err *e)
{
	size_t have = o->fuse_opts ? strlen(o->fuse_opts) : 0;
	size_t more = strlen(name) + (value ? strlen(value) + 1 : 0) + 2;
	char *s = realloc(o->fuse_opts, have + more);

	if (!s)
		return err_set(e, ERR_INTERNAL, "out of memory");
	o->fuse_opts = s;
	snprintf(s + have, more, "%s%s%s%s", have ? "," : "", name, value ? "=" : "",
		value ? value : "");
	return 0;
}

/* For libfuse or mount(2) as it stands. */
static int pass(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return option_pass(o, d->name, value, e);
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

static int refuse_remount(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return err_set(e, ERR_USAGE,
		"option remount cannot be used: unmount and mount anew, or, as root, use mount -i "
		"-o remount,... for what the kernel keeps (ro, rw, noexec, nosuid, nodev)");
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
	UINT("patience", patience_s, 1, 3600, 1, "seconds from 1 to 3600"),
	FLAG("notify", notify, true),
	{.name = "desktop", .arg = NO_ARG, .fn = set_desktop},
	UINT("connect_timeout", connect_ms, 1, 3600, 1000, "seconds from 1 to 3600"),
	{.name = "idmap", .arg = NEED_ARG, .fn = set_idmap, .want = "auto, numeric or name"},
	{.name = "idmap_domain", .arg = NEED_ARG, .fn = set_idmap_domain, .want = "a domain such as example.net"},
	{.name = "delegations", .arg = NEED_ARG, .fn = set_delegations, .want = "read, write or none"},
	{.name = "nconnect", .arg = NEED_ARG, .fn = set_nconnect, .want = "1"},
	{.name = "cache_size", .arg = NEED_ARG, .fn = set_cache_size, .min = 16 * MIB, .max = 1ull << 40,
		.want = "16M or more, such as 256M or 2G"},
	UINT("credits", credits, 2, 4096, 1, "a count from 2 to 4096"),
	UINT("inline_size", inline_size, 1024, 65536, 1, "1024 to 65536 bytes, such as 4K"),
	FLAG("mpa_crc", mpa_crc, true),
	FLAG("nompa_crc", mpa_crc, false),
	{.name = "rdma_version", .arg = NEED_ARG, .fn = set_rdma_version, .want = "auto, 1, 1-legacy, 2, 2-2016, 2-rtr or 2-2016-rtr"},
	{.name = "actimeo", .arg = NEED_ARG, .fn = set_timeouts, .max = 86400, .want = "seconds from 0 to 86400"},
	{.name = "noac", .arg = NO_ARG, .fn = set_timeouts},
	UINT("acregmin", acregmin, 0, 86400, 1, "seconds from 0 to 86400"),
	UINT("acregmax", acregmax, 0, 86400, 1, "seconds from 0 to 86400"),
	UINT("acdirmin", acdirmin, 0, 86400, 1, "seconds from 0 to 86400"),
	UINT("acdirmax", acdirmax, 0, 86400, 1, "seconds from 0 to 86400"),
	{.name = "lookupcache", .arg = NEED_ARG, .fn = set_lookupcache, .want = "all, complete, positive or none"},
	UINT("workers", workers, 1, 64, 1, "a count from 1 to 64"),
	FLAG("writeback", gather, true),
	FLAG("nowriteback", gather, false),
	UINT("readahead", readahead_kb, 0, 1024 * 1024, 1, "kilobytes, 0 for none"),
	{.name = "log", .arg = NEED_ARG, .fn = set_log, .want = LOG_TARGET_WORDS},
	{.name = "log_format", .arg = NEED_ARG, .fn = set_log_format, .want = LOG_FORM_WORDS},
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
	{.name = "remount", .arg = NO_ARG, .fn = refuse_remount},
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

int option_set(struct options *o, char *item, struct err *e)
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

/* Is `want` a list of values, such as "read, write or none"? Prints a line for each. */
static bool print_values(FILE *out, const char *name, const char *want)
{
	static const char value[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";

	for (int pass = 0; pass < 2; pass++) {
		for (const char *at = want; *at;) {
			size_t n = strspn(at, value);

			if (pass)
				fprintf(out, "%s=%.*s\n", name, (int)n, at);
			at += n;
			if (!n || (*at && strncmp(at, ", ", 2) && strncmp(at, " or ", 4)))
				return false;
			at += !*at ? 0 : *at == ',' ? 2 : 4;
		}
	}
	return true;
}

void option_words(FILE *out)
{
	for (size_t i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		const struct opt *d = &opts[i];

		if (d->arg != NEED_ARG)
			fprintf(out, "%s\n", d->name);
		if (d->arg == NEED_ARG && !(d->want && print_values(out, d->name, d->want)))
			fprintf(out, "%s=\n", d->name);
	}
}
