/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mounts: the mounts of rnfs, and the daemons behind them.
 */
#include "cli/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mountpoint.h"
#include "transport/clock.h"

#define ANSWER_MS 2000 /* for all daemons together */
#define AT_ONCE	  64u  /* daemons that are asked side by side */
#define LINKS_MAX 40u  /* symbolic links in a path, as in the kernel */
#define TYPE	  "fuse.rnfs"

/* --- sockets ---------------------------------------------------------------------------------- */

struct paths {
	char (*of)[RUNTIME_SOCKET_MAX];
	unsigned n;
};

static bool is_socket_name(const char *path)
{
	size_t len = strlen(path), end = strlen(RUNTIME_SOCKET_END);

	return len > end && len < RUNTIME_SOCKET_MAX &&
	       !strcmp(path + len - end, RUNTIME_SOCKET_END);
}

static bool add_path(struct paths *p, const char *path)
{
	char(*more)[RUNTIME_SOCKET_MAX];

	if (!is_socket_name(path))
		return true;
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->of[i], path))
			return true;
	more = realloc(p->of, (p->n + 1) * sizeof(*more));
	if (!more)
		return false;
	p->of = more;
	strcpy(p->of[p->n++], path);
	return true;
}

static bool add_directory(struct paths *p, const char *dir)
{
	char path[2 * RUNTIME_SOCKET_MAX];
	struct dirent *entry;
	bool good = true;
	DIR *d;

	if (!runtime_dir_is_ours(dir))
		return true;
	contact_sweep(dir);
	d = opendir(dir);
	if (!d)
		return true;
	while (good && (entry = readdir(d)))
		if (snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) < (int)sizeof(path))
			good = add_path(p, path);
	closedir(d);
	return good;
}

/* Is path the socket of a user's daemon, judging by the name? */
static bool is_in_runtime_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	return len > 5 && path[0] == '/' &&
	       (!strncmp(slash - 5, "/rnfs", 5) || !strncmp(path, "/tmp/rnfs-", 10));
}

/* Adds the sockets of all users in this network namespace, for root. */
static bool add_others(struct paths *p)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];
	bool good = true;

	if (!f)
		return true;
	while (good && fgets(line, sizeof(line), f)) {
		char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = 0;
		if (path && is_in_runtime_dir(path))
			good = add_path(p, path);
	}
	fclose(f);
	return good;
}

static bool find_sockets(struct paths *p)
{
	char dir[RUNTIME_DIR_MAX];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_place(i, dir) && !add_directory(p, dir))
			return false;
	return geteuid() != 0 || add_others(p);
}

/* --- daemons ---------------------------------------------------------------------------------- */

struct daemons {
	struct mount *of; /* `report` and `socket` of each are set */
	unsigned n;
};

/* May the peer of c speak for the mounts of the user with the socket's directory? Only the same
 * user may. */
static bool speaks_for(const struct contact *c, const char *path)
{
	char dir[RUNTIME_SOCKET_MAX];
	struct stat st;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = 0;
	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == c->uid;
}

/* Reads a report. False: the report is incomplete; *e says why if the daemon did not answer. */
static bool read_report(struct contact *c, uint64_t until, struct report *r, struct err *e)
{
	char *line;

	for (;;) {
		uint64_t now = clock_ns();

		line = contact_line(c, now < until ? (int)((until - now) / NSEC_PER_MSEC) : 0, e);
		if (!line)
			break;
		if (!report_read(r, line))
			return false;
	}
	return c->ended && r->number[REPORT_UID] == c->uid;
}

/* Asks up to AT_ONCE daemons. False: out of memory. */
static bool ask_some(struct daemons *d, char (*path)[RUNTIME_SOCKET_MAX], unsigned n)
{
	struct contact *c = calloc(n, sizeof(*c));
	struct mount *more = realloc(d->of, (d->n + n) * sizeof(*more));
	struct ask hello;
	uint64_t until = clock_ns() + ANSWER_MS * NSEC_PER_MSEC;

	ask_init(&hello, ASK_HELLO);
	if (more)
		d->of = more;
	if (!c || !more) {
		free(c);
		return false;
	}
	for (unsigned i = 0; i < n; i++)
		if (!contact_open(&c[i], path[i])) {
			if (speaks_for(&c[i], path[i]))
				contact_ask(&c[i], &hello);
			else
				contact_close(&c[i]);
		}
	for (unsigned i = 0; i < n; i++) {
		struct mount *m = &d->of[d->n];

		if (c[i].fd < 0)
			continue;
		memset(m, 0, sizeof(*m)); /* without counters */
		m->daemon = MOUNT_ANSWERS;
		strcpy(m->socket, path[i]);
		d->n += read_report(&c[i], until, &m->report, &(struct err){0});
		contact_close(&c[i]);
	}
	free(c);
	return true;
}

