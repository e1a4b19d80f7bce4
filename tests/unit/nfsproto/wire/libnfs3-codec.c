/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * libnfs3-codec: messages of NFSv3, MOUNT v3 and NLM v4 through the coders of libnfs.
 */
#include <string.h>
#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nlm.h>

#include "tests/unit/nfsproto/wire/libnfs3-codec.h"

typedef uint32_t coder_fn(ZDR *z, void *m);

/* One coder for both directions, as in libnfs. in is only read when decoding. */
static size_t again(coder_fn *code, const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	/* as large as any message of the tests */
	union {
		WRITE3args args;
		READDIRPLUS3res res;
		FSINFO3res fsinfo;
		NLM4_LOCKargs lock;
		mountres3 mnt;
		char room[4096];
	} m;
	size_t len = 0;
	ZDR d, e;

	memset(&m, 0, sizeof(m));
	memset(&d, 0, sizeof(d));
	memset(&e, 0, sizeof(e));
	libnfs_zdrmem_create(&d, (caddr_t)(uintptr_t)in, (uint32_t)n, ZDR_DECODE);
	libnfs_zdrmem_create(&e, (caddr_t)out, (uint32_t)cap, ZDR_ENCODE);
	if (code(&d, &m) && libnfs_zdr_getpos(&d) == n && code(&e, &m))
		len = libnfs_zdr_getpos(&e);
	libnfs_zdr_destroy(&e);
	libnfs_zdr_destroy(&d);
	return len;
}

#define CODER(type)                                                                                \
	static uint32_t code_##type(ZDR *z, void *m)                                               \
	{                                                                                          \
		return zdr_##type(z, m);                                                           \
	}

#define BOTH(PROC) CODER(PROC##3args) CODER(PROC##3res)
#define EVERY(X)                                                                                   \
	X(GETATTR)                                                                                 \
	X(SETATTR)                                                                                 \
	X(LOOKUP)                                                                                  \
	X(ACCESS)                                                                                  \
	X(READLINK)                                                                                \
	X(READ)                                                                                    \
	X(WRITE)                                                                                   \
	X(CREATE)                                                                                  \
	X(MKDIR)                                                                                   \
	X(SYMLINK)                                                                                 \
	X(MKNOD)                                                                                   \
	X(REMOVE)                                                                                  \
	X(RMDIR)                                                                                   \
	X(RENAME)                                                                                  \
	X(LINK)                                                                                    \
	X(READDIR)                                                                                 \
	X(READDIRPLUS)                                                                             \
	X(FSSTAT)                                                                                  \
	X(FSINFO)                                                                                  \
	X(PATHCONF)                                                                                \
	X(COMMIT)

EVERY(BOTH)
CODER(mountres3)
CODER(exports)
CODER(NLM4_LOCKargs)
CODER(NLM4_TESTres)

/* In the order of the procedures' numbers, from 1. */
#define ARGS(PROC) code_##PROC##3args,
#define RES(PROC)  code_##PROC##3res,
static coder_fn *const args_coders[] = {NULL, EVERY(ARGS)};
static coder_fn *const res_coders[] = {NULL, EVERY(RES)};

size_t libnfs3_args_again(uint32_t proc, const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	return again(args_coders[proc], in, n, out, cap);
}

size_t libnfs3_res_again(uint32_t proc, const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	return again(res_coders[proc], in, n, out, cap);
}

size_t libnfs3_mnt_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	return again(code_mountres3, in, n, out, cap);
}

size_t libnfs3_exports_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	return again(code_exports, in, n, out, cap);
}

size_t libnfs3_nlm_lock_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	return again(code_NLM4_LOCKargs, in, n, out, cap);
}

size_t libnfs3_nlm_test_res_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap)
{
	return again(code_NLM4_TESTres, in, n, out, cap);
}
