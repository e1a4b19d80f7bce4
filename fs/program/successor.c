/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * successor: a daemon that goes on in place of a former one.
 */
#include "fs/program/successor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/ask.h"
#include "fs/coherence/notify.h"
#include "fs/kernel/again.h"
#include "fs/program/mount.h"
#include "transport/clock.h"
#include "transport/log.h"

static bool closes_at_exec(int fd)
{
	return fd < 0 || !fcntl(fd, F_SETFD, FD_CLOEXEC);
}

bool successor_checks(void)
{
	const char *text = getenv(SUCCESSOR_VARIABLE);
	bool checks = text && !strcmp(text, SUCCESSOR_CHECK);

	if (checks)
		unsetenv(SUCCESSOR_VARIABLE);
	return checks;
}

bool successor_begin(struct record **r, struct err *e)
{
	const char *text = getenv(SUCCESSOR_VARIABLE);
	long fd = text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;

	*r = NULL;
	if (!text)
		return false;
	unsetenv(SUCCESSOR_VARIABLE);
	if (fd <= 2 || fd > INT_MAX || !closes_at_exec((int)fd)) {
		err_set(e, ERR_USAGE, "the variable " SUCCESSOR_VARIABLE " names no open file");
		return true;
	}
	*r = record_read((int)fd, e);
	if (*r && !(closes_at_exec((*r)->head.device) && closes_at_exec((*r)->head.row) &&
			  closes_at_exec((*r)->head.auto_unmount) &&
			  closes_at_exec((*r)->head.asker))) {
		err_set(e, ERR_INTERNAL, "the files of the former daemon are not open");
		*r = record_free(*r);
	}
	return true;
}

int successor_take(struct fs *fs, struct record *r, struct err *e)
{
	fs->init = r->init;
	if (mount_go_on(fs, r->head.device, r->head.row, e))
		return -1;
	fs->notifier = notifier_start(fs);
	if (!fs->notifier)
		return err_set(e, ERR_INTERNAL, "threads or memory for them cannot be had");
	if (record_restore(r, fs, e))
		return -1;
	again_begin(fs);
	return 0;
}

static void tell(int fd, const char *text)
{
	if (fd < 0)
		return;
	if (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_ctrl("the command has gone");
	close(fd);
}

void successor_ready(struct fs *fs, struct record *r)
{
	uint64_t ms = clock_age(clock_ns(), r->head.paused_at) / NSEC_PER_MSEC;
	char text[300];

	log_set_level(r->head.log_level);
	fs->mounted_at = r->head.mounted_at;
	log_always_info("rnfs %s goes on with %s: requests have waited for %llu ms", RNFS_VERSION,
		r->head.mountpoint, (unsigned long long)ms);
	snprintf(text, sizeof(text), ANSWER_OK "\nsuccessor %s %llu\n" ANSWER_END "\n",
		RNFS_VERSION, (unsigned long long)ms);
	if (r->is_back)
		snprintf(text, sizeof(text),
			ANSWER_ERROR " the installed program could not take over, and its log says "
				     "why: the former one goes on, and requests have waited for "
				     "%llu ms\n",
			(unsigned long long)ms);
	tell(r->head.asker, text);
}

void successor_failed(struct record *r, const char *sentence)
{
	char text[1600];

	snprintf(text, sizeof(text), ANSWER_ERROR " %.1500s: the mount has ended\n", sentence);
	tell(r->head.asker, text);
	mount_detach(r->head.mountpoint);
}
