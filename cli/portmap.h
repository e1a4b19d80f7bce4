/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * portmap: one question to a port mapper as a datagram (RFC 1833, RFC 5531), for answers of one
 * number.
 *
 * Other libraries ask one machine at a time, and wait a minute for an answer. Pure functions.
 */
#ifndef RNFS_CLI_PORTMAP_H
#define RNFS_CLI_PORTMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PORTMAP_PORT	 111
#define PORTMAP_ARGS_MAX 4
#define PORTMAP_WORDS	 (10 + PORTMAP_ARGS_MAX) /* of a call */

/* Procedures: GETPORT is of version 2, GETTIME of version 3. */
#define PORTMAP_GETPORT 3
#define PORTMAP_GETTIME 6

/* Writes a call with n words of arguments, without credentials. Returns the bytes of the call. */
size_t portmap_call(uint32_t word[PORTMAP_WORDS], uint32_t xid, uint32_t vers, uint32_t proc,
	const uint32_t *args, unsigned n);

/* Is the datagram the answer to the call xid? Then *value is the first number of the answer. bytes
 * may be negative, as from recv(). */
bool portmap_answer(const uint32_t *word, ssize_t bytes, uint32_t xid, uint32_t *value);

#endif
