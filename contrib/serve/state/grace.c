/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * grace: the record of clients that hold state, and the grace period.
 *
 * The file is text: a line that names the format, then a line for each client: flavor, uid, and the
 * owner string in hexadecimal. Each change writes a new file beside the old one, and puts it in
 * place by rename(2), so the file is always whole. Changes are rare, at most two in the life of a
 * client. A record without clients has no file. The file belongs to the server, so it is written
 * with the server's identity, on every caller's thread.
 *
 * An entry from the file has no client ID until its client has reclaimed some state.
 *
 * lock is held over the writing of the
 * file, and no other lock is taken inside it.
 */
#include "contrib/serve/state/grace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "nfsproto/wire/nfs4.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"
#include "transport/state_dir.h"

#define HEAD	  "rnfs-serve clients 1\n"
#define READ_MAX  4096 /* clients taken from a file */
#define LINE_SIZE (32 + 2 * NFS4_OPAQUE_LIMIT)

struct entry {
	uint32_t flavor, uid;
	uint64_t id;  /* 0: from an earlier run, and not reclaimed */
	bool waiting; /* may reclaim */
	LIST_ENTRY(entry) link;
	uint32_t owner_len;
	uint8_t owner[];
};

struct grace {
	atomic_int phase; /* enum grace_phase */
	uint32_t lease_s;
	struct mutex lock;
	pthread_cond_t begun;		      /* the phase is not GRACE_STARTING any more */
	char path[PATH_MAX] GUARDED_BY(lock); /* empty: no record is kept */
	bool failing GUARDED_BY(lock);	      /* the last write failed, and the log has told so */
	uint64_t start_ns GUARDED_BY(lock);
	GUARDED_BY(lock) LIST_HEAD(, entry) entries;
};

static void set_phase(struct grace *g, enum grace_phase phase)
{
	atomic_store_explicit(&g->phase, phase, memory_order_release);
}

enum grace_phase grace_phase(const struct grace *g)
{
	return g ? atomic_load_explicit(&g->phase, memory_order_acquire) : GRACE_OVER;
}

struct grace *grace_new(uint32_t lease_s)
{
	struct grace *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	mutex_init(&g->lock);
	pthread_cond_init(&g->begun, NULL);
	LIST_INIT(&g->entries);
	g->lease_s = lease_s;
	set_phase(g, GRACE_STARTING);
	return g;
}

struct grace *grace_free(struct grace *g)
{
	struct entry *e;

	if (!g)
		return NULL;
	mutex_destroy(&g->lock);
	while ((e = LIST_FIRST(&g->entries)) != NULL) {
		LIST_REMOVE(e, link);
		free(e);
	}
	pthread_cond_destroy(&g->begun);
	free(g);
	return NULL;
}

static uint32_t uid_of(const struct rpc_cred *cred)
{
	return cred->flavor == RPC_AUTH_SYS ? cred->uid : 0;
}

static struct entry *entry_new(uint32_t flavor, uint32_t uid, const uint8_t *owner, uint32_t len)
{
	struct entry *e = calloc(1, sizeof(*e) + len);

	if (!e)
		return NULL;
	e->flavor = flavor;
	e->uid = uid;
	e->owner_len = len;
	memcpy(e->owner, owner, len);
	return e;
}

/* --- the file ------------------------------------------------------------------------------- */

static int print_entries_locked(struct grace *g, FILE *f) REQUIRES(g->lock)
{
	struct entry *e;

	fputs(HEAD, f);
	LIST_FOREACH (e, &g->entries, link) {
		fprintf(f, "%u %u ", e->flavor, e->uid);
		for (uint32_t i = 0; i < e->owner_len; i++)
			fprintf(f, "%02x", e->owner[i]);
		fputc('\n', f);
	}
	if (fflush(f) != 0 || fsync(fileno(f)) != 0)
		return -errno;
	return ferror(f) ? -EIO : 0; /* an earlier buffer failed: the errno is lost */
}

/* Makes the file to replace the record, with the content on stable storage. */
static int write_new_locked(struct grace *g, const char *tmp) REQUIRES(g->lock)
{
	FILE *f;
	int fd, r;

	unlink(tmp); /* left behind by a crash */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		close(fd);
		r = -ENOMEM;
	} else {
		r = print_entries_locked(g, f);
		if (fclose(f) != 0 && r == 0)
			r = -errno;
	}
	if (r < 0)
		unlink(tmp);
	return r;
}

static int replace_locked(struct grace *g) REQUIRES(g->lock)
{
	char tmp[PATH_MAX + 8];
	int r;

	if (LIST_EMPTY(&g->entries)) {
		if (unlink(g->path) != 0)
			return errno == ENOENT ? 0 : -errno;
		return state_sync_name(g->path);
	}
	snprintf(tmp, sizeof(tmp), "%s.new", g->path);
	r = write_new_locked(g, tmp);
	if (r < 0)
		return r;
	if (rename(tmp, g->path) != 0) {
		r = -errno;
		unlink(tmp);
		return r;
	}
	return state_sync_name(g->path);
}

