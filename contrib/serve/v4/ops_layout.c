/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_layout: the operations of pNFS: GETDEVICEINFO, LAYOUTGET, LAYOUTRETURN, LAYOUTCOMMIT,
 * LAYOUTERROR, LAYOUTSTATS, for the flexible file layout type (RFC 8435).
 *
 * A data server that one client reports as failing is not offered to this client for AVOID_NS. The
 * report changes nothing for other clients, which may well reach the data server. If a WRITE had no
 * answer, the file is fenced when the layout comes back, so no data server executes that WRITE
 * later. If a data server has refused a WRITE for want of room or right, clients write the file
 * through this server for a moment: a program learns of the error only so.
 */
#include <stdatomic.h>
#include <string.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/state/devices.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/v4/ops.h"
#include "nfsproto/wire/nfs4_flexfiles.h"
#include "transport/clock.h"
#include "transport/log.h"

#define AVOID_NS    (60 * NSEC_PER_SEC)
#define BODY_MAX    (DEVICES_MAX * 256)
#define LAYOUT_HEAD 28u /* bytes of a layout4 before its body */

/* --- GETDEVICEINFO ---------------------------------------------------------------------------- */

uint32_t op_getdeviceinfo(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_getdeviceinfo_args *a = &args->u.getdeviceinfo;
	struct nfs4_getdeviceinfo_res r = {.type = LAYOUT4_FLEX_FILES};
	uint8_t body[2048];
	struct xdr_out x;
	int i;

	if (!c->sv->devices)
		return NFS4ERR_NOTSUPP;
	if (a->type != LAYOUT4_FLEX_FILES)
		return NFS4ERR_UNKNOWN_LAYOUTTYPE;
	i = devices_find(c->sv->devices, &a->device);
	if (i < 0)
		return NFS4ERR_NOENT;
	xdr_out_init(&x, body, sizeof(body));
	devices_put(&x, &c->sv->devices->d[i]);
	if (a->maxcount) /* 0: the client only wants to change its notifications */
		r.body = (struct nfs4_opaque){body, (uint32_t)x.len};
	r.mincount = (uint32_t)x.len + 12; /* type, length, an empty bitmap */
	if (a->maxcount && a->maxcount < r.mincount) {
		nfs4_put_getdeviceinfo_res(c->out, NFS4ERR_TOOSMALL, &r);
		c->put = true;
		return NFS4ERR_TOOSMALL;
	}
	nfs4_put_getdeviceinfo_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

/* --- data servers that a client cannot use ---------------------------------------------------- */

/* The data servers that are not offered to c now. */
static uint32_t avoided(const struct client *c)
{
	uint64_t now = clock_coarse_ns();
	uint32_t mask = 0;

	for (unsigned i = 0; i < DEVICES_MAX; i++)
		if (now < atomic_load_explicit(&c->ds_again_ns[i], memory_order_relaxed))
			mask |= 1u << i;
	return mask;
}

static bool is_removed(const struct obj *o)
{
	struct statx st;

	return obj_stat(o, &st) == 0 && st.stx_nlink == 0;
}

/* Would every server refuse a WRITE so? */
static bool is_everywhere(uint32_t status)
{
	return status == NFS4ERR_NOSPC || status == NFS4ERR_DQUOT || status == NFS4ERR_FBIG ||
	       status == NFS4ERR_ROFS;
}

/* Would another data server give another answer? A data server refuses access to a file that was
 * fenced after the layout was given, and does not find a removed one. */
static bool is_servers_fault(const struct compound *c, uint32_t status)
{
	if (is_everywhere(status))
		return false;
	switch (status) {
	case NFS4_OK:
	case NFS4ERR_DELAY:
	case NFS4ERR_GRACE:
		return false;
	case NFS4ERR_ACCESS:
		return !c->cur || !fence_is_new(c->sv->objs, c->cur);
	case NFS4ERR_STALE:
		return !c->cur || !is_removed(c->cur);
	default:
		return true;
	}
}

static const char *remedy(uint32_t status)
{
	switch (status) {
	case NFS4ERR_BADHANDLE:
	case NFS4ERR_STALE:
		return "; a data server must serve the same directory with the same --handle-key";
	case NFS4ERR_ACCESS:
		return "; a data server must run with --data-server and the same --handle-key";
	default:
		return "";
	}
}

static void count_one(_Atomic uint64_t *n)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* late: with LAYOUTRETURN. */
static void take_error(struct compound *c, const struct nfs4_device_error *e, bool late)
{
	int i = devices_find(c->sv->devices, &e->device);
	struct layout_reports *r;
	uint64_t now = clock_coarse_ns();

	if (i < 0)
		return;
	r = &c->sv->state.layouts->reports[i];
	count_one(late ? &r->late_errors : &r->errors);
	if (!is_servers_fault(c, e->status))
		return;
	if (atomic_exchange_explicit(
		    &c->client->ds_again_ns[i], now + AVOID_NS, memory_order_relaxed) > now)
		return;
	log_info("client %s reports %s of data server %s, which is not offered to the client for "
		 "%u s%s",
		c->client->who, nfs4_status_name(e->status), c->sv->devices->d[i].name,
		(unsigned)(AVOID_NS / NSEC_PER_SEC), remedy(e->status));
}

static void take_errors(struct compound *c, const struct nfs4_layouterror_args *a, bool late)
{
	for (uint32_t i = 0; i < a->n; i++)
		take_error(c, &a->error[i], late);
}

/* A client has told the counts of its I/O at that data server. The counts are not used. */
static void take_counts(struct compound *c, const struct nfs4_deviceid *device, bool late)
{
	int i = devices_find(c->sv->devices, device);
	struct layout_reports *r;

	if (i < 0)
		return;
	r = &c->sv->state.layouts->reports[i];
	count_one(late ? &r->late_counts : &r->counts);
}

/* --- LAYOUTGET -------------------------------------------------------------------------------- */

static uint32_t check_wanted(const struct compound *c, const struct nfs4_layoutget_args *a)
{
	if (a->type != LAYOUT4_FLEX_FILES)
		return NFS4ERR_UNKNOWN_LAYOUTTYPE;
	if (a->iomode != LAYOUTIOMODE4_READ && a->iomode != LAYOUTIOMODE4_RW)
		return NFS4ERR_BADIOMODE;
	if (a->length == 0 || a->minlength > a->length ||
		(a->length != NFS4_LENGTH_EOF && a->length > NFS4_LENGTH_EOF - a->offset))
		return NFS4ERR_INVAL;
	if (!S_ISREG(c->cur->type))
		return NFS4ERR_WRONG_TYPE;
	return NFS4_OK;
}

/* Puts the body of the current object's layout into x. To read, the group alone is enough. */
static uint32_t make_body(struct compound *c, bool writes, struct xdr_out *x)
{
	struct fence_ids ids;
	struct statx st;
	struct nfs_fh fh;
	int r = obj_stat(c->cur, &st);

	if (r < 0)
		return nfs4_errno_status(r);
	if (st.stx_nlink == 0) /* data servers may not find the file any more */
		return NFS4ERR_LAYOUTUNAVAILABLE;
	/* a server that is not root may not read the attribute of each file */
	if (fence_ids(c->sv->objs, c->cur, &ids) < 0)
		return NFS4ERR_LAYOUTUNAVAILABLE;
	/* a WRITE by another user than the owner must take these bits away */
	if (writes && st.stx_mode & (S_ISUID | S_ISGID))
		return NFS4ERR_LAYOUTUNAVAILABLE;
	fh.len = obj_handle(c->sv->objs, c->cur, fh.data);
	if (!devices_put_layout(x, c->sv->devices, avoided(c->client), c->cur->id.ino, &fh,
		    writes ? ids.uid : IDENT_ANON, ids.gid))
		return NFS4ERR_LAYOUTUNAVAILABLE;
	return NFS4_OK;
}

uint32_t op_layoutget(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_layoutget_args *a = &args->u.layoutget;
	struct nfs4_layoutget_res r = {.return_on_close = true, .n = 1};
	struct layout_ask ask = {.by = &c->req->cred, .sid = a->stateid, .iomode = a->iomode};
	uint8_t body[BODY_MAX];
	struct xdr_out x;
	uint32_t status;

	if (!c->sv->devices)
		return NFS4ERR_NOTSUPP;
	status = check_wanted(c, a);
	xdr_out_init(&x, body, sizeof(body));
	if (status == NFS4_OK)
		status = make_body(c, a->iomode == LAYOUTIOMODE4_RW, &x);
	if (status != NFS4_OK)
		return status;
	if (LAYOUT_HEAD + x.len > a->maxcount)
		return NFS4ERR_TOOSMALL;
	if (c->out->len + LAYOUT_HEAD + x.len + 32 > c->res_max) /* the layout would be lost */
		return c->cachethis ? NFS4ERR_REP_TOO_BIG_TO_CACHE : NFS4ERR_REP_TOO_BIG;
	current_stateid(c, &ask.sid);
	ask.call = (struct nfs4_referring_call){c->session->id, c->slot_seq, c->slotid};
	status = layout_get(&c->sv->state, c->client, c->cur, &ask, &r.stateid);
	if (status == NFS4ERR_LAYOUTTRYLATER) { /* the one error with a result */
		nfs4_put_layoutget_res(c->out, status, &r);
		c->put = true;
	}
	if (status != NFS4_OK)
		return status;
	r.layout[0] = (struct nfs4_layout){.length = NFS4_LENGTH_EOF,
		.iomode = a->iomode,
		.type = LAYOUT4_FLEX_FILES,
		.body = {body, (uint32_t)x.len}};
	nfs4_put_layoutget_res(c->out, NFS4_OK, &r);
	c->cur_sid = r.stateid;
	return NFS4_OK;
}

/* --- LAYOUTRETURN, LAYOUTCOMMIT --------------------------------------------------------------- */

/* The errors of WRITE and COMMIT in a client's reports of one layout. */
struct told {
	/* A WRITE had no answer. Then a data server may still execute the WRITE, and so undo a
	 * later one through this server (RFC 8435 section 2.2, RFC 7862 section 15.6.4). */
	bool late;
	bool refused; /* as every server would */
};

static void look_at(struct told *t, const struct nfs4_layouterror_args *a)
{
	t->late |= a->more; /* one of the others, perhaps */
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->error[i].op == OP_READ)
			continue;
		t->late |= a->error[i].status == NFS4ERR_NXIO;
		t->refused |= is_everywhere(a->error[i].status);
	}
}

