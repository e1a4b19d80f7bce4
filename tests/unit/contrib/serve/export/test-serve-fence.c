/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/fence, and of data servers: a data server and a metadata
 * server of one directory, with one key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/obj_table.h"
#include "contrib/serve/ops/xattr.h"
#include "tests/unit/contrib/serve/v3/serve-v3.h"

/* A metadata server's view of the directory of the data server e, with a file "f" that nobody may
 * open, of 4 bytes. */
struct site {
	struct serve_env *e;
	struct obj_table *meta;
	struct obj *f;
	struct nfs_fh fh;
};

static struct site site_of(struct serve_env *e)
{
	static const uint8_t secret[HANDLE_KEY] = "a test's secret"; /* as in serve-env.c */
	struct site s = {.e = e};
	struct obj *root;
	struct err err;
	char path[128];
	int fd;

	env_path(e, "f", path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT, 0);
	assert_int_equal(write(fd, "data", 4), 4);
	close(fd);
	s.meta = obj_table_new(e->dir, secret, 0, &err);
	assert_non_null(s.meta);
	root = obj_root(s.meta);
	assert_int_equal(obj_lookup(s.meta, root, "f", 1, &s.f, NULL), 0);
	obj_unref(s.meta, root);
	s.fh.len = obj_handle(s.meta, s.f, s.fh.data);
	return s;
}

static void site_end(struct site *s)
{
	obj_unref(s->meta, s->f);
	obj_table_free(s->meta);
}

/* From now on the caller has f's ids. */
static void take_ids(struct site *s, bool user, bool group)
{
	struct fence_ids ids;

	assert_int_equal(fence_ids(s->meta, s->f, &ids), 0);
	assert_in_range(ids.uid, 1u << 30, INT32_MAX);
	assert_in_range(ids.gid, 1u << 30, INT32_MAX);
	s->e->uid = user ? ids.uid : IDENT_ANON;
	s->e->gid = group ? ids.gid : IDENT_ANON;
}

static int setup_data_server(void **state)
{
	setup(state);
	((struct serve_env *)*state)->sv.data_server = true;
	return 0;
}

static uint32_t try_read(struct site *s)
{
	struct nfs3_args a = {.proc = NFS3PROC_READ};
	struct nfs3_res r;

	a.u.read = (struct nfs3_read_args){.fh = s->fh, .count = 100};
	return call(s->e, &a, &r);
}

static uint32_t try_write(struct site *s)
{
	struct nfs3_res r;

	return write_at(s->e, &s->fh, 0, "DATA", &r);
}

static uint32_t try_commit(struct site *s)
{
	struct nfs3_args a = {.proc = NFS3PROC_COMMIT};
	struct nfs3_res r;

	a.u.commit = (struct nfs3_commit_args){.fh = s->fh};
	return call(s->e, &a, &r);
}

static void the_user_writes_and_the_group_reads(void **state)
{
	struct site s = site_of(*state);

	take_ids(&s, true, true);
	assert_int_equal(try_read(&s), NFS3_OK);
	assert_int_equal(try_write(&s), NFS3_OK);
	assert_int_equal(try_commit(&s), NFS3_OK);
	take_ids(&s, false, true);
	assert_int_equal(try_read(&s), NFS3_OK);
	assert_int_equal(try_write(&s), NFS3ERR_ACCES);
	assert_int_equal(try_commit(&s), NFS3ERR_ACCES);
	take_ids(&s, false, false);
	assert_int_equal(try_read(&s), NFS3ERR_ACCES);
	s.e->uid = s.e->gid = 0; /* the file's owner */
	assert_int_equal(try_read(&s), NFS3ERR_ACCES);
	assert_int_equal(try_write(&s), NFS3ERR_ACCES);
	site_end(&s);
}

/* Can a file of this file system be fenced? */
static bool has_attributes(const struct site *s)
{
	return geteuid() == 0 || setxattr(s->e->dir, "user.rnfs", "", 0, 0) == 0;
}

/* The metadata server fences f: the data server refuses the ids given out before, at once. */
static void a_fence_is_seen_by_the_data_server(void **state)
{
	struct site s = site_of(*state);

	take_ids(&s, true, true);
	assert_int_equal(try_write(&s), NFS3_OK);
	assert_false(fence_is_new(s.meta, s.f));
	fence_raise(s.meta, s.f);
	if (!has_attributes(&s)) {
		site_end(&s);
		skip();
	}
	assert_true(fence_is_new(s.meta, s.f));
	assert_int_equal(try_write(&s), NFS3ERR_ACCES);
	assert_int_equal(try_read(&s), NFS3ERR_ACCES);
	assert_int_equal(try_commit(&s), NFS3ERR_ACCES);
	take_ids(&s, true, true); /* a new layout */
	assert_int_equal(try_write(&s), NFS3_OK);
	fence_raise(s.meta, s.f); /* and another time */
	assert_int_equal(try_write(&s), NFS3ERR_ACCES);
	site_end(&s);
}

