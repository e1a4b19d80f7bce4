/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * way_deleg: delegations that the server recalls without need, as Linux does where memory is
 * short. The recall may reach the client before the answer that gives the delegation.
 */
#include "contrib/serve/state/deleg.h"
#include "contrib/serve/v4/ops.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/ways.h"

op_fn __real_op_getattr, __real_op_open;

static void may_recall(struct compound *c)
{
	if (!ways.recall_one_in || !c->cur || !sched_once_in(ways.recall_one_in))
		return;
	sched_event("the server recalls delegations of a file");
	deleg_recall_all(&c->sv->state, c->cur);
}

uint32_t __wrap_op_getattr(struct compound *c, const struct nfs4_args *a)
{
	uint32_t status = __real_op_getattr(c, a);

	may_recall(c);
	return status;
}

/* An OPEN may cut the file, too. */
uint32_t __wrap_op_open(struct compound *c, const struct nfs4_args *a)
{
	uint32_t status = __real_op_open(c, a);

	way_request_changed();
	may_recall(c);
	return status;
}
