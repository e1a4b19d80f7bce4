/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: the names that the kernel has been told, and until when the kernel believes each.
 */
#include "fs/known/names.h"

#include <stdlib.h>
#include <string.h>

#include "fs/known/names_impl.h"
#include "transport/clock.h"

#define FIRST_CHAINS 1024u

/* ino NULL: the name is absent. */
static void set_ino_locked(struct names *n, struct name *e, struct inode *ino) REQUIRES(n->lock)
{
	e->ino = ino;
	e->unsure = false;
	if (ino) {
		LIST_INSERT_HEAD(&ino->names_of, e, of_ino);
	} else {
		TAILQ_INSERT_TAIL(&n->absent, e, absent);
		n->nabsent++;
	}
}

static void clear_ino_locked(struct names *n, struct name *e) REQUIRES(n->lock)
{
	if (e->ino) {
		LIST_REMOVE(e, of_ino);
	} else {
		TAILQ_REMOVE(&n->absent, e, absent);
		n->nabsent--;
	}
}

static void remove_locked(struct names *n, struct name *e) REQUIRES(n->lock)
{
	LIST_REMOVE(e, hash);
	LIST_REMOVE(e, in_dir);
	clear_ino_locked(n, e);
	n->count--;
	free(e);
}

/* ino has left the table: removes all names of ino, and all names in ino. */
static void on_left(void *ctx, struct inode *ino)
{
	struct names *n = ctx;
	struct name *e;

	mutex_lock(&n->lock);
	while ((e = LIST_FIRST(&ino->names_in)))
		remove_locked(n, e);
	while ((e = LIST_FIRST(&ino->names_of)))
		remove_locked(n, e);
	if (ino->complete)
		complete_end(&n->completes, ino->complete);
	free(ino->complete);
	ino->complete = NULL;
	ino->left = true;
	mutex_unlock(&n->lock);
}

struct names *names_new(struct inode_table *t)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	mutex_init(&n->lock);
	n->chains = calloc(FIRST_CHAINS, sizeof(*n->chains));
	if (!n->chains) {
		free(n);
		return NULL;
	}
	n->nchains = FIRST_CHAINS;
	TAILQ_INIT(&n->absent);
	completes_init(&n->completes);
	n->seed = clock_ns() * 0x9e3779b97f4a7c15ull;
	inode_table_on_left(t, on_left, n);
	return n;
}

struct names *names_free(struct names *n)
{
	if (!n)
		return NULL;
	mutex_destroy(&n->lock);
	free(n->chains);
	free(n);
	return NULL;
}

static struct name_chain *chain_of(struct names *n, uint64_t hash) REQUIRES(n->lock)
{
	return &n->chains[hash & (n->nchains - 1)];
}

static struct name *find_locked(struct names *n, const struct inode *dir, const char *s, size_t len,
	uint64_t hash) REQUIRES(n->lock)
{
	struct name *e;

	LIST_FOREACH (e, chain_of(n, hash), hash)
		if (e->hashed == hash && e->dir == dir && e->len == len && !memcmp(e->s, s, len))
			return e;
	return NULL;
}

static struct name *find_name_locked(struct names *n, const struct inode *dir, const char *s)
	REQUIRES(n->lock)
{
	size_t len = strlen(s);

	return find_locked(n, dir, s, len, names_hash(n, dir, s, len));
}

/* On failure the chains only get longer. */
static void grow_locked(struct names *n) REQUIRES(n->lock)
{
	size_t old = n->nchains;
	struct name_chain *more = calloc(old * 2, sizeof(*more)), *was = n->chains;
	struct name *e;

	if (!more)
		return;
	n->chains = more;
	n->nchains = old * 2;
	for (size_t i = 0; i < old; i++)
		while ((e = LIST_FIRST(&was[i]))) {
			LIST_REMOVE(e, hash);
			LIST_INSERT_HEAD(chain_of(n, e->hashed), e, hash);
		}
	free(was);
}

struct name *names_add_locked(
	struct names *n, struct inode *dir, const char *s, size_t len, struct inode *ino)
{
	struct name *e = malloc(sizeof(*e) + len + 1);

	if (!e)
		return NULL;
	if (n->count >= n->nchains)
		grow_locked(n);
	e->dir = dir;
	e->hashed = names_hash(n, dir, s, len);
	e->seen = e->until = e->put = 0;
	e->len = len;
	memcpy(e->s, s, len + 1);
	LIST_INSERT_HEAD(chain_of(n, e->hashed), e, hash);
	LIST_INSERT_HEAD(&dir->names_in, e, in_dir);
	set_ino_locked(n, e, ino);
	n->count++;
	return e;
}

