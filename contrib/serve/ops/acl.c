/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * acl: the ACLs of NFSv4 for file systems that have POSIX ACLs.
 *
 * A POSIX check looks at one class of entries only: the owner's entry, or else the user's own
 * entry, or else the entries of the user's groups, or else the entry for all others. An NFSv4 check
 * goes through the entries in order, and the first entry that names a right decides about the
 * right. So the client gets entries for OWNER@, the users, all groups and EVERYONE@. Entries that
 * deny rights come before any later entry that would wrongly grant the rights.
 *
 * From a client's entries, each subject gets the rights of the entries that surely mean the
 * subject. A right is left out if an earlier entry denies it and might mean the subject. The owner
 * may be one of the named users or a member of named groups, and a user may be in any group.
 */
#include "contrib/serve/ops/acl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/acl.h>
#include <acl/libacl.h>
#include <sys/xattr.h>

#include "contrib/serve/ops/names.h"

#define ENTRIES_MAX 1024 /* named users and groups; more than file systems take */
#define ACE_MAX	    28	 /* bytes of one encoded entry */
#define R	    4
#define W	    2
#define X	    1

enum subject { OWNER, USER, GROUP, NAMED_GROUP, EVERYONE };

struct named {
	bool group;
	uint32_t id;
	unsigned perm;
};

/* A POSIX ACL, the mask already applied. */
struct posix {
	unsigned owner, group, other;
	unsigned n;
	struct named *named; /* malloc'ed */
};

bool acl_supported(const struct obj *o)
{
	char path[OBJ_PATH_SIZE];

	if (S_ISLNK(o->type))
		return false;
	return getxattr(obj_path(o, path), "system.posix_acl_access", NULL, 0) >= 0 ||
	       errno != EOPNOTSUPP;
}

/* --- reading one ---------------------------------------------------------------------------- */

static unsigned perm_of(acl_entry_t e)
{
	acl_permset_t set;

	if (acl_get_permset(e, &set) != 0)
		return 0;
	return (acl_get_perm(set, ACL_READ) > 0 ? R : 0u) |
	       (acl_get_perm(set, ACL_WRITE) > 0 ? W : 0u) |
	       (acl_get_perm(set, ACL_EXECUTE) > 0 ? X : 0u);
}

static void read_entry(struct posix *p, acl_entry_t e, unsigned *mask)
{
	unsigned perm = perm_of(e);
	acl_tag_t tag;
	void *id;

	if (acl_get_tag_type(e, &tag) != 0)
		return;
	switch (tag) {
	case ACL_USER_OBJ:
		p->owner = perm;
		break;
	case ACL_GROUP_OBJ:
		p->group = perm;
		break;
	case ACL_OTHER:
		p->other = perm;
		break;
	case ACL_MASK:
		*mask = perm;
		break;
	default:
		id = acl_get_qualifier(e);
		if (!id)
			return;
		p->named[p->n++] = (struct named){tag == ACL_GROUP, *(uint32_t *)id, perm};
		acl_free(id);
	}
}

static uint32_t read_posix(acl_t acl, struct posix *p)
{
	int n = acl_entries(acl);
	unsigned mask = R | W | X;
	acl_entry_t e;

	*p = (struct posix){0};
	if (n < 0 || n > ENTRIES_MAX + 4)
		return NFS4ERR_SERVERFAULT;
	p->named = calloc((size_t)n + 1, sizeof(*p->named));
	if (!p->named)
		return NFS4ERR_DELAY;
	for (int r = acl_get_entry(acl, ACL_FIRST_ENTRY, &e); r == 1;
		r = acl_get_entry(acl, ACL_NEXT_ENTRY, &e))
		read_entry(p, e, &mask);
	p->group &= mask;
	for (unsigned i = 0; i < p->n; i++)
		p->named[i].perm &= mask;
	return NFS4_OK;
}

/* --- to a client ---------------------------------------------------------------------------- */

struct writer {
	struct xdr_out x;
	uint32_t n;
	uint32_t inherit; /* flags of every entry */
	bool dir;
};