static bool find_daemons(struct daemons *d)
{
	struct paths p = {0};
	bool good = find_sockets(&p);

	for (unsigned i = 0; good && i < p.n; i += AT_ONCE)
		good = ask_some(d, p.of + i, p.n - i < AT_ONCE ? p.n - i : AT_ONCE);
	free(p.of);
	return good;
}

static const struct mount *daemon_of(const struct daemons *d, const struct mountinfo *i)
{
	for (unsigned n = 0; n < d->n; n++) {
		const struct report *r = &d->of[n].report;

		if ((r->number[REPORT_DEV_MAJOR] || r->number[REPORT_DEV_MINOR]) &&
			r->number[REPORT_DEV_MAJOR] == i->major &&
			r->number[REPORT_DEV_MINOR] == i->minor && r->number[REPORT_UID] == i->uid)
			return &d->of[n];
	}
	return NULL;
}

/* --- mounts ----------------------------------------------------------------------------------- */

static struct mount *add(struct mounts *all)
{
	struct mount *more = realloc(all->of, (all->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	all->of = more;
	memset(&more[all->n], 0, sizeof(*more));
	return &more[all->n++];
}

static int no_memory(struct err *e)
{
	return err_set(e, ERR_INTERNAL, "out of memory");
}

static bool is_mine(const struct mountinfo *i)
{
	return !strcmp(i->type, TYPE) && i->owned && (geteuid() == 0 || i->uid == geteuid());
}

static int add_listed(struct mounts *all, const struct daemons *d, bool probes, struct err *e)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct mountinfo info;
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	if (!f)
		return err_set(e, ERR_INTERNAL, "/proc/self/mountinfo: %s", strerror(errno));
	while (!rc && getline(&line, &size, f) > 0) {
		const struct mount *by;
		struct mount *m;

		if (!mountinfo_parse(line, &info) || !is_mine(&info))
			continue;
		m = add(all);
		if (!m) {
			rc = no_memory(e);
			break;
		}
		by = daemon_of(d, &info);
		if (by)
			*m = *by;
		else
			m->daemon = probes && mountpoint_dead_at(&info) ? MOUNT_DEAD : MOUNT_MUTE;
		m->is_here = true;
		m->info = info;
	}
	free(line);
	fclose(f);
	return rc;
}

static bool is_listed(const struct mounts *all, const char *socket)
{
	for (unsigned i = 0; i < all->n; i++)
		if (!strcmp(all->of[i].socket, socket))
			return true;
	return false;
}

int mounts_find(struct mounts *all, bool probes, struct err *e)
{
	struct daemons d = {0};
	int rc;

	*all = (struct mounts){0};
	rc = find_daemons(&d) ? add_listed(all, &d, probes, e) : no_memory(e);
	for (unsigned i = 0; !rc && i < d.n; i++) {
		struct mount *m = is_listed(all, d.of[i].socket) ? NULL : add(all);

		if (m)
			*m = d.of[i];
	}
	free(d.of);
	return rc;
}

void mounts_free(struct mounts *all)
{
	free(all->of);
	*all = (struct mounts){0};
}

const char *mount_point(const struct mount *m)
{
	return m->is_here ? m->info.dir : m->report.text[REPORT_MOUNTPOINT];
}

/* --- the mount of a path ---------------------------------------------------------------------- */

/* Finds the mount that contains path, judging by names: the topmost of the nearest, or NULL. */
static const struct mount *within(const struct mounts *all, const char *path)
{
	const struct mount *nearest = NULL;
	size_t longest = 0;

	for (unsigned i = 0; i < all->n; i++) {
		const char *dir = mount_point(&all->of[i]);
		size_t len = strlen(dir);

		if (len < longest || strncmp(path, dir, len) != 0 ||
			(path[len] && path[len] != '/'))
			continue;
		nearest = &all->of[i];
		longest = len;
	}
	return nearest;
}

/* Puts the target of the symbolic link at path in front of rest. False: path is no link. */
static bool follow(const char *path, char rest[PATH_MAX], char at[PATH_MAX])
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = 0;
	if (snprintf(joined, sizeof(joined), "%s/%s", target, rest) >= PATH_MAX)
		return false;
	strcpy(rest, joined);
	if (target[0] == '/')
		at[0] = 0;
	return true;
}

