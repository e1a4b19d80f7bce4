/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_ops and its parts, against a scripted server: ops, opens, lists.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/nfs3-fixture.h"

static const struct nfs_name file = {"file", 4}, nope = {"nope", 4};

/* --- ops -----------------------------------------------------------------------------------------
 */

static void data_goes_both_ways(void **state)
{
	struct fix3 *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 8192);
	struct seg piece[] = {{mem_buf_sge(buf, 4000, 4192), buf}, {mem_buf_sge(buf, 0, 1), buf},
		{mem_buf_sge(buf, 1, 3999), buf}};
	struct nfs_op op = {.type = NFS_READ};
	struct seg_list all;
	uint8_t got[8192];

	assert_int_equal(seg_list_init(&all, piece, 3), 0);
	op.u.read.fh = f->file;
	op.u.read.offset = 1000;
	op.u.read.to = all;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.read.count == MEAN3_SIZE - 1000 && op.u.read.eof);
	seg_list_gather(&all, got);
	assert_memory_equal(got, f->m.data->data + 1000, MEAN3_SIZE - 1000);
	f->m.read_lies = true;
	assert_int_equal(fix3_run(f, &op), -EREMOTEIO);

	op = (struct nfs_op){.type = NFS_WRITE};
	op.u.write.fh = f->file;
	op.u.write.from = seg_list_cut(&all, 4190, 77);
	op.u.write.stable = NFS_FILE_SYNC;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.write.count == 77 && op.u.write.committed == NFS_FILE_SYNC);
	mem_buf_unref(buf);
}

static void attributes_come_with_data(void **state)
{
	struct fix3 *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 100);
	const struct timespec first = {100, 5}, second = {100, 6};
	struct nfs_op op = {.type = NFS_READ};

	op.u.read.fh = f->file;
	op.u.read.to = seg_list_of_buf(buf, 0, 100);
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.read.attr.have && !op.u.read.attr.have_before);
	assert_true(op.u.read.attr.size == MEAN3_SIZE);
	assert_true(op.u.read.attr.change == nfs3_change(&first));

	op = (struct nfs_op){.type = NFS_WRITE};
	op.u.write.fh = f->file;
	op.u.write.offset = MEAN3_SIZE;
	op.u.write.from = seg_list_of_buf(buf, 0, 100);
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.write.attr.have && op.u.write.attr.have_before);
	assert_true(op.u.write.attr.before_size == MEAN3_SIZE);
	assert_true(op.u.write.attr.before_change == nfs3_change(&first));
	assert_true(op.u.write.attr.size == MEAN3_SIZE + 100);
	assert_true(op.u.write.attr.change == nfs3_change(&second));

	f->m.bare = true;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(!op.u.write.attr.have && !op.u.write.attr.have_before);
	f->m.bare = false;

	/* the first call may have been executed: the version before the second proves nothing */
	f->m.cut = NFS3PROC_WRITE;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.write.attr.have && !op.u.write.attr.have_before);

	op = (struct nfs_op){.type = NFS_COMMIT};
	op.u.commit.fh = f->file;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.commit.attr.have && op.u.commit.attr.size == MEAN3_SIZE + 100);
	mem_buf_unref(buf);
}

static void an_append_asks_for_the_end_first(void **state)
{
	struct fix3 *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 77);
	struct nfs_op op = {.type = NFS_WRITE};
	const struct nfs3_args *sent = &f->m.last[NFS3PROC_WRITE];
	unsigned sizes;

	op.u.write.fh = f->file;
	op.u.write.from = seg_list_of_buf(buf, 0, 77);
	op.u.write.append = true;
	op.u.write.offset = 5;
	sizes = f->m.count[NFS3PROC_GETATTR];
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(f->m.count[NFS3PROC_GETATTR], sizes + 1);
	assert_int_equal(sent->u.write.offset, MEAN3_SIZE);
	assert_int_equal(op.u.write.offset, MEAN3_SIZE);
	/* the server says "later", and the file grows meanwhile: the client must ask for the size
	 * again */
	f->m.fails[NFS3PROC_WRITE].status = NFS3ERR_JUKEBOX;
	f->m.fails[NFS3PROC_WRITE].times = 1;
	f->m.others_times = 1;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(f->m.count[NFS3PROC_GETATTR], sizes + 3);
	assert_int_equal(op.u.write.offset, MEAN3_SIZE + 77);
	/* the race that NFSv3 cannot exclude is seen */
	assert_true(f->m.size == MEAN3_SIZE + 77 + 77);
	f->m.size = INT64_MAX - 10;
	assert_int_equal(fix3_run(f, &op), -EFBIG);
	mem_buf_unref(buf);
}

