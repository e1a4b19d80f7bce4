/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fstab: reading the list of a user's mounts.
 */
#include "cli/fstab.h"

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>

#include "transport/log.h"

#define LINE_SIZE 8192
#define LINES_MAX 1000

bool fstab_path(char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (config && config[0] == '/')
		n = snprintf(path, size, "%s/rnfs/fstab", config);
	else if (home && home[0] == '/')
		n = snprintf(path, size, "%s/.config/rnfs/fstab", home);
	else
		return false;
	return n > 0 && (size_t)n < size;
}

/* One slash between two names, and none at the end. */
static void normalize(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++)
		if (*from != '/' || (from[1] && from[1] != '/'))
			*to++ = *from;
	if (to == path)
		*to++ = '/';
	*to = 0;
}

/* Returns the absolute path of the mount point, on the heap. NULL: no absolute path, or no memory.
 */
static char *absolute(const char *dir)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	int n;

	if (dir[0] == '/')
		n = snprintf(path, sizeof(path), "%s", dir);
	else if (dir[0] == '~' && dir[1] == '/' && home && home[0] == '/')
		n = snprintf(path, sizeof(path), "%s%s", home, dir + 1);
	else
		return NULL;
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	normalize(path);
	return strdup(path);
}

static void line_finish(struct fstab_line *l)
{
	free(l->source);
	free(l->dir);
	free(l->options);
}

/* Copies the usable parts of m. False with the reason in *why. */
static bool line_init(struct fstab_line *l, const struct mntent *m, const char **why)
{
	*l = (struct fstab_line){0};
	*why = "the type is not rnfs";
	if (strcmp(m->mnt_type, "rnfs") && strcmp(m->mnt_type, "fuse.rnfs"))
		return false;
	*why = "the mount point begins neither with \"/\" nor with \"~/\"";
	l->dir = absolute(m->mnt_dir);
	if (!l->dir)
		return false;
	*why = "out of memory";
	l->source = strdup(m->mnt_fsname);
	l->options = strdup(*m->mnt_opts ? m->mnt_opts : "defaults");
	l->automatic = !hasmntopt(m, "noauto");
	if (l->source && l->options)
		return true;
	line_finish(l);
	return false;
}

static bool add(struct fstab *t, const struct fstab_line *l)
{
	struct fstab_line *lines = realloc(t->lines, (t->n + 1) * sizeof(*lines));

	if (!lines)
		return false;
	t->lines = lines;
	t->lines[t->n++] = *l;
	return true;
}

int fstab_read(struct fstab *t, const char *path, struct err *e)
{
	FILE *f = fopen(path, "re");
	char buf[LINE_SIZE];
	struct mntent m;

	*t = (struct fstab){0};
	if (!f)
		return err_set(e, ERR_INTERNAL, "%.200s: %s", path,
			errno == ENOENT ? "there is no such file; list your mounts there, a line "
					  "for each, as in fstab(5)"
					: strerror(errno));
	while (t->n < LINES_MAX && getmntent_r(f, &m, buf, sizeof(buf))) {
		struct fstab_line l;
		const char *why = "out of memory";

		if (line_init(&l, &m, &why)) {
			if (add(t, &l))
				continue;
			line_finish(&l);
		}
		log_always_warn("%s: the line for %s %s is left out: %s", path, m.mnt_fsname,
			m.mnt_dir, why);
	}
	fclose(f);
	return 0;
}

void fstab_finish(struct fstab *t)
{
	for (unsigned i = 0; i < t->n; i++)
		line_finish(&t->lines[i]);
	free(t->lines);
	*t = (struct fstab){0};
}

const struct fstab_line *fstab_find(const struct fstab *t, const char *dir)
{
	char *path = absolute(dir);
	const struct fstab_line *found = NULL;

	for (unsigned i = 0; path && !found && i < t->n; i++)
		if (!strcmp(t->lines[i].dir, path))
			found = &t->lines[i];
	free(path);
	return found;
}
