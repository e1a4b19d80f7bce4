/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * again: requests of the kernel that wait for a lock, and are to begin anew.
 */
#include "fs/kernel/again.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "fs/kernel/device.h"
#include "fs/kernel/request.h"
#include "fs/kernel/underway.h"
#include "fs/known/fs.h"
#include "fs/observe/account.h"
#include "transport/lock.h"

struct again {
	STAILQ_ENTRY(again) link;
	struct again_lock lock;
	uint64_t born;
	struct note note; /* again_note() */
};

STAILQ_HEAD(again_list, again);

struct agains {
	struct mutex lock; /* a leaf */
	struct again_list kept GUARDED_BY(lock);
};

struct agains *agains_new(void)
{
	struct agains *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	mutex_init(&a->lock);
	STAILQ_INIT(&a->kept);
	return a;
}

struct agains *agains_free(struct agains *a)
{
	struct again *one;

	if (!a)
		return NULL;
	mutex_destroy(&a->lock);
	while ((one = STAILQ_FIRST(&a->kept))) {
		STAILQ_REMOVE_HEAD(&a->kept, link);
		free(one);
	}
	free(a);
	return NULL;
}

bool again_keep(struct fs *fs, const struct again_lock *lock, uint64_t born)
{
	struct again *one = calloc(1, sizeof(*one));

	if (!one)
		return false;
	one->lock = *lock;
	one->born = born;
	mutex_lock(&fs->agains->lock);
	STAILQ_INSERT_TAIL(&fs->agains->kept, one, link);
	mutex_unlock(&fs->agains->lock);
	return true;
}

void again_begin(struct fs *fs)
{
	struct again_list list = STAILQ_HEAD_INITIALIZER(list);
	struct again *one;

	mutex_lock(&fs->agains->lock);
	STAILQ_CONCAT(&list, &fs->agains->kept);
	mutex_unlock(&fs->agains->lock);
	while ((one = STAILQ_FIRST(&list))) {
		struct fuse_buf buf = {.mem = &one->lock, .size = sizeof(one->lock)};

		STAILQ_REMOVE_HEAD(&list, link);
		if (one->note.at)
			underway_counts(fs, one->lock.h.unique);
		ledger_drop(fs->ledger, &one->note);
		account_read(&one->lock, sizeof(one->lock));
		request_came_at(one->born);
		fuse_session_process_buf(fs->se, &buf);
		free(one);
	}
	request_came_at(0);
}

/* --- for a successor -------------------------------------------------------------------------- */

static void put_one(struct fs *fs, const struct again *one, struct xdr_out *x)
{
	xdr_put_fixed(x, &one->lock, sizeof(one->lock));
	xdr_put_u64(x, one->born);
	xdr_put_bool(x, device_is_row(fs->device, one->lock.h.unique));
}

/* Keeps a request. On failure x is bad; false: no memory. */
static bool get_one(struct fs *fs, struct xdr_in *x)
{
	struct again_lock lock;
	uint64_t born;
	bool row;

	xdr_get_fixed(x, &lock, sizeof(lock));
	born = xdr_get_u64(x);
	row = xdr_get_bool(x);
	if (lock.h.opcode != FUSE_SETLKW || lock.h.len != sizeof(lock) || !lock.h.unique ||
		(lock.in.lk.type != F_RDLCK && lock.in.lk.type != F_WRLCK) ||
		(row && !device_inherit_row(fs->device, lock.h.unique)))
		xdr_in_fail(x);
	return !xdr_in_ok(x) || again_keep(fs, &lock, born);
}

void again_put_record(struct fs *fs, struct xdr_out *x)
{
	const struct again *one;
	size_t count = xdr_skip_u32(x);
	uint32_t n = 0;

	mutex_lock(&fs->agains->lock);
	STAILQ_FOREACH (one, &fs->agains->kept, link) {
		put_one(fs, one, x);
		n++;
	}
	mutex_unlock(&fs->agains->lock);
	xdr_patch_u32(x, count, n);
}

bool again_get_record(struct fs *fs, struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, UINT32_MAX, sizeof(struct again_lock));

	for (uint32_t i = 0; i < n && xdr_in_ok(x); i++)
		if (!get_one(fs, x))
			return false;
	return true;
}

/* --- as notes --------------------------------------------------------------------------------- */

static void note_one(struct fs *fs, struct again *one)
{
	uint8_t bytes[sizeof(one->lock) + 64];
	struct xdr_out x;

	xdr_out_init(&x, bytes, sizeof(bytes));
	put_one(fs, one, &x);
	ledger_put(fs->ledger, &one->note, NOTE_AGAIN, bytes, x.len);
}

void again_note(struct fs *fs)
{
	struct again *one;

	if (!fs->ledger || fs->may_resend)
		return;
	mutex_lock(&fs->agains->lock);
	STAILQ_FOREACH (one, &fs->agains->kept, link) {
		note_one(fs, one);
		underway_counts_not(fs, one->lock.h.unique);
	}
	mutex_unlock(&fs->agains->lock);
}

int again_former(struct fs *fs, const struct former *former, struct err *e)
{
	bool good = true;
	struct again *one;

	for (uint32_t i = 0; good && i < former_count(former, NOTE_AGAIN); i++) {
		struct xdr_in x;
		uint32_t len;
		const void *data = former_note(former, NOTE_AGAIN, i, &len);

		xdr_in_init(&x, data, len);
		good = get_one(fs, &x) && xdr_in_done(&x);
	}
	mutex_lock(&fs->agains->lock);
	STAILQ_FOREACH (one, &fs->agains->kept, link) {
		note_one(fs, one);
		good = good && underway_spares(fs, one->lock.h.unique);
	}
	mutex_unlock(&fs->agains->lock);
	return good ? 0
		    : err_set(e, ERR_INTERNAL,
			      "the notes of requests are damaged, or there is no memory for them");
}
