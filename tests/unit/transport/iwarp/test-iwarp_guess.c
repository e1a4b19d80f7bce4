/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp_guess: rows of segments that are as foreseen, and rows that
 * break the guess in every possible way, split at every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/transport/iwarp/iwarp-script.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Segment number i of 600 bytes. */
#define W(i)                                                                                       \
	{                                                                                          \
		.to = (i)*600, .n = 600                                                            \
	}
#define ANSWER(i)                                                                                  \
	{                                                                                          \
		.op = SCRIPT_ANSWER, .to = (i)*600, .n = 600                                       \
	}
#define SEND(len)                                                                                  \
	{                                                                                          \
		.op = SCRIPT_SEND, .n = (len), .last = true                                        \
	}
#define INVALIDATE()                                                                               \
	{                                                                                          \
		.op = SCRIPT_SEND_INV, .n = 40, .last = true                                       \
	}

struct row {
	const char *name;
	const struct script_step *s;
	unsigned n;
};

#define ROW(name, ...)                                                                             \
	{                                                                                          \
		name, (const struct script_step[]){__VA_ARGS__},                                   \
			LEN(((const struct script_step[]){__VA_ARGS__}))                           \
	}

static const struct row rows[] = {
	ROW("as foreseen", W(0), W(1), W(2), W(3), W(4), {.to = 3000, .n = 600, .last = true},
		SEND(40)),
	ROW("to the very end of the door", {.to = SCRIPT_MEM - 2000, .n = 600},
		{.to = SCRIPT_MEM - 1400, .n = 600}, {.to = SCRIPT_MEM - 800, .n = 600},
		{.to = SCRIPT_MEM - 200, .n = 200, .last = true}, SEND(40)),
	ROW("a short one within", W(0), W(1), {.to = 1200, .n = 300}, {.to = 1500, .n = 600},
		{.to = 2100, .n = 600}, {.to = 2700, .n = 600, .last = true}, SEND(41)),
	ROW("a long one within", W(0), W(1), {.to = 1200, .n = 900}, {.to = 2100, .n = 600},
		{.to = 2700, .n = 600, .last = true}, SEND(42)),
	ROW("one byte more", W(0), W(1), {.to = 1200, .n = 601}, {.to = 1801, .n = 601},
		{.to = 2402, .n = 3, .last = true}, SEND(43)),
	ROW("one byte less", W(0), W(1), {.to = 1200, .n = 599}, {.to = 1799, .n = 599},
		{.to = 2398, .n = 3, .last = true}, SEND(43)),
	ROW("another door", W(0), W(1), {.which = 1, .to = 0, .n = 600},
		{.which = 1, .to = 600, .n = 600}, W(2), W(3), {.which = 1, .to = 1200, .n = 600},
		W(4), W(5), SEND(44)),
	ROW("a hole", W(0), W(1), W(4), W(5), W(2), W(3), W(6), W(7), SEND(45)),
	ROW("backwards", W(5), W(4), W(3), W(2), W(1), W(0), W(1), W(2), W(3), SEND(46)),
	ROW("again and again", W(0), W(1), W(2), W(0), W(1), W(2), W(3), W(1), W(4), SEND(47)),
	ROW("written before", W(0), W(1), W(2), W(3), W(0), SEND(500), SEND(400), SEND(300)),
	ROW("a message ends early", W(0), W(1), {.to = 1200, .n = 200, .last = true}, SEND(1000),
		SEND(1100), SEND(50)),
	ROW("a message ends with a whole one", W(0), W(1), {.to = 1200, .n = 600, .last = true},
		SEND(1000), SEND(1100), SEND(50)),
	ROW("the next message goes on", W(0), W(1), {.to = 1200, .n = 600, .last = true}, W(3),
		W(4), W(5), SEND(48)),
	ROW("Sends between", W(0), W(1), SEND(600), W(2), W(3), SEND(1), SEND(0), W(4), W(5), W(6)),
	ROW("a Send in parts between", W(0), W(1), {.op = SCRIPT_SEND, .n = 600}, W(2), W(3),
		{.op = SCRIPT_SEND, .to = 600, .n = 600, .last = true}, W(4), SEND(49)),
	ROW("requests between", W(0), W(1), {.op = SCRIPT_REQUEST}, W(2), W(3), W(4), SEND(50)),
	ROW("nothing between", W(0), W(1), {.to = 1200}, W(2), W(3), W(4), SEND(51)),
	ROW("reserved bits", W(0), W(1), {.to = 1200, .n = 600, .odd = true}, W(3), W(4), SEND(52)),
	ROW("reserved bits always", {.n = 600, .odd = true}, {.to = 600, .n = 600, .odd = true},
		{.to = 1200, .n = 600, .odd = true}, {.to = 1800, .n = 600, .odd = true}, SEND(53)),
	ROW("small ones", {.n = 511}, {.to = 511, .n = 511}, {.to = 1022, .n = 511},
		{.to = 1533, .n = 511}, {.to = 2044, .n = 511}, SEND(54)),
	ROW("the door is closed", W(0), W(1), INVALIDATE(), SEND(900), SEND(900), SEND(55)),
	ROW("the door is closed and written", W(0), W(1), INVALIDATE(), W(2), W(3), W(4)),
	ROW("the other door is closed", W(0), W(1),
		{.op = SCRIPT_SEND_INV, .which = 1, .n = 40, .last = true}, W(2), W(3), W(4),
		SEND(56)),
	ROW("beyond the door", {.to = SCRIPT_MEM - 1800, .n = 600},
		{.to = SCRIPT_MEM - 1200, .n = 600}, {.to = SCRIPT_MEM - 600, .n = 600},
		{.to = SCRIPT_MEM, .n = 600}, SEND(57)),
	ROW("half beyond the door", {.to = SCRIPT_MEM - 1500, .n = 600},
		{.to = SCRIPT_MEM - 900, .n = 600}, {.to = SCRIPT_MEM - 300, .n = 600}, SEND(58)),
	ROW("a request of what may not be read", W(0), W(1), {.op = SCRIPT_REQUEST, .n = 10}, W(2)),
	ROW("a wrong CRC within", W(0), W(1), {.to = 1200, .n = 600, .bad = true}, W(3), W(4),
		SEND(59)),
	ROW("answers", ANSWER(0), ANSWER(1), ANSWER(2), ANSWER(3), ANSWER(4), ANSWER(5), ANSWER(6),
		ANSWER(7), ANSWER(8), ANSWER(9), ANSWER(10), ANSWER(11), ANSWER(12), ANSWER(13),
		ANSWER(14), ANSWER(15), ANSWER(16), ANSWER(17), ANSWER(18), ANSWER(19),
		{.op = SCRIPT_ANSWER, .to = 12000, .n = 288, .last = true}, SEND(60)),
	ROW("answers with others between", ANSWER(0), ANSWER(1), SEND(100), ANSWER(2), W(0), W(1),
		ANSWER(3), ANSWER(4), W(2), W(3), ANSWER(5), SEND(61)),
	ROW("the answer to the wrong read", ANSWER(0), ANSWER(1),
		{.op = SCRIPT_ANSWER, .which = 1, .to = 1200, .n = 600}, ANSWER(2)),
	ROW("an answer goes back", ANSWER(0), ANSWER(1), ANSWER(2), ANSWER(1), ANSWER(2)),
	ROW("an answer leaves out", ANSWER(0), ANSWER(1), ANSWER(3)),
	ROW("an answer ends too soon", ANSWER(0), ANSWER(1),
		{.op = SCRIPT_ANSWER, .to = 1200, .n = 600, .last = true}, SEND(62)),
};

