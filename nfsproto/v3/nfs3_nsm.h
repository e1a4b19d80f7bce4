/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nsm: data about locks that must outlive an NFSv3 mount: the mount's name as a host at the
 * server, and its status monitor's number. The number is odd, and another one in each run (X/Open
 * XNFS chapter 11).
 *
 * Both are in a file of the state directory, one for each mount: of a server, an export, a mount
 * point and a user. A lock on the file (flock) shows that the mount lives. Several such mounts at
 * once have files and names of their own. A mount that ends with all locks cleared removes its
 * file. So a mount that finds a file without a lock succeeds a killed daemon, and must have that
 * daemon's locks freed (nfs3_nlm_left.c).
 *
 * The name ends in random digits, so that no other user of this machine can speak for the mount.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NSM_H
#define RNFS_NFSPROTO_V3_NFS3_NSM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NFS3_NSM_LINE 64 /* bytes of the file; behind it: nfs3_held.h */

struct nfs3_nsm {
	int fd; /* of the file, locked; -1: no file is kept */
	char path[PATH_MAX];
	char name[128];	 /* of the host */
	uint64_t digits; /* the end of the name */
	uint32_t state;
	bool former; /* a former daemon may have left locks */
};

/* Takes or makes the file in dir. dir NULL or not writable: the name is random and no file is kept,
 * which is logged. who: a string to tell this mount from others. 0 or -EIO: no random numbers. */
int nfs3_nsm_open(struct nfs3_nsm *s, const char *dir, const char *who);
/* Is fd a file with these digits and this number? */
bool nfs3_nsm_is_of(int fd, uint64_t digits, uint32_t state);
/* clean: the server holds no locks under the name. */
void nfs3_nsm_close(struct nfs3_nsm *s, bool clean);

#endif