static void act_on(const struct told *t, struct compound *c, const struct nfs4_stateid *sid)
{
	if (t->late)
		layout_doubt(c->client, c->cur, sid);
	if (t->refused)
		layout_write_here(c->client, c->cur, sid);
}

static uint32_t return_file(
	struct compound *c, const struct nfs4_layoutreturn_args *a, struct nfs4_layoutreturn_res *r)
{
	bool all = a->offset == 0 && a->length == NFS4_LENGTH_EOF;
	struct nfs4_stateid sid = a->stateid;
	struct nfs4_ff_return report;
	struct told told = {false};
	uint32_t status;

	if (!c->cur)
		return NFS4ERR_NOFILEHANDLE;
	if (nfs4_get_ff_return(&a->body, &report) < 0)
		return NFS4ERR_BADXDR;
	for (uint32_t i = 0; i < report.nerrors; i++) {
		take_errors(c, &report.error[i], true);
		look_at(&told, &report.error[i]);
	}
	told.late |= report.more_errors;
	for (uint32_t i = 0; i < report.nstats; i++)
		take_counts(c, &report.stats[i].device, true);
	if (a->reclaim)
		return NFS4_OK;
	current_stateid(c, &sid);
	act_on(&told, c, &sid);
	status = layout_return(
		&c->sv->state, c->client, c->cur, &sid, a->iomode, all, &r->left, &r->stateid);
	if (r->left)
		c->cur_sid = r->stateid;
	return status;
}

