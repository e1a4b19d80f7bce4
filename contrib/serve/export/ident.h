/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ident: the user as which a thread uses the file system.
 *
 * A server run by root carries out each request with the file-system uid, gid and groups of its
 * AUTH_SYS caller, so that the kernel checks permissions. The thread has none of its own
 * capabilities in effect, unless the caller counts as root. Uid and gid 0 become the anonymous
 * user's unless the administrator said otherwise. A server run by any other user acts as itself,
 * and every function here then does nothing.
 *
 * An identity belongs to the calling thread, and changes only when the next caller differs.
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

/* Acts as cred from now on. 0, or -EPERM: the kernel did not let the thread switch. Then the
 * request must be refused, because it would run with another user's rights. */
int ident_assume(const struct rpc_cred *cred);

/* Takes the server's own identity until the next ident_assume(), for a thread that also has other
 * work than requests. Not between ident_suspend() and ident_resume(). */
void ident_drop(void);

/* The user that the thread acts as. */
uint32_t ident_uid(void);

/* Runs fn(arg), which may call ident_assume() for cred, and returns when fn has ended. keep: the
 * calling thread must keep its own identity, because a device in use refuses a thread with changed
 * credentials (software RDMA devices do). If the identity has to change, fn then runs on another
 * thread, which belongs to this one. */
void ident_call(bool keep, const struct rpc_cred *cred, void (*fn)(void *arg), void *arg);

/* Takes the server's own identity, for work on no caller's behalf (opening again by handle).
 * ident_resume() takes the caller's identity again. Not nested. */
void ident_suspend(void);
void ident_resume(void);

#endif