static uint64_t checked(const struct row *r, size_t cut, size_t cut2, bool crc)
{
	uint64_t foreseen = 0;
	const char *why = script_check(r->s, r->n, cut, cut2, crc, &foreseen);

	if (why)
		fail_msg("%s, in pieces of %zu and %zu, CRC %d: %s", r->name, cut, cut2, crc, why);
	return foreseen;
}

/* A first piece that ends at each byte of a trailer or header, then all the rest at once. A segment
 * is 624 bytes of the stream. */
static void rows_split_in_two(void **state)
{
	for (unsigned i = 0; i < LEN(rows); i++)
		for (size_t cut = 600; cut < 2600;
			cut += cut % 624 < 40 || cut % 624 > 600 ? 1 : 97)
			checked(&rows[i], cut, SCRIPT_STREAM, cut & 1);
}

static void rows_in_small_pieces(void **state)
{
	for (unsigned i = 0; i < LEN(rows); i++)
		for (size_t piece = 1; piece < 5000; piece += piece < 30 ? 7 : 613)
			checked(&rows[i], piece, 0, piece & 1);
}

/* The beginning of a segment, again and again, and then as much as a guess may take. */
static void rows_in_large_pieces(void **state)
{
	for (unsigned i = 0; i < LEN(rows); i++)
		for (size_t piece = 600; piece < 4000; piece += 48)
			checked(&rows[i], 100, piece, piece & 16);
}