/* A metadata server's start fences all files. */
static void the_directory_fences_all_files(void **state)
{
	struct site s = site_of(*state);
	struct fence_ids before, now;
	struct obj *root = obj_root(s.meta);

	assert_int_equal(fence_ids(s.meta, s.f, &before), 0);
	take_ids(&s, true, true);
	fence_raise(s.meta, root);
	obj_unref(s.meta, root);
	assert_int_equal(fence_ids(s.meta, s.f, &now), 0);
	if (has_attributes(&s)) {
		assert_true(before.uid != now.uid && before.gid != now.gid);
		assert_int_equal(try_write(&s), NFS3ERR_ACCES);
		assert_int_equal(try_read(&s), NFS3ERR_ACCES);
	}
	take_ids(&s, true, true);
	assert_int_equal(try_write(&s), NFS3_OK);
	site_end(&s);
}

static void two_files_have_different_ids(void **state)
{
	struct serve_env *e = *state;
	struct site s = site_of(e);
	struct fence_ids f, d;
	struct obj *root = obj_root(s.meta);

	assert_int_equal(fence_ids(s.meta, s.f, &f), 0);
	assert_int_equal(fence_ids(s.meta, root, &d), 0);
	assert_true(f.uid != d.uid && f.gid != d.gid && f.uid != f.gid);
	obj_unref(s.meta, root);
	site_end(&s);
}

/* The number of a removed file's inode is used again: a holder of the old file's layout, who knows
 * the old ids, has no right to the new file. */
static void a_later_file_of_the_same_number_has_other_ids(void **state)
{
	struct site s = site_of(*state);
	struct handle_id id = s.f->id;
	struct fence_ids f, later;

	assert_int_equal(fence_ids(s.meta, s.f, &f), 0);
	if (s.f->id.kh_len)
		s.f->id.kh[s.f->id.kh_len - 1] ^= 1;
	else
		s.f->id.birth++;
	assert_int_equal(fence_ids(s.meta, s.f, &later), 0);
	assert_true(f.uid != later.uid && f.gid != later.gid);
	s.f->id = id;
	s.f->id.dev++; /* a file of another file system */
	assert_int_equal(fence_ids(s.meta, s.f, &later), 0);
	assert_true(f.uid != later.uid && f.gid != later.gid);
	s.f->id = id;
	assert_int_equal(fence_ids(s.meta, s.f, &later), 0);
	assert_true(f.uid == later.uid && f.gid == later.gid);
	site_end(&s);
}

static bool no_room; /* for the first attribute */
static unsigned n_set;
int __real_setxattr(const char *path, const char *name, const void *v, size_t n, int flags);
int __wrap_setxattr(const char *path, const char *name, const void *v, size_t n, int flags);
int __wrap_setxattr(const char *path, const char *name, const void *v, size_t n, int flags)
{
	if (!no_room || ++n_set > 1)
		return __real_setxattr(path, name, v, n, flags);
	errno = ENOSPC;
	return -1;
}

/* The disk is full, or the server is not root and may not write the file. */
static void a_file_without_room_is_fenced_with_all_files(void **state)
{
	struct site s = site_of(*state);

	if (!has_attributes(&s)) {
		site_end(&s);
		skip();
	}
	take_ids(&s, true, true);
	assert_int_equal(try_write(&s), NFS3_OK);
	no_room = true;
	fence_raise(s.meta, s.f);
	no_room = false;
	assert_int_equal(try_write(&s), NFS3ERR_ACCES);
	assert_int_equal(try_read(&s), NFS3ERR_ACCES);
	assert_true(fence_is_new(s.meta, s.meta->root)); /* other files' clients are refused, too */
	take_ids(&s, true, true);
	assert_int_equal(try_write(&s), NFS3_OK);
	site_end(&s);
}

/* No names, no changes of attributes: the metadata server does these. */
static void a_data_server_does_nothing_else(void **state)
{
	struct nfs3_args a = {.proc = NFS3PROC_SETATTR};
	struct site s = site_of(*state);
	struct nfs3_res r;

	take_ids(&s, true, true);
	assert_int_equal(on_dirop(s.e, NFS3PROC_LOOKUP, "f", &r), NFS3ERR_ACCES);
	assert_int_equal(on_dirop(s.e, NFS3PROC_REMOVE, "f", &r), NFS3ERR_ACCES);
	a.u.setattr.fh = s.fh;
	a.u.setattr.set.mask = NFS_SET_SIZE;
	assert_int_equal(call(s.e, &a, &r), NFS3ERR_ACCES);
	assert_int_equal(on_fh(s.e, NFS3PROC_GETATTR, &s.fh, &r), NFS3_OK);
	assert_int_equal(r.u.getattr.attr.size, 4);
	site_end(&s);
}