uint32_t op_layoutreturn(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_layoutreturn_args *a = &args->u.layoutreturn;
	struct nfs4_layoutreturn_res r = {.left = false};
	uint32_t status = NFS4_OK;

	if (!c->sv->devices)
		return NFS4ERR_NOTSUPP;
	if (a->type != LAYOUT4_FLEX_FILES)
		return NFS4ERR_UNKNOWN_LAYOUTTYPE;
	if (a->iomode < LAYOUTIOMODE4_READ || a->iomode > LAYOUTIOMODE4_ANY)
		return NFS4ERR_BADIOMODE;
	if (a->what == LAYOUTRETURN4_FILE)
		status = return_file(c, a, &r);
	else if (!a->reclaim)
		layout_return_all(&c->sv->state, c->client);
	if (status == NFS4_OK)
		nfs4_put_layoutreturn_res(c->out, NFS4_OK, &r);
	return status;
}

/* The data servers have written the file itself, so size and times are right already. They are made
 * stable here. */
uint32_t op_layoutcommit(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_layoutcommit_args *a = &args->u.layoutcommit;
	struct nfs4_layoutcommit_res r = {.resized = false};
	struct nfs4_stateid sid = a->stateid;
	uint32_t status = NFS4_OK;

	if (!c->sv->devices)
		return NFS4ERR_NOTSUPP;
	if (a->type != LAYOUT4_FLEX_FILES)
		return NFS4ERR_UNKNOWN_LAYOUTTYPE;
	if (a->body.len)
		return NFS4ERR_INVAL; /* RFC 8435 5.2 */
	current_stateid(c, &sid);
	if (a->reclaim)
		status = client_may_claim(&c->sv->state, c->client, true);
	else
		status = layout_check(c->client, c->cur, &sid, LAYOUTIOMODE4_RW);
	if (status != NFS4_OK)
		return status;
	attr_touch(c->cur);
	stable_want(c->sv->stable, &c->last.set, c->cur);
	nfs4_put_layoutcommit_res(c->out, NFS4_OK, &r);
	return NFS4_OK;
}

