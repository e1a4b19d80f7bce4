/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * idmap: names of users and groups to ids of this machine and back.
 *
 * One hash table holds questions, answered or not. Questions without an answer, or with an old one,
 * are also in the queue of the thread. The first such question starts the thread. While the thread
 * asks the name service, it holds no lock but a reference to the map, so that the map can be given
 * up meanwhile.
 */
#include "nfsproto/common/idmap.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"
#include "transport/quote.h"

#define CHAINS	    256u
#define COUNT_MAX   4096u
#define KEEP_S	    600
#define KEEP_NO_S   60
#define NSS_BUF	    (64u << 10)
#define NSS_BUF_MAX (16u << 20) /* the name service lists all members of a group */
#define CONF_PATH   "/etc/idmapd.conf"

struct entry {
	LIST_ENTRY(entry) link;
	TAILQ_ENTRY(entry) queue; /* while queued */
	bool by_name, group;	  /* constant: the question, with name or id */
	bool queued, answered, found;
	time_t until;
	uint32_t id;
	char name[IDMAP_NAME_MAX + 1];
};

struct idmap {
	/* constant */
	struct idmap_source source;
	void (*resolved)(void *ctx);
	void *ctx;

	struct mutex lock;
	pthread_cond_t cond;		/* for the thread: work, or stop; for idmap_free: called */
	unsigned refs GUARDED_BY(lock); /* the owner's and the thread's */
	bool running GUARDED_BY(lock), stop GUARDED_BY(lock), notify GUARDED_BY(lock),
		calling GUARDED_BY(lock);
	bool foreign GUARDED_BY(lock); /* the log has been told of a name of another domain */
	GUARDED_BY(lock) LIST_HEAD(, entry) chains[CHAINS];
	unsigned count GUARDED_BY(lock);
	GUARDED_BY(lock) TAILQ_HEAD(, entry) queue;

	char domain[IDMAP_NAME_MAX + 1]; /* the thread's after the start */
};

static time_t now_s(void)
{
	return (time_t)(clock_ns() / NSEC_PER_SEC);
}

/* --- the name service ---------------------------------------------------------------------- */

/* An answer of the name service. */
struct nss {
	char *buf;
	struct passwd pw, *user;
	struct group gr, *g;
};

/* Of a name or, if name is NULL, of an id. 0 or an errno. */
static int nss_try(struct nss *n, size_t size, bool group, const char *name, uint32_t id)
{
	if (group)
		return name ? getgrnam_r(name, &n->gr, n->buf, size, &n->g)
			    : getgrgid_r(id, &n->gr, n->buf, size, &n->g);
	return name ? getpwnam_r(name, &n->pw, n->buf, size, &n->user)
		    : getpwuid_r(id, &n->pw, n->buf, size, &n->user);
}

/* False: there is no such user or group. The caller frees n->buf. */
static bool nss_ask(struct nss *n, bool group, const char *name, uint32_t id)
{
	int rc = ERANGE;

	for (size_t size = NSS_BUF; rc == ERANGE && size <= NSS_BUF_MAX; size *= 4) {
		free(n->buf);
		n->buf = malloc(size);
		rc = n->buf ? nss_try(n, size, group, name, id) : ENOMEM;
	}
	return !rc && (n->g || n->user);
}

static bool nss_id_of(const char *name, bool group, uint32_t *id)
{
	struct nss n = {.buf = NULL};
	bool found = nss_ask(&n, group, name, 0);

	if (found)
		*id = group ? n.g->gr_gid : n.user->pw_uid;
	free(n.buf);
	return found;
}

static bool nss_name_of(uint32_t id, bool group, char *name, size_t size)
{
	struct nss n = {.buf = NULL};
	bool fits = nss_ask(&n, group, NULL, id);

	if (fits)
		fits = (size_t)snprintf(name, size, "%s", group ? n.g->gr_name : n.user->pw_name) <
		       size;
	free(n.buf);
	return fits;
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return s;
}

