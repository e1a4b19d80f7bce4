/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * effect: options that contradict each other, or have no effect beside others.
 *
 * Two tables. The table of options (option.c) says which transports and versions each option is
 * for. The table below has the other pairs: an option that was given, and the condition under which
 * the option has no effect.
 */
#include "fs/options/effect.h"

#include <stdio.h>

/* --- contradictions --------------------------------------------------------------------------- */

/* Checks the range of times that follows from the given options. */
static int check_range(const char *what, unsigned min, unsigned max, struct err *e)
{
	if (min == OPTION_UNSET || max == OPTION_UNSET || min <= max)
		return 0;
	return err_set(e, ERR_USAGE,
		"option %smin=%u is above %smax=%u: raise the one, or lower the other", what, min,
		what, max);
}

/* A mount that survives its daemon has no notes of some kinds of state. */
static int check_survive(const struct options *o, struct err *e)
{
	const char *other = o->vers_major == 3		   ? "vers=3"
			    : o->pnfs			   ? "pnfs"
			    : o->migration		   ? "migration"
			    : o->replication		   ? "replication"
			    : option_given(o, "referrals") ? "referrals"
							   : NULL;

	if (!o->survive || !other)
		return 0;
	return err_set(e, ERR_USAGE,
		"option survive is not possible with %s: leave one of them out", other);
}

static int check_contradictions(const struct options *o, struct err *e)
{
	if (check_survive(o, e))
		return -1;
	if (o->noac && o->gather && option_given(o, "writeback"))
		return err_set(e, ERR_USAGE,
			"the options noac and writeback contradict each other: noac has each write "
			"wait for the server; leave one of them out");
	if (check_range("acreg", o->acregmin, o->acregmax, e))
		return -1;
	return check_range("acdir", o->acdirmin, o->acdirmax, e);
}

/* --- without effect --------------------------------------------------------------------------- */

static bool is_time(unsigned s)
{
	return s && s != OPTION_UNSET;
}

static bool regmin_and_noac(const struct options *o)
{
	return o->noac && is_time(o->acregmin);
}

static bool regmax_and_noac(const struct options *o)
{
	return o->noac && is_time(o->acregmax);
}

static bool dirmin_and_noac(const struct options *o)
{
	return o->noac && is_time(o->acdirmin);
}

static bool dirmax_and_noac(const struct options *o)
{
	return o->noac && is_time(o->acdirmax);
}

static bool asks_for_delegations(const struct options *o)
{
	return o->vers_major != 3 && o->delegations != NFS_DELEGATIONS_NONE;
}

static bool delegations_and_noac(const struct options *o)
{
	return asks_for_delegations(o) && o->noac;
}

static bool delegations_and_no_time(const struct options *o)
{
	return asks_for_delegations(o) && !o->noac && !o->acregmax;
}

static bool all_local(const struct options *o)
{
	return o->nolock && !(o->local_posix && o->local_flock);
}

static bool none_local(const struct options *o)
{
	return !o->nolock && option_given(o, "lock") && (o->local_posix || o->local_flock);
}

static bool numbers_only(const struct options *o)
{
	return o->idmap == NFS_IDMAP_NUMERIC;
}

static bool delays(const struct options *o)
{
	return o->delay_connect;
}

static bool bg_and_delays(const struct options *o)
{
	return o->bg && o->delay_connect;
}

static bool bg_and_stays(const struct options *o)
{
	return o->bg && o->foreground && !o->delay_connect;
}

static bool soft_and_delays(const struct options *o)
{
	return o->soft && o->delay_connect;
}

static bool nothing_kept(const struct options *o)
{
	return !o->readahead_kb;
}

static bool one_address(const struct options *o)
{
	return o->trunk_discovery && o->max_connect <= 1 && o->vers_major != 3;
}

static const struct pair {
	const char *option;
	bool (*moot)(const struct options *o);
	const char *beside;
} pairs[] = {
	{"actimeo", regmin_and_noac, "noac"},
	{"acregmin", regmin_and_noac, "noac"},
	{"acregmax", regmax_and_noac, "noac"},
	{"acdirmin", dirmin_and_noac, "noac"},
	{"acdirmax", dirmax_and_noac, "noac"},
	{"delegations", delegations_and_noac, "noac"},
	{"delegations", delegations_and_no_time, "acregmax=0"},
	{"local_lock", all_local, "nolock"},
	{"local_lock", none_local, "lock"},
	{"idmap_domain", numbers_only, "idmap=numeric"},
	{"trunkdiscovery", one_address, "max_connect=1, which is the default"},
	{"retry", delays, "delay_connect"},
	{"bg", bg_and_delays, "delay_connect"},
	{"bg", bg_and_stays, "-f, in which rnfs stays in the foreground"},
	{"soft", soft_and_delays, "delay_connect until the server has answered once"},
	{"cache_size", nothing_kept,
		"readahead=0 on data that is read, which is not kept then; it bounds the rest"},
};

static const char *const protos[] = {
	[PROTO_RDMA] = "rdma", [PROTO_IWARP] = "iwarp", [PROTO_TCP] = "tcp"};

/* Is the transport none of those that the option is for? */
static bool excludes_transport(const struct options *o, unsigned only)
{
	return (only & OPTION_FOR_RDMA && o->proto == PROTO_TCP) ||
	       (only & OPTION_FOR_IWARP && (o->proto == PROTO_TCP || o->proto == PROTO_RDMA));
}

static bool excludes_version(const struct options *o, unsigned only)
{
	if (!o->vers_major)
		return false;
	return (only & OPTION_FOR_V3 && o->vers_major != 3) ||
	       (only & OPTION_FOR_V4 && o->vers_major != 4) ||
	       (only & OPTION_FOR_V42 && (o->vers_major != 4 || o->vers_minor == 1));
}

static int note_limited(struct options *o, struct err *e)
{
	const char *name;
	unsigned only;
	size_t at = 0;

	while ((name = option_next_limited(o, &at, &only))) {
		char minor[16] = "";

		if (o->vers_minor)
			snprintf(minor, sizeof(minor), ".%u", o->vers_minor);
		if (excludes_transport(o, only) &&
			option_note(o, e, "option %s has no effect with proto=%s", name,
				protos[o->proto]))
			return -1;
		if (excludes_version(o, only) &&
			option_note(o, e, "option %s has no effect with vers=%u%s", name,
				o->vers_major, minor))
			return -1;
	}
	return 0;
}

int effect_check(struct options *o, struct err *e)
{
	if (check_contradictions(o, e) || note_limited(o, e))
		return -1;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (option_given(o, pairs[i].option) && pairs[i].moot(o) &&
			option_note(o, e, "option %s has no effect with %s", pairs[i].option,
				pairs[i].beside))
			return -1;
	/* Lines for other clients name retrans often, and ignoring retrans loses nothing. */
	return option_given(o, "retrans") && !o->soft ? option_unused(o, "retrans (with hard)", e)
						      : 0;
}
