/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_limit: how often one line may be said.
 *
 * Time is cut into spans, which begin with a line. Pure functions; no lock of their own.
 */
#ifndef RNFS_TRANSPORT_LOG_LIMIT_H
#define RNFS_TRANSPORT_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_LIMIT_SPAN_S 10
#define LOG_LIMIT_SITE	 10  /* lines of one place in the source, in a span */
#define LOG_LIMIT_ALL	 100 /* and of all places of this process */

struct log_limit { /* all zeros at first */
	uint64_t since_ns;
	unsigned said; /* in this span */
};

/* Has a span with lines ended? */
bool log_limit_over(const struct log_limit *l, uint64_t now_ns);
/* May one more line be said, of `most` in a span? Counts nothing. */
bool log_limit_may(const struct log_limit *l, unsigned most, uint64_t now_ns);
/* A line is said. */
void log_limit_said(struct log_limit *l, uint64_t now_ns);

#endif
