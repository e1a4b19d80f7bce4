/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata_note: the note about the safety of a file's data.
 *
 * The note begins with `gen` as a word, which grows with each UNSTABLE answer. The rest is a stream
 * (xdr.h).
 */
#include "cache/filedata_note.h"

#include <string.h>

#include "transport/rpc/fields.h"

#define NOTE_BYTES 1024u

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

static void put_cred(struct xdr_out *x, const struct rpc_cred *cred)
{
	xdr_put_u32(x, cred->flavor);
	xdr_put_u32(x, cred->uid);
	xdr_put_u32(x, cred->gid);
	xdr_put_u32(x, cred->ngids);
	for (uint32_t i = 0; i < cred->ngids; i++)
		xdr_put_u32(x, cred->gids[i]);
}

static void get_cred(struct xdr_in *x, struct rpc_cred *cred)
{
	uint32_t flavor = xdr_get_u32(x);

	*cred = (struct rpc_cred){.flavor = (enum rpc_flavor)flavor};
	cred->uid = xdr_get_u32(x);
	cred->gid = xdr_get_u32(x);
	cred->ngids = xdr_get_count(x, RPC_MAX_GIDS, 4);
	for (uint32_t i = 0; i < cred->ngids; i++)
		cred->gids[i] = xdr_get_u32(x);
}

static bool has_news(const struct filedata *d) REQUIRES(d->lock)
{
	return d->dirty || d->losses || d->unwritten;
}

void filedata_put_note_locked(struct filedata *d) REQUIRES(d->lock)
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
		put_cred(&x, &d->by);
	if (xdr_out_ok(&x))
		ledger_put(d->ledger, &d->note, NOTE_LOSS, bytes, sizeof(d->gen) + x.len);
	else
		ledger_give_up(d->ledger);
}

void filedata_note_gen_locked(struct filedata *d) REQUIRES(d->lock)
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
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
}

void filedata_note_replaced(struct filedata *d)
{
	mutex_lock(&d->lock);
	filedata_put_note_locked(d);
	mutex_unlock(&d->lock);
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
		get_cred(&x, &d->by);
	good = xdr_in_done(&x) && is_possible(d);
	filedata_put_note_locked(d);
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
		filedata_note_gen_locked(d);
	}
	mutex_unlock(&d->lock);
	return dirty;
}
