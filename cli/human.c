/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * human: numbers for people.
 */
#include "cli/human.h"

#include <stdio.h>

static char *scaled(char text[HUMAN_MAX], double n, double step, const char *const *units)
{
	/* 999.6 would be printed as 1000 */
	while (n >= step - 0.5 && units[1]) {
		n /= step;
		units++;
	}
	if (n < 9.95 && **units)
		snprintf(text, HUMAN_MAX, "%.1f%s", n, *units);
	else
		snprintf(text, HUMAN_MAX, "%.0f%s", n, *units);
	return text;
}

char *human_bytes(char text[HUMAN_MAX], double bytes)
{
	static const char *const units[] = {"", "K", "M", "G", "T", "P", "E", 0};

	return scaled(text, bytes, 1024, units);
}

char *human_count(char text[HUMAN_MAX], double n)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E", 0};

	return scaled(text, n, 1000, units);
}

char *human_time(char text[HUMAN_MAX], uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s", 0};

	if (!ns)
		snprintf(text, HUMAN_MAX, "0");
	else
		scaled(text, (double)ns / 1000, 1000, units);
	return text;
}

char *human_age(char text[HUMAN_MAX], uint64_t ms)
{
	unsigned long long s = ms / 1000;

	if (s < 120)
		snprintf(text, HUMAN_MAX, "%llu s", s);
	else if (s < 120 * 60)
		snprintf(text, HUMAN_MAX, "%llu min", s / 60);
	else if (s < 48 * 3600)
		snprintf(text, HUMAN_MAX, "%llu h", s / 3600);
	else
		snprintf(text, HUMAN_MAX, "%llu days", s / 86400);
	return text;
}
