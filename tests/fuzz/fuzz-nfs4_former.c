/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any notes (notes.h) of a mount with NFSv4: the server, the slots and calls, the mount, its
 * delegations, opens and locks. The notes that a successor accepts, the next successor accepts from
 * the first one.
 */
#include <stdlib.h>

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/nfs4_former.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_replay.h"
#include "nfsproto/v4/server/nfs4_server_record.h"
#include "tests/fuzz/notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct successor {
	struct nfs4_server srv;
	struct nfs4_client c;
	struct ledger *ledger;
};

static struct successor *successor_new(void)
{
	struct successor *s = calloc(1, sizeof(*s));
	struct err e = {0};

	if (!s || !(s->ledger = ledger_new(&e)))
		abort();
	nfs4_server_init(&s->srv, nfs4_kinds);
	s->srv.replay = nfs4_replay_new(s->ledger);
	if (!s->srv.replay)
		abort();
	mutex_init(&s->c.lock);
	TAILQ_INIT(&s->c.opens);
	nfs4_deleg_init(&s->c, false);
	nfs4_lock_init(&s->c.locks);
	s->c.srv = &s->srv;
	s->c.ledger = s->ledger;
	return s;
}

static void successor_free(struct successor *s)
{
	struct nfs_open *o;

	nfs4_lock_finish(&s->c.locks);
	nfs4_deleg_finish(&s->c);
	while ((o = TAILQ_FIRST(&s->c.opens))) {
		TAILQ_REMOVE(&s->c.opens, o, link);
		nfs4_open_unref(o);
	}
	mutex_destroy(&s->c.lock);
	nfs4_replay_free(s->srv.replay);
	nfs4_server_finish(&s->srv);
	ledger_free(s->ledger);
	free(s);
}

static bool reads(int rc, const struct err *e)
{
	if (rc && !e->msg[0])
		abort();
	return !rc;
}

/* Each reader gets its notes, whatever the others found. Were all notes good? */
static bool take_over(struct successor *s, const struct former *f)
{
	struct err e[4] = {0};
	struct nfs_record peer;
	bool good;

	good = reads(nfs4_server_note_peer(f, &peer, &e[0]), &e[0]);
	good &= reads(nfs4_server_get_note(&s->srv, f, &e[1]), &e[1]);
	s->srv.rp.peer = peer.peer;
	s->srv.rp.peer_len = peer.peer_len;
	nfs4_server_note(&s->srv);
	good &= reads(nfs4_replay_read(&s->srv, f, &e[2]), &e[2]);
	good &= reads(nfs4_former_read(&s->c, f, &e[3]), &e[3]);
	return good;
}

/* Delegations with their local opens are held again. */
static void go_on_delegated(struct successor *s)
{
	struct nfs4_deleg *d;
	struct nfs_open *o;
	bool writes;

	for (unsigned i = 0; i < NFS4_D_STATES; i++)
		TAILQ_FOREACH (d, &s->c.delegs.list[i], link) {
			if (!nfs4_former_deleg(&s->c.base, &d->fh, &writes) && i == NFS4_D_HELD)
				abort();
			TAILQ_FOREACH (o, &d->opens, link)
				if (!nfs4_former_open(&s->c.base, nfs4_former_number(o)))
					abort();
		}
}

/* The kernel's requests come again, or have ended. */
static void go_on(struct successor *s)
{
	struct nfs_open *o;

	go_on_delegated(s);
	TAILQ_FOREACH (o, &s->c.opens, link) {
		nfs4_replay_has(&s->srv, o->request);
		if (o->request % 2)
			nfs4_replay_answered(&s->srv, o->request);
		if (nfs4_former_open(&s->c.base, nfs4_former_number(o)))
			o->former = false;
	}
	nfs4_replay_end(&s->srv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct former *f = notes_read(data, size);
	struct successor *first = successor_new();
	bool good = take_over(first, f);

	former_free(f);
	if (good && ledger_is_whole(first->ledger)) {
		struct successor *second = successor_new();

		f = notes_of(first->ledger);
		if (!take_over(second, f))
			abort();
		former_free(f);
		go_on(second);
		successor_free(second);
	}
	successor_free(first);
	return 0;
}
