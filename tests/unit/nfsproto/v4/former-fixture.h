/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * former-fixture: a mount of mean-nfs4 whose daemon is killed, and its successor, which goes on by
 * a copy of the ledger. The copy is the ledger at the moment of death. The former client lives on
 * in this process, and only gets answers.
 */
#ifndef RNFS_TESTS_FORMER_FIXTURE_H
#define RNFS_TESTS_FORMER_FIXTURE_H

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "transport/ledger.h"

struct survival {
	struct fix *f;
	struct ledger *ledger[2]; /* of the former daemon, and of the successor */
	struct nfs_client *former;
};

/* Mounts, with notes, on a server that another fixture has set up. */
struct survival *survival_new(struct fix *f);
/* cmocka's. */
int survival_setup(void **state);
int survival_teardown(void **state);
/* A mount of the server of s. NULL with *e set. */
struct nfs_client *survival_mount(
	struct survival *s, struct ledger *l, const struct former *former, struct err *e);
/* The process of the former daemon is gone: the server hears nothing. */
void survival_bury(struct survival *s);
/* A copy of the ledger as it is now; without the notes of one kind (NOTE_NONE: with all). */
struct former *survival_copy(struct survival *s, enum note_kind without);
/* The daemon is killed at the moment of which dead is the copy, or now: the successor goes on. */
void survival_succeed(struct survival *s, struct former *dead);
void survival_die(struct survival *s);
/* Submits op, which the server keeps back: a COMPOUND with the operation `held`. */
void survival_start_held(struct survival *s, struct fix_op *w, uint32_t held);
/* The server executes the call that was held. cut: the connection ends before the answer, which the
 * server has cached. */
void survival_release(struct survival *s, uint32_t cut);

#endif
