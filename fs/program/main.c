/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rnfs: mounts an NFS export over RDMA, from user space.
 *
 * Order of things: options, mount point, fork; in the daemon: connection and session with the
 * server (first.h), FUSE mount, workers, the kernel's INIT, and only then the verdict to the
 * parent. With delay_connect the FUSE mount and the verdict come first, and the kernel keeps all
 * requests until the workers begin. The main thread then runs its loop (loop.h). The end: the
 * threads that notify the kernel stop, then the workers. Silly names are removed. The client ends
 * the calls in flight and returns its state. The session is destroyed, and memory is freed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/auto_unmount.h"
#include "cli/command.h"
#include "cli/fuse_fd.h"
#include "cli/help.h"
#include "cli/helper.h"
#include "cli/machine.h"
#include "cli/remount.h"
#include "cli/sidecar.h"
#include "cli/user_mounts.h"
#include "fs/coherence/announce.h"
#include "fs/program/control.h"
#include "fs/program/daemon.h"
#include "fs/program/first.h"
#include "fs/program/holder.h"
#include "fs/known/fs.h"
#include "fs/program/leave.h"
#include "fs/program/loop.h"
#include "fs/program/memory.h"
#include "fs/program/metrics_file.h"
#include "fs/program/mount.h"
#include "fs/lookup/nested.h"
#include "fs/coherence/notify.h"
#include "fs/options/options.h"
#include "fs/file/patience.h"
#include "fs/kernel/process.h"
#include "fs/kernel/service.h"
#include "fs/program/setup.h"
#include "fs/program/successor.h"
#include "fs/program/survivor.h"
#include "fs/program/installed.h"
#include "fs/kernel/signals.h"
#include "fs/kernel/worker.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/sd_notify.h"
#include "transport/state_dir.h"

#define DESCRIPTORS_LEAST 32u

static struct fs the_mount;
static bool only_checks; /* successor_checks() */

static void log_mounted(const struct fs *fs, const char *mountpoint)
{
	const struct nfs_client_info *i = &fs->info;
	char line[500];

	if (fs->skipped[0])
		log_always_info(
			"proto=auto: chose %s; %s", rpc_proto_name(i->rpc.proto), fs->skipped);
	stats_negotiated(i, line, sizeof(line));
	log_always_info("%s mounted on %s: %s", fs->opt->source, mount_shown(mountpoint), line);
}

/* Makes the parts of the mount that need the client. */
static int make_root(struct fs *fs, const char *skipped, struct err *e)
{
	struct nfs_fh root;
	struct nfs_attr attr;

	snprintf(fs->skipped, sizeof(fs->skipped), "%s", skipped);
	if (!setup_root(fs))
		return err_set(e, ERR_INTERNAL, "out of memory or threads");
	nfs_client_root(fs->client, &root, &attr);
	return nested_check(fs->mountpoint, fs->opt->source, &attr, e);
}

/* Until the verdict only problems go to the caller's terminal. */
static void set_log_level(const struct options *o, bool all)
{
	enum log_level level = o->debug_data ? LOG_L_DATA : o->debug ? LOG_L_CTRL : LOG_L_INFO;

	log_init("rnfs", all || o->debug ? level : LOG_L_WARN);
}

/* If the kernel does not wait for answers for ever, the terminal says so. said: the same for the
 * log, unless the log is on the terminal. */
static void mind_patience(struct fs *fs, char *said, size_t size)
{
	unsigned bound = 0;

	said[0] = 0;
	if (!fs->may_time_out)
		return;
	if (!patience_s("", &bound)) {
		patience_say_unknown(said, size);
	} else if (bound) {
		announce_bound(fs, patience_answer_s(bound) * NSEC_PER_SEC);
		patience_say(bound, said, size);
	}
	if (!said[0])
		return;
	log_warn("%s", said);
	if (fs->opt->foreground)
		said[0] = 0;
}

static void say_version(void)
{
#ifdef HAVE_VERBS
	const char *rdma = "rdma (rdma-core), ";
#else
	const char *rdma = ""; /* built without rdma-core */
#endif

	printf("rnfs %s\nFUSE library %s\n", RNFS_VERSION, fuse_pkgversion());
	printf("transports: %siwarp, tcp\n", rdma);
	printf("NFS: 4.2, 4.1, 3\n");
}

/* Mounts. The kernel keeps requests until a worker has answered INIT; their processes can be
 * killed. */
static int begin_session(struct fs *fs, const struct daemon *d, struct err *e)
{
	const struct options *o = fs->opt;

	/* before: a signal must not leave a dead mount */
	signals_catch(fs->wake_fd, o->foreground && o->log.to != LOG_TO_FILE);
	if (mount_session(fs, fs->mountpoint, e))
		return -1;
	if (d->auto_unmount_fd >= 0 && !auto_unmount_mounted(d->auto_unmount_fd, fs->mountpoint))
		log_warn("option auto_unmount has no effect: /proc does not tell of the mount");
	return 0;
}

