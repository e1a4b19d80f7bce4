/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata: whether data written to a file is safe on the server, and which openers were told of a
 * loss.
 */
#include "cache/filedata.h"

#include <errno.h>
#include <string.h>

#include "cache/filedata_note.h"

void filedata_init(struct filedata *d)
{
	*d = (struct filedata){.dirty = false};
	filechange_init(&d->change);
	mutex_init(&d->lock);
}

void filedata_finish(struct filedata *d)
{
	mutex_destroy(&d->lock);
	ledger_drop(d->ledger, &d->note);
	filechange_finish(&d->change);
}

static void lose_locked(struct filedata *d, int error) REQUIRES(d->lock)
{
	d->losses++;
	d->error = error;
}

/* Notes verf as the verifier of the unstable data. */
static enum filedata_verf note_verf_locked(struct filedata *d, const uint8_t *verf)
	REQUIRES(d->lock)
{
	enum filedata_verf is = FILEDATA_SAME;

	if (d->have_verf && memcmp(d->verf, verf, NFS_VERF_SIZE)) {
		is = d->unkept ? FILEDATA_LOST : FILEDATA_OTHER;
		if (d->unkept)
			lose_locked(d, -EIO);
		d->unkept = false;
		d->restarts++;
	}
	memcpy(d->verf, verf, NFS_VERF_SIZE);
	d->have_verf = true;
	return is;
}

enum filedata_verf filedata_wrote(struct filedata *d, const struct rpc_cred *by,
	enum nfs_stable committed, const uint8_t *verf, bool kept)
{
	enum filedata_verf is;
	bool news;

	if (committed != NFS_UNSTABLE)
		return FILEDATA_SAME;
	mutex_lock(&d->lock);
	news = d->ledger && (!d->dirty || !d->have_verf || memcmp(d->verf, verf, NFS_VERF_SIZE) ||
				    (!kept && !d->unkept) || !rpc_same_cred(&d->by, by));
	d->dirty = true;
	d->by = *by;
	d->gen++;
	is = note_verf_locked(d, verf);
	d->unkept |= !kept;
	if (news)
		filedata_put_note_locked(d);
	else
		filedata_note_gen_locked(d);
	mutex_unlock(&d->lock);
	return is;
}

void filedata_lost(struct filedata *d, int error)
{
	mutex_lock(&d->lock);
	lose_locked(d, error);
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
}

void filedata_unsafe(struct filedata *d, const struct rpc_cred *by, int error)
{
	mutex_lock(&d->lock);
	d->dirty = d->unsafe = true;
	d->by = *by;
	d->gen++;
	if (error != -EAGAIN) {
		lose_locked(d, error);
		d->failed_gen = d->gen;
	}
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
}

void filedata_unwritten(struct filedata *d, int error)
{
	mutex_lock(&d->lock);
	d->unwritten++;
	d->unwritten_error = error;
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
}

bool filedata_dirty(struct filedata *d, uint64_t *gen)
{
	bool dirty;

	mutex_lock(&d->lock);
	dirty = d->dirty;
	*gen = d->gen;
	mutex_unlock(&d->lock);
	return dirty;
}

uint64_t filedata_restarts(struct filedata *d)
{
	uint64_t restarts;

	mutex_lock(&d->lock);
	restarts = d->restarts;
	mutex_unlock(&d->lock);
	return restarts;
}

void filedata_redone(struct filedata *d, uint64_t restarts)
{
	mutex_lock(&d->lock);
	if (d->redone < restarts) {
		d->redone = restarts;
		filedata_put_note_locked(d);
	}
	mutex_unlock(&d->lock);
}

bool filedata_at_risk(struct filedata *d)
{
	bool risk;

	mutex_lock(&d->lock);
	risk = d->dirty && (d->unkept || d->unsafe);
	mutex_unlock(&d->lock);
	return risk;
}

uint64_t filedata_commit(struct filedata *d, struct rpc_cred *by)
{
	uint64_t gen;

	mutex_lock(&d->lock);
	*by = d->by;
	gen = d->gen;
	mutex_unlock(&d->lock);
	return gen;
}

static void clean_locked(struct filedata *d) REQUIRES(d->lock)
{
	d->dirty = d->unkept = d->unsafe = false;
	d->have_verf = false;
}

enum filedata_verf filedata_committed(struct filedata *d, uint64_t gen, const uint8_t *verf)
{
	enum filedata_verf is = FILEDATA_SAME;

	mutex_lock(&d->lock);
	if (d->dirty)
		is = note_verf_locked(d, verf);
	if (is == FILEDATA_SAME && d->redone != d->restarts)
		is = FILEDATA_OTHER;
	if (is == FILEDATA_SAME && d->gen == gen)
		clean_locked(d);
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
	return is;
}

void filedata_failed(struct filedata *d, uint64_t gen, int error)
{
	mutex_lock(&d->lock);
	if (d->failed_gen != gen || d->error != error)
		lose_locked(d, error);
	d->failed_gen = d->lost_gen = gen;
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
}

uint64_t filedata_told(struct filedata *d)
{
	uint64_t gen;

	mutex_lock(&d->lock);
	gen = d->told_gen;
	mutex_unlock(&d->lock);
	return gen;
}

void filedata_given_up(struct filedata *d)
{
	mutex_lock(&d->lock);
	if (d->told_gen && d->gen == d->told_gen)
		clean_locked(d);
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
}

bool filedata_safe(struct filedata *d)
{
	bool safe;

	mutex_lock(&d->lock);
	safe = !d->unkept && !d->unsafe;
	if (safe) {
		clean_locked(d);
		filedata_put_note_locked(d);
	}
	mutex_unlock(&d->lock);
	return safe;
}

void filedata_open(struct filedata *d, struct filedata_view *v)
{
	mutex_lock(&d->lock);
	*v = (struct filedata_view){
		.synced = d->synced, .flushed = d->flushed, .unwritten = d->unwritten};
	mutex_unlock(&d->lock);
}

int filedata_flush(struct filedata *d, const struct filedata_view *v)
{
	int error = 0;

	mutex_lock(&d->lock);
	if (v->flushed != d->losses) {
		error = d->error;
		d->flushed = d->losses;
	} else if (v->unwritten != d->unwritten) {
		error = d->unwritten_error;
	}
	d->told_gen = d->lost_gen;
	if (d->losses)
		filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
	return error;
}

int filedata_fsync(struct filedata *d, struct filedata_view *v)
{
	int error = 0;

	mutex_lock(&d->lock);
	if (v->synced != d->losses) {
		error = d->error;
		d->synced = d->flushed = d->losses;
	}
	v->synced = v->flushed = d->losses;
	v->unwritten = d->unwritten;
	d->told_gen = d->lost_gen;
	if (d->losses)
		filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
	return error;
}
