/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crowd_killed: programs are killed (SIGKILL) while they lock, read, write and sync files. The
 * mount then frees the locks of a killed program, and closes its files. The data of its earlier
 * calls is in the file. The write that the kill interrupted is in the file, or not, or up to some
 * byte. All later holders of the lock see the same bytes.
 *
 * Each program also has a file of its own, changed without a lock. After a kill the program's next
 * process writes other bytes in the same place, and these bytes stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/crowds.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/truth.h"
#include "tests/simulation/ways.h"

#define FILES	   2
#define EACH	   2
#define PROGRAMS   (EACH * STAGE_MOUNTS)
#define WRITE_MOST 12000
#define OWN_MOST   30000 /* the begin of a write */

/* A file, and the state before a write that a kill has made doubtful. */
struct file {
	struct truth t;
	struct truth before; /* the doubtful write */
	bool doubtful;
};

/* The file of one program, and the range of a write that a kill has made doubtful. */
struct own {
	struct truth t;
	size_t from, end;
	bool doubtful;
};

struct killer {
	pthread_t thread;
	struct process *victim;
	useconds_t delay;
	bool ends;
};

static struct file file[FILES];
static struct own own[PROGRAMS];

static void begin(const struct stage *s)
{
	for (unsigned i = 0; i < FILES; i++)
		truth_new(&file[i].t, "killed", i);
	for (unsigned i = 0; i < PROGRAMS; i++) {
		truth_new(&own[i].t, "killed-own", i);
		own[i].doubtful = false;
	}
}

static void *kill_later(void *ctx)
{
	struct killer *k = ctx;

	sched_name("killer");
	sched_wait(k, sched_now() + k->delay * 1000ull, "to kill");
	if (!k->ends)
		proc_kill(k->victim);
	return NULL;
}

/* False: the program is killed, and the call's result counts for nothing. */
static bool lives(struct program *p, long res, const char *call, const struct truth *t)
{
	if (proc_is_killed(p->proc))
		return false;
	must(p, res, call, t->name);
	return true;
}

/* May the byte be one of before the doubtful write? A server that splits WRITEs may have carried
 * out the end of a killed program's write without the beginning: then there is a hole. */
static bool was_there(const struct file *f, size_t i, uint8_t byte)
{
	if (i < f->before.size)
		return byte == f->before.bytes[i];
	return ways.splits && !byte;
}

/* Finds out how far the doubtful write has come. */
static bool settle(struct program *p, struct file *f, int fd)
{
	static uint8_t buf[PROGRAMS][TRUTH_MOST];
	uint8_t *got = buf[p->nth];
	ssize_t n = sys_pread(p->proc, fd, got, TRUTH_MOST, 0);

	if (!lives(p, n, "read", &f->t))
		return false;
	if ((size_t)n < f->before.size || (size_t)n > f->t.size)
		wrong(p, "%s had %zu bytes, a killed program wrote up to %zu, and a read tells %zd",
			f->t.name, f->before.size, f->t.size, n);
	for (size_t i = 0; i < (size_t)n; i++)
		if (got[i] != f->t.bytes[i] && !was_there(f, i, got[i]))
			wrong(p, "%s: byte %zu is %02x, was %02x, and a killed program wrote %02x",
				f->t.name, i, got[i], f->before.bytes[i], f->t.bytes[i]);
	sched_event("%s has %zd bytes, the killed program's write is settled", f->t.name, n);
	memcpy(f->t.bytes, got, (size_t)n);
	f->t.size = (size_t)n;
	f->doubtful = false;
	return true;
}

static bool read_all(struct program *p, const struct truth *t, int fd)
{
	static uint8_t buf[PROGRAMS][TRUTH_MOST];
	uint8_t *got = buf[p->nth];
	ssize_t n = sys_pread(p->proc, fd, got, TRUTH_MOST, 0);

	if (!lives(p, n, "read", t))
		return false;
	truth_check_size(p, t, n, "read");
	truth_compare(p, t, got, 0, (size_t)n);
	return true;
}

