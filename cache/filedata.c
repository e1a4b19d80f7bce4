/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata: whether what was written to a file is safe on the server, and who has been told.
 */
#include "cache/filedata.h"

#include <errno.h>
#include <string.h>

void filedata_init(struct filedata *d)
{
	*d = (struct filedata){.dirty = false};
	filechange_init(&d->change);
	pthread_mutex_init(&d->lock, NULL);
}

void filedata_finish(struct filedata *d)
{
	pthread_mutex_destroy(&d->lock);
	filechange_finish(&d->change);
}

static void lose_locked(struct filedata *d, int error)
{
	d->losses++;
	d->error = error;
}

/* Notes verf as that of the unstable data. False if there was another one. */
static bool same_verf_locked(struct filedata *d, const uint8_t *verf)
{
	bool same = !d->have_verf || !memcmp(d->verf, verf, NFS_VERF_SIZE);

	if (!same)
		lose_locked(d, -EIO);
	memcpy(d->verf, verf, NFS_VERF_SIZE);
	d->have_verf = true;
	return same;
}

bool filedata_wrote(struct filedata *d, enum nfs_stable committed, const uint8_t *verf)
{
	bool same;

	if (committed != NFS_UNSTABLE)
		return true;
	pthread_mutex_lock(&d->lock);
	d->dirty = true;
	d->gen++;
	same = same_verf_locked(d, verf);
	pthread_mutex_unlock(&d->lock);
	return same;
}

void filedata_unsafe(struct filedata *d, int error)
{
	pthread_mutex_lock(&d->lock);
	d->dirty = true;
	d->gen++;
	if (error != -EAGAIN) {
		lose_locked(d, error);
		d->failed_gen = d->gen;
	}
	pthread_mutex_unlock(&d->lock);
}

void filedata_unwritten(struct filedata *d, int error)
{
	pthread_mutex_lock(&d->lock);
	d->unwritten++;
	d->unwritten_error = error;
	pthread_mutex_unlock(&d->lock);
}

bool filedata_dirty(struct filedata *d, uint64_t *gen)
{
	bool dirty;

	pthread_mutex_lock(&d->lock);
	dirty = d->dirty;
	*gen = d->gen;
	pthread_mutex_unlock(&d->lock);
	return dirty;
}

bool filedata_committed(struct filedata *d, uint64_t gen, const uint8_t *verf)
{
	bool same = true;

	pthread_mutex_lock(&d->lock);
	if (d->dirty)
		same = same_verf_locked(d, verf);
	if (d->gen == gen) {
		d->dirty = false;
		d->have_verf = false;
	}
	pthread_mutex_unlock(&d->lock);
	return same;
}

void filedata_failed(struct filedata *d, uint64_t gen, int error)
{
	pthread_mutex_lock(&d->lock);
	if (d->failed_gen != gen || d->error != error)
		lose_locked(d, error);
	d->failed_gen = gen;
	pthread_mutex_unlock(&d->lock);
}

void filedata_open(struct filedata *d, struct filedata_view *v)
{
	pthread_mutex_lock(&d->lock);
	*v = (struct filedata_view){
		.synced = d->synced, .flushed = d->flushed, .unwritten = d->unwritten};
	pthread_mutex_unlock(&d->lock);
}

int filedata_flush(struct filedata *d, const struct filedata_view *v)
{
	int error = 0;

	pthread_mutex_lock(&d->lock);
	if (v->flushed != d->losses) {
		error = d->error;
		d->flushed = d->losses;
	} else if (v->unwritten != d->unwritten) {
		error = d->unwritten_error;
	}
	pthread_mutex_unlock(&d->lock);
	return error;
}

int filedata_fsync(struct filedata *d, struct filedata_view *v)
{
	int error = 0;

	pthread_mutex_lock(&d->lock);
	if (v->synced != d->losses) {
		error = d->error;
		d->synced = d->flushed = d->losses;
	}
	v->synced = v->flushed = d->losses;
	v->unwritten = d->unwritten;
	pthread_mutex_unlock(&d->lock);
	return error;
}
