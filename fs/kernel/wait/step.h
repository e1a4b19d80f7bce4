/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * step: a function that goes on with a request, on the thread that ends the wait.
 */
#ifndef RNFS_FS_KERNEL_WAIT_STEP_H
#define RNFS_FS_KERNEL_WAIT_STEP_H

struct request;

typedef void request_step_fn(struct request *r);

#endif
