/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rnfs-mountfd: mounts a directory, and gives the FUSE device to a sidecar.
 *
 *     mounted, listening -> a sidecar is connected -> [ready] -> the sidecar has ended -> ...
 *
 * When the next sidecar connects, a new mount replaces the dead one. This process closes the
 * descriptor as soon as the descriptor has been sent. So the end of the sidecar is the end of the
 * mount, and programs get errors instead of waiting. This process ends after SIGTERM or SIGINT,
 * which unmount, or when the mount is gone, for example unmounted by a CSI driver.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/handover.h"
#include "contrib/mountfd/fuse_mount.h"
#include "transport/log.h"

#define EXIT_USAGE 2
#define TICK_MS	   1000
#define ANY_USER   ((uid_t)-1)

struct options {
	const char *socket, *ready, *error;
	char list[HANDOVER_OPTIONS];
	uid_t user; /* of the sidecar, or ANY_USER */
	bool foreground;
};

struct mounter {
	struct options o;
	struct fuse_mount mount;
	char directory[PATH_MAX];
	int device;   /* not handed over yet; -1: handed over */
	int listener; /* a Unix socket */
	int sidecar;  /* the connection; -1: there is none */
	bool ready;   /* as the sidecar has said */
};

/* --- the command line ------------------------------------------------------------------------- */

static void usage(FILE *out)
{
	fputs("Usage: rnfs-mountfd [options] SOCKET SERVER:/EXPORT DIRECTORY\n"
	      "Mounts DIRECTORY and gives the FUSE device to the rnfs that connects to SOCKET\n"
	      "(rnfs -f --fd-from SOCKET).\n"
	      "\n"
	      "  -o OPTION[,OPTION...]  options of rnfs(8) and mount(8)\n"
	      "  --user UID|any         who may connect (default: the user of this process)\n"
	      "  --ready FILE           is there while DIRECTORY can be used\n"
	      "  --error FILE           has the sentence why it cannot\n"
	      "  -f                     stay in the foreground\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n",
		out);
}

static int parse_user(const char *s, uid_t *user, struct err *e)
{
	char *end;
	unsigned long v;

	*user = ANY_USER;
	if (!strcmp(s, "any"))
		return 0;
	errno = 0;
	v = strtoul(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || v >= ANY_USER)
		return err_set(e, ERR_USAGE, "--user %.60s: a number or \"any\" is wanted", s);
	*user = (uid_t)v;
	return 0;
}

/* A further -o adds to the list. */
static int add_options(struct options *o, const char *more, struct err *e)
{
	size_t len = strlen(o->list);

	if (snprintf(o->list + len, sizeof(o->list) - len, "%s%s", len ? "," : "", more) >=
		(int)(sizeof(o->list) - len))
		return err_set(e, ERR_USAGE, "the options are too long");
	return 0;
}