static void an_append_sent_twice_and_put_off_may_have_been_made(void **state)
{
	struct fix3 *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 77);
	struct nfs_op op = {.type = NFS_WRITE};

	op.u.write.fh = f->file;
	op.u.write.from = seg_list_of_buf(buf, 0, 77);
	op.u.write.append = true;
	f->m.cut = NFS3PROC_WRITE;
	f->m.fails[NFS3PROC_WRITE].status = NFS3ERR_JUKEBOX;
	f->m.fails[NFS3PROC_WRITE].times = 2;
	assert_int_equal(fix3_run(f, &op), -EALREADY);
	assert_true(op.u.write.ours); /* each attempt goes to the same place */
	assert_int_equal(op.u.write.offset, MEAN3_SIZE);
	assert_int_equal(f->m.count[NFS3PROC_WRITE], 2);
	mem_buf_unref(buf);
}

static void an_append_sent_twice_and_made_in_part_may_have_been_made(void **state)
{
	struct fix3 *f = *state;
	struct mem_buf *buf = mem_buf_get(f->pool, 77);
	struct nfs_op op = {.type = NFS_WRITE};

	op.u.write.fh = f->file;
	op.u.write.from = seg_list_of_buf(buf, 0, 77);
	op.u.write.append = true;
	f->m.cut = NFS3PROC_WRITE;
	f->m.write_parts = 2;
	assert_int_equal(fix3_run(f, &op), -EALREADY);
	assert_true(op.u.write.ours);
	assert_int_equal(op.u.write.offset, MEAN3_SIZE);
	assert_int_equal(f->m.count[NFS3PROC_WRITE], 2);
	/* sent once, and carried out in part */
	f->m.write_parts = 1;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(op.u.write.count, 70);
	mem_buf_unref(buf);
}

static void a_directorys_attributes_come_with_names(void **state)
{
	struct fix3 *f = *state;
	const struct nfs_name none = {"nope", 4};
	struct nfs_op op = {.type = NFS_LOOKUP};

	op.u.lookup.dir = f->root;
	op.u.lookup.name = file;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.lookup.dir_attr.have && !op.u.lookup.dir_attr.before);
	assert_int_equal(op.u.lookup.dir_attr.attr.type, NFS_DIR);
	op = (struct nfs_op){.type = NFS_LOOKUP};
	op.u.lookup.dir = f->root;
	op.u.lookup.name = none;
	assert_int_equal(fix3_run(f, &op), -ENOENT);
	assert_true(op.u.lookup.dir_attr.have);
	f->m.bare = true;
	op = (struct nfs_op){.type = NFS_LOOKUP};
	op.u.lookup.dir = f->root;
	op.u.lookup.name = none;
	assert_int_equal(fix3_run(f, &op), -ENOENT);
	assert_false(op.u.lookup.dir_attr.have);
}

static void what_a_reply_leaves_out_is_asked_for(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = {.type = NFS_CREATE};

	f->m.bare = true;
	op.u.create.dir = f->root;
	op.u.create.name = file;
	op.u.create.type = NFS_DIR;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_true(op.u.create.fh.data[0] == 2 && op.u.create.attr.size == MEAN3_SIZE);
	assert_int_equal(f->m.count[NFS3PROC_MKDIR], 1);
	assert_int_equal(f->m.count[NFS3PROC_LOOKUP], 1);

	op = (struct nfs_op){.type = NFS_SETATTR};
	op.u.setattr.fh = f->file;
	op.u.setattr.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0600};
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(op.u.setattr.attr.size, MEAN3_SIZE);
	assert_false(f->m.last[NFS3PROC_SETATTR].u.setattr.guard);
	assert_int_equal(fix3_open(f, &file, O_RDWR | O_CREAT | O_EXCL), 0);
	assert_int_equal(f->attr.size, MEAN3_SIZE);
}

