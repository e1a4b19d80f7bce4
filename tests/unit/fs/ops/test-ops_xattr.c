/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/ops/ops_xattr: extended attributes as the kernel asks for them, of a server that
 * has one attribute.
 */
#include <linux/limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <cmocka.h>

#include "tests/unit/fs/kernel-file.h"

#define ACL "system.nfs4_acl"

static char value[64]; /* the server's value */
static uint32_t value_len;
static char asked[NAME_MAX + 1]; /* the last name */
static int flags_seen;

static int give(void *buf, uint32_t size, uint32_t *len, const char *what, uint32_t what_len)
{
	*len = what_len;
	if (size && size < what_len)
		return -ERANGE;
	if (size)
		memcpy(buf, what, what_len);
	return 0;
}

static void note_name(const struct nfs_name *n)
{
	assert_true(n->len < sizeof(asked));
	memcpy(asked, n->s, n->len);
	asked[n->len] = 0;
}

static bool server(struct nfs_op *op)
{
	static const char names[] = "user.a\0user.b";

	op->error = 0;
	switch (op->type) {
	case NFS_GETXATTR:
		note_name(&op->u.getxattr.name);
		op->error = value_len ? give(op->u.getxattr.buf, op->u.getxattr.size,
						&op->u.getxattr.len, value, value_len)
				      : -ENODATA;
		return true;
	case NFS_SETXATTR:
		note_name(&op->u.setxattr.name);
		flags_seen = op->u.setxattr.flags;
		assert_true(op->u.setxattr.len <= sizeof(value));
		value_len = op->u.setxattr.len;
		if (value_len)
			memcpy(value, op->u.setxattr.value, value_len);
		return true;
	case NFS_REMOVEXATTR:
		note_name(&op->u.removexattr.name);
		op->error = value_len ? 0 : -ENODATA;
		value_len = 0;
		return true;
	case NFS_LISTXATTR:
		op->error = give(op->u.listxattr.buf, op->u.listxattr.size, &op->u.listxattr.len,
			names, sizeof(names));
		return true;
	case NFS_GETACL:
		op->error = give(
			op->u.getacl.buf, op->u.getacl.size, &op->u.getacl.len, value, value_len);
		return true;
	case NFS_SETACL:
		value_len = op->u.setacl.len;
		memcpy(value, op->u.setacl.value, value_len);
		return true;
	default:
		return false;
	}
}

static int setup_xattr(void **state)
{
	setup(state);
	fs->info.features |= NFS_HAS_XATTR | NFS_HAS_ACL;
	fake_knobs.script = server;
	value_len = 0;
	asked[0] = 0;
	flags_seen = -1;
	return 0;
}

static int set(const char *name, const char *what, uint32_t len, uint32_t how)
{
	struct fuse_setxattr_in in = {.size = len, .flags = how};
	size_t name_len = strlen(name) + 1;
	char more[512] = {0};

	assert_true(name_len + len <= sizeof(more));
	memcpy(more, name, name_len);
	memcpy(more + name_len, what, len);
	return kernel_ask(FUSE_SETXATTR, node, &in, FUSE_COMPAT_SETXATTR_IN_SIZE, more,
		name_len + len, NULL, 0);
}

static int drop(const char *name)
{
	return kernel_ask(FUSE_REMOVEXATTR, node, NULL, 0, name, strlen(name) + 1, NULL, 0);
}

/* The value's length, or an error. With size 0 only the length is asked for. */
static int get(const char *name, uint32_t size)
{
	struct fuse_getxattr_in in = {.size = size};
	struct answer a = kernel_wait(kernel_send(
		FUSE_GETXATTR, node, &in, sizeof(in), name, name ? strlen(name) + 1 : 0));

	if (a.error)
		return a.error;
	if (!size)
		return (int)((const struct fuse_getxattr_out *)a.data)->size;
	assert_true(a.len <= size);
	memcpy(back, a.data, a.len);
	return (int)a.len;
}

