/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_append: programs append records to logs through descriptors with O_APPEND.
 *
 * The programs of one mount append to a log of the mount without a lock, and the programs of all
 * mounts to a shared log under a lock. Each record is in the log once, whole, behind the earlier
 * records of its writer. A reader sees each record that was closed before the open. The holder of
 * the lock, and programs of the writer's mount, see each record after its write has returned.
 *
 * A server without power may lose records that were not synced, and rnfs does not append such
 * records again. Then write, fsync or close fails with EIO, and the records are in doubt: each is
 * in the log, or not, or in part. If the power takes the first WRITE of a record and the answer,
 * rnfs appends the record again: the room of the first WRITE may stay, and reads as zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/sched.h"

#define RECORDS	    600
#define RECORD_MOST 5000u
#define HEAD	    5u
#define LOG_MOST    400000u
#define PROGRAMS    8
#define SHARED	    STAGE_MOUNTS /* the number of the shared log */

enum state { BEGUN, WRITTEN, SAFE, DOUBTFUL };

struct record {
	unsigned writer, mount;
	size_t size;
	enum state state;
};

struct log {
	char name[16];
	struct record record[RECORDS];
	unsigned n;
	size_t size; /* of all records */
	size_t lost; /* bytes that a power cut may have left unwritten, below the end of the file */
};

/* The records that a reader must see, by their state when the reader opened. */
struct view {
	const struct log *log;
	const struct program *p; /* NULL: the judge, at the end */
	bool must[RECORDS], begun[RECORDS], seen[RECORDS];
	size_t spare;		     /* bytes that may stand between records */
	unsigned last[PROGRAMS + 1]; /* the last record of each writer, from 1 */
	unsigned latest;
};

static struct log logs[STAGE_MOUNTS + 1];
static bool calm;

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i <= SHARED; i++)
		snprintf(logs[i].name, sizeof(logs[i].name), "append%u", i);
	calm = s->calm;
}

/* No byte of a record is zero. */
static uint8_t byte_of(unsigned id, size_t i, size_t size)
{
	switch (i) {
	case 0:
		return 'R';
	case 1:
		return (uint8_t)(1 + id % 250);
	case 2:
		return (uint8_t)(1 + id / 250);
	case 3:
		return (uint8_t)(1 + size % 250);
	case 4:
		return (uint8_t)(1 + size / 250);
	}
	return (uint8_t)(1 + (id * 37 + i * 11) % 255);
}

static __attribute__((noreturn)) void bad(const struct view *w, const char *why, size_t at)
{
	if (w->p)
		wrong(w->p, "%s: %s at byte %zu", w->log->name, why, at);
	sched_fail("at the end %s: %s at byte %zu", w->log->name, why, at);
}

/* --- the judge -------------------------------------------------------------------------------- */

/* locked: the reader holds the lock of the file. */
static void view_begin(struct view *w, const struct log *l, const struct program *p, bool locked)
{
	memset(w, 0, sizeof(*w));
	w->log = l;
	w->p = p;
	for (unsigned i = 0; i < l->n; i++) {
		const struct record *r = &l->record[i];

		w->must[i] = r->state == SAFE ||
			     (r->state == WRITTEN && calm && (locked || r->mount == p->mount));
	}
}

/* The reader may see each record that had begun before the last read. */
static void view_end(struct view *w)
{
	const struct log *l = w->log;

	w->spare = l->lost;
	for (unsigned i = 0; i < l->n; i++) {
		w->begun[i] = true;
		if (!calm && l->record[i].state != SAFE)
			w->spare += l->record[i].size;
	}
}

/* The number of the record that begins at got, with its size; -1: there is no such record. */
static int head(const struct view *w, const uint8_t *got, size_t n, size_t *size)
{
	unsigned id;

	if (n < HEAD || got[0] != 'R' || !got[1] || !got[2])
		return -1;
	id = got[1] - 1u + 250 * (got[2] - 1u);
	if (id >= w->log->n || !w->begun[id])
		return -1;
	*size = w->log->record[id].size;
	return got[3] == byte_of(id, 3, *size) && got[4] == byte_of(id, 4, *size) ? (int)id : -1;
}