/* Is there room for one more absent name? */
static bool absent_fits_locked(struct names *n) REQUIRES(n->lock)
{
	struct name *oldest = TAILQ_FIRST(&n->absent);

	if (n->nabsent < NAMES_ABSENT_MAX)
		return true;
	if (oldest->until > clock_ns())
		return false;
	remove_locked(n, oldest);
	return true;
}

static struct name *put_locked(struct names *n, struct inode *dir, const char *s, struct inode *ino)
	REQUIRES(n->lock)
{
	size_t len = strlen(s);
	struct name *e = find_locked(n, dir, s, len, names_hash(n, dir, s, len));

	if (!e)
		return ino || absent_fits_locked(n) ? names_add_locked(n, dir, s, len, ino) : NULL;
	if (e->ino != ino)
		e->seen = 0; /* e was seen for the other inode */
	/* to the head of the inode's list: names_of() wants the newest */
	clear_ino_locked(n, e);
	set_ino_locked(n, e, ino);
	return e;
}

static bool put(struct names *n, struct inode *dir, const char *name, struct inode *ino,
	uint64_t seen, uint64_t time)
{
	uint64_t now = time ? clock_ns() : 0, until = time ? now + time : 0;
	struct name *e = NULL;

	mutex_lock(&n->lock);
	if (!dir->left && !(ino && ino->left))
		e = put_locked(n, dir, name, ino);
	if (e) {
		e->seen = seen > e->seen ? seen : e->seen;
		e->until = until > e->until ? until : e->until;
		e->put = now > e->put ? now : e->put;
	}
	mutex_unlock(&n->lock);
	return e != NULL;
}

bool names_put(struct names *n, struct inode *dir, const char *name, struct inode *ino,
	uint64_t seen, uint64_t time)
{
	return put(n, dir, name, ino, seen, time);
}

bool names_put_absent(
	struct names *n, struct inode *dir, const char *name, uint64_t seen, uint64_t time)
{
	return put(n, dir, name, NULL, seen, time);
}

bool names_find(struct names *n, struct inode *dir, const char *name, struct name_info *out)
{
	struct name *e;

	mutex_lock(&n->lock);
	e = find_name_locked(n, dir, name);
	if (e)
		*out = (struct name_info){e->ino ? inode_ref(e->ino) : NULL, e->seen, e->until};
	mutex_unlock(&n->lock);
	return e != NULL;
}

bool names_get(struct names *n, struct inode *dir, const char *name, struct name_info *out)
{
	return names_find(n, dir, name, out) && out->ino;
}

bool names_of(struct names *n, const struct inode *ino, struct inode **dir, char *name, size_t size)
{
	const struct name *e;
	bool fits;

	mutex_lock(&n->lock);
	LIST_FOREACH (e, &ino->names_of, of_ino)
		if (!e->unsure)
			break;
	fits = e && e->len < size;
	if (fits) {
		memcpy(name, e->s, e->len + 1);
		*dir = inode_ref(e->dir);
	}
	mutex_unlock(&n->lock);
	return fits;
}

/* The entry of the name in a listing no longer counts. */
static void changed_locked(struct names *n, struct inode *dir, const char *name) REQUIRES(n->lock)
{
	if (dir->complete)
		complete_changed(&n->completes, dir->complete, names_hash_of(n, dir, name));
}

bool names_too_many(struct names *n, const struct inode *ino, uint32_t links, bool unsure_too)
{
	const struct name *e;
	uint64_t now = 0;
	uint32_t believed = 0;

	mutex_lock(&n->lock);
	e = LIST_FIRST(&ino->names_of);
	if (e && LIST_NEXT(e, of_ino)) /* most inodes have one name */
		now = clock_ns();
	for (; now && e && believed <= links; e = LIST_NEXT(e, of_ino))
		believed += (unsure_too || !e->unsure) &&
			    (e->until > now || atomic_load(&e->dir->dirnames.recalls));
	mutex_unlock(&n->lock);
	return believed > links;
}

bool names_believed(
	struct names *n, const struct inode *ino, struct inode **dir, char *name, size_t size)
{
	uint64_t now = clock_ns();
	const struct name *e;