/* 0; 1: there is nothing more to do; -1 with *e set. */
static int parse(struct options *o, struct fuse_mount *m, int argc, char **argv, struct err *e)
{
	enum { USER = 256, READY, ERROR };
	static const struct option longs[] = {
		{"user", required_argument, NULL, USER},
		{"ready", required_argument, NULL, READY},
		{"error", required_argument, NULL, ERROR},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	int c;

	*o = (struct options){.user = geteuid()};
	opterr = 0;
	while ((c = getopt_long(argc, argv, "hVfo:", longs, NULL)) != -1) {
		switch (c) {
		case 'h':
			usage(stdout);
			return 1;
		case 'V':
			printf("rnfs-mountfd %s\n", RNFS_VERSION);
			return 1;
		case 'f':
			o->foreground = true;
			break;
		case 'o':
			if (add_options(o, optarg, e))
				return -1;
			break;
		case USER:
			if (parse_user(optarg, &o->user, e))
				return -1;
			break;
		case READY:
			o->ready = optarg;
			break;
		case ERROR:
			o->error = optarg;
			break;
		default:
			return err_set(e, ERR_USAGE,
				"unknown option, or its value is missing; see --help");
		}
	}
	if (argc - optind != 3)
		return err_set(e, ERR_USAGE,
			"the command line is rnfs-mountfd [options] SOCKET SERVER:/EXPORT "
			"DIRECTORY");
	o->socket = argv[optind];
	m->source = argv[optind + 1];
	m->directory = argv[optind + 2];
	m->uid = o->user == ANY_USER ? 0 : o->user;
	if (o->socket[0] != '/' || m->directory[0] != '/' || (o->ready && o->ready[0] != '/') ||
		(o->error && o->error[0] != '/'))
		return err_set(
			e, ERR_USAGE, "SOCKET, DIRECTORY and FILE have to be absolute paths");
	if (!strstr(m->source, ":/"))
		return err_set(e, ERR_USAGE, "\"%.100s\" is not SERVER:/EXPORT", m->source);
	if (strlen(m->source) >= PATH_MAX)
		return err_set(e, ERR_USAGE, "the source is too long");
	return fuse_mount_options(m, o->list, e);
}

/* --- files ------------------------------------------------------------------------------------ */

/* The file appears as a whole. */
static void put_file(const char *path, const char *text)
{
	char temp[PATH_MAX];
	FILE *f;

	if (!path)
		return;
	snprintf(temp, sizeof(temp), "%s.new", path);
	f = fopen(temp, "we");
	if (!f || fprintf(f, "%s\n", text) < 0 || fclose(f) || rename(temp, path))
		log_error("%s cannot be written: %s", path, strerror(errno));
}

static void drop_file(const char *path)
{
	if (path && unlink(path) && errno != ENOENT)
		log_error("%s cannot be removed: %s", path, strerror(errno));
}

/* --- the socket ------------------------------------------------------------------------------- */

/* The socket gets its name when connections work. */
static int listen_at(const struct options *o, struct err *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int s, n = snprintf(at.sun_path, sizeof(at.sun_path), "%s.new", o->socket);

	if (n < 0 || (size_t)n >= sizeof(at.sun_path))
		return err_set(e, ERR_USAGE, "SOCKET %.200s: a path of %zu bytes at most is wanted",
			o->socket, sizeof(at.sun_path) - 1 - strlen(".new"));
	unlink(at.sun_path);
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s >= 0 && !bind(s, (struct sockaddr *)&at, sizeof(at)) &&
		!chmod(at.sun_path, o->user == ANY_USER ? 0666 : 0600) &&
		(o->user == ANY_USER || o->user == geteuid() ||
			!chown(at.sun_path, o->user, (gid_t)-1)) &&
		!listen(s, 8) && !rename(at.sun_path, o->socket))
		return s;
	err_set(e, ERR_INTERNAL, "the socket %.200s cannot be made: %s", o->socket,
		strerror(errno));
	if (s >= 0)
		close(s);
	unlink(at.sun_path);
	return -1;
}

static bool is_welcome(const struct options *o, int sock)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &who, &n))
		return false;
	if (o->user == ANY_USER || who.uid == o->user || who.uid == 0)
		return true;
	log_warn("user %u has connected, and is not the one of --user", (unsigned)who.uid);
	return false;
}

/* --- a sidecar -------------------------------------------------------------------------------- */

static void say_failed(struct mounter *m, const char *sentence)
{
	log_error("%s: %s", m->mount.directory, sentence);
	put_file(m->o.error, sentence);
}

/* Makes a device for the next sidecar. The new mount replaces the dead mount of the last sidecar.
 */
static bool have_device(struct mounter *m)
{
	struct err e = {0};

	if (m->device >= 0)
		return true;
	fuse_mount_end(&m->mount);
	m->device = fuse_mount_make(&m->mount, &e);
	if (m->device < 0)
		say_failed(m, e.msg);
	return m->device >= 0;
}

static void hand_over(struct mounter *m, int sock)
{
	struct handover h = {.fd = m->device, .pidns = handover_pidns()};
	int r;

	snprintf(h.source, sizeof(h.source), "%s", m->mount.source);
	snprintf(h.options, sizeof(h.options), "%s", m->o.list);
	snprintf(h.directory, sizeof(h.directory), "%s", m->mount.directory);
	r = handover_send(sock, &h);
	if (r) {
		log_error("the sidecar has gone at once: %s", strerror(-r));
		close(sock);
		return;
	}
	close(m->device);
	m->device = -1;
	m->sidecar = sock;
	m->ready = false;
	drop_file(m->o.error);
}

