/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * utf8: names as text that must be UTF-8 (RFC 3629). Names of files may be any bytes.
 */
#ifndef RNFS_CLI_UTF8_H
#define RNFS_CLI_UTF8_H

#define UTF8_UNKNOWN "\xef\xbf\xbd" /* U+FFFD, for a byte that is no part of a character */

/* Bytes of the character that s, which ends with a NUL, begins with; 0: it begins with none. */
unsigned utf8_character(const char *s);

#endif