/* The server's LOOKUP tells no attributes, and another client removes the object before GETATTR
 * asks for the attributes. */
static void a_name_whose_object_has_gone_is_looked_up_again(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = {.type = NFS_LOOKUP};
	unsigned first = f->m.count[NFS3PROC_LOOKUP];

	f->m.bare = true;
	op.u.lookup.dir = f->root;
	op.u.lookup.name = file;
	f->m.fails[NFS3PROC_GETATTR].status = NFS3ERR_STALE;
	f->m.fails[NFS3PROC_GETATTR].times = 3;
	assert_int_equal(fix3_run(f, &op), 0);
	assert_int_equal(op.u.lookup.attr.size, MEAN3_SIZE);
	assert_int_equal(f->m.count[NFS3PROC_LOOKUP], first + 4);
	/* not for ever */
	f->m.fails[NFS3PROC_GETATTR].times = 1000;
	op = (struct nfs_op){.type = NFS_LOOKUP};
	op.u.lookup.dir = f->root;
	op.u.lookup.name = file;
	assert_int_equal(fix3_run(f, &op), -ESTALE);
	/* no name leads to the object of SETATTR */
	f->m.fails[NFS3PROC_GETATTR].times = 1;
	first = f->m.count[NFS3PROC_LOOKUP];
	op = (struct nfs_op){.type = NFS_SETATTR};
	op.u.setattr.fh = f->file;
	op.u.setattr.set = (struct nfs_sattr){.mask = NFS_SET_MODE, .mode = 0600};
	assert_int_equal(fix3_run(f, &op), -ESTALE);
	assert_int_equal(f->m.count[NFS3PROC_LOOKUP], first);
}

static void later_means_later(void **state)
{
	struct fix3 *f = *state;

	f->m.fails[NFS3PROC_GETATTR].status = NFS3ERR_JUKEBOX;
	f->m.fails[NFS3PROC_GETATTR].times = 3;
	f->m.count[NFS3PROC_GETATTR] = 0;
	assert_int_equal(fix3_getattr(f), 0);
	assert_int_equal(f->m.count[NFS3PROC_GETATTR], 4);
}

static void errors_are_those_of_system_calls(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op op = {.type = NFS_REMOVE};

	f->m.fails[NFS3PROC_RMDIR].status = NFS3ERR_EXIST;
	f->m.fails[NFS3PROC_RMDIR].times = 1;
	op.u.remove.dir = f->root;
	op.u.remove.name = file;
	op.u.remove.is_dir = true;
	assert_int_equal(fix3_run(f, &op), -ENOTEMPTY);
	f->m.fails[NFS3PROC_REMOVE].status = NFS3ERR_ISDIR;
	f->m.fails[NFS3PROC_REMOVE].times = 1;
	op.u.remove.is_dir = false;
	assert_int_equal(fix3_run(f, &op), -EISDIR);
	f->m.fails[NFS3PROC_GETATTR].status = 0x80000000; /* no success either */
	f->m.fails[NFS3PROC_GETATTR].times = 1;
	assert_int_equal(fix3_getattr(f), -EREMOTEIO);
	op = (struct nfs_op){.type = NFS_SEEK};
	op.u.seek.fh = f->file;
	assert_int_equal(fix3_run(f, &op), -EOPNOTSUPP);
}

/* --- opens ---------------------------------------------------------------------------------------
 */

