/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any row of iWARP segments, received with and without foresight: both must come to the same. Four
 * bytes of input make a segment, most often one that goes on where the last one ended.
 */
#include "tests/unit/transport/iwarp/iwarp-script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t sizes[] = {700, 700, 700, 512, 511, 1428, 1, 0};
	struct script_step s[32];
	uint64_t foreseen = 0;
	unsigned n = 0;
	uint32_t to[SCRIPT_AREAS] = {0}, len = 700;
	const char *why;
	size_t cut, cut2;

	if (size < 8)
		return 0;
	cut = data[0] & 1 ? 20 + data[1] * 5u : 0;
	cut2 = data[0] & 2 ? 20 + data[2] * 17u : 0;
	for (size_t i = 4; i + 4 <= size && n < 32; i += 4) {
		const uint8_t *d = data + i;
		struct script_step *t = &s[n++];
		unsigned area;

		*t = (struct script_step){.op = d[0] % 5, .which = d[0] >> 7, .last = d[1] & 1};
		if (d[0] & 0x40 && n > 1) {
			t->op = t[-1].op;
			t->which = t[-1].which;
		}
		area = t->op == SCRIPT_WRITE	? t->which
		       : t->op == SCRIPT_ANSWER ? SCRIPT_DOORS + t->which
						: SCRIPT_AREAS - 1;
		if (d[1] & 2)
			len = sizes[d[2] % 8];
		t->n = len;
		t->to = to[area];
		if (d[1] & 4)
			t->to = d[3] * 48u;
		else if (t->op <= SCRIPT_ANSWER && (d[1] & 8) && t->to < SCRIPT_MEM &&
			 t->n > SCRIPT_MEM - t->to)
			t->n = SCRIPT_MEM - t->to;
		if (t->op == SCRIPT_ANSWER && !(d[1] & 16))
			t->last = t->to + t->n == SCRIPT_MEM;
		to[area] = area == SCRIPT_AREAS - 1 && t->last ? 0 : t->to + t->n;
		t->odd = (d[1] & 0xe0) == 0xe0;
		t->bad = (d[1] & 0xe0) == 0xc0;
	}
	why = script_check(s, n, cut, cut2, data[0] & 4, &foreseen);
	if (why) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	return 0;
}
