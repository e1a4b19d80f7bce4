/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * key: the secret that seals file handles.
 *
 * A new key is written to a temporary file and linked into place. So two servers that start at once
 * end with the same key.
 */
#include "contrib/serve/export/key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/log.h"
#include "transport/state_dir.h"

/* 0, -ENOENT, or another -errno. -EPERM: other users may read the file, so the key is no secret. */
static int read_key(const char *path, uint8_t key[HANDLE_KEY])
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (st.st_mode & 077) ||
		st.st_uid != geteuid()) {
		close(fd);
		return -EPERM;
	}
	n = read(fd, key, HANDLE_KEY);
	close(fd);
	return n == HANDLE_KEY ? 0 : -EIO;
}

static int write_key(const char *path, const uint8_t key[HANDLE_KEY])
{
	char tmp[PATH_MAX];
	int fd, r = 0;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = mkostemp(tmp, O_CLOEXEC); /* mode 0600 */
	if (fd < 0)
		return -errno;
	if (write(fd, key, HANDLE_KEY) != HANDLE_KEY || fsync(fd) != 0)
		r = -EIO;
	close(fd);
	if (r == 0 && link(tmp, path) != 0)
		r = -errno;
	unlink(tmp);
	if (r == 0)
		r = state_sync_name(path); /* before any handle is sealed with the key */
	return r;
}

static int load_or_make(const char *path, uint8_t key[HANDLE_KEY])
{
	int r = read_key(path, key);

	if (r != -ENOENT)
		return r;
	if (getrandom(key, HANDLE_KEY, 0) != HANDLE_KEY)
		return -EIO;
	r = write_key(path, key);
	return r == -EEXIST ? read_key(path, key) : r;
}

static bool default_path(char *buf, size_t size)
{
	char dir[PATH_MAX];
	int n;

	if (!state_dir(dir, sizeof(dir)))
		return false;
	state_dir_make(dir);
	n = snprintf(buf, size, "%s/handle-key", dir);
	return n > 0 && (size_t)n < size;
}

int key_load(const char *path, uint8_t key[HANDLE_KEY], char *dir, struct err *e)
{
	char buf[PATH_MAX] = "";
	int r = -ENOENT;

	dir[0] = '\0';
	if (path) {
		r = load_or_make(path, key);
		if (r == -EPERM)
			return err_set(e, ERR_USAGE,
				"--handle-key %s: it must be a file of ours with mode 0600", path);
		if (r < 0)
			return err_set(e, ERR_USAGE, "--handle-key %s: %s", path, strerror(-r));
		state_dir_of(path, dir);
		return 0;
	}
	if (default_path(buf, sizeof(buf)))
		r = load_or_make(buf, key);
	if (r == 0) {
		state_dir_of(buf, dir);
		return 0;
	}
	log_always_warn(
		"no place for the key of file handles and the record of clients (%s%s%s): files, "
		"opens and locks of clients end with this run; give --handle-key FILE",
		buf, buf[0] ? ": " : "", buf[0] ? strerror(-r) : "no home directory");
	if (getrandom(key, HANDLE_KEY, 0) != HANDLE_KEY)
		return err_set(e, ERR_INTERNAL, "no random numbers: %s", strerror(errno));
	return 0;
}
