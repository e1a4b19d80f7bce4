/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg-fixture: a mount of mean-nfs4 that is given delegations, and the mount's user, which is
 * told of the events.
 */
#ifndef RNFS_TESTS_DELEG_FIXTURE_H
#define RNFS_TESTS_DELEG_FIXTURE_H

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"

/* The user's part in the upcalls. Zero at the start of each test, but for f. */
struct deleg_user {
	/* how the user was called: */
	atomic_uint flushes, recalled, gaps, locks_lost;
	/* orders of the test: */
	atomic_bool holds;     /* the user takes its time to flush */
	atomic_uint no_memory; /* so often */
	atomic_bool unsure, modified;
	_Atomic uint64_t size, change;
	struct fix *f;
};

extern struct deleg_user deleg_user;

/* cmocka's: with a mount that takes read delegations, or both types, or only with the server. */
int deleg_setup_read(void **state);
int deleg_setup_write(void **state);
int deleg_setup_unmounted(void **state);
/* Waits until the user's counter is n. */
void deleg_wait(atomic_uint *counter, unsigned n);

/* An open of a file by its handle. */
struct nfs_op deleg_open_op(unsigned file, int flags);
/* Opens and closes the file. Returns the number of the delegation; 0: none. */
uint64_t deleg_given(struct fix *f, unsigned file, int flags, struct nfs_fh *fh);
/* Opens the file under the delegation id, for another user. NULL: the delegation does not allow it.
 */
struct nfs_open *deleg_open(struct fix *f, const struct nfs_fh *fh, uint64_t id, int flags);

/* The server recalls its first delegation, as call seq of the backchannel. */
void deleg_recall(struct fix *f, uint32_t seq, const struct nfs_fh *fh);
/* The server revokes all delegations. deleg_revoke_told(): each answer tells so, up to
 * fix_status_flags(). */
void deleg_revoke(struct fix *f);
void deleg_revoke_told(struct fix *f);

#endif
