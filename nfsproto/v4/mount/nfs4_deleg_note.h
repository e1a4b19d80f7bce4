/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_note: the note of a delegation, for the successor of a daemon that is killed
 * (nfs_former.h).
 *
 * The note stays from the answer that brings the delegation to the end of the delegation. A
 * delegation that is not HELD any more (nfs4_deleg.h) is noted as such before a recall is answered:
 * the successor goes on to return the delegation. Local opens and local locks have notes of their
 * own (nfs4_state_note.h), which go back to the state at the server one by one, before DELEGRETURN.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_NOTE_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_NOTE_H

#include "nfsproto/wire/nfs4_xdr.h"
#include "transport/ledger.h"
#include "transport/rpc/rpc.h"

/* The contents of a note: members of struct nfs4_deleg. */
struct nfs4_deleg_noted {
	struct nfs_fh fh;
	enum open_delegation_type4 type; /* OPEN_DELEGATE_READ or OPEN_DELEGATE_WRITE */
	struct nfs4_stateid stateid;
	struct rpc_cred cred;
	bool held, change_known;
	uint64_t change;
};

/* Makes *note the note of a delegation. The mount's lock is held. l: NULL is no ledger. */
void nfs4_deleg_note_put(struct ledger *l, struct note *note, const struct nfs4_deleg_noted *n);
/* Reads a note, the whole of x. False: no delegation has such a note. */
bool nfs4_deleg_note_get(struct xdr_in *x, struct nfs4_deleg_noted *out);

#endif
