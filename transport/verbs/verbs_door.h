/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * verbs_door: the doors of the verbs provider, as struct prov_ops describes.
 */
#ifndef RNFS_TRANSPORT_VERBS_VERBS_DOOR_H
#define RNFS_TRANSPORT_VERBS_VERBS_DOOR_H

#include "transport/verbs/verbs_impl.h"

int verbs_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door);
int verbs_withdraw(struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie);
void verbs_windows_free(struct verbs_conn *v) REQUIRES(v->lock);

#endif
