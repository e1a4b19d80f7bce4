/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * network: a simulated network, with TCP over IPv4 and IPv6, and the faults of a run.
 *
 * socket(2) of AF_INET and AF_INET6 in a run makes a simulated socket (sockets.c). Each process of
 * the run has a host, and each host an address of either family; loopback addresses are one and the
 * same for all hosts. A process without network_place() has the host 192.0.2.(number + 1).
 * Addresses of documentation (192.0.2.0/24, 2001:db8::/32) are best: the product asks the real
 * kernel by netlink whether a peer's address is local, and these never are. A peer at a loopback
 * address is local, and its user stays unknown: rnfs-serve refuses that peer without --allow-users
 * all.
 *
 * Bytes of one direction arrive in order, each run of bytes after a delay of its own. A sender can
 * hand over as many bytes as its send buffer has room for. A run stays in the send buffer until the
 * run has arrived and the receiver's window has room. Errors, readiness and states are Linux's.
 */
#ifndef RNFS_SIMULATION_NETWORK_H
#define RNFS_SIMULATION_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

struct network_params {
	uint64_t delay_ns;     /* of each way */
	uint32_t jitter_ns;    /* up to so much is added, by the seed */
	unsigned send_buffer;  /* bytes that wait to arrive */
	unsigned window;       /* bytes that have arrived and are not read */
	unsigned short_one_in; /* a read or write takes only a part once in so many; 0: never */
	unsigned split_one_in; /* a write arrives in two runs once in so many; 0: never */
	/* faults at random, once in so many writes; 0: never */
	unsigned cut_one_in;   /* the connection is cut */
	unsigned quiet_one_in; /* no bytes of the direction arrive for up to quiet_ns */
	unsigned lose_one_in;  /* the other end is gone without a word */
	uint64_t quiet_ns;
};

/* Usual values: 50 us, 200 us of jitter, 128 KiB each, once in 8 and 4; no faults. */
extern struct network_params network;

/* Puts the process with the number (sched_process()) on the host with the IPv4 address, and the
 * IPv6 address if six is not NULL. A new address makes a new host. The process's present sockets
 * stay on their host. */
void network_place(unsigned process, const char *four, const char *six);

/* --- faults of a host, named by its address of IPv4; "127.0.0.1" is the loopback's -------------
 */

enum network_answer {
	NETWORK_ANSWERS, /* as its sockets say */
	NETWORK_REFUSES, /* new connections: ECONNREFUSED */
	NETWORK_IGNORES, /* SYNs vanish; the caller tries again, until ETIMEDOUT */
};

/* Each packet to the host or from it takes so much longer from now on. */
void network_delay(const char *host, uint64_t ns);
/* How the host treats new connections from now on. */
void network_answer(const char *host, enum network_answer a);
/* All connections of the host are cut: both ends get ECONNRESET at once, and bytes under way are
 * lost. Returns how many. */
unsigned network_cut_all(const char *host);
/* Turns the host off: its ends are gone without a packet, its listeners get nothing, packets to the
 * host vanish. Kill the host's processes afterwards, not before: a kernel that is still on sends a
 * FIN or a reset for each killed process. */
void network_down(const char *host);
/* The host is there again. The host answers packets of earlier connections with a reset. */
void network_up(const char *host);
/* No packet reaches or leaves the host for ns; then TCP sends all again. */
void network_quiet_all(const char *host, uint64_t ns);

/* --- faults of one connection ----------------------------------------------------------------- */

/* How many connections have an end that some descriptor or accept queue has. 0 at the end of a
 * run: else there is a leak. */
unsigned network_connections(void);
/* The number of one of them, of the seed's choice; 0: there is none. */
unsigned network_any(void);

/* Ends of a connection: the one that called connect(2), and the other. */
enum network_end { NETWORK_CALLER, NETWORK_CALLED };

/* A fault of the connection with the number; does nothing if there is no such connection. */
/* Both ends get ECONNRESET at once, and bytes under way are lost. */
void network_cut(unsigned number);
/* The end is gone: its own process gets ECONNRESET. The other end learns nothing until it sends:
 * then a reset comes, or nothing at all (silent). */
void network_lose(unsigned number, enum network_end gone, bool silent);
/* No bytes and no acknowledgements of end `from` arrive for ns. */
void network_quiet(unsigned number, enum network_end from, uint64_t ns);
/* End `of` keeps its window closed for ns, though its process reads. */
void network_stall(unsigned number, enum network_end of, uint64_t ns);

#endif
