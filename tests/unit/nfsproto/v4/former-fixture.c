/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * former-fixture: a mount of which the daemon is killed, and the successor of the daemon.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/former-fixture.h"

struct nfs_client *survival_mount(
	struct survival *s, struct ledger *l, const struct former *former, struct err *e)
{
	struct nfs_mount_params p = fix_params(s->f, "/");

	p.ledger = l;
	p.former = former;
	return nfs_client_new(&p, e);
}

struct survival *survival_new(struct fix *f)
{
	struct survival *s = calloc(1, sizeof(*s));
	struct err e = {.kind = ERR_NONE};

	assert_non_null(s);
	s->f = f;
	for (int i = 0; i < 2; i++)
		assert_non_null(s->ledger[i] = ledger_new(&e));
	f->nfs = survival_mount(s, s->ledger[0], NULL, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	return s;
}

int survival_setup(void **state)
{
	void *f;

	fix_setup_unmounted(&f);
	*state = survival_new(f);
	return 0;
}

void survival_bury(struct survival *s)
{
	if (!s->former)
		return;
	nfs_client_leave_by(s->former, 1);
	s->former = nfs_client_free(s->former);
}

int survival_teardown(void **state)
{
	struct survival *s = *state;
	void *f = s->f;

	survival_bury(s);
	fix_teardown(&f);
	for (int i = 0; i < 2; i++)
		ledger_free(s->ledger[i]);
	free(s);
	return 0;
}

static struct former *read_ledger(struct ledger *l)
{
	struct err e = {.kind = ERR_NONE};
	struct former *f = former_read(ledger_fd(l), &e);

	if (!f)
		print_error("%s\n", e.msg);
	assert_non_null(f);
	return f;
}

/* former_read() copies nothing: the notes go to a ledger of their own, which stays as it is. */
struct former *survival_copy(struct survival *s, enum note_kind without)
{
	struct err e = {.kind = ERR_NONE};
	struct former *now = read_ledger(s->ledger[0]), *copy;
	struct ledger *l = ledger_new(&e);

	assert_non_null(l);
	for (enum note_kind kind = NOTE_NONE + 1; kind < NOTE_KINDS; kind++)
		for (uint32_t i = 0; i < former_count(now, kind) && kind != without; i++) {
			struct note note = {0};
			uint32_t len;
			const void *data = former_note(now, kind, i, &len);

			ledger_put(l, &note, kind, data, len);
		}
	former_free(now);
	copy = read_ledger(l);
	ledger_free(l);
	return copy;
}

void survival_succeed(struct survival *s, struct former *dead)
{
	struct err e = {.kind = ERR_NONE};

	s->former = s->f->nfs;
	s->f->nfs = survival_mount(s, s->ledger[1], dead, &e);
	if (!s->f->nfs)
		print_error("%s\n", e.msg);
	assert_non_null(s->f->nfs);
	former_free(dead);
}

void survival_die(struct survival *s)
{
	survival_succeed(s, survival_copy(s, NOTE_NONE));
}

/* The server keeps the COMPOUNDs back that it has, and no later ones. */
static void hold_no_more(struct survival *s)
{
	pthread_mutex_lock(&s->f->srv.lock);
	s->f->srv.hold_op = 0;
	pthread_mutex_unlock(&s->f->srv.lock);
}

void survival_start_held(struct survival *s, struct fix_op *w, uint32_t held)
{
	mean_release_hold(&s->f->srv, held);
	fix_start(s->f, &w->op, &w->sem);
	assert_true(mean_wait(&s->f->srv, &s->f->srv.nheld, 1));
	hold_no_more(s);
}

void survival_release(struct survival *s, uint32_t cut)
{
	pthread_mutex_lock(&s->f->srv.lock);
	s->f->srv.cut_op = cut;
	s->f->srv.cut_times = cut ? 1 : 0;
	pthread_mutex_unlock(&s->f->srv.lock);
	mean_release(&s->f->srv);
}
