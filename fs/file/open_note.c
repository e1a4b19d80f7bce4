/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * open_note: the way in which a request OPEN opens its file.
 */
#include "fs/file/open_note.h"

#include <stdlib.h>
#include <string.h>

#include "fs/known/fs.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/lock.h"

#define NOTE_MAX (NFS_FH_MAX + NFS_NAME_MAX + 64u) /* bytes of a note */

struct way {
	SLIST_ENTRY(way) link;
	struct note note;
	uint64_t request;
	struct nfs_fh dir;
	char name[REQUEST_NAME_MAX];
};

struct open_notes {
	struct ledger *ledger;
	struct mutex lock; /* a leaf */
	GUARDED_BY(lock) SLIST_HEAD(, way) ways;
};

struct open_notes *open_notes_new(struct ledger *l)
{
	struct open_notes *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->ledger = l;
	mutex_init(&all->lock);
	SLIST_INIT(&all->ways);
	return all;
}

struct open_notes *open_notes_free(struct open_notes *all)
{
	if (!all)
		return NULL;
	open_notes_end(all);
	mutex_destroy(&all->lock);
	free(all);
	return NULL;
}

static void put(struct ledger *l, struct note *note, uint64_t request, const struct nfs_fh *dir,
	const struct nfs_name *name)
{
	uint8_t bytes[NOTE_MAX];
	struct xdr_out x;

	xdr_out_init(&x, bytes, sizeof(bytes));
	xdr_put_u64(&x, request);
	nfs_record_put_fh(&x, dir);
	xdr_put_opaque(&x, name->s, name->len);
	if (xdr_out_ok(&x))
		ledger_put(l, note, NOTE_OPENING, bytes, x.len);
	else
		ledger_give_up(l);
}

void open_note_put(struct request *r, const struct nfs_op *op)
{
	if (r->batch.noted)
		put(r->fs->ledger, &r->note, r->batch.noted, &op->u.open.dir, &op->u.open.name);
}

int open_notes_former(struct fs *fs, const struct former *former, struct err *e)
{
	struct open_notes *all = fs->open_notes;

	for (uint32_t i = 0; i < former_count(former, NOTE_OPENING); i++) {
		struct way *w = calloc(1, sizeof(*w));
		struct xdr_in x;
		uint32_t len;
		const void *data = former_note(former, NOTE_OPENING, i, &len);

		if (!w)
			return err_set(e, ERR_INTERNAL, "out of memory for files being opened");
		xdr_in_init(&x, data, len);
		w->request = xdr_get_u64(&x);
		nfs_record_get_fh(&x, &w->dir);
		nfs_record_get_text(&x, w->name, sizeof(w->name));
		if (!xdr_in_done(&x)) {
			free(w);
			return err_set(e, ERR_INTERNAL,
				"a note of a file that was being opened is damaged");
		}
		put(all->ledger, &w->note, w->request, &w->dir,
			&(struct nfs_name){w->name, (uint32_t)strlen(w->name)});
		mutex_lock(&all->lock);
		SLIST_INSERT_HEAD(&all->ways, w, link);
		mutex_unlock(&all->lock);
	}
	return 0;
}

static struct way *find_locked(struct open_notes *all, uint64_t request) REQUIRES(all->lock)
{
	struct way *w;

	SLIST_FOREACH(w, &all->ways, link)
	if (w->request == request)
		return w;
	return NULL;
}

bool open_note_is(struct fs *fs, uint64_t request)
{
	bool is;

	mutex_lock(&fs->open_notes->lock);
	is = find_locked(fs->open_notes, request);
	mutex_unlock(&fs->open_notes->lock);
	return is;
}

bool open_note_take(struct request *r, struct nfs_fh *dir)
{
	struct open_notes *all = r->fs->open_notes;
	struct way *w;

	mutex_lock(&all->lock);
	w = find_locked(all, request_number(r));
	if (w)
		SLIST_REMOVE(&all->ways, w, way, link);
	mutex_unlock(&all->lock);
	if (!w)
		return false;
	*dir = w->dir;
	memcpy(r->name, w->name, sizeof(w->name));
	r->note = w->note; /* until r puts its own */
	free(w);
	return true;
}

void open_notes_end(struct open_notes *all)
{
	struct way *w;

	mutex_lock(&all->lock);
	while ((w = SLIST_FIRST(&all->ways))) {
		SLIST_REMOVE_HEAD(&all->ways, link);
		ledger_drop(all->ledger, &w->note);
		free(w);
	}
	mutex_unlock(&all->lock);
}
