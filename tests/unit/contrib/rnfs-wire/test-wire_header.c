/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/rnfs-wire/header: a vector for every message type and every arm of a union
 * of every dialect, with words from the XDR of the drafts (wire-vecs.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "contrib/rnfs-wire/header.h"
#include "transport/rpcrdma/rpcrdma_dialect.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"
#include "transport/rpcrdma/old/rpcrdma_v2_2016.h"

#include "tests/unit/contrib/rnfs-wire/wire-vecs.h"

#define MAX_WORDS 80

/* The words in wire form, at the end of allocated memory. */
static uint8_t *bytes_of(const struct wire_vec *v, size_t len)
{
	uint8_t all[MAX_WORDS * 4], *p = malloc(len ? len : 1);

	assert_non_null(p);
	assert_true(v->n <= MAX_WORDS);
	for (unsigned i = 0; i < v->n; i++) {
		uint32_t word = htobe32(v->words[i]);

		memcpy(all + i * 4, &word, 4);
	}
	memcpy(p, all, len);
	return p;
}

static void read_vec(const struct wire_vec *v, enum header_dialect d, size_t len, struct header *h,
	struct text *t)
{
	uint8_t *msg = bytes_of(v, len);

	text_clear(t);
	header_read(h, d, NULL, 0, msg, len, t);
	free(msg);
}

/* The printed line and details. */
static void every_vector_is_put_into_words(void **state)
{
	struct text t, all;
	struct header h;

	text_init(&t);
	text_init(&all);
	for (const struct wire_vec *v = wire_vecs; v->words; v++) {
		read_vec(v, v->dialect, v->n * 4, &h, &t);
		text_clear(&all);
		header_title(&h, &all);
		text_add(&all, "\n%s", text_str(&t));
		assert_string_equal(text_str(&all), v->says);
		assert_int_equal(h.verdict, v->verdict);
	}
	text_finish(&t);
	text_finish(&all);
}

static void auto_finds_the_dialect(void **state)
{
	struct header h, told;
	struct text t;

	text_init(&t);
	for (const struct wire_vec *v = wire_vecs; v->words; v++) {
		if (v->verdict != HEADER_OK)
			continue;
		read_vec(v, v->dialect, v->n * 4, &told, &t);
		read_vec(v, HEADER_AUTO, v->n * 4, &h, &t);
		assert_string_equal(h.dialect, v->found ? v->found : told.dialect);
		assert_int_equal(h.guessed, v->guessed);
	}
	text_finish(&t);
}

static void what_is_cut_off_is_wrong_at_every_byte(void **state)
{
	struct header whole, h;
	struct text t;

	text_init(&t);
	for (const struct wire_vec *v = wire_vecs; v->words; v++) {
		if (v->verdict != HEADER_OK)
			continue;
		read_vec(v, v->dialect, v->n * 4, &whole, &t);
		assert_true(whole.len >= RPCRDMA_FIXED_LEN && whole.len <= v->n * 4);
		for (size_t len = 0; len < whole.len; len++) {
			read_vec(v, v->dialect, len, &h, &t);
			if (len != v->whole_at)
				assert_int_equal(h.verdict, HEADER_WRONG);
			read_vec(v, HEADER_AUTO, len, &h, &t);
		}
		/* if the RPC message is cut off, only the transport header is read */
		for (size_t len = whole.len + 4; len < v->n * 4; len++) {
			read_vec(v, v->dialect, len, &h, &t);
			assert_int_equal(h.len, whole.len);
		}
	}
	text_finish(&t);
}

static void any_word_may_be_anything(void **state)
{
	static const uint32_t odd[] = {0, 1, 2, 7, 0x7fffffff, 0xffffffff};
	uint32_t words[MAX_WORDS];
	struct header h;
	struct text t;

	text_init(&t);
	for (const struct wire_vec *v = wire_vecs; v->words; v++) {
		for (unsigned i = 0; i < v->n * sizeof(odd) / sizeof(odd[0]); i++) {
			struct wire_vec changed = *v;

			memcpy(words, v->words, v->n * 4);
			words[i % v->n] = odd[i / v->n];
			changed.words = words;
			read_vec(&changed, v->dialect, v->n * 4, &h, &t);
			read_vec(&changed, HEADER_AUTO, v->n * 4, &h, &t);
		}
	}
	text_finish(&t);
}

/* A message that the transport takes is understood here, too, and a refused one is reported. */
static void the_codec_is_not_contradicted(void **state)
{
	struct rpcrdma_hdr theirs;
	struct header h;
	struct text t;
	uint8_t *msg;
	int rc;

	text_init(&t);
	for (const struct wire_vec *v = wire_vecs; v->words; v++) {
		bool v2 = v->dialect == HEADER_V2;

		if (!v2 && v->dialect != HEADER_V2_2016)
			continue;
		for (size_t len = 0; len <= v->n * 4; len++) {
			msg = bytes_of(v, len);
			rc = rpcrdma_dialect_decode(
				v2 ? &rpcrdma_v2 : &rpcrdma_v2_2016, &theirs, msg, len);
			free(msg);
			read_vec(v, v->dialect, len, &h, &t);
			if (rc && h.verdict == HEADER_OK &&
				h.proc <= (v2 ? RDMA_CONNPROP : RDMA_ERROR))
				assert_non_null(strstr(text_str(&t), "rnfs refuses this"));
			if (!rc && h.verdict == HEADER_WRONG)
				/* properties are separate */
				assert_int_equal(h.proc, RDMA_CONNPROP);
		}
	}
	text_finish(&t);
}

static void continued_message_is_not_taken_for_a_new_one(void **state)
{
	static const uint32_t part[] = {9, 2, 1, 0, 2, 0, 0, 0, 0, 9, 0, 2, 100003, 4, 1, 0, 0};
	static const uint32_t rest[] = {9, 2, 1, 0, 0, 0, 0, 0, 0, 77, 78};
	const struct wire_vec vecs[] = {{.words = part, .n = 17}, {.words = rest, .n = 11}};
	struct header_talk talk = {0};
	struct header h;
	struct text t;
	uint8_t *msg;

	text_init(&t);
	for (unsigned i = 0; i < 3; i++) {
		const struct wire_vec *v = &vecs[i > 0];

		msg = bytes_of(v, v->n * 4);
		text_clear(&t);
		header_read(&h, HEADER_AUTO, &talk, 1, msg, v->n * 4, &t);
		free(msg);
		assert_int_equal(h.continued, i == 1);
		assert_int_equal(h.verdict, HEADER_OK);
		assert_string_equal(h.dialect, "version 2");
		assert_int_equal(strstr(text_str(&t), "8 bytes more") != NULL, i == 1);
	}
	text_finish(&t);
}

static void dialects_have_names(void **state)
{
	enum header_dialect d;

	assert_true(header_dialect_named("2-2016", &d));
	assert_int_equal(d, HEADER_V2_2016);
	assert_true(header_dialect_named("auto", &d));
	assert_int_equal(d, HEADER_AUTO);
	assert_false(header_dialect_named("3", &d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vector_is_put_into_words),
		cmocka_unit_test(auto_finds_the_dialect),
		cmocka_unit_test(what_is_cut_off_is_wrong_at_every_byte),
		cmocka_unit_test(any_word_may_be_anything),
		cmocka_unit_test(the_codec_is_not_contradicted),
		cmocka_unit_test(continued_message_is_not_taken_for_a_new_one),
		cmocka_unit_test(dialects_have_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
