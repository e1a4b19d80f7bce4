/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * metrics_file: the counters as a file for Prometheus's node_exporter.
 *
 * The lock guards `stop` and `ended`, and the mount: the thread uses the mount only with the lock
 * held and stop unset. So a thread that never comes back from its file can be left behind. Such a
 * thread has only its own memory, which is then not freed.
 */
#include "fs/program/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/metrics.h"
#include "fs/coherence/tell.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define END_WAIT_S 1u
#define FILE_MODE  0644 /* the exporter is another user */

struct metrics_file {
	struct fs *fs;
	char path[PATH_MAX], part[PATH_MAX + 16];
	struct mutex lock;
	pthread_cond_t cond;
	bool stop GUARDED_BY(lock), ended GUARDED_BY(lock);
	/* used by the thread */
	bool failing;
	struct report report;
	struct report_ops requests, operations;
};

/* Writes the part file. 0 or an errno. */
static int write_part(const struct metrics_file *m)
{
	int fd, error = 0;
	FILE *f;

	unlink(m->part); /* of an earlier daemon with the same number */
	fd = open(m->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		return ENOMEM;
	}
	metrics_write(&m->report, f);
	if (fflush(f) || fchmod(fd, FILE_MODE))
		error = errno;
	if (fclose(f) && !error)
		error = errno;
	return error;
}

static void write_file(struct metrics_file *m)
{
	int error = write_part(m);

	if (!error && rename(m->part, m->path))
		error = errno;
	if (error)
		unlink(m->part);
	if (error && !m->failing)
		log_warn("metrics_file=%s cannot be written: %s", m->path, strerror(error));
	else if (!error && m->failing)
		log_info("metrics_file=%s is written again", m->path);
	m->failing = error;
}

/* Waits until the next time. False: the thread must end. */
static bool pause_locked(struct metrics_file *m) REQUIRES(m->lock)
{
	struct timespec until = clock_timespec(clock_ns() + METRICS_FILE_S * NSEC_PER_SEC);

	while (!m->stop)
		if (cond_timedwait(&m->cond, &m->lock, &until) == ETIMEDOUT)
			return !m->stop;
	return false;
}

static void *metrics_main(void *arg)
{
	struct metrics_file *m = arg;

	pthread_setname_np(pthread_self(), "rnfs-metrics");
	mutex_lock(&m->lock);
	while (!m->stop) {
		tell_stat(m->fs, &m->report);
		mutex_unlock(&m->lock);
		write_file(m);
		mutex_lock(&m->lock);
		if (!pause_locked(m))
			break;
	}
	mutex_unlock(&m->lock);
	if (!m->failing)
		unlink(m->path);
	mutex_lock(&m->lock);
	m->ended = true;
	pthread_cond_signal(&m->cond);
	mutex_unlock(&m->lock);
	return NULL;
}

static void release(struct metrics_file *m)
{
	pthread_cond_destroy(&m->cond);
	mutex_destroy(&m->lock);
	free(m);
}

int metrics_file_start(struct fs *fs, struct err *e)
{
	struct metrics_file *m;
	pthread_t thread;
	sigset_t all, before;
	int rc;

	if (!fs->opt->metrics_file)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return err_set(e, ERR_INTERNAL, "out of memory");
	m->fs = fs;
	m->report.requests = &m->requests;
	m->report.operations = &m->operations;
	snprintf(m->path, sizeof(m->path), "%s", fs->opt->metrics_file);
	snprintf(m->part, sizeof(m->part), "%s.%d", m->path, (int)getpid());
	mutex_init(&m->lock);
	clock_cond_init(&m->cond);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, metrics_main, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		release(m);
		return err_set(e, ERR_INTERNAL, "%s", strerror(rc));
	}
	pthread_detach(thread);
	fs->metrics_file = m;
	return 0;
}

struct metrics_file *metrics_file_free(struct metrics_file *m)
{
	struct timespec until = clock_timespec(clock_ns() + END_WAIT_S * NSEC_PER_SEC);
	bool ended;

	if (!m)
		return NULL;
	mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->cond);
	while (!m->ended && cond_timedwait(&m->cond, &m->lock, &until) != ETIMEDOUT)
		;
	ended = m->ended;
	mutex_unlock(&m->lock);
	if (ended)
		release(m);
	return NULL;
}
