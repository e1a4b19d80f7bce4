/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * devices: the data servers of --pnfs.
 */
#include "contrib/serve/state/devices.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/export/handle.h"
#include "nfsproto/wire/nfs4_netaddr.h"

#define IO_MAX (1u << 20) /* bytes of a READ or WRITE at a data server */

/* --- the words of --pnfs ---------------------------------------------------------------------- */

static int bad_server(const char *word, struct err *e)
{
	return err_set(e, ERR_USAGE,
		"--pnfs %.100s: PROTO:HOST:PORT is wanted, PROTO is tcp, rdma or iwarp", word);
}

static int resolve(struct device_addr *a, const char *host, const char *port, struct err *e)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *ai;
	int r = getaddrinfo(host, port, &hints, &ai);

	if (r != 0)
		return err_set(
			e, ERR_RESOLVE, "--pnfs %.100s:%.10s: %s", host, port, gai_strerror(r));
	memcpy(&a->sa, ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(ai);
	return 0;
}

/* word: PROTO:HOST:PORT, and is cut */
static int add_address(struct device *d, char *word, struct err *e)
{
	char *host = strchr(word, ':'), *port = strrchr(word, ':'), *end;
	struct device_addr *a = &d->addr[d->naddrs];
	unsigned long number;
	size_t n;

	if (d->naddrs == DEVICES_ADDRS_MAX)
		return err_set(e, ERR_USAGE, "--pnfs: a data server has %d addresses at most",
			DEVICES_ADDRS_MAX);
	if (!host || port == host || port == host + 1)
		return bad_server(word, e);
	number = strtoul(port + 1, &end, 10);
	if (port[1] < '0' || port[1] > '9' || *end || number < 1 || number > 65535)
		return err_set(
			e, ERR_USAGE, "--pnfs %.100s: a port from 1 to 65535 is wanted", word);
	*host++ = '\0';
	*port++ = '\0';
	if (strcmp(word, "tcp") != 0 && strcmp(word, "rdma") != 0 && strcmp(word, "iwarp") != 0)
		return bad_server(word, e);
	a->rdma = word[0] != 't';
	n = strlen(host);
	if (host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		host++;
	} else if (strchr(host, ':')) {
		return err_set(e, ERR_USAGE,
			"--pnfs %.100s: IPv6 addresses need brackets, PROTO:[::1]:PORT", host);
	}
	if (resolve(a, host, port, e) < 0)
		return -1;
	d->naddrs++;
	return 0;
}

static int set_version(struct device *d, const char *s, struct err *e)
{
	if (strcmp(s, "3") != 0 && strcmp(s, "4.1") != 0 && strcmp(s, "4.2") != 0)
		return err_set(e, ERR_USAGE, "--pnfs: version %.20s: 3, 4.1 or 4.2 is wanted", s);
	d->version = (uint32_t)(s[0] - '0');
	d->minor = d->version == 4 ? (uint32_t)(s[2] - '0') : 0;
	return 0;
}

static int add_server(struct devices *ds, char *word, struct err *e)
{
	static const uint8_t key[HANDLE_KEY] = "data servers";
	struct device *d = &ds->d[ds->n];
	char *save, *at, *slash;
	uint64_t sum;

	if (ds->n == DEVICES_MAX)
		return err_set(e, ERR_USAGE, "--pnfs: more than %d data servers", DEVICES_MAX);
	*d = (struct device){.version = 3};
	snprintf(d->name, sizeof(d->name), "%s", word);
	sum = handle_siphash(key, word, strlen(word));
	memcpy(d->id.id, "rnfs-ds", 8);
	memcpy(d->id.id + 8, &sum, sizeof(sum));
	if (devices_find(ds, &d->id) >= 0)
		return err_set(e, ERR_USAGE, "--pnfs: %.100s is named twice", word);
	slash = strchr(word, '/');
	if (slash) {
		*slash++ = '\0';
		if (set_version(d, slash, e) < 0)
			return -1;
	}
	for (at = strtok_r(word, "+", &save); at; at = strtok_r(NULL, "+", &save))
		if (add_address(d, at, e) < 0)
			return -1;
	if (d->naddrs == 0)
		return bad_server(d->name, e);
	ds->n++;
	return 0;
}

int devices_add(struct devices *ds, char *list, struct err *e)
{
	char *save, *word = strtok_r(list, ",", &save);

	if (!word)
		return bad_server("", e);
	for (; word; word = strtok_r(NULL, ",", &save))
		if (add_server(ds, word, e) < 0)
			return -1;
	return 0;
}

/* --- for clients ------------------------------------------------------------------------------ */

int devices_find(const struct devices *ds, const struct nfs4_deviceid *id)
{
	for (unsigned i = 0; i < ds->n; i++)
		if (memcmp(&ds->d[i].id, id, sizeof(*id)) == 0)
			return (int)i;
	return -1;
}

void devices_put(struct xdr_out *x, const struct device *d)
{
	char text[DEVICES_ADDRS_MAX][NFS4_UADDR_MAX];
	struct nfs4_ff_device a = {.nversions = 1};

	for (unsigned i = 0; i < d->naddrs; i++)
		if (nfs4_netaddr_format((const struct sockaddr *)&d->addr[i].sa, d->addr[i].rdma,
			    text[i], &a.addrs.addr[a.addrs.n]))
			a.addrs.n++;
	a.version[0] = (struct nfs4_ff_version){d->version, d->minor, IO_MAX, IO_MAX, false};
	nfs4_put_ff_device(x, &a);
}

static struct nfs_name decimal(char *buf, size_t size, uint32_t id)
{
	int n = snprintf(buf, size, "%u", id);

	return (struct nfs_name){buf, (uint32_t)n};
}

/* Files are spread over the data servers by their inode numbers. The stripes of a file begin at
 * the data server that would have the whole file. */
bool devices_put_layout(struct xdr_out *x, const struct devices *ds, uint32_t avoid, uint64_t ino,
	const struct nfs_fh *fh, uint32_t uid, uint32_t gid)
{
	struct nfs4_ff_layout l = {
		.nmirrors = 1, .flags = FF_FLAGS_NO_LAYOUTCOMMIT, .stats_hint = ds->stats_s};
	struct nfs4_ff_server s = {.efficiency = 1, .nfh = 1};
	unsigned first = (unsigned)(ino * 0x9e3779b97f4a7c15ull >> 33) % ds->n, use[DEVICES_MAX];
	char user[12], group[12];

	for (unsigned i = 0; i < ds->n; i++) {
		unsigned k = (first + i) % ds->n;

		if (!(avoid >> k & 1))
			use[l.nstripes++] = k;
	}
	if (l.nstripes == 0)
		return false;
	if (!ds->stripe)
		l.nstripes = 1;
	l.unit = l.nstripes > 1 ? ds->stripe : 0; /* section 5.1: 0 for one stripe */
	s.fh[0] = *fh;
	s.user = decimal(user, sizeof(user), uid);
	s.group = decimal(group, sizeof(group), gid);
	nfs4_put_ff_head(x, &l);
	nfs4_put_ff_mirror(x, l.nstripes);
	for (uint32_t i = 0; i < l.nstripes; i++) {
		s.device = ds->d[use[i]].id;
		nfs4_put_ff_server(x, &s);
	}
	nfs4_put_ff_tail(x, &l);
	return true;
}