/* Goes on with the mount of the former daemon, whose record is fs->record. As connect_and_mount().
 */
static int take_over(
	struct fs *fs, struct daemon *d, first_wanted_fn *wanted, void *ctx, char *why, size_t size)
{
	const struct options *o = fs->opt;
	struct err e = {0};

	signals_catch(fs->wake_fd, o->foreground && o->log.to != LOG_TO_FILE);
	signals_let_in();
	fs->waits_for_threads = !fs->record->on_trial;
	switch (first_connect(fs, d, wanted, ctx, why, size)) {
	case FIRST_CONNECTED:
		break;
	case FIRST_FAILED:
		return -1;
	case FIRST_UNWANTED:
		why[0] = 0;
		return -1;
	case FIRST_LEFT:
		if (fs->record->on_trial)
			_exit(0);
		mount_detach(fs->mountpoint);
		survivor_leave(fs);
		_exit(survivor_loses(fs) ? 1 : 0);
	}
	if (!setup_root(fs))
		snprintf(why, size, "out of memory or threads");
	else if (fs->former ? survivor_take(fs, &e) : successor_take(fs, fs->record, &e))
		snprintf(why, size, "%s", e.msg);
	else
		return 0;
	return -1;
}

/* Used during the wait for the first connection. */
struct waiting {
	struct fs *fs;
	struct daemon *d;
	struct service *service;
};

static bool is_wanted(void *ctx)
{
	const struct waiting *w = ctx;

	service_tick(w->service);
	signals_reap();
	if (daemon_unwanted(w->d))
		return false;
	if (w->fs->former)
		return survivor_is_wanted(w->fs);
	if (signals_stops())
		return false;
	return !w->fs->se || !mount_gone(w->fs);
}

/* Makes the client, and the mount before or after the client. 0, or -1 with the sentence in why: ""
 * if the mount is not wanted any more. */
static int connect_and_mount(
	struct fs *fs, struct daemon *d, struct service *service, char *why, size_t size)
{
	struct waiting w = {.fs = fs, .d = d, .service = service};
	bool delay = fs->opt->delay_connect;
	struct err e = {0};

	if (setup_begin(fs, fs->opt, &e)) {
		snprintf(why, size, "%s", e.msg);
		return -1;
	}
	if (fs->record)
		return take_over(fs, d, is_wanted, &w, why, size);
	if (delay && !begin_session(fs, d, &e)) {
		if (!daemon_ready(d))
			signals_stop();
		set_log_level(fs->opt, true);
		service_delayed(service, fs);
	}
	if (!e.kind) {
		switch (first_connect(fs, d, is_wanted, &w, why, size)) {
		case FIRST_CONNECTED:
			break;
		case FIRST_FAILED:
			return -1;
		case FIRST_UNWANTED:
			why[0] = 0;
			return -1;
		/* no data was written, and the attempt uses the memory that would be freed */
		case FIRST_LEFT:
			if (fs->se)
				mount_detach(fs->mountpoint);
			_exit(0);
		}
	}
	if (!e.kind && !make_root(fs, why, &e) && (delay || !begin_session(fs, d, &e)))
		return 0;
	snprintf(why, size, "%s", e.msg);
	return -1;
}

/* Returns the exit status. */
static int give_up(struct fs *fs, struct daemon *d, const char *why)
{
	bool mounted = fs->se, lost;

	if (why[0])
		daemon_failed(d, why);
	if (fs->record && fs->record->on_trial)
		_exit(1); /* the mount and the state at the server are for the former program */
	if (fs->record)
		successor_failed(fs->record, why[0] ? why : "a signal has come");
	else if (mounted && !mount_gone(fs))
		mount_detach(fs->mountpoint);
	/* before data is made safe: the memory of that data may then be used anew, and the ledger
	 * of the former daemon is wrong */
	survivor_leave(fs);
	lost = survivor_loses(fs);
	leave_mount(fs, mounted);
	return why[0] || lost ? 1 : 0;
}

