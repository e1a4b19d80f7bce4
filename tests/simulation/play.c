/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * play: see play.h. The schedule follows from the seed and from the results of the calls, and from
 * nothing else.
 *
 * The schedule leaves out:
 * - errors of WRITEs of pages that a mapping has changed: before 6.16 Linux waits for such a WRITE
 *   later than 6.16 does, and another call has the error;
 * - a short WRITE of O_DIRECT without async_dio: the rest goes through a page, which Linux drops
 *   again unless the page is still in a list of the processor's;
 * - locks of directories: Linux keeps these for itself, and the model has none;
 * - a shrink and a short READ beside a private mapping: Linux drops no page that is mapped, and a
 *   private mapping cannot be unmapped here without the loss of its own pages;
 * - calls that change the name ".": the model has no errors of its own for these;
 * - the order of files in a flush, which Linux does not promise: lines are sorted then;
 * - congestion of the background, which leaves out a part of a read-ahead;
 * - O_LARGEFILE and the like in OPEN, and numbers of open files: these differ between machines.
 */
#include "tests/simulation/play.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/simulation/dice.h"

#define SLOTS	  6
#define SIZE_MOST 60000

/* An open file, and a mapping of the file. */
struct slot {
	bool open, mapped;
	unsigned process;
	int fd, map;
	size_t len; /* of the mapping */
	bool private, readonly;
	bool writable;
};

static const struct deeds *deeds;
static FILE *out;
static struct slot slots[SLOTS];
/* Linux counts the pages that a buffer touches; the model takes a buffer for aligned. */
static _Alignas(4096) uint8_t bytes[DEED_BYTES];
static struct loopback_params mounted;

/* --- choices ---------------------------------------------------------------------------------- */

struct play_mount play_mount(uint64_t seed)
{
	struct play_mount m;

	choose_from(seed);
	m.daemon = (struct loopback_params){.threads = 1,
		.valid_s = once_in(2) ? 0 : 1000,
		.keeps = !once_in(3),
		.auto_inval = once_in(2),
		.truncates = !once_in(3),
		.ordered = true,
		.none_valid = once_in(2),
		.readahead = once_in(2) ? 0 : 32,
		.pages = once_in(2) ? 256 : 1 + below(8),
		.noflush = once_in(3),
		.kills = once_in(2),
		.waits_read = once_in(4),
		.waits_direct = once_in(3)};
	m.default_permissions = once_in(3);
	return m;
}

static const char *a_name(void)
{
	static const char *const names[] = {"f0", "f1", "f2", "x0", "d0/g0", "d0/g1", "l0"};

	return names[below(once_in(3) ? 7 : 4)];
}

static const char *a_file(void)
{
	static const char *const names[] = {"f0", "f1", "f2", "x0"};

	return names[below(4)];
}

/* "." is the root. The model has no errors of its own for calls that change a name ".". */
static const char *a_directory(bool root)
{
	static const char *const names[] = {"d0", "d1", "d0/d2", "."};

	return names[below(root ? 4 : 3)];
}

static size_t an_offset(void)
{
	size_t off = below(SIZE_MOST);

	return once_in(4) ? 0 : once_in(2) ? off & ~(size_t)4095 : off;
}

static size_t a_length(void)
{
	return 1 + below(once_in(2) ? 20000 : 5000);
}

/* --- telling ---------------------------------------------------------------------------------- */

static const char *error_name(long res)
{
	return res < 0 ? strerrorname_np((int)-res) : "";
}

/* Bytes as rows of one value. */
static void tell_bytes(const uint8_t *b, size_t n)
{
	size_t from = 0;

	for (size_t i = 1; i <= n; i++)
		if (i == n || b[i] != b[from]) {
			fprintf(out, " %02x*%zu", b[from], i - from);
			from = i;
		}
}

static void tell_stat(const struct stat *st)
{
	fprintf(out, " size %lld mode %o links %u uid %u gid %u mtime %lld ino %llu",
		(long long)st->st_size, st->st_mode, (unsigned)st->st_nlink, st->st_uid, st->st_gid,
		(long long)st->st_mtime, (unsigned long long)st->st_ino);
}

