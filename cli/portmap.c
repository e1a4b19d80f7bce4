/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * portmap: one question to a port mapper as a datagram.
 */
#include "cli/portmap.h"

#include <arpa/inet.h>
#include <string.h>

#define PROGRAM	     100000
#define HEADER_WORDS 10
#define REPLY_WORDS  7 /* XID, REPLY, accepted, verifier of no bytes (2), SUCCESS, value */

size_t portmap_call(uint32_t word[PORTMAP_WORDS], uint32_t xid, uint32_t vers, uint32_t proc,
	const uint32_t *args, unsigned n)
{
	/* CALL is 0; so is AUTH_NONE, twice, behind the procedure */
	const uint32_t header[HEADER_WORDS] = {
		xid, [2] = htonl(2), htonl(PROGRAM), htonl(vers), htonl(proc)};

	memcpy(word, header, sizeof(header));
	for (unsigned i = 0; i < n; i++)
		word[HEADER_WORDS + i] = htonl(args[i]);
	return (HEADER_WORDS + n) * sizeof(*word);
}

bool portmap_answer(const uint32_t *word, ssize_t bytes, uint32_t xid, uint32_t *value)
{
	if (bytes < (ssize_t)(REPLY_WORDS * sizeof(*word)) || word[0] != xid || ntohl(word[1]) != 1)
		return false;
	for (int i = 2; i < REPLY_WORDS - 1; i++)
		if (word[i])
			return false;
	*value = ntohl(word[REPLY_WORDS - 1]);
	return true;
}
