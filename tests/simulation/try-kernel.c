/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * try-kernel: the model of the kernel beside Linux. One schedule of system calls, changes behind
 * the kernel's back and faults is played on both, with the same daemon. The programs' results and
 * the daemon's requests must be the same, line by line.
 *
 *     try-kernel SEED [STEPS]                 both, and compares; status 77: not possible here
 *     try-kernel --model[=VERSION] SEED [STEPS]    one side alone, which writes a transcript
 *     try-kernel --real=DIRECTORY SEED [STEPS]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/simulation/deed_model.h"
#include "tests/simulation/deed_real.h"
#include "tests/simulation/play.h"
#include "tests/simulation/sched.h"

#define SKIPPED 77
#define CONTEXT 12 /* lines in front of a difference */
#define LIFE	60 /* s */
#define OLDEST	601
#define NEWEST	618

static uint64_t seed;
static unsigned steps = 150, version;

/* --- one side --------------------------------------------------------------------------------- */

static void first(void *ctx)
{
	struct play_mount m = play_mount(seed);
	struct vfs_params vp = {.version = version,
		.allow_other = true,
		.default_permissions = m.default_permissions};
	struct vfs *v = vfs_new(&vp);

	m.daemon.fd = vfs_descriptor(v);
	loopback_start(&m.daemon);
	if (!vfs_wait_ready(v, SCHED_NEVER))
		sched_fail("no INIT");
	play(seed, steps, deed_model_start(v), ctx);
	deed_model_stop();
	usleep(1000000);
	vfs_check(v);
	if (vfs_unmount(v))
		sched_fail("files are open");
	loopback_stop();
	vfs_free(v);
}

static int play_model(FILE *out)
{
	struct sched_params p = {.seed = seed, .most_steps = 20000000, .out = stderr};

	p.trace = getenv("TRACE") ? 2 : 0;
	sched_run(&p, first, out);
	return fflush(out) ? 1 : 0;
}

static int play_real(const char *directory, FILE *out)
{
	struct play_mount m = play_mount(seed);

	m.daemon.fd = deed_real_mount(directory, m.default_permissions);
	if (m.daemon.fd < 0) {
		fprintf(stderr, "/dev/fuse cannot be mounted here: %s\n", strerror(-m.daemon.fd));
		return SKIPPED;
	}
	alarm(LIFE);
	loopback_start(&m.daemon);
	play(seed, steps, deed_real_start(directory, m.daemon.fd), out);
	deed_real_stop(directory);
	loopback_stop();
	return fflush(out) ? 1 : 0;
}

/* --- both ------------------------------------------------------------------------------------- */

static FILE *side(const char *directory, int *status)
{
	FILE *f = tmpfile();
	pid_t child;

	if (!f)
		abort();
	child = fork();
	if (!child)
		_exit(directory ? play_real(directory, f) : play_model(f));
	if (child < 0 || waitpid(child, status, 0) < 0)
		abort();
	rewind(f);
	return f;
}

/* The lines before a difference, and some of each side behind. */
static void show(FILE *model, FILE *real, unsigned line)
{
	FILE *const both[] = {model, real};
	char text[65536];

	for (unsigned s = 0; s < 2; s++) {
		rewind(both[s]);
		printf("%s:\n", s ? "Linux" : "the model");
		for (unsigned n = 0; n < line + 4 && fgets(text, sizeof(text), both[s]); n++)
			if (n + (s ? 1 : CONTEXT) >= line)
				printf("%s %s", n + 1 == line ? "->" : "  ", text);
	}
}

/* Linux reads ahead up to the end of the file as known at that moment. A READ on its way may have a
 * short answer, which tells an earlier end. The model reads ahead after the answer, and so asks for
 * nothing. Linux asks for more if the reader is faster than the daemon. */
static bool is_ahead_of_answer(const char *line, const char *before)
{
	return strstr(line, " READ ") && strstr(before, "which has ");
}

static int compare(FILE *model, FILE *real)
{
	char a[65536], b[65536], before[65536] = "";
	unsigned line = 0;

	for (;;) {
		const char *x = fgets(a, sizeof(a), model), *y = fgets(b, sizeof(b), real);

		line++;
		if (x && y && strcmp(a, b) && is_ahead_of_answer(b, before))
			y = fgets(b, sizeof(b), real);
		if (!x && !y)
			break;
		if (x && y && !strcmp(a, b)) {
			strcpy(before, b);
			continue;
		}
		printf("seed %llu: line %u differs\n", (unsigned long long)seed, line);
		show(model, real, line);
		return 1;
	}
	printf("%u lines\n", line - 1);
	return 0;
}

static int play_both(void)
{
	char directory[] = "/tmp/try-kernel-XXXXXX";
	int status[2], res = 1;
	FILE *model, *real;

	if (version < OLDEST || version > NEWEST) {
		fprintf(stderr, "the model is of Linux 6.1 to 6.18, and this is another\n");
		return SKIPPED;
	}
	if (!mkdtemp(directory) || chmod(directory, 0755))
		abort();
	real = side(directory, &status[0]);
	model = side(NULL, &status[1]);
	rmdir(directory);
	if (WIFEXITED(status[0]) && WEXITSTATUS(status[0]) == SKIPPED)
		return SKIPPED;
	if (status[0] || status[1])
		printf("seed %llu: Linux ends with %x, the model with %x\n",
			(unsigned long long)seed, status[0], status[1]);
	else
		res = 0;
	return compare(model, real) || res;
}

/* This machine's. */
static unsigned running(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		abort();
	return major * 100 + minor;
}

int main(int argc, char **argv)
{
	const char *directory = NULL;
	bool model = false;

	version = running();
	if (argc > 1 && !strncmp(argv[1], "--model", 7)) {
		model = true;
		if (argv[1][7] == '=')
			version = (unsigned)atoi(argv[1] + 8);
	} else if (argc > 1 && !strncmp(argv[1], "--real=", 7)) {
		directory = argv[1] + 7;
	}
	argc -= model || directory;
	argv += model || directory;
	if (argc < 2)
		return 2;
	seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		steps = (unsigned)atoi(argv[2]);
	return model ? play_model(stdout) : directory ? play_real(directory, stdout) : play_both();
}