/* The requests that a step has led to. */
static void step_end(void)
{
	loopback_settle();
	loopback_tell(out);
}

/* The call, with its words and the result on the line; numbers of descriptors are not told. */
static long call(struct deed *d, const char *what)
{
	bool number = d->call == DEED_OPEN || d->call == DEED_MMAP;
	long res;

	fprintf(out, "process %u: %s %s %s", d->process, what, d->path ? d->path : "",
		d->other ? d->other : "");
	d->bytes = bytes;
	d->names = out;
	fprintf(out, " flags %x at %lld+%zu", (unsigned)d->flags, (long long)d->off, d->len);
	res = deeds->play(d);
	fprintf(out, " = %ld %s", number && res >= 0 ? 0 : res, error_name(res));
	if (!res && (d->call == DEED_STAT || d->call == DEED_LSTAT || d->call == DEED_FSTAT))
		tell_stat(&d->st);
	if (d->call == DEED_READ || d->call == DEED_PREAD || d->call == DEED_READLINK)
		tell_bytes(bytes, res > 0 ? (size_t)res : 0);
	if (d->call == DEED_LOAD && !res)
		tell_bytes(bytes, d->len);
	fputc('\n', out);
	step_end();
	return res;
}

/* --- open files ------------------------------------------------------------------------------- */

static void open_slot(struct slot *s)
{
	int flags = once_in(5) ? O_RDONLY : once_in(6) ? O_WRONLY : O_RDWR;
	struct deed d = {.call = DEED_OPEN, .process = below(DEED_PROCESSES), .path = a_name()};
	long res;

	if (once_in(6))
		flags |= O_DIRECT;
	if (once_in(5))
		flags |= O_APPEND;
	if (once_in(2))
		flags |= O_CREAT;
	if (once_in(5) && flags & O_ACCMODE)
		flags |= O_TRUNC;
	if (once_in(10))
		flags |= O_CREAT | O_EXCL;
	if (once_in(8))
		flags |= once_in(2) ? O_SYNC : O_DSYNC;
	if (once_in(12))
		flags |= once_in(2) || flags & O_CREAT ? O_NOFOLLOW : O_DIRECTORY;
	d.flags = flags;
	d.len = 0666;
	res = call(&d, "open");
	if (res < 0)
		return;
	*s = (struct slot){.open = true, .process = d.process, .fd = (int)res};
	s->writable = (flags & O_ACCMODE) == O_RDWR;
	s->readonly = (flags & O_ACCMODE) == O_RDONLY;
}

static struct deed on(const struct slot *s, enum deed_call c)
{
	return (struct deed){.call = c, .process = s->process, .fd = s->fd, .map = s->map};
}

static void unmap(struct slot *s)
{
	struct deed d = on(s, DEED_MUNMAP);

	d.len = s->len;
	call(&d, "munmap");
	s->mapped = false;
}

static void close_slot(struct slot *s)
{
	struct deed d = on(s, DEED_CLOSE);

	if (s->mapped && once_in(2))
		unmap(s);
	if (s->mapped)
		return;
	call(&d, "close");
	s->open = false;
}

static void read_slot(struct slot *s)
{
	struct deed d = on(s, once_in(4) ? DEED_READ : DEED_PREAD);

	d.off = d.call == DEED_READ ? 0 : (off_t)an_offset();
	d.len = once_in(3) ? SIZE_MOST : a_length();
	call(&d, d.call == DEED_READ ? "read" : "pread");
}

static void write_slot(struct slot *s)
{
	struct deed d = on(s, DEED_PWRITE);

	d.off = (off_t)an_offset();
	d.len = once_in(3) ? 4096 : a_length();
	memset(bytes, 1 + (int)below(255), d.len);
	call(&d, "pwrite");
}

static void size_slot(struct slot *s)
{
	struct deed d = on(s, DEED_FTRUNCATE);

	d.off = (off_t)an_offset();
	call(&d, "ftruncate");
}

