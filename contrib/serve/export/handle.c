/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * handle: the contents of the server's file handles, and the seal.
 */
#include "contrib/serve/export/handle.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define MAGIC	 0x31736e72u /* "rns1" */
#define HEAD_LEN 32
#define SEAL_LEN 8

static uint64_t rotl(uint64_t v, int n)
{
	return v << n | v >> (64 - n);
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

static void sip_rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[0] = rotl(v[0], 32);
		v[2] += v[3];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[2] = rotl(v[2], 32);
	}
}

uint64_t handle_siphash(const uint8_t key[HANDLE_KEY], const void *data, size_t n)
{
	uint64_t k0 = load64(key), k1 = load64(key + 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
		k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull};
	const uint8_t *p = data;
	uint8_t tail[8] = {0};
	size_t left = n;

	for (; left >= 8; left -= 8, p += 8) {
		uint64_t m = load64(p);

		v[3] ^= m;
		sip_rounds(v, 2);
		v[0] ^= m;
	}
	memcpy(tail, p, left);
	tail[7] = (uint8_t)n;
	v[3] ^= load64(tail);
	sip_rounds(v, 2);
	v[0] ^= load64(tail);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

bool handle_id_lasts(const struct handle_id *id)
{
	return id->birth || id->kh_len;
}

int handle_id_equal(const struct handle_id *a, const struct handle_id *b)
{
	if (a->dev != b->dev || a->ino != b->ino)
		return 0;
	if (a->kh_len || b->kh_len)
		return a->kh_len == b->kh_len && a->kh_type == b->kh_type &&
		       memcmp(a->kh, b->kh, a->kh_len) == 0;
	return a->birth == b->birth;
}

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

uint16_t handle_step(uint64_t ino)
{
	return (uint16_t)(ino * 0x9e3779b97f4a7c15ull >> 48);
}

void handle_trail_add(struct handle_trail *t, uint64_t ino)
{
	if (t->n < HANDLE_TRAIL)
		t->step[t->n++] = handle_step(ino);
}

uint32_t handle_seal(uint8_t *buf, const struct handle_id *id, const struct handle_trail *trail,
	const uint8_t key[HANDLE_KEY])
{
	uint32_t magic = htole32(MAGIC);
	uint16_t type = htole16(id->kh_type);
	size_t at = HEAD_LEN + padded(id->kh_len);
	size_t steps = trail ? trail->n : 0, room = (HANDLE_MAX - SEAL_LEN - at) / 2, n;

	if (steps > room)
		steps = room;
	n = at + padded(2 * steps);
	memset(buf, 0, n);
	memcpy(buf, &magic, 4);
	memcpy(buf + 4, &type, 2);
	buf[6] = id->kh_len;
	buf[7] = (uint8_t)steps;
	put64(buf + 8, id->dev);
	put64(buf + 16, id->ino);
	put64(buf + 24, id->birth);
	memcpy(buf + HEAD_LEN, id->kh, id->kh_len);
	for (size_t i = 0; i < steps; i++) {
		buf[at + 2 * i] = (uint8_t)trail->step[i];
		buf[at + 2 * i + 1] = (uint8_t)(trail->step[i] >> 8);
	}
	put64(buf + n, handle_siphash(key, buf, n));
	return (uint32_t)(n + SEAL_LEN);
}

bool handle_names(const uint8_t *buf, size_t len, uint64_t *dev, uint64_t *ino)
{
	uint32_t magic;

	if (len < HEAD_LEN + SEAL_LEN || len > HANDLE_MAX)
		return false;
	memcpy(&magic, buf, 4);
	*dev = load64(buf + 8);
	*ino = load64(buf + 16);
	return le32toh(magic) == MAGIC;
}

bool handle_same(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t differ = 0;

	for (; n >= 8; n -= 8, a += 8, b += 8)
		differ |= load64(a) ^ load64(b);
	while (n-- > 0)
		differ |= (uint64_t)(*a++ ^ *b++);
	return differ == 0;
}

int handle_open(struct handle_id *id, struct handle_trail *trail, const uint8_t *buf, size_t len,
	const uint8_t key[HANDLE_KEY])
{
	uint32_t magic;
	uint16_t type;
	size_t at;

	if (len < HEAD_LEN + SEAL_LEN || len > HANDLE_MAX)
		return -EBADMSG;
	memcpy(&magic, buf, 4);
	if (le32toh(magic) != MAGIC || buf[6] > HANDLE_KH_MAX || buf[7] > HANDLE_TRAIL)
		return -EBADMSG;
	at = HEAD_LEN + padded(buf[6]);
	if (len != at + padded(2u * buf[7]) + SEAL_LEN)
		return -EBADMSG;
	if (load64(buf + len - SEAL_LEN) != handle_siphash(key, buf, len - SEAL_LEN))
		return -EBADMSG;
	memset(id, 0, sizeof(*id));
	memset(trail, 0, sizeof(*trail));
	memcpy(&type, buf + 4, 2);
	id->kh_type = le16toh(type);
	id->kh_len = buf[6];
	id->dev = load64(buf + 8);
	id->ino = load64(buf + 16);
	id->birth = load64(buf + 24);
	memcpy(id->kh, buf + HEAD_LEN, id->kh_len);
	trail->n = buf[7];
	for (unsigned i = 0; i < trail->n; i++)
		trail->step[i] = (uint16_t)(buf[at + 2u * i] | buf[at + 2u * i + 1] << 8);
	return 0;
}
