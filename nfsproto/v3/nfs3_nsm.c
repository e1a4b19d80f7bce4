/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nsm: the file begins with a line of text: the type of the file, the digits of the name, the
 * number.
 */
#include "nfsproto/v3/nfs3_nsm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "transport/log.h"

#define FORM	"rnfs host 1 %016" PRIx64 " %010" PRIu32 "\n"
#define SCAN	"rnfs host 1 %16" SCNx64 " %10" SCNu32
#define AT_ONCE 16 /* mounts of one kind that live at the same time */

#define FREED_MS    2000
#define FREED_TRIES 40u

static uint64_t hash(const char *s, uint64_t h)
{
	while (*s) /* FNV-1a */
		h = (h ^ (uint8_t)*s++) * UINT64_C(0x100000001b3);
	return h;
}

/* Opens and locks a file that is not locked. Returns its descriptor; -EWOULDBLOCK, or another
 * -errno. */
static int open_locked(const char *path)
{
	struct stat st;
	int fd, rc;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		rc = flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &st) ? -errno : 0;
		if (!rc && (!S_ISREG(st.st_mode) || st.st_uid != geteuid()))
			rc = -EPERM;
		if (!rc && st.st_nlink)
			return fd;
		close(fd);
		if (rc)
			return rc;
		/* the file's owner has just removed the file */
	}
}

static int write_line(struct nfs3_nsm *s, uint64_t digits)
{
	char line[NFS3_NSM_LINE];
	int n = snprintf(line, sizeof(line), FORM, digits, s->state);

	return pwrite(s->fd, line, (size_t)n, 0) == n && fsync(s->fd) == 0 ? 0 : -EIO;
}

/* As open_locked(). A killed daemon keeps the file until the kernel has ended all its threads, on a
 * busy machine for some time after the mount has gone. */
static int open_freed(const char *path)
{
	const struct timespec pause = {.tv_nsec = FREED_MS * 1000000 / FREED_TRIES};
	int fd = open_locked(path);

	for (unsigned i = 0; fd == -EWOULDBLOCK && i < FREED_TRIES; i++) {
		nanosleep(&pause, NULL);
		fd = open_locked(path);
	}
	return fd;
}

/* Takes the file of this mount, or, if its mount lives, of another mount of the same kind. 0 or
 * -errno. */
static int take_file(struct nfs3_nsm *s, const char *dir, const char *who)
{
	uint64_t h = hash(who, UINT64_C(0xcbf29ce484222325));

	for (unsigned i = 0; i < AT_ONCE; i++) {
		if (snprintf(s->path, sizeof(s->path), "%s/host-%016" PRIx64 "-%u", dir, h, i) >=
			(int)sizeof(s->path))
			return -ENAMETOOLONG;
		s->fd = i == 0 ? open_freed(s->path) : open_locked(s->path);
		if (s->fd != -EWOULDBLOCK)
			break;
	}
	return s->fd < 0 ? s->fd : 0;
}

static bool read_line(int fd, uint64_t *digits, uint32_t *state)
{
	char line[NFS3_NSM_LINE] = "";

	return pread(fd, line, sizeof(line) - 1, 0) > 0 && sscanf(line, SCAN, digits, state) == 2;
}

bool nfs3_nsm_is_of(int fd, uint64_t digits, uint32_t state)
{
	uint64_t has_digits;
	uint32_t has_state;

	return read_line(fd, &has_digits, &has_state) && has_digits == digits && has_state == state;
}

int nfs3_nsm_open(struct nfs3_nsm *s, const char *dir, const char *who)
{
	char host[64] = "";
	uint64_t digits, own;
	uint32_t state;
	int rc = -ENOENT;

	*s = (struct nfs3_nsm){.fd = -1, .state = 1};
	if (getrandom(&own, sizeof(own), 0) != sizeof(own))
		return -EIO;
	s->digits = own;
	if (dir)
		rc = take_file(s, dir, who);
	if (rc == 0 && read_line(s->fd, &digits, &state)) {
		s->digits = digits;
		s->state = (state + 2) | 1;
		s->former = true;
	}
	if (rc == 0)
		rc = write_line(s, s->digits);
	if (rc) {
		log_info("locks of this mount stay at the server if it is killed: no place to "
			 "remember them (%s)",
			strerror(-rc));
		nfs3_nsm_close(s, false);
		/* without its file, another mount may take the former name next */
		*s = (struct nfs3_nsm){.fd = -1, .state = 1, .digits = own};
	}
	gethostname(host, sizeof(host) - 1);
	snprintf(s->name, sizeof(s->name), "%s.rnfs-%016" PRIx64, host, s->digits);
	return 0;
}

void nfs3_nsm_close(struct nfs3_nsm *s, bool clean)
{
	if (s->fd >= 0 && s->path[0]) {
		if (clean)
			unlink(s->path);
		close(s->fd);
	}
	s->fd = -1;
	s->path[0] = '\0';
}
