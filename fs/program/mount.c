/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mount: the mount point, and the FUSE session on it.
 */
#include "fs/program/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/fuse_fd.h"
#include "cli/machine.h"
#include "cli/mountpoint.h"
#include "fs/observe/account.h"
#include "cli/sidecar.h"
#include "fs/kernel/device.h"
#include "fs/kernel/event.h"
#include "fs/kernel/underway.h"
#include "fs/ops/ops.h"
#include "fs/kernel/worker.h"
#include "transport/clock.h"
#include "transport/log.h"

#define NO_ROW		-1
#define MINOR_BITS	20	   /* of a device number inside the kernel */
#define REQUEST_TIMEOUT (1u << 10) /* FUSE_REQUEST_TIMEOUT in flags2, from Linux 6.15 */
#define HAS_RESEND	(1u << 7)  /* FUSE_HAS_RESEND in flags2, from Linux 6.9 */

static int check_device(struct err *e)
{
	int error = machine_fuse_device("");

	if (!error)
		return 0;
	if (error == ENOENT || error == ENODEV || error == ENXIO)
		return err_set(e, ERR_INTERNAL,
			"this system has no /dev/fuse: load the kernel module \"fuse\", or give "
			"the container the device");
	return err_set(e, ERR_INTERNAL,
		"/dev/fuse cannot be opened (%s): it must be readable and writable for you, "
		"usually mode 0666",
		strerror(error));
}

int mount_check(const char *path, char **real, struct err *e)
{
	if (fuse_fd_meant(path)) {
		if (fuse_fd_check(path, e))
			return -1;
		*real = strdup(path);
		return *real ? 0 : err_set(e, ERR_INTERNAL, "out of memory");
	}
	return check_device(e) || mountpoint_check(path, real, e) ? -1 : 0;
}

/* The -o list: user's options, fsname (the source, its commas escaped), subtype. */
static char *session_options(const struct options *o)
{
	size_t cap = strlen(o->fuse_opts) + 2 * strlen(o->source) + 64, n;
	char *s = malloc(cap);

	if (!s)
		return NULL;
	n = snprintf(s, cap, "subtype=rnfs%s%s%s", o->debug_fuse ? ",debug" : "",
		*o->fuse_opts ? "," : "", o->fuse_opts);
	if (strstr(s, ",fsname="))
		return s;
	n += snprintf(s + n, cap - n, ",fsname=");
	for (const char *p = o->source; *p; p++) {
		if (*p == ',' || *p == '\\')
			s[n++] = '\\';
		s[n++] = *p;
	}
	s[n] = 0;
	return s;
}

static void fuse_log_line(enum fuse_log_level level, const char *fmt, va_list ap)
{
	char line[512];
	size_t n;

	vsnprintf(line, sizeof(line), fmt, ap);
	n = strlen(line);
	if (n && line[n - 1] == '\n')
		line[n - 1] = 0;
	if (!strncmp(line, "fuse: ", 6))
		memmove(line, line + 6, strlen(line + 6) + 1);
	if (level <= FUSE_LOG_ERR)
		log_error("fuse: %s", line);
	else if (level <= FUSE_LOG_WARNING)
		log_warn("fuse: %s", line);
	else
		log_ctrl("fuse: %s", line);
}

/* Standard error into a file while fusermount3 runs. */
struct capture {
	int saved, file;
};

static void capture_begin(struct capture *c)
{
	c->saved = -1;
	c->file = memfd_create("stderr", MFD_CLOEXEC);
	if (c->file < 0)
		return;
	c->saved = fcntl(2, F_DUPFD_CLOEXEC, 3);
	if (c->saved >= 0)
		dup2(c->file, 2);
}

/* Puts the first line that was written, without a program's name in front, into text. */
static void capture_end(struct capture *c, char *text, size_t size)
{
	ssize_t n = 0;
	char *s;

	text[0] = 0;
	if (c->saved >= 0) {
		dup2(c->saved, 2);
		close(c->saved);
		n = pread(c->file, text, size - 1, 0);
	}
	if (c->file >= 0)
		close(c->file);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	while ((s = strstr(text, ": ")) && (!strncmp(text, "rnfs", 4) || !strncmp(text, "fuse", 4)))
		memmove(text, s + 2, strlen(s + 2) + 1);
}

/* The library (3.14) does not know FUSE_REQUEST_TIMEOUT, and does not show unknown flags. */
static void look_at_init(struct fs *fs, const void *buf)
{
	const struct fuse_in_header *h = buf;
	const struct fuse_init_in *in = (const void *)(h + 1);

	if (h->opcode != FUSE_INIT || h->len < sizeof(*h) + sizeof(*in))
		return;
	fs->may_time_out = in->flags2 & REQUEST_TIMEOUT;
	fs->may_resend = fs->ledger && in->flags & FUSE_INIT_EXT && in->flags2 & HAS_RESEND;
	if (h->len - sizeof(*h) <= sizeof(fs->init.in)) {
		fs->init.in_len = h->len - (uint32_t)sizeof(*h);
		memcpy(fs->init.in, in, fs->init.in_len);
	}
}

