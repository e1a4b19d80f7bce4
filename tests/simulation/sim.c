/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sim: one run of the simulator: sim [--trace[=all]] [--pct] [--log] [--crowd NAME[,NAME...]]
 * [--schedule SEED] [--without PIECE[,PIECE...]] [--pieces] [--steps MOST] SEED. Prints one line at
 * the end.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "tests/simulation/descriptors.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/kernel.h"
#include "tests/simulation/mount.h"
#include "tests/simulation/network.h"
#include "tests/simulation/pieces.h"
#include "tests/simulation/programs.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/server.h"
#include "tests/simulation/ways.h"
#include "tests/simulation/weather.h"
#include "transport/log.h"

#define MOUNTS	    2
#define SERVER_ARGS (8 + WAYS_ARGS)
#define CACHE	    (64ul << 20)
#define CACHE_LEAST 100000u
#define CACHE_MORE  200000u
#define FORGET_MOST 300
#define FORGET_US   100000
#define SERVER	    "192.0.2.1"
#define STEPS_MOST  20000000
#define CONNECTIONS 1000 /* the first of the options that choose connections */

struct station {
	unsigned process;
	struct kernel *k;
	struct mount *m;
	unsigned connections;
	char options[300];
};

static const char *one_of(const char *const *words, unsigned n)
{
	return words[sched_choose(n)];
}

