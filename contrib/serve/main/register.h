/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * register: tells this machine's rpcbind at which port the server's programs are, for clients of
 * NFSv3 that ask it (RFC 1833). Only the TCP port: rpcbind does not know RDMA.
 */
#ifndef RNFS_SERVE_MAIN_REGISTER_H
#define RNFS_SERVE_MAIN_REGISTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "transport/err.h"

/* Was the program built with what this needs? */
bool register_can(void);
/* Registers NFS, MOUNT, NLM and, unless there is another one, the status monitor at addr, with this
 * port in place of its own. 0; or -1 with *e set and nothing registered: nobody answers, or another
 * server is registered. Blocks. */
int register_set(const struct sockaddr *addr, socklen_t addr_len, uint16_t port, struct err *e);
/* Takes back what register_set() has registered. */
void register_unset(const struct sockaddr *addr);

#endif
