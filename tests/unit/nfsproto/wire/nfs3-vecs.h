/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3-vecs: arguments and results of NFSv3 as they are on the wire and in memory, written by hand
 * from RFC 1813: X_HEX is the wire form of X.
 */
#ifndef RNFS_TESTS_NFS3_VECS_H
#define RNFS_TESTS_NFS3_VECS_H

#include <string.h>

#include "nfsproto/wire/nfs3_xdr.h"

/* clang-format off */
#define FH_HEX	  "00000005 01020304 05000000 "
#define FH	  {.len = 5, .data = {1, 2, 3, 4, 5}}
#define FH2_HEX	  "00000004 06070809 "
#define FH2	  {.len = 4, .data = {6, 7, 8, 9}}
#define NAME_HEX  "00000004 6e616d65 "
#define NAME	  {"name", 4}
#define WHERE_HEX FH_HEX NAME_HEX
#define WHERE	  {FH, NAME}
#define VERF_HEX  "c0c1c2c3 c4c5c6c7 "
#define VERF	  {0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7}
#define MODE_HEX  "00000001 000001a4 00000000 00000000 00000000 00000000 00000000 "
#define MODE	  {.mask = NFS_SET_MODE, .mode = 0644}
#define SET_HEX	  "00000001 000009ed 00000001 00000064 00000001 000000c8 00000001 00000001 00000002 " \
		  "00000002 00000003 00000004 00000001 "
#define SET	  {.mask = NFS_SET_MODE | NFS_SET_UID | NFS_SET_GID | NFS_SET_SIZE | NFS_SET_ATIME | \
			   NFS_SET_MTIME_NOW, .mode = 04755, .uid = 100, .gid = 200, \
		   .size = 0x100000002, .atime = {3, 4}}
#define ATTR_HEX  "00000001 000001a4 00000002 00000064 000000c8 00000000 00001000 00000000 00002000 " \
		  "00000008 00000001 00000000 0000abcd 12345678 9abcdef0 " \
		  "00000001 00000002 00000003 00000004 80000005 00000006 "
#define ATTR	  {.type = NFS_REG, .mode = 0644, .nlink = 2, .uid = 100, .gid = 200, .size = 0x1000, \
		   .used = 0x2000, .rdev_major = 8, .rdev_minor = 1, .fsid_major = 0xabcd, \
		   .fileid = 0x123456789abcdef0, .atime = {1, 2}, .mtime = {3, 4}, \
		   .ctime = {0x80000005, 6}, .change = (0x80000005ull << 30) + 6}
#define POST_HEX  "00000001 " ATTR_HEX
#define POST	  {true, ATTR}
#define NONE_HEX  "00000000 "
#define WCC_HEX	  "00000001 00000000 00000fff 00000007 00000008 00000009 0000000a " POST_HEX
#define WCC	  {true, {0xfff, {7, 8}, {9, 10}}, POST}
#define NOWCC_HEX "00000000 00000000 "

