/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * way_data: READs and WRITEs of a part, ends that are not told, WRITEs that are stable at once, and
 * verifiers that change while the server runs.
 *
 * Linux changes its verifier after an error of some sync, so a client may have to send data again
 * that is safe.
 */
#include "contrib/serve/v3/v3.h"
#include "contrib/serve/v4/ops.h"
#include "nfsproto/wire/nfs4_xdr_space.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

static uint8_t turn; /* added to all verifiers */

v3_fn __real_v3_read, __real_v3_write, __real_v3_commit, __real_v3_setattr;
op_fn __real_op_read, __real_op_write, __real_op_setattr;
void __real_nfs4_put_read_res(struct xdr_out *x, uint32_t status, const struct nfs4_read_res *r);
void __real_nfs4_put_write_res(struct xdr_out *x, uint32_t status, const struct nfs4_write_res *r);
void __real_nfs4_put_commit_res(
	struct xdr_out *x, uint32_t status, const struct nfs4_commit_res *r);
void __real_nfs4_put_copy_res(struct xdr_out *x, uint32_t status, const struct nfs4_copy_res *r);

static uint32_t part(uint32_t count)
{
	if (count > ways.io_max)
		count = ways.io_max;
	if (count > 1 && ways.short_one_in && sched_once_in(ways.short_one_in)) {
		count = 1 + sched_choose(count - 1);
		sched_event("the server takes a part, %u bytes", count);
	}
	return count;
}

static void turn_verifier(uint8_t *verf)
{
	verf[0] ^= turn;
}

static void may_turn(void)
{
	if (!ways.verf_one_in || !sched_once_in(ways.verf_one_in))
		return;
	turn++;
	sched_event("the server changes its write verifier");
}

/* --- NFSv4 ------------------------------------------------------------------------------------ */

uint32_t __wrap_op_read(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_args a = *args;

	a.u.read.count = part(a.u.read.count);
	return __real_op_read(c, &a);
}

void __wrap_nfs4_put_read_res(struct xdr_out *x, uint32_t status, const struct nfs4_read_res *r)
{
	struct nfs4_read_res res = *r;

	if (ways.no_eof && res.data.len)
		res.eof = false;
	__real_nfs4_put_read_res(x, status, &res);
}

uint32_t __wrap_op_write(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_args a = *args;
	uint32_t status;

	a.u.write.data = seg_list_cut(&args->u.write.data, 0, part(args->u.write.data.len));
	if (ways.file_sync)
		a.u.write.stable = NFS_FILE_SYNC;
	may_turn();
	status = __real_op_write(c, &a);
	way_request_changed();
	return status;
}

uint32_t __wrap_op_setattr(struct compound *c, const struct nfs4_args *a)
{
	uint32_t status = __real_op_setattr(c, a);

	way_request_changed();
	return status;
}

void __wrap_nfs4_put_write_res(struct xdr_out *x, uint32_t status, const struct nfs4_write_res *r)
{
	struct nfs4_write_res res = *r;

	turn_verifier(res.verf);
	__real_nfs4_put_write_res(x, status, &res);
}

void __wrap_nfs4_put_commit_res(struct xdr_out *x, uint32_t status, const struct nfs4_commit_res *r)
{
	struct nfs4_commit_res res = *r;

	turn_verifier(res.verf);
	__real_nfs4_put_commit_res(x, status, &res);
}

void __wrap_nfs4_put_copy_res(struct xdr_out *x, uint32_t status, const struct nfs4_copy_res *r)
{
	struct nfs4_copy_res res = *r;

	turn_verifier(res.response.verf);
	__real_nfs4_put_copy_res(x, status, &res);
}

/* --- NFSv3 ------------------------------------------------------------------------------------ */

uint32_t __wrap_v3_read(struct v3_call *c, const struct nfs3_args *args)
{
	struct nfs3_args a = *args;
	struct nfs3_read_res *r = &c->res.u.read;
	uint32_t status;

	a.u.read.count = part(a.u.read.count);
	status = __real_v3_read(c, &a);
	if (ways.no_eof && r->count)
		r->eof = false;
	return status;
}

uint32_t __wrap_v3_write(struct v3_call *c, const struct nfs3_args *args)
{
	struct nfs3_args a = *args;
	uint32_t status;

	if (a.u.write.count == a.u.write.data.len) {
		a.u.write.count = part(a.u.write.count);
		a.u.write.data = seg_list_cut(&args->u.write.data, 0, a.u.write.count);
	}
	if (ways.file_sync)
		a.u.write.stable = NFS_FILE_SYNC;
	may_turn();
	status = __real_v3_write(c, &a);
	turn_verifier(c->res.u.write.verf);
	way_request_changed();
	return status;
}

uint32_t __wrap_v3_setattr(struct v3_call *c, const struct nfs3_args *a)
{
	uint32_t status = __real_v3_setattr(c, a);

	way_request_changed();
	return status;
}

uint32_t __wrap_v3_commit(struct v3_call *c, const struct nfs3_args *a)
{
	uint32_t status = __real_v3_commit(c, a);

	turn_verifier(c->res.u.commit.verf);
	return status;
}