static bool is_whole(const uint8_t *got, unsigned id, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++)
		if (got[i] != byte_of(id, i, size))
			return false;
	return true;
}

static void take(struct view *w, unsigned id, size_t at)
{
	const struct record *r = &w->log->record[id];
	unsigned *last = &w->last[r->writer % PROGRAMS];

	if (w->seen[id])
		bad(w, "a record is there twice", at);
	if (id + 1 < *last)
		bad(w, "two records of one writer have changed places", at);
	if (w->log == &logs[SHARED] && id + 1 < w->latest)
		bad(w, "two records that were appended under a lock have changed places", at);
	*last = w->latest = id + 1;
	w->seen[id] = true;
}

/* Is the rest from at on the beginning of a record under way? */
static bool is_begun(const struct view *w, const uint8_t *got, size_t n, size_t at)
{
	for (unsigned id = 0; id < w->log->n; id++) {
		const struct record *r = &w->log->record[id];

		if (!w->must[id] && !w->seen[id] && n - at < r->size &&
			is_whole(got + at, id, n - at, r->size))
			return true;
	}
	return false;
}

static void judge(struct view *w, const uint8_t *got, size_t n)
{
	size_t at = 0, size, gap = 0;

	while (at < n) {
		int id = head(w, got + at, n - at, &size);

		if (id >= 0 && size <= n - at && is_whole(got + at, (unsigned)id, size, size)) {
			take(w, (unsigned)id, at);
			at += size;
		} else if (w->p && is_begun(w, got, n, at)) {
			break;
		} else if (gap++ < w->spare) {
			at++;
		} else {
			sched_event("%s: %02x %02x %02x %02x %02x", w->log->name, got[at],
				got[at + 1 < n ? at + 1 : at], got[at + 2 < n ? at + 2 : at],
				got[at + 3 < n ? at + 3 : at], got[at + 4 < n ? at + 4 : at]);
			bad(w, got[at] ? "there is no record" : "there are zeros", at);
		}
	}
	for (unsigned i = 0; i < w->log->n; i++)
		if (w->must[i] && !w->seen[i]) {
			sched_event("%s: record %u of %zu bytes is missing", w->log->name, i,
				w->log->record[i].size);
			bad(w, "a record is missing before the end", n);
		}
}

/* --- programs --------------------------------------------------------------------------------- */

/* A failure puts the unsafe records of the writer in doubt. */
static bool told(struct program *p, struct log *l, long res, const char *call)
{
	if (res >= 0)
		return false;
	if (calm || res != -EIO)
		must(p, res, call, l->name);
	sched_event("%s: %s fails, records are in doubt", l->name, call);
	for (unsigned i = 0; i < l->n; i++)
		if (l->record[i].writer == p->nth && l->record[i].state != SAFE)
			l->record[i].state = DOUBTFUL;
	return true;
}

static void make_safe(struct program *p, struct log *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->record[i].writer == p->nth && l->record[i].state == WRITTEN)
			l->record[i].state = SAFE;
}

static void append_one(struct program *p, struct log *l, int fd)
{
	static uint8_t buf[PROGRAMS][RECORD_MOST];
	uint8_t *own = buf[p->nth % PROGRAMS];
	size_t size = HEAD + sched_choose(sched_once_in(2) ? 200 : RECORD_MOST - HEAD);
	unsigned id = l->n, cuts = disk_power_cuts();
	ssize_t n;

	if (id == RECORDS || l->size + size > LOG_MOST)
		return;
	l->n++;
	l->size += size;
	l->record[id] = (struct record){.writer = p->nth, .mount = p->mount, .size = size};
	for (size_t i = 0; i < size; i++)
		own[i] = byte_of(id, i, size);
	sched_event("append to %s: record %u of %zu", l->name, id, size);
	n = sys_write(p->proc, fd, own, size);
	l->lost += size * (disk_power_cuts() - cuts);
	if (told(p, l, n, "write"))
		return;
	if ((size_t)n != size && (calm || !told(p, l, -EIO, "a short write")))
		wrong(p, "%s: a short write", l->name);
	if ((size_t)n != size)
		return;
	/* the server may have taken the record in parts, and lost one */
	l->record[id].state = cuts == disk_power_cuts() ? WRITTEN : DOUBTFUL;
}

