/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_address: the addresses of a server's name.
 */
#include "nfsproto/common/nfs_address.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void explain(const char *host, int family, int error, struct err *e)
{
	const char *scope = strchr(host, '%');

	if (scope && !if_nametoindex(scope + 1))
		err_set(e, ERR_RESOLVE,
			"%.100s: this machine has no network interface %.60s: ip link shows those "
			"there are",
			host, scope + 1);
	else
		err_set(e, ERR_RESOLVE, "%.100s: the server's name does not resolve%s: %s", host,
			family == AF_INET6 ? " to an IPv6 address" : "",
			error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
}

/* A link-local address needs a link: without one connect(2) only returns EINVAL. */
static bool lacks_scope(const struct addrinfo *a)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a->ai_addr;

	return a->ai_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) &&
	       !six->sin6_scope_id;
}

static bool is_there(const struct dial_addr *out, unsigned n, const struct addrinfo *a)
{
	for (unsigned i = 0; i < n; i++)
		if (out[i].len == a->ai_addrlen && !memcmp(&out[i].ss, a->ai_addr, a->ai_addrlen))
			return true;
	return false;
}

static bool usable(const struct addrinfo *a)
{
	return (a->ai_family == AF_INET || a->ai_family == AF_INET6) && !lacks_scope(a);
}

/* Goes through the list by turns. Returns the next usable address of the family in turn, or of the
 * other family if none is left. Moves *at behind the returned address. */
static struct addrinfo *next_of(struct addrinfo *at, bool of_first, int first)
{
	while (at && !(usable(at) && (at->ai_family == first) == of_first))
		at = at->ai_next;
	return at;
}

static unsigned by_turns(struct addrinfo *list, struct dial_addr *out)
{
	struct addrinfo *at[2]; /* [0]: of the first address's family; [1]: of the other */
	unsigned n = 0, turn = 0;
	int first;

	while (list && !usable(list))
		list = list->ai_next;
	if (!list)
		return 0;
	first = list->ai_family;
	at[0] = list;
	at[1] = next_of(list, false, first);
	while (n < DIAL_ADDRS_MAX && (at[0] || at[1])) {
		struct addrinfo **p = &at[at[turn] ? turn : !turn], *a = *p;

		turn = p == &at[0];
		if (!is_there(out, n, a)) {
			out[n] = (struct dial_addr){.len = a->ai_addrlen, .outcome = DIAL_UNTRIED};
			memcpy(&out[n++].ss, a->ai_addr, a->ai_addrlen);
		}
		*p = next_of(a->ai_next, p == &at[0], first);
	}
	return n;
}

unsigned nfs_address_find(const char *host, int family, uint16_t port,
	struct dial_addr out[DIAL_ADDRS_MAX], struct err *e)
{
	const struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	char service[8];
	unsigned n;
	int error;

	snprintf(service, sizeof(service), "%u", port);
	error = getaddrinfo(host, service, &hints, &list);
	if (error) {
		explain(host, family, error, e);
		return 0;
	}
	n = by_turns(list, out);
	if (!n && list && lacks_scope(list))
		err_set(e, ERR_RESOLVE,
			"%.60s is an address of one link: name the interface that leads there, "
			"[%.60s%%eth0]:/EXPORT, say",
			host, host);
	else if (!n)
		err_set(e, ERR_RESOLVE, "%.100s: the name has no usable address", host);
	freeaddrinfo(list);
	return n;
}
