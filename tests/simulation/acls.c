/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * acls: see acls.h.
 */
#include "tests/simulation/acls.h"

#include <errno.h>
#include <string.h>

#include "tests/simulation/journal.h"
#include "tests/simulation/paths.h"

#define VERSION	     2
#define HEAD	     4
#define ENTRIES_MOST 1100

enum tag { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 16, OTHER = 32 };

struct item {
	uint16_t tag, perm;
	uint32_t id;
};

struct acl {
	size_t n;
	struct item item[ENTRIES_MOST];
};

static int parse(const void *value, size_t len, struct acl *acl)
{
	uint32_t version;

	acl->n = 0;
	if (len < HEAD || (len - HEAD) % sizeof(struct item) ||
		(len - HEAD) / sizeof(struct item) > ENTRIES_MOST)
		return -EINVAL;
	memcpy(&version, value, HEAD);
	if (version != VERSION)
		return -EOPNOTSUPP;
	acl->n = (len - HEAD) / sizeof(struct item);
	memcpy(acl->item, (const char *)value + HEAD, len - HEAD);
	return 0;
}

static bool load(const struct inode *i, const char *name, struct acl *acl)
{
	const struct xattr *x = inode_xattr(i, name);

	return x && parse(x->value, x->len, acl) == 0;
}

static void store(struct inode *i, const char *name, const struct acl *acl)
{
	char buf[HEAD + sizeof(acl->item)];
	uint32_t version = VERSION;

	memcpy(buf, &version, HEAD);
	memcpy(buf + HEAD, acl->item, acl->n * sizeof(acl->item[0]));
	inode_set_xattr(i, name, buf, HEAD + acl->n * sizeof(acl->item[0]));
}

static struct item *find(struct acl *acl, enum tag tag)
{
	for (size_t k = 0; k < acl->n; k++)
		if (acl->item[k].tag == tag)
			return &acl->item[k];
	return NULL;
}

/* The entry that the mode's bits for the group show: the mask, or the group's own entry. */
static struct item *group_of(struct acl *acl)
{
	struct item *mask = find(acl, MASK);

	return mask ? mask : find(acl, GROUP_OBJ);
}

static bool is_whole(struct acl *acl)
{
	return find(acl, USER_OBJ) && find(acl, GROUP_OBJ) && find(acl, OTHER) &&
	       (acl->n == 3 || find(acl, MASK));
}

static mode_t mode_of(struct acl *acl)
{
	return (mode_t)((find(acl, USER_OBJ)->perm & 7) << 6 | (group_of(acl)->perm & 7) << 3 |
			(find(acl, OTHER)->perm & 7));
}

bool acls_allow(const struct inode *i, unsigned mask)
{
	struct acl acl;
	bool in_group = false;
	unsigned most;

	if (!load(i, ACLS_ACCESS, &acl) || !is_whole(&acl))
		return false;
	most = group_of(&acl)->perm;
	for (size_t k = 0; k < acl.n; k++)
		if (acl.item[k].tag == USER && acl.item[k].id == caller_uid())
			return !(mask & ~(acl.item[k].perm & most));
	for (size_t k = 0; k < acl.n; k++) {
		const struct item *t = &acl.item[k];

		if (!(t->tag == GROUP_OBJ && caller_in_group(i->a.gid)) &&
			!(t->tag == GROUP && caller_in_group(t->id)))
			continue;
		in_group = true;
		if (!(mask & ~(t->perm & (find(&acl, MASK) ? most : 7u))))
			return true;
	}
	return !in_group && !(mask & ~(unsigned)find(&acl, OTHER)->perm);
}

int acls_set(struct inode *i, const char *name, const void *value, size_t len)
{
	bool access = strcmp(name, ACLS_ACCESS) == 0;
	struct acl acl = {0};
	int r = value && len ? parse(value, len, &acl) : 0;

	if (r < 0)
		return r;
	if (!access && !S_ISDIR(i->a.mode))
		return acl.n ? -EACCES : 0;
	if (!caller_owns(i))
		return -EPERM;
	if (acl.n && !is_whole(&acl))
		return -EINVAL;
	if (access && acl.n) {
		i->a.mode = (i->a.mode & ~(mode_t)0777) | mode_of(&acl);
		if (!caller_is_root() && !caller_in_group(i->a.gid))
			i->a.mode &= ~(mode_t)S_ISGID;
	}
	if (acl.n == 0 || (access && acl.n == 3))
		inode_set_xattr(i, name, NULL, 0);
	else
		store(i, name, &acl);
	return 0;
}

void acls_chmod(struct inode *i)
{
	struct acl acl;

	if (!load(i, ACLS_ACCESS, &acl) || !is_whole(&acl))
		return;
	journal_xattr(i, ACLS_ACCESS);
	find(&acl, USER_OBJ)->perm = i->a.mode >> 6 & 7;
	group_of(&acl)->perm = i->a.mode >> 3 & 7;
	find(&acl, OTHER)->perm = i->a.mode & 7;
	store(i, ACLS_ACCESS, &acl);
}

bool acls_inherit(const struct inode *dir, struct inode *i)
{
	struct acl acl;

	if (!load(dir, ACLS_DEFAULT, &acl) || !is_whole(&acl))
		return false;
	if (S_ISDIR(i->a.mode))
		store(i, ACLS_DEFAULT, &acl);
	find(&acl, USER_OBJ)->perm &= i->a.mode >> 6 & 7;
	group_of(&acl)->perm &= i->a.mode >> 3 & 7;
	find(&acl, OTHER)->perm &= i->a.mode & 7;
	i->a.mode = (i->a.mode & ~(mode_t)0777) | mode_of(&acl);
	if (acl.n > 3)
		store(i, ACLS_ACCESS, &acl);
	return true;
}