/* Removes the name of len bytes from the beginning of rest. */
static void step(char rest[PATH_MAX], const char *name, size_t len)
{
	memmove(rest, name + len, strlen(name + len) + 1);
}

/* Follows the absolute path as the kernel would, but looks at no name inside a mount. */
static const struct mount *walk(const struct mounts *all, const char *path)
{
	char at[PATH_MAX] = "", rest[PATH_MAX], next[PATH_MAX];
	unsigned links = 0;

	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return NULL;
	for (;;) {
		const char *name = rest + strspn(rest, "/");
		size_t len = strcspn(name, "/");
		int n = snprintf(next, sizeof(next), "%s/%.*s", at, (int)len, name);

		if (!len)
			return within(all, at);
		if (n >= (int)sizeof(next))
			return NULL;
		step(rest, name, len);
		name = next + n - len;
		if (!strcmp(name, "..")) {
			char *slash = strrchr(at, '/');

			*(slash ? slash : at) = 0;
		} else if (strcmp(name, ".") != 0) {
			if (!within(all, next) && links < LINKS_MAX && follow(next, rest, at))
				links++;
			else
				strcpy(at, next);
		}
	}
}

static const struct mount *only_one(const struct mounts *all, struct err *e)
{
	if (!all->n)
		err_set(e, ERR_USAGE, "there is no mount of rnfs%s",
			geteuid() ? " that is yours" : "");
	for (unsigned i = 1; i < all->n; i++)
		if (strcmp(all->of[i].socket, all->of[0].socket) || !all->of[0].socket[0])
			err_set(e, ERR_USAGE,
				"there are several mounts: name one of those that rnfs list shows");
	return e->kind ? NULL : &all->of[0];
}

const struct mount *mounts_pick(const struct mounts *all, const char *path, struct err *e)
{
	char absolute[PATH_MAX], cwd[PATH_MAX];
	const struct mount *m;

	if (!path)
		return only_one(all, e);
	if (path[0] == '/') /* also /dev/fd/N */
		snprintf(absolute, sizeof(absolute), "%s", path);
	else if (!getcwd(cwd, sizeof(cwd)) ||
		 snprintf(absolute, sizeof(absolute), "%s/%s", cwd, path) >= (int)sizeof(absolute))
		absolute[0] = 0;
	m = walk(all, absolute);
	if (!m)
		err_set(e, ERR_USAGE, "%.200s is in no mount of rnfs%s: rnfs list shows %s", path,
			geteuid() ? " that is yours" : "", geteuid() ? "yours" : "them");
	return m;
}

/* Does mounts_pick(), and requires a daemon that answers at m->socket. */
static const struct mount *pick_live(const struct mounts *all, const char *path, struct err *e)
{
	const struct mount *m = mounts_pick(all, path, e);

	if (!m || m->daemon == MOUNT_ANSWERS)
		return m;
	if (m->daemon == MOUNT_DEAD)
		err_set(e, ERR_INTERNAL, "the daemon of %.200s has died: umount %.100s",
			mount_point(m), mount_point(m));
	else
		err_set(e, ERR_INTERNAL,
			"no daemon answers for %.200s: the process may be stopped, or has no "
			"directory for its socket (its log says why)",
			mount_point(m));
	return NULL;
}

int mounts_ask(const struct mounts *all, const char *path, const struct ask *a, struct contact *c,
	struct err *e)
{
	const struct mount *m = pick_live(all, path, e);
	int error = m ? contact_open(c, m->socket) : 0;

	if (!m)
		return -1;
	if (error)
		return err_set(e, ERR_UNREACHABLE, "the daemon of %.200s does not answer: %s",
			mount_point(m), strerror(-error));
	contact_ask(c, a);
	return 0;
}

int mounts_read(struct contact *c, struct report *r, struct err *e)
{
	if (!read_report(c, clock_ns() + ANSWER_MS * NSEC_PER_MSEC, r, e))
		err_set(e, ERR_PROTOCOL, "the daemon's answer cannot be understood");
	contact_close(c);
	return e->kind ? -1 : 0;
}
