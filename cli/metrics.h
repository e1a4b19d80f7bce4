/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * metrics: a report in Prometheus's text format, version 0.0.4.
 *
 * Each metric has the label mountpoint, so files of several mounts may be read together. Units are
 * seconds and bytes. The buckets of histograms are every second one of the report's, from 4 us to
 * 69 s.
 */
#ifndef RNFS_CLI_METRICS_H
#define RNFS_CLI_METRICS_H

#include <stdio.h>

#include "cli/report.h"

/* Writes the report as metrics. ferror() tells of write errors. */
void metrics_write(const struct report *r, FILE *out);

#endif
