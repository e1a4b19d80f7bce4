/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/v3/v3_dir and v3_readdir: names, and the objects of the names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "tests/unit/contrib/serve/v3/serve-v3.h"

static void names_lead_to_objects(void **state)
{
	struct serve_env *e = *state;
	char path[128], long_name[300];
	struct nfs3_args a = {.proc = NFS3PROC_LOOKUP};
	struct nfs3_res r;
	struct nfs_fh fh, root = root_of(e);

	create(e, "f", NFS3_UNCHECKED, 0644, NULL, &fh);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "f", &r), NFS3_OK);
	assert_memory_equal(r.u.lookup.fh.data, fh.data, fh.len);
	assert_true(r.u.lookup.dir.have);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, i ? ".." : ".", &r), NFS3_OK);
		assert_memory_equal(r.u.lookup.fh.data, root.data, root.len);
	}
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "none", &r), NFS3ERR_NOENT);
	assert_true(r.u.lookup.dir.have);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "a/b", &r), NFS3ERR_INVAL);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "", &r), NFS3ERR_INVAL);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, long_name, &r), NFS3ERR_NAMETOOLONG);
	env_path(e, "d", path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(on_dirop(e, NFS3PROC_LOOKUP, "d", &r), NFS3_OK);
	a.u.dirop.dir = r.u.lookup.fh;
	a.u.dirop.name = name_of("..");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_memory_equal(r.u.lookup.fh.data, root.data, root.len);
	a.u.dirop.dir = fh;
	a.u.dirop.name = name_of("x");
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOTDIR);
	/* an invalid handle, and the handle of a file that has gone */
	fh.data[fh.len - 1] ^= 1;
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3ERR_BADHANDLE);
	fh.data[fh.len - 1] ^= 1;
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "f", &r), NFS3_OK);
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3ERR_STALE);
	fh.len = 0;
	assert_int_equal(on_fh(e, NFS3PROC_GETATTR, &fh, &r), NFS3ERR_BADHANDLE);
}

static void every_kind_is_made_and_removed(void **state)
{
	struct serve_env *e = *state;
	struct nfs3_args a = {.proc = NFS3PROC_MKDIR};
	struct nfs3_res r;
	struct nfs_fh link;

	a.u.mkdir.where = in_root(e, "d");
	a.u.mkdir.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0750};
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.create.obj.attr.type, NFS_DIR);
	assert_int_equal(r.u.create.obj.attr.mode, 0750);
	assert_int_equal(call(e, &a, &r), NFS3ERR_EXIST);
	a = (struct nfs3_args){.proc = NFS3PROC_SYMLINK};
	a.u.symlink.where = in_root(e, "l");
	a.u.symlink.target = name_of("some/where");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	link = r.u.create.fh;
	assert_int_equal(on_fh(e, NFS3PROC_READLINK, &link, &r), NFS3_OK);
	assert_int_equal(r.u.readlink.target.len, 10);
	assert_memory_equal(r.u.readlink.target.s, "some/where", 10);
	/* into a Write chunk */
	e->nsinks = 1;
	e->sink[0] = 4096;
	xdr_out_init(&e->args, e->call, sizeof(e->call));
	nfs3_put_fh(&e->args, &link);
	assert_true(send_call(e, NFS3PROC_READLINK, e->args.len));
	assert_int_equal(xdr_get_u32(&e->res), NFS3_OK);
	assert_int_equal(e->req.res.npayloads, 1);
	assert_memory_equal(e->req.res.payload[0].data.one.at.addr, "some/where", 10);
	e->sink[0] = 4;
	assert_int_equal(on_fh(e, NFS3PROC_READLINK, &link, &r), NFS3ERR_SERVERFAULT);
	e->nsinks = 0;
	a = (struct nfs3_args){.proc = NFS3PROC_MKNOD};
	a.u.mknod.where = in_root(e, "p");
	a.u.mknod.type = NFS_FIFO;
	a.u.mknod.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0600};
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.create.obj.attr.type, NFS_FIFO);
	a.u.mknod.where.name = name_of("p2");
	for (a.u.mknod.type = 0; a.u.mknod.type < 10; a.u.mknod.type++)
		if (a.u.mknod.type < NFS_BLK || a.u.mknod.type == NFS_LNK ||
			a.u.mknod.type > NFS_FIFO)
			assert_int_equal(call(e, &a, &r), NFS3ERR_BADTYPE);
	a = (struct nfs3_args){.proc = NFS3PROC_LINK};
	a.u.link.fh = link;
	a.u.link.where = in_root(e, "l2");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_int_equal(r.u.link.obj.attr.nlink, 2);
	a = (struct nfs3_args){.proc = NFS3PROC_RENAME};
	a.u.rename.from = in_root(e, "l2");
	a.u.rename.to = in_root(e, "l3");
	assert_int_equal(call(e, &a, &r), NFS3_OK);
	assert_true(r.u.rename.from.have_before && r.u.rename.to.after.have);
	a.u.rename.to.dir = link;
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOTDIR);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "d", &r), NFS3ERR_ISDIR);
	assert_int_equal(on_dirop(e, NFS3PROC_RMDIR, "l3", &r), NFS3ERR_NOTDIR);
	assert_int_equal(on_dirop(e, NFS3PROC_RMDIR, ".", &r), NFS3ERR_INVAL);
	assert_int_equal(on_dirop(e, NFS3PROC_RMDIR, "d", &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "l3", &r), NFS3_OK);
	assert_int_equal(on_dirop(e, NFS3PROC_REMOVE, "l3", &r), NFS3ERR_NOENT);
}

