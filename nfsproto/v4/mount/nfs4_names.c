/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_names: owners by name (RFC 8881 section 5.9), for ops that must not block.
 *
 * Coders of attributes ask struct nfs4_owners, which answers from the cache of c->idmap. When a
 * reply has a name that is not in the cache yet, the op waits among the delayed ops and then asks
 * the server for the attributes once more. An op that only looks is repeated; an op that has
 * changed something sends a GETATTR. A listing does not wait: the entry goes without attributes,
 * and is looked up when a program asks for its attributes. An op waits at most WAITS_MAX times
 * WAIT_MS; then the owner is nobody.
 */
#include "nfsproto/v4/mount/nfs4_names.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/common/idmap.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "transport/log.h"
#include "transport/quote.h"

#define WAIT_MS	  5000u
#define WAITS_MAX 6u

static bool to_id(
	struct nfs4_owners *owners, const char *name, uint32_t len, bool group, uint32_t *id)
{
	struct nfs4_client *c = owners->ctx;
	enum idmap_answer answer = c->idmap ? idmap_id(c->idmap, name, len, group, id) : IDMAP_NO;

	if (answer == IDMAP_NOT_YET)
		owners->not_yet = true;
	return answer == IDMAP_YES;
}

static uint32_t to_name(
	struct nfs4_owners *owners, uint32_t id, bool group, char name[NFS4_OWNER_MAX + 1])
{
	struct nfs4_client *c = owners->ctx;

	if (!c->idmap || !atomic_load(&c->send_names))
		return 0;
	_Static_assert(NFS4_OWNER_MAX == IDMAP_NAME_MAX, "one buffer for both");
	if (idmap_name(c->idmap, id, group, name) != IDMAP_YES)
		return 0;
	return (uint32_t)strlen(name);
}

struct nfs4_owners nfs4_names_owners(struct nfs4_client *c)
{
	return (struct nfs4_owners){.to_id = to_id, .to_name = to_name, .ctx = c};
}

/* --- waiting ------------------------------------------------------------------------------- */

/* On the map's thread: everybody may have another look. */
static void resolved(void *ctx)
{
	struct nfs4_client *c = ctx;
	struct nfs_op *op, *next;

	mutex_lock(&c->srv->slots.lock);
	for (op = TAILQ_FIRST(&c->srv->delayed); op; op = next) {
		next = TAILQ_NEXT(op, link);
		if (op->be.v4.user != &c->user || !(op->be.v4.flags & NFS4_F_NAMING))
			continue;
		TAILQ_REMOVE(&c->srv->delayed, op, link);
		op->due_ns = 0;
		TAILQ_INSERT_HEAD(&c->srv->delayed, op, link);
	}
	pthread_cond_signal(&c->srv->wake);
	mutex_unlock(&c->srv->slots.lock);
}

static bool may_wait(struct nfs_op *op)
{
	if (op->tries >= WAITS_MAX)
		return false;
	op->tries++;
	op->be.v4.flags |= NFS4_F_NAMING;
	return true;
}

void nfs4_names_later(struct nfs4_client *c, struct nfs_op *op)
{
	nfs4_task_delay(op, WAIT_MS); /* op may be gone from here on */
	idmap_notify(c->idmap);
}

bool nfs4_names_wait(struct nfs_op *op)
{
	uint8_t kind = op->be.v4.kind;

	switch (kind) {
	case NFS_LOOKUP:
	case NFS_GETATTR:
	case NFS_ACCESS:
	case NFS4_K_LOOKUP_AFTER:
	case NFS4_K_GETATTR_AFTER:
		break;
	case NFS_CREATE:
		kind = NFS4_K_LOOKUP_AFTER;
		break;
	case NFS_SETATTR:
	case NFS_LINK:
	case NFS_OPEN:
	case NFS4_K_OPEN_READ:
	case NFS4_K_OPEN_SETATTR:
		kind = NFS4_K_GETATTR_AFTER;
		break;
	default:
		return false;
	}
	op->be.v4.kind = kind;
	return may_wait(op);
}

/* --- names to be sent ---------------------------------------------------------------------- */

static bool sets_owner(const struct nfs_op *op)
{
	return op->type == NFS_SETATTR && op->u.setattr.set.mask & (NFS_SET_UID | NFS_SET_GID);
}

/* Are the names of the owners that op sets in the cache? */
static bool names_known(struct nfs4_client *c, const struct nfs_op *op)
{
	const struct nfs_sattr *s = &op->u.setattr.set;
	char name[IDMAP_NAME_MAX + 1];
	bool known = true;

	if (s->mask & NFS_SET_UID)
		known = idmap_name(c->idmap, s->uid, false, name) != IDMAP_NOT_YET;
	if (s->mask & NFS_SET_GID)
		known &= idmap_name(c->idmap, s->gid, true, name) != IDMAP_NOT_YET;
	return known;
}

bool nfs4_names_wanted(struct nfs4_client *c, struct nfs_op *op)
{
	return sets_owner(op) && c->idmap && atomic_load(&c->send_names) && !names_known(c, op) &&
	       may_wait(op);
}

bool nfs4_names_refused(struct nfs4_client *c, struct nfs_op *op)
{
	char user[NFS4_OWNER_MAX + 1], group[NFS4_OWNER_MAX + 1];
	struct nfs4_owners owners = nfs4_names_owners(c);

	if (!sets_owner(op))
		return false;
	if (c->idmap_mode == NFS_IDMAP_AUTO && c->idmap && !atomic_exchange(&c->send_names, true)) {
		log_info(
			"%s takes no numbers for owners: names are sent from now on", c->srv->name);
		return true;
	}
	nfs4_owner_format(&owners, op->u.setattr.set.uid, false, user);
	nfs4_owner_format(&owners, op->u.setattr.set.gid, true, group);
	log_warn("%s does not know the owner %s%s%s: %s", c->srv->name,
		op->u.setattr.set.mask & NFS_SET_UID ? QUOTE(user, strlen(user)) : "",
		(op->u.setattr.set.mask & (NFS_SET_UID | NFS_SET_GID)) ==
				(NFS_SET_UID | NFS_SET_GID)
			? " or the group "
			: "",
		op->u.setattr.set.mask & NFS_SET_GID ? group : "",
		c->idmap ? "does the server have such a user, and the same domain "
			   "(idmap_domain=)?"
			 : "mount with idmap=auto to send names");
	return false;
}

int nfs4_names_init(struct nfs4_client *c, const struct nfs_mount_params *p)
{
	c->idmap_mode = p->idmap;
	atomic_init(&c->send_names, p->idmap == NFS_IDMAP_NAME);
	if (p->idmap == NFS_IDMAP_NUMERIC)
		return 0;
	c->idmap = idmap_new(p->idmap_domain, NULL, resolved, c);
	return c->idmap ? 0 : -ENOMEM;
}
