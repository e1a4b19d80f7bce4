/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve's operations on files and directories, COMPOUND by COMPOUND.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/obj_table.h"
#include "contrib/serve/state/session.h"
#include "serve-env.h"
#include "transport/log.h"

#define RD OPEN4_SHARE_ACCESS_READ
#define WR OPEN4_SHARE_ACCESS_WRITE
#define RW OPEN4_SHARE_ACCESS_BOTH

static int setup(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init(e);
	env_mount(e, "client");
	*state = e;
	return 0;
}

/* A file may be as long as offsets go there, if that is a tmpfs. */
static int setup_shm(void **state)
{
	struct serve_env *e = malloc(sizeof(*e));

	env_init_in(e, "/dev/shm");
	env_mount(e, "client");
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	env_finish(*state);
	free(*state);
	return 0;
}

static void put_putfh(struct serve_env *e, const struct nfs_fh *fh)
{
	struct nfs4_putfh_args a = {.fh = *fh};

	nfs4_put_putfh_args(&e->args, &a);
}

static uint32_t write_at(struct serve_env *e, const struct nfs_fh *fh,
	const struct nfs4_stateid *sid, uint64_t offset, void *data, uint32_t len)
{
	struct nfs4_write_args a = {.stateid = *sid,
		.offset = offset,
		.stable = FILE_SYNC4,
		.data = SEG_LIST_MEM(data, len)};

	env_begin(e, true);
	put_putfh(e, fh);
	nfs4_put_write_args(&e->args, &a);
	return env_run(e, 3);
}

static uint32_t read_at(struct serve_env *e, const struct nfs_fh *fh,
	const struct nfs4_stateid *sid, uint64_t offset, uint32_t count, const uint8_t **data,
	uint32_t *len, bool *eof)
{
	struct nfs4_read_args a = {.stateid = *sid, .offset = offset, .count = count};
	struct nfs4_read_res r;

	env_begin(e, true);
	put_putfh(e, fh);
	nfs4_put_read_args(&e->args, &a);
	if (env_run(e, 3) != NFS4_OK)
		return e->head.status;
	env_expect(e, OP_PUTFH, NFS4_OK);
	env_expect(e, OP_READ, NFS4_OK);
	assert_int_equal(nfs4_get_read_res(&e->res, NFS4_OK, &r), 0);
	*data = xdr_get_payload(&e->res, count, len, NULL);
	*eof = r.eof;
	assert_true(xdr_in_done(&e->res));
	return NFS4_OK;
}

static uint32_t commit(struct serve_env *e, const struct nfs_fh *fh)
{
	struct nfs4_commit_args a = {0};

	env_begin(e, true);
	put_putfh(e, fh);
	nfs4_put_commit_args(&e->args, &a);
	return env_run(e, 3);
}

static uint32_t close_file(
	struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid)
{
	struct nfs4_close_args a = {.stateid = *sid};

	env_begin(e, true);
	put_putfh(e, fh);
	nfs4_put_close_args(&e->args, &a);
	return env_run(e, 3);
}

