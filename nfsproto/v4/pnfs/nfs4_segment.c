/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_segment: one segment of a layout.
 */
#include "nfsproto/v4/pnfs/nfs4_segment.h"

#include <stdlib.h>
#include <string.h>

/* The number that name is in decimal, without leading zeros (RFC 8881 section 5.9). */
static bool number_of(const struct nfs_name *name, uint32_t *number)
{
	uint64_t n = 0;

	if (name->len < 1 || name->len > 10 || (name->len > 1 && name->s[0] == '0'))
		return false;
	for (uint32_t i = 0; i < name->len; i++) {
		if (name->s[i] < '0' || name->s[i] > '9')
			return false;
		n = n * 10 + (unsigned)(name->s[i] - '0');
	}
	*number = (uint32_t)n;
	return n <= UINT32_MAX;
}

static void target_init(struct nfs4_target *t, const struct nfs4_ff_server *s)
{
	t->id = s->device;
	t->stateid = s->stateid;
	t->numeric = number_of(&s->user, &t->uid) && number_of(&s->group, &t->gid);
	t->nfh = s->nfh < NFS4_TARGET_FHS ? s->nfh : NFS4_TARGET_FHS;
	memcpy(t->fh, s->fh, t->nfh * sizeof(t->fh[0]));
}

static int flex_init(struct nfs4_segment *s, const struct nfs4_layout *l)
{
	struct nfs4_ff_walk walk = {0};
	struct nfs4_ff_server server;
	struct nfs4_ff_layout ff;
	unsigned n = 0;

	if (nfs4_get_ff_layout(&l->body, &ff))
		return -EBADMSG;
	if (ff.nmirrors > NFS4_TARGETS_MAX / ff.nstripes)
		return -EOPNOTSUPP;
	*s = (struct nfs4_segment){
		.offset = l->offset,
		.length = l->length,
		.writes = l->iomode == LAYOUTIOMODE4_RW,
		.flags = ff.flags,
		.stats_s = ff.stats_hint,
		.unit = ff.nstripes > 1 ? ff.unit : 0,
		.nmirrors = ff.nmirrors,
		.nstripes = ff.nstripes,
		.target = calloc(ff.nmirrors * ff.nstripes, sizeof(*s->target)),
	};
	if (!s->target)
		return -ENOMEM;
	while (nfs4_ff_next(&ff, &walk, &server))
		target_init(&s->target[n++], &server);
	if (n == ff.nmirrors * ff.nstripes)
		return 0;
	nfs4_segment_finish(s);
	return -EBADMSG;
}

static int files_init(struct nfs4_segment *s, const struct nfs4_layout *l)
{
	struct nfs4_files_layout f;
	uint32_t pos = 0;

	if (nfs4_get_files_layout(&l->body, &f) || f.pattern_offset > l->offset)
		return -EBADMSG;
	if (f.nfh > NFS4_STRIPES)
		return -EOPNOTSUPP;
	*s = (struct nfs4_segment){
		.offset = l->offset,
		.length = l->length,
		.writes = l->iomode == LAYOUTIOMODE4_RW,
		.unit = f.unit,
		.nmirrors = 1,
		.files = true,
		.dense = f.dense,
		.first = f.first_stripe,
		.pattern = f.pattern_offset,
		.id = f.device,
		.nfh = f.nfh,
		.fh = f.nfh ? calloc(f.nfh, sizeof(*s->fh)) : NULL,
	};
	if (f.nfh && !s->fh)
		return -ENOMEM;
	for (uint32_t i = 0; i < f.nfh; i++)
		nfs4_files_fh_next(&f, &pos, &s->fh[i]);
	return 0;
}

int nfs4_segment_init(struct nfs4_segment *s, const struct nfs4_layout *l, uint32_t type)
{
	if (l->type != type || l->length == 0)
		return -EBADMSG;
	return type == LAYOUT4_FLEX_FILES ? flex_init(s, l) : files_init(s, l);
}

/* The handle at stripe index i, which is that of data server number `server`. NULL: the number of
 * handles is none of those of section 13.3. */
static const struct nfs_fh *handle_of(const struct nfs4_segment *s, const struct nfs_fh *fh,
	unsigned i, unsigned nstripes, unsigned server, unsigned nservers)
{
	if (s->dense)
		return s->nfh == nstripes ? &s->fh[i] : NULL;
	if (s->nfh == nservers)
		return &s->fh[server];
	return s->nfh == 1 ? &s->fh[0] : s->nfh == 0 ? fh : NULL;
}

int nfs4_segment_spread(struct nfs4_segment *s, const struct nfs_fh *fh, const uint8_t *stripe,
	unsigned nstripes, unsigned nservers)
{
	struct nfs4_target *target;

	if (s->first >= nstripes)
		return -EBADMSG;
	target = calloc(nstripes, sizeof(*target));
	if (!target)
		return -ENOMEM;
	for (unsigned i = 0; i < nstripes; i++) {
		const struct nfs_fh *at = handle_of(s, fh, i, nstripes, stripe[i], nservers);

		if (!at) {
			free(target);
			return -EBADMSG;
		}
		target[i].id = s->id;
		target[i].nfh = 1;
		target[i].fh[0] = *at;
	}
	s->target = target;
	s->nstripes = nstripes;
	if (nstripes == 1)
		s->unit = 0;
	free(s->fh);
	s->fh = NULL;
	s->nfh = 0;
	return 0;
}

void nfs4_segment_finish(struct nfs4_segment *s)
{
	free(s->target);
	s->target = NULL;
	free(s->fh);
	s->fh = NULL;
}

/* The last byte of s. */
static uint64_t last_of(const struct nfs4_segment *s)
{
	if (s->length == NFS4_LENGTH_EOF || s->length - 1 > UINT64_MAX - s->offset)
		return UINT64_MAX;
	return s->offset + (s->length - 1);
}

bool nfs4_segments_overlap(const struct nfs4_segment *a, const struct nfs4_segment *b)
{
	return a->offset <= last_of(b) && b->offset <= last_of(a);
}

bool nfs4_segment_has(const struct nfs4_segment *s, uint64_t offset)
{
	return offset >= s->offset && offset <= last_of(s);
}

uint64_t nfs4_segment_place(const struct nfs4_segment *s, uint64_t offset)
{
	uint64_t at = offset - s->pattern;

	if (!s->dense)
		return offset;
	return s->unit ? at / (s->unit * s->nstripes) * s->unit + at % s->unit : at;
}

unsigned nfs4_segment_piece(const struct nfs4_segment *s, uint64_t offset, uint32_t *len)
{
	uint64_t left = last_of(s) - offset; /* bytes behind the first */
	uint64_t at = offset - s->pattern;

	if (*len - 1 > left)
		*len = (uint32_t)left + 1;
	if (!s->unit)
		return 0;
	left = s->unit - at % s->unit;
	if (*len > left)
		*len = (uint32_t)left;
	return (unsigned)((at / s->unit % s->nstripes + s->first) % s->nstripes);
}
