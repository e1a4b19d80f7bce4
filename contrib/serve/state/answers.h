/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * answers: the server's answers to operations that must not be done twice, kept for the server's
 * next run.
 *
 * The reply caches of a run (state/session.h, v3/drc.h) end with it. When the server's end has cut
 * a connection, the client sends its calls again. A second REMOVE or RENAME would fail, and a
 * second append would not find the file as before. So answers to operations that change names, and
 * to NFSv4 appends, are also stored in a record (record.h), before they wait for stable storage.
 * The next run repeats the stored answers. Over NFSv4: to a request of an unknown session, by
 * session, slot and sequence ID. Over NFSv3: by the values that drc.h compares. Other requests of
 * such a session get NFS4ERR_BADSESSION as usual.
 *
 * The latest ANSWERS_MAX answers are kept, short ones only, and given for ANSWERS_AGE_S. A run
 * finds only answers of earlier runs; answers of the present run are in the run's caches. A server
 * that is killed between a change and the store of its answer has neither. Then the client finds
 * out by the name (nfsproto/common/nfs_unsure.h), or cannot know (fs/file/append.h).
 *
 * One lock guards everything. Functions accept a NULL record: then no answer is kept.
 */
#ifndef RNFS_SERVE_STATE_ANSWERS_H
#define RNFS_SERVE_STATE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsproto/wire/nfs4_item.h"

#define ANSWERS_MAX    2048
#define ANSWERS_AGE_S  120
#define ANSWERS_KEY    160  /* bytes of a key */
#define ANSWERS_LEN    1024 /* bytes of an answer */
#define ANSWERS_SECRET 16

struct answers;

/* The key of an answer over NFSv4. */
struct answers_v4 {
	struct nfs4_sessionid session;
	uint32_t slotid, sequenceid;
};

struct answer {
	uint64_t sum; /* the caller's: of the request */
	uint32_t summed;
	uint32_t len;
	uint8_t reply[ANSWERS_LEN];
};

/* Opens the record at path, which need not exist. NULL, with a warning in the log: no record can be
 * kept. */
struct answers *answers_new(const char *path);
/* The answers stay on disk for the next run. Accepts NULL, returns NULL. */
struct answers *answers_free(struct answers *a);
/* Random bytes, equal in all runs that share the record. */
void answers_secret(const struct answers *a, uint8_t secret[ANSWERS_SECRET]);
/* Keeps reply under key, in place of this run's earlier one. A reply that is too long is not
 * kept. */
void answers_keep(struct answers *a, const void *key, size_t key_len, uint64_t sum, uint32_t summed,
	const void *reply, size_t len);
/* Finds an earlier run's answer under key. */
bool answers_find(struct answers *a, const void *key, size_t key_len, struct answer *out);

#endif
