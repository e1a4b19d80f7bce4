/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * admit: decides which peers may connect, and which users' calls a connection may carry.
 *
 * The groups of local users come from the name service, and are kept for a minute. groups_lock
 * is not held over a call to the name service.
 */
#include "contrib/serve/admit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define GROUPS_NS   (60 * NSEC_PER_SEC)
#define GROUPS_USER 1024 /* groups of one user */
#define GROUPS_KEPT 16	 /* users */
#define RESERVED    1024 /* ports below are privileged */

/* --- the lists -------------------------------------------------------------------------------- */

static int parse_number(const char *s, unsigned long max, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(s, &end, 10);
	return *s < '0' || *s > '9' || *end || errno || *out > max ? -1 : 0;
}

static int add_user(struct admit *a, const char *word, struct err *e)
{
	const struct passwd *pw;
	unsigned long uid;

	if (strcmp(word, "all") == 0) {
		a->all_users = true;
		return 0;
	}
	if (parse_number(word, UINT32_MAX - 1, &uid) < 0) {
		pw = getpwnam(word);
		if (!pw)
			return err_set(e, ERR_USAGE,
				"--allow-users %s: there is no such user; a name, a number or "
				"\"all\" is wanted",
				word);
		uid = pw->pw_uid;
	}
	if (a->nusers == ADMIT_MAX_USERS)
		return err_set(e, ERR_USAGE, "--allow-users: more than %d users", ADMIT_MAX_USERS);
	a->users[a->nusers++] = (uint32_t)uid;
	return 0;
}

int admit_add_users(struct admit *a, char *list, struct err *e)
{
	char *save, *word = strtok_r(list, ",", &save);

	if (!word)
		return err_set(e, ERR_USAGE, "--allow-users: a list of users or \"all\" is wanted");
	for (; word; word = strtok_r(NULL, ",", &save))
		if (add_user(a, word, e) < 0)
			return -1;
	return 0;
}

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return memcmp(a, b, whole) == 0 && (!rest || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

static int add_net(struct admit *a, char *word, struct err *e)
{
	char *slash = strchr(word, '/');
	unsigned long bits = ULONG_MAX;
	struct admit_net net = {.bits = 128};
	unsigned all = 128;

	if (slash)
		*slash = '\0';
	if (inet_pton(AF_INET, word, net.addr + 12) == 1) {
		memcpy(net.addr, mapped, sizeof(mapped));
		all = 32;
	} else if (inet_pton(AF_INET6, word, net.addr) != 1) {
		return err_set(e, ERR_USAGE,
			"--clients %s: an IP address is wanted, with or without a /LENGTH", word);
	}
	if (slash && (parse_number(slash + 1, all, &bits) < 0))
		return err_set(e, ERR_USAGE, "--clients %s/%s: a length from 0 to %u is wanted",
			word, slash + 1, all);
	if (slash)
		net.bits = (unsigned)bits + 128 - all;
	if (a->nnets == ADMIT_MAX_NETS)
		return err_set(e, ERR_USAGE, "--clients: more than %d networks", ADMIT_MAX_NETS);
	a->nets[a->nnets++] = net;
	return 0;
}

int admit_add_clients(struct admit *a, char *list, struct err *e)
{
	char *save, *word = strtok_r(list, ",", &save);

	if (!word)
		return err_set(e, ERR_USAGE, "--clients: a list of ADDRESS/LENGTH is wanted");
	for (; word; word = strtok_r(NULL, ",", &save))
		if (add_net(a, word, e) < 0)
			return -1;
	return 0;
}

/* --- connections ------------------------------------------------------------------------------ */

static bool in_nets(const struct admit *a, const struct sockaddr *sa)
{
	uint8_t addr[16];

	if (sa->sa_family == AF_INET) {
		memcpy(addr, mapped, sizeof(mapped));
		memcpy(addr + 12, &((const struct sockaddr_in *)sa)->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(addr, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
	} else {
		return false;
	}
	for (unsigned i = 0; i < a->nnets; i++)
		if (same_bits(addr, a->nets[i].addr, a->nets[i].bits))
			return true;
	return false;
}

static unsigned port_of(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)sa)->sin_port);
	if (sa->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)sa)->sin6_port);
	return RESERVED;
}

bool admit_trusts(const struct admit *a, uint32_t self, const struct sock_user *who)
{
	if (!a || !who->local || a->all_users)
		return true;
	if (!who->known)
		return false;
	if (who->uid == 0 || who->uid == self)
		return true;
	for (unsigned i = 0; i < a->nusers; i++)
		if (a->users[i] == who->uid)
			return true;
	return false;
}

