/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * network_impl: structs and functions that network.c, connection.c and sockets.c share.
 */
#ifndef RNFS_SIMULATION_NETWORK_IMPL_H
#define RNFS_SIMULATION_NETWORK_IMPL_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tests/simulation/network.h"

#define SEC_NS	1000000000ull
#define MSEC_NS 1000000ull

/* An address of either family: those of IPv4 are mapped into IPv6. */
struct address {
	struct in6_addr ip;
	uint16_t port;
};

struct host {
	struct in6_addr four, six;
	enum network_answer answer;
	bool down;
	uint64_t delay_ns, quiet_until, up_since;
};

/* The options of a socket that bear on its connection. */
struct tuning {
	bool keepalive, linger;
	unsigned user_timeout_ms, keep_idle_s, keep_interval_s, keep_count, linger_s;
	unsigned send_buffer; /* 0: the network's */
};

struct socket;

/* --- connections (connection.c) --------------------------------------------------------------- */

enum run_kind { RUN_BYTES, RUN_FIN, RUN_RESET };

struct run {
	enum run_kind kind;
	uint64_t at; /* arrives */
	size_t n, off;
	STAILQ_ENTRY(run) link;
	uint8_t bytes[];
};

STAILQ_HEAD(runs, run);

/* One direction, from end e to the other. */
struct flow {
	struct runs way; /* in order of arrival */
	size_t under_way;
	uint64_t last_at;     /* of the newest run */
	uint64_t quiet_until; /* nothing arrives before */
	uint64_t quiet_since;
	uint64_t stalled_until;
	uint64_t stuck_since;  /* the first run should have arrived; 0: all is well */
	uint64_t unsure_since; /* the acknowledgement of a sent run does not come; 0: none */
	uint64_t ack_at; /* the acknowledgement of the last run that arrived does; 0: is there */
};

/* The keep-alive probes of an end. */
struct probes {
	uint64_t next_at, last_at;
	uint64_t answer_at; /* 0: no answer is on the way */
	unsigned sent;	    /* since the last answer */
};

struct end {
	struct connection *c;
	struct host *host;
	struct address at;
	const struct tuning *tuning; /* NULL: none yet */
	bool open;		     /* a descriptor or an accept queue has the end */
	bool gone, silent;
	int error;	       /* SO_ERROR */
	bool no_recv, no_send; /* shut down: by either side; by this side */
	bool heard_fin, sent_fin, closed;
	uint64_t heard; /* the last time */
	uint64_t acked; /* the last acknowledgement without data came */
	struct probes probes;
	struct runs read; /* have arrived */
	size_t unread;
};

struct connection {
	unsigned number;
	struct end end[2];   /* enum network_end */
	struct flow flow[2]; /* from that end */
	TAILQ_ENTRY(connection) link;
};

static inline unsigned end_index(const struct end *e)
{
	return e == &e->c->end[1];
}

static inline struct end *end_other(struct end *e)
{
	return &e->c->end[!end_index(e)];
}

static inline struct flow *end_flow(struct end *e)
{
	return &e->c->flow[end_index(e)];
}

struct connection *connection_new(struct host *caller, const struct address *from,
	struct host *called, const struct address *to);
/* The connection with the number; NULL: there is none. */
struct connection *connection_of(unsigned number);
/* The next after c in order of age; c NULL: the oldest. */
struct connection *connection_next(struct connection *c);
/* The delay of one packet between the two. */
uint64_t connection_delay(const struct host *a, const struct host *b);

/* Lets all events that are due happen. */
void connection_settle(struct connection *c);
/* Bytes, 0: the end, or -errno; -EAGAIN: none there. */
ssize_t connection_recv(struct end *e, const struct iovec *iov, size_t n, bool peek);
/* Bytes or -errno; -EAGAIN: no room. */
ssize_t connection_send(struct end *e, const struct iovec *iov, size_t n);
/* As poll(2); *at: lowered to the time of the next change. */
short connection_events(struct end *e, uint64_t *at);
/* As shutdown(2). */
int connection_shutdown(struct end *e, int how);
/* The descriptor of e is closed. The connection goes with its last end. */
void connection_close(struct end *e);
/* Gives the end the error, and closes the end. */
void connection_fail(struct end *e, int error);
void connection_cut(struct connection *c);
/* The end is gone; packets on the way still arrive. */
void connection_lose(struct end *e, bool silent);
/* Nothing arrives from the end before. */
uint64_t connection_quiet_until(struct end *from);
/* No packet to the end has an answer, not even a reset. */
bool connection_is_silent(const struct end *e);
/* TCP_ESTABLISHED and so on. */
int connection_state(const struct end *e);

/* --- acknowledgements (acks.c) ---------------------------------------------------------------- */

/* A run from e has arrived at the time t. */
void acks_begin(struct end *e, uint64_t t);
/* Lets the acknowledgements and keep-alive probes of e that are due happen. */
void acks_settle(struct end *e);
/* The keep-alive times of e have changed. */
void acks_retune(struct end *e);
/* Fills *value with what TCP_INFO tells of s, which is in the state. Returns the bytes. */
socklen_t acks_info(struct socket *s, int state, unsigned mss, void *value, socklen_t len);

/* --- sockets (sockets.c, socket_options.c) and their meeting (network.c)
 * ---------------------------------------- */

enum socket_state { SOCKET_NEW, SOCKET_LISTENS, SOCKET_CALLS, SOCKET_CONNECTED, SOCKET_FAILED };

struct waiting { /* in an accept queue */
	struct end *end;
	STAILQ_ENTRY(waiting) link;
};

struct socket {
	int family, type;
	enum socket_state state;
	struct host *host;
	struct address at, to;
	bool bound, reuse, six_only;
	struct tuning tuning;
	/* SOCKET_LISTENS */
	unsigned backlog, nwaiting;
	STAILQ_HEAD(, waiting) waiting;
	/* SOCKET_CALLS */
	uint64_t syn_at; /* the next SYN arrives */
	uint64_t until;	 /* ETIMEDOUT */
	unsigned tries;
	uint64_t answer_at; /* when the answer arrives; 0: no answer is on the way */
	int answer;	    /* errno of the answer, 0: connected */
	/* SOCKET_CONNECTED, or an answer 0 is on its way */
	struct end *end;
	int error; /* SO_ERROR without an end */
	TAILQ_ENTRY(socket) link;
};

/* The socket that fd is, at a point; NULL with errno. */
struct socket *socket_find(int fd);
/* The result of a call: -1 with errno if res is negative. */
int socket_ends(ssize_t res);

struct host *network_host(void); /* the caller's */
bool network_is_loopback(const struct in6_addr *ip);
bool network_is_any(const struct in6_addr *ip);
/* A socket has come, or goes. */
void network_add(struct socket *s);
void network_remove(struct socket *s);
/* 0 or -errno. Port 0: the lowest free one of those from first on. */
int network_bind(struct socket *s, const struct address *a, uint16_t first);
/* May s listen at its address? False: another socket listens there. */
bool network_may_listen(const struct socket *s);
/* Do packets reach a host at the address? */
bool network_hears(const struct in6_addr *ip);
/* The delay of one packet from the host to the address. */
uint64_t network_delay_to(const struct host *from, const struct in6_addr *to);
/* Begins to call s->to. 0 or -errno. */
int network_call(struct socket *s);
/* Lets all events of calls that are due happen. */
void network_settle(void);
/* The time at which the call of s, or to the listener s, goes on. */
uint64_t network_next(const struct socket *s);
/* The port of an end that has closed first is not free for a while. */
void network_time_wait(const struct host *h, const struct address *a);

#endif