static void what_is_regular_is_foreseen(void **state)
{
	/* a first piece that ends inside the first segment: the rest comes in one recvmsg() */
	assert_int_equal(checked(&rows[0], 100, SCRIPT_STREAM, false), 5);
	assert_int_equal(checked(&rows[1], 100, SCRIPT_STREAM, true), 3);
	assert_string_equal(rows[28].name, "answers");
	assert_int_equal(checked(&rows[28], 100, SCRIPT_STREAM, false), 20);
	assert_string_equal(rows[8].name, "backwards");
	assert_int_equal(checked(&rows[8], 100, SCRIPT_STREAM, false), 0);
}

static uint32_t next(uint32_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	*x ^= *x << 5;
	return *x;
}

/* Mostly regular rows of both doors, Sends and answers, with other segments now and then. */
static void rows_of_all_kinds(void **state)
{
	uint32_t x = 2463534242u;
	uint64_t foreseen = 0;

	for (int round = 0; round < 300; round++) {
		struct script_step s[30];
		uint32_t to[SCRIPT_DOORS + 1] = {0}, len = 512 + next(&x) % 600;
		unsigned which = 0;
		char name[40];
		struct row r = {name, s, LEN(s)};

		snprintf(name, sizeof(name), "round %d", round);
		for (unsigned i = 0; i < LEN(s); i++) {
			if (next(&x) % 6 == 0)
				which = next(&x) % (SCRIPT_DOORS + 1);
			s[i] = (struct script_step){
				.op = which < SCRIPT_DOORS ? SCRIPT_WRITE : SCRIPT_ANSWER,
				.which = which % SCRIPT_DOORS,
				.to = to[which],
				.n = len};
			if (next(&x) % 12 == 0)
				s[i].n = next(&x) % 1200;
			if (s[i].n > SCRIPT_MEM - to[which])
				s[i].n = SCRIPT_MEM - to[which];
			if (next(&x) % 16 == 0)
				s[i] = (struct script_step){
					.op = SCRIPT_SEND, .n = len, .last = true};
			else if (s[i].op == SCRIPT_WRITE && next(&x) % 10 == 0)
				s[i].to = next(&x) % (SCRIPT_MEM - s[i].n);
			else
				to[which] += s[i].n;
			if (s[i].op == SCRIPT_WRITE)
				s[i].last = next(&x) % 8 == 0;
			else if (s[i].op == SCRIPT_ANSWER)
				s[i].last = to[which] == SCRIPT_MEM;
		}
		foreseen += checked(&r, 1 + next(&x) % 3000, 1 + next(&x) % 12000, round & 1);
	}
	assert_true(foreseen > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_split_in_two),
		cmocka_unit_test(rows_in_small_pieces),
		cmocka_unit_test(rows_in_large_pieces),
		cmocka_unit_test(what_is_regular_is_foreseen),
		cmocka_unit_test(rows_of_all_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
