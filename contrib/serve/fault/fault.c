/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault: decides which mistakes the server makes on purpose.
 *
 * Rules do not change after parsing, except for their counters. One lock guards the counters: this
 * code is for tests, not for speed.
 */
#include "contrib/serve/fault/fault.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/wire/mount3.h"
#include "nfsproto/wire/nfs3.h"
#include "nfsproto/wire/nfs4.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "nfsproto/wire/nlm4_xdr.h"
#include "transport/lock.h"
#include "transport/log.h"

#define MAX_RULES 32
#define MAX_DELAY 600000 /* ms */

enum action { A_NONE, A_DELAY, A_ERROR, A_MESSAGE };

struct rule {
	enum action action;
	enum fault_kind fault; /* A_MESSAGE */
	uint32_t status;       /* A_ERROR */
	unsigned delay_ms;     /* A_DELAY */
	bool request;
	bool any_op;
	struct fault_ops ops;
	uint64_t nth, every, count, after; /* 0: not given */
	uint32_t prob;			   /* percent, 0: not given */
	uint64_t random;		   /* state of the generator; lock */
	uint64_t seen, hits;		   /* lock */
};

struct fault {
	struct mutex lock;
	unsigned n GUARDED_BY(lock);
	struct rule rule[MAX_RULES] GUARDED_BY(lock);
};

static const struct {
	const char *word;
	enum fault_kind fault;
} messages[] = {
	{"drop", FAULT_DROP},
	{"corrupt", FAULT_CORRUPT},
	{"truncate", FAULT_TRUNCATE},
	{"close", FAULT_CLOSE},
	{"close-mid", FAULT_CLOSE_MID},
	{"wrong-xid", FAULT_WRONG_XID},
	{"no-credit", FAULT_NO_CREDIT},
	{"long-chunk", FAULT_LONG_CHUNK},
	{"err-vers", FAULT_ERR_VERS},
	{"err-chunk", FAULT_ERR_CHUNK},
	{"err-htype", FAULT_ERR_HTYPE},
	{"err-flag", FAULT_ERR_FLAG},
	{"err-reads", FAULT_ERR_READS},
	{"err-writes", FAULT_ERR_WRITES},
	{"err-segments", FAULT_ERR_SEGMENTS},
	{"err-write-room", FAULT_ERR_WRITE_ROOM},
	{"err-reply-room", FAULT_ERR_REPLY_ROOM},
	{"err-system", FAULT_ERR_SYSTEM},
};

#define EXTRA_OPS 112 /* numbers behind those of NFSv4's operations */

/* Names of procedures without an operation of the same name in NFSv4. */
static const char *const extra[] = {"MKDIR", "SYMLINK", "MKNOD", "RMDIR", "READDIRPLUS", "FSSTAT",
	"FSINFO", "PATHCONF",			    /* NFSv3 */
	"MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT", /* MOUNT */
	"CANCEL", "FREE_ALL"};			    /* NLM */

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The operation or procedure called name; 128: there is none. */
static uint32_t op_by_name(const char *name)
{
	uint32_t op;

	if (strcasecmp(name, "NULL") == 0)
		return 0;
	for (size_t i = 0; i < N_OF(extra); i++)
		if (strcasecmp(extra[i], name) == 0)
			return EXTRA_OPS + (uint32_t)i;
	for (op = 3; op < EXTRA_OPS && strcasecmp(nfs4_op_name(op), name) != 0; op++)
		;
	return op < EXTRA_OPS ? op : 128;
}

/* The name of a procedure other than NFSv4's in rules; "?" if there is none. */
static const char *proc_name(uint32_t prog, uint32_t proc)
{
	static const char *const mount[] = {"NULL", "MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT"};

	switch (prog) {
	case NFS3_PROGRAM:
		return nfs3_proc_name(proc);
	case MOUNT3_PROGRAM:
		return proc < N_OF(mount) ? mount[proc] : "?";
	case NLM4_PROGRAM: /* NLM procedures have the names of NFSv4's operations */
		return proc == NLM4PROC_TEST	  ? "LOCKT"
		       : proc == NLM4PROC_UNLOCK  ? "LOCKU"
		       : proc == NLM4PROC_NM_LOCK ? "LOCK"
						  : nlm4_proc_name(proc);
	default:
		return "?";
	}
}

void fault_ops_add(struct fault_ops *ops, uint32_t op)
{
	if (op < 128)
		ops->bits[op / 64] |= 1ull << (op % 64);
}

static bool parse_number(const char *s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return errno == 0 && *end == '\0';
}