static void allocate_slot(struct slot *s)
{
	static const int modes[] = {0, FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE};
	struct deed d = on(s, DEED_FALLOCATE);

	d.flags = modes[below(5)];
	d.off = (off_t)an_offset();
	d.len = a_length();
	call(&d, "fallocate");
}

static void look_slot(struct slot *s)
{
	struct deed d = on(s, DEED_FSTAT);

	call(&d, "fstat");
}

static void seek_slot(struct slot *s)
{
	static const int ways[] = {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE};
	struct deed d = on(s, DEED_SEEK);

	d.flags = ways[below(5)];
	d.off = once_in(2) ? 0 : (off_t)an_offset();
	call(&d, "lseek");
}

static void sync_slot(struct slot *s)
{
	struct deed d = on(s, once_in(2) ? DEED_FSYNC : DEED_FDATASYNC);

	call(&d, d.call == DEED_FSYNC ? "fsync" : "fdatasync");
}

static void mode_slot(struct slot *s)
{
	struct deed d = on(s, DEED_FCHMOD);

	d.flags = once_in(2) ? 0666 : once_in(2) ? 0600 : 06755;
	call(&d, "fchmod");
}

static void dup_slot(struct slot *s)
{
	struct deed d = on(s, DEED_DUP);

	call(&d, "dup and close");
}

static void lock_slot(struct slot *s)
{
	static const int types[] = {F_RDLCK, F_WRLCK, F_UNLCK},
			 cmds[] = {F_SETLK, F_GETLK, F_OFD_SETLK, F_SETLKW};
	static const int ops[] = {LOCK_SH, LOCK_EX, LOCK_UN, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB};
	struct deed d = on(s, once_in(2) ? DEED_LOCK : DEED_FLOCK);

	/* Linux keeps locks of directories for itself; the model has no such locks */
	if (s->readonly)
		return;
	if (d.call == DEED_FLOCK) {
		d.flags = ops[below(5)];
		call(&d, "flock");
		return;
	}
	d.flags = cmds[below(4)];
	d.shared = once_in(2);
	d.map = types[below(3)]; /* the type of the lock */
	d.off = (off_t)an_offset();
	d.len = once_in(3) ? 0 : a_length();
	call(&d, "lock");
}

static void flag_slot(struct slot *s)
{
	struct deed d = on(s, DEED_SETFL);

	d.flags = (once_in(2) ? O_APPEND : 0) | (once_in(3) ? O_DIRECT : 0);
	call(&d, "setfl");
}

static void map_slot(struct slot *s)
{
	struct deed d = on(s, DEED_MMAP);
	long res;

	if (s->mapped)
		return;
	d.len = 4096 * (1 + below(8));
	d.shared = !once_in(5);
	d.writable = s->writable || once_in(4);
	res = call(&d,
		d.shared ? d.writable ? "mmap shared writable" : "mmap shared" : "mmap private");
	if (res < 0)
		return;
	s->mapped = true;
	s->map = (int)res;
	s->len = d.len;
	s->private = !d.shared;
	s->writable = d.writable;
}

static void touch_slot(struct slot *s)
{
	struct deed d;

	if (!s->mapped) {
		map_slot(s);
		return;
	}
	if (once_in(8)) {
		d = on(s, DEED_MSYNC);
		d.len = s->len;
		call(&d, "msync");
		return;
	}
	d = on(s, s->writable && once_in(2) ? DEED_STORE : DEED_LOAD);
	d.off = (off_t)below((unsigned)s->len);
	d.len = 1 + below(once_in(2) ? 5000 : 100);
	if ((size_t)d.off + d.len > s->len)
		d.len = s->len - (size_t)d.off;
	if (d.call == DEED_STORE)
		memset(bytes, 1 + (int)below(255), d.len);
	call(&d, d.call == DEED_STORE ? "store" : "load");
}

