/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * json: writes JSON (RFC 8259), for programs that read the answers of commands.
 *
 * The output is valid UTF-8 even for invalid names: a byte that is no part of a character becomes
 * U+FFFD. One thread.
 */
#ifndef RNFS_CLI_JSON_H
#define RNFS_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool some; /* the open object or array has a member */
};

/* json_begin() begins an object ('{') or an array ('['); json_end() ends one ('}', ']'). name: of
 * the member of an object; NULL in an array and for the whole. */
void json_begin(struct json *j, const char *name, char bracket);
void json_end(struct json *j, char bracket);

void json_text(struct json *j, const char *name, const char *text);
void json_number(struct json *j, const char *name, uint64_t n);
/* Seconds, to the nanosecond. */
void json_seconds(struct json *j, const char *name, uint64_t ns);

#endif
