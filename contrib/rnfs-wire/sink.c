/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sink: see sink.h.
 */
#include "contrib/rnfs-wire/sink.h"

#include "transport/rpcrdma/rpcrdma_hdr.h"

void sink_init(struct sink *s, FILE *out)
{
	*s = (struct sink){.out = out};
	text_init(&s->text);
}

void sink_finish(struct sink *s)
{
	text_finish(&s->text);
}

void sink_read(struct sink *s, struct header *h, struct header_talk *talk, unsigned side,
	const void *msg, size_t len)
{
	text_clear(&s->text);
	header_read(h, s->dialect, talk, side, msg, len, &s->text);
	s->messages++;
	s->unknown += h->verdict == HEADER_UNKNOWN;
	s->wrong += h->verdict == HEADER_WRONG;
	s->errors += h->verdict != HEADER_WRONG && h->proc == RDMA_ERROR;
}

void sink_print(struct sink *s, const char *where, const struct header *h)
{
	struct text title;

	text_init(&title);
	header_title(h, &title);
	fprintf(s->out, "%s%s%s\n", where, text_str(&title),
		h->verdict == HEADER_WRONG ? ", wrong" : "");
	if (!s->brief)
		fputs(text_str(&s->text), s->out);
	text_finish(&title);
}
