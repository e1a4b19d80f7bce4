/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * leave: the end of a mount.
 */
#include "fs/program/leave.h"

#include "fs/program/control.h"
#include "fs/kernel/device.h"
#include "fs/kernel/ending.h"
#include "fs/file/flush.h"
#include "fs/coherence/inval.h"
#include "fs/file/late.h"
#include "fs/program/metrics_file.h"
#include "fs/coherence/notify.h"
#include "fs/file/opening.h"
#include "fs/ops/ops.h"
#include "fs/coherence/repeat.h"
#include "fs/file/retry.h"
#include "fs/kernel/request_waits.h"
#include "fs/program/setup.h"
#include "fs/file/silly.h"
#include "fs/kernel/turn.h"

/* The kernel may wait for requests that the workers have to read and answer: with errors, if the
 * answers take long. */
void leave_notices(struct fs *fs)
{
	if (inval_stop(fs->inval) && notifier_stop(fs->notifier))
		return;
	request_pool_end(fs->requests);
	ops_end_gone(fs);
	inval_stop(fs->inval);
	notifier_stop(fs->notifier);
}

bool leave_mount(struct fs *fs, bool mounted)
{
	bool safe = true;

	ending_begin(fs);
	if (fs->client && fs->inodes) {
		openings_tick(fs, true);
		retries_tick(fs, true);
		turns_tick(fs, true);
		repeats_tick(fs, true);
		late_drain(fs);
		safe = flush_end(fs);
		silly_drop_all(fs);
	}
	fs->control = control_free(fs->control);
	fs->metrics_file = metrics_file_free(fs->metrics_file);
	if (fs->client)
		nfs_client_leave_by(fs->client, ending_leave_by(fs));
	setup_end(fs);
	if (fs->se && mounted) {
		fs->device =
			device_free(fs->device); /* the device's clone would hold the connection */
		fuse_session_unmount(fs->se);
		fuse_session_destroy(fs->se);
	}
	return safe;
}
