/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * log_entry: one line of the log, and the forms in which it is written.
 */
#include "transport/log_entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "transport/quote.h"

#define TIME_SIZE  40
#define FIELD_SIZE 600 /* of source and mount */

static const char *level_name(enum log_level level)
{
	static const char *const name[] = {"error", "warning", "info", "debug", "debug"};

	return name[level];
}

int log_entry_priority(enum log_level level)
{
	static const int priority[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};

	return priority[level];
}

static void put_time(const struct timespec *t, char text[TIME_SIZE])
{
	struct tm tm;
	size_t n = 0;

	if (gmtime_r(&t->tv_sec, &tm))
		n = strftime(text, TIME_SIZE - 8, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, TIME_SIZE - n, ".%03uZ", (unsigned)(t->tv_nsec / 1000000) % 1000);
}

/* Appends a line feed to head and message. */
static size_t put_line(const char *head, const char *message, char *dst, size_t size)
{
	size_t n = strlen(head);

	memcpy(dst, head, n);
	quote_line(dst + n, size - n - 1, message);
	n += strlen(dst + n);
	dst[n++] = '\n';
	return n;
}

size_t log_entry_plain(const struct log_entry *e, char *dst, size_t size)
{
	char head[80];

	snprintf(head, sizeof(head), "%.60s: ", e->program);
	return put_line(head, e->message, dst, size);
}

size_t log_entry_text(const struct log_entry *e, char *dst, size_t size)
{
	char head[TIME_SIZE + 120], time[TIME_SIZE];

	put_time(&e->time, time);
	snprintf(head, sizeof(head), "%s %.60s[%d] %s: ", time, e->program, (int)e->pid,
		level_name(e->level));
	return put_line(head, e->message, dst, size);
}

/* --- the journal ------------------------------------------------------------------------------ */

static size_t put_field(const char *key, const char *value, char *dst, size_t size)
{
	return value ? put_line(key, value, dst, size) : 0;
}

size_t log_entry_journal(const struct log_entry *e, char *dst, size_t size)
{
	/* the message last: the earlier parts leave room for it */
	size_t field = size < 4 * FIELD_SIZE ? size / 4 : FIELD_SIZE, n;

	n = (size_t)snprintf(dst, size, "PRIORITY=%d\nSYSLOG_IDENTIFIER=%.60s\nSYSLOG_PID=%d\n",
		log_entry_priority(e->level), e->program, (int)e->pid);
	n += put_field("RNFS_SOURCE=", e->source, dst + n, field);
	n += put_field("RNFS_MOUNT=", e->mount, dst + n, field);
	n += put_field("MESSAGE=", e->message, dst + n, size - n);
	return n;
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at p (RFC 3629 section 4); 0: no character begins there. */
static size_t utf8_length(const uint8_t *p)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t more;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	more = p[0] < 0xe0 ? 1 : p[0] < 0xf0 ? 2 : 3;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f; /* no surrogates */
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i <= more; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return 1 + more;
}

/* One character of a string, or one invalid byte, as JSON has it. Returns its bytes in p; *n is its
 * bytes in text. */
static size_t put_char(const uint8_t *p, char text[4], size_t *n)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t len = utf8_length(p);

	if (!len) {
		text[0] = '%';
		text[1] = hex[*p >> 4];
		text[2] = hex[*p & 15];
		*n = 3;
		return 1;
	}
	*n = len;
	memcpy(text, p, len);
	if (*p == '"' || *p == '\\') {
		text[0] = '\\';
		text[1] = (char)*p;
		*n = 2;
	}
	return len;
}

/* ,"key":"value". Takes at most size bytes, with the closing quotation mark. */
static size_t put_string(const char *key, const char *value, char *dst, size_t size)
{
	char plain[LOG_ENTRY_MESSAGE], text[4];
	const uint8_t *p = (const uint8_t *)plain;
	size_t n, len;

	if (!value)
		return 0;
	quote_line(plain, sizeof(plain), value);
	n = (size_t)snprintf(dst, size, ",\"%s\":\"", key);
	while (*p) {
		p += put_char(p, text, &len);
		if (n + len + 1 > size)
			break;
		memcpy(dst + n, text, len);
		n += len;
	}
	dst[n++] = '"';
	return n;
}

size_t log_entry_json(const struct log_entry *e, char *dst, size_t size)
{
	size_t field = size < 4 * FIELD_SIZE ? size / 4 : FIELD_SIZE, n;
	char time[TIME_SIZE];

	put_time(&e->time, time);
	n = (size_t)snprintf(
		dst, size, "{\"time\":\"%s\",\"level\":\"%s\"", time, level_name(e->level));
	n += put_string("program", e->program, dst + n, 80);
	n += (size_t)snprintf(dst + n, size - n, ",\"pid\":%d", (int)e->pid);
	n += put_string("source", e->source, dst + n, field);
	n += put_string("mount", e->mount, dst + n, field);
	n += put_string("message", e->message, dst + n, size - n - 2);
	dst[n++] = '}';
	dst[n++] = '\n';
	return n;
}
