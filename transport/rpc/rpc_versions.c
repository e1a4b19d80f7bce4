/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_versions: names of the versions of RPC-over-RDMA.
 */
#include <string.h>

#include "transport/rpc/rpc.h"

#define SAME                                                                                       \
	(RPC_RDMA_V2 | RPC_RDMA_V2_2016 | RPC_RDMA_V2_RTR | RPC_RDMA_V2_2016_RTR) /* one number */

static const struct {
	const char *name;
	unsigned bit;
} versions[] = {{"1", RPC_RDMA_V1}, {"2", RPC_RDMA_V2}, {"2-2016", RPC_RDMA_V2_2016},
	{"2-rtr", RPC_RDMA_V2_RTR}, {"2-2016-rtr", RPC_RDMA_V2_2016_RTR},
	{"1-legacy", RPC_RDMA_V1_LEGACY}};
#define NVERSIONS (sizeof(versions) / sizeof(versions[0]))

static unsigned find(const char *s, size_t len)
{
	for (size_t i = 0; i < NVERSIONS; i++)
		if (strlen(versions[i].name) == len && !memcmp(versions[i].name, s, len))
			return versions[i].bit;
	return 0;
}

bool rpc_rdma_versions_parse(const char *s, unsigned *out)
{
	*out = 0;
	for (;;) {
		size_t len = strcspn(s, ",");
		unsigned bit = find(s, len);

		if (!bit || (bit & SAME && *out & SAME & ~bit))
			return false;
		*out |= bit;
		if (!s[len])
			return true;
		s += len + 1;
	}
}