static bool parse_delay(const char *s, unsigned *ms)
{
	uint64_t v;
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	v = strtoull(s, &end, 10);
	if (strcmp(end, "s") == 0 && v <= MAX_DELAY / 1000)
		v *= 1000;
	else if (strcmp(end, "ms") != 0)
		return false;
	*ms = (unsigned)v;
	return v <= MAX_DELAY;
}

static bool parse_status(const char *s, uint32_t *status)
{
	uint64_t v;

	if (parse_number(s, &v)) {
		*status = (uint32_t)v;
		return v > 0 && v <= UINT32_MAX;
	}
	for (uint32_t i = 1; i < 10200; i++) {
		if (strcmp(nfs4_status_name(i), s) == 0 || strcmp(nfs3_status_name(i), s) == 0) {
			*status = i;
			return true;
		}
	}
	return false;
}

static bool parse_ops(char *s, struct fault_ops *ops)
{
	char *save, *name;

	for (name = strtok_r(s, "+", &save); name; name = strtok_r(NULL, "+", &save)) {
		uint32_t op = op_by_name(name);

		if (op == 128)
			return false;
		fault_ops_add(ops, op);
	}
	return ops->bits[0] || ops->bits[1];
}

static bool set_action(struct rule *r, enum action a)
{
	if (r->action != A_NONE)
		return false;
	r->action = a;
	return true;
}

/* "drop", "request": words without a value. */
static bool parse_plain(struct rule *r, const char *word)
{
	if (strcmp(word, "request") == 0 || strcmp(word, "reply") == 0) {
		r->request = strcmp(word, "request") == 0;
		return true;
	}
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (strcmp(word, messages[i].word) == 0) {
			r->fault = messages[i].fault;
			return set_action(r, A_MESSAGE);
		}
	}
	return false;
}

static bool parse_valued(struct rule *r, const char *key, char *value)
{
	uint64_t v = 0;

	if (strcmp(key, "delay") == 0)
		return parse_delay(value, &r->delay_ms) && set_action(r, A_DELAY);
	if (strcmp(key, "error") == 0)
		return parse_status(value, &r->status) && set_action(r, A_ERROR);
	if (strcmp(key, "op") == 0) {
		r->any_op = false;
		return parse_ops(value, &r->ops);
	}
	if (strcmp(key, "prob") == 0) {
		size_t n = strlen(value);

		if (n && value[n - 1] == '%')
			value[n - 1] = '\0';
		if (!parse_number(value, &v) || v < 1 || v > 100)
			return false;
		r->prob = (uint32_t)v;
		return true;
	}
	if (!parse_number(value, &v))
		return false;
	if (strcmp(key, "seed") == 0) {
		r->random = v;
		return true;
	}
	if (v == 0)
		return false;
	if (strcmp(key, "nth") == 0)
		r->nth = v;
	else if (strcmp(key, "every") == 0)
		r->every = v;
	else if (strcmp(key, "count") == 0)
		r->count = v;
	else if (strcmp(key, "after") == 0)
		r->after = v;
	else
		return false;
	return true;
}

static int parse_rule(struct rule *r, char *text, struct err *e)
{
	char *save, *word;

	r->any_op = true;
	r->random = 1;
	for (word = strtok_r(text, ":", &save); word; word = strtok_r(NULL, ":", &save)) {
		char whole[80];
		char *value = strchr(word, '=');
		bool ok;

		snprintf(whole, sizeof(whole), "%s", word);
		if (value) {
			*value++ = '\0';
			ok = parse_valued(r, word, value);
		} else {
			ok = parse_plain(r, word);
		}
		if (!ok)
			return err_set(e, ERR_USAGE,
				"--fault: \"%s\" is not understood, or is a second action in its "
				"rule",
				whole);
	}
	if (r->action == A_NONE)
		return err_set(e, ERR_USAGE,
			"--fault: a rule has no action (drop, delay=TIME, error=STATUS, ...)");
	if (r->action == A_ERROR && r->request)
		return err_set(e, ERR_USAGE,
			"--fault: error= applies to an operation, not to the "
			"request: leave \"request\" out");
	if (r->action == A_MESSAGE && r->request && r->fault != FAULT_DROP &&
		r->fault != FAULT_CLOSE && r->fault < FAULT_ERR_VERS)
		return err_set(e, ERR_USAGE,
			"--fault: at the stage \"request\" only drop, close, delay and err-... "
			"exist");
	return 0;
}

struct fault *fault_new(const char *spec, struct err *e)
{
	struct fault *f = calloc(1, sizeof(*f));
	char *copy = strdup(spec), *save, *text;
	int r = f && copy ? 0 : err_set(e, ERR_INTERNAL, "out of memory");

