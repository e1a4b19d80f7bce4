/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_mount: MNT and UMNT (RFC 1813 appendix I).
 */
#include "nfsproto/v3/nfs3_mount.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/wire/mount3.h"
#include "transport/clock.h"
#include "transport/log.h"

#define IN_PLACE_MS   3000u /* for a server that should say "no such program" at once */
#define MNT_REPLY_MAX (4 + 4 + NFS3_FHSIZE + 4 + 4 * MOUNT3_FLAVORS_MAX)

static void put_path(struct nfs3_sync *s, struct xdr_out *x)
{
	const struct nfs_name path = {s->put, (uint32_t)strlen(s->put)};

	mount3_put_path(x, &path);
}

static int get_mnt(struct nfs3_sync *s, struct xdr_in *x)
{
	return mount3_get_mnt_res(x, s->out);
}

static int get_nothing(struct nfs3_sync *s, struct xdr_in *x)
{
	return 0;
}

static int mnt(const struct nfs3_aux *a, struct nfs3_sync *s, const char *path,
	struct mount3_mnt_res *res, unsigned ms, struct err *e)
{
	s->put = path;
	s->out = res;
	s->get = get_mnt;
	s->stop = NULL;
	s->look = NULL;
	return nfs3_aux_call(a, s, MOUNT3PROC_MNT, put_path, MNT_REPLY_MAX, ms, e);
}

/* --- sentences ----------------------------------------------------------------------------- */

/* MNT was refused. */
static int refused(const struct nfs3_client *c, const char *path, uint32_t status, struct err *e)
{
	switch (status) {
	case MOUNT3ERR_NOENT:
	case MOUNT3ERR_NOTDIR:
	case MOUNT3ERR_NAMETOOLONG:
	case MOUNT3ERR_INVAL:
		return err_set(e, ERR_NO_EXPORT, "%s has no export %s for NFSv3 (%s)", c->server,
			path, mount3_status_name(status));
	case MOUNT3ERR_PERM:
	case MOUNT3ERR_ACCES:
		return err_set(e, ERR_ACCESS,
			"%s denies access to %s (%s): check that it is exported, to this host, and "
			"with the insecure option for a client without privileged ports",
			c->server, path, mount3_status_name(status));
	default:
		return err_set(e, ERR_PROTOCOL, "%s answered the mount of %s with %s (%u)",
			c->server, path, mount3_status_name(status), status);
	}
}

/* Does the server's list have AUTH_SYS, or AUTH_NONE, which stands for any? */
static bool flavor_ok(const struct mount3_mnt_res *res)
{
	for (uint32_t i = 0; i < res->nflavors; i++)
		if (res->flavor[i] == RPC_AUTH_SYS || res->flavor[i] == RPC_AUTH_NONE)
			return true;
	return res->nflavors == 0;
}

/* --- the ways ------------------------------------------------------------------------------ */

/* Is another way to MOUNT worth trying? */
static bool not_there(int rc)
{
	return rc == -EPROTONOSUPPORT || rc == -ENOTCONN || rc == -ETIMEDOUT || rc == -EREMOTEIO ||
	       rc == -ECONNREFUSED || rc == -EOPNOTSUPP || rc == -EACCES;
}

/* The address of another host for MOUNT. 0 or -1 with *e set. */
static int use_host(struct nfs3_aux *a, const char *host, struct err *e)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(host, NULL, &hints, &list);

	if (rc)
		return err_set(e, ERR_RESOLVE, "%s: the name of mounthost does not resolve: %s",
			host, rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
	memcpy(&a->rp.peer, list->ai_addr, list->ai_addrlen);
	a->rp.peer_len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}

/* MOUNT by its own port, over TCP or UDP. */
static int by_port(struct nfs3_client *c, const struct nfs_mount_params *p, struct nfs3_aux *a,
	struct mount3_mnt_res *res, struct err *e)
{
	const char *host = p->mounthost ? p->mounthost : c->server;
	struct err why = {.kind = ERR_NONE};
	uint16_t port = p->mountport;
	struct nfs3_sync s;
	int rc;