/* --- LAYOUTERROR, LAYOUTSTATS ----------------------------------------------------------------- */

uint32_t op_layouterror(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_layouterror_args *a = &args->u.layouterror;
	struct nfs4_stateid sid = a->stateid;
	struct told told = {false};
	uint32_t status;

	if (!c->sv->devices)
		return NFS4ERR_NOTSUPP;
	current_stateid(c, &sid);
	status = layout_check(c->client, c->cur, &sid, LAYOUTIOMODE4_ANY);
	if (status != NFS4_OK)
		return status;
	take_errors(c, a, false);
	look_at(&told, a);
	act_on(&told, c, &sid);
	nfs4_put_op_res(c->out, OP_LAYOUTERROR, NFS4_OK);
	return NFS4_OK;
}

uint32_t op_layoutstats(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_layoutstats_args *a = &args->u.layoutstats;
	struct nfs4_stateid sid = a->stateid;
	struct nfs4_ff_update update;
	uint32_t status;

	if (!c->sv->devices)
		return NFS4ERR_NOTSUPP;
	if (a->type != LAYOUT4_FLEX_FILES)
		return NFS4ERR_UNKNOWN_LAYOUTTYPE;
	if (nfs4_get_ff_update(&a->body, &update) < 0)
		return NFS4ERR_BADXDR;
	current_stateid(c, &sid);
	status = layout_check(c->client, c->cur, &sid, LAYOUTIOMODE4_ANY);
	if (status != NFS4_OK)
		return status;
	take_counts(c, &a->device, false);
	nfs4_put_op_res(c->out, OP_LAYOUTSTATS, NFS4_OK);
	return NFS4_OK;
}
