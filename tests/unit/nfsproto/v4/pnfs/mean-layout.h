/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-layout: the layouts of mean-nfs4, of one file, at data servers that a test has started. All
 * is under mean_srv's lock.
 */
#ifndef RNFS_TESTS_MEAN_LAYOUT_H
#define RNFS_TESTS_MEAN_LAYOUT_H

#include <stdbool.h>

#include "nfsproto/wire/nfs4_flexfiles.h"
#include "nfsproto/wire/nfs4_xdr.h"

#define MEAN_DEVICES 4

struct mean_layouts {
	/* orders of the test */
	bool gives; /* EXCHANGE_ID and fs_layout_types tell of layouts */
	bool files; /* of the file layout type; unit, nstripes, port and these five count: */
	bool dense;
	uint32_t first_stripe;
	unsigned nfh;	    /* handles, "F0" each; not dense: 0 for none */
	unsigned nservers;  /* in the device; stripe i is at data server i modulo nservers */
	uint64_t data_size; /* the size of the file as the data servers know it */
	uint64_t unit;
	uint32_t nmirrors, nstripes; /* device number mirror * nstripes + stripe ... */
	uint16_t device;	     /* ... behind this one */
	uint32_t flags;
	uint32_t stats_hint;
	uint16_t port[MEAN_DEVICES];
	const char *netid, *host; /* NULL: "tcp", "127.0.0.1" */
	const char *user;	  /* NULL: "1000" */
	uint32_t version, minor;  /* of the devices; 0: 3 */
	bool tight;		  /* stateids and users are those of the metadata server */
	bool return_on_close;
	uint64_t second; /* not 0: the layout has a second segment, from here on */
	bool overlaps;	 /* the first segment reaches beyond the beginning of the second */
	bool reads_only, writes_only; /* LAYOUTGET gives a layout of this kind in any case */
	bool malformed;		      /* the body of a layout, */
	bool bad_device;	      /* of a device */
	/* record of the calls */
	bool held;
	uint32_t seqid;
	unsigned offsets; /* LAYOUTCOMMITs that told the last offset */
	unsigned gets, returns, returns_all, commits, devices, errors;
	uint32_t error; /* the status of the last error reported by LAYOUTRETURN */
	struct nfs4_layouterror_args error_at;	   /* and that error */
	unsigned told;				   /* LAYOUTERRORs, */
	unsigned nstats;			   /* LAYOUTSTATS with a body that decodes, */
	struct nfs4_io_info stat_read, stat_write; /* the last of them, */
	struct nfs4_ff_update stat;		   /* whose addr is left out */
	unsigned nreturn_stats;			   /* of LAYOUTRETURNs, and the last of them: */
	struct nfs4_ff_iostats return_stat;	   /* likewise */
	struct nfs4_layouterror_args last_told;	   /* and the last of them */
	uint64_t last;				   /* of the last LAYOUTCOMMIT */
};

uint32_t mean_layout_type(const struct mean_layouts *l);
struct nfs4_stateid mean_layout_id(const struct mean_layouts *l);
/* Carries one operation out and puts the whole result. *size: of the file. Returns the status. */
uint32_t mean_layout_op(
	struct mean_layouts *l, struct xdr_out *x, const struct nfs4_args *a, uint64_t *size);

#endif
