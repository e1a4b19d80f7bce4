/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * utf8: names as text that must be UTF-8 (RFC 3629). Names of files may be any bytes.
 */
#ifndef RNFS_CLI_UTF8_H
#define RNFS_CLI_UTF8_H

#define UTF8_UNKNOWN "\xef\xbf\xbd" /* U+FFFD, for a byte outside any character */

/* Bytes of the character at the beginning of s, which ends with a NUL; 0: s begins with no valid
 * character. */
unsigned utf8_character(const char *s);

#endif