	if (r < 0) {
		free(copy);
		free(f);
		return NULL;
	}
	mutex_init(&f->lock);
	for (text = strtok_r(copy, ",", &save); text && r == 0; text = strtok_r(NULL, ",", &save)) {
		if (f->n == MAX_RULES)
			r = err_set(e, ERR_USAGE, "--fault: more than %d rules", MAX_RULES);
		else
			r = parse_rule(&f->rule[f->n++], text, e);
	}
	if (r == 0 && f->n == 0)
		r = err_set(e, ERR_USAGE, "--fault: the specification is empty");
	free(copy);
	if (r == 0)
		return f;
	free(f);
	return NULL;
}

struct fault *fault_free(struct fault *f)
{
	if (f)
		mutex_destroy(&f->lock);
	free(f);
	return NULL;
}

static uint32_t next_random(struct rule *r)
{
	r->random = r->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(r->random >> 33);
}

/* Does the rule hit this time? The message has the rule's operations. */
static bool hits_locked(struct rule *r)
{
	uint64_t n = ++r->seen;

	if (n <= r->after)
		return false;
	n -= r->after;
	if ((r->nth && n != r->nth) || (r->every && n % r->every != 0))
		return false;
	if (r->prob && next_random(r) % 100 >= r->prob)
		return false;
	if (r->count && r->hits >= r->count)
		return false;
	r->hits++;
	return true;
}

static bool concerns(const struct rule *r, const struct fault_ops *ops)
{
	if (r->any_op)
		return !(ops->bits[0] & 1);
	return (r->ops.bits[0] & ops->bits[0]) || (r->ops.bits[1] & ops->bits[1]);
}

enum fault_kind fault_message(
	struct fault *f, const struct fault_ops *ops, bool reply, unsigned *delay_ms)
{
	enum fault_kind fault = FAULT_NONE;

	mutex_lock(&f->lock);
	for (unsigned i = 0; i < f->n && fault == FAULT_NONE; i++) {
		struct rule *r = &f->rule[i];

		if (r->action == A_ERROR || r->request == reply || !concerns(r, ops) ||
			!hits_locked(r))
			continue;
		if (r->action == A_DELAY)
			*delay_ms = r->delay_ms;
		else
			fault = r->fault;
	}
	mutex_unlock(&f->lock);
	return fault;
}

uint32_t fault_status(struct fault *f, uint32_t op)
{
	struct fault_ops ops = {{0, 0}};
	uint32_t status = NFS4_OK;

	if (!f)
		return NFS4_OK;
	fault_ops_add(&ops, op);
	mutex_lock(&f->lock);
	for (unsigned i = 0; i < f->n && status == NFS4_OK; i++) {
		struct rule *r = &f->rule[i];

		if (r->action == A_ERROR && concerns(r, &ops) && hits_locked(r))
			status = r->status;
	}
	mutex_unlock(&f->lock);
	return status;
}

uint32_t fault_proc_status(struct fault *f, uint32_t prog, uint32_t proc)
{
	return f ? fault_status(f, op_by_name(proc_name(prog, proc))) : (uint32_t)NFS4_OK;
}

/* Reads the operations of a request without consuming anything. */
static void scan_ops(struct fault_ops *ops, const struct rpc_req *req)
{
	struct xdr_in in = req->args;
	struct nfs4_compound_args head;
	struct nfs4_args a;

	memset(ops, 0, sizeof(*ops));
	if (req->proc == NFS4_PROC_NULL) {
		fault_ops_add(ops, 0);
		return;
	}
	if (req->prog != NFS4_PROGRAM || req->vers != NFS4_VERSION) {
		fault_ops_add(ops, op_by_name(proc_name(req->prog, req->proc)));
		return;
	}
	if (nfs4_get_compound_args(&in, &head) < 0)
		return;
	for (uint32_t i = 0; i < head.nops; i++) {
		int r = nfs4_get_args(&in, &a);

		if (r == -EBADMSG)
			return;
		fault_ops_add(ops, a.op);
		if (r < 0)
			return;
	}
}

enum fault_kind fault_ask(void *ctx, const struct rpc_req *req, struct fault_note *note, bool reply,
	unsigned *delay_ms)
{
	struct fault_ops ops;
	enum fault_kind kind;

	if (!note)
		return FAULT_NONE;
	/* the arguments are gone when the reply goes */
	if (!reply) {
		scan_ops(&ops, req);
		memcpy(note->word, ops.bits, sizeof(ops.bits));
	}
	memcpy(ops.bits, note->word, sizeof(ops.bits));
	kind = fault_message(ctx, &ops, reply, delay_ms);
	if (kind != FAULT_NONE || *delay_ms)
		log_always_info("fault: %s with XID 0x%08x: fault %d, delay %u ms",
			reply ? "reply" : "request", req->xid, kind, *delay_ms);
	return kind;
}
