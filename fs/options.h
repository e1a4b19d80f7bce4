/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * options: the command line of rnfs.
 *
 * Names follow mount.nfs where the meaning is the same. Only what works is accepted: an option that
 * would be ignored is refused with a sentence that names it and says what to do instead. Options
 * that belong to mount(8) and have no meaning for a file system (noauto, _netdev, x-...) are passed
 * over.
 */
#ifndef RNFS_FS_OPTIONS_H
#define RNFS_FS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nfsproto/nfs_client.h"
#include "transport/err.h"

enum options_action {
	OPTIONS_MOUNT,
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

enum options_proto {
	PROTO_AUTO, /* rdma, then iwarp, then tcp */
	PROTO_RDMA,
	PROTO_IWARP,
	PROTO_TCP,
};

struct options {
	enum options_action action;
	char *source;	  /* SERVER:/EXPORT as given */
	char *host;	  /* brackets around an IPv6 address removed */
	char *export;	  /* absolute path on the server */
	char *mountpoint; /* as given */

	enum options_proto proto;
	uint16_t port;			 /* 0: the transport's own */
	unsigned vers_major, vers_minor; /* of NFS; 0.0: the newest there is, 4.0: of NFSv4 */
	unsigned minorversion;		 /* as given, else 0; taken into vers_minor */
	enum nfs_idmap idmap;
	char *idmap_domain;    /* or NULL */
	uint16_t mountport;    /* of MOUNT for NFSv3, 0: found out */
	bool mount_udp;	       /* MOUNT and the portmapper over UDP, else TCP */
	char *mounthost;       /* where MOUNT is; NULL: host */
	bool read_plus;	       /* NFSv4.2: do not transfer holes */
	uint32_t rsize, wsize; /* bytes, 0: as large as both sides like */
	bool soft;
	unsigned timeo_ms;
	unsigned retrans;
	unsigned connect_ms;
	size_t cache_size;    /* bytes of the memory pool */
	uint32_t credits;     /* 0: default */
	uint32_t inline_size; /* 0: default */
	bool mpa_crc;
	unsigned acregmin, acregmax; /* seconds that a file's attributes are believed */
	unsigned acdirmin, acdirmax; /* and a directory's */
	bool cache_names;
	double attr_timeout;  /* seconds: the shorter of acregmin and acdirmin */
	double entry_timeout; /* seconds: acdirmin, or 0 without cache_names */

	bool local_posix, local_flock; /* locks are this machine's own */
	bool read_only;
	bool allow_other, allow_root;
	bool default_permissions;
	bool foreground;
	bool debug;	 /* control path */
	bool debug_data; /* one line per message */
	bool debug_fuse; /* libfuse's own */
	unsigned workers;
	unsigned readahead_kb; /* 0: leave the kernel's */
	char *fuse_opts;       /* comma list for libfuse and mount(2), may be empty, never NULL */
};

/* Fills *o from argv. 0, or -1 with *e set (ERR_USAGE, or ERR_INTERNAL when out of memory). In
 * either case options_finish() is due. argv is not changed and not referred to afterwards. */
int options_parse(struct options *o, int argc, char *const argv[], struct err *e);
void options_finish(struct options *o);

/* The text of -h. */
void options_help(FILE *out);

/* A number with an optional suffix K, M or G (powers of 1024). 0, or -1 when s is no such number or
 * the value is outside min..max. */
int options_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

#endif
