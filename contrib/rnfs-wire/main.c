/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rnfs-wire: prints RPC-over-RDMA headers in words, from captures of iWARP connections or from
 * hexadecimal digits.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/rnfs-wire/capture.h"
#include "contrib/rnfs-wire/hex.h"

#define MAX_HEX (4 * 1024 * 1024) /* bytes of a message in digits */

enum {
	EXIT_ODD = 1,	  /* something is unknown, wrong or missing */
	EXIT_TROUBLE = 2, /* the input could not be read */
};

struct input {
	void *data;
	size_t len;
	bool mapped;
};

static void help(void)
{
	puts("usage: rnfs-wire [options] FILE...        captures (pcap, pcapng), - for standard "
	     "input\n"
	     "       rnfs-wire [options] --hex [DIGITS...]\n"
	     "Prints the RPC-over-RDMA headers in them in words.\n\n"
	     "  --dialect NAME  what the version numbers mean: auto (the default), 1, 1-legacy, "
	     "2,\n"
	     "                  2-2016\n"
	     "  --hex           messages in hexadecimal digits, from the arguments or from "
	     "standard\n"
	     "                  input; an empty line between two of them\n"
	     "  --brief         a line for each message, and no details\n"
	     "  -h, --help      this\n"
	     "  -V, --version   the version\n\n"
	     "Exit status: 0; 1 if a message was unknown or wrong, or bytes are missing; 2 if\n"
	     "something could not be read.");
}

/* --- input ------------------------------------------------------------------------------------ */

static int read_all(int fd, struct input *in)
{
	size_t cap = 0;
	ssize_t n = 1;

	while (n) {
		if (in->len + 1 >= cap) {
			void *grown = realloc(in->data, cap ? cap * 2 : 65536);

			if (!grown)
				return -ENOMEM;
			in->data = grown;
			cap = cap ? cap * 2 : 65536;
		}
		n = read(fd, (char *)in->data + in->len, cap - in->len - 1);
		if (n < 0)
			return -errno;
		in->len += (size_t)n;
	}
	((char *)in->data)[in->len] = '\0';
	return 0;
}

static int input_read(const char *name, struct input *in)
{
	int fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;
	int rc;

	*in = (struct input){0};
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && fd != STDIN_FILENO) {
		in->len = (size_t)st.st_size;
		in->data = mmap(NULL, in->len, PROT_READ, MAP_PRIVATE, fd, 0);
		in->mapped = in->data != MAP_FAILED;
		rc = in->mapped ? 0 : -errno;
	} else {
		rc = read_all(fd, in);
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return rc;
}

static void input_free(struct input *in)
{
	if (in->mapped)
		munmap(in->data, in->len);
	else
		free(in->data);
}

/* --- printing --------------------------------------------------------------------------------- */

static int print_file(struct sink *sink, const char *name)
{
	struct input in;
	int rc = input_read(name, &in);

	if (rc) {
		fprintf(stderr, "rnfs-wire: %s: %s\n", name, strerror(-rc));
		return EXIT_TROUBLE;
	}
	rc = capture_print(sink, in.data, in.len);
	input_free(&in);
	if (rc == -EINVAL)
		fprintf(stderr, "rnfs-wire: %s: this is no capture (pcap or pcapng)\n", name);
	else if (rc)
		fprintf(stderr, "rnfs-wire: %s: it is cut off or malformed, and read up to there\n",
			name);
	return rc ? EXIT_TROUBLE : 0;
}

static int print_hex(struct sink *sink, const char *text)
{
	uint8_t *buf = malloc(MAX_HEX);
	struct header h;
	long n = -ENOMEM;

	while (buf && (n = hex_next(&text, buf, MAX_HEX)) > 0) {
		sink_read(sink, &h, NULL, 0, buf, (size_t)n);
		sink_print(sink, "", &h);
	}
	free(buf);
	if (n == -EINVAL)
		fprintf(stderr, "rnfs-wire: these are no hexadecimal digits: %.20s\n", text);
	else if (n)
		fprintf(stderr, "rnfs-wire: the message is too long\n");
	return n ? EXIT_TROUBLE : 0;
}

static int print_stdin_hex(struct sink *sink)
{
	struct input in;
	int rc = input_read("-", &in);

	if (rc) {
		fprintf(stderr, "rnfs-wire: standard input: %s\n", strerror(-rc));
		rc = EXIT_TROUBLE;
	} else {
		rc = print_hex(sink, in.data);
	}
	input_free(&in);
	return rc;
}

static int print_all(struct sink *sink, bool hex, char **args, int n)
{
	int rc = 0;

	if (hex && !n)
		return print_stdin_hex(sink);
	for (int i = 0; i < n; i++) {
		int one = hex ? print_hex(sink, args[i]) : print_file(sink, args[i]);

		rc = one ? one : rc;
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"dialect", required_argument, NULL, 'd'},
		{"hex", no_argument, NULL, 'x'}, {"brief", no_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {0}};
	bool hex = false;
	struct sink sink;
	int c, rc;

	sink_init(&sink, stdout);
	while ((c = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			if (header_dialect_named(optarg, &sink.dialect))
				break;
			fprintf(stderr,
				"rnfs-wire: no such dialect: %s (auto, 1, 1-legacy, 2, 2-2016)\n",
				optarg);
			return EXIT_TROUBLE;
		case 'x':
			hex = true;
			break;
		case 'b':
			sink.brief = true;
			break;
		case 'h':
			help();
			return 0;
		case 'V':
			puts("rnfs-wire " RNFS_VERSION);
			return 0;
		default:
			fputs("rnfs-wire: see rnfs-wire --help\n", stderr);
			return EXIT_TROUBLE;
		}
	}
	if (!hex && optind == argc) {
		fputs("rnfs-wire: which capture? See rnfs-wire --help\n", stderr);
		return EXIT_TROUBLE;
	}
	rc = print_all(&sink, hex, argv + optind, argc - optind);
	printf("%" PRIu64 " messages, %" PRIu64 " of them unknown, %" PRIu64 " errors, %" PRIu64
	       " things wrong, %" PRIu64 " bytes missing\n",
		sink.messages, sink.unknown, sink.errors, sink.wrong, sink.missing);
	if (!rc && (sink.unknown || sink.wrong || sink.missing))
		rc = EXIT_ODD;
	sink_finish(&sink);
	if (fflush(stdout) || ferror(stdout)) {
		perror("rnfs-wire: standard output");
		rc = EXIT_TROUBLE;
	}
	return rc;
}
