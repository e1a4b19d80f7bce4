/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ways: the ways in which other servers than rnfs-serve behave: Linux (knfsd), Ganesha, filers. A
 * run's server is rnfs-serve with some of these ways, by the seed. All of them are allowed by the
 * RFCs.
 *
 * The linker puts functions of the simulator around some of the server's (way_*.c, and meson.build
 * for the list): the server's own code knows nothing of the ways. Other ways are options of
 * rnfs-serve.
 */
#ifndef RNFS_SIMULATION_WAYS_H
#define RNFS_SIMULATION_WAYS_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_req;

struct ways {
	/* The change attribute is the change time, in ticks of 4 ms: two changes in a tick look
	 * like one. So do Linux before 6.13 on a file system without a counter, and Ganesha. */
	bool coarse;
	bool file_sync;		/* each WRITE is stable at once, asked for or not */
	bool forgets;		/* answers of a killed server are not given again */
	bool no_eof;		/* a READ with data never tells the end of the file */
	unsigned short_one_in;	/* READs and WRITEs take a part only, once in so many; 0: never */
	unsigned verf_one_in;	/* the verifier of WRITEs changes once in so many; 0: never */
	unsigned recall_one_in; /* the server recalls delegations once in so many; 0: never */
	/* So many threads carry out the requests of all connections, in any order; 0: the thread
	 * of a connection carries out its requests, one after the other. */
	unsigned parallel;
	unsigned late_one_in;	/* such a thread sleeps once in so many */
	unsigned resize_one_in; /* the server asks for more or fewer slots; 0: never */
	uint32_t io_max;	/* bytes of a READ or WRITE */
	uint32_t message;	/* bytes of a request or an answer of a session */
	uint32_t slots, ops;	/* most of a session, and of a COMPOUND */
	bool splits;		/* WRITEs of adjoining data may take effect in any order */
	bool calm;		/* nothing befalls the server */
	bool v3;		/* some mounts use NFSv3 */
	bool delegates;
	unsigned lease_s;
	bool refuses; /* some requests, with an error that asks for another try */
};

extern struct ways ways;

/* Chooses the ways of the run. calm: nothing befalls the server. rdma: the transport is RDMA. */
void ways_choose(bool calm, bool rdma);

#define WAYS_CREW 8 /* most of ways.parallel */
#define WAYS_ARGS 8
/* The options of rnfs-serve that belong to the ways: how many. The texts are static. */
unsigned ways_args(char *args[WAYS_ARGS]);

/* The server begins, with threads for requests if ways.parallel; no request comes any more. */
void way_crew_begin(void);
void way_crew_end(void);

/* --- the judge's ------------------------------------------------------------------------------ */

/* Can the mount with that process (sched_process()) not know of the last change of the file, by
 * the attributes that the server has told? Then the mount was told the present time of change, and
 * the file has changed again in the same tick. The kernel's client cannot know, either. outside: a
 * program on the server has made the change, which rnfs-serve does not count. */
bool ways_blind(unsigned process, const char *path, bool outside);

/* --- for way_*.c ------------------------------------------------------------------------------ */

/* The calling thread begins to carry out a request, or has ended. */
void way_request_begin(const struct rpc_req *req);
void way_request_end(void);
/* The request has changed a file itself: its client knows of changes so far. */
void way_request_changed(void);

#endif