bool idmap_conf_domain(const char *path, char *domain, size_t size)
{
	FILE *f = fopen(path, "re");
	bool general = false, found = false;
	char line[1024];

	while (f && !found && fgets(line, sizeof(line), f)) {
		char *s = trim(line), *value = strchr(s, '=');

		if (*s == '[')
			general = !strncasecmp(s, "[General]", 9);
		if (!general || *s == '#' || *s == ';' || !value)
			continue;
		*value++ = '\0';
		value = trim(value);
		if (!strcasecmp(trim(s), "Domain") && *value && strlen(value) < size) {
			snprintf(domain, size, "%s", value);
			found = true;
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* The part of the host's full name behind the first dot. */
static bool host_domain(char *domain, size_t size)
{
	const struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	const char *dot = NULL;
	char host[256] = "";

	if (gethostname(host, sizeof(host) - 1))
		return false;
	if (getaddrinfo(host, NULL, &hints, &list) == 0 && list->ai_canonname)
		dot = strchr(list->ai_canonname, '.');
	if (!dot)
		dot = strchr(host, '.');
	if (dot)
		snprintf(domain, size, "%s", dot + 1);
	if (list)
		freeaddrinfo(list);
	return dot && domain[0];
}

static void find_domain(struct idmap *m)
{
	size_t n = sizeof(m->domain);

	if (m->domain[0] || idmap_conf_domain(CONF_PATH, m->domain, n) || host_domain(m->domain, n))
		return;
	snprintf(m->domain, n, "localdomain"); /* as NFSv4's usual mapper does */
}

/* --- the thread ---------------------------------------------------------------------------- */

/* Asks; e is a copy. */
static bool ask_id(struct idmap *m, struct entry *e, bool *foreign)
{
	char *at = strrchr(e->name, '@');

	if (!at || at == e->name)
		return false;
	if (strcasecmp(at + 1, m->domain)) {
		*foreign = true;
		return false;
	}
	*at = '\0';
	return m->source.id_of(e->name, e->group, &e->id);
}

static bool ask_name(struct idmap *m, struct entry *e)
{
	size_t room = sizeof(e->name) - 1 - strlen(m->domain), n;

	if (room < 2 || !m->source.name_of(e->id, e->group, e->name, room) || !e->name[0])
		return false;
	n = strlen(e->name);
	snprintf(e->name + n, sizeof(e->name) - n, "@%s", m->domain);
	return true;
}

static void answer_locked(struct idmap *m, struct entry *e) REQUIRES(m->lock)
{
	struct entry copy = *e;
	bool found, foreign = false;

	TAILQ_REMOVE(&m->queue, e, queue);
	mutex_unlock(&m->lock);
	find_domain(m);
	found = copy.by_name ? ask_id(m, &copy, &foreign) : ask_name(m, &copy);
	mutex_lock(&m->lock);
	if (found && e->by_name)
		e->id = copy.id;
	else if (found)
		memcpy(e->name, copy.name, sizeof(e->name));
	e->found = found;
	e->answered = true;
	e->queued = false;
	e->until = now_s() + (found ? KEEP_S : KEEP_NO_S);
	if (foreign && !m->foreign) {
		m->foreign = true;
		log_info("the owner %s is not of this machine's domain %s and counts as nobody, "
			 "as all such do: idmap_domain sets the domain",
			QUOTE(e->name, strlen(e->name)), m->domain);
	}
}

static void empty_locked(struct idmap *m) REQUIRES(m->lock)
{
	for (unsigned i = 0; i < CHAINS; i++) {
		struct entry *e, *next;

		for (e = LIST_FIRST(&m->chains[i]); e; e = next) {
			next = LIST_NEXT(e, link);
			if (e->queued)
				continue;
			LIST_REMOVE(e, link);
			free(e);
			m->count--;
		}
	}
}

/* Gives up a reference. */
static void put_and_unlock(struct idmap *m) RELEASE(m->lock)
{
	struct entry *e;

	if (--m->refs > 0) {
		mutex_unlock(&m->lock);
		return;
	}
	TAILQ_FOREACH (e, &m->queue, queue)
		e->queued = false;
	empty_locked(m);
	mutex_unlock(&m->lock);
	pthread_cond_destroy(&m->cond);
	mutex_destroy(&m->lock);
	free(m);
}

static void *idmap_main(void *arg)
{
	struct idmap *m = arg;

	mutex_lock(&m->lock);
	while (!m->stop) {
		struct entry *e = TAILQ_FIRST(&m->queue);

		if (e) {
			answer_locked(m, e);
			m->notify = true;
		} else if (m->notify) {
			m->notify = false;
			m->calling = true;
			mutex_unlock(&m->lock);
			m->resolved(m->ctx);
			mutex_lock(&m->lock);
			m->calling = false;
			pthread_cond_broadcast(&m->cond);
		} else {
			cond_wait(&m->cond, &m->lock);
		}
	}
	put_and_unlock(m);
	return NULL;
}

static void wake_locked(struct idmap *m) REQUIRES(m->lock)
{
	pthread_t thread;

	if (!m->running && pthread_create(&thread, NULL, idmap_main, m) == 0) {
		pthread_detach(thread);
		m->running = true;
		m->refs++;
	}
	pthread_cond_broadcast(&m->cond);
}

/* --- questions ----------------------------------------------------------------------------- */

static uint32_t hash(const struct entry *key)
{
	uint32_t h = 2166136261u ^ (key->by_name ? 0 : key->id * 2654435761u) ^ key->group;

	for (const char *s = key->by_name ? key->name : ""; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return (h ^ h >> 15) % CHAINS;
}

static bool same(const struct entry *a, const struct entry *b)
{
	if (a->by_name != b->by_name || a->group != b->group)
		return false;
	return a->by_name ? !strcmp(a->name, b->name) : a->id == b->id;
}

/* The entry of key, made if there is none; queued if it has no answer or an old one. NULL: out of
 * memory. */
static struct entry *find_locked(struct idmap *m, const struct entry *key) REQUIRES(m->lock)
{
	uint32_t h = hash(key);
	struct entry *e;

	LIST_FOREACH (e, &m->chains[h], link)
		if (same(e, key))
			break;
	if (!e) {
		if (m->count >= COUNT_MAX)
			empty_locked(m);
		e = m->count < 2 * COUNT_MAX ? malloc(sizeof(*e)) : NULL;
		if (!e)
			return NULL;
		*e = *key;
		LIST_INSERT_HEAD(&m->chains[h], e, link);
		m->count++;
	}
	if (!e->queued && (!e->answered || now_s() >= e->until)) {
		TAILQ_INSERT_TAIL(&m->queue, e, queue);
		e->queued = true;
		wake_locked(m);
	}
	return e;
}

/* Leaves the result in *key. */
static enum idmap_answer look_up(struct idmap *m, struct entry *key)
{
	enum idmap_answer answer = IDMAP_NO;
	struct entry *e;

	mutex_lock(&m->lock);
	e = find_locked(m, key);
	if (e && !e->answered) {
		answer = IDMAP_NOT_YET;
	} else if (e && e->found) {
		answer = IDMAP_YES;
		*key = *e;
	}
	mutex_unlock(&m->lock);
	return answer;
}

enum idmap_answer idmap_id(
	struct idmap *m, const char *name, uint32_t len, bool group, uint32_t *id)
{
	struct entry key = {.by_name = true, .group = group};
	enum idmap_answer answer;

	if (len == 0 || len > IDMAP_NAME_MAX)
		return IDMAP_NO;
	for (uint32_t i = 0; i < len; i++)
		if ((uint8_t)name[i] < 0x20 || name[i] == 0x7f)
			return IDMAP_NO;
	memcpy(key.name, name, len);
	answer = look_up(m, &key);
	if (answer == IDMAP_YES)
		*id = key.id;
	return answer;
}

enum idmap_answer idmap_name(
	struct idmap *m, uint32_t id, bool group, char name[IDMAP_NAME_MAX + 1])
{
	struct entry key = {.group = group, .id = id};
	enum idmap_answer answer = look_up(m, &key);

	if (answer == IDMAP_YES)
		memcpy(name, key.name, sizeof(key.name));
	return answer;
}

void idmap_notify(struct idmap *m)
{
	mutex_lock(&m->lock);
	m->notify = true;
	wake_locked(m);
	mutex_unlock(&m->lock);
}

struct idmap *idmap_new(const char *domain, const struct idmap_source *source,
	void (*resolved)(void *ctx), void *ctx)
{
	struct idmap *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->source = source ? *source
			   : (struct idmap_source){.id_of = nss_id_of, .name_of = nss_name_of};
	m->resolved = resolved;
	m->ctx = ctx;
	mutex_init(&m->lock);
	m->refs = 1;
	pthread_cond_init(&m->cond, NULL);
	TAILQ_INIT(&m->queue);
	snprintf(m->domain, sizeof(m->domain), "%s", domain ? domain : "");
	return m;
}

struct idmap *idmap_free(struct idmap *m)
{
	if (!m)
		return NULL;
	mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_broadcast(&m->cond);
	while (m->calling)
		cond_wait(&m->cond, &m->lock);
	put_and_unlock(m);
	return NULL;
}
