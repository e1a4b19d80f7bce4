/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * survivor: a mount whose daemon may be killed, from the daemon's side.
 */
#include "fs/program/survivor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "fs/coherence/notify.h"
#include "fs/kernel/again.h"
#include "fs/kernel/device.h"
#include "fs/kernel/ending.h"
#include "fs/kernel/signals.h"
#include "fs/program/former.h"
#include "fs/program/holder.h"
#include "fs/program/mount.h"
#include "fs/program/record.h"
#include "transport/clock.h"
#include "transport/log.h"

#define HOLD_ATTEMPTS 20u
#define HOLD_PAUSE_NS (100 * NSEC_PER_MSEC)
#define NOTE_BYTES    (PATH_MAX + 2 * INIT_TALK_MAX + 1024u)

/* --- holding ---------------------------------------------------------------------------------- */

void survivor_note(struct fs *fs)
{
	struct record_head head = {
		.run = fs->handle_numbers.run + 1,
		.device = fuse_session_fd(fs->se),
		.row = -1,
		.auto_unmount = fs->auto_unmount_fd,
		.asker = -1,
		.mounted_at = fs->mounted_at,
		.log_level = (unsigned)atomic_load(&log_max_level),
		.proto = fs->info.rpc.proto,
		.vers_major = fs->info.vers_major,
		.vers_minor = fs->info.vers_minor,
	};
	uint8_t bytes[NOTE_BYTES];
	struct xdr_out x;

	if (!fs->ledger)
		return;
	snprintf(head.mountpoint, sizeof(head.mountpoint), "%s", fs->mountpoint);
	xdr_out_init(&x, bytes, sizeof(bytes));
	record_put_note(fs, &head, &x);
	if (xdr_out_ok(&x))
		ledger_put(fs->ledger, &fs->mount_note, NOTE_MOUNT, bytes, x.len);
	else
		ledger_give_up(fs->ledger);
}

int survivor_hold(struct fs *fs, struct err *e)
{
	int file[HOLDER_FILES], error = 0;

	if (!fs->ledger || fs->holder_fd < 0)
		return 0;
	survivor_note(fs);
	file[HOLDER_DEVICE] = fuse_session_fd(fs->se);
	file[HOLDER_LEDGER] = ledger_fd(fs->ledger);
	file[HOLDER_POOL] = mem_pool_fd(fs->pool);
	file[HOLDER_ROW] = device_row(fs->device);
	for (unsigned i = 0; i < HOLD_ATTEMPTS; i++) {
		if (holder_hold(fs->holder_fd, file))
			return 0;
		error = errno;
		if (error == EPIPE || error == ECONNRESET) {
			log_always_warn("the holder has gone: this mount ends with its daemon");
			return 0;
		}
		nanosleep(&(struct timespec){.tv_nsec = HOLD_PAUSE_NS}, NULL);
	}
	ledger_give_up(fs->ledger); /* rnfs upgrade is refused, too */
	return err_set(e, ERR_INTERNAL, "the holder cannot be given the files of the mount: %s",
		strerror(error));
}

/* --- taking over ------------------------------------------------------------------------------ */

/* The words of the holder, beside the files that fs gets. */
struct holder_told {
	int ledger, asker;
	uint64_t died_at;
	enum holder_way way;
};

/* Reads the numbers of descriptors. False: the variable is not as the holder writes it. */
static bool read_variable(struct fs *fs, struct holder_told *t)
{
	int fd[6], end = 0;
	unsigned long long at;
	unsigned way;
	const char *text = getenv(HOLDER_VARIABLE);

	if (!text ||
		sscanf(text, "%d,%d,%d,%d,%d,%llu,%d,%u%n", &fd[0], &fd[1], &fd[2], &fd[3], &fd[4],
			&at, &fd[5], &way, &end) != 8 ||
		text[end] || way >= HOLDER_WAYS)
		return false;
	for (unsigned i = 0; i < 6; i++)
		if (!(i >= 4 && fd[i] == -1) && (fd[i] <= 2 || fcntl(fd[i], F_SETFD, FD_CLOEXEC)))
			return false;
	fs->holder_fd = fd[0];
	fs->former_device = fd[1];
	fs->former_pool = fd[3];
	fs->former_row = fd[4];
	*t = (struct holder_told){.ledger = fd[2], .asker = fd[5], .died_at = at, .way = way};
	return true;
}

static struct record *read_note(const struct former *f, struct err *e)
{
	const void *data;
	uint32_t len;

	if (former_count(f, NOTE_MOUNT) != 1) {
		err_set(e, ERR_INTERNAL,
			"the ledger of the former daemon has no note of the mount");
		return NULL;
	}
	data = former_note(f, NOTE_MOUNT, 0, &len);
	return record_of_note(data, len, e);
}