enum admit_verdict admit_check(const struct admit *a, uint32_t self, const struct sockaddr *addr,
	const struct sock_user *who)
{
	if (a->nnets && !in_nets(a, addr))
		return ADMIT_NOT_ADDRESS;
	if (a->privileged && port_of(addr) >= RESERVED)
		return ADMIT_NOT_PORT;
	if (admit_trusts(a, self, who))
		return ADMIT_YES;
	if (!who->known)
		return ADMIT_NOT_KNOWN;
	return self == 0 ? ADMIT_YES : ADMIT_NOT_USER;
}

bool admit_xprt(const struct admit *a, const struct rpc_xprt *x)
{
	const struct sock_user *who = rpc_xprt_user(x);
	enum admit_verdict v = admit_check(a, geteuid(), rpc_xprt_addr(x), who);
	char why[160];

	switch (v) {
	case ADMIT_YES:
		return true;
	case ADMIT_NOT_ADDRESS:
		snprintf(why, sizeof(why), "the address is in no network of --clients");
		break;
	case ADMIT_NOT_PORT:
		snprintf(why, sizeof(why),
			"its port is not below %d, which --privileged-ports wants", RESERVED);
		break;
	case ADMIT_NOT_USER:
		snprintf(why, sizeof(why),
			"it is of this machine's user %u; --allow-users %u would admit it",
			who->uid, who->uid);
		break;
	case ADMIT_NOT_KNOWN:
		snprintf(why, sizeof(why),
			"it is on this machine and whose it is cannot be found out; "
			"--allow-users all would admit it");
		break;
	}
	log_warn("connection from %s refused: %s", rpc_xprt_peer(x), why);
	return false;
}

/* --- credentials of calls --------------------------------------------------------------------- */

struct groups {
	uint32_t uid;
	uint64_t until;
	int n;
	gid_t gids[GROUPS_USER]; /* the user's first group comes first */
};

static struct mutex groups_lock = MUTEX_INITIALIZER;
static struct groups *kept[GROUPS_KEPT] GUARDED_BY(groups_lock);

/* Asks the name service. An unknown user has no groups. */
static void look_up(uint32_t uid, struct groups *g)
{
	struct passwd pw, *found = NULL;
	char buf[16384];

	g->uid = uid;
	g->n = 0;
	if (getpwuid_r(uid, &pw, buf, sizeof(buf), &found) == 0 && found) {
		g->n = GROUPS_USER;
		g->gids[0] = pw.pw_gid;
		if (getgrouplist(pw.pw_name, pw.pw_gid, g->gids, &g->n) < 0)
			g->n = g->n < 0 || g->n > GROUPS_USER ? GROUPS_USER : g->n;
	}
	g->until = clock_ns() + GROUPS_NS;
}

static bool has_group(const struct groups *g, uint32_t gid)
{
	for (int i = 0; i < g->n; i++)
		if (g->gids[i] == gid)
			return true;
	return false;
}

/* Removes from cred the groups of which its user is no member. */
static void confine(struct rpc_cred *cred, const struct groups *g)
{
	uint32_t n = 0;

	if (!has_group(g, cred->gid))
		cred->gid = g->n ? g->gids[0] : IDENT_ANON;
	for (uint32_t i = 0; i < cred->ngids; i++)
		if (has_group(g, cred->gids[i]))
			cred->gids[n++] = cred->gids[i];
	cred->ngids = n;
}

/* The same if the user's groups are kept. False: unknown. */
static bool confine_by_kept(struct rpc_cred *cred)
{
	uint64_t now = clock_ns();
	bool found = false;

	mutex_lock(&groups_lock);
	for (unsigned i = 0; i < GROUPS_KEPT && !found; i++) {
		found = kept[i] && kept[i]->uid == cred->uid && kept[i]->until > now;
		if (found)
			confine(cred, kept[i]);
	}
	mutex_unlock(&groups_lock);
	return found;
}

/* Keeps g, in place of the oldest entry if there is no room. */
static void keep(const struct groups *g)
{
	unsigned at = 0;

	mutex_lock(&groups_lock);
	for (unsigned i = 0; i < GROUPS_KEPT; i++) {
		if (!kept[i] || kept[i]->uid == g->uid) {
			at = i;
			break;
		}
		if (kept[i]->until < kept[at]->until)
			at = i;
	}
	if (!kept[at])
		kept[at] = malloc(sizeof(*g));
	if (kept[at])
		*kept[at] = *g;
	mutex_unlock(&groups_lock);
}

void admit_cred(const struct admit *a, const struct sock_user *who, struct rpc_cred *cred)
{
	struct groups g;

	if (admit_trusts(a, 0, who) || cred->flavor != RPC_AUTH_SYS)
		return;
	if (!who->known || cred->uid != who->uid || cred->ngids > RPC_MAX_GIDS) {
		cred->uid = cred->gid = IDENT_ANON;
		cred->ngids = 0;
		return;
	}
	if (confine_by_kept(cred))
		return;
	look_up(who->uid, &g);
	keep(&g);
	confine(cred, &g);
}