static uint32_t rights(const struct writer *w, unsigned perm)
{
	uint32_t m = perm & R ? ACE4_READ_DATA : 0;

	if (perm & W)
		m |= ACE4_WRITE_DATA | ACE4_APPEND_DATA | (w->dir ? ACE4_DELETE_CHILD : 0);
	return m | (perm & X ? ACE4_EXECUTE : 0);
}

static void put(struct writer *w, uint32_t type, enum subject s, uint32_t id, unsigned perm)
{
	struct nfs4_ace ace = {.type = type, .flag = w->inherit, .access_mask = rights(w, perm)};
	char who[16];

	if (type == ACE4_ACCESS_DENIED && !perm)
		return;
	if (type == ACE4_ACCESS_ALLOWED) { /* rights that every user has, and the owner's */
		ace.access_mask |= ACE4_READ_ATTRIBUTES | ACE4_READ_ACL | ACE4_SYNCHRONIZE;
		if (s == OWNER)
			ace.access_mask |= ACE4_WRITE_ATTRIBUTES | ACE4_WRITE_ACL;
	}
	if (s == NAMED_GROUP)
		ace.flag |= ACE4_IDENTIFIER_GROUP;
	snprintf(who, sizeof(who), "%u", id);
	ace.who.s = s == OWNER	    ? "OWNER@"
		    : s == GROUP    ? "GROUP@"
		    : s == EVERYONE ? "EVERYONE@"
				    : who;
	ace.who.len = (uint32_t)strlen(ace.who.s);
	nfs4_put_ace(&w->x, &ace);
	w->n++;
}

static void put_posix(struct writer *w, const struct posix *p)
{
	unsigned groups = p->group | p->other, all = groups;

	for (unsigned i = 0; i < p->n; i++) {
		all |= p->named[i].perm;
		groups |= p->named[i].group ? p->named[i].perm : 0;
	}
	put(w, ACE4_ACCESS_DENIED, OWNER, 0, all & ~p->owner);
	put(w, ACE4_ACCESS_ALLOWED, OWNER, 0, p->owner);
	for (unsigned i = 0; i < p->n; i++) {
		const struct named *u = &p->named[i];

		if (u->group)
			continue;
		put(w, ACE4_ACCESS_DENIED, USER, u->id, groups & ~u->perm);
		put(w, ACE4_ACCESS_ALLOWED, USER, u->id, u->perm);
	}
	put(w, ACE4_ACCESS_ALLOWED, GROUP, 0, p->group);
	for (unsigned i = 0; i < p->n; i++)
		if (p->named[i].group)
			put(w, ACE4_ACCESS_ALLOWED, NAMED_GROUP, p->named[i].id, p->named[i].perm);
	put(w, ACE4_ACCESS_DENIED, GROUP, 0, p->other & ~p->group);
	for (unsigned i = 0; i < p->n; i++)
		if (p->named[i].group)
			put(w, ACE4_ACCESS_DENIED, NAMED_GROUP, p->named[i].id,
				p->other & ~p->named[i].perm);
	put(w, ACE4_ACCESS_ALLOWED, EVERYONE, 0, p->other);
}

static uint32_t put_kind(struct writer *w, const struct obj *o, acl_type_t type)
{
	char path[OBJ_PATH_SIZE];
	acl_t acl = acl_get_file(obj_path(o, path), type);
	struct posix p;
	uint32_t status;

	if (!acl)
		return nfs4_errno_status(errno);
	status = read_posix(acl, &p);
	if (status == NFS4_OK && acl_entries(acl) > 0)
		put_posix(w, &p);
	free(p.named);
	acl_free(acl);
	return status;
}

uint32_t acl_get(const struct obj *o, struct nfs4_opaque *out)
{
	/* each entry twice, to allow and to deny, in both of a directory's ACLs */
	const size_t cap = 4 + 4 * (ENTRIES_MAX + 4) * ACE_MAX;
	struct writer w = {.dir = S_ISDIR(o->type)};
	uint8_t *buf = malloc(cap), *fit;
	uint32_t status;

	if (!buf)
		return NFS4ERR_DELAY;
	xdr_out_init(&w.x, buf, cap);
	xdr_put_u32(&w.x, 0);
	status = put_kind(&w, o, ACL_TYPE_ACCESS);
	if (status == NFS4_OK && w.dir) {
		w.inherit = ACE4_FILE_INHERIT | ACE4_DIRECTORY_INHERIT | ACE4_INHERIT_ONLY;
		status = put_kind(&w, o, ACL_TYPE_DEFAULT);
	}
	if (status == NFS4_OK && !xdr_out_ok(&w.x))
		status = NFS4ERR_SERVERFAULT;
	if (status != NFS4_OK) {
		free(buf);
		return status;
	}
	xdr_patch_u32(&w.x, 0, w.n);
	fit = realloc(buf, w.x.len);
	*out = (struct nfs4_opaque){fit ? fit : buf, (uint32_t)w.x.len};
	return NFS4_OK;
}

