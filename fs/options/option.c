/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * option: the options of a mount. One table lists every -o name with the function that takes its
 * value.
 */
#include "fs/options/option.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/nearest.h"

#define MIB		   (1024u * 1024u)
#define DESKTOP_TIMEO_MS   5000
#define DESKTOP_PATIENCE_S 1
#define VERSIONS	   "4.2, 4.1, 4 or 3"

struct opt;
typedef int opt_fn(struct options *o, const struct opt *d, const char *value, struct err *e);

enum opt_arg { NO_ARG, NEED_ARG, MAYBE_ARG };

struct word {
	const char *name; /* NULL after the last */
	unsigned value;
};

struct opt {
	const char *name;
	enum opt_arg arg;
	opt_fn *fn;
	size_t off, size;  /* of the member, for the generic functions */
	uint64_t min, max; /* of numbers; a flag's value is min */
	uint64_t scale;	   /* member = number * scale; 0: 1 */
	const struct word *words;
	const char *want; /* the form of a good value */
	unsigned only;	  /* OPTION_FOR_*: of no use in other mounts; 0: of use in all */
	bool refused;	  /* known only to be refused with a sentence of its own */
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

static int set_number(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	char *member = (char *)o + d->off;
	uint64_t v;

	if (option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	v *= d->scale ? d->scale : 1;
	switch (d->size) {
	case sizeof(uint16_t):
		*(uint16_t *)member = (uint16_t)v;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)member = (uint32_t)v;
		break;
	default:
		*(uint64_t *)member = v;
	}
	return 0;
}

/* The members are enumerations or unsigned. */
static int set_word(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	for (const struct word *w = d->words; w->name; w++)
		if (!strcmp(value, w->name)) {
			*(unsigned *)((char *)o + d->off) = w->value;
			return 0;
		}
	return bad_value(d, value, e);
}

static int set_text(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	char **member = (char **)((char *)o + d->off), *copy = strdup(value);

	if (!copy)
		return err_set(e, ERR_INTERNAL, "out of memory");
	free(*member);
	*member = copy;
	return 0;
}

/* As nfs(5): a larger value stands for the largest, a smaller one for the least. */
static int set_iosize(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, 1, UINT64_MAX, &v))
		return bad_value(d, value, e);
	v = v < d->min ? d->min : v > d->max ? d->max : v;
	*(uint32_t *)((char *)o + d->off) = v & ~4095u;
	return 0;
}

static int set_mountproto(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (strcmp(value, "udp") && strcmp(value, "tcp") && strcmp(value, "udp6") &&
		strcmp(value, "tcp6"))
		return bad_value(d, value, e);
	o->mount_udp = value[0] == 'u';
	return 0;
}

/* Version 3 of MOUNT belongs to NFSv3. */
static int set_mountvers(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return strcmp(value, "3") ? bad_value(d, value, e) : 0;
}

static const struct word protos[] = {{"auto", PROTO_AUTO}, {"rdma", PROTO_RDMA},
	{"iwarp", PROTO_IWARP}, {"tcp", PROTO_TCP}, {0}};
static const struct word idmaps[] = {
	{"auto", NFS_IDMAP_AUTO}, {"numeric", NFS_IDMAP_NUMERIC}, {"name", NFS_IDMAP_NAME}, {0}};
static const struct word delegation_words[] = {{"none", NFS_DELEGATIONS_NONE},
	{"read", NFS_DELEGATIONS_READ}, {"write", NFS_DELEGATIONS_WRITE}, {0}};

