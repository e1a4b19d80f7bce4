/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * crc32c: the Castagnoli CRC.
 *
 * The processor's instruction takes three cycles but a new one can start in each cycle. So one
 * chain of instructions uses a third of the processor's capacity. Large buffers are cut into three
 * lanes of equal length with CRCs computed side by side.
 *
 * Joining lanes is linear algebra. The CRC of A followed by n bytes B is shift(crc(A), n) xor
 * crc(B), where shift() multiplies by x^(8n) modulo the polynomial. For the three lane lengths here
 * the product comes from four tables of 256 words.
 *
 * All tables are computed once, at the first use; afterwards they are only read.
 */
#include "transport/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

#define POLY	   0x82f63b78u /* reflected */
#define LANE_LONG  4096
#define LANE_MID   448 /* three lanes are nearly the payload of a segment on an Ethernet */
#define LANE_SHORT 64

typedef uint32_t crc_fn(uint32_t crc, const uint8_t *p, size_t len);

static uint32_t byte_table[8][256]; /* [k][b]: CRC of byte b followed by k zero bytes */
static crc_fn *chosen;
static const char *chosen_name;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_byte_table(void)
{
	for (unsigned b = 0; b < 256; b++) {
		uint32_t c = b;

		for (int i = 0; i < 8; i++)
			c = c & 1 ? c >> 1 ^ POLY : c >> 1;
		byte_table[0][b] = c;
	}
	for (unsigned b = 0; b < 256; b++)
		for (int k = 1; k < 8; k++)
			byte_table[k][b] = byte_table[k - 1][b] >> 8 ^
					   byte_table[0][byte_table[k - 1][b] & 0xff];
}

static uint32_t load_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Eight bytes a step. crc is inverted, as the hardware keeps it. */
static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len >= 8; p += 8, len -= 8) {
		uint32_t a = crc ^ load_le32(p), b = load_le32(p + 4);

		crc = byte_table[7][a & 0xff] ^ byte_table[6][a >> 8 & 0xff] ^
		      byte_table[5][a >> 16 & 0xff] ^ byte_table[4][a >> 24] ^
		      byte_table[3][b & 0xff] ^ byte_table[2][b >> 8 & 0xff] ^
		      byte_table[1][b >> 16 & 0xff] ^ byte_table[0][b >> 24];
	}
	for (; len; len--)
		crc = crc >> 8 ^ byte_table[0][(crc ^ *p++) & 0xff];
	return crc;
}

#if defined(__x86_64__) || defined(__aarch64__)
static uint32_t long_shift[4][256], mid_shift[4][256], short_shift[4][256];

/* The product of two polynomials modulo POLY; the top bit is x^0. */
static uint32_t mul_mod(uint32_t a, uint32_t b)
{
	uint32_t r = 0;

	for (; a; a <<= 1) {
		if (a & 0x80000000u)
			r ^= b;
		b = b & 1 ? b >> 1 ^ POLY : b >> 1;
	}
	return r;
}

static void make_shift(uint32_t table[4][256], size_t bytes)
{
	uint32_t power = 0x80000000u, square = 0x40000000u; /* x^0, x^1 */

	for (size_t n = bytes * 8; n; n >>= 1) {
		if (n & 1)
			power = mul_mod(power, square);
		square = mul_mod(square, square);
	}
	for (int k = 0; k < 4; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = mul_mod(power, b << 8 * k);
}

static inline uint32_t shift(uint32_t table[4][256], uint32_t crc)
{
	return table[0][crc & 0xff] ^ table[1][crc >> 8 & 0xff] ^ table[2][crc >> 16 & 0xff] ^
	       table[3][crc >> 24];
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

#if defined(__x86_64__)
#define HW_TARGET    __attribute__((target("sse4.2")))
#define HW_U64(c, v) _mm_crc32_u64((c), (v))
#define HW_U8(c, v)  _mm_crc32_u8((uint32_t)(c), (v))
#else
#define HW_TARGET    __attribute__((target("+crc")))
#define HW_U64(c, v) __crc32cd((uint32_t)(c), (v))
#define HW_U8(c, v)  __crc32cb((uint32_t)(c), (v))
#endif

/* Three lanes of `lane` bytes from p on. */
HW_TARGET static inline uint32_t three_lanes(
	uint32_t crc, const uint8_t *p, size_t lane, uint32_t table[4][256])
{
	uint64_t a = crc, b = 0, c = 0;

	for (size_t i = 0; i < lane; i += 8) {
		a = HW_U64(a, load64(p + i));
		b = HW_U64(b, load64(p + lane + i));
		c = HW_U64(c, load64(p + 2 * lane + i));
	}
	return shift(table, shift(table, (uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
}

HW_TARGET static uint32_t by_hardware(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t c;

	for (; len >= 3 * LANE_LONG; p += 3 * LANE_LONG, len -= 3 * LANE_LONG)
		crc = three_lanes(crc, p, LANE_LONG, long_shift);
	for (; len >= 3 * LANE_MID; p += 3 * LANE_MID, len -= 3 * LANE_MID)
		crc = three_lanes(crc, p, LANE_MID, mid_shift);
	for (; len >= 3 * LANE_SHORT; p += 3 * LANE_SHORT, len -= 3 * LANE_SHORT)
		crc = three_lanes(crc, p, LANE_SHORT, short_shift);
	for (c = crc; len >= 8; p += 8, len -= 8)
		c = HW_U64(c, load64(p));
	for (; len; len--)
		c = HW_U8(c, *p++);
	return (uint32_t)c;
}
#endif

static void choose(void)
{
	make_byte_table();
	chosen = by_table;
	chosen_name = "table";
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		chosen_name = "sse4.2";
#elif defined(__aarch64__)
	if (getauxval(AT_HWCAP) & HWCAP_CRC32)
		chosen_name = "armv8";
#endif
#if defined(__x86_64__) || defined(__aarch64__)
	if (chosen_name[0] != 't') {
		make_shift(long_shift, LANE_LONG);
		make_shift(mid_shift, LANE_MID);
		make_shift(short_shift, LANE_SHORT);
		chosen = by_hardware;
	}
#endif
}

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, choose);
	return ~chosen(~crc, data, len);
}

uint32_t crc32c_table(uint32_t crc, const void *data, size_t len)
{
	pthread_once(&once, choose);
	return ~by_table(~crc, data, len);
}

const char *crc32c_impl(void)
{
	pthread_once(&once, choose);
	return chosen_name;
}
