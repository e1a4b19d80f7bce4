/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_held: the slots.
 */
#include "nfsproto/v3/nfs3_held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsproto/wire/nfs3.h"
#include "nfsproto/v3/nfs3_nsm.h"
#include "transport/log.h"

#define ROOM_MIN 16u

enum state { FREE, LIVE, LEFT };

struct nfs3_held_slot {
	struct nfs3_held_owner o;
	enum state state;
	uint32_t next; /* FREE: the number of the next free one, or 0 */
};

struct record {	       /* of the file; in the machine's byte order */
	uint64_t seal; /* 0: empty */
	uint32_t svid, flavor, uid, gid, ngids, fh_len;
	uint32_t gids[RPC_MAX_GIDS];
	uint8_t fh[NFS3_FHSIZE];
};

static off_t offset_of(uint32_t number)
{
	return NFS3_NSM_LINE + (off_t)(number - 1) * (off_t)sizeof(struct record);
}

static uint64_t seal_of(const struct nfs3_held *h, uint32_t number, const struct record *r)
{
	const uint8_t *p = (const uint8_t *)r;
	uint64_t v = (UINT64_C(0xcbf29ce484222325) ^ h->seal) + number;

	for (size_t i = sizeof(r->seal); i < sizeof(*r); i++) /* FNV-1a */
		v = (v ^ p[i]) * UINT64_C(0x100000001b3);
	return v ? v : 1;
}

static bool is_owner(const struct nfs3_held *h, uint32_t number, const struct record *r)
{
	return r->seal && r->seal == seal_of(h, number, r) && r->fh_len > 0 &&
	       r->fh_len <= NFS3_FHSIZE && r->ngids <= RPC_MAX_GIDS &&
	       (r->flavor == RPC_AUTH_NONE || r->flavor == RPC_AUTH_SYS) &&
	       r->svid >= NFS3_HELD_SVID && r->svid < 2 * NFS3_HELD_SVID;
}

static void get_owner(struct nfs3_held_owner *o, const struct record *r)
{
	memset(o, 0, sizeof(*o));
	o->fh.len = r->fh_len;
	memcpy(o->fh.data, r->fh, r->fh_len);
	o->svid = r->svid;
	o->cred = (struct rpc_cred){
		.flavor = r->flavor, .uid = r->uid, .gid = r->gid, .ngids = r->ngids};
	memcpy(o->cred.gids, r->gids, r->ngids * sizeof(r->gids[0]));
}

static void put_owner(const struct nfs3_held *h, uint32_t number, struct record *r)
{
	const struct nfs3_held_owner *o = &h->slot[number - 1].o;

	memset(r, 0, sizeof(*r));
	r->svid = o->svid;
	r->flavor = o->cred.flavor;
	r->uid = o->cred.uid;
	r->gid = o->cred.gid;
	r->ngids = o->cred.ngids;
	memcpy(r->gids, o->cred.gids, o->cred.ngids * sizeof(r->gids[0]));
	r->fh_len = o->fh.len;
	memcpy(r->fh, o->fh.data, o->fh.len);
	r->seal = seal_of(h, number, r);
}

static void warn_once(struct nfs3_held *h, const char *why)
{
	if (!h->warned)
		log_warn("a lock cannot be remembered (%s): it stays at the server if this daemon "
			 "is killed",
			why);
	h->warned = true;
}

/* Makes one more slot, on no list. Its number, or 0. */
static uint32_t grow(struct nfs3_held *h)
{
	uint32_t room = h->room ? 2 * h->room : ROOM_MIN;
	struct nfs3_held_slot *slot;

	if (h->n == NFS3_HELD_MAX)
		return 0;
	if (h->n == h->room) {
		slot = realloc(h->slot, room * sizeof(*slot));
		if (!slot)
			return 0;
		h->slot = slot;
		h->room = room;
	}
	return ++h->n;
}