/* tcp6 and the like are netids of nfs(5). */
static int set_proto(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	const char *given = value ? value : d->name; /* mount.nfs: -o rdma, -o tcp */
	size_t len = strlen(given);
	bool six = !strcmp(given, "tcp6") || !strcmp(given, "rdma6");

	if (!strncmp(given, "udp", 3))
		return err_set(e, ERR_USAGE,
			"option %s%s: NFS is not spoken over UDP here, which corrupts data on fast "
			"networks: use proto=tcp or proto=rdma",
			value ? "proto=" : "", given);
	for (const struct word *w = protos; w->name; w++) {
		if (strlen(w->name) != len - six || strncmp(given, w->name, len - six))
			continue;
		o->proto = (enum options_proto)w->value;
		o->family = six ? AF_INET6 : AF_UNSPEC;
		return 0;
	}
	return bad_value(d, value, e);
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

/* A list with colons, in order of preference. */
static int set_sec(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	size_t len;
	bool sys = false, krb5 = false;

	for (const char *at = value; *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		if (len == 3 && !strncmp(at, "sys", 3))
			sys = true;
		else if (!strncmp(at, "krb5", 4) && (len == 4 || (len == 5 && strchr("ip", at[4]))))
			krb5 = true;
		else
			return bad_value(d, value, e);
	}
	if (krb5 && !sys)
		return err_set(e, ERR_USAGE,
			"option sec=%.60s: Kerberos is not supported yet; use sec=sys", value);
	if (krb5)
		return option_note(o, e,
			"option sec=%.60s: Kerberos is not supported yet, sec=sys is used", value);
	return sys ? 0 : bad_value(d, value, e);
}

static int set_xprtsec(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!strcmp(value, "tls") || !strcmp(value, "mtls"))
		return err_set(e, ERR_USAGE,
			"option xprtsec=%s: the connection cannot be encrypted yet; use a tunnel, "
			"or a network that you trust and xprtsec=none",
			value);
	return strcmp(value, "none") ? bad_value(d, value, e) : 0;
}

static int set_idmap_domain(
	struct options *o, const struct opt *d, const char *value, struct err *e)
{
	size_t n = strlen(value);

	if (n == 0 || n > 200 || strpbrk(value, "@ \t"))
		return bad_value(d, value, e);
	return set_text(o, d, value, e);
}

static int set_max_connect(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, 1, 16, &v))
		return bad_value(d, value, e);
	o->max_connect = (unsigned)v;
	return 0;
}

static int set_nconnect(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	uint64_t v;

	if (option_size(value, 1, 16, &v))
		return bad_value(d, value, e);
	o->nconnect = (unsigned)v;
	return 0;
}

/* The options for a desktop: no program waits for a server that is away, and nothing is lost. */
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
	uint64_t v;

	if (option_size(value, d->min, d->max, &v))
		return bad_value(d, value, e);
	o->acregmin = o->acregmax = o->acdirmin = o->acdirmax = (unsigned)v;
	return 0;
}

