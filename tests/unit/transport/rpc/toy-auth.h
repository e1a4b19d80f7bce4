/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * toy-auth: a flavor of authentication that protects nothing, and has all parts of one that
 * does (RPCSEC_GSS): contexts that must be made by separate calls and can be lost, a sequence
 * number in each transmission, verifiers both ways, and, if wanted, arguments and results that only
 * the two ends can read.
 *
 * One object stands for both ends. The counters are atomic.
 */
#ifndef RNFS_TESTS_UNIT_TOY_AUTH_H
#define RNFS_TESTS_UNIT_TOY_AUTH_H

#include <stdatomic.h>

#include "transport/rpc/rpc_auth.h"

#define TOY_FLAVOR  0x70700000u
#define TOY_UID	    4711
#define TOY_PROBLEM 14 /* auth_stat: the context is unknown (RFC 2203 section 5.3.3.3) */
#define TOY_SEEN    256

struct toy_auth {
	/* the requester's choice; init: for the flavor's own calls */
	struct rpc_auth plain, wrapping, init;
	struct rpc_auth *responder[2]; /* for rpc_server_params.auth */

	/* requester */
	struct rpc_client *client; /* set by the test, for refresh() */
	struct rpc_call init_call;
	atomic_bool initializing;
	atomic_uint handle; /* of the context, 0: none */
	atomic_uint next_seq;
	atomic_bool repeat_seq; /* the next transmission uses the last number again */
	atomic_uint marshals, wraps, checks, unwraps, refreshes, releases;

	/* responder */
	atomic_uint context; /* the valid handle */
	atomic_bool reject;  /* every credential */
	atomic_bool lie;     /* the next verifier is wrong */
	atomic_uint accepts, drops, answers, args, results, ends;
	atomic_uint nseen;
	uint32_t seen[TOY_SEEN]; /* the connection's thread */
};

void toy_auth_init(struct toy_auth *t);

#endif