static void act_slot(void)
{
	static void (*const acts[])(struct slot *) = {read_slot, read_slot, read_slot, read_slot,
		write_slot, write_slot, write_slot, size_slot, allocate_slot, look_slot, look_slot,
		seek_slot, sync_slot, lock_slot, flag_slot, mode_slot, dup_slot, touch_slot,
		touch_slot, touch_slot, touch_slot, close_slot, close_slot};
	struct slot *s = &slots[below(SLOTS)];

	if (!s->open)
		open_slot(s);
	else
		acts[below(sizeof(acts) / sizeof(*acts))](s);
}

/* --- names ------------------------------------------------------------------------------------ */

static void act_name(void)
{
	static const struct {
		enum deed_call call;
		const char *what;
	} acts[] = {{DEED_STAT, "stat"}, {DEED_STAT, "stat"}, {DEED_LSTAT, "lstat"},
		{DEED_ACCESS, "access"}, {DEED_CHMOD, "chmod"}, {DEED_CHOWN, "chown"},
		{DEED_TIMES, "utimens"}, {DEED_GETXATTR, "getxattr"}, {DEED_TRUNCATE, "truncate"},
		{DEED_UNLINK, "unlink"}, {DEED_RENAME, "rename"}, {DEED_RENAME, "rename"},
		{DEED_LINK, "link"}, {DEED_SYMLINK, "symlink"}, {DEED_READLINK, "readlink"},
		{DEED_MKDIR, "mkdir"}, {DEED_MKDIR, "mkdir"}, {DEED_RMDIR, "rmdir"},
		{DEED_LIST, "list"}, {DEED_LIST, "list"}};
	static const int flags[] = {0, 0, 1 /* RENAME_NOREPLACE */, 2 /* RENAME_EXCHANGE */};
	unsigned n = below(sizeof(acts) / sizeof(*acts));
	struct deed d = {.call = acts[n].call, .process = below(DEED_PROCESSES)};

	d.path = d.call == DEED_LIST || d.call == DEED_MKDIR || d.call == DEED_RMDIR || once_in(5)
			 ? a_directory(d.call == DEED_LIST || d.call == DEED_STAT)
			 : a_name();
	if (d.call == DEED_RENAME || d.call == DEED_LINK || d.call == DEED_SYMLINK)
		d.other = once_in(5) ? a_directory(false) : a_name();
	if (d.call == DEED_RENAME)
		d.flags = flags[below(4)];
	if (d.call == DEED_ACCESS)
		d.flags = (int)below(8);
	if (d.call == DEED_CHMOD)
		d.flags = once_in(2) ? 0644 : once_in(2) ? 0777 : 04755;
	if (d.call == DEED_CHOWN) {
		d.flags = once_in(3) ? -1 : once_in(2) ? 0 : 1000;
		d.len = once_in(3) ? (size_t)-1 : once_in(2) ? 0 : 1000;
	}
	if (d.call == DEED_TIMES) {
		d.times[0].tv_nsec = once_in(2) ? UTIME_OMIT : 0;
		d.times[1] =
			(struct timespec){.tv_sec = 1000, .tv_nsec = once_in(3) ? UTIME_OMIT : 0};
	}
	if (d.call == DEED_GETXATTR)
		d.len = once_in(2) ? 0 : 100;
	if (d.call == DEED_MKDIR)
		d.flags = 0777;
	if (d.call == DEED_TRUNCATE)
		d.off = (off_t)an_offset();
	call(&d, acts[n].what);
}

/* --- behind the kernel ------------------------------------------------------------------------ */

static void tell_result(const char *what, const char *name, long res)
{
	fprintf(out, "daemon: %s %s = %ld %s\n", what, name, res, error_name(res));
	step_end();
}

static void act_behind(void)
{
	const char *name = a_file();
	size_t off = an_offset(), len = a_length();

	switch (below(5)) {
	case 0:
	case 1:
		tell_result("another writes", name,
			loopback_write(name, off, len, (uint8_t)(1 + below(255))));
		break;
	case 2:
		tell_result("another cuts", name, loopback_cut(name, off));
		break;
	case 3:
		tell_result("another removes", name, loopback_remove(name));
		break;
	default:
		loopback_make(name, off, (uint8_t)(1 + below(255)));
		tell_result("another makes", name, 0);
	}
}