/* --- from a client -------------------------------------------------------------------------- */

struct entry {
	bool deny;
	enum subject subject;
	uint32_t id;
	unsigned perm;
	bool here, inherited; /* applies to the object; to new objects in it */
};

/* A POSIX right stands for one or more NFSv4 rights. The POSIX right is allowed if all its NFSv4
 * rights are allowed, and denied if any is denied. */
static unsigned perm_of_rights(uint32_t m, bool deny, bool dir)
{
	const uint32_t w = ACE4_WRITE_DATA | ACE4_APPEND_DATA | (dir ? ACE4_DELETE_CHILD : 0);
	unsigned perm = m & ACE4_READ_DATA ? R : 0;

	if (deny ? (m & w) != 0 : (m & w) == w)
		perm |= W;
	return perm | (m & ACE4_EXECUTE ? X : 0);
}

static uint32_t take_who(struct idmap *names, const struct nfs4_ace *ace, struct entry *e)
{
	static const struct {
		const char *who;
		enum subject subject;
	} special[] = {{"OWNER@", OWNER}, {"GROUP@", GROUP}, {"EVERYONE@", EVERYONE}};

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (ace->who.len == strlen(special[i].who) &&
			memcmp(ace->who.s, special[i].who, ace->who.len) == 0) {
			e->subject = special[i].subject;
			return NFS4_OK;
		}
	}
	e->subject = ace->flag & ACE4_IDENTIFIER_GROUP ? NAMED_GROUP : USER;
	return names_owner(names, &ace->who, e->subject == NAMED_GROUP, &e->id);
}

static uint32_t take_ace(struct idmap *names, const struct nfs4_ace *ace, bool dir, struct entry *e)
{
	const uint32_t both = ACE4_FILE_INHERIT | ACE4_DIRECTORY_INHERIT;
	const uint32_t known = both | ACE4_INHERIT_ONLY | ACE4_IDENTIFIER_GROUP | ACE4_INHERITED;

	if (ace->type != ACE4_ACCESS_ALLOWED && ace->type != ACE4_ACCESS_DENIED)
		return NFS4ERR_ATTRNOTSUPP;
	/* a default ACL is for files and directories alike, and for nothing but directories' own */
	if (ace->flag & ~known || ((ace->flag & both) && (ace->flag & both) != both) ||
		(!dir && ace->flag & both) ||
		(ace->flag & ACE4_INHERIT_ONLY && !(ace->flag & both)))
		return NFS4ERR_ATTRNOTSUPP;
	e->deny = ace->type == ACE4_ACCESS_DENIED;
	e->perm = perm_of_rights(ace->access_mask, e->deny, dir);
	e->inherited = ace->flag & both;
	e->here = !(ace->flag & ACE4_INHERIT_ONLY);
	return take_who(names, ace, e);
}

/* Does e surely (or, to deny, perhaps) mean the subject? */
static bool means(const struct entry *e, enum subject s, uint32_t id)
{
	if (e->subject == EVERYONE)
		return true;
	if (e->subject == s && (s == OWNER || s == GROUP || e->id == id))
		return true;
	if (!e->deny)
		return false;
	switch (s) {
	case OWNER:
		return true;
	case USER:
	case GROUP:
	case NAMED_GROUP:
		return e->subject == GROUP || e->subject == NAMED_GROUP;
	default:
		return false;
	}
}

static unsigned granted(
	const struct entry *list, uint32_t n, bool inherited, enum subject s, uint32_t id)
{
	unsigned allow = 0, deny = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct entry *e = &list[i];

		if (!(inherited ? e->inherited : e->here) || !means(e, s, id))
			continue;
		if (e->deny)
			deny |= e->perm & ~allow;
		else
			allow |= e->perm & ~deny;
	}
	return allow;
}