/* The first answer of the session is the one to INIT. True: the kernel has had it from a former
 * daemon. */
static bool note_init_answer(struct fs *fs, const struct iovec *iov, int count)
{
	uint8_t *out = fs->init.out;
	size_t len = count == 2 ? iov[1].iov_len : 0;

	if (len > sizeof(fs->init.out))
		len = 0;
	if (fs->init_is_past &&
		(!len || len != fs->init.out_len || memcmp(out, iov[1].iov_base, len) != 0))
		log_always_error("the former daemon has answered the kernel's INIT in another way: "
				 "unmount and mount again");
	fs->init.out_len = (uint32_t)len;
	if (len)
		memcpy(out, iov[1].iov_base, len);
	return fs->init_is_past;
}

static ssize_t read_request(int fd, void *buf, size_t len, void *userdata)
{
	struct fs *fs = userdata;
	ssize_t n = device_read(fs->device, buf, len, worker_in_row());
	const struct fuse_in_header *h = buf;

	if (!atomic_load_explicit(&fs->init_done, memory_order_relaxed) &&
		n >= (ssize_t)sizeof(*h) && h->opcode != FUSE_INIT)
		atomic_store(&fs->not_first, true);
	if (n > 0)
		account_read(buf, (size_t)n);
	if (n > 0 && !atomic_load_explicit(&fs->init_done, memory_order_relaxed))
		look_at_init(fs, buf);
	if (fs->ledger && n > 0 && underway_read(fs, buf, (size_t)n)) {
		errno = EAGAIN; /* the request has its answer */
		return -1;
	}
	return n;
}

/* The library (3.14) does not know FUSE_HAS_RESEND. */
static void add_resend(const struct fs *fs, const struct iovec *iov, int count)
{
	struct fuse_init_out *out;

	if (!fs->may_resend || count != 2 || iov[1].iov_len < sizeof(*out))
		return;
	out = iov[1].iov_base;
	out->flags |= FUSE_INIT_EXT;
	out->flags2 |= HAS_RESEND;
}

/* The library (3.14) knows FUSE_HANDLE_KILLPRIV but leaves it out of its answer to INIT, and does
 * not know FUSE_HANDLE_KILLPRIV_V2, with which the kernel need not ask for security.capability
 * before each write(2). This function adds both. A kernel from before Linux 5.12 ignores the
 * second. */
static ssize_t write_answer(int fd, struct iovec *iov, int count, void *userdata)
{
	struct fs *fs = userdata;
	struct note note = {0};
	struct account_end end;
	ssize_t n;

	if (fs->kills_priv) {
		fs->kills_priv = false;
		if (count == 2 && iov[1].iov_len >= sizeof(struct fuse_init_out))
			((struct fuse_init_out *)iov[1].iov_base)->flags |=
				FUSE_HANDLE_KILLPRIV | FUSE_HANDLE_KILLPRIV_V2;
	}
	if (!fs->init_answered) {
		add_resend(fs, iov, count);
		if (fs->ledger)
			underway_begin(fs);
		fs->init_answered = true;
		if (note_init_answer(fs, iov, count))
			return (ssize_t)(iov[0].iov_len + (count == 2 ? iov[1].iov_len : 0));
	}
	if (fs->ledger)
		underway_answers(fs, iov, count, &note);
	if (account_answered(fs->accounts, iov, count, &end) && trace_is_on(&fs->trace))
		event_ended(fs, &end);
	n = device_writev(fs->device, iov, count);
	if (fs->ledger)
		underway_answered(fs, iov, &note);
	return n;
}

/* The file system is mounted already: the kernel has its flags from the mounter. */
static void say_without_effect(const struct options *o)
{
	char names[300] = "", *list = strdup(o->fuse_opts), *rest = list, *item;
	size_t n = 0;

	while (list && (item = strsep(&rest, ",")))
		if (*item && strcmp(item, "default_permissions") && n < sizeof(names))
			n += snprintf(names + n, sizeof(names) - n, " %s", item);
	free(list);
	if (n)
		log_warn("with /dev/fd/N these options have no effect, give them to mount(2):%s",
			names);
}

/* Makes fs->se and fs->device, with row if that is not NO_ROW. text: the reason of a failure, as
 * fusermount3 gives it, or "". */
static bool begin_session(
	struct fs *fs, char *list, const char *mountpoint, int row, char *text, size_t size)
{
	char name[] = "rnfs", dash_o[] = "-o";
	char *argv[] = {name, dash_o, list, NULL};
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	static const struct fuse_custom_io io = {.read = read_request, .writev = write_answer};
	struct fuse_lowlevel_ops ops = ops_table(fs);
	struct capture c;
	bool bad;

