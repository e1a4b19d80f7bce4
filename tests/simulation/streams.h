/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * streams: directories of the simulated disk that are read, and FILEs on its descriptors.
 */
#ifndef RNFS_SIMULATION_STREAMS_H
#define RNFS_SIMULATION_STREAMS_H

#include <stddef.h>

/* getdents64(2): bytes, 0 at the end, -1 with errno. */
long streams_getdents(int fd, void *buf, size_t size);

#endif