/* The same by NFSv4.1, with the anonymous stateid. */
static void nfsv4_has_the_same_fence(void **state)
{
	static const char text[] = "DATA";
	struct site s = site_of(*state);
	struct serve_env *e = s.e;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	env_mount(e, "client");
	take_ids(&s, true, true);
	assert_int_equal(
		env_write(e, &s.fh, &nfs4_stateid_anonymous, 0, (void *)(uintptr_t)text, 4),
		NFS4_OK);
	assert_int_equal(env_commit(e, &s.fh), NFS4_OK);
	take_ids(&s, false, true);
	assert_int_equal(
		env_read(e, &s.fh, &nfs4_stateid_anonymous, 0, 10, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4);
	assert_memory_equal(data, text, 4);
	assert_int_equal(env_commit(e, &s.fh), NFS4ERR_ACCESS);
	assert_int_equal(
		env_write(e, &s.fh, &nfs4_stateid_anonymous, 0, (void *)(uintptr_t)text, 4),
		NFS4ERR_ACCESS);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "f");
	assert_int_equal(env_run(e, 3), NFS4ERR_ACCESS);
	site_end(&s);
}

static void a_data_server_says_so(void **state)
{
	struct nfs4_exchange_id_args a = {.ownerid = {(const uint8_t *)"o", 1}};
	struct nfs4_exchange_id_res r;
	struct serve_env *e = *state;

	env_begin(e, false);
	nfs4_put_exchange_id_args(&e->args, &a);
	assert_int_equal(env_run(e, 1), NFS4_OK);
	xdr_in_init(&e->res, e->reply, e->req.res.len);
	assert_int_equal(nfs4_get_compound_res(&e->res, &e->head), 0);
	env_expect(e, OP_EXCHANGE_ID, NFS4_OK);
	assert_int_equal(nfs4_get_exchange_id_res(&e->res, NFS4_OK, &r), 0);
	assert_int_equal(r.flags & EXCHGID4_FLAG_MASK_PNFS, EXCHGID4_FLAG_USE_PNFS_DS);
}

/* A server that is not root keeps the number where clients could see it. */
static void the_number_is_no_attribute_of_users(void **state)
{
	const struct nfs_name name = {FENCE_NAME, sizeof(FENCE_NAME) - 1};
	struct site s = site_of(*state);
	struct xattr_list l;
	struct nfs_name got;
	char path[128];
	uint8_t buf[XATTR_VALUE_MAX];

	assert_int_equal(xattr_set(s.f, &name, "x", 1, 0), -EPERM);
	assert_int_equal(xattr_get(s.f, &name, buf), -EPERM);
	assert_int_equal(xattr_remove(s.f, &name), -EPERM);
	env_path(s.e, "f", path, sizeof(path));
	chmod(path, 0600);
	if (setxattr(path, "user." FENCE_NAME, "12345678", 8, 0) == 0) {
		assert_int_equal(xattr_list(s.f, &l), 0);
		assert_false(xattr_next(&l, &got));
		xattr_list_finish(&l);
	}
	site_end(&s);
}

/* The data server acts as the owner, and quotas count. */
static void the_owner_is_who_writes(void **state)
{
	struct site s = site_of(*state);
	char path[128];

	if (geteuid() != 0) {
		site_end(&s);
		skip();
	}
	ident_init(false);
	env_path(s.e, "f", path, sizeof(path));
	assert_int_equal(chmod(s.e->dir, 0755), 0);
	assert_int_equal(chown(path, 1000, 1001), 0);
	assert_int_equal(chmod(path, 04400), 0);
	take_ids(&s, true, true);
	assert_int_equal(try_write(&s), NFS3_OK);
	assert_int_equal(ident_uid(), 1000);
	take_ids(&s, false, false);
	assert_int_equal(try_write(&s), NFS3ERR_ACCES);
	fence_raise(s.meta, s.f); /* by a thread that acts for a caller */
	take_ids(&s, true, true);
	assert_int_equal(try_write(&s), NFS3_OK);
	s.e->uid = s.e->gid = 0;
	ident_assume(&(struct rpc_cred){.flavor = RPC_AUTH_SYS});
	site_end(&s);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_data_server, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_user_writes_and_the_group_reads), TEST(a_fence_is_seen_by_the_data_server),
		TEST(the_directory_fences_all_files), TEST(two_files_have_different_ids),
		TEST(a_later_file_of_the_same_number_has_other_ids),
		TEST(a_file_without_room_is_fenced_with_all_files),
		TEST(a_data_server_does_nothing_else), TEST(nfsv4_has_the_same_fence),
		TEST(a_data_server_says_so), TEST(the_number_is_no_attribute_of_users),
		TEST(the_owner_is_who_writes), /* last: identities are switched from then on */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
