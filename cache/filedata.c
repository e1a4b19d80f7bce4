/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata: whether data written to a file is safe on the server, and which openers were told of a
 * loss.
 */
#include "cache/filedata.h"

#include <errno.h>
#include <string.h>

#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define NOTE_BYTES 1024u

/* --- notes -------------------------------------------------------------------------------------
 */

/* A note begins with `gen` as a word, which grows with each UNSTABLE answer. The rest is a stream
 * (xdr.h). */
static const struct field fields[] = {
	FIELD(struct filedata, dirty),
	FIELD(struct filedata, unkept),
	FIELD(struct filedata, unsafe),
	FIELD(struct filedata, have_verf),
	FIELD(struct filedata, verf),
	FIELD(struct filedata, restarts),
	FIELD(struct filedata, redone),
	FIELD(struct filedata, failed_gen),
	FIELD(struct filedata, lost_gen),
	FIELD(struct filedata, told_gen),
	FIELD(struct filedata, losses),
	FIELD(struct filedata, error),
	FIELD(struct filedata, synced),
	FIELD(struct filedata, flushed),
	FIELD(struct filedata, unwritten),
	FIELD(struct filedata, unwritten_error),
};

static bool has_news(const struct filedata *d) REQUIRES(d->lock)
{
	return d->dirty || d->losses || d->unwritten;
}

/* Puts the note, or drops the note if there is neither unstable data nor a loss. */
static void put_note_locked(struct filedata *d) REQUIRES(d->lock)
{
	_Alignas(8) uint8_t bytes[NOTE_BYTES];
	struct xdr_out x;

	if (!d->ledger)
		return;
	if (!has_news(d)) {
		ledger_drop(d->ledger, &d->note);
		return;
	}
	memcpy(bytes, &d->gen, sizeof(d->gen));
	xdr_out_init(&x, bytes + sizeof(d->gen), sizeof(bytes) - sizeof(d->gen));
	xdr_put_u64(&x, d->id);
	xdr_put_u64(&x, filechange_replaced(&d->change));
	fields_put(&x, d, FIELDS(fields));
	if (d->dirty)
		nfs_record_put_cred(&x, &d->by);
	if (xdr_out_ok(&x))
		ledger_put(d->ledger, &d->note, NOTE_LOSS, bytes, sizeof(d->gen) + x.len);
	else
		ledger_give_up(d->ledger);
}

/* Only gen has changed. */
static void note_gen_locked(struct filedata *d) REQUIRES(d->lock)
{
	_Atomic uint64_t *words = ledger_words(d->ledger, &d->note);

	if (words)
		atomic_store_explicit(&words[0], d->gen, memory_order_release);
}

void filedata_note(struct filedata *d, struct ledger *l, uint64_t id)
{
	mutex_lock(&d->lock);
	d->ledger = l;
	d->id = id;
	put_note_locked(d);
	mutex_unlock(&d->lock);
}

void filedata_note_replaced(struct filedata *d)
{
	mutex_lock(&d->lock);
	put_note_locked(d);
	mutex_unlock(&d->lock);
}

/* --- the state ----------------------------------------------------------------------------------
 */

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
		put_note_locked(d);
	else
		note_gen_locked(d);
	mutex_unlock(&d->lock);
	return is;
}

void filedata_lost(struct filedata *d, int error)
{
	mutex_lock(&d->lock);
	lose_locked(d, error);
	put_note_locked(d);
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
	put_note_locked(d);
	mutex_unlock(&d->lock);
}

void filedata_unwritten(struct filedata *d, int error)
{
	mutex_lock(&d->lock);
	d->unwritten++;
	d->unwritten_error = error;
	put_note_locked(d);
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
		put_note_locked(d);
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
	put_note_locked(d);
	mutex_unlock(&d->lock);
	return is;
}

void filedata_failed(struct filedata *d, uint64_t gen, int error)
{
	mutex_lock(&d->lock);
	if (d->failed_gen != gen || d->error != error)
		lose_locked(d, error);
	d->failed_gen = d->lost_gen = gen;
	put_note_locked(d);
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
	put_note_locked(d);
	mutex_unlock(&d->lock);
}

bool filedata_safe(struct filedata *d)
{
	bool safe;

	mutex_lock(&d->lock);
	safe = !d->unkept && !d->unsafe;
	if (safe) {
		clean_locked(d);
		put_note_locked(d);
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
		put_note_locked(d);
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
		put_note_locked(d);
	mutex_unlock(&d->lock);
	return error;
}

/* --- a successor ------------------------------------------------------------------------------ */

/* Begins to read note i: gen and the file. False: the note is damaged. */
static bool begin(const struct former *f, uint32_t i, struct xdr_in *x, uint64_t *gen, uint64_t *id)
{
	uint32_t len;
	const uint8_t *data = former_note(f, NOTE_LOSS, i, &len);

	if (len < sizeof(*gen))
		return false;
	memcpy(gen, data, sizeof(*gen));
	xdr_in_init(x, data + sizeof(*gen), len - sizeof(*gen));
	*id = xdr_get_u64(x);
	return xdr_in_ok(x);
}

bool filedata_former_id(const struct former *f, uint32_t i, uint64_t *id)
{
	struct xdr_in x;
	uint64_t gen;

	return begin(f, i, &x, &gen, id);
}

/* The flags and numbers of d fit together. */
static bool is_possible(const struct filedata *d) REQUIRES(d->lock)
{
	return has_news(d) && d->redone <= d->restarts && d->failed_gen <= d->gen &&
	       d->lost_gen <= d->gen && d->told_gen <= d->gen && d->synced <= d->losses &&
	       d->flushed <= d->losses && d->error <= 0 && d->unwritten_error <= 0;
}

bool filedata_former(struct filedata *d, const struct former *f, uint32_t i)
{
	struct xdr_in x;
	uint64_t gen, id;
	bool good;

	if (!begin(f, i, &x, &gen, &id))
		return false;
	mutex_lock(&d->lock);
	d->gen = gen;
	atomic_store(&d->change.replaced, xdr_get_u64(&x));
	fields_get(&x, d, FIELDS(fields));
	if (d->dirty)
		nfs_record_get_cred(&x, &d->by);
	good = xdr_in_done(&x) && is_possible(d);
	put_note_locked(d);
	mutex_unlock(&d->lock);
	return good;
}

bool filedata_former_keeps(struct filedata *d, uint64_t gen)
{
	bool dirty;

	mutex_lock(&d->lock);
	dirty = d->dirty;
	if (d->gen < gen) {
		d->gen = gen;
		note_gen_locked(d);
	}
	mutex_unlock(&d->lock);
	return dirty;
}
