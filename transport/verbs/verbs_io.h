/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_io: posting and completions of the verbs provider, as struct prov_ops describes.
 */
#ifndef RNFS_TRANSPORT_VERBS_VERBS_IO_H
#define RNFS_TRANSPORT_VERBS_VERBS_IO_H

#include "transport/verbs/verbs_impl.h"

/* verbs_io.c */
int verbs_post(struct prov_conn *pc, const struct prov_wr *wr);
int verbs_post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge);
int verbs_poll(struct prov_conn *pc, struct prov_wc *wc, int n);
void verbs_wait(struct prov_conn *pc, int kick_fd, int timeout_ms);

#endif
