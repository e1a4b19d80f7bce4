/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-nfs3: an NFSv3 server that misbehaves as told.
 */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v3/mean-nfs3.h"

#include "contrib/serve/fault/fault_xprt.h"

#define RES_CAP 65536

static const struct nfs_fh root_fh = {.len = 1, .data = {1}}, file_fh = {.len = 1, .data = {2}};

static struct nfs_attr attr_of(const struct mean3 *m, const struct nfs_fh *fh)
{
	bool dir = fh->data[0] == 1;
	struct nfs_attr a = {
		.type = dir ? NFS_DIR : NFS_REG,
		.mode = 0755,
		.nlink = 1,
		.size = m->size,
		.fileid = fh->data[0],
		.ctime = {100, 5 + m->writes},
	};

	if (!dir && m->made) {
		a.type = m->made;
		a.atime = m->made_atime;
	}
	return a;
}

static struct nfs3_post_op post_op(const struct mean3 *m, const struct nfs_fh *fh)
{
	struct nfs3_post_op p = {.have = !m->bare};

	if (p.have)
		p.attr = attr_of(m, fh);
	return p;
}

/* READDIR and READDIRPLUS, from the cookie on. */
static void put_entries(struct mean3 *m, const struct nfs3_args *a, struct xdr_out *x)
{
	static const uint8_t verf[NFS3_COOKIEVERFSIZE] = {9};
	struct nfs3_post_op dir = post_op(m, &root_fh);
	unsigned from = 0, told = 0;
	struct nfs3_entries e;

	nfs3_entries_begin(
		&e, x, a->proc == NFS3PROC_READDIRPLUS, &dir, verf, a->u.readdir.maxcount);
	for (unsigned i = 0; i < m->nentries; i++)
		if (m->entries[i].cookie == a->u.readdir.cookie)
			from = i + 1;
	while (from < m->nentries && told++ < m->per_reply)
		assert_true(nfs3_entries_add(&e, &m->entries[from++]));
	assert_int_equal(nfs3_entries_end(&e, &dir, from == m->nentries), NFS3_OK);
}

static void answer_names(struct mean3 *m, const struct nfs3_args *a, struct nfs3_res *r)
{
	switch (a->proc) {
	case NFS3PROC_LOOKUP:
		r->u.lookup.dir = post_op(m, &root_fh);
		if (a->u.dirop.name.len == 4 && memcmp(a->u.dirop.name.s, "nope", 4) == 0) {
			r->u.lookup.status = NFS3ERR_NOENT;
			break;
		}
		r->u.lookup.fh = file_fh;
		r->u.lookup.obj = post_op(m, &file_fh);
		break;
	case NFS3PROC_READLINK:
		r->u.readlink.target = (struct nfs_name){"target", 6};
		break;
	case NFS3PROC_LINK:
		r->u.link.obj = post_op(m, &file_fh);
		break;
	default: /* CREATE, MKDIR, SYMLINK, MKNOD */
		r->u.create.have_fh = !m->bare;
		r->u.create.fh = file_fh;
		r->u.create.obj = post_op(m, &file_fh);
		break;
	}
}

static void answer_data(struct mean3 *m, const struct nfs3_args *a, struct nfs3_res *r)
{
	uint64_t offset = a->u.read.offset;
	uint32_t n = a->u.read.count;

	if (offset > MEAN3_SIZE)
		offset = MEAN3_SIZE;
	if (n > MEAN3_SIZE - offset)
		n = (uint32_t)(MEAN3_SIZE - offset);
	r->u.read.count = n - m->read_lies;
	r->u.read.eof = offset + n == MEAN3_SIZE;
	r->u.read.data = seg_list_of_buf(m->data, offset, n);
}

static void answer(struct mean3 *m, const struct nfs3_args *a, struct nfs3_res *r)
{
	switch (a->proc) {
	case NFS3PROC_GETATTR:
		r->u.getattr.attr = attr_of(m, &a->u.fh);
		break;
	case NFS3PROC_SETATTR:
		r->u.wcc.wcc.after = post_op(m, &a->u.setattr.fh);
		break;
	case NFS3PROC_ACCESS:
		r->u.access.obj = post_op(m, &a->u.access.fh);
		r->u.access.access = a->u.access.access & m->access;
		break;
	case NFS3PROC_READ:
		answer_data(m, a, r);
		r->u.read.obj = post_op(m, &a->u.read.fh);
		break;
	case NFS3PROC_WRITE:
		if (m->others_times) {
			m->others_times--;
			m->size++;
		}
		r->u.write.wcc.have_before = !m->bare;
		r->u.write.wcc.before.size = m->size;
		r->u.write.wcc.before.ctime = (struct timespec){100, 5 + m->writes++};
		if (a->u.write.offset + a->u.write.data.len > m->size)
			m->size = a->u.write.offset + a->u.write.data.len;
		r->u.write.wcc.after = post_op(m, &a->u.write.fh);
		r->u.write.count = a->u.write.data.len;
		if (m->write_parts) {
			m->write_parts--;
			r->u.write.count -= 7;
		}
		r->u.write.committed = a->u.write.stable;
		break;
	case NFS3PROC_FSINFO:
		r->u.fsinfo = (struct nfs3_fsinfo_res){
			.rtmax = 65536, .wtmax = 32768, .dtpref = 8192, .maxfilesize = 1 << 30};
		break;
	case NFS3PROC_PATHCONF:
		r->u.pathconf.name_max = 200;
		break;
	case NFS3PROC_FSSTAT:
		r->u.fsstat.st.tbytes = 4711;
		break;
	case NFS3PROC_REMOVE:
	case NFS3PROC_RMDIR:
	case NFS3PROC_RENAME:
		break;
	case NFS3PROC_COMMIT:
		r->u.commit.wcc.after = post_op(m, &a->u.commit.fh);
		break;
	default:
		answer_names(m, a, r);
		break;
	}
}