static int set_write(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (strcmp(value, "lazy") && strcmp(value, "eager") && strcmp(value, "wait"))
		return bad_value(d, value, e);
	o->gather = value[0] == 'l';
	if (value[0] != 'e')
		return 0;
	return option_note(o, e, "option write=eager is taken as write=wait");
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

static int set_metrics_file(
	struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (value[0] != '/' || strlen(value) >= PATH_MAX)
		return bad_value(d, value, e);
	free(o->metrics_file);
	o->metrics_file = strdup(value);
	return o->metrics_file ? 0 : err_set(e, ERR_INTERNAL, "out of memory");
}

static int set_log_format(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return log_choice_form(&o->log, value) ? 0 : bad_value(d, value, e);
}

/* Appends to *list, which may be NULL. */
static int append(char **list, const char *separator, const char *text, struct err *e)
{
	size_t have = *list ? strlen(*list) : 0;
	size_t more = strlen(text) + strlen(separator) + 1;
	char *s = realloc(*list, have + more);

	if (!s)
		return err_set(e, ERR_INTERNAL, "out of memory");
	*list = s;
	snprintf(s + have, more, "%s%s", have ? separator : "", text);
	return 0;
}

int option_pass(struct options *o, const char *name, const char *value, struct err *e)
{
	if (append(&o->fuse_opts, ",", name, e))
		return -1;
	return value ? append(&o->fuse_opts, "=", value, e) : 0;
}

int option_note(struct options *o, struct err *e, const char *fmt, ...)
{
	char line[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return append(&o->notes, "\n", line, e);
}

int option_unused(struct options *o, const char *name, struct err *e)
{
	return append(&o->unused, ", ", name, e);
}

/* Passes the option on to libfuse or mount(2). */
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

/* The option asks for something that rnfs does not do, and can do without. */
static int unused(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	return option_unused(o, d->name, e);
}

static int set_rdirplus(struct options *o, const struct opt *d, const char *value, struct err *e)
{
	if (!value || !strcmp(value, "force"))
		return 0;
	return strcmp(value, "none") ? bad_value(d, value, e)
				     : option_unused(o, "rdirplus=none", e);
}

#define AT(m) .off = offsetof(struct options, m), .size = sizeof(((struct options *)0)->m)
/* clang-format off */
#define FLAG(n, m, v, ...)	{.name = n, .fn = set_flag, AT(m), .min = v, __VA_ARGS__}
#define UINT(n, m, lo, hi, sc, w, ...)	{.name = n, .arg = NEED_ARG, .fn = set_number, AT(m), .min = lo, .max = hi, .scale = sc, .want = w, __VA_ARGS__}
#define WORD(n, m, ws, w, ...)	{.name = n, .arg = NEED_ARG, .fn = set_word, AT(m), .words = ws, .want = w, __VA_ARGS__}
#define TEXT(n, m, ...)		{.name = n, .arg = NEED_ARG, .fn = set_text, AT(m), __VA_ARGS__}
#define PASS(n)			{.name = n, .fn = pass}
#define PASS_VALUE(n)		{.name = n, .arg = NEED_ARG, .fn = pass}
#define IGNORE(n)		{.name = n, .arg = MAYBE_ARG, .fn = ignore} /* for others to read */
/* asks for the normal behaviour of rnfs */
#define SUITS(n)		{.name = n, .fn = ignore}
#define UNUSED(n, a)		{.name = n, .arg = a, .fn = unused} /* of nfs(5), without a use here */

#define PORT "a port number, 0 for the usual one"
#define SECONDS "seconds from 0 to 86400"

static const struct opt opts[] = {
	{.name = "proto", .arg = NEED_ARG, .fn = set_proto, .want = "auto, rdma, rdma6, iwarp, tcp or tcp6"},
	{.name = "rdma", .fn = set_proto},
	{.name = "iwarp", .fn = set_proto},
	{.name = "tcp", .fn = set_proto},
	{.name = "udp", .fn = set_proto, .refused = true},
	UINT("port", port, 0, 65535, 1, PORT),
	{.name = "vers", .arg = NEED_ARG, .fn = set_vers, .want = VERSIONS},
	{.name = "nfsvers", .arg = NEED_ARG, .fn = set_vers, .want = VERSIONS},
	{.name = "minorversion", .arg = NEED_ARG, .fn = set_minorversion, .min = 1, .max = 2, .want = "1 or 2"},
	{.name = "v3", .fn = set_vers},
	{.name = "v4", .fn = set_vers},
	{.name = "v4.0", .fn = set_vers, .refused = true},
	{.name = "v4.1", .fn = set_vers},
	{.name = "v4.2", .fn = set_vers},
	UINT("mountport", mountport, 0, 65535, 1, PORT, .only = OPTION_FOR_V3),
	{.name = "mountproto", .arg = NEED_ARG, .fn = set_mountproto, .want = "tcp, tcp6, udp or udp6", .only = OPTION_FOR_V3},
	TEXT("mounthost", mounthost, .only = OPTION_FOR_V3),
	TEXT("mountaddr", mounthost, .only = OPTION_FOR_V3),
	{.name = "mountvers", .arg = NEED_ARG, .fn = set_mountvers, .want = "3", .only = OPTION_FOR_V3},
	FLAG("read_plus", read_plus, true, .only = OPTION_FOR_V42),
	FLAG("pnfs", pnfs, true, .only = OPTION_FOR_V4),
	{.name = "rsize", .arg = NEED_ARG, .fn = set_iosize, AT(rsize), .min = 4096, .max = MIB, .want = "bytes, such as 1M"},
	{.name = "wsize", .arg = NEED_ARG, .fn = set_iosize, AT(wsize), .min = 4096, .max = MIB, .want = "bytes, such as 1M"},
	{.name = "sec", .arg = NEED_ARG, .fn = set_sec, .want = "sys"},
	{.name = "xprtsec", .arg = NEED_ARG, .fn = set_xprtsec, .want = "none"},
	FLAG("hard", soft, false),
	FLAG("soft", soft, true),
	FLAG("softerr", soft, true),
	UINT("timeo", timeo_ms, 1, 36000, 100, "tenths of a second from 1 to 36000, such as 600"),
	UINT("retrans", retrans, 0, 100, 1, "a count from 0 to 100"),
	UINT("patience", patience_s, 1, 3600, 1, "seconds from 1 to 3600"),
	FLAG("notify", notify, true),
	{.name = "desktop", .fn = set_desktop},
	UINT("connect_timeout", connect_ms, 1, 3600, 1000, "seconds from 1 to 3600"),
	UINT("retry", retry_min, 0, 100000, 1, "minutes from 0 to 100000"),
	UINT("grace", grace_s, 0, 86400, 1, "seconds from 1 to 86400, or 0 for as long as it takes"),
	FLAG("bg", bg, true),
	FLAG("fg", bg, false),
	FLAG("delay_connect", delay_connect, true),
	WORD("idmap", idmap, idmaps, "auto, numeric or name", .only = OPTION_FOR_V4),
	{.name = "idmap_domain", .arg = NEED_ARG, .fn = set_idmap_domain, AT(idmap_domain), .want = "a domain such as example.net", .only = OPTION_FOR_V4},
	WORD("delegations", delegations, delegation_words, "read, write or none", .only = OPTION_FOR_V4),
	{.name = "nconnect", .arg = NEED_ARG, .fn = set_nconnect, .want = "a count from 1 to 16"},
	{.name = "max_connect", .arg = NEED_ARG, .fn = set_max_connect, .want = "a count from 1 to 16", .only = OPTION_FOR_V4},
	FLAG("trunkdiscovery", trunk_discovery, true, .only = OPTION_FOR_V4),
	FLAG("notrunkdiscovery", trunk_discovery, false, .only = OPTION_FOR_V4),
	FLAG("migration", migration, true, .only = OPTION_FOR_V4),
	FLAG("nomigration", migration, false, .only = OPTION_FOR_V4),
	FLAG("replication", replication, true, .only = OPTION_FOR_V4),
	FLAG("noreplication", replication, false, .only = OPTION_FOR_V4),
	FLAG("survive", survive, true, .only = OPTION_FOR_V4),
	FLAG("nosurvive", survive, false, .only = OPTION_FOR_V4),
	FLAG("referrals", referrals, true, .only = OPTION_FOR_V4),
	FLAG("noreferrals", referrals, false, .only = OPTION_FOR_V4),
	UINT("cache_size", cache_size, 16 * MIB, 1ull << 40, 1, "16M or more, such as 256M or 2G"),
	UINT("credits", credits, 2, 4096, 1, "a count from 2 to 4096", .only = OPTION_FOR_RDMA),
	UINT("inline_size", inline_size, 1024, 65536, 1, "1024 to 65536 bytes, such as 4K", .only = OPTION_FOR_RDMA),
	FLAG("mpa_crc", mpa_crc, true, .only = OPTION_FOR_IWARP),
	FLAG("nompa_crc", mpa_crc, false, .only = OPTION_FOR_IWARP),
	{.name = "rdma_version", .arg = NEED_ARG, .fn = set_rdma_version, .want = "auto, 1, 1-legacy, 2, 2-2016, 2-rtr or 2-2016-rtr",
		.only = OPTION_FOR_RDMA},
	{.name = "actimeo", .arg = NEED_ARG, .fn = set_timeouts, .max = 86400, .want = SECONDS},
	FLAG("noac", noac, true),
	FLAG("ac", noac, false),
	UINT("acregmin", acregmin, 0, 86400, 1, SECONDS),
	UINT("acregmax", acregmax, 0, 86400, 1, SECONDS),
	UINT("acdirmin", acdirmin, 0, 86400, 1, SECONDS),
	UINT("acdirmax", acdirmax, 0, 86400, 1, SECONDS),
	{.name = "lookupcache", .arg = NEED_ARG, .fn = set_lookupcache, .want = "all, complete, positive or none"},
	UINT("workers", workers, 1, 64, 1, "a count from 1 to 64"),
	FLAG("writeback", gather, true),
	FLAG("nowriteback", gather, false),
	{.name = "write", .arg = NEED_ARG, .fn = set_write, .want = "lazy, eager or wait"},
	UINT("readahead", readahead_kb, 0, 1024 * 1024, 1, "kilobytes, 0 for none"),
	{.name = "log", .arg = NEED_ARG, .fn = set_log, .want = LOG_TARGET_WORDS},
	{.name = "log_format", .arg = NEED_ARG, .fn = set_log_format, .want = LOG_FORM_WORDS},
	{.name = "metrics_file", .arg = NEED_ARG, .fn = set_metrics_file, .want = "an absolute path"},
	{.name = "debug", .arg = MAYBE_ARG, .fn = set_debug, .want = "ctrl, data or fuse"},
	FLAG("nolock", nolock, true),
	FLAG("lock", nolock, false),
	{.name = "local_lock", .arg = NEED_ARG, .fn = set_local_lock, .want = "all, flock, posix or none"},

	FLAG("sloppy", sloppy, true),
	SUITS("nosoftreval"), SUITS("intr"), SUITS("cto"), SUITS("resvport"), SUITS("nosharecache"), SUITS("nofsc"),
	SUITS("acl"), SUITS("noposix"), SUITS("noalignwrite"), IGNORE("addr"),
	{.name = "rdirplus", .arg = MAYBE_ARG, .fn = set_rdirplus, .want = "none or force"},
	UNUSED("softreval", NO_ARG), UNUSED("nointr", NO_ARG),
	UNUSED("nocto", NO_ARG), UNUSED("noresvport", NO_ARG), UNUSED("sharecache", NO_ARG), UNUSED("fsc", MAYBE_ARG),
	UNUSED("noacl", NO_ARG), UNUSED("nordirplus", NO_ARG),
	UNUSED("clientaddr", NEED_ARG), UNUSED("namlen", NEED_ARG), UNUSED("bsize", NEED_ARG),
	UNUSED("posix", NO_ARG), UNUSED("alignwrite", NO_ARG), UNUSED("fatal_neterrors", NEED_ARG),

	FLAG("default_permissions", default_permissions, true),
	FLAG("allow_other", allow_other, true),
	FLAG("allow_root", allow_root, true),
	FLAG("auto_unmount", auto_unmount, true),
	PASS_VALUE("fsname"),
	{.name = "ro", .fn = pass_ro, .min = true},
	{.name = "rw", .fn = pass_ro, .min = false},
	PASS("suid"), PASS("nosuid"), PASS("dev"), PASS("nodev"), PASS("exec"), PASS("noexec"),
	PASS("async"), PASS("sync"), PASS("dirsync"), PASS("atime"), PASS("noatime"),
	PASS_VALUE("context"), PASS_VALUE("fscontext"), PASS_VALUE("defcontext"),
	PASS_VALUE("rootcontext"),
	IGNORE("defaults"), IGNORE("auto"), IGNORE("noauto"), IGNORE("user"), IGNORE("nouser"),
	IGNORE("users"), IGNORE("owner"), IGNORE("group"), IGNORE("_netdev"), IGNORE("nofail"),
	IGNORE("relatime"), IGNORE("norelatime"), IGNORE("strictatime"), IGNORE("nostrictatime"),
	IGNORE("lazytime"), IGNORE("nolazytime"), IGNORE("diratime"), IGNORE("nodiratime"),
	IGNORE("comment"), IGNORE("remount"), /* cli/remount.h has seen to it */
};
/* clang-format on */

#define OPTS (sizeof(opts) / sizeof(opts[0]))
_Static_assert(OPTS <= OPTIONS_MAX, "raise OPTIONS_MAX");

static const struct opt *find(const char *name)
{
	for (size_t i = 0; i < OPTS; i++)
		if (!strcmp(opts[i].name, name))
			return &opts[i];
	return NULL;
}

static bool is_given(const struct options *o, size_t i)
{
	return o->given[i / 64] >> i % 64 & 1;
}

bool option_given(const struct options *o, const char *name)
{
	const struct opt *d = find(name);

	return d && is_given(o, d - opts);
}

const char *option_next_limited(const struct options *o, size_t *at, unsigned *only)
{
	for (size_t i = *at; i < OPTS; i++)
		if (opts[i].only && is_given(o, i)) {
			*at = i + 1;
			*only = opts[i].only;
			return opts[i].name;
		}
	return NULL;
}

const char *option_nearest(const char *name)
{
	struct nearest n;

	nearest_init(&n, name);
	for (size_t i = 0; i < OPTS; i++)
		if (!opts[i].refused)
			nearest_offer(&n, opts[i].name);
	return n.best;
}

int option_set(struct options *o, char *item, struct err *e)
{
	char *value = strchr(item, '=');
	const struct opt *d;

	if (value)
		*value++ = 0;
	if (!strncmp(item, "x-", 2) || !strncmp(item, "X-", 2))
		return 0; /* mount(8) leaves these for other programs */
	d = find(item);
	if (!d)
		return append(&o->unknown, ",", item, e);
	if (value && d->arg == NO_ARG)
		return err_set(e, ERR_USAGE, "option %s takes no value: leave out \"=%.60s\"", item,
			value);
	if (!value && d->arg == NEED_ARG)
		return err_set(e, ERR_USAGE, "option %s needs a value: give %s=%s", item, item,
			d->want ? d->want : "...");
	o->given[(d - opts) / 64] |= 1ull << (d - opts) % 64;
	return d->fn(o, d, value, e);
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
	for (size_t i = 0; i < OPTS; i++) {
		const struct opt *d = &opts[i];

		if (d->refused)
			continue;
		if (d->arg != NEED_ARG)
			fprintf(out, "%s\n", d->name);
		else if (!d->want || !print_values(out, d->name, d->want))
			fprintf(out, "%s=\n", d->name);
	}
}
