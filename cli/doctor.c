/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * doctor: the command line of `rnfs doctor`, and the bundle for a report.
 */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/source.h"
#include "transport/log.h"

#define USAGE "rnfs doctor [--bundle FILE] [-o port=N,proto=P,vers=V] [SERVER[:/EXPORT]]"

static int wrong(const char *what, const char *value)
{
	fprintf(stderr, "rnfs: doctor: %s%s: the command line is %s\n", what, value, USAGE);
	return 2;
}

static bool set_option(struct doctor *d, char *item)
{
	static const char *const protos[] = {
		[RPC_TCP] = "tcp", [RPC_IWARP] = "iwarp", [RPC_RDMA] = "rdma"};
	char *value = strchr(item, '='), *end;
	unsigned long n;

	if (!value || !value[1])
		return false;
	*value++ = 0;
	if (!strcmp(item, "port")) {
		n = strtoul(value, &end, 10);
		d->port = (uint16_t)n;
		return !*end && n && n <= UINT16_MAX;
	}
	if (!strcmp(item, "vers")) {
		d->vers_major = (unsigned)(value[0] - '0');
		d->vers_minor = value[1] == '.' ? (unsigned)(value[2] - '0') : 0;
		return !strcmp(value, "3") || !strcmp(value, "4") || !strcmp(value, "4.1") ||
		       !strcmp(value, "4.2");
	}
	if (strcmp(item, "proto"))
		return false;
	for (d->proto = 0; d->proto < 3; d->proto++)
		if (!strcmp(value, protos[d->proto]))
			return true;
	d->proto = -1;
	return !strcmp(value, "auto");
}

/* -o options take precedence over the URL's; options without effect on the way to the server are
 * left out. */
static int take_source(struct doctor *d, struct source *s, const char *text)
{
	struct doctor url = {.proto = -1};
	struct err e = {0};
	char *rest, *item;

	if (source_parse(s, text, SOURCE_MAY_BE_SERVER, &e)) {
		fprintf(stderr, "rnfs: doctor: %s\n", e.msg);
		return -1;
	}
	for (rest = s->options; (item = strsep(&rest, ","));)
		set_option(&url, item);
	d->host = s->host;
	d->export = s->export;
	if (d->proto < 0)
		d->proto = url.proto;
	if (!d->port)
		d->port = url.port;
	if (!d->vers_major) {
		d->vers_major = url.vers_major;
		d->vers_minor = url.vers_minor;
	}
	return 0;
}

static void say_what_this_is(FILE *out)
{
	struct utsname u;

	uname(&u);
	fprintf(out, "rnfs %s, Linux %s, %s, user %u\n", RNFS_VERSION, u.release, u.machine,
		(unsigned)geteuid());
}

/* Copies a file below /proc, or only the lines with `word`. */
static void copy_lines(FILE *out, const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char line[1024];

	fprintf(out, "\n%s\n", path);
	if (!f) {
		fprintf(out, "%s\n", strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), f))
		if (!word || strstr(line, word))
			fputs(line, out);
	fclose(f);
}

/* The bundle is text, so that the user can read everything in the bundle before sending the bundle.
 * No environment, no credentials and no file names but mount points go into the bundle. */
static FILE *bundle_begin(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		fprintf(stderr, "rnfs: doctor: --bundle %s: %s\n", path,
			errno == EEXIST ? "it exists; give a new name" : strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return out;
}

static int bundle_end(FILE *out, const char *path)
{
	bool bad;

	copy_lines(out, "/proc/self/mountinfo", " fuse.rnfs ");
	copy_lines(out, "/proc/self/limits", NULL);
	copy_lines(out, "/proc/self/cgroup", NULL);
	copy_lines(out, "/proc/meminfo", "Mem");
	bad = ferror(out);
	bad |= fclose(out) != 0;
	if (bad) {
		fprintf(stderr, "rnfs: doctor: %s could not be written whole\n", path);
		unlink(path);
		return 1;
	}
	printf("the report is in %s: read it, then attach it\n", path);
	return 0;
}

int doctor_main(int argc, char **argv)
{
	static const struct option longs[] = {{"bundle", required_argument, NULL, 'b'}, {0}};
	struct doctor d = {.proto = -1};
	struct source source = {0};
	const char *bundle = NULL;
	FILE *out = stdout;
	char *rest, *item;
	int c, status;

	opterr = optind = 0;
	while ((c = getopt_long(argc, argv, "+o:", longs, NULL)) != -1) {
		if (c == 'b')
			bundle = optarg;
		else if (c != 'o')
			return wrong("unknown option ", argv[optind - 1]);
		else
			for (rest = optarg; (item = strsep(&rest, ","));)
				if (*item && !set_option(&d, item))
					return wrong("it takes no option ", item);
	}
	if (argc - optind > 1)
		return wrong("too many arguments", "");
	if (optind < argc && take_source(&d, &source, argv[optind])) {
		source_finish(&source);
		return 2;
	}
	if (bundle && !(out = bundle_begin(bundle))) {
		source_finish(&source);
		return 1;
	}
	log_init("rnfs", LOG_L_ERROR);
	findings_init(&d.f, out);
	say_what_this_is(out);
	doctor_machine(&d, "");
	if (d.host)
		doctor_server(&d);
	status = findings_end(&d.f);
	source_finish(&source);
	if (bundle && bundle_end(out, bundle))
		return 1;
	return status;
}
