/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * export: makes and frees the table of objects of an exported directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "contrib/serve/export/by_handle.h"
#include "contrib/serve/export/seek.h"

#define FD_RESERVE     256 /* descriptors for connections and directory streams */
#define FD_DEFAULT_MAX 65536
#define OPENS_MAX      1048576

/* RLIMIT_NOFILE, raised as far as it goes. */
static size_t fd_limit(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) != 0)
		return 1024;
	if (rl.rlim_cur < rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &rl) != 0)
			getrlimit(RLIMIT_NOFILE, &rl);
	}
	return rl.rlim_cur;
}

/* Shares out the descriptors: a quarter for unused objects, and the rest without the reserve in
 * pairs. An open takes the object's descriptor and a second one. */
static void share_fds(struct obj_table *t, size_t max_fds)
{
	size_t limit = fd_limit(), reserve = FD_RESERVE < limit / 4 ? FD_RESERVE : limit / 4;

	t->max_fds = limit / 4 < FD_DEFAULT_MAX ? limit / 4 : FD_DEFAULT_MAX;
	if (max_fds)
		t->max_fds = max_fds;
	t->max_opens = limit > t->max_fds + reserve ? (limit - t->max_fds - reserve) / 2 : 1;
	if (t->max_opens > OPENS_MAX)
		t->max_opens = OPENS_MAX;
}

size_t obj_table_opens(const struct obj_table *t)
{
	return t->max_opens;
}

struct obj_table *obj_table_new(
	const char *dir, const uint8_t *secret, size_t max_fds, struct err *e)
{
	struct obj_table *t = calloc(1, sizeof(*t));
	struct handle_id id;
	struct statx st;
	uint64_t k[2];
	int fd;

	if (!t) {
		err_set(e, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err_set(e, ERR_USAGE, "cannot open the directory %s: %s", dir, strerror(errno));
		free(t);
		return NULL;
	}
	obj_shards_init(t);
	mutex_init(&t->mounts_lock);
	share_fds(t, max_fds);
	t->mount[0].fd = fd; /* kept: open_by_handle_at() on the root's file system */
	t->root_fd = fd;
	t->nmounts = 1;
	if (obj_stat_fd(fd, &st) == 0) {
		uint64_t seed[3] = {st.stx_ino, 0, 0};

		t->root_dev = obj_makedev(&st);
		for (int i = 0; i < 2; i++) {
			seed[1] = (uint64_t)i;
			k[i] = handle_siphash(secret, seed, sizeof(seed));
		}
		memcpy(t->key, k, sizeof(k));
		t->by_handle = true; /* whole kernel handles, to try one */
		obj_full_id(t, fd, &st, &id);
		t->by_handle = id.kh_len && by_handle_allowed(t, &id);
		obj_full_id(t, fd, &st, &id);
		fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && obj_is(t, fd, &id, &st) &&
			obj_intern(t, fd, &st, NULL, &t->root) == 0 &&
			(t->seek = seek_new(t)) != NULL)
			return t;
	}
	err_set(e, ERR_INTERNAL, "cannot use the directory %s: %s", dir, strerror(errno));
	return obj_table_free(t);
}

struct obj_table *obj_table_free(struct obj_table *t)
{
	if (!t)
		return NULL;
	t->seek = seek_free(t->seek);
	obj_unref(t, t->root);
	obj_shards_finish(t);
	mutex_destroy(&t->mounts_lock);
	for (unsigned i = 0; i < t->nmounts; i++)
		close(t->mount[i].fd);
	free(t);
	return NULL;
}