static int run(struct fs *fs, const struct options *o, const char *mountpoint, struct daemon *d)
{
	char why[1500] = "";
	struct err e = {0}, hold = {0};
	struct service service;
	bool ended, foreign = sidecar_directory()	  ? sidecar_is_foreign()
			      : fuse_fd_meant(mountpoint) ? fuse_fd_is_foreign()
							  : false;

	fs->opt = o;
	fs->mountpoint = mountpoint;
	fs->auto_unmount_fd = d->auto_unmount_fd;
	fs->holder_fd = d->holder_fd;
	service_begin(&service, fs, mountpoint);
	fs->service = &service;
	if (connect_and_mount(fs, d, &service, why, sizeof(why)))
		return give_up(fs, d, why);
	if (foreign)
		process_hide();
	if (!fs->notifier)
		fs->notifier = notifier_start(fs);
	if (!fs->notifier || !workers_start(fs, o->workers))
		err_set(&e, ERR_INTERNAL, "threads or memory for them cannot be had");
	else if (!loop_until_init(fs, &e)) {
		mount_set_readahead(mountpoint, memory_ahead_kb(fs->memory, o->readahead_kb));
		mind_patience(fs, why, sizeof(why));
		mount_note(fs);
		control_start(fs, &e);
		if (!fs->former && survivor_hold(fs, &hold)) {
			log_always_warn("%s: this mount ends with its daemon", hold.msg);
			survivor_leave(fs);
		}
		if (!daemon_ready(d))
			signals_stop(); /* the process that wanted the mount has gone */
		set_log_level(o, true);
		survivor_note(fs);
		if (fs->record)
			successor_ready(fs, fs->record);
		else
			log_mounted(fs, mountpoint);
		fs->record = record_free(fs->record);
		fs->former = former_free(fs->former);
		if (foreign)
			log_info("the mounter may be in another PID namespace: operations are done "
				 "in the name of a process's user and group, without other groups");
		if (why[0])
			log_info("%s", why);
		if (e.kind)
			log_info("commands such as rnfs stat cannot ask this daemon: %s", e.msg);
		e = (struct err){0};
		if (metrics_file_start(fs, &e))
			log_warn("metrics_file: %s", e.msg);
		memory_log(fs);
		service_ready(&service, fs);
		ended = loop_run(fs, &service);
		service_end(&service);
		survivor_leave(fs);
		leave_notices(fs);
		workers_stop(fs);
		fs_log_stats(fs);
		/* If open files hold the session, the end of the process ends it; an unmount now
		 * could hit another mount there. */
		return leave_mount(fs, ended || mount_gone(fs)) ? 0 : 1;
	}
	workers_stop(fs);
	mount_detach(mountpoint);
	leave_mount(fs, true);
	daemon_failed(d, e.msg);
	return 1;
}

/* Opens the log. Refuses a log inside the mount, which would wait for itself. */
static int open_log(const struct log_choice *log, const char *mountpoint, struct err *e)
{
	if (log_target_is_in(log, mountpoint))
		return err_set(e, ERR_USAGE,
			"log=%.150s: the file would be below the mount point %.150s: give another",
			log->file, mountpoint);
	return log_target_open(log, e);
}

/* The file system of the metrics file must not wait for this mount, either. */
static int check_metrics(const char *file, const char *mountpoint, struct err *e)
{
	if (!file || !state_dir_is_in(file, mountpoint))
		return 0;
	return err_set(e, ERR_USAGE,
		"metrics_file=%.120s: the file would be below the mount point %.120s: give another",
		file, mountpoint);
}

/* Exit statuses. */
struct statuses {
	int usage, failed;
};

static int refused(const struct err *e, const struct statuses *s)
{
	fprintf(stderr, "rnfs: %s\n", e->msg);
	sidecar_tell(e->msg);
	return e->kind == ERR_USAGE ? s->usage : s->failed;
}

static int print_about(enum options_action action)
{
	if (action == OPTIONS_HELP)
		help_short(stdout);
	else
		say_version();
	return fflush(stdout) ? 1 : 0;
}

/* The way of a successor to its mount. */
static int go_on(const struct options *o, const struct statuses *s)
{
	const struct record_head *former = &the_mount.record->head;
	struct daemon d = {.failed_status = s->failed,
		.auto_unmount_fd = former->auto_unmount,
		.holder_fd = the_mount.holder_fd};
	char *mountpoint = strdup(former->mountpoint);
	struct err e = {0};
	int status;

	if (!mountpoint)
		return s->failed;
	if (log_target_open(&o->log, &e))
		log_warn("%s", e.msg);
	log_of(o->source, mount_shown(mountpoint));
	daemon_go_on(&d, o->foreground, &o->log);
	set_log_level(o, true);
	sd_notify_init();
	status = run(&the_mount, o, mountpoint, &d) ? s->failed : 0;
	log_of(NULL, NULL);
	free(mountpoint);
	return status;
}

