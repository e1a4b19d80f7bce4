/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ways: the choice of a run's ways.
 */
#include "tests/simulation/ways.h"

#include <stdio.h>
#include <string.h>

#include "tests/simulation/sched.h"

#define IO_MOST	   (1u << 20)
#define MESSAGE	   8192u /* room around the data of a READ or WRITE */
#define SLOTS_MOST 128
#define OPS_MOST   64
#define LEASE	   90
#define LEASE_V3   10 /* an NLM host's grace period lasts a whole lease time */
#define COUNT(a)   (sizeof(a) / sizeof(*(a)))

struct ways ways = {.io_max = IO_MOST,
	.message = UINT32_MAX,
	.slots = SLOTS_MOST,
	.ops = OPS_MOST,
	.lease_s = LEASE};

static char fault[800];
static const char *delegations;

static uint32_t choose_of(const uint32_t *of, unsigned n)
{
	return of[sched_choose(n)];
}

/* NFS4ERR_DELAY to any operation, and errors of a server that has lost a session, or is in its
 * grace period. A request whose answer is lost may have run. If its session is lost then, too, no
 * client can find out. So sessions are lost in calm runs only. */
static void choose_faults(bool calm)
{
	static const char *const ops[] = {"OPEN+CLOSE+LOCK+LOCKU+LOCKT", "READ+WRITE+COMMIT",
		"GETATTR+SETATTR+ACCESS+LOOKUP+CREATE",
		"READDIR+REMOVE+RENAME+LINK+MKDIR+READDIRPLUS+DELEGRETURN", "SEQUENCE"};
	unsigned seed = 1 + sched_choose(1000000);
	size_t at = 0;

	if (sched_once_in(3))
		return;
	for (unsigned i = 0; i < COUNT(ops); i++)
		if (sched_once_in(2))
			at += (size_t)snprintf(fault + at, sizeof(fault) - at,
				"%serror=NFS4ERR_DELAY:op=%s:prob=%u:seed=%u", at ? "," : "",
				ops[i], 1 + sched_choose(8), seed + i);
	if (!calm)
		return;
	if (sched_once_in(4))
		at += (size_t)snprintf(fault + at, sizeof(fault) - at,
			"%serror=NFS4ERR_%s:op=SEQUENCE:prob=1:count=%u:after=40:seed=%u",
			at ? "," : "", sched_once_in(2) ? "BADSESSION" : "DEADSESSION",
			1 + sched_choose(3), seed);
	if (sched_once_in(4))
		snprintf(fault + at, sizeof(fault) - at,
			"%serror=NFS4ERR_GRACE:op=OPEN+LOCK+REMOVE+RENAME+LINK:prob=20:count=%u:"
			"seed=%u",
			at ? "," : "", 1 + sched_choose(5), seed);
}

static void choose_crew(void)
{
	static const uint32_t crew[] = {0, 0, 2, 4, WAYS_CREW};
	static const uint32_t late[] = {1000, 30, 8, 3, 1};

	ways.parallel = choose_of(crew, COUNT(crew));
	if (ways.parallel)
		ways.late_one_in = choose_of(late, COUNT(late));
}

void ways_choose(bool calm, bool rdma)
{
	static const uint32_t io[] = {IO_MOST, IO_MOST, 65536, 16384, 4096};
	static const uint32_t slots[] = {SLOTS_MOST, 64, 16, 3, 1};
	static const uint32_t ops[] = {OPS_MOST, 50, 16};
	static const char *const modes[] = {"none", "read", "write", "write"};

	ways.calm = calm;
	/* the server carries out a small WRITE while the data of another one is fetched */
	ways.splits = rdma;
	ways.v3 = sched_once_in(4);
	delegations = modes[sched_choose(COUNT(modes))];
	if (ways.v3)
		ways.lease_s = LEASE_V3;
	/* After a restart an NFSv3 client may change a file before the holder of a delegation comes
	 * to reclaim: Linux allows that, too. */
	if (ways.v3 && !calm)
		delegations = "none";
	ways.delegates = strcmp(delegations, "none") != 0;
	if (sched_once_in(4)) /* rnfs-serve as it is */
		return;
	ways.coarse = sched_once_in(2);
	ways.file_sync = sched_once_in(4);
	ways.forgets = !calm && sched_once_in(2);
	ways.no_eof = sched_once_in(4);
	ways.short_one_in = sched_once_in(3) ? 2 + sched_choose(10) : 0;
	ways.verf_one_in = !calm && sched_once_in(4) ? 10 + sched_choose(40) : 0;
	ways.recall_one_in = ways.delegates && sched_once_in(4) ? 4 + sched_choose(40) : 0;
	ways.resize_one_in = sched_once_in(4) ? 4 + sched_choose(40) : 0;
	if (sched_once_in(3))
		ways.io_max = choose_of(io, COUNT(io));
	if (sched_once_in(3))
		ways.message = ways.io_max + MESSAGE;
	if (sched_once_in(3))
		ways.slots = choose_of(slots, COUNT(slots));
	if (sched_once_in(3))
		ways.ops = choose_of(ops, COUNT(ops));
	choose_faults(calm);
	choose_crew();
	ways.refuses = *fault;
	/* a delayed SEQUENCE delays the WRITE behind it */
	ways.splits = rdma || ways.short_one_in || ways.io_max < IO_MOST ||
		      strstr(fault, "WRITE") || strstr(fault, "SEQUENCE") || ways.parallel;
	sched_event("ways:%s%s%s%s, short 1/%u, verifier 1/%u, recall 1/%u, resize 1/%u, I/O %u, "
		    "message %u, slots %u, ops %u, parallel %u, late 1/%u",
		ways.coarse ? " coarse" : "", ways.file_sync ? " file_sync" : "",
		ways.forgets ? " forgets" : "", ways.no_eof ? " no_eof" : "", ways.short_one_in,
		ways.verf_one_in, ways.recall_one_in, ways.resize_one_in, ways.io_max, ways.message,
		ways.slots, ways.ops, ways.parallel, ways.late_one_in);
}

unsigned ways_args(char *args[WAYS_ARGS])
{
	static char lease[16];
	unsigned n = 0;

	snprintf(lease, sizeof(lease), "%u", ways.lease_s);
	args[n++] = "--lease";
	args[n++] = lease;
	args[n++] = "--delegations";
	args[n++] = (char *)delegations;
	if (*fault) {
		args[n++] = "--fault";
		args[n++] = fault;
	}
	for (unsigned i = 0; i < n; i += 2)
		sched_event("rnfs-serve %s %s", args[i], args[i + 1]);
	return n;
}
