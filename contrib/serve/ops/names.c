/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: translates owners from names to numbers.
 */
#include "contrib/serve/ops/names.h"

static bool to_id(
	struct nfs4_owners *owners, const char *name, uint32_t len, bool group, uint32_t *id)
{
	enum idmap_answer answer = idmap_id(owners->ctx, name, len, group, id);

	owners->not_yet |= answer == IDMAP_NOT_YET;
	return answer == IDMAP_YES;
}

static struct nfs4_owners owners_of(struct idmap *m)
{
	return (struct nfs4_owners){.to_id = m ? to_id : NULL, .ctx = m};
}

uint32_t names_sattr_decode(
	struct idmap *m, const struct nfs4_fattr *f, struct nfs_sattr *s, struct nfs4_opaque *acl)
{
	struct nfs4_owners owners = owners_of(m);
	uint32_t status = nfs4_sattr_decode(f, s, acl, &owners);

	return status == NFS4ERR_BADOWNER && owners.not_yet ? NFS4ERR_DELAY : status;
}

uint32_t names_owner(struct idmap *m, const struct nfs_name *who, bool group, uint32_t *id)
{
	struct nfs4_owners owners = owners_of(m);

	if (nfs4_owner_parse(&owners, who->s, who->len, group, id))
		return NFS4_OK;
	return owners.not_yet ? NFS4ERR_DELAY : NFS4ERR_BADOWNER;
}
