/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ident: in whose name a thread touches the file system.
 *
 * A server run by root carries out each request with the file-system uid, gid and groups of its
 * AUTH_SYS caller, so that the kernel checks permissions, and with none of its own capabilities in
 * effect unless the caller counts as root. Uid and gid 0 are squashed to the
 * anonymous user unless the administrator said otherwise. A server run by anybody else acts as
 * itself, and every function here then does nothing.
 *
 * The identity belongs to the calling thread; it is changed only when the next caller differs.
 */
#ifndef RNFS_SERVE_EXPORT_IDENT_H
#define RNFS_SERVE_EXPORT_IDENT_H

#include <stdbool.h>

#include "transport/rpc/rpc.h"

#define IDENT_ANON 65534u

/* Finds out whether identities can be switched. Call once, at the start. */
void ident_init(bool squash_root);
/* True if ident_assume() has an effect. */
bool ident_switches(void);

/* Acts as cred from now on. 0, or -EPERM when the kernel did not let the thread switch (the request
 * must then be refused: it would run with the rights of somebody else). */
int ident_assume(const struct rpc_cred *cred);

/* The user that the thread acts as. */
uint32_t ident_uid(void);

/* Runs fn(arg), which may call ident_assume() for cred, and returns when it has ended. keep: the
 * calling thread must keep its own identity, because it talks to a device that refuses a thread
 * whose credentials have changed (software RDMA devices do); fn then runs on a thread beside it if
 * need be.
 */
void ident_call(bool keep, const struct rpc_cred *cred, void (*fn)(void *arg), void *arg);

/* Back to the server's own identity, for work that is nobody's (re-opening by handle). What was
 * assumed comes back with ident_resume(). Not nested. */
void ident_suspend(void);
void ident_resume(void);

#endif