/* Reads the root piece by piece into names, separated by commas. Returns the number of pieces. */
static int list(struct serve_env *e, bool plus, uint32_t maxcount, char *names)
{
	struct nfs3_args a = {.proc = plus ? NFS3PROC_READDIRPLUS : NFS3PROC_READDIR};
	struct nfs3_entry ent;
	struct nfs3_res r;
	bool eof = false;
	int n = 0;

	names[0] = '\0';
	a.u.readdir.dir = root_of(e);
	a.u.readdir.maxcount = maxcount;
	a.u.readdir.dircount = maxcount;
	for (; !eof; n++) {
		assert_int_equal(call(e, &a, &r), NFS3_OK);
		assert_true(e->res.len <= maxcount + 4);
		while (nfs3_get_entry(&e->res, plus, &ent, &eof) == 1) {
			snprintf(
				names + strlen(names), 300, "%.*s,", (int)ent.name.len, ent.name.s);
			assert_int_not_equal(ent.fileid, 0);
			assert_int_equal(ent.obj.have, plus);
			assert_int_equal(ent.have_fh, plus);
			assert_int_not_equal(ent.cookie, a.u.readdir.cookie);
			a.u.readdir.cookie = ent.cookie;
		}
		assert_true(xdr_in_done(&e->res));
		memcpy(a.u.readdir.verf, r.u.readdir.verf, sizeof(a.u.readdir.verf));
	}
	return n;
}

static void directories_are_read_in_pieces(void **state)
{
	struct serve_env *e = *state;
	char names[8192], name[32];
	struct nfs3_args a = {.proc = NFS3PROC_READDIR};
	struct nfs3_res r;
	struct nfs_fh fh;

	assert_int_equal(list(e, false, 4096, names), 1);
	assert_string_equal(names, ".,..,");
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "a-file-called-%d", i);
		create(e, name, NFS3_UNCHECKED, 0644, NULL, &fh);
	}
	for (int plus = 0; plus < 2; plus++) {
		for (uint32_t max = 300; max <= 32768; max = max * 2 + 1) {
			list(e, plus, max, names);
			assert_memory_equal(names, ".,..,", 5);
			for (int i = 0; i < 60; i++) {
				snprintf(name, sizeof(name), ",a-file-called-%d,", i);
				assert_non_null(strstr(names, name));
				assert_null(strstr(strstr(names, name) + 1, name));
			}
		}
		assert_true(list(e, plus, 700, names) > 3);
	}
	a.u.readdir.dir = root_of(e);
	a.u.readdir.maxcount = 60;
	assert_int_equal(call(e, &a, &r), NFS3ERR_TOOSMALL);
	a.u.readdir.maxcount = 4096;
	a.u.readdir.cookie = 5;
	assert_int_equal(call(e, &a, &r), NFS3ERR_BAD_COOKIE); /* the verifier is wrong */
	a.u.readdir.dir = fh;
	assert_int_equal(call(e, &a, &r), NFS3ERR_NOTDIR);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(names_lead_to_objects),
		T(every_kind_is_made_and_removed),
		T(directories_are_read_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
