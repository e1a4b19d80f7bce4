/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-deleg: the delegations of mean-nfs4.
 */
#include "tests/unit/nfsproto/v4/mean-deleg.h"

#include <string.h>

struct nfs4_stateid mean_deleg_id(uint32_t no)
{
	struct nfs4_stateid id = {.seqid = 1, .other = "DELG"};

	memcpy(id.other + 4, &no, sizeof(no));
	return id;
}

bool mean_deleg_is(const struct nfs4_stateid *id)
{
	return !memcmp(id->other, "DELG", 4);
}

static int find(const struct mean_delegs *d, const struct nfs4_stateid *id)
{
	uint32_t no;

	memcpy(&no, id->other + 4, sizeof(no));
	for (int i = 0; mean_deleg_is(id) && i < MEAN_DELEGS; i++)
		if (d->of[i].used && d->of[i].no == no)
			return i;
	return -1;
}

uint32_t mean_deleg_judge(const struct mean_delegs *d, const struct nfs4_stateid *id)
{
	int i = find(d, id);

	if (i < 0)
		return NFS4ERR_BAD_STATEID;
	return d->of[i].revoked ? NFS4ERR_DELEG_REVOKED : NFS4_OK;
}

static void give(
	struct mean_delegs *d, const struct nfs_fh *fh, bool write, struct nfs4_delegation *given)
{
	int i = 0;

	while (i < MEAN_DELEGS && d->of[i].used)
		i++;
	if (i == MEAN_DELEGS)
		return;
	d->of[i].used = true;
	d->of[i].revoked = false;
	d->of[i].no = ++d->last;
	d->of[i].fh = *fh;
	d->held++;
	given->type = write ? OPEN_DELEGATE_WRITE : d->type ? d->type : OPEN_DELEGATE_READ;
	given->limit_by = NFS_LIMIT_SIZE;
	given->stateid = mean_deleg_id(d->last);
	given->recall = d->recalled;
}

uint32_t mean_deleg_open(struct mean_delegs *d, const struct nfs4_open_args *a,
	const struct nfs_fh *fh, struct nfs4_delegation *given)
{
	uint32_t want = a->share_access & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK, status;
	bool again = a->claim == CLAIM_PREVIOUS && a->deleg_type != OPEN_DELEGATE_NONE;
	bool write = again ? a->deleg_type == OPEN_DELEGATE_WRITE
			   : want == OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG;

	if (a->claim == CLAIM_DELEG_CUR_FH) {
		status = mean_deleg_judge(d, &a->deleg);
		d->claims += status == NFS4_OK;
		d->refused += status != NFS4_OK;
		return status;
	}
	if (again ? d->gives_back
		  : d->gives && (write || want == OPEN4_SHARE_ACCESS_WANT_READ_DELEG)) {
		d->reclaims += again;
		give(d, fh, write, given);
		d->gives &= !d->once;
	}
	return NFS4_OK;
}

uint32_t mean_deleg_return(struct mean_delegs *d, const struct nfs4_stateid *id)
{
	uint32_t status = mean_deleg_judge(d, id);

	if (status == NFS4_OK) {
		d->of[find(d, id)].used = false;
		d->held--;
	}
	return status;
}

uint32_t mean_deleg_free(struct mean_delegs *d, const struct nfs4_stateid *id)
{
	int i = find(d, id);

	if (i < 0 || !d->of[i].revoked)
		return i < 0 ? NFS4ERR_BAD_STATEID : NFS4ERR_LOCKS_HELD;
	d->of[i].used = false;
	d->freed++;
	return NFS4_OK;
}

void mean_deleg_revoke(struct mean_delegs *d)
{
	for (int i = 0; i < MEAN_DELEGS; i++) {
		if (!d->of[i].used || d->of[i].revoked)
			continue;
		d->of[i].revoked = true;
		d->revoked++;
		d->held--;
	}
}

void mean_deleg_forget(struct mean_delegs *d)
{
	memset(d->of, 0, sizeof(d->of));
	d->held = 0;
}
