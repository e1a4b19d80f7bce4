/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/metrics: the text is held against the rules of Prometheus's format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/metrics.h"

static struct report_ops requests, operations;
static struct report report = {.requests = &requests, .operations = &operations};
static char *text;

static void write_metrics(void)
{
	size_t len = 0;
	FILE *f;

	free(text);
	text = NULL;
	f = open_memstream(&text, &len);
	metrics_write(&report, f);
	fclose(f);
}

static int setup(void **state)
{
	struct report_op *op;

	report_clear(&report);
	report_set(&report, REPORT_MOUNTPOINT, "/m");
	report.number[REPORT_UP_MS] = 61005;
	report.number[REPORT_CALLS] = 12;
	op = report_add(&requests, "READ");
	op->errors = 1;
	op->bytes = 4096;
	op->time.n[0] = 1;
	op->time.n[2] = 2;
	op->time.n[3] = 4;
	op->time.n[HISTOGRAM_BUCKETS - 1] = 8;
	op->time.sum_ns = 2000000123;
	op = report_add(&operations, "WRITE");
	op->queue.n[26] = 3;
	return 0;
}

static int teardown(void **state)
{
	free(text);
	text = NULL;
	return 0;
}

static void has(const char *line)
{
	char with[400];

	snprintf(with, sizeof(with), "%s\n", line);
	if (!strstr(text, with))
		fail_msg("no line %s in\n%s", line, text);
}

static void numbers_have_units(void **state)
{
	write_metrics();
	has("# TYPE rnfs_up_seconds gauge\nrnfs_up_seconds{mountpoint=\"/m\"} 61.005");
	has("# TYPE rnfs_rpc_calls_total counter\nrnfs_rpc_calls_total{mountpoint=\"/m\"} 12");
	has("rnfs_request_errors_total{mountpoint=\"/m\",operation=\"READ\"} 1");
	has("rnfs_request_bytes_total{mountpoint=\"/m\",operation=\"READ\"} 4096");
}

#define BUCKET "rnfs_request_duration_seconds_bucket{mountpoint=\"/m\",operation=\"READ\",le="

static void buckets_are_cumulative(void **state)
{
	write_metrics();
	has("# TYPE rnfs_request_duration_seconds histogram\n" BUCKET "\"0.000004096\"} 3");
	has(BUCKET "\"0.000016384\"} 7");
	has(BUCKET "\"68.719476736\"} 7");
	has(BUCKET "\"+Inf\"} 15");
	has("rnfs_request_duration_seconds_sum{mountpoint=\"/m\",operation=\"READ\"} 2.000000123");
	has("rnfs_request_duration_seconds_count{mountpoint=\"/m\",operation=\"READ\"} 15");
	has("rnfs_operation_queue_seconds_bucket{mountpoint=\"/m\",operation=\"WRITE\","
	    "le=\"68.719476736\"} 3");
	has("rnfs_operation_queue_seconds_bucket{mountpoint=\"/m\",operation=\"WRITE\","
	    "le=\"17.179869184\"} 0");
}

static void labels_are_escaped(void **state)
{
	report_set(&report, REPORT_MOUNTPOINT, "/a \"b\"\\\n\xc3\xbc\xff");
	write_metrics();
	has("rnfs_rpc_calls_total{mountpoint=\"/a \\\"b\\\"\\\\\\n\xc3\xbc\xef\xbf\xbd\"} 12");
}

/* Each sample follows the HELP and TYPE of its metric, and each metric has one HELP and one
 * TYPE. */
static void every_sample_has_a_head(void **state)
{
	char metric[100] = "", name[100], *rest, *line;
	unsigned samples = 0;

	write_metrics();
	rest = text;
	while ((line = strsep(&rest, "\n")) && *line) {
		size_t len;

		if (!strncmp(line, "# HELP ", 7)) {
			assert_int_equal(sscanf(line, "# HELP %99s %*s", metric), 1);
			line = strsep(&rest, "\n");
			assert_int_equal(sscanf(line, "# TYPE %99s", name), 1);
			assert_string_equal(name, metric);
			continue;
		}
		len = strcspn(line, "{");
		assert_true(len >= strlen(metric) && !strncmp(line, metric, strlen(metric)));
		snprintf(name, sizeof(name), "%.*s", (int)(len - strlen(metric)),
			line + strlen(metric));
		assert_true(!*name || !strcmp(name, "_bucket") || !strcmp(name, "_sum") ||
			    !strcmp(name, "_count"));
		samples++;
	}
	assert_true(samples > REPORT_NUMBERS / 2);
}

static void each_of_several_connections_is_shown(void **state)
{
	report.number[REPORT_CONNECTIONS] = 2;
	report.number[REPORT_CONNECTIONS_UP] = 1;
	write_metrics();
	has("# TYPE rnfs_connections gauge\nrnfs_connections{mountpoint=\"/m\"} 2");
	has("rnfs_connections_up{mountpoint=\"/m\"} 1");
	assert_null(strstr(text, "connection=")); /* only if the report lists each */
	report.npaths = 2;
	report.path[0].number[REPORT_PATH_UP] = 1;
	report.path[1].number[REPORT_PATH_CALLS] = 5;
	report.path[1].number[REPORT_PATH_PULLED_UP] = 7;
	every_sample_has_a_head(state);
	write_metrics();
	has("# TYPE rnfs_connection_up gauge\n"
	    "rnfs_connection_up{mountpoint=\"/m\",connection=\"1\"} 1\n"
	    "rnfs_connection_up{mountpoint=\"/m\",connection=\"2\"} 0");
	has("# TYPE rnfs_connection_rpc_calls_total counter\n"
	    "rnfs_connection_rpc_calls_total{mountpoint=\"/m\",connection=\"1\"} 0\n"
	    "rnfs_connection_rpc_calls_total{mountpoint=\"/m\",connection=\"2\"} 5");
	has("rnfs_connection_write_copied_bytes_total{mountpoint=\"/m\",connection=\"2\"} 7");
}

static void without_counters_there_are_fewer(void **state)
{
	report.requests = report.operations = NULL;
	write_metrics();
	assert_null(strstr(text, "rnfs_request"));
	has("rnfs_rpc_calls_total{mountpoint=\"/m\"} 12");
	report.requests = &requests;
	report.operations = &operations;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_have_units),
		TEST(buckets_are_cumulative),
		TEST(labels_are_escaped),
		TEST(every_sample_has_a_head),
		TEST(each_of_several_connections_is_shown),
		TEST(without_counters_there_are_fewer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
