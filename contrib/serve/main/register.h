/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * register: registers the port of the server's programs with this machine's rpcbind (RFC 1833), for
 * NFSv3 clients. Only the TCP port is registered: rpcbind does not know RDMA.
 */
#ifndef RNFS_SERVE_MAIN_REGISTER_H
#define RNFS_SERVE_MAIN_REGISTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "transport/err.h"

/* Was the program built with the library that registering needs? */
bool register_can(void);
/* Registers NFS, MOUNT and NLM at addr, with port in place of addr's own. Registers the status
 * monitor too, unless another one is registered. 0; or -1 with *e set and nothing registered:
 * rpcbind does not answer, or another server is registered. Blocks. */
int register_set(const struct sockaddr *addr, socklen_t addr_len, uint16_t port, struct err *e);
/* Takes back the registrations of register_set(). */
void register_unset(const struct sockaddr *addr);

#endif
