/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirnames: until when answers about names in a directory are believed.
 */
#include "fs/known/dirnames.h"

#include "transport/clock.h"

#define LOOKS_NS UINT64_C(5000000000) /* looks within that time count together */

void dirnames_init(struct dirnames *d, uint64_t version)
{
	mutex_init(&d->lock);
	d->version = version;
}

void dirnames_finish(struct dirnames *d)
{
	mutex_destroy(&d->lock);
}

/* --- versions --------------------------------------------------------------------------------- */

/* True: another client has changed the directory. Attributes that were asked for while this mount
 * changed the directory tell nothing. The first attributes after that may hide a change by another
 * client. */
static bool note_version_locked(struct dirnames *d, const struct attrs *own, uint64_t change,
	uint64_t seen) REQUIRES(d->lock)
{
	uint64_t touched = attrs_touched(own);
	bool first = touched > d->version_at || !d->version_at;

	if (d->naming || seen <= touched || seen < d->version_at)
		return false;
	d->version_at = d->seen = seen;
	if (d->version == change)
		return false;
	d->version = change;
	/* not only names asked for before `seen`: the server may answer the later of two calls
	 * first */
	if (!first)
		d->from = d->foreign_at = clock_ns();
	return !first;
}

bool dirnames_note(
	struct dirnames *d, const struct attrs *own, uint64_t change, uint64_t seen, bool lost)
{
	bool foreign;

	mutex_lock(&d->lock);
	foreign = note_version_locked(d, own, change, seen);
	/* a name from the same answer as this version counts from `from`: dirnames_as_of() */
	if (lost)
		d->recalled = clock_ns();
	else if (foreign)
		d->recalled = d->from;
	mutex_unlock(&d->lock);
	return lost || foreign;
}

void dirnames_note_foreign(struct dirnames *d)
{
	mutex_lock(&d->lock);
	d->foreign_at = clock_ns();
	mutex_unlock(&d->lock);
}

void dirnames_doubt(struct dirnames *d)
{
	mutex_lock(&d->lock);
	d->from = clock_ns();
	mutex_unlock(&d->lock);
}

void dirnames_naming_begin(struct dirnames *d)
{
	mutex_lock(&d->lock);
	d->naming++;
	mutex_unlock(&d->lock);
}

void dirnames_naming_end(struct dirnames *d, struct attrs *own)
{
	mutex_lock(&d->lock);
	d->naming--;
	attrs_touch(own);
	mutex_unlock(&d->lock);
}

bool dirnames_is_naming(struct dirnames *d)
{
	bool naming;

	mutex_lock(&d->lock);
	naming = d->naming > 0;
	mutex_unlock(&d->lock);
	return naming;
}

/* --- answers ---------------------------------------------------------------------------------- */

uint64_t dirnames_until(
	struct dirnames *d, const struct attrs *own, uint64_t seen, unsigned timeout)
{
	uint64_t touched = attrs_touched(own), until = 0;

	mutex_lock(&d->lock);
	if (seen && seen >= d->from && seen > touched) {
		until = seen > d->seen ? seen : d->seen;
		until += timeout * NSEC_PER_SEC;
	}
	mutex_unlock(&d->lock);
	return until;
}

uint64_t dirnames_as_of(struct dirnames *d, const struct attrs *own, uint64_t change, uint64_t seen)
{
	uint64_t touched = attrs_touched(own);

	mutex_lock(&d->lock);
	if (d->version == change && !d->naming && seen > touched && seen < d->from)
		seen = d->from;
	mutex_unlock(&d->lock);
	return seen;
}

uint64_t dirnames_seen(struct dirnames *d, const struct attrs *own, uint64_t *from)
{
	uint64_t touched = attrs_touched(own), seen;

	mutex_lock(&d->lock);
	*from = touched + 1 > d->from ? touched + 1 : d->from;
	seen = d->seen;
	mutex_unlock(&d->lock);
	return seen;
}

uint64_t dirnames_version(struct dirnames *d)
{
	uint64_t version;

	mutex_lock(&d->lock);
	version = d->version;
	mutex_unlock(&d->lock);
	return version;
}

bool dirnames_recalled(struct dirnames *d, uint64_t seen)
{
	bool recalled;

	mutex_lock(&d->lock);
	recalled = seen < d->recalled;
	mutex_unlock(&d->lock);
	return recalled;
}

bool dirnames_is_shared(struct dirnames *d, uint64_t time)
{
	uint64_t now = clock_ns();
	bool shared;

	mutex_lock(&d->lock);
	shared = d->foreign_at && clock_age(now, d->foreign_at) < time;
	mutex_unlock(&d->lock);
	return shared;
}

/* --- looks ------------------------------------------------------------------------------------ */

static unsigned looks_locked(struct dirnames *d) REQUIRES(d->lock)
{
	return clock_ns() < d->unlisted_until ? 0 : d->looks;
}

unsigned dirnames_looked(struct dirnames *d, const char *name)
{
	uint64_t now = clock_ns();
	uint32_t hash = 0;
	unsigned looks;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x01000193u;
	mutex_lock(&d->lock);
	if (clock_age(now, d->looks_at) > LOOKS_NS) {
		d->looks_at = now;
		d->looks = 0;
	}
	d->looks += !d->looks || d->looked_for != hash;
	d->looked_for = hash;
	looks = looks_locked(d);
	mutex_unlock(&d->lock);
	return looks;
}

unsigned dirnames_looks(struct dirnames *d, bool less)
{
	unsigned looks;

	mutex_lock(&d->lock);
	d->looks -= less && d->looks;
	looks = looks_locked(d);
	mutex_unlock(&d->lock);
	return looks;
}

void dirnames_leave_unlisted(struct dirnames *d, uint64_t time)
{
	mutex_lock(&d->lock);
	d->unlisted_until = clock_ns() + time;
	mutex_unlock(&d->lock);
}
