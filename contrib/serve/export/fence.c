/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fence: the synthetic user and group that may use a file at a data server.
 */
#include "contrib/serve/export/fence.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "contrib/serve/export/obj_table.h"
#include "transport/clock.h"
#include "transport/log.h"

#define NEW_NS	 (120 * NSEC_PER_SEC)
#define AGAIN_NS (60 * NSEC_PER_SEC) /* between two complaints */

static const char *attribute(void)
{
	return geteuid() == 0 ? "trusted." FENCE_NAME : "user." FENCE_NAME;
}

/* The random numbers of o and of the exported directory; 0: none. The thread has the server's
 * identity. */
static int numbers(const struct obj_table *t, const struct obj *o, uint64_t out[2])
{
	const char *name = attribute();
	char path[OBJ_PATH_SIZE];

	if (getxattr(obj_path(o, path), name, &out[0], sizeof(out[0])) < 0 && errno != ENODATA &&
		errno != EOPNOTSUPP)
		return -errno;
	/* an open directory, not a path: faster */
	if (fgetxattr(t->root_fd, name, &out[1], sizeof(out[1])) < 0 && errno != ENODATA &&
		errno != EOPNOTSUPP)
		return -errno;
	return 0;
}

int fence_ids(const struct obj_table *t, const struct obj *o, struct fence_ids *ids)
{
	struct {
		char what[8];
		uint8_t identity[HANDLE_MAX];
		uint64_t number[2];
	} said = {.what = "fence"};
	struct handle_id id = o->id;
	uint64_t sum;
	int r;

	ident_suspend();
	r = numbers(t, o, said.number);
	ident_resume();
	if (r < 0)
		return r;
	if (id.kh_len) /* as in handle_id_equal() */
		id.birth = 0;
	handle_seal(said.identity, &id, NULL, t->key);
	sum = handle_siphash(t->key, &said, sizeof(said));
	ids->uid = 1u << 30 | (sum & 0x3fffffff);
	ids->gid = 1u << 30 | (sum >> 32 & 0x3fffffff);
	return 0;
}

static void set_fenced(struct obj *o)
{
	atomic_store_explicit(&o->fenced_ns, clock_coarse_ns(), memory_order_relaxed);
}

/* 0 or -errno. The thread has the server's identity. */
static int set_number(const struct obj *o)
{
	char path[OBJ_PATH_SIZE];
	uint64_t n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n) ||
		setxattr(obj_path(o, path), attribute(), &n, sizeof(n), 0) != 0)
		return -errno;
	return 0;
}

bool fence_try(struct obj *o)
{
	int r;

	set_fenced(o);
	ident_suspend();
	r = set_number(o);
	ident_resume();
	return r == 0;
}

static void complain(int r)
{
	static _Atomic uint64_t again_ns;
	uint64_t now = clock_coarse_ns();

	if (atomic_load(&again_ns) > now || atomic_exchange(&again_ns, now + AGAIN_NS) > now)
		return;
	log_error("a file cannot be fenced: a client that has not given its layout back "
		  "can go on at the data servers: setxattr of %s: %s",
		attribute(), strerror(-r));
}

void fence_raise(struct obj_table *t, struct obj *o)
{
	int r;

	if (o != t->root) /* at the start no client has a layout of this run */
		set_fenced(o);
	ident_suspend();
	r = set_number(o);
	if (r < 0 && o != t->root) { /* no room in o, or no right to write o */
		set_fenced(t->root);
		r = set_number(t->root);
	}
	ident_resume();
	if (r < 0)
		complain(r);
}

static bool is_new(const struct obj *o)
{
	uint64_t at = atomic_load_explicit(&o->fenced_ns, memory_order_relaxed);

	return at && clock_age(clock_coarse_ns(), at) < NEW_NS;
}

bool fence_is_new(const struct obj_table *t, const struct obj *o)
{
	return is_new(o) || is_new(t->root);
}

int fence_admit(
	const struct obj_table *t, const struct obj *o, const struct rpc_cred *cred, bool write)
{
	struct rpc_cred owner = {.flavor = RPC_AUTH_SYS};
	struct fence_ids ids;
	struct statx st;
	int r = fence_ids(t, o, &ids);

	if (r == 0)
		r = obj_stat(o, &st);
	if (r < 0)
		return r;
	if (cred->flavor != RPC_AUTH_SYS ||
		(cred->uid != ids.uid && (write || cred->gid != ids.gid)))
		return -EACCES;
	owner.uid = st.stx_uid;
	owner.gid = st.stx_gid;
	return ident_assume(&owner) < 0 ? -EACCES : 0;
}
