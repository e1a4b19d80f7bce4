/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/ops/nfs4_ops_xattr: which requests are sent at all, and the results of
 * answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-answer.h"
#include "nfsproto/v4/ops/nfs4_ops_xattr.h"

static struct answer a;
static struct nfs4_server srv;
static struct nfs4_client c;

static int setup(void **state)
{
	memset(&c, 0, sizeof(c));
	c.srv = &srv;
	srv.minor = 2;
	srv.request_max = srv.fore.maxresponsesize = 1u << 20;
	c.base.info.features = NFS_HAS_XATTR | NFS_HAS_ACL;
	return 0;
}

static void what_cannot_be_is_not_sent(void **state)
{
	static const uint8_t none[4], half[8] = {0, 0, 0, 1};
	struct nfs_op set = {.type = NFS_SETXATTR}, acl = {.type = NFS_SETACL};

	set.u.setxattr.len = 65536;
	assert_int_equal(nfs4_xattr_check(&c, &set), 0);
	set.u.setxattr.len = 65537;
	assert_int_equal(nfs4_xattr_check(&c, &set), -E2BIG);
	srv.request_max = 8192;
	set.u.setxattr.len = 8000;
	assert_int_equal(nfs4_xattr_check(&c, &set), -E2BIG);
	acl.u.setacl.value = none;
	acl.u.setacl.len = sizeof(none);
	assert_int_equal(nfs4_xattr_check(&c, &acl), 0);
	acl.u.setacl.value = half;
	acl.u.setacl.len = sizeof(half);
	assert_int_equal(nfs4_xattr_check(&c, &acl), -EINVAL);
	acl.u.setacl.len = 0;
	assert_int_equal(nfs4_xattr_check(&c, &acl), -EINVAL);
	c.base.info.features = 0;
	set.u.setxattr.len = 1;
	assert_int_equal(nfs4_xattr_check(&c, &set), -EOPNOTSUPP);
	assert_int_equal(nfs4_xattr_check(&c, &acl), -EOPNOTSUPP);
}

static int get(uint32_t room, const char *value, uint32_t *len, char buf[8])
{
	struct nfs_op op = {.type = NFS_GETXATTR, .be.v4.kind = NFS_GETXATTR};
	struct nfs4_getxattr_res res = {{(const uint8_t *)value, (uint32_t)strlen(value)}};
	int rc;

	memset(buf, '-', 8);
	op.u.getxattr.buf = buf;
	op.u.getxattr.size = room;
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_put_getxattr_res(&a.x, NFS4_OK, &res);
	answer_add(&a);
	rc = answer_read(&a, &c, &op, NFS4_OK);
	*len = op.u.getxattr.len;
	return rc;
}

static void values_need_room(void **state)
{
	struct nfs_op op = {.type = NFS_GETXATTR, .be.v4.kind = NFS_GETXATTR};
	char buf[8];
	uint32_t len;

	assert_int_equal(get(0, "value", &len, buf), 0);
	assert_int_equal(len, 5);
	assert_int_equal(buf[0], '-');
	assert_int_equal(get(5, "value", &len, buf), 0);
	assert_memory_equal(buf, "value---", 8);
	assert_int_equal(get(4, "value", &len, buf), -ERANGE);
	assert_int_equal(buf[0], '-');
	assert_int_equal(get(4, "", &len, buf), 0);
	assert_int_equal(len, 0);
	assert_int_equal(answer_status(&a, &c, &op, OP_GETXATTR, NFS4ERR_NOXATTR), NFS4ERR_NOXATTR);
	assert_int_equal(nfs4_status_errno(NFS4ERR_NOXATTR), -ENODATA);
	assert_int_equal(answer_status(&a, &c, &op, OP_GETXATTR, NFS4ERR_REP_TOO_BIG), -E2BIG);
}