static void what_is_written_is_read(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	const uint8_t *data;
	uint32_t len;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(write_at(e, &fh, &sid, 3, (char[]){"hello"}, 5), NFS4_OK);
	assert_int_equal(read_at(e, &fh, &sid, 0, 100, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 8);
	assert_true(eof);
	assert_memory_equal(data, "\0\0\0hello", 8);
	assert_int_equal(read_at(e, &fh, &sid, 3, 2, &data, &len, &eof), NFS4_OK);
	assert_false(eof);
	assert_memory_equal(data, "he", 2);
	assert_int_equal(read_at(e, &fh, &sid, 6, 2, &data, &len, &eof), NFS4_OK);
	assert_true(eof);
	assert_int_equal(read_at(e, &fh, &sid, UINT64_MAX, 2, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
	assert_int_equal(
		read_at(e, &fh, &nfs4_stateid_anonymous, 3, 5, &data, &len, &eof), NFS4_OK);
	assert_int_equal(close_file(e, &fh, &sid), NFS4_OK);
	assert_int_equal(close_file(e, &fh, &sid), NFS4ERR_BAD_STATEID);
	assert_int_equal(write_at(e, &fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_BAD_STATEID);
}

static void the_last_byte_of_all_is_read(void **state)
{
	struct serve_env *e = *state;
	const uint64_t last = INT64_MAX - 1;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	const uint8_t *data;
	uint32_t status, len;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	status = write_at(e, &fh, &sid, last, (char[]){"z"}, 1);
	if (status == NFS4ERR_FBIG)
		skip(); /* no tmpfs */
	assert_int_equal(status, NFS4_OK);
	assert_int_equal(read_at(e, &fh, &sid, last, 1, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 1);
	assert_true(eof);
	assert_memory_equal(data, "z", 1);
	assert_int_equal(read_at(e, &fh, &sid, last - 4094, 4096, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4095);
	assert_true(eof);
	assert_memory_equal(data + 4093, "\0z", 2);
	assert_int_equal(read_at(e, &fh, &sid, last - 4094, 4094, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 4094);
	assert_false(eof);
	assert_int_equal(read_at(e, &fh, &sid, last + 1, 1, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 0);
	assert_true(eof);
}

static int truncate_to(struct serve_env *e, const char *name, off_t size)
{
	char path[128];

	env_path(e, name, path, sizeof(path));
	return truncate(path, size);
}

/* COMPOUND of n READs of size bytes, one behind the other. */
static uint32_t read_many(struct serve_env *e, const struct nfs_fh *fh, unsigned n, uint32_t size)
{
	struct nfs4_read_args a = {.stateid = nfs4_stateid_anonymous, .count = size};

	env_begin(e, true);
	put_putfh(e, fh);
	for (unsigned i = 0; i < n; i++, a.offset += size)
		nfs4_put_read_args(&e->args, &a);
	env_run(e, 2 + n);
	env_expect(e, OP_PUTFH, NFS4_OK);
	return e->head.status;
}

static uint32_t expect_data(struct serve_env *e, const uint8_t **data, bool *eof)
{
	struct nfs4_read_res r;
	uint32_t len;

	env_expect(e, OP_READ, NFS4_OK);
	assert_int_equal(nfs4_get_read_res(&e->res, NFS4_OK, &r), 0);
	*data = xdr_get_payload(&e->res, SERVE_IO_MAX, &len, NULL);
	assert_non_null(*data);
	*eof = r.eof;
	return len;
}

static void many_reads_fit_into_one_compound(void **state)
{
	struct serve_env *e = *state;
	static uint8_t all[11000];
	struct nfs4_stateid sid;
	const uint8_t *data;
	struct nfs_fh fh;
	bool eof;

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(write_at(e, &fh, &sid, 0, all, sizeof(all)), NFS4_OK);
	assert_int_equal(read_many(e, &fh, 12, 999), NFS4_OK);
	for (unsigned i = 0; i < 11; i++) {
		assert_int_equal(expect_data(e, &data, &eof), 999);
		assert_memory_equal(data, all + 999 * i, 999);
		assert_false(eof);
	}
	assert_int_equal(expect_data(e, &data, &eof), 11);
	assert_memory_equal(data, all + 999 * 11, 11);
	assert_true(eof);
	assert_true(xdr_in_done(&e->res));
	/* what cannot be carried is said so, and not put off */
	e->sv.state.sessions.tqh_first->fore.maxresponsesize = 8192;
	assert_int_equal(read_many(e, &fh, 12, 999), NFS4ERR_REP_TOO_BIG);
}

static void data_fits_into_its_own_write_chunk(void **state)
{
	struct serve_env *e = *state;
	static uint8_t all[4000];
	struct nfs4_stateid sid;
	const uint8_t *data;
	struct nfs_fh fh;
	bool eof;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(write_at(e, &fh, &sid, 0, all, sizeof(all)), NFS4_OK);
	e->nsinks = 3;
	e->sink[0] = 500;
	e->sink[1] = 0; /* inline */
	e->sink[2] = 1000;
	assert_int_equal(read_many(e, &fh, 3, 800), NFS4_OK);
	assert_int_equal(expect_data(e, &data, &eof), 500);
	assert_int_equal(expect_data(e, &data, &eof), 800);
	assert_int_equal(expect_data(e, &data, &eof), 800);
	/* the first leaves its chunk empty: the second's would be taken for the first's */
	assert_int_equal(read_many(e, &fh, 2, 0), NFS4_OK);
	e->nsinks = 2;
	e->sink[1] = 600;
	e->sink[0] = 4000;
	assert_int_equal(read_many(e, &fh, 1, 4000), NFS4_OK);
	assert_int_equal(truncate_to(e, "f", 0), 0);
	assert_int_equal(read_many(e, &fh, 2, 800), NFS4ERR_REP_TOO_BIG);
	assert_int_equal(expect_data(e, &data, &eof), 0);
	assert_true(eof);
	e->nsinks = 0;
}

static void open_modes_and_shares_hold(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid r, w, d;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, WR, 0, "w", &w, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "r", &r, &fh), NFS4_OK);
	assert_int_equal(write_at(e, &fh, &r, 0, (char[]){"x"}, 1), NFS4ERR_OPENMODE);
	assert_int_equal(env_open(e, "f", false, RD, OPEN4_SHARE_DENY_WRITE, "d", &d, &fh),
		NFS4ERR_SHARE_DENIED);
	assert_int_equal(close_file(e, &fh, &w), NFS4_OK);
	assert_int_equal(
		env_open(e, "f", false, RD, OPEN4_SHARE_DENY_WRITE, "d", &d, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, WR, 0, "w", &w, &fh), NFS4ERR_SHARE_DENIED);
	assert_int_equal(
		write_at(e, &fh, &nfs4_stateid_anonymous, 0, (char[]){"x"}, 1), NFS4ERR_LOCKED);
}

static void opening_again_widens_the_same_open(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid first, second;
	struct nfs4_open_downgrade_args a = {.share_access = RD};
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RD, 0, "o", &first, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, WR, 0, "o", &second, &fh), NFS4_OK);
	assert_memory_equal(first.other, second.other, sizeof(first.other));
	assert_int_equal(second.seqid, first.seqid + 1);
	assert_int_equal(write_at(e, &fh, &first, 0, (char[]){"x"}, 1), NFS4ERR_OLD_STATEID);
	assert_int_equal(write_at(e, &fh, &second, 0, (char[]){"x"}, 1), NFS4_OK);
	a.stateid = second;
	env_begin(e, true);
	put_putfh(e, &fh);
	nfs4_put_open_downgrade_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	second.seqid = 0; /* whatever is current */
	assert_int_equal(write_at(e, &fh, &second, 0, (char[]){"x"}, 1), NFS4ERR_OPENMODE);
}

static void one_client_cannot_open_everything(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid first, sid;
	struct nfs_fh fh, other;
	char path[128], said[512];

	e->sv.state.max_opens = 4;
	assert_int_equal(env_open(e, "f", true, RD, 0, "a", &first, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "b", &sid, &fh), NFS4_OK);
	log_hold();
	assert_int_equal(env_open(e, "f", false, RD, 0, "c", &sid, &fh), NFS4ERR_NOSPC);
	log_release(said, sizeof(said)); /* what to do about it */
	assert_non_null(strstr(said, "limit of open files"));
	assert_int_equal(env_open(e, "new", true, RD, 0, "c", &sid, &fh), NFS4ERR_NOSPC);
	env_path(e, "new", path, sizeof(path));
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(env_open(e, "f", false, RD, 0, "b", &sid, &fh), NFS4_OK);
	assert_int_equal(close_file(e, &fh, &first), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "c", &sid, &fh), NFS4_OK);
	/* two others take what is left, until a client that has gone makes room */
	env_mount(e, "second");
	assert_int_equal(env_open(e, "f", false, RD, 0, "a", &sid, &other), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "b", &sid, &other), NFS4_OK);
	env_mount(e, "third");
	assert_int_equal(env_open(e, "f", false, RD, 0, "a", &sid, &other), NFS4ERR_DELAY);
	TAILQ_FIRST(&e->sv.state.clients)->seen_ns = 0;
	e->sv.state.lease_s = 0;
	assert_int_equal(env_open(e, "f", false, RD, 0, "a", &sid, &other), NFS4_OK);
	assert_int_equal(e->sv.state.nopens, 3);
	/* another descriptor counts as another open */
	assert_int_equal(env_open(e, "f", false, WR, 0, "a", &sid, &other), NFS4_OK);
	assert_int_equal(e->sv.state.nopens, 4);
	assert_int_equal(close_file(e, &other, &sid), NFS4_OK);
	assert_int_equal(e->sv.state.nopens, 2);
}

/* Users of one mount are one client. */
static void one_user_cannot_open_everything(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	char owner[16], said[512];
	unsigned n = 0;

	e->sv.state.max_opens = 384; /* 256 of them a client's, the last 32 not for who has many */
	share_limit(&e->sv.state.share, SHARE_OPENS, 384, 256);
	assert_int_equal(env_open(e, "f", true, RD, 0, "first", &sid, &fh), NFS4_OK);
	log_hold();
	do
		snprintf(owner, sizeof(owner), "%u", ++n);
	while (n < 256 && env_open(e, "f", false, RD, 0, owner, &sid, &fh) == NFS4_OK);
	log_release(said, sizeof(said));
	assert_non_null(strstr(said, "not for user 0"));
	assert_int_equal(n, 224);
	assert_int_equal(e->head.status, NFS4ERR_NOSPC);
	assert_int_equal(env_open(e, "new", true, RD, 0, owner, &sid, &fh), NFS4ERR_NOSPC);
	e->uid = 4711;
	assert_int_equal(env_open(e, "new", true, RD, 0, "other", &sid, &fh), NFS4_OK);
	e->uid = 0;
	assert_int_equal(env_open(e, "f", false, RD, 0, owner, &sid, &fh), NFS4ERR_NOSPC);
}

static void a_new_read_only_file_can_be_written_once(void **state)
{
	struct serve_env *e = *state;
	struct nfs_sattr set = {.mask = NFS_SET_MODE, .mode = 0444};
	uint8_t buf[NFS4_SATTR_MAX];
	struct nfs4_open_args a = {.share_access = RW,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = GUARDED4,
		.name = {"ro", 2}};
	struct nfs4_open_res r;

	nfs4_sattr_encode(&set, buf, &a.attrs);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_OPEN, NFS4_OK);
	assert_int_equal(nfs4_get_open_res(&e->res, NFS4_OK, &r), 0);
	assert_true(nfs4_bit(&r.attrset, FATTR4_MODE));
	/* in one COMPOUND with the current stateid */
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	a.create = false;
	nfs4_put_open_args(&e->args, &a);
	nfs4_put_write_args(&e->args, &(struct nfs4_write_args){.stateid = nfs4_stateid_current,
					      .data = SEG_LIST_MEM((char[]){"abc"}, 3)});
	assert_int_equal(env_run(e, 4), NFS4_OK);
	a.create = true;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_EXIST);
}