static void an_exclusive_open_sets_what_create_could_not(void **state)
{
	struct fix3 *f = *state;
	const struct nfs3_create_args *c = &f->m.last[NFS3PROC_CREATE].u.create;
	const struct nfs_sattr *set = &f->m.last[NFS3PROC_SETATTR].u.setattr.set;
	uint8_t verf[NFS3_CREATEVERFSIZE];

	assert_int_equal(fix3_open(f, &file, O_WRONLY | O_CREAT | O_EXCL), 0);
	assert_int_equal(c->mode, NFS3_EXCLUSIVE);
	assert_int_equal(set->mask, NFS_SET_MODE | NFS_SET_ATIME_NOW | NFS_SET_MTIME_NOW);
	assert_int_equal(f->m.count[NFS3PROC_ACCESS], 0);
	memcpy(verf, c->verf, sizeof(verf));
	assert_int_equal(fix3_open(f, &file, O_WRONLY | O_CREAT | O_EXCL), 0);
	/* another open has another verifier */
	assert_memory_not_equal(verf, c->verf, sizeof(verf));

	f->m.fails[NFS3PROC_CREATE].status = NFS3ERR_EXIST;
	f->m.fails[NFS3PROC_CREATE].times = 1;
	assert_int_equal(fix3_open(f, &file, O_WRONLY | O_CREAT | O_EXCL), -EEXIST);

	f->m.fails[NFS3PROC_CREATE].status = NFS3ERR_NOTSUPP;
	f->m.fails[NFS3PROC_CREATE].times = 1;
	f->m.count[NFS3PROC_SETATTR] = 0;
	assert_int_equal(fix3_open(f, &file, O_WRONLY | O_CREAT | O_EXCL), 0);
	assert_int_equal(c->mode, NFS3_GUARDED);
	assert_int_equal(f->m.count[NFS3PROC_SETATTR], 0);
}

/* The kernel may end a mount without a close: a leak checker looks for open files that stay
 * behind. */
static void what_is_open_ends_with_the_mount(void **state)
{
	struct fix3 *f = *state;
	struct nfs_op a = {.type = NFS_OPEN}, b = {.type = NFS_OPEN}, close = {.type = NFS_CLOSE};

	a.u.open.dir = b.u.open.dir = f->file;
	assert_int_equal(fix3_run(f, &a), 0);
	assert_int_equal(fix3_run(f, &b), 0);
	close.u.close.open = a.u.open.open;
	assert_int_equal(fix3_run(f, &close), 0);
	f->nfs = nfs_client_free(f->nfs);
}

static void only_what_was_there_needs_permission(void **state)
{
	struct fix3 *f = *state;

	f->m.access = 0;
	assert_int_equal(fix3_open(f, &file, O_RDWR | O_CREAT), 0); /* made */
	assert_int_equal(f->m.count[NFS3PROC_ACCESS], 0);
	f->m.fails[NFS3PROC_CREATE].status = NFS3ERR_EXIST;
	f->m.fails[NFS3PROC_CREATE].times = 1;
	assert_int_equal(fix3_open(f, &file, O_RDWR | O_CREAT), -EACCES);
	f->m.access = NFS_ACCESS_READ;
	assert_int_equal(fix3_open(f, &file, O_RDONLY), 0);
	assert_int_equal(fix3_open(f, &file, O_RDONLY | NFS_O_EXEC), -EACCES);
	assert_int_equal(fix3_open(f, &file, O_WRONLY), -EACCES);
	f->m.access = NFS_ACCESS_MODIFY;
	assert_int_equal(fix3_open(f, &file, O_WRONLY), -EACCES); /* and not EXTEND */
	f->m.access |= NFS_ACCESS_EXTEND;
	assert_int_equal(fix3_open(f, &file, O_WRONLY), 0);
	assert_int_equal(f->m.count[NFS3PROC_SETATTR], 0);
	assert_int_equal(fix3_open(f, &file, O_WRONLY | O_TRUNC), 0);
	assert_int_equal(f->m.count[NFS3PROC_SETATTR], 1);
	assert_int_equal(f->m.last[NFS3PROC_SETATTR].u.setattr.set.mask, NFS_SET_SIZE);
	assert_int_equal(fix3_open(f, &nope, O_RDONLY), -ENOENT);
}

static void a_name_that_comes_and_goes_ends(void **state)
{
	struct fix3 *f = *state;

	f->m.fails[NFS3PROC_CREATE].status = NFS3ERR_EXIST;
	f->m.fails[NFS3PROC_CREATE].times = 1000;
	assert_int_equal(fix3_open(f, &nope, O_RDWR | O_CREAT), -ENOENT);
	assert_in_range(f->m.count[NFS3PROC_CREATE], 2, 20);
}

/* --- lists -------------------------------------------------------------------------------------
 */

static char names[64];
static uint64_t cookies[8];
static unsigned ntold;

