/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rnfs-serve: a server of NFSv4.1, NFSv4.2 and NFSv3 for one directory.
 *
 * The main thread starts everything, then waits for signals. Once a second it also releases idle
 * clients, descriptors and directory streams. Requests run on the connections' threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/v3/drc.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/v3/mountd.h"
#include "contrib/serve/main/life.h"
#include "contrib/serve/main/options.h"
#include "contrib/serve/main/register.h"
#include "contrib/serve/serve.h"
#include "transport/clock.h"
#include "transport/log.h"

#define MOMENT_NS  (10 * 1000 * 1000)
#define EXIT_USAGE 2

static int fail(const struct err *e)
{
	log_always_error("%s", e->msg);
	if (log_target_used() != LOG_TO_STDERR)
		fprintf(stderr, "rnfs-serve: %s\n", e->msg);
	return e->kind == ERR_USAGE ? EXIT_USAGE : EXIT_FAILURE;
}

/* Without --clients the server serves every host that reaches the port. */
static void warn_open(const struct options *o)
{
	for (unsigned i = 0; i < o->nlisten && !o->admit.nnets; i++) {
		if (sock_user_loopback((const struct sockaddr *)&o->listen[i].addr))
			continue;
		log_always_warn(
			"%s can be reached from other machines, and every user there is served; "
			"--clients ADDRESS/LENGTH restricts that",
			o->listen[i].host);
		return;
	}
}

/* Tells waiting programs that the server accepts connections. */
static void announce(const struct options *o, struct rpc_server *const *servers)
{
	for (unsigned i = 0; i < o->nlisten; i++) {
		const struct listen_at *l = &o->listen[i];
		unsigned port = rpc_server_port(servers[i]);

		printf("rnfs-serve: serving %s on %s:%u (%s)\n", o->dir, l->host, port,
			rpc_proto_name(l->proto));
		if (o->ready_fd >= 0)
			dprintf(o->ready_fd, "%s:%u\n", l->host, port);
	}
	fflush(stdout);
	if (o->ready_fd > 2)
		close(o->ready_fd);
}

static void report(struct serve *sv)
{
	struct drc_stats s;

	state_report(&sv->state);
	if (sv->devices)
		layouts_report(sv->state.layouts, sv->devices);
	drc_stats(sv->drc, &s);
	log_always_info("NFSv3: %u mounts not given back, %u answers kept, %" PRIu64
			" calls answered from them",
		mount_list_count(sv->mounts), s.entries, s.hits);
}

/* The kernel also sends SIGIO at the end of each delegation, without any news. After such a signal
 * this thread leaves SIGIO pending for MOMENT_NS. */
static void run(struct life *l, const sigset_t *signals)
{
	struct serve *sv = &l->sv;
	const struct timespec second = {.tv_sec = 1}, moment = {.tv_nsec = MOMENT_NS};
	bool hushed = false, was;
	uint64_t tick_ns = 0;
	sigset_t others = *signals;
	int sig;

	sigdelset(&others, SIGIO);
	do {
		was = hushed;
		sig = sigtimedwait(was ? &others : signals, NULL, was ? &moment : &second);
		hushed = sig == SIGIO && !deleg_disturbed(&sv->state);
		if (sig == SIGRTMIN)
			deleg_leases_broken(&sv->state);
		if ((hushed || (was && sig < 0)) && clock_ns() < tick_ns)
			continue;
		tick_ns = clock_ns() + NSEC_PER_SEC;
		life_tick(l);
		if (sig == SIGUSR1)
			report(sv);
		else if (sig == SIGHUP)
			log_reopen();
	} while (sig != SIGTERM && sig != SIGINT);
	log_ctrl("ended by %s", strsignal(sig));
}

/* Registers the server with rpcbind, or (on false) takes the registration back. */
static int tell_rpcbind(
	const struct options *o, struct rpc_server *const *servers, bool on, struct err *e)
{
	const struct listen_at *at = &o->listen[o->registered < 0 ? 0 : o->registered];
	const struct sockaddr *addr = (const struct sockaddr *)&at->addr;

	if (o->registered < 0)
		return 0;
	if (on)
		return register_set(addr, at->addr_len, rpc_server_port(servers[o->registered]), e);
	register_unset(addr);
	return 0;
}

static int serve(const struct options *o, const sigset_t *signals)
{
	struct life l;
	struct err e = {0};

	if (life_begin(&l, o, &e) < 0)
		return fail(&e);
	if (tell_rpcbind(o, l.servers, true, &e) == 0) {
		warn_open(o);
		announce(o, l.servers);
		run(&l, signals);
		tell_rpcbind(o, l.servers, false, &e);
	}
	life_end(&l);
	return e.kind == ERR_NONE ? EXIT_SUCCESS : fail(&e);
}

int main(int argc, char **argv)
{
	char said[LOG_TARGET_SAID];
	struct options o;
	struct err e = {0};
	sigset_t signals;

	log_init("rnfs-serve", LOG_L_INFO);
	if (serve_options_parse(&o, argc, argv, &e) < 0)
		return fail(&e);
	if (o.help) {
		serve_options_usage();
		return EXIT_SUCCESS;
	}
	if (o.version) {
		printf("rnfs-serve %s\n", RNFS_VERSION);
		return EXIT_SUCCESS;
	}
	log_init("rnfs-serve", o.debug > 1 ? LOG_L_DATA : o.debug ? LOG_L_CTRL : LOG_L_INFO);
	if (log_target_open(&o.log, &e) < 0)
		return fail(&e);
	log_begin(&o.log, false, said);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* beyond RLIMIT_FSIZE calls fail with EFBIG, which is answered */
	umask(0);		  /* modes are the clients' */
	ident_init(!o.no_root_squash && !o.data_server);
	/* before any thread: they inherit the mask, and the signals are the main thread's alone */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	if (o.log.to == LOG_TO_FILE)
		sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGRTMIN); /* leases: deleg.h */
	sigaddset(&signals, SIGIO);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	return serve(&o, &signals);
}
