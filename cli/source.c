/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * source: the text that names a server and its export.
 *
 * libnfs has a parser for these URLs. The parser of libnfs decodes no escapes, leaves the port and
 * the brackets in the server's name, and does not return the arguments. So rnfs would gain little.
 */
#include "cli/source.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "transport/quote.h"

#define PORT_MAX 65535

static int no_memory(struct err *e)
{
	return err_set(e, ERR_INTERNAL, "out of memory");
}

/* --- SERVER:/EXPORT --------------------------------------------------------------------------- */

/* Splits [ADDRESS] or SERVER from the rest, which begins at *rest. */
static int split_host(struct source *s, const char *text, const char **rest, struct err *e)
{
	const char *host = text, *end;

	if (text[0] == '[') {
		host++;
		end = strchr(text, ']');
		if (!end)
			return err_set(e, ERR_USAGE,
				"\"%.100s\" has no \"]\" after the IPv6 address: write "
				"[ADDRESS]:/EXPORT",
				text);
		*rest = end + 1;
	} else {
		const char *first = strchr(text, ':');

		end = strstr(text, ":/");
		if (!end)
			end = first && !strchr(first + 1, ':') ? first : text + strlen(text);
		if (memchr(text, ':', end - text))
			return err_set(e, ERR_USAGE,
				"\"%.100s\" looks like an IPv6 address: write it in brackets, "
				"[%.*s]%.60s",
				text, (int)(end - text < 60 ? end - text : 60), text, end);
		*rest = end;
	}
	if (end == host)
		return err_set(
			e, ERR_USAGE, "\"%.100s\" names no server: write SERVER:/EXPORT", text);
	s->host = strndup(host, end - host);
	return s->host ? 0 : no_memory(e);
}

static int parse_plain(struct source *s, const char *text, enum source_form form, struct err *e)
{
	const char *rest = text;

	if (split_host(s, text, &rest, e))
		return -1;
	if (!*rest && form == SOURCE_MAY_BE_SERVER)
		return 0;
	if (rest[0] != ':' || rest[1] != '/')
		return err_set(e, ERR_USAGE,
			"\"%.100s\" is not SERVER:/EXPORT: the export is an absolute path after a "
			"colon",
			text);
	s->export = strdup(rest + 1);
	return s->export ? 0 : no_memory(e);
}

/* --- URLs ------------------------------------------------------------------------------------- */

static int wrong_url(const char *text, const char *why, struct err *e)
{
	return err_set(
		e, ERR_USAGE, "%s is no URL of an export: %s", QUOTE(text, strlen(text)), why);
}

static int hex(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

/* Decodes the escapes of len bytes. NULL: *bad, or no memory. */
static char *decode(const char *from, size_t len, bool *bad)
{
	char *to = malloc(len + 1);
	size_t n = 0;

	*bad = false;
	for (size_t i = 0; to && i < len; i++) {
		int high, low;

		if (from[i] != '%') {
			to[n++] = from[i];
			continue;
		}
		high = len - i > 2 ? hex(from[i + 1]) : -1;
		low = high < 0 ? -1 : hex(from[i + 2]);
		if (low < 0 || iscntrl(high << 4 | low)) {
			*bad = true;
			free(to);
			return NULL;
		}
		to[n++] = (char)(high << 4 | low);
		i += 2;
	}
	if (to)
		to[n] = 0;
	return to;
}

static int decode_to(char **to, const char *from, size_t len, const char *text, struct err *e)
{
	bool bad;

	*to = decode(from, len, &bad);
	if (*to)
		return 0;
	return bad ? wrong_url(text,
			     "% begins an escape such as %20, of no control character; write %25 "
			     "for itself",
			     e)
		   : no_memory(e);
}

/* Appends name=value, or name, to *list. */
static int add(
	char **list, const char *separator, const char *name, const char *value, struct err *e)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s%s%s", *list ? *list : "", *list ? separator : "", name,
		    value ? "=" : "", value ? value : "") < 0)
		return no_memory(e);
	free(*list);
	*list = longer;
	return 0;
}

/* The option for an argument; "": ignored; NULL: unknown argument. */
static const char *option_of(const char *argument)
{
	static const struct {
		const char *argument, *option;
	} known[] = {
		{"version", "vers"},
		{"nfsport", "port"},
		{"vers", "vers"},
		{"port", "port"},
		{"proto", "proto"},
		{"mountport", "mountport"},
		{"mountproto", "mountproto"},
		{"rsize", "rsize"},
		{"wsize", "wsize"},
		{"timeo", "timeo"},
		{"retrans", "retrans"},
		{"sec", "sec"},
		{"xprtsec", "xprtsec"},
		{"auto-traverse-mounts", ""},
		{"autoreconnect", ""},
		{"debug", ""},
		{"dircache", ""},
		{"gid", ""},
		{"if", ""},
		{"pagecache", ""},
		{"pagecache_ttl", ""},
		{"readahead", ""}, /* libnfs: bytes */
		{"readdir-buffer", ""},
		{"tcp-syncnt", ""},
		{"uid", ""},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(argument, known[i].argument))
			return known[i].option;
	return NULL;
}