#define ONE_OF(...)                                                                                \
	one_of((const char *const[]){__VA_ARGS__},                                                 \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Bytes of a cache that is too small for the files of a run; 0: the cache is large. */
static size_t choose_cache(void)
{
	return sched_once_in(4) ? CACHE_LEAST + sched_choose(CACHE_MORE) : 0;
}

/* Mounts that keep no copy of sent data lose data if the server changes its write verifier. So such
 * mounts are for calm runs, in which the server is never killed. */
static void station_begin(struct station *s, const char *proto, bool calm)
{
	char *list = s->options, more[32] = "";
	size_t cache;

	s->process = sched_process_new("mount");
	if (s->connections > 1)
		snprintf(more, sizeof(more), ",nconnect=%u", s->connections);
	snprintf(list, sizeof(s->options), "proto=%s,port=2049,cache_size=64M%s%s%s", proto, more,
		ways.v3 && sched_once_in(2)
			? ",vers=3"
			: ONE_OF(",vers=4.2", ",vers=4.1", ",vers=4.2,delegations=write",
				  ",vers=4.2,delegations=write"),
		calm && !ways.verf_one_in
			? ONE_OF("", ",actimeo=600", ",actimeo=1", ",noac", ",nowriteback")
			: ONE_OF("", ",actimeo=600", ",actimeo=1"));
	cache = choose_cache();
	sched_event("mount with %s, %zu bytes of cache", list, cache ? cache : CACHE);
	s->k = kernel_new();
	s->m = mount_new(SERVER ":/", list, cache, kernel_device(s->k));
}

/* The daemon knows the root only, when the kernel has forgotten all else. */
static void check_forgotten(struct station *s)
{
	for (unsigned i = 0; i < FORGET_MOST; i++) {
		kernel_forget(s->k);
		if (mount_inodes(s->m) == 1)
			return;
		usleep(FORGET_US);
	}
	sched_fail("a mount knows %u inodes, and the kernel has forgotten all", mount_inodes(s->m));
}

/* quietly: no request is under way. Otherwise umount(2) drops requests, such as RELEASE. */
static void station_end(struct station *s, bool quietly)
{
	if (quietly)
		check_forgotten(s);
	kernel_unmount(s->k);
	mount_free(s->m);
	kernel_free(s->k);
}

static void server_args(char **args, const char *proto)
{
	char *first[] = {"--proto", (char *)proto, "--listen", SERVER ":2049", "--no-root-squash"};
	unsigned n = sizeof(first) / sizeof(*first);

	memcpy(args, first, sizeof(first));
	n += ways_args(args + n);
	args[n++] = "/sim/export";
	args[n] = NULL;
}

/* A quarter of the mounts has two or three connections. The choices are pieces with a stream of
 * their own, so the other choices do not depend on these. */
static void choose_connections(struct station *s)
{
	piece_begin(PIECE_OPTION, CONNECTIONS, 0);
	for (unsigned i = 0; i < MOUNTS; i++) {
		unsigned chosen = sched_choose(8);

		s[i].connections = chosen < 6 ? 1 : chosen - 4;
	}
}

static void play(struct station *station, const char *crowds)
{
	const char *proto = ONE_OF("tcp", "iwarp");
	char *args[SERVER_ARGS];
	struct stage stage = {.mounts = MOUNTS, .calm = sched_once_in(2)};
	struct weather w = {.host = SERVER, .args = args};
	bool calm = stage.calm, quietly;

	log_init("sim", LOG_L_DATA);
	disk_new();
	disk_mkdir("/sim/export", 0777);
	ways_choose(calm, !strcmp(proto, "iwarp"));
	server_args(args, proto);
	weather_serve(&w);
	for (unsigned i = 0; i < MOUNTS; i++) {
		station_begin(&station[i], proto, calm);
		stage.k[i] = station[i].k;
		stage.options[i] = station[i].options;
		stage.process[i] = station[i].process;
		w.several |= station[i].connections > 1;
	}
	sched_process_enter(0);
	if (!calm)
		weather_begin(&w);
	programs_run(&stage, crowds);
	if (!calm)
		weather_end(&w);
	quietly = sched_once_in(2);
	for (unsigned i = 0; i < MOUNTS; i++)
		station_end(&station[i], quietly);
	/* a server that restarts while a mount takes leave may keep a session */
	if (calm)
		server_check_idle(w.server);
	server_free(w.server);
	if (descriptors_open() || network_connections())
		sched_fail("%u descriptors and %u connections are left", descriptors_open(),
			network_connections());
	disk_reset();
}

static void first(void *ctx)
{
	struct station station[MOUNTS];

	choose_connections(station);
	piece_begin(PIECE_OPTION, 0, 0);
	play(station, ctx);
}

/* The product always logs all, since its log takes locks, which are points; the log is seen where
 * it is asked for. */
static FILE *part_from_log(bool logs)
{
	FILE *out = fdopen(dup(STDERR_FILENO), "w");

	if (!out || (!logs && !freopen("/dev/null", "w", stderr)))
		abort();
	return out;
}

/* Addresses must be the same in each run: the product sorts and hashes some. */
static void fix_addresses(char **argv)
{
	int now = personality(0xffffffff);

	if (now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
		return;
	execv("/proc/self/exe", argv);
}

/* The command line. */
struct wish {
	struct sched_params p;
	const char *crowds;
	bool logs;
};

static bool understand(struct wish *w, int c, const char *arg)
{
	char why[400];

	switch (c) {
	case 't':
		w->p.trace = arg ? 2 : 1;
		return !arg || !strcmp(arg, "all");
	case 'p':
		w->p.policy = SCHED_PCT;
		return true;
	case 'l':
		return w->logs = true;
	case 'i':
		return w->p.pieces = true;
	case 's':
		w->p.schedule = strtoull(arg, NULL, 0);
		return true;
	case 'm':
		w->p.most_steps = strtoull(arg, NULL, 0);
		return true;
	case 'w':
		return pieces_leave_out(arg);
	case 'c':
		w->crowds = arg;
		if (programs_may_play(arg, why, sizeof(why)))
			return true;
		fprintf(stderr, "%s\n", why);
		exit(2);
	}
	return false;
}

static bool parse(struct wish *w, int argc, char **argv)
{
	static const struct option options[] = {{"trace", optional_argument, NULL, 't'},
		{"pct", no_argument, NULL, 'p'}, {"log", no_argument, NULL, 'l'},
		{"crowd", required_argument, NULL, 'c'}, {"pieces", no_argument, NULL, 'i'},
		{"schedule", required_argument, NULL, 's'}, {"steps", required_argument, NULL, 'm'},
		{"without", required_argument, NULL, 'w'}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!understand(w, c, optarg))
			return false;
	return optind == argc - 1;
}

/* On a stack of its own: addresses on the first thread's depend on the command line. */
static void *run(void *ctx)
{
	struct wish *w = ctx;

	sched_run(&w->p, first, (void *)w->crowds);
	return NULL;
}

int main(int argc, char **argv)
{
	struct wish w = {.p = {.most_steps = STEPS_MOST, .depth = 3, .span = 300000}};
	pthread_t runner;

	fix_addresses(argv);
	if (!parse(&w, argc, argv)) {
		fprintf(stderr,
			"usage: sim [--trace[=all]] [--pct] [--log] [--crowd NAME[,NAME...]]\n"
			"           [--schedule SEED] [--without PIECE[,PIECE...]] "
			"[--pieces] [--steps MOST] SEED\n");
		return 2;
	}
	w.p.out = part_from_log(w.logs);
	w.p.seed = strtoull(argv[optind], NULL, 0);
	pthread_create(&runner, NULL, run, &w);
	pthread_join(runner, NULL);
	printf("seed %llu: %llu steps, %llu ms, digest %016llx\n", (unsigned long long)w.p.seed,
		(unsigned long long)sched_steps(), (unsigned long long)sched_now() / 1000000,
		(unsigned long long)sched_digest());
	return 0;
}
