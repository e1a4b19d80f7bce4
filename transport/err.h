/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * err: one sentence for the user beside a code for the program.
 *
 * Functions that can fail in ways a user must understand (connecting, mounting) take a
 * `struct err *`. Everything else returns 0 or a negative errno.
 */
#ifndef RNFS_TRANSPORT_ERR_H
#define RNFS_TRANSPORT_ERR_H

/* The kind of a failure at mount time; the caller chooses the remedy by the kind. */
enum err_kind {
	ERR_NONE = 0,
	ERR_INTERNAL,	 /* out of memory, a local system call failed */
	ERR_USAGE,	 /* an option or argument is wrong */
	ERR_RESOLVE,	 /* the host name does not resolve */
	ERR_UNREACHABLE, /* no route, or silence until the time-out */
	ERR_REFUSED,	 /* the host answers, nothing listens on the port */
	ERR_NOT_RDMA,	 /* something listens, but does not speak the transport asked for */
	ERR_VERSION,	 /* RPC-over-RDMA, RPC or NFS version not offered by the server */
	ERR_NO_EXPORT,	 /* the export path does not exist */
	ERR_MOVED,	 /* it does, on another server */
	ERR_ACCESS,	 /* the server refuses this client or user */
	ERR_PROTOCOL,	 /* the peer broke the protocol */
	ERR_NO_DEVICE,	 /* proto=rdma but there is no RDMA device for this address */
	ERR_NO_MEMLOCK,	 /* no more memory may be registered with the RDMA device */
};

#define ERR_MSG_MAX 400

struct err {
	enum err_kind kind;
	char msg[ERR_MSG_MAX];
};

/* Sets *e (ignored when NULL); msg is one sentence, printf format. The first error set stays: a
 * later call on an already set err does nothing. Returns -1 so that callers may `return err_set()`.
 */
__attribute__((format(printf, 3, 4))) int err_set(
	struct err *e, enum err_kind kind, const char *fmt, ...);

/* A short lower-case name for kind ("refused", "unreachable"), never NULL. */
const char *err_kind_name(enum err_kind kind);

#endif