static bool write_some(struct program *p, struct file *f, int fd)
{
	size_t off = sched_choose((uint32_t)f->t.size + 1), n = 1 + sched_choose(WRITE_MOST);
	uint8_t byte = (uint8_t)(1 + sched_choose(255)), buf[WRITE_MOST];
	ssize_t res;

	if (off + n > TRUTH_MOST)
		return true;
	f->before = f->t;
	f->doubtful = true;
	truth_wrote(&f->t, off, n, byte);
	memset(buf, byte, n);
	sched_event("write %s %zu+%zu: %02x", f->t.name, off, n, byte);
	res = sys_pwrite(p->proc, fd, buf, n, (off_t)off);
	if (res == (ssize_t)n) { /* killed behind that or not */
		f->doubtful = false;
		return !proc_is_killed(p->proc);
	}
	if (lives(p, res, "write", &f->t))
		wrong(p, "a short write");
	return false;
}

static void use(struct program *p, struct file *f)
{
	struct flock l = {.l_type = F_WRLCK};
	int fd = sys_open(p->proc, f->t.name, O_RDWR | O_CREAT, 0644);

	if (!lives(p, fd, "open", &f->t) ||
		!lives(p, sys_fcntl_lock(p->proc, fd, F_SETLKW, &l), "lock", &f->t))
		return;
	sched_event("%s is locked", f->t.name);
	if (f->doubtful && !settle(p, f, fd))
		return;
	for (unsigned n = 1 + sched_choose(4); n; n--)
		if (!read_all(p, &f->t, fd) || !write_some(p, f, fd) ||
			(sched_once_in(3) && !lives(p, sys_fsync(p->proc, fd), "fsync", &f->t)))
			return;
	l.l_type = F_UNLCK;
	if (sched_once_in(2) &&
		!lives(p, sys_fcntl_lock(p->proc, fd, F_SETLK, &l), "unlock", &f->t))
		return;
	lives(p, sys_close(p->proc, fd), "close", &f->t);
}

/* --- a file of the program's own -------------------------------------------------------------- */

/* False: the program is killed. The range is doubtful, and so is a former one within. */
static bool write_own(struct program *p, struct own *o, int fd, size_t off, size_t n)
{
	uint8_t byte = (uint8_t)(1 + sched_choose(255)), buf[WRITE_MOST];
	ssize_t res;

	o->from = off;
	o->end = off + n;
	o->doubtful = true;
	truth_wrote(&o->t, off, n, byte);
	memset(buf, byte, n);
	sched_event("write %s %zu+%zu: %02x", o->t.name, off, n, byte);
	res = sys_pwrite(p->proc, fd, buf, n, (off_t)off);
	o->doubtful = res != (ssize_t)n;
	if (lives(p, res, "write", &o->t) && o->doubtful)
		wrong(p, "a short write");
	return !proc_is_killed(p->proc);
}

/* O_DIRECT sends each WRITE at once. */
static int open_own(struct program *p, const struct own *o)
{
	int direct = p->stage->calm && sched_once_in(2) ? O_DIRECT : 0;

	return sys_open(p->proc, o->t.name, O_RDWR | O_CREAT | direct, 0644);
}

static void use_own(struct program *p, struct own *o)
{
	int fd = open_own(p, o);

	if (!lives(p, fd, "open", &o->t) ||
		(o->doubtful && !write_own(p, o, fd, o->from, o->end - o->from)))
		return;
	for (unsigned n = 1 + sched_choose(4); n; n--)
		if (!read_all(p, &o->t, fd) ||
			!write_own(p, o, fd, sched_choose((uint32_t)o->t.size + 1) % OWN_MOST,
				1 + sched_choose(WRITE_MOST)))
			return;
	lives(p, sys_close(p->proc, fd), "close", &o->t);
}

static void act(struct program *p)
{
	struct killer k = {.victim = p->proc, .delay = sched_choose(10000)};
	bool kills = !sched_once_in(3);

	if (kills)
		pthread_create(&k.thread, NULL, kill_later, &k);
	if (sched_once_in(2))
		use(p, &file[sched_choose(FILES)]);
	else
		use_own(p, &own[p->nth]);
	if (!kills)
		return;
	k.ends = true;
	sched_wake_all(&k);
	pthread_join(k.thread, NULL);
}

static void end(const struct stage *s)
{
	/* rnfs sends the data of a killed program when the program has gone */
	for (unsigned i = 0; i < FILES; i++)
		if (!file[i].doubtful) {
			truth_wait_disk(&file[i].t);
			truth_check_disk(&file[i].t);
		}
	for (unsigned i = 0; i < PROGRAMS; i++)
		if (!own[i].doubtful) {
			truth_wait_disk(&own[i].t);
			truth_check_disk(&own[i].t);
		}
}

const struct crowd crowd_killed = {
	.name = "killed", .each = EACH, .begin = begin, .act = act, .end = end};
