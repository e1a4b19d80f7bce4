/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_limit: how often one line may be said.
 */
#include "transport/log_limit.h"

#include "transport/clock.h"

bool log_limit_over(const struct log_limit *l, uint64_t now_ns)
{
	return now_ns < l->since_ns || now_ns - l->since_ns >= LOG_LIMIT_SPAN_S * NSEC_PER_SEC;
}

bool log_limit_may(const struct log_limit *l, unsigned most, uint64_t now_ns)
{
	return !l->said || l->said < most || log_limit_over(l, now_ns);
}

void log_limit_said(struct log_limit *l, uint64_t now_ns)
{
	if (!l->said || log_limit_over(l, now_ns))
		*l = (struct log_limit){.since_ns = now_ns};
	l->said++;
}