/* Writes the record. The first of several failures in a row is logged: clients then cannot reclaim
 * after a restart. */
static void save_locked(struct grace *g) REQUIRES(g->lock)
{
	int r = 0;

	if (g->path[0]) {
		ident_suspend(); /* the caller may have no right to write here */
		r = replace_locked(g);
		ident_resume();
	}
	if (r < 0 && !g->failing)
		log_always_warn(
			"cannot write %s: %s; clients may lose their opens and locks when the "
			"server is restarted",
			g->path, strerror(-r));
	g->failing = r < 0;
}

/* Can the record be written? Logs a failure now, before the first client comes. */
static void try_locked(struct grace *g) REQUIRES(g->lock)
{
	char tmp[PATH_MAX + 8];
	int r;

	snprintf(tmp, sizeof(tmp), "%s.new", g->path);
	r = write_new_locked(g, tmp);
	if (r == 0 && unlink(tmp) == 0)
		r = state_sync_name(g->path);
	if (r < 0)
		log_always_warn(
			"the record of clients cannot be kept as %s (%s): opens and locks end with "
			"this run; make its directory writable, or give --handle-key FILE in "
			"one that is",
			g->path, strerror(-r));
	g->failing = r < 0;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An entry from a line without its newline, or NULL. */
static struct entry *parse_line(const char *line)
{
	uint8_t owner[NFS4_OPAQUE_LIMIT];
	uint32_t flavor, uid, len = 0;
	int n = 0;

	if (sscanf(line, "%" SCNu32 " %" SCNu32 " %n", &flavor, &uid, &n) != 2 || n == 0)
		return NULL;
	for (line += n; *line; line += 2) {
		int high = hex(line[0]), low = high < 0 ? -1 : hex(line[1]);

		if (low < 0 || len == sizeof(owner))
			return NULL;
		owner[len++] = (uint8_t)(high << 4 | low);
	}
	return entry_new(flavor, uid, owner, len);
}

static struct entry *find_locked(struct grace *g, uint32_t flavor, uint32_t uid,
	const uint8_t *owner, uint32_t len, bool old) REQUIRES(g->lock)
{
	struct entry *e;

	LIST_FOREACH (e, &g->entries, link)
		if (e->flavor == flavor && e->uid == uid && e->owner_len == len &&
			(!old || e->waiting) && memcmp(e->owner, owner, len) == 0)
			return e;
	return NULL;
}

/* Reads the lines. False: the file is no record, or is damaged. */
static bool read_entries_locked(struct grace *g, FILE *f) REQUIRES(g->lock)
{
	char line[LINE_SIZE];
	unsigned n = 0;

	if (!fgets(line, sizeof(line), f) || strcmp(line, HEAD) != 0)
		return false;
	while (fgets(line, sizeof(line), f)) {
		char *end = strchr(line, '\n');
		struct entry *e = NULL;

		if (end) {
			*end = '\0';
			e = n++ < READ_MAX ? parse_line(line) : NULL;
		}
		if (!e)
			return false;
		if (find_locked(g, e->flavor, e->uid, e->owner, e->owner_len, false)) {
			free(e);
			continue;
		}
		e->waiting = true;
		LIST_INSERT_HEAD(&g->entries, e, link);
	}
	return true;
}

static void load_locked(struct grace *g) REQUIRES(g->lock)
{
	int fd = open(g->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	FILE *f;

	if (fd < 0) {
		if (errno != ENOENT)
			log_always_warn("cannot read %s: %s; no client can reclaim what it held",
				g->path, strerror(errno));
		return;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		log_always_warn(
			"%s is not a file of ours; no client can reclaim what it held", g->path);
		close(fd);
		return;
	}
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return;
	}
	if (!read_entries_locked(g, f))
		log_always_warn(
			"%s is damaged; not all clients can reclaim what they held", g->path);
	fclose(f);
}

/* --- the grace period ----------------------------------------------------------------------- */

static void strike_locked(struct entry *e)
{
	LIST_REMOVE(e, link);
	free(e);
}

static void end_locked(struct grace *g) REQUIRES(g->lock)
{
	struct entry *e, *next;
	unsigned lost = 0;

	for (e = LIST_FIRST(&g->entries); e; e = next) {
		next = LIST_NEXT(e, link);
		e->waiting = false;
		if (e->id)
			continue;
		strike_locked(e);
		lost++;
	}
	if (lost)
		save_locked(g); /* before another client gets any of the removed clients' state */
	log_ctrl("the grace period is over; %u clients did not come back", lost);
	set_phase(g, GRACE_OVER);
}

static bool anybody_waiting_locked(struct grace *g) REQUIRES(g->lock)
{
	struct entry *e;

	LIST_FOREACH (e, &g->entries, link)
		if (e->waiting)
			return true;
	return false;
}

static void end_if_done_locked(struct grace *g) REQUIRES(g->lock)
{
	if (grace_phase(g) == GRACE_ON && !anybody_waiting_locked(g))
		end_locked(g);
}

void grace_begin(struct grace *g, const char *path)
{
	struct entry *e;
	unsigned n = 0;

	mutex_lock(&g->lock);
	if (path) {
		snprintf(g->path, sizeof(g->path), "%s", path);
		load_locked(g);
		try_locked(g);
	}
	g->start_ns = clock_ns();
	LIST_FOREACH (e, &g->entries, link)
		n++;
	set_phase(g, n ? GRACE_ON : GRACE_OVER);
	pthread_cond_broadcast(&g->begun);
	mutex_unlock(&g->lock);
	if (n)
		log_always_info(
			"clients that may reclaim what they held before: %u. Until they have, or "
			"for "
			"%u s, nothing new is opened",
			n, g->lease_s);
}

void grace_tick(struct grace *g, uint64_t now)
{
	uint64_t age, lease;
	struct entry *e;
	bool busy = false;

	if (grace_phase(g) != GRACE_ON)
		return;
	mutex_lock(&g->lock);
	lease = g->lease_s * NSEC_PER_SEC;
	age = clock_age(now, g->start_ns);
	LIST_FOREACH (e, &g->entries, link)
		busy |= e->waiting && e->id && e->flavor != GRACE_NLM;
	if (grace_phase(g) == GRACE_ON && age >= (busy ? 2 * lease : lease))
		end_locked(g);
	mutex_unlock(&g->lock);
}

enum grace_phase grace_begun(struct grace *g)
{
	if (grace_phase(g) == GRACE_STARTING) {
		mutex_lock(&g->lock);
		while (grace_phase(g) == GRACE_STARTING)
			cond_wait(&g->begun, &g->lock);
		mutex_unlock(&g->lock);
	}
	return grace_phase(g);
}

bool grace_each_host(
	struct grace *g, void (*fn)(void *ctx, const uint8_t *owner, uint32_t len), void *ctx)
{
	struct entry **host, *e;
	size_t n = 0, room = 0;
	bool ok;

	/* copies, since fn may take long */
	mutex_lock(&g->lock);
	LIST_FOREACH (e, &g->entries, link)
		room += e->waiting && e->flavor == GRACE_NLM;
	host = calloc(room + 1, sizeof(struct entry *));
	ok = host != NULL;
	LIST_FOREACH (e, &g->entries, link) {
		if (!ok || !e->waiting || e->flavor != GRACE_NLM)
			continue;
		host[n] = entry_new(e->flavor, e->uid, e->owner, e->owner_len);
		ok = host[n] != NULL;
		n += ok;
	}
	mutex_unlock(&g->lock);
	for (size_t i = 0; i < n; i++) {
		fn(ctx, host[i]->owner, host[i]->owner_len);
		free(host[i]);
	}
	free(host);
	return ok;
}

bool grace_may_reclaim(struct grace *g, const struct grace_who *who)
{
	bool ok;

	if (grace_phase(g) != GRACE_ON)
		return false;
	mutex_lock(&g->lock);
	ok = find_locked(g, who->cred->flavor, uid_of(who->cred), who->owner, who->owner_len, true);
	mutex_unlock(&g->lock);
	return ok;
}

void grace_reclaimed(struct grace *g, const struct grace_who *who)
{
	struct entry *e;

	if (grace_phase(g) != GRACE_ON)
		return;
	mutex_lock(&g->lock);
	e = find_locked(g, who->cred->flavor, uid_of(who->cred), who->owner, who->owner_len, true);
	if (e) {
		e->waiting = false; /* end_locked() removes the entry if it has no ID */
		end_if_done_locked(g);
	}
	mutex_unlock(&g->lock);
}

void grace_note(struct grace *g, const struct grace_who *who, uint64_t clientid)
{
	uint32_t flavor, uid;
	struct entry *e;

	if (!g)
		return;
	flavor = who->cred->flavor;
	uid = uid_of(who->cred);
	mutex_lock(&g->lock);
	e = find_locked(g, flavor, uid, who->owner, who->owner_len, true);
	if (e && !e->id) {
		e->id = clientid; /* the file has the entry already */
	} else {
		e = entry_new(flavor, uid, who->owner, who->owner_len);
		if (e) {
			e->id = clientid;
			LIST_INSERT_HEAD(&g->entries, e, link);
			save_locked(g);
		}
	}
	mutex_unlock(&g->lock);
}

void grace_forget(struct grace *g, uint64_t clientid)
{
	struct entry *e;

	if (!g)
		return;
	mutex_lock(&g->lock);
	LIST_FOREACH (e, &g->entries, link)
		if (e->id == clientid)
			break;
	if (e) {
		strike_locked(e);
		save_locked(g);
		end_if_done_locked(g);
	}
	mutex_unlock(&g->lock);
}
