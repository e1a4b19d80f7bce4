/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deed_model: deeds of processes of the model of the kernel.
 */
#ifndef RNFS_SIMULATION_DEED_MODEL_H
#define RNFS_SIMULATION_DEED_MODEL_H

#include "tests/simulation/deed.h"
#include "tests/simulation/vfs.h"

/* For a thread of a run. */
const struct deeds *deed_model_start(struct vfs *v);
void deed_model_stop(void);

#endif
