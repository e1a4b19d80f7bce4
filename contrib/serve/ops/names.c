/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: owners that clients name.
 */
#include "contrib/serve/ops/names.h"

static struct idmap *map; /* set before the first request */
static _Thread_local bool not_yet;

static bool to_id(const char *name, uint32_t len, bool group, uint32_t *id)
{
	enum idmap_answer answer = map ? idmap_id(map, name, len, group, id) : IDMAP_NO;

	not_yet |= answer == IDMAP_NOT_YET;
	return answer == IDMAP_YES;
}

void names_init(struct idmap *m)
{
	map = m;
	nfs4_attr_set_idmap(m ? to_id : NULL, NULL);
}

uint32_t names_sattr_decode(
	const struct nfs4_fattr *f, struct nfs_sattr *s, struct nfs4_opaque *acl)
{
	uint32_t status;

	not_yet = false;
	status = nfs4_sattr_decode_acl(f, s, acl);
	return status == NFS4ERR_BADOWNER && not_yet ? NFS4ERR_DELAY : status;
}

uint32_t names_owner(const struct nfs_name *who, bool group, uint32_t *id)
{
	not_yet = false;
	if (nfs4_owner_parse(who->s, who->len, group, id))
		return NFS4_OK;
	return not_yet ? NFS4ERR_DELAY : NFS4ERR_BADOWNER;
}