static struct view *view_of(const struct program *p)
{
	static struct view view[PROGRAMS];

	return &view[p->nth % PROGRAMS];
}

static void read_log(struct program *p, struct log *l, int fd)
{
	static uint8_t buf[PROGRAMS][LOG_MOST];
	uint8_t *own = buf[p->nth % PROGRAMS];
	uint32_t most = sched_once_in(2) ? LOG_MOST : 30000;
	size_t at = 0, size;
	ssize_t n;

	do {
		size = 1 + (most == LOG_MOST ? LOG_MOST - 1 : sched_choose(most));
		if (size > LOG_MOST - at)
			size = LOG_MOST - at;
		n = must(p, sys_pread(p->proc, fd, own + at, size, (off_t)at), "read", l->name);
		at += (size_t)n;
	} while (n > 0);
	sched_event("read %s: %zu bytes", l->name, at);
	view_end(view_of(p));
	judge(view_of(p), own, at);
}

static void lock(struct program *p, const struct log *l, int fd, short type)
{
	struct flock lock = {.l_type = type};

	must(p, sys_fcntl_lock(p->proc, fd, F_SETLKW, &lock), "lock", l->name);
}

static void read_only(struct program *p, struct log *l, bool locked)
{
	int fd;

	view_begin(view_of(p), l, p, false);
	fd = sys_open(p->proc, l->name, O_RDONLY, 0);
	if (fd == -ENOENT) /* a name may be missed for as long as its directory's attributes last */
		return;
	must(p, fd, "open", l->name);
	if (locked) {
		lock(p, l, fd, F_RDLCK);
		view_begin(view_of(p), l, p, true);
	}
	if (locked || !program_is_blind(p, l->name))
		read_log(p, l, fd);
	/* also tells a loss that no earlier call has told */
	told(p, l, sys_close(p->proc, fd), "close");
}

static void append(struct program *p, struct log *l, bool locked)
{
	int flags = O_RDWR | O_CREAT | O_APPEND | (sched_once_in(8) ? O_DIRECT : 0) |
		    (sched_once_in(8) ? O_SYNC : 0);
	unsigned n = 1 + sched_choose(4);
	int fd = (int)must(p, sys_open(p->proc, l->name, flags, 0644), "open", l->name);

	if (locked) {
		lock(p, l, fd, F_WRLCK);
		if (sched_once_in(2)) {
			view_begin(view_of(p), l, p, true);
			read_log(p, l, fd);
		}
	}
	while (n--)
		append_one(p, l, fd);
	if (sched_once_in(4) && !told(p, l, sys_fsync(p->proc, fd), "fsync"))
		make_safe(p, l);
	if (locked && sched_once_in(2))
		told(p, l, sys_fcntl_lock(p->proc, fd, F_SETLK, &(struct flock){.l_type = F_UNLCK}),
			"unlock");
	if (!told(p, l, sys_close(p->proc, fd), "close"))
		make_safe(p, l);
}

static void act(struct program *p)
{
	struct log *l = &logs[sched_once_in(2) ? SHARED : p->mount];
	bool locked = l == &logs[SHARED];

	if (sched_once_in(3))
		read_only(p, locked ? l : &logs[sched_choose(p->stage->mounts)], locked);
	else
		append(p, l, locked);
}

static void end(const struct stage *s)
{
	static struct view w;
	static uint8_t buf[LOG_MOST];
	char path[80];
	ssize_t n;

	for (unsigned i = 0; i <= SHARED; i++) {
		snprintf(path, sizeof(path), "/sim/export/%.15s", logs[i].name);
		n = disk_read(path, buf, sizeof(buf), 0);
		view_begin(&w, &logs[i], NULL, true);
		view_end(&w);
		judge(&w, buf, n < 0 ? 0 : (size_t)n);
	}
}

const struct crowd crowd_append = {
	.name = "append", .each = 2, .begin = begin, .act = act, .end = end};
