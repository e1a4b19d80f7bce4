/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * record: a file that the server has mapped, for data that must outlive the process.
 */
#include "contrib/serve/state/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_boot(char *boot, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot, size - 1);

	if (fd >= 0)
		close(fd);
	return n > 0;
}

/* Opens the file, in full size and locked. A descriptor, or -errno. */
static int open_file(const char *path, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600), r = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		r = -EPERM;
	else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		r = -errno;
	else /* with a full disk, a store into a hole would fail with a signal */
		r = -posix_fallocate(fd, 0, (off_t)size);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

int record_open(struct record *r, const char *path, const char *magic, size_t size)
{
	struct record_head *h, now = {.running = 1};

	*r = (struct record){.size = size, .fd = open_file(path, size)};
	if (r->fd < 0)
		return r->fd;
	r->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->map == MAP_FAILED) {
		int error = -errno;

		close(r->fd);
		return error;
	}
	h = r->map;
	snprintf(now.magic, sizeof(now.magic), "%s", magic);
	r->fresh = !read_boot(now.boot, sizeof(now.boot)) ||
		   memcmp(h->magic, now.magic, sizeof(now.magic)) != 0 ||
		   memcmp(h->boot, now.boot, sizeof(now.boot)) != 0;
	r->was_killed = !r->fresh && h->running;
	if (r->fresh)
		memset(r->map, 0, size);
	*h = now;
	return 0;
}

void record_close(struct record *r)
{
	struct record_head *h = r->map;

	h->running = 0;
	munmap(r->map, r->size);
	close(r->fd);
}
