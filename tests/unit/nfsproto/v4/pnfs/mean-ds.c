/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-ds: a data server for tests of pNFS.
 */
#include "tests/unit/nfsproto/v4/pnfs/mean-ds.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define RES_CAP 1024u

static uint32_t judge(struct mean_ds *d, const struct rpc_req *req, const struct nfs_fh *fh)
{
	if (!nfs_fh_equal(fh, &d->fh))
		return NFS3ERR_STALE;
	if (req->cred.uid != d->uid || req->cred.gid != d->gid) {
		d->refused++;
		return NFS3ERR_ACCES;
	}
	return d->status;
}

/* Gives req the bytes of the file, until they are sent. */
static void hold_bytes(
	struct mean_ds *d, struct rpc_req *req, uint64_t at, uint32_t len, struct seg_list *l)
{
	struct mem_buf *buf = mem_buf_get(d->pool, len);
	struct seg seg = {mem_buf_sge(buf, 0, len), buf};

	memcpy(buf->data, d->data + at, len);
	assert_int_equal(rpc_req_hold(req, &seg, 1, l), 0);
}

static void do_read(struct mean_ds *d, struct rpc_req *req, const struct nfs3_read_args *a)
{
	struct nfs3_res res = {.proc = NFS3PROC_READ};
	struct nfs3_read_res *r = &res.u.read;

	r->status = judge(d, req, &a->fh);
	if (!r->status) {
		uint64_t left = a->offset < d->size ? d->size - a->offset : 0;

		r->count = a->count < left ? a->count : (uint32_t)left;
		r->eof = r->count == left;
		if (r->count)
			hold_bytes(d, req, a->offset, r->count, &r->data);
		r->count += d->read_lies;
	}
	d->reads++;
	nfs3_put_res(&req->res, &res);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void do_write(struct mean_ds *d, struct rpc_req *req, const struct nfs3_write_args *a)
{
	struct nfs3_res res = {.proc = NFS3PROC_WRITE};
	struct nfs3_write_res *r = &res.u.write;

	r->status = judge(d, req, &a->fh);
	if (!r->status) {
		struct seg_list part;

		r->count = d->write_max && d->write_max < a->count ? d->write_max : a->count;
		r->committed = d->unstable ? NFS_UNSTABLE : a->stable;
		assert_true(a->offset + r->count <= MEAN_DS_SIZE);
		part = seg_list_cut(&a->data, 0, r->count);
		seg_list_gather(&part, d->data + a->offset);
		if (a->offset + r->count > d->size)
			d->size = a->offset + r->count;
	}
	d->writes++;
	nfs3_put_res(&req->res, &res);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct mean_ds *d = ctx;
	struct nfs3_args a;

	if (req->proc != NFS3PROC_NULL && nfs3_get_args(&req->args, req->proc, &a)) {
		rpc_req_reply(req, RPC_ACCEPT_GARBAGE_ARGS);
		return;
	}
	pthread_mutex_lock(&d->lock);
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	if (req->proc == NFS3PROC_NULL)
		rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
	else if (d->silent) {
		d->silenced++;
		rpc_req_drop(req);
	} else if (req->proc == NFS3PROC_READ)
		do_read(d, req, &a.u.read);
	else if (req->proc == NFS3PROC_WRITE)
		do_write(d, req, &a.u.write);
	else
		rpc_req_reply(req, RPC_ACCEPT_PROC_UNAVAIL);
	pthread_cond_broadcast(&d->cond);
	pthread_mutex_unlock(&d->lock);
}

static void listen_on(struct mean_ds *d, uint16_t port)
{
	struct rpc_server_params p = {.proto = RPC_TCP, .service = service, .ctx = d};
	struct sockaddr_in *sin = (struct sockaddr_in *)&p.addr;
	struct err e = {.kind = ERR_NONE};

	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sin->sin_port = htons(port);
	p.addr_len = sizeof(*sin);
	p.pool = d->pool;
	d->server = rpc_server_new(&p, &e);
	assert_non_null(d->server);
	d->port = rpc_server_port(d->server);
}

void mean_ds_start(struct mean_ds *d)
{
	memset(d, 0, sizeof(*d));
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->cond, NULL);
	d->pool = mem_pool_new(0);
	listen_on(d, 0);
}

void mean_ds_kill(struct mean_ds *d)
{
	d->server = rpc_server_free(d->server);
}

void mean_ds_revive(struct mean_ds *d)
{
	listen_on(d, d->port);
}

void mean_ds_stop(struct mean_ds *d)
{
	mean_ds_kill(d);
	mem_pool_free(d->pool);
	pthread_cond_destroy(&d->cond);
	pthread_mutex_destroy(&d->lock);
}

bool mean_ds_wait(struct mean_ds *d, const unsigned *counter, unsigned n)
{
	struct timespec t;
	bool ok;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 60;
	pthread_mutex_lock(&d->lock);
	while (*counter < n && pthread_cond_timedwait(&d->cond, &d->lock, &t) == 0)
		;
	ok = *counter >= n;
	pthread_mutex_unlock(&d->lock);
	return ok;
}

unsigned mean_ds_count(struct mean_ds *d, const unsigned *counter)
{
	unsigned n;

	pthread_mutex_lock(&d->lock);
	n = *counter;
	pthread_mutex_unlock(&d->lock);
	return n;
}
