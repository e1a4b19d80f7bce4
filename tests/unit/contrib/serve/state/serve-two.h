/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * serve-two: two clients of a server: a holder of delegations that is called back and answers as
 * told, and another client that needs the same files.
 *
 * To be linked with --wrap of rpc_cb_init(), rpc_cb_submit() and rpc_call_finish(), as
 * test-serve-cb is, and of clock_coarse_ns(): time passes when the test says so.
 */

#ifndef RNFS_TESTS_SERVE_TWO_H
#define RNFS_TESTS_SERVE_TWO_H

#include "contrib/serve/state/deleg_use.h"
#include "nfsproto/wire/nfs4_xdr_cb.h"
#include "tests/unit/contrib/serve/serve-env.h"
#include "transport/rpc/xprt.h"

#define RD OPEN4_SHARE_ACCESS_READ
#define WR OPEN4_SHARE_ACCESS_WRITE
#define RW OPEN4_SHARE_ACCESS_BOTH

extern struct rpc_call *two_out; /* the callback that is out */
extern unsigned two_ncalls;	 /* so far */
extern uint64_t two_later_ns;	 /* time that has passed: the clock moves by this alone */

/* A client of the server. */
struct who {
	struct nfs4_sessionid session;
	uint64_t clientid;
	uint32_t slot_seq;
};

struct two {
	struct serve_env e;
	struct rpc_xprt x;
	struct who holder, other;
	bool is_other; /* e makes the calls of the other client */
	struct nfs_fh fh;
	struct nfs4_stateid open;
	struct nfs4_delegation d; /* of the last OPEN */
};

/* Fixture: *state is a struct two in which the holder calls, with a file "f" of 4 bytes. The server
 * gives read delegations of files. */
int two_setup(void **state);
int two_teardown(void **state);
/* From now on the holder calls, or the other client. */
void two_be(struct two *f, bool other);
/* The calling client can be called back, and has answered the probe. */
void two_call_back(struct two *f);
void two_make_file(const struct two *f, const char *name);

/* OPEN. Returns the status; f->open, f->d and f->fh are the results. */
uint32_t two_open_with(struct two *f, const char *name, struct nfs4_open_args *a);
uint32_t two_open(struct two *f, uint32_t access, uint32_t deny); /* of f, by name */
uint32_t two_open_write(struct two *f);
/* The holder opens f to read and gets a delegation; then the open is closed. */
struct nfs4_stateid two_delegated(struct two *f);

/* A COMPOUND of the named operation. Returns the status. */
uint32_t two_give(struct two *f, const struct nfs4_stateid *sid); /* DELEGRETURN */
uint32_t two_free_sid(struct two *f, const struct nfs4_stateid *sid);
uint32_t two_set_mode(struct two *f);
uint32_t two_remove(struct two *f);
uint32_t two_rename(struct two *f, const char *from, const char *to);
uint32_t two_link(struct two *f);
/* The status of sid by TEST_STATEID. */
uint32_t two_test_sid(struct two *f, const struct nfs4_stateid *sid);
/* The status flags of the session by SEQUENCE. */
uint32_t two_status_flags(struct two *f);

/* CB_GETATTR of f is out. Answers with this status, change and size. */
void two_answer_getattr(struct two *f, uint32_t status, uint64_t change, uint64_t size);
/* CB_LAYOUTRECALL of f with sid is out. Answers with this status. */
void two_answer_layoutrecall(struct two *f, const struct nfs4_stateid *sid, uint32_t status);
/* CB_RECALL of sid is out. Answers with this status. */
void two_answer_recall(struct two *f, const struct nfs4_stateid *sid, uint32_t status);

#endif