static int take_argument(struct source *s, char *argument, const char *text, struct err *e)
{
	char *value = strchr(argument, '=');
	const char *option;

	if (value)
		*value++ = 0;
	option = option_of(argument);
	if (!option)
		return err_set(e, ERR_USAGE,
			"the URL \"%.100s\" has the argument %.60s, which is not known: version, "
			"nfsport, proto, mountport, rsize, wsize, timeo and retrans are",
			text, argument);
	if (!*option)
		return add(&s->ignored, ", ", argument, NULL, e);
	if (!value || !*value || strchr(value, ','))
		return err_set(e, ERR_USAGE,
			"the URL \"%.100s\" has the argument %.60s without a value that can be",
			text, argument);
	return add(&s->options, ",", option, value, e);
}

static int take_query(struct source *s, const char *query, const char *text, struct err *e)
{
	while (*query) {
		size_t len = strcspn(query, "&");
		char *argument;
		int res;

		if (len) {
			if (decode_to(&argument, query, len, text, e))
				return -1;
			res = take_argument(s, argument, text, e);
			free(argument);
			if (res)
				return -1;
		}
		query += len + (query[len] == '&');
	}
	return 0;
}

static int take_port(
	struct source *s, const char *port, size_t len, const char *text, struct err *e)
{
	char number[8] = "";

	if (!len) /* RFC 3986: the usual one */
		return 0;
	if (len > 5 || strspn(port, "0123456789") < len)
		return wrong_url(text, "a port is a number from 1 to 65535", e);
	memcpy(number, port, len);
	if (!atoi(number) || atoi(number) > PORT_MAX)
		return wrong_url(text, "a port is a number from 1 to 65535", e);
	return add(&s->options, ",", "port", number, e);
}

/* An address in brackets, the scope after % or %25. */
static int take_address(struct source *s, const char *at, size_t len, struct err *e)
{
	const char *scope = memchr(at, '%', len);
	size_t before = scope ? (size_t)(scope - at) : len, skip = 0;

	if (scope)
		skip = len - before > 3 && !strncmp(scope, "%25", 3) ? 3 : 1;
	if (asprintf(&s->host, "%.*s%s%.*s", (int)before, at, scope ? "%" : "",
		    (int)(len - before - skip), at + before + skip) < 0) {
		s->host = NULL;
		return no_memory(e);
	}
	return 0;
}

/* SERVER, SERVER:PORT or [ADDRESS]:PORT */
static int take_authority(
	struct source *s, const char *at, size_t len, const char *text, struct err *e)
{
	const char *end = at + len, *port;

	if (memchr(at, '@', len))
		return wrong_url(text, "NFS knows no logins, leave out the part before @", e);
	if (len && at[0] == '[') {
		const char *close = memchr(at, ']', len);

		if (!close || close == at + 1)
			return wrong_url(text, "an IPv6 address is written as [ADDRESS]", e);
		if (take_address(s, at + 1, close - at - 1, e))
			return -1;
		port = close + 1;
		if (port < end && *port != ':')
			return wrong_url(text, "a port stands behind a colon", e);
	} else {
		port = memchr(at, ':', len);
		if (!port)
			port = end;
		else if (memchr(port + 1, ':', end - port - 1))
			return wrong_url(text, "an IPv6 address is written as [ADDRESS]", e);
		if (port == at)
			return wrong_url(text, "it names no server", e);
		if (decode_to(&s->host, at, port - at, text, e))
			return -1;
	}
	return port < end ? take_port(s, port + 1, end - port - 1, text, e) : 0;
}

/* rest is behind the "//" of the scheme. */
static int parse_url(struct source *s, const char *rest, const char *text, struct err *e)
{
	size_t len = strcspn(rest, "/?#");
	const char *path = rest + len;

	for (const char *c = rest; *c; c++)
		if (iscntrl((unsigned char)*c))
			return wrong_url(text, "it has control characters", e);
	if (take_authority(s, rest, len, text, e))
		return -1;
	while (path[0] == '/' && path[1] == '/')
		path++; /* RFC 2224: two begin a path from the server's root, as one does here */
	len = strcspn(path, "?#");
	if (decode_to(&s->export, len ? path : "/", len ? len : 1, text, e))
		return -1;
	if (path[len] == '?')
		len += strcspn(path + len, "#");
	if (path[len] == '#')
		return wrong_url(text, "an export has no fragments, write %23 for #", e);
	path = strchr(path, '?');
	return path ? take_query(s, path + 1, text, e) : 0;
}

int source_parse(struct source *s, const char *text, enum source_form form, struct err *e)
{
	*s = (struct source){0};
	if (!strncasecmp(text, "nfs://", 6))
		return parse_url(s, text + 6, text, e);
	s->rdma = !strncasecmp(text, "nfs+rdma://", 11);
	if (s->rdma)
		return parse_url(s, text + 11, text, e);
	return parse_plain(s, text, form, e);
}

void source_finish(struct source *s)
{
	free(s->host);
	free(s->export);
	free(s->options);
	free(s->ignored);
	*s = (struct source){0};
}

uint16_t source_port(const struct source *s)
{
	for (const char *at = s->options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, "port=", 5))
			return (uint16_t)strtoul(at + 5, NULL, 10);
	}
	return 0;
}