static void set_free(struct nfs3_held *h, uint32_t number)
{
	h->slot[number - 1].state = FREE;
	h->slot[number - 1].next = h->free;
	h->free = number;
}

/* Reads a former daemon's slots; a slot counts as empty if there is no memory. */
static void load(struct nfs3_held *h)
{
	struct record r;
	uint32_t number;

	while (pread(h->fd, &r, sizeof(r), offset_of(h->n + 1)) == sizeof(r)) {
		number = grow(h);
		if (!number)
			return;
		if (is_owner(h, number, &r)) {
			get_owner(&h->slot[number - 1].o, &r);
			h->slot[number - 1].state = LEFT;
			h->left++;
		} else {
			set_free(h, number);
		}
	}
}

void nfs3_held_open(struct nfs3_held *h, int fd, uint64_t seal, bool former)
{
	*h = (struct nfs3_held){.fd = fd, .seal = seal};
	if (fd >= 0 && former)
		load(h);
	else if (fd >= 0 && ftruncate(fd, NFS3_NSM_LINE))
		log_ctrl("the file of this mount's locks: %s", strerror(errno)); /* all void */
}

void nfs3_held_close(struct nfs3_held *h)
{
	free(h->slot);
	*h = (struct nfs3_held){.fd = -1};
}

uint32_t nfs3_held_note(struct nfs3_held *h, const struct nfs3_held_owner *o)
{
	uint32_t number = h->free;
	struct record r;
	ssize_t n;

	if (o->fh.len == 0 || o->fh.len > NFS3_FHSIZE || o->cred.ngids > RPC_MAX_GIDS)
		return 0; /* no such handle was ever sent */
	if (number)
		h->free = h->slot[number - 1].next;
	else
		number = grow(h);
	if (!number) {
		warn_once(h, "there are too many");
		return 0;
	}
	h->slot[number - 1] = (struct nfs3_held_slot){.o = *o, .state = LIVE};
	if (h->fd >= 0) {
		put_owner(h, number, &r);
		n = pwrite(h->fd, &r, sizeof(r), offset_of(number));
		if (n != sizeof(r))
			warn_once(h, strerror(n < 0 ? errno : ENOSPC));
	}
	return number;
}

bool nfs3_held_adopt(struct nfs3_held *h, uint32_t number, const struct nfs3_held_owner *o)
{
	struct nfs3_held_slot *s = number && number <= h->n ? &h->slot[number - 1] : NULL;

	if (!s || s->state != LEFT || s->o.svid != o->svid || !nfs_fh_equal(&s->o.fh, &o->fh))
		return false;
	s->state = LIVE;
	h->left--;
	return true;
}

void nfs3_held_strike(struct nfs3_held *h, uint32_t number)
{
	static const uint64_t empty;

	if (!number)
		return;
	if (h->slot[number - 1].state == LEFT)
		h->left--;
	/* a successor would unlock in vain for a slot left in the file */
	if (h->fd >= 0 && pwrite(h->fd, &empty, sizeof(empty), offset_of(number)) < 0)
		log_ctrl("the file of this mount's locks: %s", strerror(errno));
	set_free(h, number);
}

void nfs3_held_leave(struct nfs3_held *h, uint32_t number)
{
	if (!number)
		return;
	h->slot[number - 1].state = LEFT;
	h->left++;
}

uint32_t nfs3_held_next_left(const struct nfs3_held *h, uint32_t number, struct nfs3_held_owner *o)
{
	for (uint32_t i = number; h->left && i < h->n; i++) {
		if (h->slot[i].state == LEFT) {
			*o = h->slot[i].o;
			return i + 1;
		}
	}
	return 0;
}

bool nfs3_held_is_left(const struct nfs3_held *h, uint32_t svid)
{
	for (uint32_t i = 0; h->left && i < h->n; i++) {
		if (h->slot[i].state == LEFT && h->slot[i].o.svid == svid)
			return true;
	}
	return false;
}