	a->rp.proto = RPC_TCP;
	a->udp = p->mount_udp;
	if (p->mounthost && use_host(a, p->mounthost, e))
		return -1;
	if (!port) {
		rc = nfs3_aux_getport(a, &port, p->connect_ms);
		if (rc)
			return err_set(e, ERR_UNREACHABLE,
				"%s: no portmapper answers on port %d (%s), and MOUNT is not "
				"served "
				"on the port of NFS: give the mountport option, or vers=4",
				host, PMAP_PORT, strerror(-rc));
		if (!port)
			return err_set(e, ERR_VERSION,
				"%s: the portmapper knows no MOUNT service for NFSv3 over %s: does "
				"the server export by NFSv3?",
				host, a->udp ? "udp" : "tcp");
	}
	nfs3_aux_set_port(a, port);
	rc = mnt(a, &s, p->export, res, p->connect_ms, &why);
	if (rc == -EPROTONOSUPPORT)
		return err_set(
			e, ERR_VERSION, "%s: port %u does not serve MOUNT for NFSv3", host, port);
	if (rc == -EACCES)
		return err_set(e, ERR_ACCESS,
			"%s: the MOUNT service rejects the credentials of this client (auth status "
			"%u)",
			host, s.call.auth_stat);
	if (rc)
		return err_set(e, ERR_UNREACHABLE,
			"%s: the MOUNT service on %s port %u does not answer (%s): check the "
			"mountport option",
			host, a->udp ? "udp" : "tcp", port,
			rc == -ENOTCONN ? err_kind_name(why.kind) : strerror(-rc));
	return 0;
}

int nfs3_mount_ask(
	struct nfs3_client *c, const struct nfs_mount_params *p, struct nfs_fh *root, struct err *e)
{
	bool told = p->mountport || p->mount_udp || p->mounthost;
	size_t len = strlen(p->export);
	struct mount3_mnt_res res;
	struct nfs3_mount *m;
	struct nfs3_sync s;
	int rc = -EPROTONOSUPPORT;

	if (len > MOUNT3_PATH_MAX)
		return err_set(e, ERR_USAGE, "%s: the export path is longer than %d bytes",
			c->server, MOUNT3_PATH_MAX);
	m = calloc(1, sizeof(*m) + len + 1);
	if (!m)
		return err_set(e, ERR_INTERNAL, "out of memory");
	memcpy(m->path, p->export, len + 1);
	m->aux.rp = c->rp;
	m->aux.rp.prog = MOUNT3_PROGRAM;
	m->aux.rp.vers = MOUNT3_VERSION;
	m->aux.cred = c->cred;
	if (!told)
		rc = mnt(&m->aux, &s, p->export, &res,
			p->connect_ms < IN_PLACE_MS ? p->connect_ms : IN_PLACE_MS, NULL);
	m->in_place = rc == 0;
	if (not_there(rc))
		rc = by_port(c, p, &m->aux, &res, e);
	else if (rc)
		rc = err_set(e, ERR_INTERNAL, "%s: MOUNT failed: %s", c->server, strerror(-rc));
	if (!rc && res.status != MOUNT3_OK)
		rc = refused(c, p->export, res.status, e);
	if (!rc && !flavor_ok(&res))
		rc = err_set(e, ERR_ACCESS,
			"%s wants another security flavour than sys for %s (the first on its list "
			"is "
			"%u)",
			c->server, p->export, res.flavor[0]);
	if (rc) {
		free(m);
		return -1;
	}
	*root = res.fh;
	c->mount = m;
	return 0;
}

void nfs3_mount_leave(struct nfs3_client *c, uint64_t until)
{
	unsigned ms = (unsigned)(clock_age(until, clock_ns()) / NSEC_PER_MSEC) + 1;
	struct nfs3_mount *m = c->mount;
	struct nfs3_sync s = {.get = get_nothing};
	int rc;

	if (!m)
		return;
	s.put = m->path;
	rc = nfs3_aux_call(&m->aux, &s, MOUNT3PROC_UMNT, put_path, 0, ms, NULL);
	if (rc)
		log_ctrl("%s: UMNT: %s", c->server, strerror(-rc));
	c->mount = NULL;
	free(m);
}