static bool note(struct nfs_op *op, const struct nfs_dirent *ent)
{
	strncat(names, ent->name, ent->namelen);
	cookies[ntold++] = ent->cookie;
	return true;
}

static int list(struct fix3 *f, uint64_t cookie, bool *eof)
{
	struct nfs_op op = {.type = NFS_READDIR};
	int rc;

	names[0] = 0;
	ntold = 0;
	op.u.readdir.dir = f->root;
	op.u.readdir.cookie = cookie;
	op.u.readdir.plus = true;
	op.u.readdir.entry = note;
	rc = fix3_run(f, &op);
	*eof = op.u.readdir.eof;
	return rc;
}

static void four_entries(struct fix3 *f)
{
	f->m.entries[0] = (struct nfs3_entry){.cookie = 7, .name = {".", 1}};
	f->m.entries[1] = (struct nfs3_entry){.cookie = 8, .name = {"..", 2}};
	f->m.entries[2] = (struct nfs3_entry){.cookie = 1, .name = {"a", 1}};
	f->m.entries[3] = (struct nfs3_entry){.cookie = 9, .name = {"b", 1}};
	f->m.nentries = 4;
}

static void a_list_has_no_dots_and_no_reserved_cookies(void **state)
{
	struct fix3 *f = *state;
	bool eof;

	four_entries(f);
	assert_int_equal(list(f, 0, &eof), 0);
	assert_string_equal(names, "ab");
	assert_true(eof && cookies[0] > 2);
	assert_int_equal(list(f, cookies[0], &eof), 0); /* from there */
	assert_string_equal(names, "b");
	/* a reply with only dots is neither the end nor the whole */
	f->m.per_reply = 2;
	assert_int_equal(list(f, 0, &eof), 0);
	assert_string_equal(names, "ab");
	assert_true(eof);
}

static void a_server_without_readdirplus_is_asked_without(void **state)
{
	struct fix3 *f = *state;
	bool eof;

	four_entries(f);
	f->m.fails[NFS3PROC_READDIRPLUS].status = NFS3ERR_NOTSUPP;
	f->m.fails[NFS3PROC_READDIRPLUS].times = 1;
	assert_int_equal(list(f, 0, &eof), 0);
	assert_int_equal(list(f, 0, &eof), 0);
	assert_string_equal(names, "ab");
	assert_int_equal(f->m.count[NFS3PROC_READDIRPLUS], 1);
	assert_int_equal(f->m.count[NFS3PROC_READDIR], 2);
}

static void impossible_entries_are_refused(void **state)
{
	struct fix3 *f = *state;
	bool eof;

	four_entries(f);
	f->m.entries[3].name = (struct nfs_name){"x/y", 3};
	assert_int_equal(list(f, 0, &eof), -EREMOTEIO);
	f->m.entries[3].name = (struct nfs_name){"b", 1};
	f->m.entries[3].cookie = f->m.entries[2].cookie;
	assert_int_equal(list(f, 0, &eof), -EREMOTEIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_MOUNT3(data_goes_both_ways),
		ON_MOUNT3(attributes_come_with_data),
		ON_MOUNT3(an_append_asks_for_the_end_first),
		ON_MOUNT3(an_append_sent_twice_and_put_off_may_have_been_made),
		ON_MOUNT3(an_append_sent_twice_and_made_in_part_may_have_been_made),
		ON_MOUNT3(a_directorys_attributes_come_with_names),
		ON_MOUNT3(what_a_reply_leaves_out_is_asked_for),
		ON_MOUNT3(a_name_whose_object_has_gone_is_looked_up_again),
		ON_MOUNT3(later_means_later),
		ON_MOUNT3(errors_are_those_of_system_calls),
		ON_MOUNT3(an_exclusive_open_sets_what_create_could_not),
		ON_MOUNT3(what_is_open_ends_with_the_mount),
		ON_MOUNT3(only_what_was_there_needs_permission),
		ON_MOUNT3(a_name_that_comes_and_goes_ends),
		ON_MOUNT3(a_list_has_no_dots_and_no_reserved_cookies),
		ON_MOUNT3(a_server_without_readdirplus_is_asked_without),
		ON_MOUNT3(impossible_entries_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