static uint32_t exclusive(struct serve_env *e, uint8_t verf)
{
	struct nfs4_open_args a = {.share_access = RW,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = EXCLUSIVE4_1,
		.name = {"excl", 4}};

	memset(a.verf, verf, sizeof(a.verf));
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_open_args(&e->args, &a);
	return env_run(e, 3);
}

static void exclusive_create_is_idempotent_by_its_verifier(void **state)
{
	struct serve_env *e = *state;

	assert_int_equal(exclusive(e, 0x81), NFS4_OK);
	assert_int_equal(exclusive(e, 0x81), NFS4_OK);
	assert_int_equal(exclusive(e, 0x82), NFS4ERR_EXIST);
}

static uint32_t lookup(struct serve_env *e, const char *name, uint32_t len)
{
	struct nfs4_lookup_args a = {.name = {name, len}};

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_lookup_args(&e->args, &a);
	return env_run(e, 3);
}

static void names_that_lead_out_are_refused(void **state)
{
	struct serve_env *e = *state;
	static char longname[256];
	char path[128];

	memset(longname, 'n', sizeof(longname));
	env_path(e, "link", path, sizeof(path));
	assert_int_equal(symlink("/etc", path), 0);
	assert_int_equal(lookup(e, "..", 2), NFS4ERR_BADNAME);
	assert_int_equal(lookup(e, ".", 1), NFS4ERR_BADNAME);
	assert_int_equal(lookup(e, "../etc", 6), NFS4ERR_BADCHAR);
	assert_int_equal(lookup(e, "a\0b", 3), NFS4ERR_BADCHAR);
	assert_int_equal(lookup(e, "", 0), NFS4ERR_INVAL);
	assert_int_equal(lookup(e, longname, 256), NFS4ERR_NAMETOOLONG);
	assert_int_equal(lookup(e, longname, 255), NFS4ERR_NOENT);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_op(&e->args, OP_LOOKUPP);
	assert_int_equal(env_run(e, 3), NFS4ERR_NOENT);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "link");
	env_put_lookup(e, "passwd");
	assert_int_equal(env_run(e, 4), NFS4ERR_SYMLINK);
}

