/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * shape: the work of a benchmark program, the time for it, and the report.
 */
#include "shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const char *const names[] = {"read", "write", "rand", "create", "unlink"};

void shape_init(struct shape *s)
{
	*s = (struct shape){.block = 1u << 20,
		.size = 64u << 20,
		.depth = 1,
		.jobs = 1,
		.seconds = 1,
		.files = 1000};
}

static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMG";
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (end == text || (*end && (!unit || end[1])))
		return false;
	for (; unit && unit >= units; unit--)
		if (n > max)
			return false;
		else
			n *= 1024;
	*out = n;
	return n >= min && n <= max;
}

bool shape_option(struct shape *s, int opt, const char *value)
{
	uint64_t n = 0;
	bool ok;

	switch (opt) {
	case 'b':
		ok = number(value, 512, 1u << 20, &n);
		s->block = (uint32_t)n;
		return ok;
	case 's':
		ok = number(value, 512, 1ull << 40, &n);
		s->size = n;
		return ok;
	case 'q':
		ok = number(value, 1, SHAPE_MAX_DEPTH, &n);
		s->depth = (unsigned)n;
		return ok;
	case 'j':
		ok = number(value, 1, SHAPE_MAX_DEPTH, &n);
		s->jobs = (unsigned)n;
		return ok;
	case 't':
		s->seconds = atof(value);
		return s->seconds > 0 && s->seconds < 3600;
	case 'n':
		ok = number(value, 1, 10 * 1000 * 1000, &n);
		s->files = (unsigned)n;
		return ok;
	default:
		return false;
	}
}

bool shape_set(struct shape *s, const char *name)
{
	for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		if (strcmp(name, names[k]))
			continue;
		s->kind = (enum shape_kind)k;
		s->size -= s->size % ((uint64_t)s->block * s->jobs);
		return s->size != 0 || !shape_has_data(s);
	}
	return false;
}

/* Multiplying by an odd number and shifting down map the numbers below a power of two one to one. A
 * number beyond n is mapped again until it is below n. */
uint64_t shape_block(const struct shape *s, uint64_t i, uint64_t n, uint64_t seed)
{
	uint64_t mask = 1, x;

	if (s->kind != SHAPE_RAND)
		return i;
	while (mask < n)
		mask <<= 1;
	mask--;
	for (x = i;;) {
		x = (x * 0x9e3779b97f4a7c15u + (seed | 1)) & mask;
		x ^= x >> 7;
		x = (x * 0xbf58476d1ce4e5b9u) & mask;
		x ^= x >> 5;
		if (x < n)
			return x;
	}
}

double shape_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void shape_print(const struct shape *s, const struct shape_result *r)
{
	bool in_bytes = shape_has_data(s) && s->block >= 65536;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("rate=%.1f ops=%" PRIu64 " bytes=%" PRIu64 " seconds=%.6f cpu=%.3f\n",
		(double)(in_bytes ? r->bytes : r->ops) / r->seconds, r->ops, r->bytes, r->seconds,
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6);
}
