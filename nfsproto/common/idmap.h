/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * idmap: names of users and groups (user@domain) to ids of this machine and back, as the machine's
 * name service has them.
 *
 * A name service may be slow, so no caller waits for it here. A question is answered from the
 * cache, or with "not yet". In the second case a thread of the map's own looks the name up, and
 * tells the owner of the map when there is news. Answers are kept for ten minutes; the answer "no
 * such name" is kept for one minute. An old answer is given once more while the thread looks the
 * name up again. The cache is bounded.
 *
 * Threads: any thread may call any function. resolved is called on the map's own thread, no lock
 * held.
 */
#ifndef RNFS_NFSPROTO_COMMON_IDMAP_H
#define RNFS_NFSPROTO_COMMON_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NAME_MAX 255 /* bytes of user@domain */

struct idmap;

enum idmap_answer {
	IDMAP_YES,
	IDMAP_NO,      /* there is none */
	IDMAP_NOT_YET, /* resolved will be called */
};

/* Where answers come from: the name service, or a test. May block. True if there is one. */
struct idmap_source {
	bool (*id_of)(const char *name, bool group, uint32_t *id);
	bool (*name_of)(uint32_t id, bool group, char *name, size_t size);
};

/* domain: that of this machine's users, at most IDMAP_NAME_MAX bytes are used; NULL or empty: as
 * /etc/idmapd.conf says, else the host's. source: NULL for the name service. NULL when out of
 * memory.
 */
struct idmap *idmap_new(const char *domain, const struct idmap_source *source,
	void (*resolved)(void *ctx), void *ctx);
/* resolved is not called any more. Does not wait for the name service. Accepts NULL, returns NULL.
 */
struct idmap *idmap_free(struct idmap *m);

/* The id of "user@domain": IDMAP_NO for another domain than ours, too. */
enum idmap_answer idmap_id(
	struct idmap *m, const char *name, uint32_t len, bool group, uint32_t *id);
/* "user@domain" of an id, terminated. */
enum idmap_answer idmap_name(
	struct idmap *m, uint32_t id, bool group, char name[IDMAP_NAME_MAX + 1]);
/* Asks that resolved be called again when no question is left to be looked up: for a caller that
 * finds out only afterwards that it must wait. */
void idmap_notify(struct idmap *m);

/* Reads Domain of the section General of an idmapd.conf; false if the file has no Domain. */
bool idmap_conf_domain(const char *path, char *domain, size_t size);

#endif
