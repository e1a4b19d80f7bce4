/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_netaddr: netids and universal addresses.
 */
#include "nfsproto/wire/nfs4_netaddr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const struct netid {
	const char *name;
	int family;
	bool rdma;
} netids[] = {
	{"tcp", AF_INET, false},
	{"tcp6", AF_INET6, false},
	{"rdma", AF_INET, true},
	{"rdma6", AF_INET6, true},
};

static const struct netid *netid_named(const struct nfs_name *n)
{
	for (size_t i = 0; i < sizeof(netids) / sizeof(netids[0]); i++)
		if (n->len == strlen(netids[i].name) && memcmp(n->s, netids[i].name, n->len) == 0)
			return &netids[i];
	return NULL;
}

/* Cuts ".N", N one decimal byte, off the end of text. False: text does not end so. */
static bool cut_byte(char *text, unsigned *byte)
{
	char *dot = strrchr(text, '.');
	size_t digits = dot ? strlen(dot + 1) : 0;

	if (digits < 1 || digits > 3 || strspn(dot + 1, "0123456789") != digits)
		return false;
	*byte = 0;
	for (const char *p = dot + 1; *p; p++)
		*byte = *byte * 10 + (unsigned)(*p - '0');
	*dot = '\0';
	return *byte < 256;
}

bool nfs4_netaddr_parse(const struct nfs4_netaddr *n, struct sockaddr_storage *sa, bool *rdma)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)sa;
	struct sockaddr_in *v4 = (struct sockaddr_in *)sa;
	const struct netid *id = netid_named(&n->netid);
	char text[NFS4_UADDR_MAX];
	unsigned high, low;
	uint16_t port;

	memset(sa, 0, sizeof(*sa));
	if (!id || n->addr.len >= sizeof(text) || memchr(n->addr.s, '\0', n->addr.len))
		return false;
	memcpy(text, n->addr.s, n->addr.len);
	text[n->addr.len] = '\0';
	if (!cut_byte(text, &low) || !cut_byte(text, &high) || (high | low) == 0)
		return false;
	port = htons((uint16_t)(high << 8 | low));
	*rdma = id->rdma;
	sa->ss_family = (sa_family_t)id->family;
	if (id->family == AF_INET) {
		v4->sin_port = port;
		return inet_pton(AF_INET, text, &v4->sin_addr) == 1;
	}
	v6->sin6_port = port;
	return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1;
}

bool nfs4_netaddr_format(
	const struct sockaddr *sa, bool rdma, char text[NFS4_UADDR_MAX], struct nfs4_netaddr *n)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)sa;
	bool six = sa->sa_family == AF_INET6;
	const struct netid *id = &netids[2 * rdma + six];
	uint16_t port;
	size_t len;

	if (!six && sa->sa_family != AF_INET)
		return false;
	port = ntohs(six ? v6->sin6_port : v4->sin_port);
	inet_ntop(sa->sa_family, six ? (const void *)&v6->sin6_addr : &v4->sin_addr, text,
		INET6_ADDRSTRLEN);
	len = strlen(text);
	snprintf(text + len, NFS4_UADDR_MAX - len, ".%u.%u", port >> 8, port & 0xff);
	n->netid = (struct nfs_name){id->name, (uint32_t)strlen(id->name)};
	n->addr = (struct nfs_name){text, (uint32_t)strlen(text)};
	return true;
}