static void act_notify(void)
{
	const char *name = a_file();
	size_t off = an_offset(), len = a_length();

	switch (below(6)) {
	case 0:
		tell_result("attributes are invalid", name, loopback_inval_inode(name, -1, 0));
		break;
	case 1:
	case 2:
		tell_result("data is invalid", name, loopback_inval_inode(name, 0, 0));
		break;
	case 3:
		fprintf(out, "%zu+%zu ", off, len);
		tell_result("a part is invalid", name,
			loopback_inval_inode(name, (int64_t)off, (int64_t)len));
		break;
	case 4:
		tell_result("the name is invalid", name, loopback_inval_entry(name, once_in(3)));
		break;
	default:
		tell_result("the file is deleted", name, loopback_delete(name));
	}
}

/* Linux keeps pages of a private mapping mapped: a shrink drops none, and a short READ leaves those
 * behind the end. */
static bool is_private(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slots[i].mapped && slots[i].private)
			return true;
	return false;
}

static void act_fail(void)
{
	static const uint32_t opcodes[] = {FUSE_READ, FUSE_READ, FUSE_READ, FUSE_WRITE,
		FUSE_GETATTR, FUSE_SETATTR, FUSE_OPEN, FUSE_LOOKUP, FUSE_UNLINK, FUSE_RENAME,
		FUSE_CREATE, FUSE_FLUSH, FUSE_FSYNC};
	static const int errors[] = {EIO, ENOENT, EAGAIN, EACCES, ESTALE, EEXIST};
	unsigned n = below(sizeof(opcodes) / sizeof(*opcodes));
	bool part = (opcodes[n] == FUSE_READ && !is_private()) ||
		    (opcodes[n] == FUSE_WRITE && !mounted.waits_direct);

	part &= once_in(2);
	loopback_fail(opcodes[n], part ? 0 : errors[below(6)], 1 + below(2));
}

/* --- the schedule ----------------------------------------------------------------------------- */

/* Linux knows the root by now, from the mount: this is the same for both, and not told. */
static void begin(void)
{
	struct deed root = {.path = "."}, d = {.call = DEED_MKDIR, .path = "d0", .flags = 0777};

	out = fopen("/dev/null", "w");
	if (!out)
		abort();
	root.call = DEED_ACCESS;
	root.flags = X_OK;
	call(&root, "access");
	root.call = DEED_STAT;
	call(&root, "stat");
	call(&d, "mkdir");
	d.path = "d0/d2";
	call(&d, "mkdir");
	fclose(out);
}

static void end(void)
{
	loopback_fail(0, 0, 0);
	for (unsigned i = 0; i < SLOTS; i++) {
		struct deed d = on(&slots[i], DEED_CLOSE);

		if (slots[i].mapped)
			unmap(&slots[i]);
		if (slots[i].open)
			call(&d, "close");
	}
}

void play(uint64_t seed, unsigned steps, const struct deeds *how, FILE *to)
{
	deeds = how;
	begin();
	out = to;
	mounted = play_mount(seed).daemon;
	for (unsigned i = 0; i < steps; i++) {
		unsigned n = below(40);

		fprintf(out, "%u ", i);
		if (n == 0 && !is_private()) {
			fprintf(out, "shrink\n");
			deeds->flush();
			loopback_settle();
			loopback_tell_sorted(out);
			deeds->shrink();
			step_end();
		} else if (n == 1) {
			fprintf(out, "flush\n");
			deeds->flush();
			loopback_settle();
			loopback_tell_sorted(out); /* files have no order here */
		} else if (n < 5) {
			act_behind();
		} else if (n < 8) {
			act_notify();
		} else if (n == 8) {
			fprintf(out, "fault\n");
			act_fail();
		} else if (n < 16) {
			act_name();
		} else {
			act_slot();
		}
	}
	end();
}
