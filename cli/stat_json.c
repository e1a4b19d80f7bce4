/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stat: a report for programs, as JSON.
 */
#include "cli/json.h"
#include "cli/stat.h"

static void put_times(struct json *j, const char *name, const struct histogram *h)
{
	json_begin(j, name, '{');
	json_seconds(j, "sum", h->sum_ns);
	json_seconds(j, "mean", histogram_mean(h));
	json_seconds(j, "p50", histogram_percentile(h, 500));
	json_seconds(j, "p90", histogram_percentile(h, 900));
	json_seconds(j, "p99", histogram_percentile(h, 990));
	json_seconds(j, "max", h->max_ns);
	json_end(j, '}');
}

static void put_ops(struct json *j, const char *name, const struct report_ops *ops, bool requests)
{
	json_begin(j, name, '{');
	for (unsigned i = 0; i < ops->n; i++) {
		const struct report_op *op = &ops->of[i];

		json_begin(j, op->name, '{');
		json_number(j, "count", histogram_count(&op->time));
		json_number(j, "errors", op->errors);
		json_number(j, "bytes", op->bytes);
		json_number(j, "rpcs", op->rpcs);
		if (requests)
			json_number(j, "round_trips", op->waits);
		else
			put_times(j, "queue_seconds", &op->queue);
		put_times(j, "seconds", &op->time);
		json_end(j, '}');
	}
	json_end(j, '}');
}

static void put_paths(struct json *j, const struct report *r)
{
	json_begin(j, "each_connection", '[');
	for (unsigned i = 0; i < r->npaths; i++) {
		json_begin(j, NULL, '{');
		for (unsigned k = 0; k < REPORT_PATH_NUMBERS; k++)
			json_number(j, report_path_name(k), r->path[i].number[k]);
		if (r->path[i].server[0])
			json_text(j, "server", r->path[i].server);
		if (r->path[i].why[0])
			json_text(j, "why", r->path[i].why);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void stat_json(const struct report *r, FILE *out)
{
	struct json j = {.out = out};

	json_begin(&j, NULL, '{');
	json_text(&j, "mountpoint", r->text[REPORT_MOUNTPOINT]);
	json_text(&j, "source", r->text[REPORT_SOURCE]);
	json_text(&j, "state", report_state_name(report_state(r)));
	json_text(&j, "nfs", r->text[REPORT_NFS]);
	json_text(&j, "transport", r->text[REPORT_TRANSPORT]);
	json_text(&j, "provider", r->text[REPORT_PROVIDER]);
	json_text(&j, "rpc_over_rdma", r->text[REPORT_DIALECT]);
	json_text(&j, "version", r->text[REPORT_PROGRAM]);
	for (unsigned i = 0; i < REPORT_NUMBERS; i++)
		json_number(&j, report_number_name(i), r->number[i]);
	if (r->npaths)
		put_paths(&j, r);
	put_ops(&j, "requests", r->requests, true);
	put_ops(&j, "operations", r->operations, false);
	json_end(&j, '}');
	fputc('\n', out);
}
