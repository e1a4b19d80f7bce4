/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_places: the places of a file system that is on other servers (fs_locations, RFC 8881 section
 * 11.10.1). A server tells them with a referral, and with a file system that has moved.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_PLACES_H
#define RNFS_NFSPROTO_COMMON_NFS_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr_storage;

#define NFS_PLACES_MAX	      16u /* further places are left out */
#define NFS_PLACE_ADDRESS_MAX 64u /* bytes of an address as a server's name, with the NUL */

struct nfs_place {
	char *server; /* as the server tells it: a name, an address, or a universal address */
	char *path;   /* absolute, without "." and ".." */
};

/* One block of memory: free(). */
struct nfs_places {
	char *root; /* the path of the file system on the server that tells; NULL: no path */
	unsigned n; /* 1..NFS_PLACES_MAX */
	struct nfs_place place[NFS_PLACES_MAX];
};

/* Writes "server:/path or server:/path ..." to buf, terminated and cut at size with "..."; each
 * character that is not printable ASCII becomes '?'. size > 0. */
void nfs_places_text(const struct nfs_places *p, char *buf, size_t size);
/* Are both the same places, in any order? A server may tell another one first each time. */
bool nfs_places_equal(const struct nfs_places *a, const struct nfs_places *b);
/* Splits the server of a place: the host to look up (at most size bytes, with the NUL), without
 * brackets, and the port: from a universal address (RFC 5665: 192.0.2.1.8.1, 2001:db8::1.8.1), or
 * 0. False: no host, or one that is too long. */
bool nfs_place_host(const struct nfs_place *p, char *host, size_t size, uint16_t *port);
/* Writes the name that nfs_place_host() splits into a's address and port; "" for another family
 * than those of IP. */
void nfs_place_name(const struct sockaddr_storage *a, char name[NFS_PLACE_ADDRESS_MAX]);

#endif