/* Reads the root in pieces of maxcount; returns how many entries there were. */
static unsigned list(struct serve_env *e, uint32_t maxcount, unsigned *pieces)
{
	struct nfs4_readdir_args a = {.maxcount = maxcount,
		.want = nfs4_bits(FATTR4_TYPE, FATTR4_FILEID, FATTR4_FILEHANDLE, -1)};
	unsigned n = 0;
	bool eof = false;

	*pieces = 0;
	while (!eof) {
		struct nfs4_readdir_res r;
		struct nfs4_entry ent;

		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_readdir_args(&e->args, &a);
		assert_int_equal(env_run(e, 3), NFS4_OK);
		env_expect(e, OP_PUTROOTFH, NFS4_OK);
		env_expect(e, OP_READDIR, NFS4_OK);
		assert_int_equal(nfs4_get_readdir_res(&e->res, NFS4_OK, &r), 0);
		memcpy(a.verf, r.verf, sizeof(a.verf));
		for (int i = 0;; i++) {
			struct nfs4_attrs attrs;
			int got = nfs4_get_entry(&e->res, &ent, &eof);

			assert_true(got >= 0);
			assert_true(got || i || eof);
			if (!got)
				break;
			assert_int_equal(nfs4_attrs_decode(&ent.attrs, &attrs), 0);
			assert_int_equal(attrs.attr.type, NFS_REG);
			assert_true(attrs.fh.len > 0);
			a.cookie = ent.cookie;
			assert_true(a.cookie > 2);
			n++;
		}
		++*pieces;
	}
	return n;
}

static void directories_are_read_in_pieces(void **state)
{
	struct serve_env *e = *state;
	unsigned pieces;
	char path[128];

	for (int i = 0; i < 300; i++) {
		char name[32];
		int fd;

		snprintf(name, sizeof(name), "entry-%d", i);
		env_path(e, name, path, sizeof(path));
		fd = open(path, O_CREAT | O_WRONLY, 0644);
		assert_true(fd >= 0);
		close(fd);
	}
	assert_int_equal(list(e, 1024, &pieces), 300);
	assert_true(pieces > 20);
	assert_int_equal(list(e, 1 << 20, &pieces), 300);
	assert_true(pieces <= 2);
}

