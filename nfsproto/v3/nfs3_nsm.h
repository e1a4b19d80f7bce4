/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nsm: what an NFSv3 mount has to remember of its locks beyond its life: the name under which
 * the server knows it as a host, and its status monitor's number, odd, another one in each run
 * (X/Open XNFS chapter 11). They stand in a file of the state directory, one for each mount: of a
 * server, an export, a mount point and a user. Its lock (flock) tells that the mount lives; several
 * at once have files, and names, of their own. A mount that ends with all locks cleared takes its
 * file away: whoever finds one that nobody has locked succeeds a daemon that was killed, and has to
 * have freed what that daemon held (nfs3_nlm_left.c).
 *
 * The name ends in random digits, so that nobody else at this machine can speak for it.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NSM_H
#define RNFS_NFSPROTO_V3_NFS3_NSM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NFS3_NSM_LINE 64 /* bytes of the file; behind it: nfs3_held.h */

struct nfs3_nsm {
	int fd; /* of the file, locked; -1: nothing is remembered */
	char path[PATH_MAX];
	char name[128];	 /* of the host */
	uint64_t digits; /* the end of the name */
	uint32_t state;
	bool former; /* a former daemon may have left locks */
};

/* dir NULL, or not to be written to: the name is random and nothing is remembered, which is logged.
 * who tells this mount from others. 0 or -EIO: no random numbers. */
int nfs3_nsm_open(struct nfs3_nsm *s, const char *dir, const char *who);
/* clean: the server holds nothing under the name. */
void nfs3_nsm_close(struct nfs3_nsm *s, bool clean);

#endif
