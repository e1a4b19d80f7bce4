/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * place: exports of other servers, as options name them and as attributes tell them.
 */
#include "contrib/serve/export/place.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int place_each_name(const char *path, int (*fn)(void *ctx, const char *name, size_t len), void *ctx)
{
	int r = 0;

	while (*path && r == 0) {
		size_t len = strcspn(path, "/");

		if (len)
			r = fn(ctx, path, len);
		path += len;
		path += strspn(path, "/");
	}
	return r;
}

/* ADDRESS:PORT becomes a universal address (RFC 5665), the one form with a port that fs_locations
 * has. */
static int make_universal(char *server, size_t size)
{
	char *colon = strrchr(server, ':'), *end, host[PLACE_MAX];
	bool six = server[0] == '[';
	struct in6_addr a;
	unsigned long port;
	size_t len;

	if (!colon || (six && colon[-1] != ']'))
		return 0;
	port = strtoul(colon + 1, &end, 10);
	len = (size_t)(colon - server) - 2 * six;
	memcpy(host, server + six, len);
	host[len] = '\0';
	if (*end || end == colon + 1 || port == 0 || port > 65535 ||
		inet_pton(six ? AF_INET6 : AF_INET, host, &a) != 1)
		return -1;
	return snprintf(server, size, "%s.%lu.%lu", host, port >> 8, port & 255) < (int)size ? 0
											     : -1;
}

/* The end of the server's name in SERVER:/EXPORT, or NULL. */
static const char *colon_of(const char *text)
{
	const char *colon = strlen(text) < PLACE_MAX ? strstr(text, ":/") : NULL;

	return colon == text ? NULL : colon;
}

bool place_is_one(const char *text)
{
	return colon_of(text);
}

int place_parse(
	const char *option, const char *value, const char *text, struct place *p, struct err *e)
{
	const char *colon = colon_of(text);

	if (!colon)
		return err_set(e, ERR_USAGE,
			"%s %.300s: SERVER:/EXPORT is wanted, such as server2:/srv/archive", option,
			value);
	snprintf(p->server, sizeof(p->server), "%.*s", (int)(colon - text), text);
	snprintf(p->export, sizeof(p->export), "%s", colon + 1);
	if (make_universal(p->server, sizeof(p->server)))
		return err_set(e, ERR_USAGE,
			"%s %.300s: a port needs an address in front, and lies in 1 to 65535",
			option, value);
	return 0;
}

static int count_name(void *ctx, const char *name, size_t len)
{
	++*(uint32_t *)ctx;
	return 0;
}

static int put_name(void *ctx, const char *name, size_t len)
{
	xdr_put_opaque(ctx, name, (uint32_t)len);
	return 0;
}

void place_put_path(struct xdr_out *x, const char *path)
{
	uint32_t n = 0;

	place_each_name(path, count_name, &n);
	xdr_put_u32(x, n);
	place_each_name(path, put_name, x);
}
