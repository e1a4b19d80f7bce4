/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_io: functions for operations with payload: get a descriptor under a stateid, and decide
 * whether the payload goes into the reply or by a chunk.
 */
#ifndef RNFS_SERVE_V4_OPS_IO_H
#define RNFS_SERVE_V4_OPS_IO_H

#include "contrib/serve/v4/compound.h"

/* A descriptor for I/O under a stateid. */
struct io {
	struct st *st; /* the state with fd, or NULL */
	int fd;
	bool own; /* io_end() closes fd */
};
/* Gets a descriptor for o, a regular file, under sid, which is not that of "current". io_end() must
 * follow in any case. */
uint32_t io_begin(struct compound *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct io *io);
void io_end(struct compound *c, struct io *io);
/* Can the next payload be named and held? If not, the data goes into the reply itself. */
bool io_payload_ok(const struct compound *c);
/* Bytes of data that still fit inline behind head more bytes of results, a multiple of 4. */
uint32_t io_inline_room(const struct compound *c, size_t head);

#endif