static void a_reply_has_its_bounds(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_readdir_args a = {.maxcount = 16, .want = nfs4_bits(FATTR4_TYPE, -1)};
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_readdir_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_TOOSMALL);
	a.cookie = 2;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_readdir_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4ERR_BAD_COOKIE);
	/* 16 handles of a hundred bytes and more do not fit into a cached answer of 1 KiB */
	e->cachethis = true;
	e->sv.state.sessions.tqh_first->fore.maxresponsesize_cached = 512;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	for (int i = 0; i < 14; i++)
		nfs4_put_op(&e->args, OP_GETFH);
	assert_int_equal(env_run(e, 16), NFS4ERR_REP_TOO_BIG_TO_CACHE);
	e->cachethis = false;
}

static void renaming_a_file_to_itself_changes_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_rename_args rn = {.from = {"a", 1}, .to = {"a", 1}};
	char a[128], b[128];
	struct nfs4_rename_res r;

	env_path(e, "a", a, sizeof(a));
	env_path(e, "b", b, sizeof(b));
	assert_true(close(open(a, O_CREAT | O_WRONLY, 0644)) == 0);
	assert_int_equal(link(a, b), 0);
	for (int linked = 0; linked < 2; linked++) {
		rn.to.s = linked ? "b" : "a";
		env_begin(e, true);
		nfs4_put_op(&e->args, OP_PUTROOTFH);
		nfs4_put_op(&e->args, OP_SAVEFH);
		nfs4_put_rename_args(&e->args, &rn);
		assert_int_equal(env_run(e, 4), NFS4_OK);
		env_expect(e, OP_PUTROOTFH, NFS4_OK);
		env_expect(e, OP_SAVEFH, NFS4_OK);
		env_expect(e, OP_RENAME, NFS4_OK);
		assert_int_equal(nfs4_get_rename_res(&e->res, NFS4_OK, &r), 0);
		assert_true(r.from.before == r.from.after);
		assert_true(r.to.before == r.to.after);
	}
	assert_int_equal(access(a, F_OK), 0);
	assert_int_equal(access(b, F_OK), 0);
}

static uint32_t create_masked(struct serve_env *e, const char *name, bool dir)
{
	struct nfs_sattr set = {.mask = NFS_SET_MODE | NFS_SET_UMASK, .mode = 0777, .umask = 027};
	struct nfs4_open_args o = {.share_access = RW,
		.owner = {e->clientid, {(const uint8_t *)"o", 1}},
		.create = true,
		.mode = GUARDED4,
		.name = {name, (uint32_t)strlen(name)}};
	struct nfs4_create_args mk = {.type = NF4DIR, .name = o.name};
	uint8_t vals[NFS4_SATTR_MAX];

	nfs4_sattr_encode(&set, vals, &o.attrs);
	mk.attrs = o.attrs;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	if (dir)
		nfs4_put_create_args(&e->args, &mk);
	else
		nfs4_put_open_args(&e->args, &o);
	return env_run(e, 3);
}

static mode_t mode_of(struct serve_env *e, const char *name)
{
	char path[128];
	struct stat st;

	env_path(e, name, path, sizeof(path));
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void the_umask_counts_unless_a_default_acl_does(void **state)
{
	/* version 2, user:: rwx, group:: rwx, other:: r-x */
	static const uint8_t acl[] = {2, 0, 0, 0, 1, 0, 7, 0, 255, 255, 255, 255, 4, 0, 7, 0, 255,
		255, 255, 255, 32, 0, 5, 0, 255, 255, 255, 255};
	struct nfs_sattr set = {.mask = NFS_SET_MODE | NFS_SET_UMASK};
	struct nfs4_setattr_args sa = {0};
	struct serve_env *e = *state;
	uint8_t vals[NFS4_SATTR_MAX];

	assert_int_equal(create_masked(e, "one", false), NFS4ERR_ATTRNOTSUPP);
	e->minor = 2;
	assert_int_equal(create_masked(e, "one", false), NFS4_OK);
	assert_int_equal(mode_of(e, "one"), 0750);
	assert_int_equal(create_masked(e, "dir", true), NFS4_OK);
	assert_int_equal(mode_of(e, "dir"), 0750);
	/* nothing is made: no umask */
	nfs4_sattr_encode(&set, vals, &sa.attrs);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_setattr_args(&e->args, &sa);
	assert_int_equal(env_run(e, 3), NFS4ERR_INVAL);
	if (setxattr(e->dir, "system.posix_acl_default", acl, sizeof(acl), 0) != 0) {
		print_message("# no ACLs in /tmp\n");
		return;
	}
	assert_int_equal(create_masked(e, "two", false), NFS4_OK);
	assert_int_equal(mode_of(e, "two"), 0775);
}

static void the_mode_of_a_link_is_left_alone(void **state)
{
	struct serve_env *e = *state;
	struct nfs_sattr set = {.mask = NFS_SET_MODE, .mode = 0600};
	struct nfs4_setattr_args a = {0};
	uint8_t vals[NFS4_SATTR_MAX];
	char path[128];

	env_path(e, "link", path, sizeof(path));
	assert_int_equal(symlink("nowhere", path), 0);
	nfs4_sattr_encode(&set, vals, &a.attrs);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "link");
	nfs4_put_setattr_args(&e->args, &a);
	assert_int_equal(env_run(e, 4), NFS4_OK);
}