static int list(uint32_t size)
{
	struct fuse_getxattr_in in = {.size = size};
	struct answer a = kernel_wait(kernel_send(FUSE_LISTXATTR, node, &in, sizeof(in), NULL, 0));

	if (a.error)
		return a.error;
	if (!size)
		return (int)((const struct fuse_getxattr_out *)a.data)->size;
	memcpy(back, a.data, a.len);
	return (int)a.len;
}

/* --- values ----------------------------------------------------------------------------------- */

static void a_value_is_set_read_and_removed(void **state)
{
	assert_int_equal(get("user.colour", 64), -ENODATA);
	assert_int_equal(set("user.colour", "red", 3, XATTR_CREATE), 0);
	assert_string_equal(asked, "colour");
	assert_int_equal(flags_seen, XATTR_CREATE);
	assert_int_equal(get("user.colour", 0), 3);
	assert_int_equal(get("user.colour", 64), 3);
	assert_memory_equal(back, "red", 3);
	assert_int_equal(drop("user.colour"), 0);
	assert_int_equal(drop("user.colour"), -ENODATA);
}

static void a_value_may_be_empty(void **state)
{
	assert_int_equal(set("user.flag", "", 0, 0), 0);
	assert_int_equal(count(NFS_SETXATTR), 1);
	assert_int_equal(flags_seen, 0);
}

static void too_little_room_is_an_error(void **state)
{
	assert_int_equal(set("user.colour", "red", 3, 0), 0);
	assert_int_equal(get("user.colour", 2), -ERANGE);
	assert_int_equal(get("user.colour", 3), 3);
}

/* The longest name of Linux, and one more; no request may overrun its room for the name. */
static void names_are_bounded(void **state)
{
	char name[NAME_MAX + 16] = "user.";

	memset(name + 5, 'n', NAME_MAX - 5);
	assert_int_equal(set(name, "v", 1, 0), 0);
	assert_int_equal(strlen(asked), NAME_MAX - 5);
	memset(name + 5, 'n', NAME_MAX + 1);
	assert_int_equal(get(name, 64), -ERANGE);
	assert_int_equal(set(name, "v", 1, 0), -ERANGE);
	assert_int_equal(drop(name), -ERANGE);
}

/* --- attributes that are not carried ---------------------------------------------------------- */

static void others_are_refused_without_asking(void **state)
{
	assert_int_equal(get("security.capability", 64), -EOPNOTSUPP);
	assert_int_equal(set("trusted.x", "v", 1, 0), -EOPNOTSUPP);
	assert_int_equal(drop("system.posix_acl_access"), -EOPNOTSUPP);
	assert_int_equal(count(NFS_GETXATTR) + count(NFS_SETXATTR) + count(NFS_REMOVEXATTR), 0);
}

static void without_any_the_kernel_need_not_ask_again(void **state)
{
	fs->info.features &= ~(uint32_t)(NFS_HAS_XATTR | NFS_HAS_ACL);
	assert_int_equal(get("user.colour", 64), -ENOSYS);
	assert_int_equal(set("user.colour", "red", 3, 0), -ENOSYS);
	assert_int_equal(drop("user.colour"), -ENOSYS);
	/* an empty list is no error */
	assert_int_equal(list(0), 0);
	assert_int_equal(list(64), 0);
}

/* --- names ------------------------------------------------------------------------------------ */

static void the_list_begins_with_the_acl(void **state)
{
	const uint32_t len = sizeof(ACL) + 14;

	assert_int_equal(list(0), len);
	assert_int_equal(list(len), len);
	assert_memory_equal(back, ACL "\0user.a\0user.b", len);
	assert_int_equal(list(len - 1), -ERANGE);
	assert_int_equal(list(sizeof(ACL)), -ERANGE); /* full with the ACL alone */
	assert_int_equal(list(sizeof(ACL) - 1), -ERANGE);
}

