/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3: names of NFSv3's procedures and statuses, and statuses as errno.
 */
#include "nfsproto/wire/nfs3.h"

#include <errno.h>
#include <stddef.h>

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

#define ROW(status, number, err) {status, err, #status},
static const struct status {
	uint32_t status;
	int err;
	const char *name;
} statuses[] = {NFS3_STATUSES(ROW)};
#undef ROW

static const struct status *find(uint32_t status)
{
	for (size_t i = 0; i < N_OF(statuses); i++)
		if (statuses[i].status == status)
			return &statuses[i];
	return NULL;
}

const char *nfs3_status_name(uint32_t status)
{
	const struct status *s = find(status);

	return s ? s->name : "NFS3ERR_?";
}

int nfs3_status_errno(uint32_t status)
{
	const struct status *s = find(status);

	return s ? -s->err : -EREMOTEIO;
}

const char *nfs3_proc_name(uint32_t proc)
{
#define NAME(proc, number) [proc] = &#proc[sizeof("NFS3PROC_") - 1],
	static const char *const names[] = {NFS3_PROCEDURES(NAME)};
#undef NAME

	return proc < NFS3_PROCS ? names[proc] : "?";
}
