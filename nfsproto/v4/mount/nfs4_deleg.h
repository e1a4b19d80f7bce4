/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg: delegations of files to a mount (RFC 8881 section 10.4).
 *
 *     OPEN brings one --> HELD --recalled, given back, idle, too many--> DUE --> RETURNING --> gone
 *                    \--not wanted, recalled already--------------------/ |^          \
 *             HELD, DUE, FLUSHING --revoked, not reclaimed--> gone        v|           \--> REVOKED
 *             HELD --its name goes--> LEAVING --> gone, REVOKED, DUE  FLUSHING
 *
 *     HELD       the server recalls the delegation before another client changes the file (a write
 *                delegation: looks at the file). The client's data is right (nfs4_deleg_holds()).
 *                The file may be opened to read, or to write, without asking (a local open)
 *     DUE        not held any more; waits for the state manager, which returns a few at a time
 *     FLUSHING   a write delegation: the user was told to make written data safe (the upcall
 *                `flush`), and has not done so yet. Afterwards the delegation is DUE again, and
 *                `flushed`
 *     RETURNING  its op is under way: OPEN with CLAIM_DELEG_CUR_FH for each local open, one after
 *                the other, LOCK for each local lock (nfs4_lock_local.c), and then DELEGRETURN
 *     LEAVING    the file is not open here, and the delegation goes back with the op that removes
 *                or replaces a name of the file (nfs4_deleg_along.c)
 *     REVOKED    the server has revoked the delegation: FREE_STATEID is due
 *
 * An answer may be lost for good, and with the answer the news of a delegation. The recall is the
 * first news of such a delegation: unseen, it is DUE at once.
 *
 * Written data goes to the server with the stateid of the delegation or of an open, like any other.
 * So the loss of a delegation loses no data, only knowledge. If the server refuses the delegation's
 * stateid, the delegation is not flushed: the flush could wait for its own end.
 *
 * A local open acts with the stateid of the delegation until the open becomes a real one. A local
 * open is in the delegation's list, not among the mount's opens. If the delegation is lost, the
 * local open becomes a suspect open of the mount, and is opened anew (nfs4_open_recover.c).
 *
 * A caller that relies on the delegation must also know two things: the lease has not run out, and
 * no revocation by the server is still unknown here.
 *
 * Locks. The mount's lock guards the table and all delegations in the table. Only the state
 * manager's thread, or the thread that unmounts, frees a delegation that is HELD, DUE or FLUSHING.
 * A delegation that is RETURNING or LEAVING is freed by the end of its op, or before. None becomes
 * LEAVING while the state manager goes through a list.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_H

#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/v4/server/nfs4_server.h"

#define NFS4_DELEGS_MAX	     4096u /* delegations that are HELD */
#define NFS4_DELEG_BUCKETS   1024u
#define NFS4_DELEG_RETURNS   8u			  /* under way at a time */
#define NFS4_DELEG_FLUSHES   64u		  /* likewise */
#define NFS4_DELEG_UNSEEN    64u		  /* on their way back, known by a recall alone */
#define NFS4_DELEG_IDLE_NS   (15 * 60 * NFS4_SEC) /* unused for so long: goes back */
#define NFS4_DELEG_FRESH_NS  (30 * NFS4_SEC)	  /* used in this time: does not give way */
#define NFS4_DELEG_LOOK_NS   (60 * NFS4_SEC)	  /* between two looks for idle delegations */
#define NFS4_DELEG_RECLAIMED 512u		  /* most reclaims after a restart of the server */

enum nfs4_deleg_state {
	NFS4_D_HELD,
	NFS4_D_DUE,
	NFS4_D_FLUSHING,
	NFS4_D_RETURNING,
	NFS4_D_LEAVING,
	NFS4_D_REVOKED,
	NFS4_D_STATES,
};

TAILQ_HEAD(nfs4_deleg_list, nfs4_deleg);

/* The delegations of a mount. */
struct nfs4_delegs {
	struct nfs4_deleg_list list[NFS4_D_STATES];
	unsigned n[NFS4_D_STATES];
	LIST_HEAD(, nfs4_deleg) bucket[NFS4_DELEG_BUCKETS]; /* all */
	uint64_t last_id;
	bool visited;	   /* the state manager goes through a list of delegations */
	unsigned opening;  /* OPENs under way, which may bring one */
	unsigned unseen;   /* known by a recall alone */
	uint64_t look_ns;  /* when to look for idle delegations next; 0: never yet */
	uint64_t rest_ns;  /* the mount becomes settled: none is asked for until then */
	uint64_t again_ns; /* no memory or no connection for a return: try again at this time */
	bool rest_former; /* none goes back, because the user makes its files anew (nfs_former.h) */
};

#endif