	fuse_set_log_func(fuse_log_line);
	capture_begin(&c);
	fs->se = fuse_session_new(&args, &ops, sizeof(ops), fs);
	bad = !fs->se || fuse_session_mount(fs->se, mountpoint) ||
	      fuse_session_custom_io(fs->se, &io, fuse_session_fd(fs->se));
	capture_end(&c, text, size);
	fuse_opt_free_args(&args);
	if (!bad && row >= 0)
		fs->device = device_of(fuse_session_fd(fs->se), row);
	else if (!bad)
		fs->device = device_new(fuse_session_fd(fs->se));
	return !bad;
}

int mount_session(struct fs *fs, const char *mountpoint, struct err *e)
{
	char *list = session_options(fs->opt), text[300];
	char path[PATH_MAX];
	const char *says;
	bool bad;

	if (!list)
		return err_set(e, ERR_INTERNAL, "out of memory");
	if (fuse_fd_meant(mountpoint) && !sidecar_directory())
		say_without_effect(fs->opt);
	bad = !begin_session(fs, list, mountpoint, NO_ROW, text, sizeof(text));
	free(list);
	if (fs->device)
		return 0;
	says = geteuid() ? machine_fusermount_says(machine_fusermount(path)) : NULL;
	err_set(e, ERR_INTERNAL, "mounting on %.100s failed: %s", mountpoint,
		says	  ? says
		: text[0] ? text
		: bad	  ? "no reason was given"
			  : "out of memory");
	if (fs->se) {
		fuse_session_unmount(fs->se);
		fuse_session_destroy(fs->se);
	}
	fs->se = NULL;
	return -1;
}

/* libfuse serves no request before INIT. */
static void repeat_init(struct fs *fs)
{
	struct {
		struct fuse_in_header h;
		uint8_t in[INIT_TALK_MAX];
	} init = {.h = {.len = (uint32_t)sizeof(init.h) + fs->init.in_len,
			  .opcode = FUSE_INIT,
			  .unique = 1}};
	struct fuse_buf buf = {.mem = &init, .size = init.h.len};

	memcpy(init.in, fs->init.in, fs->init.in_len);
	look_at_init(fs, &init);
	fs->init_is_past = true;
	fuse_session_process_buf(fs->se, &buf);
}

int mount_go_on(struct fs *fs, int device, int row, struct err *e)
{
	char *list = session_options(fs->opt), text[300] = "", path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", device);
	if (!list || !begin_session(fs, list, path, row, text, sizeof(text)) || !fs->device) {
		free(list);
		return err_set(e, ERR_INTERNAL,
			"the FUSE device of the former daemon cannot be used: %s",
			text[0] ? text : "out of memory");
	}
	free(list);
	repeat_init(fs);
	return atomic_load(&fs->init_done)
		       ? 0
		       : err_set(e, ERR_INTERNAL, "the talk of INIT cannot be repeated");
}

const char *mount_shown(const char *mountpoint)
{
	return sidecar_directory() ? sidecar_directory() : mountpoint;
}

bool mount_detach(const char *mountpoint)
{
	return !fuse_fd_meant(mountpoint) && mountpoint_detach(mountpoint);
}

bool mount_gone(struct fs *fs)
{
	return device_gone(fs->se ? fuse_session_fd(fs->se) : fs->former_device);
}

/* The number of the file system that the device fd serves. The kernel tells the number from Linux
 * 6.16 on. */
static bool device_number(int fd, unsigned *dev)
{
	char path[64], line[128];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "fuse_connection: %u", dev) == 1;
	fclose(f);
	return found;
}

/* The kernel knows the root's attributes, and asks the daemon nothing. */
static bool root_of(const char *mountpoint, struct statx *st)
{
	return !fuse_fd_meant(mountpoint) &&
	       !statx(AT_FDCWD, mountpoint, AT_STATX_DONT_SYNC, STATX_TYPE, st);
}

void mount_note(struct fs *fs)
{
	struct statx st;
	unsigned dev;

	fs->mounted_at = clock_ns();
	if (device_number(fuse_session_fd(fs->se), &dev)) {
		fs->dev_major = dev >> MINOR_BITS;
		fs->dev_minor = dev & ((1u << MINOR_BITS) - 1);
	} else if (root_of(fs->mountpoint, &st)) {
		fs->dev_major = st.stx_dev_major;
		fs->dev_minor = st.stx_dev_minor;
	}
}

void mount_set_readahead(const char *mountpoint, unsigned kb)
{
	char path[80];
	struct statx st;
	FILE *f;

	if (!kb || !root_of(mountpoint, &st))
		return;
	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", st.stx_dev_major,
		st.stx_dev_minor);
	f = fopen(path, "we");
	if (!f) {
		log_ctrl("%s: %s: the kernel's read-ahead stays as it is", path, strerror(errno));
		return;
	}
	fprintf(f, "%u\n", kb);
	if (fclose(f))
		log_ctrl("%s: %s", path, strerror(errno));
}