static int add(acl_t *acl, acl_tag_t tag, uint32_t id, unsigned perm)
{
	acl_permset_t set;
	acl_entry_t e;

	if (acl_create_entry(acl, &e) != 0 || acl_set_tag_type(e, tag) != 0 ||
		((tag == ACL_USER || tag == ACL_GROUP) && acl_set_qualifier(e, &id) != 0) ||
		acl_get_permset(e, &set) != 0 || acl_clear_perms(set) != 0)
		return -errno;
	if ((perm & R && acl_add_perm(set, ACL_READ) != 0) ||
		(perm & W && acl_add_perm(set, ACL_WRITE) != 0) ||
		(perm & X && acl_add_perm(set, ACL_EXECUTE) != 0))
		return -errno;
	return 0;
}

/* Is list[i] the first entry for its user or group? */
static bool is_first(const struct entry *list, uint32_t i, bool inherited)
{
	for (uint32_t k = 0; k < i; k++)
		if (list[k].subject == list[i].subject && list[k].id == list[i].id &&
			(inherited ? list[k].inherited : list[k].here))
			return false;
	return true;
}

/* Fills *acl (to be freed even on failure) with the entries of list. 0 or -errno. */
static int make_posix(const struct entry *list, uint32_t n, bool inherited, acl_t *acl)
{
	bool named = false;
	int r;

	r = add(acl, ACL_USER_OBJ, 0, granted(list, n, inherited, OWNER, 0));
	if (r == 0)
		r = add(acl, ACL_GROUP_OBJ, 0, granted(list, n, inherited, GROUP, 0));
	if (r == 0)
		r = add(acl, ACL_OTHER, 0, granted(list, n, inherited, EVERYONE, 0));
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		const struct entry *e = &list[i];

		if ((e->subject != USER && e->subject != NAMED_GROUP) ||
			!(inherited ? e->inherited : e->here) || !is_first(list, i, inherited))
			continue;
		named = true;
		r = add(acl, e->subject == USER ? ACL_USER : ACL_GROUP, e->id,
			granted(list, n, inherited, e->subject, e->id));
	}
	if (r == 0 && named && acl_calc_mask(acl) != 0)
		r = -errno;
	return r;
}

static int set_kind(const struct obj *o, const struct entry *list, uint32_t n, bool inherited)
{
	char path[OBJ_PATH_SIZE];
	bool any = !inherited;
	acl_t acl;
	int r;

	obj_path(o, path);
	for (uint32_t i = 0; i < n; i++)
		any |= list[i].inherited;
	if (!any)
		return acl_delete_def_file(path) == 0 ? 0 : -errno;
	acl = acl_init((int)n + 4);
	if (!acl)
		return -ENOMEM;
	r = make_posix(list, n, inherited, &acl);
	if (r == 0 && acl_set_file(path, inherited ? ACL_TYPE_DEFAULT : ACL_TYPE_ACCESS, acl) != 0)
		r = -errno;
	acl_free(acl);
	return r;
}

uint32_t acl_set(struct idmap *names, const struct obj *o, const struct nfs4_opaque *xdr)
{
	bool dir = S_ISDIR(o->type);
	uint32_t status = NFS4_OK, n;
	struct entry *list;
	struct xdr_in x;
	int r;

	xdr_in_init(&x, xdr->data, xdr->len);
	n = xdr_get_count(&x, NFS4_ACES_MAX, 16);
	if (n > ENTRIES_MAX)
		return NFS4ERR_NOSPC;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return NFS4ERR_DELAY;
	for (uint32_t i = 0; i < n && status == NFS4_OK; i++) {
		struct nfs4_ace ace;

		status = nfs4_get_ace(&x, &ace) < 0 ? NFS4ERR_BADXDR
						    : take_ace(names, &ace, dir, &list[i]);
	}
	if (status == NFS4_OK) {
		r = set_kind(o, list, n, false);
		if (r == 0 && dir)
			r = set_kind(o, list, n, true);
		status = nfs4_errno_status(r);
	}
	free(list);
	return status;
}
