/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * utf8: names as text that must be UTF-8.
 */
#include "cli/utf8.h"

unsigned utf8_character(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned n = 0;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] < 0xf5)
		n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* section 4: longer than need be, a surrogate, or beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}