static const struct args3_vec {
	struct nfs3_args args;
	const char *hex;
} args3_vecs[] = {
	{{NFS3PROC_NULL, {.fh = {0}}}, ""},
	{{NFS3PROC_GETATTR, {.fh = FH}}, FH_HEX},
	{{NFS3PROC_SETATTR, {.setattr = {FH, SET, true, {5, 6}}}},
		FH_HEX SET_HEX "00000001 00000005 00000006"},
	{{NFS3PROC_SETATTR, {.setattr = {FH, MODE, false, {0, 0}}}}, FH_HEX MODE_HEX "00000000"},
	{{NFS3PROC_LOOKUP, {.dirop = WHERE}}, WHERE_HEX},
	{{NFS3PROC_ACCESS, {.access = {FH, 0x3f}}}, FH_HEX "0000003f"},
	{{NFS3PROC_READLINK, {.fh = FH}}, FH_HEX},
	{{NFS3PROC_READ, {.read = {FH, 0x100000000, 4096}}}, FH_HEX "00000001 00000000 00001000"},
	{{NFS3PROC_WRITE, {.write = {FH, 2, 5, NFS_DATA_SYNC, SEG_LIST_MEM((void *)(uintptr_t)"hello", 5)}}}, FH_HEX "00000000 00000002 00000005 00000001 00000005 68656c6c 6f000000"},
	{{NFS3PROC_CREATE, {.create = {WHERE, NFS3_GUARDED, SET, {0}}}},
		WHERE_HEX "00000001 " SET_HEX},
	{{NFS3PROC_CREATE, {.create = {WHERE, NFS3_EXCLUSIVE, {0}, VERF}}},
		WHERE_HEX "00000002 " VERF_HEX},
	{{NFS3PROC_MKDIR, {.mkdir = {WHERE, MODE}}}, WHERE_HEX MODE_HEX},
	{{NFS3PROC_SYMLINK, {.symlink = {WHERE, MODE, {"to/there", 8}}}},
		WHERE_HEX MODE_HEX "00000008 746f2f74 68657265"},
	{{NFS3PROC_MKNOD, {.mknod = {WHERE, NFS_CHR, MODE, 8, 1}}},
		WHERE_HEX "00000004 " MODE_HEX "00000008 00000001"},
	{{NFS3PROC_MKNOD, {.mknod = {WHERE, NFS_FIFO, MODE, 0, 0}}},
		WHERE_HEX "00000007 " MODE_HEX},
	{{NFS3PROC_MKNOD, {.mknod = {WHERE, NFS_DIR, {0}, 0, 0}}}, WHERE_HEX "00000002"},
	{{NFS3PROC_REMOVE, {.dirop = WHERE}}, WHERE_HEX},
	{{NFS3PROC_RMDIR, {.dirop = WHERE}}, WHERE_HEX},
	{{NFS3PROC_RENAME, {.rename = {WHERE, {FH2, {"b", 1}}}}},
		WHERE_HEX FH2_HEX "00000001 62000000"},
	{{NFS3PROC_LINK, {.link = {FH2, WHERE}}}, FH2_HEX WHERE_HEX},
	{{NFS3PROC_READDIR, {.readdir = {FH, 7, VERF, 0, 8192}}},
		FH_HEX "00000000 00000007 " VERF_HEX "00002000"},
	{{NFS3PROC_READDIRPLUS, {.readdir = {FH, 7, VERF, 1024, 8192}}},
		FH_HEX "00000000 00000007 " VERF_HEX "00000400 00002000"},
	{{NFS3PROC_FSSTAT, {.fh = FH}}, FH_HEX},
	{{NFS3PROC_FSINFO, {.fh = FH}}, FH_HEX},
	{{NFS3PROC_PATHCONF, {.fh = FH}}, FH_HEX},
	{{NFS3PROC_COMMIT, {.commit = {FH, 0x200000000, 65536}}},
		FH_HEX "00000002 00000000 00010000"},
};