static void reply_nfs(struct mean3 *m, struct rpc_req *req)
{
	struct nfs3_res r = {.proc = req->proc};
	struct nfs3_args a;

	assert_int_equal(nfs3_get_args(&req->args, req->proc, &a), 0);
	m->count[a.proc]++;
	m->last[a.proc] = a;
	if (a.proc == NFS3PROC_NULL && m->nlm_comes)
		m->no_nlm = m->nlm_comes = false;
	if (m->silent[a.proc]) {
		rpc_req_drop(req);
		return;
	}
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	if (m->fails[a.proc].times) {
		m->fails[a.proc].times--;
		r.u.status = m->fails[a.proc].status;
		nfs3_put_res(&req->res, &r);
	} else if (a.proc == NFS3PROC_READDIR || a.proc == NFS3PROC_READDIRPLUS) {
		put_entries(m, &a, &req->res);
	} else if (a.proc != NFS3PROC_NULL) {
		answer(m, &a, &r);
		if (a.proc == NFS3PROC_READ && r.u.status == NFS3_OK) {
			struct seg seg = r.u.read.data.one;

			mem_buf_ref(m->data);
			rpc_req_hold(req, &seg, 1, &r.u.read.data);
		}
		nfs3_put_res(&req->res, &r);
	}
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void reply_mount(struct mean3 *m, struct rpc_req *req)
{
	struct mount3_mnt_res r = {m->mnt_status, root_fh, 1, {m->flavor}};

	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	if (req->proc == MOUNT3PROC_MNT)
		mount3_put_mnt_res(&req->res, &r);
	m->umounts += req->proc == MOUNT3PROC_UMNT;
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

/* Answers another client's TEST about the last lock that was granted. */
static void answer_test(struct mean3 *m, struct rpc_req *req, struct nlm4_test_res *r)
{
	struct nlm4_test_args a;

	assert_int_equal(nlm4_get_test_args(&req->args, &a), 0);
	if (r->status != NLM4_GRANTED || !m->nlm_held || a.lock.svid == m->nlm_svid)
		return;
	r->status = NLM4_DENIED;
	if (m->nlm_anonymous)
		return;
	r->holder.svid = m->nlm_svid;
	r->holder.oh = (struct nlm4_netobj){m->nlm_oh, m->nlm_oh_len};
}

static void note_lock(struct mean3 *m)
{
	const struct nlm4_lock *l = &m->last_lock.lock;

	m->nlm_held = true;
	m->nlm_svid = l->svid;
	m->nlm_oh_len = l->oh.len < sizeof(m->nlm_oh) ? l->oh.len : sizeof(m->nlm_oh);
	memcpy(m->nlm_oh, l->oh.data, m->nlm_oh_len);
}

static void note_owner(struct mean3_owner *o, const struct nlm4_lock *l)
{
	*o = (struct mean3_owner){.svid = l->svid, .offset = l->offset, .len = l->len};
	assert_true(l->caller.len < sizeof(o->caller) && l->oh.len < sizeof(o->oh));
	memcpy(o->caller, l->caller.s, l->caller.len);
	memcpy(o->oh, l->oh.data, l->oh.len);
}

static void reply_unlock(struct mean3 *m, struct rpc_req *req, struct nlm4_res *r)
{
	struct nlm4_unlock_args a;

	assert_int_equal(nlm4_get_unlock_args(&req->args, &a), 0);
	note_owner(&m->unlocker, &a.lock);
	if (m->nlm_graces) {
		m->nlm_graces--;
		r->status = NLM4_DENIED_GRACE_PERIOD;
	} else if (m->nlm_svid == a.lock.svid) {
		m->nlm_held = false;
	}
}

static void reply_nlm(struct mean3 *m, struct rpc_req *req)
{
	struct nlm4_test_res test = {.holder = {.exclusive = true, .svid = 77, .offset = 5}};
	struct nlm4_res r = {.status = NLM4_GRANTED};

	m->nlm_count[req->proc]++;
	if (req->proc == NLM4PROC_LOCK && m->nlm_mute) {
		m->nlm_mute--;
		rpc_req_drop(req);
		return;
	}
	if (req->proc == NLM4PROC_UNLOCK && m->nlm_mute_un) {
		m->nlm_mute_un--;
		rpc_req_drop(req);
		return;
	}
	assert_int_equal(rpc_req_begin(req, RES_CAP), 0);
	if (req->proc == NLM4PROC_LOCK)
		assert_int_equal(nlm4_get_lock_args(&req->args, &m->last_lock), 0);
	if (req->proc == NLM4PROC_LOCK)
		note_owner(&m->locker, &m->last_lock.lock);
	m->reclaims += req->proc == NLM4PROC_LOCK && m->last_lock.reclaim;
	if (m->nlm_times && (req->proc == NLM4PROC_LOCK || req->proc == NLM4PROC_TEST)) {
		m->nlm_times--;
		r.status = m->nlm_status;
	}
	if (req->proc == NLM4PROC_LOCK && r.status == NLM4_GRANTED)
		note_lock(m);
	if (req->proc == NLM4PROC_UNLOCK)
		reply_unlock(m, req, &r);
	test.status = r.status;
	if (req->proc == NLM4PROC_TEST) {
		answer_test(m, req, &test);
		nlm4_put_test_res(&req->res, &test);
	} else if (req->proc != NLM4PROC_NULL) {
		nlm4_put_res(&req->res, &r);
	}
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static void service(void *ctx, struct rpc_req *req)
{
	struct mean3 *m = ctx;

	pthread_mutex_lock(&m->lock);
	if (req->prog == NFS3_PROGRAM && (m->no_v3 || req->vers != NFS3_VERSION)) {
		req->mismatch_low = req->mismatch_high = m->no_v3 ? 4 : 3;
		rpc_req_reply(req, RPC_ACCEPT_PROG_MISMATCH);
	} else if (req->prog == NFS3_PROGRAM) {
		reply_nfs(m, req);
	} else if (req->prog == MOUNT3_PROGRAM) {
		reply_mount(m, req);
	} else if (req->prog == NLM4_PROGRAM && !m->no_nlm) {
		reply_nlm(m, req);
	} else {
		rpc_req_reply(req, RPC_ACCEPT_PROG_UNAVAIL);
	}
	pthread_mutex_unlock(&m->lock);
}

static enum fault_kind cut(void *ctx, const struct rpc_req *req, struct fault_note *note,
	bool reply, unsigned *delay_ms)
{
	struct mean3 *m = ctx;

	if (reply && req->prog == NLM4_PROGRAM)
		*delay_ms = m->nlm_delay_ms;
	if (reply && m->nlm_restarts && req->prog == NLM4_PROGRAM && req->proc == NLM4PROC_TEST) {
		m->nlm_restarts = m->nlm_held = false;
		return FAULT_CLOSE;
	}
	if (reply && m->cut_nlm && req->prog == NLM4_PROGRAM && req->proc == NLM4PROC_LOCK) {
		m->cut_nlm = false;
		return FAULT_CLOSE;
	}
	if (reply && m->cut_null && !m->cut && req->prog == NFS3_PROGRAM &&
		req->proc == NFS3PROC_NULL) {
		m->cut_null = false;
		return FAULT_CLOSE;
	}
	/* the service holds m->lock while it makes this reply */
	if (!reply || !m->cut || req->prog != NFS3_PROGRAM || req->proc != m->cut)
		return FAULT_NONE;
	if (m->cut_status) {
		m->fails[m->cut].status = m->cut_status;
		m->fails[m->cut].times = 1;
	}
	m->cut = 0;
	return FAULT_CLOSE;
}

static int wrap(void *ctx, struct rpc_xprt *x)
{
	return fault_xprt_wrap(x, cut, ctx);
}

void mean3_start(struct mean3 *m)
{
	struct rpc_server_params p = {.proto = RPC_TCP, .service = service, .wrap = wrap, .ctx = m};
	struct sockaddr_in *sin = (struct sockaddr_in *)&p.addr;
	struct err e = {.kind = ERR_NONE};

	memset(m, 0, sizeof(*m));
	pthread_mutex_init(&m->lock, NULL);
	m->pool = mem_pool_new(0);
	m->data = mem_buf_get(m->pool, MEAN3_SIZE);
	for (unsigned i = 0; i < MEAN3_SIZE; i++)
		m->data->data[i] = (uint8_t)(i * 31);
	m->size = MEAN3_SIZE;
	m->flavor = RPC_AUTH_SYS;
	m->access = ~0u;
	m->per_reply = 4;
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p.addr_len = sizeof(*sin);
	p.pool = m->pool;
	m->server = rpc_server_new(&p, &e);
	assert_non_null(m->server);
}

void mean3_stop(struct mean3 *m)
{
	rpc_server_free(m->server);
	mem_buf_unref(m->data);
	mem_pool_free(m->pool);
	pthread_mutex_destroy(&m->lock);
}