static void take_connection(struct mounter *m)
{
	int sock = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (sock < 0)
		return;
	if (!is_welcome(&m->o, sock)) {
		close(sock);
	} else if (m->sidecar >= 0) {
		handover_send_busy(sock);
		close(sock);
	} else if (have_device(m)) {
		hand_over(m, sock);
	} else {
		close(sock);
	}
}

static void hear_sidecar(struct mounter *m)
{
	char sentence[HANDOVER_SENTENCE];

	switch (handover_hear(m->sidecar, sentence)) {
	case HANDOVER_READY:
		m->ready = true;
		put_file(m->o.ready, m->mount.directory);
		log_always_info("%s: served", m->mount.directory);
		break;
	case HANDOVER_FAILED:
		m->ready = true; /* the sidecar has told the reason */
		drop_file(m->o.ready);
		say_failed(m, sentence);
		break;
	case HANDOVER_ENDED:
		close(m->sidecar);
		m->sidecar = -1;
		drop_file(m->o.ready);
		log_always_info("%s: the sidecar has ended", m->mount.directory);
		if (!m->ready)
			say_failed(m, "the sidecar has ended before it served");
		break;
	case HANDOVER_NONE:
		break;
	}
}

/* --- the end and the beginning ---------------------------------------------------------------- */

/* False: a dead mount could not be replaced. */
static bool run(struct mounter *m, int signals)
{
	struct pollfd p[] = {{.fd = signals, .events = POLLIN},
		{.fd = m->listener, .events = POLLIN}, {.events = POLLIN}};

	do {
		p[2].fd = m->sidecar; /* poll() passes over -1 */
		if (poll(p, 3, TICK_MS) <= 0)
			continue;
		if (p[0].revents) {
			log_always_info("signal: unmounting %s", m->mount.directory);
			return true;
		}
		if (p[2].fd >= 0 && p[2].revents)
			hear_sidecar(m);
		if (p[1].revents)
			take_connection(m);
	} while (fuse_mount_is_there(&m->mount));
	return m->mount.made;
}

static void finish(struct mounter *m)
{
	fuse_mount_end(&m->mount);
	if (m->device >= 0)
		close(m->device);
	unlink(m->o.socket);
	drop_file(m->o.ready);
}

static int begin(struct mounter *m, struct err *e)
{
	if (!realpath(m->mount.directory, m->directory))
		return err_set(e, ERR_INTERNAL, "%.200s: %s", m->mount.directory, strerror(errno));
	m->mount.directory = m->directory;
	m->device = fuse_mount_make(&m->mount, e);
	if (m->device < 0)
		return -1;
	drop_file(m->o.ready);
	drop_file(m->o.error);
	m->listener = listen_at(&m->o, e);
	if (m->listener >= 0)
		return 0;
	fuse_mount_end(&m->mount);
	return -1;
}

/* The child goes on when the parent has nothing more to say. */
static void go_into_background(void)
{
	static const struct log_choice where;
	char said[LOG_TARGET_SAID];
	int null;

	if (fork() > 0)
		_exit(0);
	setsid();
	(void)!chdir("/");
	log_begin(&where, true, said);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; null >= 0 && i <= 2; i++)
		if (i < 2 || log_target_used() != LOG_TO_STDERR)
			dup2(null, i);
}

int main(int argc, char **argv)
{
	static struct mounter m = {.device = -1, .listener = -1, .sidecar = -1};
	struct err e = {0};
	sigset_t set;
	int r;

	log_init("rnfs-mountfd", LOG_L_INFO);
	r = parse(&m.o, &m.mount, argc, argv, &e);
	if (r > 0)
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (r < 0 || begin(&m, &e)) {
		fprintf(stderr, "rnfs-mountfd: %s\n", e.msg);
		return e.kind == ERR_USAGE ? EXIT_USAGE : EXIT_FAILURE;
	}
	if (!m.o.foreground)
		go_into_background();
	r = run(&m, signalfd(-1, &set, SFD_CLOEXEC)) ? EXIT_SUCCESS : EXIT_FAILURE;
	finish(&m);
	return r;
}
