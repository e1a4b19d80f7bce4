/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * admission: the conditions that a READ or WRITE waits for before it is sent.
 *
 * io_state.admission.at is the condition to look at next. It is set before a request waits: once
 * the request waits, another thread may go on with it.
 */
#include "fs/file/admission.h"

#include <fcntl.h>

#include "fs/file/cached.h"
#include "fs/known/file.h"
#include "fs/file/flush.h"
#include "fs/kernel/io.h"
#include "fs/file/late.h"
#include "fs/kernel/order.h"
#include "fs/coherence/repeat.h"
#include "fs/file/write.h"
#include "transport/clock.h"

/* --- READ ------------------------------------------------------------------------------------- */

enum { READ_ORDER, READ_WRITTEN, READ_CACHED, READ_SENDS };

static void read_restarts(struct io_state *io)
{
	io->admission.at = READ_ORDER;
	io->admission.anew = io->admission.look = true;
}

bool admission_read_misses(struct request *r)
{
	struct io_state *io = io_of(r);

	return order_overtaken(r) || (written_may_miss(&r->file->inode->written, io->offset,
					      r->batch.data.len, io->sent) &&
					     io->again++ < REPEAT_ASKS);
}

static void read_goes_on(struct request *r);

/* A WRITE of r's pages has ended. */
static void read_ordered(struct request *r)
{
	read_restarts(io_of(r));
	read_goes_on(r);
}

/* True: r waits until the server has the written bytes that r must bring. */
static bool read_waits_written(struct request *r)
{
	struct io_state *io = io_of(r);
	uint32_t len = r->batch.data.len;
	struct inode *ino = r->file->inode;

	io->admission.at = READ_CACHED;
	if (!flush_before_read(ino, io->offset, len))
		return false;
	if (!io->admission.anew) { /* a WRITE was gathered before order.c knew r */
		read_restarts(io);
		return false;
	}
	return flush_waits(r, ino, flush_kept_level(ino, io->offset, len), read_goes_on);
}

/* True: r was sent. */
static bool read_sends(struct request *r)
{
	uint64_t now = clock_ns();

	if (admission_read_misses(r)) {
		read_restarts(io_of(r));
		return false;
	}
	io_of(r)->sent = now;
	io_of(r)->admission.send(r);
	return true;
}

static void read_goes_on(struct request *r)
{
	struct io_state *io = io_of(r);
	bool direct = io->flags & O_DIRECT;

	for (;;)
		switch (io->admission.at) {
		case READ_ORDER:
			if (!direct && order_read_waits(r, read_ordered))
				return;
			io->admission.at = READ_WRITTEN;
			if (io->admission.anew)
				io->sent = clock_ns();
			break;
		case READ_WRITTEN:
			if (read_waits_written(r))
				return;
			break;
		case READ_CACHED:
			io->admission.at = READ_SENDS;
			if (!direct && io->admission.look) {
				cached_wait(r, read_goes_on);
				return;
			}
			break;
		case READ_SENDS:
			if (read_sends(r))
				return;
			break;
		}
}

void admission_read(struct request *r, bool look, request_step_fn *send)
{
	struct io_state *io = io_of(r);

	io->admission.at = io->flags & O_DIRECT ? READ_SENDS : READ_ORDER;
	io->admission.look = look;
	io->admission.send = send;
	read_goes_on(r);
}

void admission_read_anew(struct request *r, request_step_fn *send)
{
	io_of(r)->admission.send = send;
	read_restarts(io_of(r));
	read_goes_on(r);
}

void admission_read_again(struct request *r, request_step_fn *send)
{
	io_of(r)->admission.at = READ_SENDS;
	io_of(r)->admission.send = send;
	if (!flush_waits(r, r->file->inode, WRITTEN, read_goes_on))
		read_goes_on(r);
}

/* --- WRITE ------------------------------------------------------------------------------------ */

enum { WRITE_LATE, WRITE_GATHERED, WRITE_SENDS };

static void write_goes_on(struct request *r);

static bool write_waits_late(struct request *r)
{
	const struct io_state *io = io_of(r);
	bool append = write_is_append(io->flags, io->writepage);
	uint64_t first = append ? 0 : io->offset;
	uint64_t last = append ? UINT64_MAX : first + (r->batch.data.len - 1);

	return late_waits(r, r->file->inode, first, last, write_goes_on);
}

/* True: r waits in order to be gathered, or was gathered and answered. */
static bool write_gathers(struct request *r)
{
	unsigned full = 0;

	while (write_can_gather(r)) {
		switch (write_gather_rest(r)) {
		case DIRTY_DONE:
			return true;
		case DIRTY_BUSY:
			if (flush_waits(r, r->file->inode, WRITTEN, write_goes_on))
				return true;
			break;
		case DIRTY_FULL:
			if (full++)
				return false;
			if (flush_waits_room(r, write_goes_on))
				return true;
			break;
		}
	}
	return false;
}

static void write_goes_on(struct request *r)
{
	struct io_state *io = io_of(r);

	switch (io->admission.at) {
	case WRITE_LATE:
		io->admission.at = WRITE_GATHERED;
		if (write_waits_late(r))
			return;
		/* fallthrough */
	case WRITE_GATHERED:
		if (write_gathers(r))
			return;
		io->admission.at = WRITE_SENDS;
		if (flush_waits(r, r->file->inode, WRITTEN, write_goes_on))
			return;
		/* fallthrough */
	case WRITE_SENDS:
		io->admission.send(r);
	}
}

void admission_write(struct request *r, request_step_fn *send)
{
	struct io_state *io = io_of(r);

	io->admission.at = WRITE_LATE;
	io->admission.send = send;
	if (!io->writepage && !(io->flags & O_DIRECT))
		order_write(r);
	write_goes_on(r);
}
