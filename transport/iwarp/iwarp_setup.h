/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp_setup: the operations of prov_iwarp up to traffic.
 */
#ifndef RNFS_TRANSPORT_IWARP_IWARP_SETUP_H
#define RNFS_TRANSPORT_IWARP_IWARP_SETUP_H

#include "transport/iwarp/iwarp_impl.h"

/* iwarp_setup.c: the operations of prov_iwarp up to traffic. */
int iwarp_open(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e);
int iwarp_listen(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
	struct prov_listener **out, struct err *e);
int iwarp_accept(struct prov_listener *l, struct prov_conn **out, struct err *e);
void iwarp_unlisten(struct prov_listener *l);
int iwarp_establish(struct prov_conn *pc, int timeout_ms, struct err *e);
void iwarp_lease(struct prov_conn *pc, unsigned s);
int iwarp_tcp_fd(struct prov_conn *pc);

#endif