/* A page of names, then cookie and eof. */
static int list(struct nfs_op *op, uint64_t cookie, bool eof, unsigned n, const char *const *names)
{
	struct nfs4_xattrs l;

	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_xattrs_begin(&l, &a.x, 16000, 0);
	for (unsigned i = 0; i < n; i++) {
		struct nfs_name name = {names[i], (uint32_t)strlen(names[i])};

		assert_true(nfs4_xattrs_add(&l, &name));
	}
	if (n > 0 || eof)
		assert_int_equal(nfs4_xattrs_end(&l, cookie, eof), NFS4_OK);
	else
		xdr_put_bool(&a.x, false);
	answer_add(&a);
	return answer_read(&a, &c, op, NFS4_OK);
}

static struct nfs_op list_op(char *buf, uint32_t size)
{
	struct nfs_op op = {.type = NFS_LISTXATTR, .be.v4.kind = NFS_LISTXATTR};

	op.u.listxattr.buf = buf;
	op.u.listxattr.size = size;
	return op;
}

static void names_are_gathered_from_pages(void **state)
{
	static const char *const one[] = {"a", "bb"}, *const two[] = {"ccc"};
	static const char want[] = "user.a\0user.bb\0user.ccc";
	char buf[64];

	for (uint32_t size = 0; size <= sizeof(buf); size++) {
		struct nfs_op op = list_op(buf, size);
		int rc = list(&op, 7, false, 2, one);

		if (size > 0 && size < 15) {
			assert_int_equal(rc, -ERANGE);
			continue;
		}
		assert_int_equal(rc, ANSWER_AGAIN);
		assert_int_equal(op.be.v4.more[0], 7);
		rc = list(&op, 0, true, 1, two);
		assert_int_equal(rc, size > 0 && size < sizeof(want) ? -ERANGE : 0);
		if (rc)
			continue;
		assert_int_equal(op.u.listxattr.len, sizeof(want));
		if (size)
			assert_memory_equal(buf, want, sizeof(want));
	}
}

static void lists_that_do_not_end_are_noticed(void **state)
{
	static const char *const one[] = {"a"};
	static char name[251];
	const char *const too_long[] = {name};
	struct nfs_op op = list_op(NULL, 0);
	unsigned pages = 0;
	int rc;

	assert_int_equal(list(&op, 7, false, 1, one), ANSWER_AGAIN);
	assert_int_equal(list(&op, 7, false, 1, one), -EBADMSG);  /* no further */
	assert_int_equal(list(&op, 8, false, 0, NULL), -EBADMSG); /* nothing */

	memset(name, 'n', 250);
	op = list_op(NULL, 0);
	assert_int_equal(list(&op, 0, true, 1, too_long), 0);
	assert_int_equal(op.u.listxattr.len, 256);
	op = list_op(NULL, 0);
	do {
		rc = list(&op, ++pages, false, 1, too_long);
	} while (rc == ANSWER_AGAIN);
	assert_int_equal(rc, -E2BIG);
	assert_int_equal(pages, 65536 / 256 + 1);
}

static void acls_go_as_they_are(void **state)
{
	static const uint8_t acl[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6,
		'O', 'W', 'N', 'E', 'R', '@', 0, 0};
	struct nfs_op op = {.type = NFS_GETACL, .be.v4.kind = NFS_GETACL};
	struct nfs4_getattr_res res = {
		{.mask = nfs4_bits(FATTR4_ACL, -1), .vals = {acl, sizeof(acl)}}};
	uint8_t buf[64];

	op.u.getacl.buf = buf;
	op.u.getacl.size = sizeof(buf);
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_put_getattr_res(&a.x, NFS4_OK, &res);
	answer_add(&a);
	assert_int_equal(answer_read(&a, &c, &op, NFS4_OK), 0);
	assert_int_equal(op.u.getacl.len, sizeof(acl));
	assert_memory_equal(buf, acl, sizeof(acl));

	res = (struct nfs4_getattr_res){.attrs.vals.data = acl}; /* this object has no ACL */
	answer_begin(&a);
	answer_ok(&a, OP_PUTFH);
	nfs4_put_getattr_res(&a.x, NFS4_OK, &res);
	answer_add(&a);
	assert_int_equal(answer_read(&a, &c, &op, NFS4_OK), -EOPNOTSUPP);
}

#define T(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_cannot_be_is_not_sent),
		T(values_need_room),
		T(names_are_gathered_from_pages),
		T(lists_that_do_not_end_are_noticed),
		T(acls_go_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