static void removing_and_renaming_reach_the_disk(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_rename_args rn = {.from = {"a", 1}, .to = {"b", 1}};
	struct nfs4_remove_args rm = {.name = {"b", 1}};
	struct nfs4_stateid sid;
	struct nfs_fh fh;
	char path[128];
	const uint8_t *data;
	uint32_t len;
	bool eof;

	assert_int_equal(env_open(e, "b", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(write_at(e, &fh, &sid, 0, (char[]){"old"}, 3), NFS4_OK);
	env_path(e, "a", path, sizeof(path));
	assert_true(close(open(path, O_CREAT | O_WRONLY, 0644)) == 0);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_op(&e->args, OP_SAVEFH);
	nfs4_put_rename_args(&e->args, &rn);
	assert_int_equal(env_run(e, 4), NFS4_OK);
	assert_int_equal(env_again(e), NFS4_OK); /* a replay, not NFS4ERR_NOENT */
	assert_int_not_equal(access(path, F_OK), 0);
	/* the replaced file lives on while it is open */
	assert_int_equal(read_at(e, &fh, &sid, 0, 10, &data, &len, &eof), NFS4_OK);
	assert_int_equal(len, 3);
	assert_int_equal(close_file(e, &fh, &sid), NFS4_OK);
	env_begin(e, true);
	put_putfh(e, &fh);
	assert_int_equal(env_run(e, 2), NFS4ERR_STALE);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_remove_args(&e->args, &rm);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_path(e, "b", path, sizeof(path));
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_read_only_export_changes_nothing(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_remove_args rm = {.name = {"f", 1}};
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	e->sv.read_only = true;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_remove_args(&e->args, &rm);
	assert_int_equal(env_run(e, 3), NFS4ERR_ROFS);
	assert_int_equal(write_at(e, &fh, &sid, 0, (char[]){"x"}, 1), NFS4ERR_ROFS);
	assert_int_equal(env_open(e, "f", false, RW, 0, "p", &sid, &fh), NFS4ERR_ROFS);
	assert_int_equal(env_open(e, "g", true, RD, 0, "p", &sid, &fh), NFS4ERR_ROFS);
	assert_int_equal(env_open(e, "f", false, RD, 0, "p", &sid, &fh), NFS4_OK);
}

static uint32_t lock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *open,
	const char *owner, uint32_t type, uint64_t offset, uint64_t length, struct nfs4_lock_res *r)
{
	struct nfs4_lock_args a = {.type = type,
		.offset = offset,
		.length = length,
		.new_owner = true,
		.open_stateid = *open,
		.owner = {e->clientid, {(const uint8_t *)owner, (uint32_t)strlen(owner)}}};
	uint32_t status;

	env_begin(e, true);
	put_putfh(e, fh);
	nfs4_put_lock_args(&e->args, &a);
	status = env_run(e, 3);
	if (status == NFS4_OK || status == NFS4ERR_DENIED) {
		env_expect(e, OP_PUTFH, NFS4_OK);
		env_expect(e, OP_LOCK, status);
		assert_int_equal(nfs4_get_lock_res(&e->res, status, r), 0);
	}
	return status;
}

static uint32_t unlock(struct serve_env *e, const struct nfs_fh *fh, const struct nfs4_stateid *sid,
	uint64_t offset, uint64_t length)
{
	struct nfs4_locku_args a = {
		.type = WRITE_LT, .stateid = *sid, .offset = offset, .length = length};

	a.stateid.seqid = 0;
	env_begin(e, true);
	put_putfh(e, fh);
	nfs4_put_locku_args(&e->args, &a);
	return env_run(e, 3);
}

static void byte_ranges_are_locked_like_posix(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_lock_res r, mine;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "A", WRITE_LT, 0, 100, &mine), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "B", READ_LT, 99, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.offset, 0);
	assert_int_equal(r.denied.length, 100);
	assert_int_equal(r.denied.type, WRITE_LT);
	assert_int_equal(lock(e, &fh, &sid, "B", READ_LT, 100, 1, &r), NFS4_OK);
	/* a hole in the middle */
	assert_int_equal(unlock(e, &fh, &mine.stateid, 40, 20), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, 40, 20, &r), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, 39, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, 60, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.offset, 60);
	assert_int_equal(r.denied.length, 40);
	assert_int_equal(lock(e, &fh, &sid, "A", WRITE_LT, 0, 0, &r), NFS4ERR_INVAL);
	assert_int_equal(lock(e, &fh, &sid, "A", WRITE_LT, 3, UINT64_MAX - 1, &r), NFS4ERR_INVAL);
	assert_int_equal(lock(e, &fh, &sid, "A", READ_LT, 1000, UINT64_MAX, &r), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, UINT64_MAX, 1, &r), NFS4ERR_DENIED);
	assert_int_equal(r.denied.length, NFS4_LENGTH_EOF);
	/* closing ends them all */
	sid.seqid = 0;
	assert_int_equal(close_file(e, &fh, &sid), NFS4_OK);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, 0, UINT64_MAX, &r), NFS4_OK);
}

