/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_xattr: extended attributes.
 *
 *     user.NAME         a user extended attribute of NFSv4.2
 *     system.nfs4_acl   the NFSv4 ACL as XDR, in the form of nfs4_getfacl(1) and nfs4_setfacl(1)
 *
 * The protocol carries no other attributes. The daemon refuses other names without asking the
 * server: kernels before Linux 5.12 look for security.capability before each write. When the mount
 * has neither kind, ENOSYS tells the kernel not to ask again.
 */
#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "fs/coherence/change.h"
#include "fs/lookup/entry.h"
#include "fs/ops/ops.h"
#include "transport/clock.h"

#define USER	 "user."
#define USER_LEN 5
#define ACL	 "system.nfs4_acl"

struct xattr_state {
	uint32_t size;	/* of text; 0: only the length is asked for */
	uint32_t acl;	/* bytes of the ACL's name in a list */
	uint64_t asked; /* when the attributes after SETACL were asked for */
};

static struct xattr_state *xattr_of(const struct request *r)
{
	return request_state(r, struct xattr_state);
}

enum xattr_kind { XATTR_NO, XATTR_USER, XATTR_ACL };

static enum xattr_kind kind_of(const struct fs *fs, const char *name)
{
	if (!strncmp(name, USER, USER_LEN) && fs->info.features & NFS_HAS_XATTR)
		return XATTR_USER;
	if (!strcmp(name, ACL) && fs->info.features & NFS_HAS_ACL)
		return XATTR_ACL;
	return XATTR_NO;
}

static int refusal(const struct fs *fs)
{
	return fs->info.features & (NFS_HAS_XATTR | NFS_HAS_ACL) ? EOPNOTSUPP : ENOSYS;
}

/* A request about ino with room for size bytes in text. NULL: req has been answered. */
static struct request *xattr_request(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);

	if (!r)
		return NULL;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	xattr_of(r)->size = (uint32_t)size;
	if (size) {
		r->text = malloc(size);
		if (!r->text) {
			request_end(r, -ENOMEM);
			return NULL;
		}
	}
	return r;
}

/* Sets *out to a name without its "user.". */
static bool set_name(struct request *r, struct nfs_name *out, const char *name)
{
	return request_set_name(r->name, out, name + USER_LEN);
}

/* Answers with len bytes of text, or with len if only the length was asked for. */
static void reply_value(struct request *r, uint32_t len)
{
	bool ask = !xattr_of(r)->size;
	char *text = r->text;
	fuse_req_t fuse;

	r->text = NULL;
	fuse = request_take_fuse(r);
	request_free(r);
	if (ask)
		fuse_reply_xattr(fuse, len);
	else
		fuse_reply_buf(fuse, text, len);
	free(text);
}

/* --- getxattr --------------------------------------------------------------------------------- */

static void getxattr_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (op->error)
		request_end(r, op->error);
	else
		reply_value(r, op->u.getxattr.len);
}

static void getacl_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (op->error)
		request_end(r, op->error);
	else
		reply_value(r, op->u.getacl.len);
}

void ops_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	enum xattr_kind kind = kind_of(fs_of(req), name);
	struct request *r;
	struct nfs_op *op;

	if (kind == XATTR_NO) {
		fuse_reply_err(req, refusal(fs_of(req)));
		return;
	}
	r = xattr_request(req, ino, size < XATTR_SIZE_MAX ? size : XATTR_SIZE_MAX);
	if (!r)
		return;
	if (kind == XATTR_ACL) {
		op = request_op(r, NFS_GETACL, getacl);
		op->u.getacl.fh = r->inode->fh;
		op->u.getacl.buf = r->text;
		op->u.getacl.size = xattr_of(r)->size;
		request_submit(r, getacl_done);
		return;
	}
	op = request_op(r, NFS_GETXATTR, getxattr);
	op->u.getxattr.fh = r->inode->fh;
	op->u.getxattr.buf = r->text;
	op->u.getxattr.size = xattr_of(r)->size;
	if (set_name(r, &op->u.getxattr.name, name))
		request_submit(r, getxattr_done);
	else
		request_end(r, -ERANGE);
}

/* --- listxattr -------------------------------------------------------------------------------- */

enum acl_listed { ACL_LISTED, ACL_NOT_LISTED, ACL_ASKED };

/* Is the ACL's name in the list of ino? Only where getxattr answers it. Symbolic links have no ACL,
 * and the mount's features are those of its root's file system: elsewhere the server is asked. */
static enum acl_listed acl_listed(const struct fs *fs, const struct inode *ino)
{
	if (!(fs->info.features & NFS_HAS_ACL) || ino->type == NFS_LNK)
		return ACL_NOT_LISTED;
	return inode_same_fs(ino, inode_table_root(fs->inodes)) ? ACL_LISTED : ACL_ASKED;
}

/* Answers with an empty list, which is no error. ENOSYS would become one. */
static void reply_nothing(fuse_req_t req, size_t size)
{
	if (size)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_xattr(req, 0);
}

