/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * idmap: names of users and groups (user@domain) to ids of this machine and back, as the machine's
 * name service has them.
 *
 * A name service may take its time, so nobody waits for it here: what is in the cache is answered,
 * anything else is "not yet", is looked up by a thread of the map's own, and the owner is told when
 * there is news. Answers are kept for ten minutes, that there is no such name for one; an old
 * answer is given once more while it is looked up again. The cache is bounded.
 *
 * Threads: everything from any thread. resolved is called on the map's own thread, no lock held.
 */
#ifndef RNFS_NFSPROTO_WIRE_IDMAP_H
#define RNFS_NFSPROTO_WIRE_IDMAP_H

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
/* Asks that resolved be called again when nothing is left to be looked up: for who found out only
 * afterwards that it must wait. */
void idmap_notify(struct idmap *m);

/* Reads Domain of the section General of an idmapd.conf; false if it has none. */
bool idmap_conf_domain(const char *path, char *domain, size_t size);

#endif