bool survivor_begin(struct fs *fs, struct err *e)
{
	struct holder_told told;

	fs->holder_fd = -1;
	if (!getenv(HOLDER_VARIABLE))
		return false;
	prctl(PR_SET_NAME, "rnfs"); /* the kernel has named the process by a descriptor */
	if (!read_variable(fs, &told)) {
		err_set(e, ERR_USAGE, "the variable " HOLDER_VARIABLE " names no open files");
		return true;
	}
	unsetenv(HOLDER_VARIABLE);
	fs->former = former_read(told.ledger, e);
	close(told.ledger);
	fs->record = fs->former ? read_note(fs->former, e) : NULL;
	if (!fs->record)
		return true;
	if (fs->record->head.auto_unmount >= 0) /* the holder has let the pipe through */
		fcntl(fs->record->head.auto_unmount, F_SETFD, FD_CLOEXEC);
	fs->record->head.paused_at = told.died_at;
	fs->record->head.asker = told.asker;
	fs->record->on_trial = told.way == HOLDER_TRIAL;
	fs->record->is_back = told.way == HOLDER_BACK;
	fs->record->head.device = fs->former_device;
	fs->record->head.row = fs->former_row;
	return true;
}

int survivor_setup(struct fs *fs, size_t bytes, struct err *e)
{
	if (!fs->opt->survive)
		return 0;
	fs->ledger = ledger_new(e);
	if (fs->ledger && fs->former)
		fs->pool = written_former_pool(bytes, fs->former_pool, fs->former, e);
	else if (fs->ledger)
		fs->pool = mem_pool_new_shared(bytes, e);
	return fs->pool ? 0 : -1;
}

bool survivor_is_wanted(struct fs *fs)
{
	if (!fs->ending_at && mount_gone(fs))
		ending_begin(fs);
	return !ending_over(fs);
}

bool survivor_loses(const struct fs *fs)
{
	uint64_t bytes = fs->former && !fs->took_over ? written_former_bytes(fs->former) : 0;

	if (bytes)
		/* the attempt to connect may hold the log back */
		log_line_now(LOG_L_ERROR,
			"%s before the end: %llu bytes that programs have written may be lost",
			fs->client ? "this daemon could not take over"
				   : "the server has not answered",
			(unsigned long long)bytes);
	return bytes;
}

int survivor_take(struct fs *fs, struct err *e)
{
	fs->init = fs->record->init;
	if (mount_go_on(fs, fs->former_device, fs->former_row, e))
		return -1;
	fs->notifier = notifier_start(fs);
	if (!fs->notifier)
		return err_set(e, ERR_INTERNAL, "threads or memory for them cannot be had");
	if (fs_former_restore(fs, fs->former, e))
		return -1;
	fs->took_over = true;
	fs->mounted_at = fs->record->head.mounted_at;
	if (!ledger_is_whole(fs->ledger))
		return err_set(e, ERR_INTERNAL, "no memory for the notes of the mount");
	/* From here on blocks are used anew that the former ledger may name. So the holder must not
	 * keep that ledger. */
	if (survivor_hold(fs, e))
		return -1;
	fs->record->on_trial = false; /* the former program cannot go on from here */
	fs->waits_for_threads = true;
	if (fs_former_go_on(fs, e))
		return -1;
	again_begin(fs);
	return 0;
}

/* --- giving the mount to another program ------------------------------------------------------ */

/* Signals that wait are the successor's business. */
static void pass_signals_on(void)
{
	static const int ends[] = {SIGTERM, SIGINT};
	sigset_t pending;

	sigpending(&pending);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigismember(&pending, ends[i]) == 1)
			kill(getppid(), ends[i]);
}

int survivor_replace(struct fs *fs, const char *path, int asker, uint64_t paused_at, struct err *e)
{
	int program = open(path, O_RDONLY | O_CLOEXEC);
	sigset_t all, before;

	if (program < 0 || faccessat(program, "", X_OK, AT_EMPTY_PATH | AT_EACCESS)) {
		err_set(e, ERR_INTERNAL, "%.200s cannot be run: %s", path, strerror(errno));
		goto out;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	again_note(fs);
	if (signals_stops())
		err_set(e, ERR_INTERNAL, "a signal ends the mount");
	else if (!ledger_is_whole(fs->ledger))
		err_set(e, ERR_INTERNAL,
			"there was no memory for a note, so no other daemon can go on");
	else if (!holder_replace(fs->holder_fd, program, asker, paused_at))
		err_set(e, ERR_INTERNAL,
			"the holder has gone: unmount and mount again when the mount is not in "
			"use");
	else {
		log_always_info("%s takes over", path);
		pass_signals_on();
		_exit(0);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
out:
	if (program >= 0)
		close(program);
	return -1;
}

/* --- the end ---------------------------------------------------------------------------------- */

void survivor_leave(struct fs *fs)
{
	if (fs->ledger || fs->former)
		holder_leave(fs->holder_fd);
}

void survivor_tick(struct fs *fs)
{
	if (!fs->ledger || fs->said_unsafe || ledger_is_whole(fs->ledger))
		return;
	fs->said_unsafe = true;
	log_always_warn(
		"option survive: there was no memory for a note, so this mount ends with its "
		"daemon");
	survivor_leave(fs);
}