static void acls_alone_are_listed_without_asking(void **state)
{
	fs->info.features &= ~(uint32_t)NFS_HAS_XATTR;
	assert_int_equal(list(0), sizeof(ACL));
	assert_int_equal(list(64), sizeof(ACL));
	assert_int_equal(count(NFS_LISTXATTR), 0);
}

/* No server has an ACL there. */
static void a_symbolic_link_has_no_acl_in_its_list(void **state)
{
	struct fuse_entry_out e;

	assert_int_equal(
		kernel_ask(FUSE_SYMLINK, KERNEL_ROOT, NULL, 0, "l\0to", 5, &e, sizeof(e)), 0);
	node = e.nodeid;
	assert_int_equal(list(0), 14);
	assert_int_equal(list(14), 14);
	assert_memory_equal(back, "user.a\0user.b", 14);
	assert_int_equal(list(13), -ERANGE);
	fs->info.features &= ~(uint32_t)NFS_HAS_XATTR;
	assert_int_equal(list(0), 0);
	assert_int_equal(list(64), 0);
	assert_int_equal(count(NFS_GETACL), 0);
}

static bool has_no_acl(struct nfs_op *op)
{
	if (op->type != NFS_GETACL)
		return server(op);
	op->error = -EOPNOTSUPP;
	return true;
}

/* The abilities of the mount are those of the root's file system. */
static void another_file_system_is_asked_for_an_acl(void **state)
{
	const uint32_t len = sizeof(ACL) + 14;

	inode_of(fs->inodes, node)->fsid_major++;
	assert_int_equal(list(len), len);
	assert_memory_equal(back, ACL "\0user.a\0user.b", len);
	assert_int_equal(list(len - 1), -ERANGE);
	fake_knobs.script = has_no_acl;
	assert_int_equal(get(ACL, 64), -EOPNOTSUPP);
	assert_int_equal(list(0), 14);
	assert_int_equal(list(14), 14);
	assert_memory_equal(back, "user.a\0user.b", 14);
}

/* Below a file system with extended attributes there may be one without. */
static void a_file_system_without_them_has_no_names(void **state)
{
	fake_knobs.script = NULL;
	fake_knobs.fail[NFS_LISTXATTR] = -EOPNOTSUPP;
	assert_int_equal(list(64), sizeof(ACL));
	fake_knobs.fail[NFS_LISTXATTR] = -EIO;
	assert_int_equal(list(64), -EIO);
}

/* --- the ACL ---------------------------------------------------------------------------------- */

/* A new ACL changes the mode: the kernel must ask for the attributes. */
static void an_acl_that_is_set_is_told_to_the_kernel(void **state)
{
	unsigned before = kernel_notified(FUSE_NOTIFY_INVAL_INODE);

	assert_int_equal(set(ACL, "\0\0\0\0", 4, 0), 0);
	assert_int_equal(count(NFS_SETACL), 1);
	assert_int_equal(count(NFS_GETATTR), 1);
	assert_int_equal(kernel_notified(FUSE_NOTIFY_INVAL_INODE), before + 1);
	assert_int_equal(get(ACL, 64), 4);
	assert_memory_equal(back, "\0\0\0\0", 4);
}

static void an_acl_cannot_be_removed(void **state)
{
	assert_int_equal(drop(ACL), -EINVAL);
	assert_int_equal(count(NFS_SETACL) + count(NFS_REMOVEXATTR), 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup_xattr, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_value_is_set_read_and_removed),
		T(a_value_may_be_empty),
		T(too_little_room_is_an_error),
		T(names_are_bounded),
		T(others_are_refused_without_asking),
		T(without_any_the_kernel_need_not_ask_again),
		T(the_list_begins_with_the_acl),
		T(acls_alone_are_listed_without_asking),
		T(a_symbolic_link_has_no_acl_in_its_list),
		T(another_file_system_is_asked_for_an_acl),
		T(a_file_system_without_them_has_no_names),
		T(an_acl_that_is_set_is_told_to_the_kernel),
		T(an_acl_cannot_be_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
