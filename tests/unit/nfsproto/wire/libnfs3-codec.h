/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * libnfs3-codec: messages of NFSv3, MOUNT v3 and NLM v4 through the coders of libnfs, an
 * independent
 * implementation. In a separate file, because the headers of libnfs and ours give the same names to
 * the protocols' numbers.
 */
#ifndef RNFS_TESTS_LIBNFS3_CODEC_H
#define RNFS_TESTS_LIBNFS3_CODEC_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the arguments (results) of an NFSv3 procedure and encodes them to out. Returns the bytes
 * written, 0 if libnfs refuses or does not read all of in. */
size_t libnfs3_args_again(uint32_t proc, const uint8_t *in, size_t n, uint8_t *out, size_t cap);
size_t libnfs3_res_again(uint32_t proc, const uint8_t *in, size_t n, uint8_t *out, size_t cap);
/* The same for MNT's result, EXPORT's, and LOCK's arguments and TEST's result of NLM. */
size_t libnfs3_mnt_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap);
size_t libnfs3_exports_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap);
size_t libnfs3_nlm_lock_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap);
size_t libnfs3_nlm_test_res_again(const uint8_t *in, size_t n, uint8_t *out, size_t cap);

#endif