static uint32_t expire_type(struct serve_env *e)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits(FATTR4_FH_EXPIRE_TYPE, -1)};
	struct nfs4_fattr f;
	uint32_t v;

	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_getattr_args(&e->args, &a);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	env_expect(e, OP_PUTROOTFH, NFS4_OK);
	env_expect(e, OP_GETATTR, NFS4_OK);
	assert_int_equal(nfs4_get_fattr(&e->res, &f), 0);
	assert_int_equal(f.vals.len, 4);
	memcpy(&v, f.vals.data, 4);
	return be32toh(v);
}

static void handles_are_only_called_persistent_if_they_are(void **state)
{
	struct serve_env *e = *state;
	struct handle_id *id = &e->sv.objs->root->id;

	assert_int_equal(expire_type(e), FH4_PERSISTENT);
	e->sv.objs->by_handle = false; /* it is looked for, then */
	assert_int_equal(expire_type(e), FH4_PERSISTENT);
	id->kh_len = 0;
	id->birth = 1;
	assert_int_equal(expire_type(e), FH4_PERSISTENT);
	id->birth = 0; /* nothing tells it from a later one of its number */
	assert_int_equal(expire_type(e), FH4_VOLATILE_ANY | FH4_NOEXPIRE_WITH_OPEN);
}

/* The attribute bit (one word) as the last of n operations, GETATTR, has told it. */
static uint64_t last_attr(struct serve_env *e, bool wide)
{
	uint64_t v = 0;

	for (size_t i = wide ? 8 : 4; i > 0; i--)
		v = v << 8 | e->reply[e->req.res.len - i];
	return v;
}

static void put_getattr(struct serve_env *e, unsigned bit)
{
	struct nfs4_getattr_args a = {.want = nfs4_bits((int)bit, -1)};

	nfs4_put_getattr_args(&e->args, &a);
}

static void attributes_behind_a_change_are_new(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_create_args mk = {.type = NF4DIR, .name = {"d", 1}};
	struct nfs4_setattr_args set = {0};
	struct nfs_sattr what = {.mask = NFS_SET_MODE, .mode = 01750};
	uint8_t mode[NFS4_SATTR_MAX], size[NFS4_SATTR_MAX];
	struct nfs4_stateid sid;
	uint64_t before;
	struct nfs_fh fh;

	/* a mode that mkdir() leaves bits out of */
	nfs4_sattr_encode(&what, mode, &mk.attrs);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	nfs4_put_create_args(&e->args, &mk);
	put_getattr(e, FATTR4_MODE);
	assert_int_equal(env_run(e, 4), NFS4_OK);
	assert_int_equal(last_attr(e, false), 01750);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "f");
	put_getattr(e, FATTR4_SIZE);
	assert_int_equal(env_run(e, 4), NFS4_OK);
	assert_int_equal(last_attr(e, true), 0);
	/* found, looked at, changed and looked at again in one COMPOUND */
	what = (struct nfs_sattr){.mask = NFS_SET_SIZE, .size = 4711};
	nfs4_sattr_encode(&what, size, &set.attrs);
	set.stateid = sid;
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	env_put_lookup(e, "f");
	put_getattr(e, FATTR4_SIZE);
	nfs4_put_setattr_args(&e->args, &set);
	put_getattr(e, FATTR4_SIZE);
	assert_int_equal(env_run(e, 6), NFS4_OK);
	assert_int_equal(last_attr(e, true), 4711);
	/* of the directory, after something was made in it */
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	put_getattr(e, FATTR4_NUMLINKS);
	assert_int_equal(env_run(e, 3), NFS4_OK);
	before = last_attr(e, false);
	mk.name.s = "e";
	env_begin(e, true);
	nfs4_put_op(&e->args, OP_PUTROOTFH);
	put_getattr(e, FATTR4_NUMLINKS);
	nfs4_put_op(&e->args, OP_SAVEFH);
	nfs4_put_create_args(&e->args, &mk);
	nfs4_put_op(&e->args, OP_RESTOREFH);
	put_getattr(e, FATTR4_NUMLINKS);
	assert_int_equal(env_run(e, 7), NFS4_OK);
	assert_int_equal(last_attr(e, false), before + 1);
}

