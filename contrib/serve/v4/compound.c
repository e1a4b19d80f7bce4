/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * compound: a COMPOUND under way.
 */
#include "contrib/serve/v4/compound.h"

#include <string.h>

void set_current(struct compound *c, struct obj *o)
{
	obj_unref(c->sv->objs, c->cur);
	c->cur = o;
	memset(&c->cur_sid, 0, sizeof(c->cur_sid));
}

void remember_stat(struct compound *c, const struct obj *o, const struct statx *st)
{
	c->seen = o;
	c->seen_st = *st;
}

uint32_t use_begin(struct compound *c, struct obj *o, enum deleg_use use)
{
	uint32_t status = c->nuses < COMPOUND_USES
				  ? deleg_begin_use(&c->sv->state, o, c->client, use)
				  : (uint32_t)NFS4ERR_SERVERFAULT;

	if (status != NFS4_OK)
		return status;
	c->uses[c->nuses].o = obj_ref(c->sv->objs, o);
	c->uses[c->nuses++].use = use;
	return NFS4_OK;
}

void use_end(struct compound *c)
{
	while (c->nuses > 0) {
		c->nuses--;
		deleg_end_use(&c->sv->state, c->uses[c->nuses].o, c->uses[c->nuses].use);
		obj_unref(c->sv->objs, c->uses[c->nuses].o);
	}
}

void current_stateid(struct compound *c, struct nfs4_stateid *sid)
{
	if (nfs4_stateid_same(sid, &nfs4_stateid_current))
		*sid = c->cur_sid; /* section 16.2.3.1.2; anonymous if there is none */
}

#define WRITE_HEAD 36u /* bytes of a WRITE before its data */

static uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
	return sum ^ sum >> 32;
}

void sum_op(struct compound *c, const struct xdr_in *in, size_t from, const struct nfs4_args *a)
{
	size_t end = in->bad ? from : in->pos;
	uint64_t two;
	uint32_t one;

	if (a->op == OP_WRITE && end - from > WRITE_HEAD)
		end = from + WRITE_HEAD;
	else if (a->op == OP_CREATE && a->u.create.type == NF4LNK)
		end = from + 4;
	for (; end - from >= sizeof(two); from += sizeof(two)) {
		memcpy(&two, in->base + from, sizeof(two));
		c->sum = mix(c->sum, two);
	}
	if (end - from >= sizeof(one)) {
		memcpy(&one, in->base + from, sizeof(one));
		c->sum = mix(c->sum, one);
	}
	c->summed++;
}