/* h: the call by mount(8), or NULL. */
static int mount_export(const struct options *o, const struct helper *h, const struct statuses *s)
{
	struct daemon d = {.failed_status = s->failed, .auto_unmount_fd = -1, .holder_fd = -1};
	struct err e = {0};
	char *mountpoint;
	int status = 0;

	options_tell(o);
	if (!machine_has_descriptors(DESCRIPTORS_LEAST)) {
		err_set(&e, ERR_INTERNAL,
			"fewer than %u more files may be open: raise the limit (ulimit -n), to "
			"1024, say",
			DESCRIPTORS_LEAST);
		return refused(&e, s);
	}
	if (mount_check(o->mountpoint, &mountpoint, &e))
		return refused(&e, s);
	if (h && h->fake)
		goto out;
	if (o->survive && (fuse_fd_meant(mountpoint) || sidecar_directory())) {
		err_set(&e, ERR_USAGE,
			"option survive is not possible with a device that another process has "
			"opened (/dev/fd/N): leave the option out");
		status = refused(&e, s);
		goto out;
	}
	if (check_metrics(o->metrics_file, mountpoint, &e) || open_log(&o->log, mountpoint, &e)) {
		status = refused(&e, s);
		goto out;
	}
	log_of(o->source, mount_shown(mountpoint));
	if (daemon_start(&d, o->foreground, &o->log)) {
		fprintf(stderr, "rnfs: cannot go into the background: %s\n", strerror(errno));
		status = s->failed;
		goto out;
	}
	set_log_level(o, o->foreground || (h && h->verbose));
	sd_notify_init();
	if (o->auto_unmount && (d.auto_unmount_fd = auto_unmount_start(mountpoint)) < 0)
		log_warn("option auto_unmount has no effect: %s", strerror(errno));
	if (o->survive && (d.holder_fd = holder_start(
				   &d, o->foreground, mountpoint, HOLDER_TRIAL_MS, &e)) < 0) {
		daemon_failed(&d, e.msg);
		status = s->failed;
		goto out;
	}
	status = run(&the_mount, o, mountpoint, &d) ? s->failed : 0;
	if (status)
		sidecar_tell("rnfs has failed or could not make all safe: its log says why");
out:
	log_of(NULL, NULL);
	free(mountpoint);
	return status;
}

/* The end of process 1 ends its namespace: process 1 stays in the foreground. */
static int stay_if_first(struct options *o, struct err *e)
{
	if (!signals_first_process() || o->foreground || o->action != OPTIONS_MOUNT)
		return 0;
	o->foreground = true;
	return option_note(o, e,
		"process 1 of its PID namespace (a container, say) stays in the foreground, as "
		"with -f");
}

static int start(int argc, char **argv, const struct helper *h, const struct statuses *s)
{
	struct options o;
	struct err e = {0};
	int status = 0;

	if (options_parse(&o, argc, argv, &e) || stay_if_first(&o, &e))
		status = refused(&e, s);
	else if (o.action != OPTIONS_MOUNT)
		status = print_about(o.action);
	else if (only_checks)
		installed_print_formats();
	else if (the_mount.record)
		status = go_on(&o, s);
	else
		status = mount_export(&o, h, s);
	options_finish(&o);
	return status;
}

int main(int argc, char **argv)
{
	static const struct statuses own = {.usage = 2, .failed = 1};
	static const struct statuses helpers = {.usage = HELPER_USAGE, .failed = HELPER_FAILED};
	struct err e = {0};
	struct helper h;
	int status;

	signals_begin();
	daemon_standard_files();
	log_init("rnfs", LOG_L_WARN);
	if (argc == 2 && !strcmp(argv[1], "--complete")) { /* contrib/completion */
		option_words(stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--upgrade-format")) {
		installed_print_formats();
		return fflush(stdout) ? 1 : 0;
	}
	only_checks = successor_checks();
	if ((successor_begin(&the_mount.record, &e) || survivor_begin(&the_mount, &e)) &&
		!the_mount.record)
		return refused(&e, &own);
	if (auto_unmount_named(argv[0]))
		return auto_unmount_main(argc, argv);
	if (user_mounts_is_generator(argv[0]))
		return user_mounts_generate(argc, argv);
	if (!helper_named(argv[0])) {
		if (argc > 1 && command_known(argv[1]))
			return command_run(argc - 1, argv + 1);
		if (remount_wanted(argc, argv))
			return remount_run(argc, argv, &e) ? refused(&e, &own) : 0;
		if (sidecar_begin(&argc, &argv, &e))
			return refused(&e, &own);
		return start(argc, argv, NULL, &own);
	}
	prctl(PR_SET_NAME, "rnfs"); /* the kernel has named the process mount.rnfs */
	if (helper_init(&h, argc, argv, !geteuid(), &e))
		status = refused(&e, &helpers);
	else if (remount_wanted(argc, argv))
		status = remount_run(argc, argv, &e) ? refused(&e, &helpers) : 0;
	else
		status = start(h.argc, h.argv, &h, &helpers);
	helper_finish(&h);
	return status;
}