static void one_user_cannot_lock_everything(void **state)
{
	struct serve_env *e = *state;
	uint32_t most = STATE_MAX_RANGES / 8 * 7, n = STATE_MAX_RANGES / 64 + 1;
	struct nfs4_lock_res mine;
	struct nfs4_stateid sid;
	struct client *c = TAILQ_FIRST(&e->sv.state.clients);
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(lock(e, &fh, &sid, "A", WRITE_LT, 2 * i, 1, &mine), NFS4_OK);
	c->nranges += most - n; /* as if it held them elsewhere */
	assert_int_equal(lock(e, &fh, &sid, "A", WRITE_LT, 2 * n, 1, &mine), NFS4ERR_SERVERFAULT);
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, 2 * n, 1, &mine), NFS4ERR_SERVERFAULT);
	e->uid = 4711;
	assert_int_equal(lock(e, &fh, &sid, "C", WRITE_LT, 2 * n, 1, &mine), NFS4_OK);
	e->uid = 0;
	c->nranges -= most - n;
	assert_int_equal(lock(e, &fh, &sid, "B", WRITE_LT, 3 * n, 1, &mine), NFS4_OK);
}

static void locked_ranges_are_bounded(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_lock_res mine, r;
	struct nfs4_stateid sid;
	struct client *c = TAILQ_FIRST(&e->sv.state.clients);
	struct nfs_fh fh;

	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "A", WRITE_LT, 0, UINT64_MAX, &mine), NFS4_OK);
	for (uint64_t i = 1; i < 5; i++)
		assert_int_equal(unlock(e, &fh, &mine.stateid, 10 * i, 1), NFS4_OK);
	assert_int_equal(c->nranges, 5);
	c->nranges += STATE_MAX_RANGES - 5; /* as if it held them elsewhere */
	assert_int_equal(unlock(e, &fh, &mine.stateid, 5, 1), NFS4ERR_SERVERFAULT);
	assert_int_equal(lock(e, &fh, &sid, "A", READ_LT, 5, 1, &r), NFS4ERR_SERVERFAULT);
	/* what does not grow is allowed */
	assert_int_equal(unlock(e, &fh, &mine.stateid, 0, 10), NFS4_OK);
	assert_int_equal(lock(e, &fh, &sid, "A", READ_LT, 5, 1, &r), NFS4_OK);
	assert_int_equal(unlock(e, &fh, &mine.stateid, 0, UINT64_MAX), NFS4_OK);
	assert_int_equal(c->nranges, STATE_MAX_RANGES - 5);
	c->nranges = 0;
	assert_int_equal(lock(e, &fh, &sid, "A", READ_LT, 5, 1, &r), NFS4_OK);
	sid.seqid = 0;
	assert_int_equal(close_file(e, &fh, &sid), NFS4_OK);
	assert_int_equal(c->nranges, 0);
}

/* Who may not write a file, by an open or by himself, may not have it synced either. */
static void commit_asks_for_permission(void **state)
{
	struct serve_env *e = *state;
	struct nfs4_stateid sid;
	struct nfs_fh fh;

	if (geteuid() != 0)
		skip();
	ident_init(false);
	assert_int_equal(env_open(e, "f", true, RW, 0, "o", &sid, &fh), NFS4_OK);
	assert_int_equal(commit(e, &fh), NFS4_OK);
	e->uid = 1000;
	assert_int_equal(commit(e, &fh), NFS4_OK); /* another user of the client that has it open */
	e->uid = 0;
	assert_int_equal(close_file(e, &fh, &sid), NFS4_OK);
	e->uid = 1000;
	assert_int_equal(commit(e, &fh), NFS4ERR_ACCESS);
	e->uid = 0;
	assert_int_equal(commit(e, &fh), NFS4_OK);
	assert_int_equal(env_open(e, "f", false, RD, 0, "o", &sid, &fh), NFS4_OK);
	e->uid = 1000; /* to read is not enough */
	assert_int_equal(commit(e, &fh), NFS4ERR_ACCESS);
	e->uid = 0;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_is_read),
		cmocka_unit_test_setup_teardown(the_last_byte_of_all_is_read, setup_shm, teardown),
		TEST(many_reads_fit_into_one_compound), TEST(data_fits_into_its_own_write_chunk),
		TEST(open_modes_and_shares_hold), TEST(opening_again_widens_the_same_open),
		TEST(one_client_cannot_open_everything), TEST(one_user_cannot_open_everything),
		TEST(a_new_read_only_file_can_be_written_once),
		TEST(exclusive_create_is_idempotent_by_its_verifier),
		TEST(names_that_lead_out_are_refused), TEST(directories_are_read_in_pieces),
		TEST(a_reply_has_its_bounds), TEST(removing_and_renaming_reach_the_disk),
		TEST(renaming_a_file_to_itself_changes_nothing),
		TEST(the_umask_counts_unless_a_default_acl_does),
		TEST(the_mode_of_a_link_is_left_alone), TEST(a_read_only_export_changes_nothing),
		TEST(byte_ranges_are_locked_like_posix),
		TEST(handles_are_only_called_persistent_if_they_are),
		TEST(attributes_behind_a_change_are_new), TEST(locked_ranges_are_bounded),
		TEST(one_user_cannot_lock_everything),
		TEST(commit_asks_for_permission), /* last: identities are switched from then on */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