static const struct res3_vec {
	struct nfs3_res res;
	const char *hex;
} res3_vecs[] = {
	{{NFS3PROC_GETATTR, {.getattr = {NFS3_OK, ATTR}}}, "00000000 " ATTR_HEX},
	{{NFS3PROC_GETATTR, {.getattr = {.status = NFS3ERR_STALE}}}, "00000046"},
	{{NFS3PROC_SETATTR, {.wcc = {NFS3_OK, WCC}}}, "00000000 " WCC_HEX},
	{{NFS3PROC_SETATTR, {.wcc = {.status = NFS3ERR_NOT_SYNC}}}, "00002712 " NOWCC_HEX},
	{{NFS3PROC_LOOKUP, {.lookup = {NFS3_OK, FH, POST, {0}}}},
		"00000000 " FH_HEX POST_HEX NONE_HEX},
	{{NFS3PROC_LOOKUP, {.lookup = {NFS3ERR_NOENT, {0}, {0}, POST}}}, "00000002 " POST_HEX},
	{{NFS3PROC_ACCESS, {.access = {NFS3_OK, POST, 0x1f}}}, "00000000 " POST_HEX "0000001f"},
	{{NFS3PROC_ACCESS, {.access = {NFS3ERR_IO, {0}, 0}}}, "00000005 " NONE_HEX},
	{{NFS3PROC_READLINK, {.readlink = {NFS3_OK, POST, NAME, {0}}}},
		"00000000 " POST_HEX NAME_HEX},
	{{NFS3PROC_READLINK, {.readlink = {NFS3ERR_INVAL, {0}, {0}, {0}}}}, "00000016 " NONE_HEX},
	{{NFS3PROC_READ, {.read = {NFS3_OK, POST, 5, true, SEG_LIST_MEM((void *)(uintptr_t)"hello", 5)}}}, "00000000 " POST_HEX "00000005 00000001 00000005 68656c6c 6f000000"},
	{{NFS3PROC_READ, {.read = {NFS3ERR_ISDIR, POST, 0, false, {0}}}}, "00000015 " POST_HEX},
	{{NFS3PROC_WRITE, {.write = {NFS3_OK, WCC, 4096, NFS_FILE_SYNC, VERF}}},
		"00000000 " WCC_HEX "00001000 00000002 " VERF_HEX},
	{{NFS3PROC_WRITE, {.write = {NFS3ERR_NOSPC, WCC, 0, 0, {0}}}}, "0000001c " WCC_HEX},
	{{NFS3PROC_CREATE, {.create = {NFS3_OK, true, FH, POST, WCC}}},
		"00000000 00000001 " FH_HEX POST_HEX WCC_HEX},
	{{NFS3PROC_MKDIR, {.create = {.status = NFS3_OK}}}, "00000000 " NONE_HEX NONE_HEX NOWCC_HEX},
	{{NFS3PROC_SYMLINK, {.create = {.status = NFS3ERR_EXIST, .dir = WCC}}}, "00000011 " WCC_HEX},
	{{NFS3PROC_MKNOD, {.create = {.status = NFS3ERR_BADTYPE}}}, "00002717 " NOWCC_HEX},
	{{NFS3PROC_REMOVE, {.wcc = {NFS3_OK, WCC}}}, "00000000 " WCC_HEX},
	{{NFS3PROC_RMDIR, {.wcc = {NFS3ERR_NOTEMPTY, WCC}}}, "00000042 " WCC_HEX},
	{{NFS3PROC_RENAME, {.rename = {NFS3_OK, WCC, WCC}}}, "00000000 " WCC_HEX WCC_HEX},
	{{NFS3PROC_RENAME, {.rename = {.status = NFS3ERR_XDEV}}}, "00000012 " NOWCC_HEX NOWCC_HEX},
	{{NFS3PROC_LINK, {.link = {NFS3_OK, POST, WCC}}}, "00000000 " POST_HEX WCC_HEX},
	{{NFS3PROC_LINK, {.link = {.status = NFS3ERR_MLINK}}}, "0000001f " NONE_HEX NOWCC_HEX},
	{{NFS3PROC_READDIR, {.readdir = {NFS3_OK, POST, VERF}}}, "00000000 " POST_HEX VERF_HEX},
	{{NFS3PROC_READDIRPLUS, {.readdir = {NFS3ERR_NOTSUPP, {0}, {0}}}}, "00002714 " NONE_HEX},
	{{NFS3PROC_FSSTAT, {.fsstat = {NFS3_OK, POST, {1, 2, 3, 4, 5, 6, 0}, 7}}},
		"00000000 " POST_HEX "00000000 00000001 00000000 00000002 00000000 00000003 "
		"00000000 00000004 00000000 00000005 00000000 00000006 00000007"},
	{{NFS3PROC_FSINFO, {.fsinfo = {NFS3_OK, POST, 1, 2, 3, 4, 5, 6, 7, 0x800000000, {0, 1}, 27}}},
		"00000000 " POST_HEX "00000001 00000002 00000003 00000004 00000005 00000006 00000007 "
		"00000008 00000000 00000000 00000001 0000001b"},
	{{NFS3PROC_PATHCONF, {.pathconf = {NFS3_OK, POST, 32000, 255, true, true, false, true}}},
		"00000000 " POST_HEX "00007d00 000000ff 00000001 00000001 00000000 00000001"},
	{{NFS3PROC_PATHCONF, {.pathconf = {.status = NFS3ERR_BADHANDLE}}}, "00002711 " NONE_HEX},
	{{NFS3PROC_COMMIT, {.commit = {NFS3_OK, WCC, VERF}}}, "00000000 " WCC_HEX VERF_HEX},
	{{NFS3PROC_COMMIT, {.commit = {.status = NFS3ERR_IO}}}, "00000005 " NOWCC_HEX},
};
/* clang-format on */

/* The bytes that x has written, with the payloads spliced in as in an inline message. Returns the
 * length. */
static inline size_t splice3(const struct xdr_out *x, uint8_t *to)
{
	size_t from = 0, n = 0;

	for (unsigned i = 0; i < x->npayloads; i++) {
		const struct xdr_payload *p = &x->payload[i];

		memcpy(to + n, x->base + from, p->pos - from);
		n += p->pos - from;
		from = p->pos;
		seg_list_gather(&p->data, to + n);
		n += p->data.len;
		memset(to + n, 0, xdr_pad(p->data.len));
		n += xdr_pad(p->data.len);
	}
	memcpy(to + n, x->base + from, x->len - from);
	return n + x->len - from;
}

/* nfs3_get_res(), and READ's data too. */
static inline int get_res3(struct xdr_in *x, uint32_t proc, struct nfs3_res *r)
{
	int rc = nfs3_get_res(x, proc, r);
	bool placed;

	if (rc || proc != NFS3PROC_READ || r->u.status != NFS3_OK)
		return rc;
	xdr_get_payload_list(x, NFS3_IO_MAX, &r->u.read.data, &placed);
	return xdr_in_ok(x) ? 0 : -1;
}

#endif
