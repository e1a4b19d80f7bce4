/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_places: the places of a file system that is on other servers.
 */
#include "nfsproto/common/nfs_places.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nfs_places_text(const struct nfs_places *p, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < p->n && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s:%s", i ? " or " : "",
			p->place[i].server, p->place[i].path);
	if (len >= size && size > 3)
		memcpy(buf + size - 4, "...", 4);
	for (char *c = buf; *c; c++)
		if (*c < 0x20 || *c >= 0x7f)
			*c = '?';
}

static bool has(const struct nfs_places *p, const struct nfs_place *one)
{
	for (unsigned i = 0; i < p->n; i++)
		if (!strcmp(p->place[i].server, one->server) &&
			!strcmp(p->place[i].path, one->path))
			return true;
	return false;
}

bool nfs_places_equal(const struct nfs_places *a, const struct nfs_places *b)
{
	bool equal = a->n == b->n;

	for (unsigned i = 0; equal && i < a->n; i++)
		equal = has(b, &a->place[i]);
	return equal;
}

/* Is the text from s to the end ".N", N a byte? */
static bool is_octet(const char *s, unsigned *n)
{
	char *end;

	if (*s != '.' || !isdigit((unsigned char)s[1]))
		return false;
	*n = (unsigned)strtoul(s + 1, &end, 10);
	return *end == '\0' && *n < 256;
}

static bool is_address(const char *host)
{
	struct in6_addr a;

	return inet_pton(AF_INET, host, &a) == 1 || inet_pton(AF_INET6, host, &a) == 1;
}

/* Cuts ".P1.P2" off an address that it follows. Returns the port, or 0. */
static uint16_t cut_port(char *host)
{
	unsigned octet[2];
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", host);
	for (int i = 1; i >= 0; i--) {
		char *dot = strrchr(copy, '.');

		if (!dot || !is_octet(dot, &octet[i]))
			return 0;
		*dot = '\0';
	}
	if (!is_address(copy))
		return 0;
	host[strlen(copy)] = '\0';
	return (uint16_t)(octet[0] << 8 | octet[1]);
}

bool nfs_place_host(const struct nfs_place *p, char *host, size_t size, uint16_t *port)
{
	const char *s = p->server;
	size_t len = strlen(s);

	*port = 0;
	if (len > 2 && s[0] == '[' && s[len - 1] == ']') {
		s++;
		len -= 2;
	}
	if (!len || len >= size || len >= 256)
		return false;
	memcpy(host, s, len);
	host[len] = '\0';
	if (!is_address(host))
		*port = cut_port(host);
	return true;
}

void nfs_place_name(const struct sockaddr_storage *a, char name[NFS_PLACE_ADDRESS_MAX])
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in *four = (const struct sockaddr_in *)a;
	bool is_six = a->ss_family == AF_INET6;
	unsigned port = ntohs(is_six ? six->sin6_port : four->sin_port);
	char address[INET6_ADDRSTRLEN];

	name[0] = '\0';
	if ((is_six || a->ss_family == AF_INET) &&
		inet_ntop(a->ss_family,
			is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr,
			address, sizeof(address)))
		snprintf(name, NFS_PLACE_ADDRESS_MAX, "%s.%u.%u", address, port >> 8, port & 255);
}
