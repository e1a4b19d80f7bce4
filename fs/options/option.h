/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * option: the options of a mount, and the meaning of each name in a list of -o options.
 */
#ifndef RNFS_FS_OPTIONS_OPTION_H
#define RNFS_FS_OPTIONS_OPTION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nfsproto/nfs_client.h"
#include "transport/err.h"
#include "transport/log_target.h"

enum options_action {
	OPTIONS_MOUNT,
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

enum options_proto {
	PROTO_AUTO,	 /* rdma, then iwarp, then tcp */
	PROTO_AUTO_RDMA, /* rdma, then iwarp */
	PROTO_RDMA,
	PROTO_IWARP,
	PROTO_TCP,
};

/* In which mounts an option is of use. */
#define OPTION_FOR_RDMA	 1u /* over RDMA, iWARP included */
#define OPTION_FOR_IWARP 2u
#define OPTION_FOR_V3	 4u
#define OPTION_FOR_V4	 8u
#define OPTION_FOR_V42	 16u

#define OPTIONS_MAX  192
#define OPTION_UNSET UINT_MAX /* of the attribute times */

struct options {
	enum options_action action;
	char *source;	  /* SERVER:/EXPORT or URL, as given */
	char *host;	  /* without brackets around an IPv6 address */
	char *export;	  /* absolute path on the server */
	char *mountpoint; /* as given */

	enum options_proto proto;
	int family;			  /* AF_INET6: no other addresses; AF_UNSPEC */
	uint16_t port;			  /* 0: the transport's own */
	unsigned vers_major, vers_minor;  /* of NFS; 0.0: the newest there is, 4.0: of NFSv4 */
	unsigned minorversion;		  /* as given, else 0; taken into vers_minor */
	enum nfs_delegations delegations; /* for mounts that believe attributes */
	enum nfs_idmap idmap;
	char *idmap_domain;    /* or NULL */
	uint16_t mountport;    /* of MOUNT for NFSv3, 0: found out */
	bool mount_udp;	       /* MOUNT and the portmapper over UDP, else TCP */
	char *mounthost;       /* where MOUNT is; NULL: host */
	bool read_plus;	       /* NFSv4.2: do not transfer holes */
	bool pnfs;	       /* NFSv4: data straight from and to data servers */
	uint32_t rsize, wsize; /* bytes, 0: as large as both sides like */
	bool soft;
	unsigned patience_s; /* seconds that a request waits while the server is silent; 0: for ever
			      */
	bool notify;	     /* the desktop is told of a silent server */
	unsigned timeo_ms;
	unsigned retrans;
	unsigned nconnect, max_connect; /* 0: not given */
	bool trunk_discovery;		/* the server is asked for further addresses */
	bool migration;			/* the mount moves with its file system to another server */
	bool replication; /* the mount goes on at another server when its own is silent */
	bool survive;	  /* the daemon may be killed (survivor.h) */
	bool referrals;	  /* directories that are on other servers are mounted from there */
	unsigned connect_ms;
	unsigned retry_min;   /* minutes of tries for a first connection; as given: OPTION_UNSET */
	bool bg;	      /* in the background, if the first attempt fails */
	unsigned grace_s;     /* seconds that the end may take after a signal; 0: for ever */
	bool delay_connect;   /* mount before there is a connection */
	size_t cache_size;    /* bytes of the memory pool */
	uint32_t credits;     /* 0: default */
	uint32_t inline_size; /* 0: default */
	unsigned rdma_versions; /* RPC_RDMA_V1, ..., 0: all */
	bool mpa_crc;
	unsigned acregmin, acregmax; /* seconds that a file's attributes are believed */
	unsigned acdirmin, acdirmax; /* and a directory's attributes */
	bool cache_names;	     /* names may be believed, */
	bool cache_absent;	     /* and absent names, */
	bool cache_complete;	     /* also names that no program has asked for (complete.h) */

	bool noac;   /* as given; taken into the times and names above, and gather */
	bool nolock; /* as given; taken into local_posix and local_flock */
	bool local_posix, local_flock; /* locks are this machine's own */
	bool read_only;
	bool allow_other, allow_root;
	bool default_permissions;
	bool auto_unmount; /* also if the daemon is killed */
	bool foreground;
	struct log_choice log;
	char *metrics_file; /* absolute, or NULL */
	bool debug;	    /* control path */
	bool debug_data;    /* one line per message */
	bool debug_fuse;    /* libfuse's own */
	unsigned workers;
	unsigned readahead_kb; /* 0: leave the kernel's */
	bool gather;	       /* write(2) need not wait for the server */
	char *fuse_opts;       /* comma list for libfuse and mount(2), may be empty, never NULL */

	uint64_t given[OPTIONS_MAX / 64]; /* option_given() */
	bool sloppy;			  /* unknown options are ignored */
	char *unknown;			  /* comma list of their names, or NULL */
	char *unused;			  /* list for a sentence, or NULL: option_unused() */
	char *notes;			  /* lines, or NULL: option_note() */
};

/* Takes one item of the list, "name" or "name=value", into o; item is cut at the '='. An unknown
 * name goes to o->unknown. 0, or -1 with *e set: a missing, superfluous or invalid value, or no
 * memory. */
int option_set(struct options *o, char *item, struct err *e);

/* Was the option among the items? name must be an option's. */
bool option_given(const struct options *o, const char *name);
/* Finds the next given option that is of use in some mounts only, from number *at on. *only: those
 * mounts (OPTION_FOR_*). Returns NULL at the end. */
const char *option_next_limited(const struct options *o, size_t *at, unsigned *only);
/* The option with the name most like `name`, or NULL. */
const char *option_nearest(const char *name);

/* Adds name, or name=value, to the options for libfuse and mount(2). This function and the next two
 * return 0, or -1 with *e set when out of memory. */
int option_pass(struct options *o, const char *name, const char *value, struct err *e);
/* Adds a sentence for the user about an option that does less than its name says. */
__attribute__((format(printf, 3, 4))) int option_note(
	struct options *o, struct err *e, const char *fmt, ...);
/* Adds an option to the list that one sentence calls ignored. */
int option_unused(struct options *o, const char *name, struct err *e);

/* Prints a line for each option, for shells that complete a command line: "name", "name=" if any
 * value may follow, or a line "name=value" for each possible value. */
void option_words(FILE *out);

/* A number with an optional suffix K, M or G (powers of 1024). 0, or -1 when s is no such number or
 * the value is outside min..max. */
int option_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);

#endif