	mutex_lock(&n->lock);
	LIST_FOREACH (e, &ino->names_of, of_ino)
		if (e->until > now && e->len < size)
			break;
	if (e) {
		memcpy(name, e->s, e->len + 1);
		*dir = inode_ref(e->dir);
	}
	mutex_unlock(&n->lock);
	return e != NULL;
}

void names_unsure(struct names *n, struct inode *ino)
{
	struct name *e;

	mutex_lock(&n->lock);
	LIST_FOREACH (e, &ino->names_of, of_ino) {
		e->unsure = true;
		e->seen = 0;
		changed_locked(n, e->dir, e->s);
	}
	mutex_unlock(&n->lock);
}

void names_forget(struct names *n, struct inode *dir, const char *name)
{
	struct name *e;

	mutex_lock(&n->lock);
	e = find_name_locked(n, dir, name);
	if (e)
		remove_locked(n, e);
	changed_locked(n, dir, name);
	mutex_unlock(&n->lock);
}

void names_drop(struct names *n, struct inode *dir, const char *name)
{
	struct name *e;

	mutex_lock(&n->lock);
	e = find_name_locked(n, dir, name);
	if (e)
		remove_locked(n, e);
	if (dir->complete)
		complete_remove(&n->completes, dir->complete, names_hash_of(n, dir, name));
	changed_locked(n, dir, name);
	mutex_unlock(&n->lock);
}

void names_move(struct names *n, struct inode *dir, const char *name, struct inode *to_dir,
	const char *to_name)
{
	struct name *e, *to;
	bool same;

	mutex_lock(&n->lock);
	e = find_name_locked(n, dir, name);
	to = find_name_locked(n, to_dir, to_name);
	/* Two names of one file: the server leaves both as they are. */
	same = e && to && e->ino && e->ino == to->ino;
	if (to && !same)
		remove_locked(n, to);
	if (e && !same) {
		to = NULL;
		if (e->ino && !to_dir->left)
			to = names_add_locked(n, to_dir, to_name, strlen(to_name), e->ino);
		if (to) {
			to->until = e->until;
			to->put = e->put;
		}
		remove_locked(n, e);
	}
	/* the server leaves two names of one file as they are, and a name that is renamed to
	 * itself */
	if (!same && (dir != to_dir || strcmp(name, to_name) != 0))
		if (dir->complete)
			complete_remove(&n->completes, dir->complete, names_hash_of(n, dir, name));
	changed_locked(n, dir, name);
	changed_locked(n, to_dir, to_name);
	mutex_unlock(&n->lock);
}

void names_doubt(struct names *n, struct inode *dir, const char *name)
{
	struct name *e;

	mutex_lock(&n->lock);
	e = find_name_locked(n, dir, name);
	if (e)
		e->seen = 0;
	changed_locked(n, dir, name);
	mutex_unlock(&n->lock);
}

void names_doubt_all(struct names *n, struct inode *ino)
{
	struct name *e;

	mutex_lock(&n->lock);
	LIST_FOREACH (e, &ino->names_of, of_ino) {
		e->seen = 0;
		changed_locked(n, e->dir, e->s);
	}
	if (ino->complete)
		complete_end(&n->completes, ino->complete);
	mutex_unlock(&n->lock);
}

static bool is_fresh(const struct name *e, uint64_t now)
{
	return e->put + NAMES_FRESH_NS > now;
}

bool names_take_back(struct names *n, struct inode *dir, char **list, size_t *len, size_t *fresh)
{
	uint64_t now = clock_ns();
	char *front, *behind;
	struct name *e;

	*list = NULL;
	*len = *fresh = 0;
	mutex_lock(&n->lock);
	LIST_FOREACH (e, &dir->names_in, in_dir)
		if (e->until > now) {
			*len += e->len + 1;
			*fresh += is_fresh(e, now) ? e->len + 1 : 0;
		}
	front = *list = *len ? malloc(*len) : NULL;
	if (front) {
		behind = front + *fresh;
		LIST_FOREACH (e, &dir->names_in, in_dir) {
			char **p = is_fresh(e, now) ? &front : &behind;

			if (e->until <= now)
				continue;
			memcpy(*p, e->s, e->len + 1);
			*p += e->len + 1;
			e->until = 0;
		}
	}
	mutex_unlock(&n->lock);
	return front || !*len;
}

void names_take_back_name(struct names *n, struct inode *dir, const char *name)
{
	struct name *e;

	mutex_lock(&n->lock);
	e = find_name_locked(n, dir, name);
	if (e)
		e->until = 0;
	mutex_unlock(&n->lock);
}
