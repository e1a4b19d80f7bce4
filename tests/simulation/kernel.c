/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel: the kernel's side of one mount, on the model of Linux (vfs.h).
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/kernel.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/vfs.h"

struct kernel {
	struct vfs *v;
};

struct kernel *kernel_new(void)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct vfs_params p = {.version = sched_once_in(2) ? 601 : 612,
		.allow_other = true,
		.readahead = sched_once_in(2) ? 0 : 1 + sched_choose(64)};

	if (!k)
		abort();
	k->v = vfs_new(&p);
	return k;
}

int kernel_device(struct kernel *k)
{
	return vfs_descriptor(k->v);
}

void kernel_forget(struct kernel *k)
{
	vfs_shrink(k->v, 1);
}

void kernel_unmount(struct kernel *k)
{
	/* RELEASE may be under way: then Linux does not wait for its answer */
	if (choices_once_in(CHOICES_KERNEL, 2)) {
		while (vfs_counts(k->v).waiting)
			usleep(100000);
		vfs_check(k->v);
	}
	if (vfs_unmount(k->v))
		sched_fail("files are open at the end");
}

struct kernel *kernel_free(struct kernel *k)
{
	if (!k)
		return NULL;
	vfs_free(k->v);
	free(k);
	return NULL;
}

struct process *kernel_process_of(struct kernel *k, uid_t user)
{
	if (choices_once_in(CHOICES_KERNEL, 40))
		vfs_shrink(k->v, 1 + choices_below(CHOICES_KERNEL, 3));
	if (choices_once_in(CHOICES_KERNEL, 40))
		vfs_flush(k->v);
	return proc_new(k->v, user, user);
}

struct process *kernel_process(struct kernel *k)
{
	return kernel_process_of(k, 0);
}
