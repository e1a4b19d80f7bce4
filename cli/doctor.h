/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * doctor: `rnfs doctor`, which looks for reasons why a mount does not work, or is slow.
 */
#ifndef RNFS_CLI_DOCTOR_H
#define RNFS_CLI_DOCTOR_H

#include "cli/finding.h"
#include "nfsproto/nfs_client.h"

/* The command line. Strings belong to the caller. */
struct doctor {
	const char *host;		 /* NULL: only this machine */
	const char *export;		 /* NULL: the server's exports are listed */
	int proto;			 /* enum rpc_proto, or -1: all */
	uint16_t port;			 /* 0: the transport's own */
	unsigned vers_major, vers_minor; /* 0.0: 4.2 and 3 */
	struct findings f;
};

/* The command. argv[0] is "doctor". Returns an exit status: 0 if a mount should work. */
int doctor_main(int argc, char **argv);

/* Looks at this machine; root is "" but in tests. */
void doctor_machine(struct doctor *d, const char *root);

/* Looks at the server d->host: name, transports and versions, exports, clock, and this user's
 * rights there. Each transport without an answer takes some seconds. */
void doctor_server(struct doctor *d);

/* The server's time, in seconds since 1970, as its port mapper tells (RPCBPROC_GETTIME, RFC 1833
 * section 2.2.1). Waits at most a second for each of two questions. False: no answer. */
bool doctor_server_time(const struct sockaddr *server, socklen_t len, long long *seconds);

#endif