static void listxattr_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	/* a file system without extended attributes, below one that has them */
	if (op->error && op->error != -EOPNOTSUPP)
		request_end(r, op->error);
	else
		reply_value(r, xattr_of(r)->acl + (op->error ? 0 : op->u.listxattr.len));
}

/* The list begins with the first acl bytes of the ACL's name: with all, or with none. */
static void list(struct request *r, uint32_t acl)
{
	uint32_t size = xattr_of(r)->size;
	struct nfs_op *op;

	if (size && size < acl) {
		request_end(r, -ERANGE);
		return;
	}
	if (size && acl)
		memcpy(r->text, ACL, acl);
	xattr_of(r)->acl = acl;
	if (!(r->fs->info.features & NFS_HAS_XATTR)) {
		reply_value(r, acl);
		return;
	}
	op = request_op(r, NFS_LISTXATTR, listxattr);
	op->u.listxattr.fh = r->inode->fh;
	if (size > acl) {
		op->u.listxattr.buf = r->text + acl;
		op->u.listxattr.size = size - acl;
	} else if (size) {
		/* full already: any other name is too much */
		op->u.listxattr.buf = r->name;
		op->u.listxattr.size = 1;
	}
	request_submit(r, listxattr_done);
}

static void acl_asked(struct request *r)
{
	list(r, r->batch.first.op.error == -EOPNOTSUPP ? 0 : sizeof(ACL));
}

void ops_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	enum acl_listed acl;
	struct request *r;
	struct nfs_op *op;

	if (!(fs_of(req)->info.features & (NFS_HAS_XATTR | NFS_HAS_ACL))) {
		reply_nothing(req, size);
		return;
	}
	r = xattr_request(req, ino, size < XATTR_LIST_MAX ? size : XATTR_LIST_MAX);
	if (!r)
		return;
	acl = acl_listed(r->fs, r->inode);
	if (acl != ACL_ASKED) {
		list(r, acl == ACL_LISTED ? sizeof(ACL) : 0);
		return;
	}
	op = request_op(r, NFS_GETACL, getacl); /* only for the length */
	op->u.getacl.fh = r->inode->fh;
	request_submit(r, acl_asked);
}

/* --- setxattr and removexattr ----------------------------------------------------------------- */

static void change_done(struct request *r)
{
	inode_touch_end(r->inode);
	request_end(r, r->batch.first.op.error);
}

/* Sends r, which changes the attribute `name`. of: the operation's name. */
static void change_submit(struct request *r, struct nfs_name *of, const char *name)
{
	if (!set_name(r, of, name)) {
		request_end(r, -ERANGE);
		return;
	}
	inode_touch_begin(r->inode);
	request_submit(r, change_done);
}

static void setacl_noted(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (op->error)
		attrs_doubt_rights(&r->inode->attrs);
	else
		entry_note_attr(r->fs, r->inode, &op->u.getattr.attr, xattr_of(r)->asked);
	change_notify(r->fs, r->inode, -1);
	request_end(r, 0);
}

/* An ACL also changes the mode, which the kernel does not know, and the rights of users. */
static void setacl_done(struct request *r)
{
	inode_touch_end(r->inode);
	if (r->batch.first.op.error) {
		request_end(r, r->batch.first.op.error);
		return;
	}
	attrs_doubt_rights(&r->inode->attrs);
	xattr_of(r)->asked = clock_ns();
	request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = r->inode->fh;
	request_submit(r, setacl_noted);
}

void ops_setxattr(
	fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	enum xattr_kind kind = kind_of(fs_of(req), name);
	struct request *r;
	struct nfs_op *op;

	if (kind == XATTR_NO || size > XATTR_SIZE_MAX) {
		fuse_reply_err(req, kind == XATTR_NO ? refusal(fs_of(req)) : E2BIG);
		return;
	}
	r = xattr_request(req, ino, size);
	if (!r)
		return;
	if (size)
		memcpy(r->text, value, size);
	if (kind == XATTR_ACL) {
		op = request_op(r, NFS_SETACL, setacl);
		op->u.setacl.fh = r->inode->fh;
		op->u.setacl.value = r->text;
		op->u.setacl.len = xattr_of(r)->size;
		inode_touch_begin(r->inode);
		request_submit(r, setacl_done);
		return;
	}
	op = request_op(r, NFS_SETXATTR, setxattr);
	op->u.setxattr.fh = r->inode->fh;
	op->u.setxattr.value = r->text;
	op->u.setxattr.len = xattr_of(r)->size;
	op->u.setxattr.flags = flags;
	change_submit(r, &op->u.setxattr.name, name);
}

void ops_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	enum xattr_kind kind = kind_of(fs_of(req), name);
	struct request *r;
	struct nfs_op *op;

	if (kind != XATTR_USER) {
		/* every object has an ACL: it can be changed, but not removed */
		fuse_reply_err(req, kind == XATTR_ACL ? EINVAL : refusal(fs_of(req)));
		return;
	}
	r = xattr_request(req, ino, 0);
	if (!r)
		return;
	op = request_op(r, NFS_REMOVEXATTR, removexattr);
	op->u.removexattr.fh = r->inode->fh;
	change_submit(r, &op->u.removexattr.name, name);
}
