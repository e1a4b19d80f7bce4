/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * told: attributes of a file that the server has told, on their way to the kernel; and the times of
 * an answer.
 *
 * All times are of clock_ns(). An answer counts as of the time at which the server was asked, not
 * of the time at which the answer came: the file may have changed in between.
 *
 *     asked        the server was asked for the attributes
 *     name_asked   the server was asked for the name of the file; or later, if the directory was
 *                  then known not to have changed since (dirnames_as_of())
 *     born         the daemon read the kernel's request
 *     alone        from then on no other client can have changed the file; 0: one can
 *
 * Each of the first three may be the latest: known attributes and names answer requests that come
 * later, and a request may wait before the server is asked.
 */
#ifndef RNFS_FS_KNOWN_TOLD_H
#define RNFS_FS_KNOWN_TOLD_H

#include <stdint.h>
#include <sys/types.h>

#include "nfsproto/nfs_client.h"
#include "transport/clock.h"

struct told {
	const struct nfs_attr *attr;
	/* name_asked: only of an entry. alone: only where attributes are noted. */
	uint64_t asked, name_asked, born, alone;
	pid_t tid;	 /* the thread that gets the answer; 0: not known */
	unsigned writes; /* view.writes when the server was asked */
};

/* Attributes after a change by the request of thread tid. The kernel takes such attributes in any
 * case: they count as asked for now, by a request of now. */
static inline struct told told_now(const struct nfs_attr *attr, pid_t tid)
{
	uint64_t now = clock_ns();

	return (struct told){
		.attr = attr, .asked = now, .name_asked = now, .born = now, .tid = tid};
}

#endif
